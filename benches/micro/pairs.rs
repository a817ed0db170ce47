//! What pair levels take for whole datasets with the authors' input encoding and L = 3, and how many rows they leave:
//! `cargo bench -p ppgn-benches --bench pairs -- NCI1 COLLAB`. The datasets are looked for in `$PPGN_DATA/tu`.
//!
//! A run is minutes for the largest set, so each is timed once, and no statistics are made.

use ppgn_graph::encode::{Encoding, Kind};
use ppgn_graph::locate::Locator;
use ppgn_wl::{Options, TupleLevels};
use std::time::Instant;

fn measure(name: &str) {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let data_dir = Some(std::env::var_os("PPGN_DATA").map_or_else(|| beside.into(), Into::into));
    let dataset = match (Locator { data_dir, ..Locator::default() }).load(name) {
        Ok(dataset) => dataset,
        Err(error) => return eprintln!("SKIPPED: {name}: {error}"),
    };
    let encoder = Encoding::from(Kind::Authors).encoder(dataset.schema()).expect("the authors' encoding");
    let (graphs, channels) = (dataset.graphs(), encoder.channels().len());
    let nodes: Vec<usize> = graphs.iter().map(|g| g.nodes()).collect();
    let (start, depth) = (Instant::now(), 3);
    let rows = |g: usize| encoder.rows::<f32>(&graphs[g]);
    let levels = TupleLevels::new(2, &nodes, channels, depth, &Options::default(), rows).expect("levels");
    let seconds = start.elapsed().as_secs_f64();
    let pairs: usize = nodes.iter().map(|n| n * n).sum();
    println!("{name}: {seconds:.2} s, {pairs} pairs, peak memory {}", peak());
    for level in 0..=depth {
        let present = |g: usize| {
            let mut colours = levels.colours(level, g).into_owned();
            colours.sort_unstable();
            colours.dedup();
            colours.len()
        };
        let by_graph: usize = (0..graphs.len()).map(present).sum();
        let share = |rows: usize| 100.0 * rows as f64 / pairs as f64;
        let (alone, together) = (share(by_graph), share(levels.count(level)));
        println!("  level {level}: {alone:.1} % of the pairs, graph by graph; {together:.1} % together");
    }
}

/// The most memory that the process has held so far, where the system tells.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.map_or("unknown".into(), |l| l.trim().into())
}

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let sets = ["MUTAG", "IMDBBINARY", "NCI1", "PROTEINS"].map(String::from).to_vec();
    if named.is_empty() { sets } else { named }.iter().for_each(|name| measure(name));
}
