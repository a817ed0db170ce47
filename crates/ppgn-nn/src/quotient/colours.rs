//! The colours of a dataset's pairs: computed once, they give the quotient space of every batch.
//!
//! Two pairs have the same colour at level l if 2-FWL, started from the network's input rows, has not distinguished
//! them after l rounds; every network gives them equal rows before its block l. Colours are only ever split, so the
//! colours of the last level and the tree of splits determine all levels. A graph stores the colour of each pair as an
//! index into a short list of its own colours: two bytes per pair if the list allows it, and for the last level only.
//! Networks of order k use k-tuples, whose rows are isomorphism types, and k-FWL.

use super::nodes;
use super::parts::{ColourParts, GraphColours, Places};
use super::twins;
use crate::config::PpgnConfig;
use crate::edges::Edges;
use crate::error::{Error, Result};
use crate::isomorphism;
use crate::precision::{Number, Precision, Values};
use ppgn_graph::Graph;
use ppgn_graph::encode::Encoder;
use ppgn_kernels::merges_twins;
use ppgn_wl::{LevelsError, Options, TupleLevels};
use rayon::prelude::*;

/// The colours of all pairs of a dataset at the levels 0, ..., L, for networks of L blocks.
///
/// ```
/// use ppgn_graph::generate::generate;
/// use ppgn_graph::encode::{Encoding, Kind};
/// use ppgn_nn::{Colours, Precision};
/// let rook = generate("rook:n=4")?;                  // strongly regular: three colours at every level
/// let encoder = Encoding { identity: true, ..Encoding::from(Kind::Paper) }.encoder(rook.schema())?;
/// let colours = Colours::encode(&encoder, rook.graphs(), Precision::F32, 3, &Default::default())?;
/// assert_eq!((colours.pairs(), colours.count(0), colours.count(3)), (256, 3, 3));
/// # Ok::<(), ppgn_nn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Colours {
    pub(super) parts: ColourParts,
    /// For colours of nodes, who every node hears from; else empty.
    pub(super) edges: Vec<Edges>,
    /// For colours of pairs, the first twin of every node, graph by graph; else empty.
    pub(super) twins: Vec<Vec<u32>>,
}

impl Colours {
    /// The colours of graphs under an encoding, for networks of `depth` blocks. Rows are equal if all their numbers are
    /// equal in this precision (0 and -0 are). Only the memory limit and the interrupt of the options apply.
    ///
    /// # Complexity
    /// O(n^3) per graph and level. The result takes 2 bytes per pair and 8 per colour; about 80 bytes per pair are
    /// needed temporarily.
    pub fn encode(
        encoder: &Encoder,
        graphs: &[Graph],
        precision: Precision,
        depth: usize,
        options: &Options,
    ) -> Result<Self> {
        match precision {
            Precision::F32 => Self::encode_in::<f32>(encoder, graphs, depth, options),
            Precision::F64 => Self::encode_in::<f64>(encoder, graphs, depth, options),
        }
    }

    /// The colours that networks of this configuration run on: of pairs, or of tuples with their isomorphism types.
    ///
    /// # Complexity
    /// O(k n^(k+1)) per graph and level; n^k * k * k * (channels + 1) numbers per graph temporarily.
    pub fn of(
        config: &PpgnConfig,
        encoder: &Encoder,
        graphs: &[Graph],
        precision: Precision,
        options: &Options,
    ) -> Result<Self> {
        let depth = config.blocks.len();
        match (config.tuples(), precision) {
            (None, _) => Self::encode(encoder, graphs, precision, depth, options),
            (Some(1), Precision::F32) => Self::nodes_in::<f32>(encoder, graphs, depth, options),
            (Some(1), Precision::F64) => Self::nodes_in::<f64>(encoder, graphs, depth, options),
            (Some(k), Precision::F32) => Self::tuples_in::<f32>(k, encoder, graphs, depth, options),
            (Some(k), Precision::F64) => Self::tuples_in::<f64>(k, encoder, graphs, depth, options),
        }
    }

