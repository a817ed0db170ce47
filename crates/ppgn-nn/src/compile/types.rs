//! Isomorphism types: the first step of the proof, colours of round 0 as integers.
//!
//! The input row of a pair encodes whether it is one node or two, whether edges join them in either direction, and the
//! labels of the edge from the first to the second. Every categorical channel is a digit, so one linear function maps
//! distinct rows to distinct integers. If all nodes look alike, that is the isomorphism type. If not, the rows off the
//! diagonal lack the types of their two nodes, and one block fetches them: `t . 1` has the type of node i at (i, k),
//! `1 . t` that of node k, where t has the types on its diagonal and 1 is the matrix of ones. The paper's
//! initialisation has 4e + 1 channels instead, which would drop the edges for e = 0.

use super::exact::{LIMIT, Largest, beyond};
use super::plan::BlockPlan;
use super::table::{Codes, Layer};
use crate::error::{Error, Result};
use ppgn_graph::encode::{Encoder, Encoding, Kind};
use ppgn_graph::{Graph, LabelColumn, Schema};
use ppgn_wl::Refinement;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What precedes the rounds: the codes of the isomorphism types, and the block that computes them if one is needed.
pub(super) struct Types {
    /// The encoder of the input.
    pub(super) encoder: Encoder,
    /// The channel of the identity matrix in the encoding.
    pub(super) identity: usize,
    /// The weights of the channels that give a row's code, at the input or after the block.
    pub(super) channels: Vec<i64>,
    /// The code of every colour of round 0.
    pub(super) codes: Vec<i64>,
    /// The block that brings the types of the nodes to the pairs, if nodes differ.
    pub(super) block: Option<BlockPlan>,
}

/// The encoding that Theorem 2 starts from: `paper` with the identity and, for directed graphs, the transposed
/// adjacency.
pub(super) fn encoding(schema: &Schema) -> Encoding {
    Encoding { identity: true, transposed: schema.directed, ..Kind::Paper.into() }
}

/// Digits of a mixed-radix number, one weight per channel of the encoding.
pub(super) struct Digits {
    pub(super) weights: Vec<i64>,
    radix: i128,
}

impl Digits {
    /// For a row with this many channels, all with weight 0.
    pub(super) fn new(channels: usize) -> Self {
        Digits { weights: vec![0; channels], radix: 1 }
    }

    /// A channel of zeros and ones.
    pub(super) fn flag(&mut self, channel: usize) -> Result<()> {
        self.weights[channel] = self.radix as i64;
        self.grow(2)
    }

    fn grow(&mut self, values: usize) -> Result<()> {
        self.radix *= values.max(1) as i128;
        match self.radix >= LIMIT {
            true => Err(beyond(self.radix, "the codes of label combinations")),
            false => Ok(()),
        }
    }

    /// One-hot columns, starting at this channel.
    pub(super) fn columns(&mut self, mut channel: usize, columns: &[LabelColumn]) -> Result<()> {
        for column in columns {
            let (values, radix) = (column.values().len(), self.radix as i64);
            self.grow(values)?;
            (0..values).for_each(|v| self.weights[channel + v] = radix * v as i64);
            channel += values;
        }
        Ok(())
    }
}

/// The weights of the channels that number the rows.
struct Numbering {
    /// Based on everything except node labels.
    pair: Vec<i64>,
    /// An upper bound (exclusive) on those numbers.
    radix: i64,
    /// Based on everything.
    full: Vec<i64>,
    identity: usize,
}

impl Numbering {
    /// Goes through the channels of [`Kind::Paper`] in order: node labels and attributes, edge labels and attributes,
    /// identity, transposed adjacency, adjacency. Attributes have no weight; nor have labels, unless `labels` is set.
    fn new(schema: &Schema, channels: usize, labels: bool) -> Result<Self> {
        let adjacency = channels - 1;
        let identity = adjacency - usize::from(schema.directed) - 1;
        let mut digits = Digits::new(channels);
        (identity..=adjacency).try_for_each(|channel| digits.flag(channel))?;
        if labels {
            let edges = width(&schema.node_labels) + schema.node_attributes.len();
            digits.columns(edges, &schema.edge_labels)?;
        }
        let (pair, radix) = (digits.weights.clone(), digits.radix as i64);
        if labels {
            digits.columns(0, &schema.node_labels)?;
        }
        Ok(Numbering { pair, radix, full: digits.weights, identity })
    }
}

/// The number of channels of these one-hot columns.
pub(super) fn width(columns: &[LabelColumn]) -> usize {
    columns.iter().map(|c| c.values().len()).sum()
}

/// The weighted sum of a row's channels. Channels with a weight hold zeros and ones.
pub(super) fn code(row: &[f64], weights: &[i64]) -> i64 {
    row.iter().zip(weights).filter(|(x, w)| **x != 0.0 && **w != 0).map(|(_, w)| w).sum()
}

