//! Conversion of a stream holds one graph at a time: measured, in a process of its own, by the most memory it ever had.

use ppgn_graph::format::{ReadOptions, Records, Report, WriteOptions, open, write};
use ppgn_graph::{Graph, Header, Record};
use std::path::Path;

const CHILD: &str = "PPGN_TEST_STREAM_MEMORY";
const GRAPHS: usize = 100;

/// A graph whose line takes half a megabyte.
fn large(i: usize) -> Graph {
    let n = 3000;
    let far = |e: u32| (e % n + 1 + e / n * 3 + i as u32) % n;
    Graph::undirected(n as usize, (0..20 * n).map(|e| (e % n, far(e)))).unwrap()
}

/// The most memory that this process ever held, in bytes.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

fn convert(from: &Path, to: &Path) -> usize {
    let mut report = Report::strict();
    let records = open(from, &ReadOptions::default(), &mut report).unwrap();
    write(records, to, WriteOptions::default()).unwrap().graphs
}

fn child(folder: &Path) {
    let (first, second, third) = (folder.join("a.jsonl"), folder.join("b.jsonl"), folder.join("c.g6"));
    let header = Header { name: "a".into(), graphs: GRAPHS, ..Header::default() };
    let records = Box::new((0..GRAPHS).map(|i| Ok(Record::from(large(i)))));
    write(Records { header, records }, &first, WriteOptions::default()).unwrap();
    let size = std::fs::metadata(&first).unwrap().len();
    assert!(size > 50 << 20, "the file has only {size} bytes");
    assert_eq!(convert(&first, &second), GRAPHS);
    assert_eq!(size, std::fs::metadata(&second).unwrap().len());
    assert_eq!(convert(&second, &third), GRAPHS);
}

#[test]
fn conversion_holds_one_graph_at_a_time() {
    if let Some(folder) = std::env::var_os(CHILD) {
        child(Path::new(&folder));
        println!("peak {}", peak().unwrap());
        return;
    }
    if peak().is_none() {
        eprintln!("skipped: this system has no /proc/self/status to measure memory by");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "stream_memory::conversion_holds_one_graph_at_a_time", "--nocapture"])
        .env(CHILD, folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let peak: u64 = text.split("peak ").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    assert!(peak < 40 << 20, "{peak} bytes for a file of more than 50 MiB");
}