    /// The colours of nodes.
    fn nodes_in<T: Number>(
        encoder: &Encoder,
        graphs: &[Graph],
        depth: usize,
        options: &Options,
    ) -> Result<Self> {
        let channels = encoder.channels().len();
        let width = isomorphism::channels(1, channels);
        let split = |graph: &Graph| {
            let (n, pairs) = (graph.nodes(), encoder.rows::<T>(graph)?);
            let mut rows = vec![T::default(); n * width];
            isomorphism::fill(1, n, channels, &pairs, &mut rows);
            Ok((rows, Edges::of(n, channels, &pairs)))
        };
        let split: Vec<(Vec<T>, Edges)> = graphs.iter().map(split).collect::<Result<_>>()?;
        let parts = nodes::colour(width, depth, options, &split)?;
        let edges = split.into_iter().map(|(_, edges)| edges).collect();
        Ok(Colours { parts, edges, twins: Vec::new() })
    }

    fn tuples_in<T: Number>(
        k: usize,
        encoder: &Encoder,
        graphs: &[Graph],
        depth: usize,
        options: &Options,
    ) -> Result<Self> {
        let nodes: Vec<usize> = graphs.iter().map(Graph::nodes).collect();
        let channels = encoder.channels().len();
        let width = isomorphism::channels(k, channels);
        Self::find(k, &nodes, width, depth, options, |graph| {
            let n = nodes[graph];
            let length = u32::try_from(k).ok().and_then(|k| n.checked_pow(k)?.checked_mul(width));
            let length = length.filter(|&l| l <= isize::MAX as usize / 8);
            let length = length.ok_or_else(|| {
                Error::unfit(format!("graph {graph} has {n} nodes, too many {k}-tuples to colour"))
            })?;
            let mut rows = vec![T::default(); length];
            isomorphism::fill(k, n, channels, &encoder.rows::<T>(&graphs[graph])?, &mut rows);
            Ok(rows)
        })
    }

    fn encode_in<T: Number>(
        encoder: &Encoder,
        graphs: &[Graph],
        depth: usize,
        options: &Options,
    ) -> Result<Self> {
        let nodes: Vec<usize> = graphs.iter().map(Graph::nodes).collect();
        let channels = encoder.channels().len();
        Self::new(&nodes, channels, depth, options, |graph| Ok(encoder.rows::<T>(&graphs[graph])?))
    }

    /// The colours of graphs with these numbers of nodes, whose rows are `rows(graph)`: `[n * n, channels]`, row-major.
    /// `rows` is called up to three times per graph, from several threads.
    pub fn new<T: Number>(
        nodes: &[usize],
        channels: usize,
        depth: usize,
        options: &Options,
        rows: impl Fn(usize) -> Result<Vec<T>> + Sync,
    ) -> Result<Self> {
        Self::find(2, nodes, channels, depth, options, rows)
    }

    fn find<T: Number>(
        order: usize,
        nodes: &[usize],
        channels: usize,
        depth: usize,
        options: &Options,
        rows: impl Fn(usize) -> Result<Vec<T>> + Sync,
    ) -> Result<Self> {
        // Graphs without nodes have no pairs to colour.
        let kept: Vec<usize> = (0..nodes.len()).filter(|&graph| nodes[graph] > 0).collect();
        if kept.is_empty() {
            return Err(Error::unfit("none of the graphs has a node, so there are no pairs to colour"));
        }
        let rows = |graph: usize| {
            let mut rows = rows(kept[graph])?;
            // -0 + 0 is 0; all other numbers are unchanged.
            rows.iter_mut().for_each(|x| *x += T::default());
            Ok(rows)
        };
        let sizes: Vec<usize> = kept.iter().map(|&graph| nodes[graph]).collect();
        let levels =
            TupleLevels::new(order, &sizes, channels, depth, options, rows).map_err(|error| match error {
                LevelsError::Rows { source, .. } => source,
                LevelsError::Colouring(error) => translate(&error, &kept),
            })?;
        let inputs = inputs(&levels, channels, rows)?;
        let mut coloured = coloured(&levels).into_iter();
        let none = || GraphColours { nodes: 0, colours: Vec::new(), places: Places::Narrow(Vec::new()) };
        let graphs = nodes.iter().map(|&n| if n == 0 { None } else { coloured.next() });
        Ok(Self::of_tuples(ColourParts {
            order,
            channels,
            inputs,
            counts: (0..=depth).map(|level| levels.count(level) as u32).collect(),
            parents: parents(&levels),
            graphs: graphs.map(|graph| graph.unwrap_or_else(none)).collect(),
        }))
    }

