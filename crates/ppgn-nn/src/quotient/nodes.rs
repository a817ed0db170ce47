//! The colours of nodes, for networks of order 1: 1-WL, started from the input rows, one round per block.
//!
//! Two nodes have the same colour at level l + 1 if they have the same at level l, and equally many neighbours of every
//! colour of level l along edges of every encoding. Keys are compared, not hashes of them. Colours do not depend on n, so
//! graphs of different sizes share them.

use super::parts::{ColourParts, GraphColours, Places};
use crate::edges::Edges;
use crate::error::{Error, Result};
use crate::precision::Number;
use ppgn_wl::Options;
use std::collections::HashMap;
use std::hash::Hash;

/// Numbers keys by first occurrence.
struct Numbered<K>(HashMap<K, u32>);

impl<K: Hash + Eq> Numbered<K> {
    fn of(&mut self, key: K) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(key).or_insert(next)
    }
}

fn bits<'a>(numbers: impl IntoIterator<Item = &'a f64>) -> Vec<u64> {
    numbers.into_iter().map(|x| x.to_bits()).collect()
}

/// The colours of graphs, given for each the rows of its nodes, `[n, channels]`, and its edges.
///
/// # Complexity
/// O(depth * m log m) and O(m) numbers, for m edges in all.
pub(super) fn colour<T: Number>(
    channels: usize,
    depth: usize,
    options: &Options,
    graphs: &[(Vec<T>, Edges)],
) -> Result<ColourParts> {
    let stopped = |_| Error::Interrupted;
    let (mut types, mut inputs) = (Numbered(HashMap::new()), Vec::new());
    let mut colours: Vec<u32> = Vec::new();
    let mut kinds = Numbered(HashMap::new());
    // For every node, its neighbours as numbers over all graphs, with the kind of the edge.
    let mut neighbours: Vec<Vec<(u32, u32)>> = Vec::new();
    for (rows, edges) in graphs {
        let first = colours.len() as u32;
        for (node, row) in rows.chunks_exact(channels.max(1)).enumerate() {
            // -0 + 0 is 0; all other numbers are unchanged.
            let wide: Vec<f64> = row.iter().map(|x| ppgn_kernels::Real::wide(*x) + 0.0).collect();
            let colour = types.of(bits(&wide));
            if colour as usize * channels == inputs.len() {
                inputs.extend(wide.iter().map(|&x| T::from_f64(x)));
            }
            colours.push(colour);
            neighbours
                .push(edges.at(node).map(|(j, weights)| (kinds.of(bits(weights)), first + j)).collect());
        }
    }
    let mut counts = vec![types.0.len() as u32];
    let mut parents: Vec<u32> = (0..counts[0]).collect();
    for _ in 0..depth {
        options.interrupt.check().map_err(stopped)?;
        let mut keys: HashMap<(u32, Vec<(u32, u32)>), u32> = HashMap::new();
        // A colour that is split keeps its number for the first part.
        let mut kept = vec![false; parents.len()];
        let next = colours.iter().zip(&neighbours).map(|(&colour, neighbours)| {
            let mut heard: Vec<(u32, u32)> =
                neighbours.iter().map(|&(kind, node)| (kind, colours[node as usize])).collect();
            heard.sort_unstable();
            *keys.entry((colour, heard)).or_insert_with(|| {
                if std::mem::replace(&mut kept[colour as usize], true) {
                    parents.push(colour);
                    parents.len() as u32 - 1
                } else {
                    colour
                }
            })
        });
        let next: Vec<u32> = next.collect();
        colours = next;
        counts.push(parents.len() as u32);
    }
    let mut rest = &colours[..];
    let graph = |(rows, _): &(Vec<T>, Edges)| {
        let nodes = rows.len() / channels.max(1);
        let (own, others) = rest.split_at(nodes);
        rest = others;
        let mut places = Numbered(HashMap::new());
        let indices: Vec<u32> = own.iter().map(|&colour| places.of(colour)).collect();
        let mut list = vec![0; places.0.len()];
        places.0.iter().for_each(|(&colour, &place)| list[place as usize] = colour);
        GraphColours { nodes, places: Places::new(indices, list.len()), colours: list }
    };
    let graphs = graphs.iter().map(graph).collect();
    Ok(ColourParts { order: 1, channels, inputs: T::values(inputs), counts, parents, graphs })
}
