//! Graphs of any sizes as one matrix: rows, not images.
//!
//! The n*n pairs of every graph of the batch are stored one graph after another, channels last:
//! `[sum of n*n, channels]`, row-major. An MLP on features is then one matrix product over all rows, and graphs of
//! different sizes need no padding. The [`Space`] knows where each graph begins.

use crate::config::{Level, PpgnConfig};
use crate::edges::Edges;
use crate::error::{Error, Result};
use crate::isomorphism;
use crate::precision::{Number, Precision, Values};
use crate::quotient::{self, Colours, Quotient};
use crate::space::{Dense, Space};
use ppgn_graph::Graph;
use ppgn_graph::encode::Encoder;
use std::sync::Arc;

/// The input of a network: rows, and the space they belong to.
#[derive(Debug, Clone)]
pub struct Batch {
    rows: Values,
    channels: usize,
    space: Space,
}

impl Batch {
    /// A batch from rows that are already encoded: each graph is (nodes, `[nodes * nodes, channels]` row-major).
    ///
    /// ```
    /// use ppgn_nn::Batch;
    /// let (edge, node) = ([0.0f32, 1.0, 1.0, 0.0], [0.0f32]);
    /// let batch = Batch::dense(1, &[(2, &edge[..]), (1, &node[..])])?;
    /// assert_eq!((batch.graphs(), batch.channels(), batch.space().rows(0)), (2, 1, 5));
    /// # Ok::<(), ppgn_nn::Error>(())
    /// ```
    pub fn dense<T: Number>(channels: usize, graphs: &[(usize, &[T])]) -> Result<Self> {
        for (number, (nodes, rows)) in graphs.iter().enumerate() {
            let expected = nodes.checked_mul(*nodes).and_then(|pairs| pairs.checked_mul(channels));
            if expected != Some(rows.len()) {
                return Err(Error::call(format!(
                    "graph {number} of the batch has {nodes} nodes and {channels} channels, but {} numbers",
                    rows.len()
                )));
            }
        }
        let nodes: Vec<usize> = graphs.iter().map(|(nodes, _)| *nodes).collect();
        Self::fill(channels, &nodes, |graph, rows: &mut [T]| {
            rows.copy_from_slice(graphs[graph].1);
            Ok(())
        })
    }

    /// A batch of graphs, encoded by `encoder`. O(sum of n*n * channels).
    ///
    /// ```
    /// use ppgn_graph::encode::{Encoding, Kind};
    /// use ppgn_graph::{Graph, Schema};
    /// use ppgn_nn::{Batch, Precision};
    /// let path = Graph::undirected(3, [(0, 1), (1, 2)])?;
    /// let encoder = Encoding::from(Kind::Paper).encoder(&Schema::of(&[path.clone()])?)?;
    /// let batch = Batch::encode(&encoder, &[&path], Precision::F32)?;
    /// assert_eq!((batch.channels(), batch.space().rows(0)), (1, 9));
    /// # Ok::<(), ppgn_nn::Error>(())
    /// ```
    pub fn encode(encoder: &Encoder, graphs: &[&Graph], precision: Precision) -> Result<Self> {
        let channels = encoder.channels().len();
        let nodes: Vec<usize> = graphs.iter().map(|g| g.nodes()).collect();
        match precision {
            Precision::F32 => {
                Self::fill(channels, &nodes, |g, rows: &mut [f32]| Ok(encoder.fill(graphs[g], rows)?))
            }
            Precision::F64 => {
                Self::fill(channels, &nodes, |g, rows: &mut [f64]| Ok(encoder.fill(graphs[g], rows)?))
            }
        }
    }

    /// A batch of the k-tuples of graphs: rows are their isomorphism types, `[n^k, k * k * (channels + 1)]` per graph,
    /// for networks of order k > 2, for those of order 1, whose rows are nodes, and for
    /// [`Model::Sums`](crate::Model::Sums). O(sum of n^k * k * k * channels).
    ///
    /// ```
    /// use ppgn_graph::encode::{Encoding, Kind};
    /// use ppgn_graph::{Graph, Schema};
    /// use ppgn_nn::{Batch, Precision};
    /// let path = Graph::undirected(3, [(0, 1), (1, 2)])?;
    /// let encoder = Encoding::from(Kind::Paper).encoder(&Schema::of(&[path.clone()])?)?;
    /// let batch = Batch::tuples(3, &encoder, &[&path], Precision::F32)?;
    /// assert_eq!((batch.channels(), batch.space().rows(0)), (18, 27));
    /// # Ok::<(), ppgn_nn::Error>(())
    /// ```
    pub fn tuples(k: usize, encoder: &Encoder, graphs: &[&Graph], precision: Precision) -> Result<Self> {
        fn filled<T: Number>(k: usize, encoder: &Encoder, graphs: &[&Graph]) -> Result<Batch> {
            let channels = encoder.channels().len();
            let space = Dense::of_tuples(k, &graphs.iter().map(|g| g.nodes()).collect::<Vec<_>>())?;
            let (mut edges, mut first) = (Edges::new(channels), 0);
            let mut batch =
                Batch::laid_out(isomorphism::channels(k, channels), space, |g, rows: &mut [T]| {
                    let (nodes, pairs) = (graphs[g].nodes(), encoder.rows::<T>(graphs[g])?);
                    isomorphism::fill(k, nodes, channels, &pairs, rows);
                    if k == 1 {
                        let own = Edges::of(nodes, channels, &pairs);
                        (0..nodes)
                            .for_each(|i| edges.push(own.at(i).map(|(j, weights)| (first + j, weights))));
                        first += nodes as u32;
                    }
                    Ok(())
                })?;
            if let (1, Space::Dense(dense)) = (k, &mut batch.space) {
                dense.edges = Some(Arc::new(edges));
            }
            Ok(batch)
        }
        match precision {
            Precision::F32 => filled::<f32>(k, encoder, graphs),
            Precision::F64 => filled::<f64>(k, encoder, graphs),
        }
    }