    /// The colours of pairs or longer tuples from their parts. O(tuples).
    fn of_tuples(parts: ColourParts) -> Self {
        let graphs = if parts.order == 2 { &parts.graphs[..] } else { &[] };
        let twins = graphs.par_iter().map(|graph| twins::find(graph.nodes, &graph.places)).collect();
        Colours { parts, edges: Vec::new(), twins }
    }

    /// Their contents.
    pub fn parts(&self) -> &ColourParts {
        &self.parts
    }

    /// Rebuilds colours from their parts. Inconsistent parts are an error. Colours of nodes cannot be rebuilt: they
    /// need the edges too, and are quickly found again. Whether they are the colours of particular graphs is not checked: that would mean colouring them again. O(tuples).
    ///
    /// ```
    /// use ppgn_nn::{ColourParts, Colours};
    /// let rows = |_| Ok(vec![0.0f32, 1.0, 1.0, 0.0]);
    /// let colours = Colours::new(&[2], 1, 2, &Default::default(), rows)?;
    /// let parts = colours.parts().clone();
    /// assert_eq!(Colours::from_parts(parts.clone())?, colours);
    /// assert!(Colours::from_parts(ColourParts { channels: 2, ..parts }).is_err());
    /// # Ok::<(), ppgn_nn::Error>(())
    /// ```
    pub fn from_parts(parts: ColourParts) -> Result<Self> {
        if parts.order == 1 {
            return Err(Error::unfit(
                "colours of nodes need the edges of the graphs, which these parts lack",
            ));
        }
        match parts.are_consistent() {
            true => Ok(Self::of_tuples(parts)),
            false => Err(Error::unfit("the parts are inconsistent: they are not the colours of any graphs")),
        }
    }

    /// The order of the coloured tuples: 2 for pairs.
    pub fn order(&self) -> usize {
        self.parts.order
    }

    /// The last level, L: the number of blocks these colours are for.
    pub fn depth(&self) -> usize {
        self.parts.counts.len() - 1
    }

    /// The number of graphs.
    pub fn graphs(&self) -> usize {
        self.parts.graphs.len()
    }

    /// The number of nodes of a graph.
    pub fn nodes(&self, graph: usize) -> usize {
        self.parts.graphs[graph].nodes
    }

    /// Channels per input row.
    pub fn channels(&self) -> usize {
        self.parts.channels
    }

    /// The precision in which rows were compared.
    pub fn precision(&self) -> Precision {
        self.parts.inputs.precision()
    }

    /// The number of pairs (or longer tuples) of all graphs: the rows of the dense space.
    pub fn pairs(&self) -> usize {
        self.parts.graphs.iter().map(|graph| graph.nodes.pow(self.parts.order as u32)).sum()
    }

    /// The number of colours at a level, over all graphs.
    ///
    /// # Panics
    /// If `level` exceeds [`depth`](Self::depth).
    pub fn count(&self, level: usize) -> usize {
        self.parts.counts[level] as usize
    }

    /// The parent, at the level below, of a colour at a level (from 1).
    pub(super) fn parent(&self, level: usize, colour: u32) -> u32 {
        if colour < self.parts.counts[level - 1] { colour } else { self.parts.parents[colour as usize] }
    }

