//! Colour refinement of the three million-node graphs that it is promised for: under 4 s each on one core, in under
//! 240 bytes per edge, the graph included.
//!
//!     cargo bench -p ppgn-benches --bench colour_refinement
//!
//! The memory is the graph's own and what the resident set grows by at most while it is refined (Linux only).

use criterion::{Criterion, criterion_group};
use ppgn_graph::Graph;
use ppgn_graph::random::Stream;
use ppgn_wl::{Options, Test, refine};
use std::time::Duration;

/// n nodes and m different edges, uniformly at random.
fn random_graph(n: usize, m: usize) -> Graph {
    let mut random = Stream::new(0, "random graph", &[]);
    let mut edges: Vec<(u32, u32)> = Vec::with_capacity(m + m / 8);
    while edges.len() < m {
        while edges.len() < m + m / 64 {
            let (u, v) = (random.below(n) as u32, random.below(n) as u32);
            if u != v {
                edges.push((u.min(v), u.max(v)));
            }
        }
        edges.sort_unstable();
        edges.dedup();
    }
    random.shuffle(&mut edges);
    edges.truncate(m);
    Graph::undirected(n, edges).expect("edges between nodes")
}

/// Nodes (i, j), joined to those one step away.
fn grid(side: u32) -> Graph {
    let right = (0..side).flat_map(|i| (1..side).map(move |j| (i * side + j - 1, i * side + j)));
    let down = (1..side).flat_map(|i| (0..side).map(move |j| ((i - 1) * side + j, i * side + j)));
    Graph::undirected((side * side) as usize, right.chain(down)).expect("edges between nodes")
}

/// A labelled tree, uniformly at random, from its Prüfer code.
fn random_tree(n: usize) -> Graph {
    let mut random = Stream::new(0, "random tree", &[]);
    let code: Vec<usize> = (0..n - 2).map(|_| random.below(n)).collect();
    let mut degree = vec![1u32; n];
    code.iter().for_each(|&u| degree[u] += 1);
    let mut edges = Vec::with_capacity(n - 1);
    let (mut next, mut leaf) = (0, usize::MAX);
    for &u in &code {
        if leaf == usize::MAX {
            while degree[next] != 1 {
                next += 1;
            }
            leaf = next;
        }
        edges.push((leaf as u32, u as u32));
        degree[leaf] = 0;
        degree[u] -= 1;
        // The new leaf goes first if it is the smallest, which it is only if the search has passed it.
        leaf = if degree[u] == 1 && u < next { u } else { usize::MAX };
    }
    let last: Vec<u32> = (0..n as u32).filter(|&u| degree[u as usize] == 1).collect();
    edges.push((last[0], last[1]));
    Graph::undirected(n, edges).expect("edges between nodes")
}

/// A field of `/proc/self/status`, in bytes.
fn status(field: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|l| l.starts_with(field))?;
    Some(1024 * line.split_whitespace().nth(1)?.parse::<u64>().ok()?)
}

/// Seconds that this thread has been running on a core, which other processes do not stretch.
fn on_core() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

type Build = fn() -> Graph;

const GRAPHS: [(&str, Build); 3] = [
    ("random graph", || random_graph(1_000_000, 5_000_000)),
    ("grid", || grid(1000)),
    ("random tree", || random_tree(1_000_000)),
];

/// Refines once, and prints what was found, in what time, and in how many bytes per edge: all that the process holds
/// while refining, what building the graph left behind included.
fn report(name: &str, build: Build) {
    let empty = status("VmRSS");
    let g = build();
    let reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let (start, core) = (std::time::Instant::now(), on_core());
    let r = refine(std::slice::from_ref(&g), Test::COLOUR_REFINEMENT, &Options::default()).expect("colours");
    let seconds = start.elapsed().as_secs_f64();
    let core = on_core().zip(core).map_or(f64::NAN, |(end, start)| end - start);
    let memory = match (reset, empty, status("VmHWM")) {
        (true, Some(empty), Some(peak)) => {
            format!("{:.0} bytes per edge", (peak - empty) as f64 / g.edges() as f64)
        }
        _ => "memory not measured".to_string(),
    };
    println!(
        "{name}: {} nodes, {} edges: {} rounds, {} colours, {seconds:.2} s ({core:.2} s on the core), {memory}",
        g.nodes(),
        g.edges(),
        r.rounds(),
        r.colours_after(r.rounds())
    );
}

fn benches(c: &mut Criterion) {
    let mut group = c.benchmark_group("1-wl");
    group.sample_size(10).warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_secs(10));
    for (name, build) in GRAPHS {
        let g = [build()];
        group.bench_function(name, |b| {
            b.iter(|| refine(&g, Test::COLOUR_REFINEMENT, &Options::default()).expect("colours").rounds())
        });
    }
    group.finish();
}

criterion_group!(all, benches);

/// Reports every graph from a process of its own, so that memory is measured from nothing, and then runs criterion.
/// `PPGN_REPORT=all` leaves it at the reports.
fn main() {
    const NAME: &str = "PPGN_REPORT";
    let asked = std::env::var(NAME).unwrap_or_default();
    if let Some((name, build)) = GRAPHS.into_iter().find(|(name, _)| *name == asked) {
        return report(name, build);
    }
    let program = std::env::current_exe().expect("this program");
    for (name, _) in GRAPHS {
        let status = std::process::Command::new(&program).env(NAME, name).status().expect("a process");
        assert!(status.success(), "{name}: {status}");
    }
    if asked != "all" {
        all();
        Criterion::default().configure_from_args().final_summary();
    }
}
