//! The paper's datasets where they are at hand, read by a few lines of our own, so that what is compared with other
//! programs' results does not hang on a reader.

use ppgn_graph::{Graph, GraphBuilder};
use std::io::Read;
use std::path::PathBuf;

/// The graphs of `tu/NAME.zip` in the data folder: `PPGN_DATA`, or `../shared/data` beside the workspace.
pub(crate) fn graphs(name: &str) -> Result<Vec<Graph>, String> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var_os("PPGN_DATA").map_or(PathBuf::from(beside), PathBuf::from);
    let path = folder.join("tu").join(format!("{name}.zip"));
    let told = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let file = std::fs::File::open(&path).map_err(|e| told(&e))?;
    let mut zip = zip::ZipArchive::new(file).map_err(|e| told(&e))?;
    let mut text = String::new();
    let mut entry = zip.by_name(&format!("{name}/{name}.txt")).map_err(|e| told(&e))?;
    entry.read_to_string(&mut text).map_err(|e| told(&e))?;
    parse(&text).ok_or_else(|| told(&"not the text format"))
}

/// The number of graphs; for each `n label`, then n lines `node_label degree neighbour...`.
fn parse(text: &str) -> Option<Vec<Graph>> {
    let mut numbers = text.split_ascii_whitespace().map(|w| w.parse::<i64>());
    let mut next = move || numbers.next()?.ok();
    let count = next()?;
    let mut graph = || {
        let (n, _) = (next()?, next()?);
        let mut b = GraphBuilder::undirected(n as usize);
        let mut labels = Vec::new();
        for u in 0..n {
            labels.push(next()?);
            for _ in 0..next()? {
                b.edge(u as u32, next()? as u32);
            }
        }
        b.node_labels(1, labels);
        b.build().ok()
    };
    (0..count).map(|_| graph()).collect()
}
