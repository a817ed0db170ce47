//! How fast the first paint is, measured by hand: `cargo test --release -p ppgn --test browser -- --ignored --nocapture`.

use crate::devtools::Browser;
use crate::served::{Served, data, run};
use std::path::Path;

/// A thousand copies of a run, with names of their own.
fn thousand(folder: &Path) {
    let words = "train csl:n=13,skips=2+3,copies=6 --blocks 4 --batch 4 --split 50/25/25 --quiet --epochs 20 --out runs/r0";
    run(folder, words);
    let first = folder.join("runs/r0");
    for i in 1..1000 {
        let copy = folder.join(format!("runs/r{i}"));
        for inner in ["", "checkpoint", "best"] {
            std::fs::create_dir_all(copy.join(inner)).unwrap();
            for entry in
                std::fs::read_dir(first.join(inner)).unwrap().flatten().filter(|e| e.path().is_file())
            {
                std::fs::copy(entry.path(), copy.join(inner).join(entry.file_name())).unwrap();
            }
        }
    }
}

/// Milliseconds from the request to the first paint, and to the one that has what the page marks, in a new page.
fn measured(browser: &mut Browser, address: &str, mark: &str) -> (f64, f64) {
    browser.open(address);
    let at = |name: &str| format!("performance.getEntriesByName('{name}')[0]?.startTime");
    browser.until(&at(mark));
    let mut time = |name: &str| browser.eval(&at(name)).as_f64().unwrap_or(f64::NAN);
    (time("first-contentful-paint"), time(mark))
}

#[test]
#[ignore = "a measurement"]
fn first_paint_is_measured() {
    let Some(mut browser) = Browser::start("first_paint_is_measured") else { return };
    let folder = tempfile::tempdir().unwrap();
    thousand(folder.path());
    let data = data().map_or(String::new(), |data| format!(" --data-dir {}", data.display()));
    for _ in 0..3 {
        // A server that has seen nothing yet.
        let served = Served::start(folder.path(), &format!("runs{data}"));
        println!("memory with nothing open: {:.1} MiB", served.memory());
        let (paint, rows) = measured(&mut browser, &served.at("runs"), "rows");
        println!("1,000 runs: first paint after {paint:.0} ms, the first 100 rows after {rows:.0} ms");
        println!("memory after it: {:.1} MiB", served.memory());
        let (paint, graphs) = measured(&mut browser, &served.at("data?data=COLLAB"), "graphs");
        println!("COLLAB: first paint after {paint:.0} ms, the first graphs and charts after {graphs:.0} ms");
        println!("memory with COLLAB open: {:.1} MiB", served.memory());
    }
}
