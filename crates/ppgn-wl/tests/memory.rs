//! Whether the memory that a refinement announces covers what it allocates. In a binary of its own, because it counts
//! every allocation of the process.

use ppgn_graph::random::Stream;
use ppgn_graph::{Graph, GraphBuilder};
use ppgn_wl::{Error, Features, Options, Test, refine};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(NOW.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A random graph whose nodes and edges all have different attributes, or the first few labels.
fn graph(n: usize, seed: u64, kinds: i64) -> Graph {
    let mut random = Stream::new(seed, "memory", &[]);
    let mut b = GraphBuilder::undirected(n);
    b.node_labels(1, (0..n as i64).map(|u| u % kinds).collect());
    b.node_attributes(1, (0..n).map(|u| u as f64 + 0.5).collect()).edge_attribute_columns(1);
    for i in 0..4 * n {
        b.edge_with(random.below(n) as u32, random.below(n) as u32, &[], &[i as f64]);
    }
    b.build_merging().unwrap().0
}

/// Issue 14, point 10: `wl refine --attributes` predicted 80 bytes per pair and needed 125 to 180.
#[test]
fn the_estimate_covers_what_is_allocated() {
    for (attributes, kinds) in [(false, 1), (false, 40), (true, 1)] {
        for (test, sizes) in
            [("2-fwl", &[400][..]), ("2-fwl", &[150, 200, 250]), ("3-fwl", &[40]), ("2-wl", &[300])]
        {
            let graphs: Vec<Graph> = sizes.iter().zip(0..).map(|(&n, seed)| graph(n, seed, kinds)).collect();
            let test: Test = test.parse().unwrap();
            let features = Features { labels: true, attributes };
            let with = |max_memory| Options { features, max_memory: Some(max_memory), ..Options::default() };
            // The smallest limit that is accepted is the estimate.
            let mut limit = 0;
            let before = NOW.load(Relaxed);
            let peak = loop {
                PEAK.store(NOW.load(Relaxed), Relaxed);
                match refine(&graphs, test, &with(limit)) {
                    Err(Error::Memory { need, .. }) => limit = need,
                    result => {
                        drop(result.unwrap());
                        break PEAK.load(Relaxed) - before;
                    }
                }
            };
            assert!(peak as u64 <= limit, "{test} of {sizes:?}: {peak} bytes, but {limit} were estimated");
        }
    }
}
