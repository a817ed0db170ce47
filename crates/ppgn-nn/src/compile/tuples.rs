//! Isomorphism types of k-tuples, for the networks that start from them: the first step of the proof of Theorem 1.
//!
//! The input row of a tuple has one cell for every two of its positions: the encoding of the pair of nodes there, and
//! whether they are equal. The cells determine the isomorphism type, so one linear function, with one digit per
//! categorical channel, gives every type a distinct integer, and no block is needed for it.

use super::exact::Largest;
use super::types::{Bijection, Digits, Types, width};
use crate::error::Result;
use ppgn_graph::encode::{Encoder, Encoding, Kind};
use ppgn_graph::{Graph, Schema};
use ppgn_wl::Refinement;

/// The weights that number the rows of k-tuples: `[k * k * (channels + 1)]`, cell by cell.
fn numbering(k: usize, schema: &Schema, channels: usize, labels: bool) -> Result<Vec<i64>> {
    let mut digits = Digits::new(k * k * (channels + 1));
    let edges = width(&schema.node_labels) + schema.node_attributes.len();
    for r in 0..k {
        for s in 0..k {
            let cell = (r * k + s) * (channels + 1);
            // In an undirected graph both cells of a pair are equal, and equality is always symmetric.
            if r > s && !schema.directed {
                continue;
            }
            if r < s {
                digits.flag(cell + channels)?;
            }
            digits.flag(cell + channels - 1)?;
            if labels {
                digits.columns(cell + edges, &schema.edge_labels)?;
            }
            if labels && r == s {
                digits.columns(cell, &schema.node_labels)?;
            }
        }
    }
    Ok(digits.weights)
}

/// The isomorphism types of the k-tuples of these graphs, checked to be the colours of round 0. O(tuples * k * k).
pub(super) fn types(
    k: usize,
    graphs: &[Graph],
    schema: &Schema,
    colours: &Refinement,
    labels: bool,
    largest: &mut Largest,
) -> Result<Types> {
    let encoder = Encoding::from(Kind::Paper).encoder(schema)?;
    let channels = encoder.channels().len();
    let weights = numbering(k, schema, channels, labels)?;
    let most = weights.iter().map(|&w| i128::from(w)).sum();
    largest.admit(most, || format!("the codes of isomorphism types of {k}-tuples"))?;
    let mut types = Bijection::default();
    let ancestors = colours.ancestors(0);
    for (g, graph) in graphs.iter().enumerate() {
        let cells = cells(&encoder, graph, &weights)?;
        let n = graph.nodes();
        for (place, &colour) in colours.colours(g).iter().enumerate() {
            let tuple: Vec<usize> = (0..k as u32).rev().map(|q| place / n.pow(q) % n).collect();
            let ends = tuple.iter().flat_map(|&u| tuple.iter().map(move |&v| u * n + v));
            let code = cells.iter().zip(ends).map(|(cell, pair)| cell[pair]).sum();
            types.note(code, ancestors[colour as usize], (g, &tuple))?;
        }
    }
    Ok(Types {
        encoder,
        // Whether the first and last node are equal.
        identity: k * (channels + 1) - 1,
        channels: weights,
        codes: types.codes(colours.colours_after(0)),
        block: None,
    })
}

/// The contribution of every pair of nodes to a code, for every cell.
fn cells(encoder: &Encoder, graph: &Graph, weights: &[i64]) -> Result<Vec<Vec<i64>>> {
    let (n, channels) = (graph.nodes(), encoder.channels().len());
    let rows = encoder.rows::<f64>(graph)?;
    let cell = |weights: &[i64]| {
        let pair = |(pair, row): (usize, &[f64])| {
            let equal = if pair / n == pair % n { weights[channels] } else { 0 };
            equal + super::types::code(row, &weights[..channels])
        };
        rows.chunks(channels).enumerate().map(pair).collect()
    };
    Ok(weights.chunks(channels + 1).map(cell).collect())
}
