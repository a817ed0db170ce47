//! What the paper's authors' code feeds its networks: the normalised adjacency in *every* channel.
//!
//! `X[:,:,0] = N` and `X[:,:,1+r] = N + diag(label == r)` with `N = D^-1/2 A D^-1/2`, D the column sums of A (0 for a
//! node without edges), r the *raw* node label. So a dataset whose largest raw label is R has R + 2 channels, unused
//! labels included, and one channel without labels. Attributes and edge features are not part of it.

use super::Grid;
use crate::dataset::Schema;
use crate::error::{Error, Result};
use crate::float::Float;
use crate::graph::Graph;

#[derive(Debug, Clone)]
pub(super) struct Authors {
    labels: usize,
}

/// One channel per raw label only makes sense while labels are small numbers.
const LARGEST: i64 = 4095;

impl Authors {
    pub(super) fn new(schema: &Schema) -> Result<Self> {
        let hint = "the encoding `paper` numbers labels instead";
        let labels = match schema.node_labels.as_slice() {
            [] => 0,
            [column] => match (column.values().first(), column.values().last()) {
                (Some(&low), _) if low < 0 => {
                    return Err(Error::unfit(format!(
                        "the encoding `authors` goes by raw node labels, and {low} is negative; {hint}"
                    )));
                }
                (_, Some(&high)) if high > LARGEST => {
                    return Err(Error::unfit(format!(
                        "the encoding `authors` makes a channel of every raw node label up to the largest, {high}; {hint}"
                    )));
                }
                (_, Some(&high)) => high as usize + 1,
                _ => 0,
            },
            columns => {
                return Err(Error::unfit(format!(
                    "the encoding `authors` knows one column of node labels, the data has {}; {hint}",
                    columns.len()
                )));
            }
        };
        Ok(Authors { labels })
    }

    pub(super) fn channels(&self) -> Vec<String> {
        let mut channels = vec!["normalised adjacency".to_string()];
        channels.extend((0..self.labels).map(|r| format!("normalised adjacency + node label {r}")));
        channels
    }

    pub(super) fn fill<T: Float>(&self, graph: &Graph, grid: &mut Grid<'_, T>) {
        let mut degree = vec![0u32; graph.nodes()];
        graph.targets().iter().for_each(|&v| degree[v as usize] += 1);
        let scale: Vec<f64> =
            degree.iter().map(|&d| if d == 0 { 0.0 } else { 1.0 / f64::from(d).sqrt() }).collect();
        for (u, v, _) in graph.arc_list() {
            grid.pair(u, v).fill(T::from_f64(scale[u] * scale[v]));
        }
        if self.labels > 0 {
            for u in 0..graph.nodes() {
                let label = graph.node_labels(u)[0] as usize;
                grid.pair(u, u)[label + 1] += T::from_f64(1.0);
            }
        }
    }
}

pub(super) fn ignored(schema: &Schema) -> Vec<String> {
    let count = |n: usize, what: &str| (n > 0).then(|| format!("{n} {what}"));
    [
        count(schema.node_attributes.len(), "node attributes"),
        count(schema.edge_labels.len(), "edge label columns"),
        count(schema.edge_attributes.len(), "edge attributes"),
        schema.positions.then(|| "positions".to_string()),
    ]
    .into_iter()
    .flatten()
    .collect()
}
