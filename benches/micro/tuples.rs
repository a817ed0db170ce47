//! How long k-WL and k-FWL take to their stable colouring: `cargo bench -p ppgn-benches --bench tuples`.

use criterion::{Criterion, criterion_group, criterion_main};
use ppgn_graph::Graph;
use ppgn_graph::random::Stream;
use ppgn_wl::{Options, refine};
use std::hint::black_box;
use std::time::Duration;

/// Every edge with probability p.
fn random(n: usize, p: f64) -> Graph {
    let mut random = Stream::new(1, "bench", &[n as u64]);
    let pairs = (0..n as u32).flat_map(|v| (0..v).map(move |u| (u, v)));
    Graph::undirected(n, pairs.filter(|_| random.unit() < p).collect::<Vec<_>>()).expect("a graph")
}

fn circulant(n: usize, steps: &[usize]) -> Graph {
    let from = |u: usize| steps.iter().map(move |s| (u as u32, ((u + s) % n) as u32));
    Graph::undirected(n, (0..n).flat_map(from)).expect("a graph")
}

/// Numbers modulo q, joined where they differ by a square: strongly regular, so three colours are all there are.
fn paley(q: usize) -> Graph {
    let mut squares: Vec<usize> = (1..q).map(|x| x * x % q).collect();
    squares.sort_unstable();
    squares.dedup();
    circulant(q, &squares)
}

fn path(n: u32) -> Graph {
    Graph::undirected(n as usize, (1..n).map(|i| (i - 1, i))).expect("a graph")
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("stable colouring");
    group.sample_size(10).warm_up_time(Duration::from_millis(500));
    let cases = [
        ("2-fwl", "random, 500 nodes, p = 0.5", random(500, 0.5)),
        ("2-fwl", "paley, 997 nodes", paley(997)),
        ("2-fwl", "circulant, 301 nodes", circulant(301, &[1, 3, 7, 20, 41, 97, 140])),
        ("2-fwl", "path, 200 nodes", path(200)),
        ("3-fwl", "random, 60 nodes, p = 0.5", random(60, 0.5)),
        ("3-fwl", "random, 60 nodes, p = 0.1", random(60, 0.1)),
        ("3-fwl", "paley, 61 nodes", paley(61)),
        ("2-wl", "random, 1000 nodes, p = 0.01", random(1000, 0.01)),
        ("2-wl", "path, 200 nodes", path(200)),
        ("3-wl", "random, 100 nodes, p = 0.5", random(100, 0.5)),
    ];
    for (test, name, graph) in cases {
        let (test, graphs) = (test.parse().expect("a test"), [graph]);
        group.bench_function(format!("{test}: {name}"), |b| {
            b.iter(|| refine(black_box(&graphs), test, &Options::default()));
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
