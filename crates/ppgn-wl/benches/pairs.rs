//! What pair levels take for whole datasets with the authors' input encoding and L = 3, and how many rows they leave:
//! `cargo bench -p ppgn-wl --bench pairs -- NCI1 COLLAB`. The datasets are looked for in `$PPGN_DATA/tu`.
//!
//! A run is minutes for the largest set, so each is timed once, and no statistics are made.

use ppgn_wl::{Options, PairLevels};
use std::process::Command;
use std::time::Instant;

/// A graph as the text format has it.
struct Raw {
    labels: Vec<usize>,
    neighbours: Vec<Vec<usize>>,
}

fn read(name: &str) -> Option<Vec<Raw>> {
    let data = std::env::var("PPGN_DATA")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").into());
    let archive = format!("{data}/tu/{name}.zip");
    let out = Command::new("unzip").args(["-p", &archive, &format!("{name}/{name}.txt")]).output().ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    let mut lines = text.lines().map(|line| line.split_whitespace().filter_map(|x| x.parse().ok()).collect());
    let mut line = || -> Option<Vec<usize>> { lines.next() };
    let graphs = *line()?.first()?;
    let graph = |_| {
        let rows: Vec<Vec<usize>> = (0..*line()?.first()?).map(|_| line()).collect::<Option<_>>()?;
        let labels = rows.iter().map(|r| r.first().copied()).collect::<Option<_>>()?;
        Some(Raw { labels, neighbours: rows.iter().map(|r| r[2..].to_vec()).collect() })
    };
    (0..graphs).map(graph).collect()
}

/// The `authors` encoding: D^-1/2 A D^-1/2 in every channel, and 1 more on the diagonal in the label's channel.
fn encode(g: &Raw, channels: usize) -> Vec<f32> {
    let n = g.labels.len();
    let mut a = vec![0f32; n * n];
    g.neighbours.iter().enumerate().for_each(|(i, row)| row.iter().for_each(|j| a[i * n + j] = 1.0));
    let degree = |k: usize| a[k..].iter().step_by(n).sum::<f32>();
    let scale: Vec<f32> =
        (0..n).map(|k| if degree(k) > 0.0 { degree(k).sqrt().recip() } else { 0.0 }).collect();
    let mut rows = Vec::with_capacity(n * n * channels);
    for i in 0..n {
        for k in 0..n {
            rows.resize(rows.len() + channels, scale[i] * a[i * n + k] * scale[k]);
            if i == k && channels > 1 {
                let row = rows.len() - channels;
                rows[row + 1 + g.labels[i]] += 1.0;
            }
        }
    }
    rows
}

fn measure(name: &str) {
    let Some(graphs) = read(name) else { return eprintln!("{name}: skipped, not in $PPGN_DATA/tu") };
    let labels = graphs.iter().flat_map(|g| &g.labels).max().map_or(0, |&l| l + 1);
    let channels = if labels == 1 { 1 } else { labels + 1 };
    let nodes: Vec<usize> = graphs.iter().map(|g| g.labels.len()).collect();
    let (start, depth) = (Instant::now(), 3);
    let rows = |g: usize| encode(&graphs[g], channels);
    let levels = PairLevels::new(&nodes, channels, depth, &Options::default(), rows).expect("levels");
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
