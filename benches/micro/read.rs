//! How fast real data is read, and what it holds in memory: COLLAB from its zip, QM9 from its arrays.
//!
//! The figures that must hold (one core): COLLAB at 150 MB of text a second or more, under 200 MB in memory once
//! read and under 400 MB resident while reading; QM9 in under 3 s. Run with
//! `cargo bench -p ppgn-benches --bench read`; the data is found through `PPGN_DATA`, else in `../shared/data` beside
//! the workspace.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use ppgn_graph::format::{Limits, ReadOptions, Source, read};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn data(path: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("PPGN_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let file = folder.join(path);
    if !file.exists() {
        eprintln!("skipped: there is no {}", file.display());
        return None;
    }
    Some(file)
}

/// A line such as `VmHWM:   1234 kB` of this process's status, in bytes; `None` where there is no /proc.
fn status(key: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// The processor time of this thread in seconds: unlike the clock, it says something on a busy machine.
fn processor_time() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9)
}

/// Reads once with the high-water mark of resident memory reset, and says what came of it.
fn measure_once(name: &str, path: &Path) {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = status("VmRSS:");
    let (start, processor) = (Instant::now(), processor_time());
    let dataset = read(path, &ReadOptions::default()).expect("the data is sound");
    let elapsed = start.elapsed().as_secs_f64();
    let worked = processor_time().zip(processor).map_or("?".into(), |(b, a)| format!("{:.3}", b - a));
    let mb = |bytes: Option<u64>| bytes.map_or("?".into(), |b| format!("{:.1} MB", b as f64 / 1e6));
    println!(
        "{name}: {} graphs in {elapsed:.3} s ({worked} s of processor time), dataset {}; \
         resident {} before, {} after, {} at most",
        dataset.len(),
        mb(Some(dataset.heap_bytes() as u64)),
        mb(before),
        mb(status("VmRSS:")),
        mb(status("VmHWM:")),
    );
}

fn text_bytes(path: &Path) -> u64 {
    let source = Source::open(path, Limits::default()).expect("an archive");
    let entry = source.entries().iter().find(|e| e.file_name() == "COLLAB.txt").expect("COLLAB.txt");
    let mut reader = source.reader(entry).expect("readable");
    std::io::copy(&mut reader, &mut std::io::sink()).expect("sound")
}

fn collab_zip(criterion: &mut Criterion) {
    let Some(path) = data("tu/COLLAB.zip") else { return };
    measure_once("collab_zip", &path);
    let mut group = criterion.benchmark_group("read");
    group.throughput(Throughput::Bytes(text_bytes(&path)));
    group.sample_size(10).measurement_time(Duration::from_secs(10));
    group.bench_function("collab_zip", |b| {
        let load = |()| read(black_box(&path), &ReadOptions::default()).expect("sound");
        b.iter_batched(|| (), load, BatchSize::PerIteration)
    });
    group.finish();
}

fn qm9_npz(criterion: &mut Criterion) {
    let Some(path) = data("qm9/qm9_130831.npz") else { return };
    if let Err(error) = read(&path, &ReadOptions::default()) {
        eprintln!("skipped qm9_npz: {error}");
        return;
    }
    measure_once("qm9_npz", &path);
    let mut group = criterion.benchmark_group("read");
    group.sample_size(10).measurement_time(Duration::from_secs(20));
    group.bench_function("qm9_npz", |b| {
        let load = |()| read(black_box(&path), &ReadOptions::default()).expect("sound");
        b.iter_batched(|| (), load, BatchSize::PerIteration)
    });
    group.finish();
}

criterion_group!(benches, collab_zip, qm9_npz);
criterion_main!(benches);