    /// The batch that networks of this configuration take, on the dense space: [`encode`](Self::encode) or
    /// [`tuples`](Self::tuples).
    pub fn of(
        config: &PpgnConfig,
        encoder: &Encoder,
        graphs: &[&Graph],
        precision: Precision,
    ) -> Result<Self> {
        match config.tuples() {
            None => Self::encode(encoder, graphs, precision),
            Some(k) => Self::tuples(k, encoder, graphs, precision),
        }
    }

    /// A batch on the quotient space: one row per colour. `graphs` are indices of the graphs that were coloured.
    ///
    /// ```
    /// use ppgn_graph::encode::{Encoding, Kind};
    /// use ppgn_graph::generate::generate;
    /// use ppgn_nn::{Batch, BlockConfig, Colours, PpgnConfig, Precision};
    /// let paths = generate("gnp:n=6,p=0.5,count=4")?;
    /// let encoder = Encoding::from(Kind::Paper).encoder(paths.schema())?;
    /// let colours = Colours::encode(&encoder, paths.graphs(), Precision::F32, 2, &Default::default())?;
    /// let batch = Batch::quotient(&colours, &[3, 0])?;
    /// let dense = Batch::encode(&encoder, &[paths.graph(3), paths.graph(0)], Precision::F32)?;
    /// assert_eq!((batch.space().rows(0), dense.space().rows(0)), (2, 72));
    ///
    /// let config = PpgnConfig { blocks: vec![BlockConfig::new(8); 2], ..PpgnConfig::new(1, 2) };
    /// let network = config.init(1, Precision::F32)?;
    /// let scores = [network.forward(&batch)?.to_f64(), network.forward(&dense)?.to_f64()];
    /// assert!(scores[0].iter().zip(&scores[1]).all(|(a, b)| (a - b).abs() < 1e-4));
    /// # Ok::<(), ppgn_nn::Error>(())
    /// ```
    pub fn quotient(colours: &Colours, graphs: &[usize]) -> Result<Self> {
        Self::quotient_for(Level::Graph, colours, graphs)
    }

    /// The same for networks with outputs of this level: nodes and pairs are looked up at the last level too.
    pub fn quotient_for(level: Level, colours: &Colours, graphs: &[usize]) -> Result<Self> {
        let (space, ids) = Quotient::new(colours, graphs, level != Level::Graph)?;
        let rows = quotient::inputs(colours, &ids);
        Ok(Batch { rows, channels: colours.channels(), space: Space::Quotient(Arc::new(space)) })
    }

    /// Lays out the graphs and fills in the rows of each, which start as zeros.
    fn fill<T: Number>(
        channels: usize,
        nodes: &[usize],
        fill: impl FnMut(usize, &mut [T]) -> Result<()>,
    ) -> Result<Self> {
        Self::laid_out(channels, Dense::new(nodes)?, fill)
    }

    /// Fills in the rows of every graph, which start as zeros.
    fn laid_out<T: Number>(
        channels: usize,
        space: Dense,
        mut fill: impl FnMut(usize, &mut [T]) -> Result<()>,
    ) -> Result<Self> {
        let length =
            space.rows().checked_mul(channels).filter(|&l| l <= isize::MAX as usize / size_of::<T>());
        let length = length.ok_or_else(|| {
            Error::unfit(format!("a batch of {} rows with {channels} channels is too large", space.rows()))
        })?;
        let mut numbers = vec![T::default(); length];
        let mut rest = numbers.as_mut_slice();
        let each = space.groups().iter().flat_map(|group| std::iter::repeat_n(group.each, group.graphs));
        for (&graph, each) in space.given().iter().zip(each) {
            let (rows, next) = rest.split_at_mut(each * channels);
            fill(graph, rows)?;
            rest = next;
        }
        Ok(Batch { rows: T::values(numbers), channels, space: Space::Dense(space) })
    }

    /// The rows of level 0, `[rows, channels]` row-major.
    pub fn rows(&self) -> &Values {
        &self.rows
    }

    /// The space the rows belong to.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The number of graphs.
    pub fn graphs(&self) -> usize {
        self.space.graphs()
    }

    /// The number of graphs, nodes or pairs: the rows of the scores of a network with outputs of this level. They are
    /// in the order of the graphs, then of the nodes; pair (i, j) of a graph with n nodes is its row i*n + j.
    pub fn items(&self, level: Level) -> usize {
        self.space.nodes().iter().map(|&nodes| level.items(nodes)).sum()
    }

    /// Channels per row.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// The precision of the rows.
    pub fn precision(&self) -> Precision {
        self.rows.precision()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_arguments_are_errors() {
        let none: &[(usize, &[f32])] = &[];
        assert!(Batch::dense(1, none).unwrap_err().to_string().contains("at least one graph"));
        let short = Batch::dense(2, &[(2, &[0.0f32; 7][..])]).unwrap_err();
        assert!(short.is_call() && short.to_string().contains("2 nodes and 2 channels, but 7 numbers"));
        assert!(Dense::new(&[1 << 40]).unwrap_err().to_string().contains("too many"));
        assert!(Dense::new(&[usize::MAX >> 33; 8]).is_err() || usize::BITS < 64);
    }
}
