//! The memory of the server, which is that of the whole process: what a dataset took is given back when it is dropped.

#![cfg(target_os = "linux")]

use ppgn_view::{View, serve};
use ppgn_wl::Interrupt;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// The memory of this process that is in use, in MiB.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

fn ask(address: SocketAddr, target: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

#[test]
fn what_a_dataset_took_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("runs")).unwrap();
    // 100,000 graphs of 4 nodes: many small blocks, which an allocator likes to keep.
    std::fs::write(folder.path().join("runs/many.g6"), "Cl\n".repeat(100_000)).unwrap();
    let view = View {
        port: Some(0),
        kept: Duration::from_secs(2),
        ..View::new(folder.path().join("runs"), folder.path().join("data"))
    };
    let interrupt = Interrupt::default();
    let measured = |address: SocketAddr| {
        assert!(ask(address, "/api/runs").contains("200 OK"));
        let before = memory();
        let reply = ask(address, "/api/dataset?data=many.g6");
        assert!(reply.contains("\"graphs\":100000"), "{}", &reply[..reply.len().min(300)]);
        drop(reply);
        let with = memory();
        let start = Instant::now();
        while memory() > before + 12.0 && start.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(100));
        }
        (before, with, memory())
    };
    let mut found = None;
    serve(&view, &interrupt, |served| {
        let (address, interrupt) = (served.address, interrupt.clone());
        // The server runs in this thread.
        found = Some(std::thread::spawn(move || {
            let all = std::panic::catch_unwind(|| measured(address));
            interrupt.set();
            all.unwrap()
        }));
    })
    .unwrap();
    let (before, with, after) = found.unwrap().join().unwrap();
    println!(
        "{before:.1} MiB with nothing open, {with:.1} MiB with the dataset, {after:.1} MiB when it was dropped"
    );
    assert!(before < 60.0 && after < 60.0, "{before} {after}");
    assert!(with > before + 15.0, "the dataset is too small to show anything: {before} {with}");
    assert!(after <= before + 12.0, "{before} {with} {after}");
}