impl Types {
    /// The isomorphism types of these graphs, checked to be the colours of round 0. O(pairs * channels).
    pub(super) fn new(
        graphs: &[Graph],
        schema: &Schema,
        colours: &Refinement,
        labels: bool,
        largest: &mut Largest,
    ) -> Result<Self> {
        let encoder = encoding(schema).encoder(schema)?;
        let width = encoder.channels().len();
        let numbering = Numbering::new(schema, width, labels)?;
        let number = |graph: &Graph, weights: &[i64]| -> Result<Vec<i64>> {
            Ok(encoder.rows::<f64>(graph)?.chunks(width).map(|row| code(row, weights)).collect())
        };
        let mut rows = BTreeSet::new();
        let mut diagonal = BTreeSet::new();
        for graph in graphs {
            let full = number(graph, &numbering.full)?;
            diagonal.extend(full.iter().step_by(graph.nodes() + 1).copied());
            rows.extend(full);
        }
        let node_types: BTreeMap<i64, i64> = diagonal.into_iter().zip(0..).collect();
        let count = node_types.len() as i64;
        let factors = [numbering.radix, numbering.radix.saturating_mul(count)];
        let most = i128::from(factors[1]) * i128::from(count);
        largest.admit(most, || format!("the codes of isomorphism types with {count} node types"))?;
        let mut types = Bijection::default();
        let ancestors = colours.ancestors(0);
        for (g, graph) in graphs.iter().enumerate() {
            let (pairs, full) = (number(graph, &numbering.pair)?, number(graph, &numbering.full)?);
            let n = graph.nodes();
            for (place, (&pair, &colour)) in pairs.iter().zip(colours.colours(g)).enumerate() {
                let ends = [place / n, place % n].map(|u| node_types[&full[u * n + u]]);
                let code = pair + factors[0] * ends[0] + factors[1] * ends[1];
                types.note(code, ancestors[colour as usize], (g, &[place / n, place % n]))?;
            }
        }
        let codes = types.codes(colours.colours_after(0));
        let Numbering { pair, full, identity, .. } = numbering;
        let (channels, block) = match count {
            1 => (pair, None),
            _ => {
                let rows = Codes::new(full, rows.into_iter().collect());
                (vec![1, 0], Some(block(&rows, &node_types, &pair, factors, identity, largest)?))
            }
        };
        Ok(Types { encoder, identity, channels, codes, block })
    }
}

/// The block that brings the types of nodes i and k to the pair (i, k). Its output is (code, identity).
fn block(
    rows: &Codes,
    node_types: &BTreeMap<i64, i64>,
    pair: &[i64],
    factors: [i64; 2],
    identity: usize,
    largest: &mut Largest,
) -> Result<BlockPlan> {
    let ones = vec![1; rows.len()];
    let mut types = vec![0; rows.len()];
    node_types.iter().for_each(|(&row, &t)| types[rows.rank(row)] = t);
    let m1 = rows.tables(&[types.clone(), ones.clone()], largest)?;
    let m2 = rows.tables(&[ones, types], largest)?;
    let mut m4 = Layer::zeros(pair.len() + 2, 2)?;
    pair.iter().enumerate().for_each(|(channel, &weight)| m4.set(0, channel, weight));
    factors.iter().enumerate().for_each(|(channel, &weight)| m4.set(0, pair.len() + channel, weight));
    m4.set(1, identity, 1);
    let note = format!(
        "isomorphism types: {} input rows, {} node types; W = (t . 1, 1 . t) copies them to the pairs",
        rows.len(),
        node_types.len()
    );
    Ok(BlockPlan { factors: vec![m1, m2], m4, note })
}

/// A one-to-one map between codes and colours.
#[derive(Default)]
pub(super) struct Bijection {
    colour: HashMap<i64, u32>,
    code: HashMap<u32, i64>,
}

impl Bijection {
    /// Records the code and colour of a tuple; `at` is its graph and nodes.
    pub(super) fn note(&mut self, code: i64, colour: u32, at: (usize, &[usize])) -> Result<()> {
        let same = *self.colour.entry(code).or_insert(colour) == colour;
        if same && *self.code.entry(colour).or_insert(code) == code {
            return Ok(());
        }
        let (graph, tuple) = at;
        let nodes = tuple.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        Err(Error::Labels(format!(
            "graph {graph}: the input rows do not determine the isomorphism type of the pair ({nodes}). The \
             encoding has the labels of an edge in one direction only, so graphs with different labels in the \
             two directions cannot be compiled with their labels"
        )))
    }

    /// The code of every colour.
    pub(super) fn codes(&self, colours: usize) -> Vec<i64> {
        (0..colours as u32).map(|c| self.code[&c]).collect()
    }
}
