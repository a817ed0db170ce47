//! Files that claim or repeat far more than they hold. Each takes little memory and time, measured where that is the
//! point in a process of its own, by the most memory that it ever had.

use ppgn_graph::Remedy;
use ppgn_graph::format::{Limits, ReadOptions, Report, check, read};
use std::io::Write;
use std::path::{Path, PathBuf};

fn defects(path: &Path) -> Vec<String> {
    let mut report = Report::collecting();
    check(path, &ReadOptions::default(), &mut report).unwrap();
    report.defects().iter().map(|d| d.message.clone()).collect()
}

fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Runs `work` in a process that runs this test alone, and gives the most memory that the process had.
fn peak_of(test: &str, work: impl FnOnce()) -> Option<u64> {
    const CHILD: &str = "PPGN_TEST_HOSTILE";
    if std::env::var_os(CHILD).is_some() {
        work();
        println!("peak {}", peak().unwrap_or(0));
        return None;
    }
    peak()?;
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Some(text.split("peak ").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap())
}

/// Issue 14, point 10: these lines took 1 GB each, and fifty of them more than 30 s.
#[test]
fn point_10_a_claimed_count_allocates_nothing() {
    let peak = peak_of("hostile::point_10_a_claimed_count_allocates_nothing", || {
        let folder = tempfile::tempdir().unwrap();
        let start = std::time::Instant::now();
        for (name, first, line) in
            [("x.g6", "", ":~~?G????"), ("x.jsonl", "{\"ppgn\":1}\n", "{\"n\":134217728}")]
        {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("{first}{}", format!("{line}\n").repeat(50))).unwrap();
            let found = defects(&path);
            assert_eq!(found.len(), 50, "{found:?}");
            let wanted = format!("134217728 nodes in a line of {} bytes", line.len());
            assert!(found.iter().all(|m| m.starts_with(&wanted)), "{}", found[0]);
        }
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    });
    assert!(peak.is_none_or(|peak| peak < 100 << 20), "{peak:?} bytes");
}

#[test]
fn isolated_nodes_are_fine_within_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    std::fs::write(&path, "{\"ppgn\":1}\n{\"n\":100000}\n{\"n\":100000}\n{\"n\":3}\n").unwrap();
    assert_eq!(read(&path, &ReadOptions::default()).unwrap().graph(1).nodes(), 100_000);
    // All lines of a file together count.
    let limits = Limits { max_claimed: 150_000, ..Limits::default() };
    let error = read(&path, &ReadOptions { limits, ..ReadOptions::default() }).unwrap_err();
    assert!(error.to_string().contains("x.jsonl:3: graph 1: 100000 nodes"), "{error}");
}

/// A zip with this text as often as given in one file, and small files.
fn zip(folder: &Path, repeated: (&str, &str, usize), others: &[(&str, &str)]) -> PathBuf {
    let path = folder.join("x.zip");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    let options = zip::write::SimpleFileOptions::default().large_file(true);
    for (name, text) in others {
        zip.start_file(*name, options).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    let (name, text, times) = repeated;
    zip.start_file(name, options).unwrap();
    let block = text.repeat(1 << 16);
    (0..times >> 16).for_each(|_| zip.write_all(block.as_bytes()).unwrap());
    zip.finish().unwrap();
    path
}

/// Issue 14, point 10: gigabytes of the line `1, 2` in a small archive were all kept, eight bytes per line.
#[test]
fn point_10_repeated_edges_in_an_archive_are_merged_as_they_stream() {
    let lines = 16 << 20;
    let peak = peak_of("hostile::point_10_repeated_edges_in_an_archive_are_merged_as_they_stream", || {
        let folder = tempfile::tempdir().unwrap();
        let notes = [format!("{} edges were given more than once and merged", lines - 1)];
        let path = zip(folder.path(), ("x.edges", "1, 2\n", lines), &[]);
        let d = read(&path, &ReadOptions::default()).unwrap();
        assert_eq!((d.graph(0).nodes(), d.graph(0).edges()), (2, 1));
        assert_eq!(d.header().provenance.notes, notes);
        let path = zip(folder.path(), ("M_A.txt", "1, 2\n", lines), &[("M_graph_indicator.txt", "1\n1\n")]);
        let d = read(&path, &ReadOptions::default()).unwrap();
        assert_eq!((d.graph(0).nodes(), d.graph(0).edges()), (2, 1));
        assert_eq!(d.header().provenance.notes[..1], notes);
    });
    assert!(peak.is_none_or(|peak| peak < 80 << 20), "{peak:?} bytes for {lines} lines");
}

#[test]
fn merged_labels_are_those_of_the_first_edge() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.edges");
    let text = format!("1 2 7\n{}", "2 1 7\n2 3 5\n1 2 9\n".repeat(400_000));
    std::fs::write(&path, text).unwrap();
    let d = read(&path, &ReadOptions::default()).unwrap();
    let g = d.graph(0);
    assert_eq!(g.edges(), 2);
    assert_eq!(g.edge_labels(g.arc(0, 1).unwrap()), [7]);
    let notes = &d.header().provenance.notes;
    assert_eq!(notes[0], "1199999 edges were given more than once and merged");
    assert_eq!(notes[1], "400000 of them had different labels or attributes; the first was kept");
}

#[test]
fn graphs_from_an_archive_may_take_what_may_be_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let path = zip(folder.path(), ("x.g6", "@\n", 1 << 17), &[]);
    let limits = Limits { max_unpacked: 1 << 20, ..Limits::default() };
    let error = read(&path, &ReadOptions { limits, ..ReadOptions::default() }).unwrap_err();
    assert_eq!(error.remedy(), Some(Remedy::RaiseUnpackedLimit), "{error}");
    assert_eq!(read(&path, &ReadOptions::default()).unwrap().len(), 1 << 17);
}
