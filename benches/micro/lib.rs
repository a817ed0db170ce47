//! Benchmarks live beside this file: `cargo bench -p ppgn-benches --bench read`, `colour_refinement`, `tuples` or `pairs`.
