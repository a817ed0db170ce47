//! Times the WL subtree kernel of a dataset and writes it, for `benches/peers/wl_kernel.py`:
//!
//!     cargo run --release -p ppgn-wl --example kernel -- NCI1 5 features.npz gram.npy
//!
//! Prints a line of JSON with the seconds for the features and for the Gram matrix, each from the graphs in memory.

use ppgn_graph::locate::Locator;
use ppgn_wl::{Options, subtree_kernel};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, iterations, features, gram] = &arguments[..] else {
        return Err("usage: kernel NAME ITERATIONS FEATURES.npz GRAM.npy".into());
    };
    let dataset = Locator::default().load(name)?;
    let graphs = dataset.graphs();
    let (iterations, options) = (iterations.parse()?, Options::default());

    let start = Instant::now();
    let sparse = subtree_kernel(graphs, iterations, &options)?.features(&options)?;
    let features_seconds = start.elapsed().as_secs_f64();

    let start = Instant::now();
    let matrix = subtree_kernel(graphs, iterations, &options)?.gram(&options)?;
    let gram_seconds = start.elapsed().as_secs_f64();

    sparse.write_npz(features)?;
    let start = Instant::now();
    matrix.write(gram)?;
    let write_seconds = start.elapsed().as_secs_f64();
    println!(
        "{{\"graphs\": {}, \"entries\": {}, \"features_seconds\": {features_seconds}, \
         \"gram_seconds\": {gram_seconds}, \"write_seconds\": {write_seconds}}}",
        graphs.len(),
        sparse.values.len()
    );
    Ok(())
}