    /// How many nodes the product sums over: all n, or one per class of twins, where it does with those. O(n).
    ///
    /// Two nodes are twins if they can change places without changing the colour of any pair, such as two leaves of a
    /// star.
    ///
    /// ```
    /// use ppgn_graph::{encode::{Encoding, Kind}, generate::generate};
    /// use ppgn_nn::{Colours, Precision};
    /// let star = generate("star:n=10")?;
    /// let encoder = Encoding::from(Kind::Authors).encoder(star.schema())?;
    /// let colours = Colours::encode(&encoder, star.graphs(), Precision::F32, 3, &Default::default())?;
    /// assert_eq!(colours.terms(0), 2);               // the centre, and the leaves
    /// # Ok::<(), ppgn_nn::Error>(())
    /// ```
    pub fn terms(&self, graph: usize) -> usize {
        let nodes = self.nodes(graph);
        let Some(twins) = self.twins.get(graph) else { return nodes };
        let classes = twins.iter().enumerate().filter(|&(node, &first)| node == first as usize).count();
        if merges_twins(nodes, classes) { classes } else { nodes }
    }

    /// The number of colours of a graph at each level.
    pub fn rows(&self, graph: usize) -> Vec<usize> {
        let mut colours = self.parts.graphs[graph].colours.clone();
        let mut rows = vec![colours.len(); self.parts.counts.len()];
        for level in (1..self.parts.counts.len()).rev() {
            colours.iter_mut().for_each(|colour| *colour = self.parent(level, *colour));
            colours.sort_unstable();
            colours.dedup();
            rows[level - 1] = colours.len();
        }
        rows
    }
}

/// Translates an error of the colouring for a caller who does not know about it.
fn translate(error: &ppgn_wl::Error, kept: &[usize]) -> Error {
    match error {
        ppgn_wl::Error::Rows { graph, found, expected } => Error::call(format!(
            "graph {} has {found} numbers in its rows, not {expected}",
            kept.get(*graph).copied().unwrap_or(*graph)
        )),
        ppgn_wl::Error::Memory { need, limit, .. } => Error::unfit(format!(
            "colouring the pairs of {} graphs needs about {} MiB of memory; the limit is {} MiB",
            kept.len(),
            need >> 20,
            limit >> 20
        )),
        error => Error::unfit(format!("the pairs cannot be coloured: {error}")),
    }
}

/// The input row of every colour of level 0; the rows of each graph are computed only once.
fn inputs<T: Number>(
    levels: &TupleLevels,
    channels: usize,
    rows: impl Fn(usize) -> Result<Vec<T>>,
) -> Result<Values> {
    let mut examples: Vec<(usize, usize, usize)> = Vec::with_capacity(levels.count(0));
    for colour in 0..levels.count(0) {
        let (graph, place) = levels.example(colour as u32);
        examples.push((graph, place, colour));
    }
    examples.sort_unstable();
    let mut inputs = vec![T::default(); levels.count(0) * channels];
    for run in examples.chunk_by(|a, b| a.0 == b.0) {
        let rows = rows(run[0].0)?;
        for &(_, pair, colour) in run {
            inputs[colour * channels..][..channels].copy_from_slice(&rows[pair * channels..][..channels]);
        }
    }
    Ok(T::values(inputs))
}

fn parents(levels: &TupleLevels) -> Vec<u32> {
    let mut parents: Vec<u32> = (0..levels.count(0) as u32).collect();
    for level in 1..=levels.depth() {
        let born = levels.count(level - 1) as u32..levels.count(level) as u32;
        parents.extend(born.map(|colour| levels.parent(level, colour).unwrap_or(colour)));
    }
    parents
}

fn coloured(levels: &TupleLevels) -> Vec<GraphColours> {
    let last = levels.depth();
    // The index of a colour in the list of the current graph; the list tells which entries to reset.
    let mut place_of = vec![u32::MAX; levels.count(last)];
    let mut coloured = Vec::with_capacity(levels.graphs());
    for graph in 0..levels.graphs() {
        let mut colours = Vec::new();
        let place = |&colour: &u32| {
            let place = &mut place_of[colour as usize];
            if *place == u32::MAX {
                *place = colours.len() as u32;
                colours.push(colour);
            }
            *place
        };
        let places: Vec<u32> = levels.colours(last, graph).iter().map(place).collect();
        colours.iter().for_each(|&colour| place_of[colour as usize] = u32::MAX);
        colours.shrink_to_fit();
        let places = Places::new(places, colours.len());
        coloured.push(GraphColours { nodes: levels.nodes(graph), colours, places });
    }
    coloured
}
