//! The cost model of the two spaces: the estimated work of an epoch on each. `ppgn-train` decides by it which space a
//! dataset is trained on.

use super::Colours;
use crate::config::PpgnConfig;
use crate::model::Description;

/// The estimated cost of a training epoch on both spaces.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// The order of the tuples that are rows: 2 for pairs.
    pub order: usize,
    /// The number of pairs (or longer tuples) of all graphs: the rows of the dense space at every level.
    pub pairs: u64,
    /// The rows of the quotient space at every level, summed over graphs (rows that graphs of a batch share are counted
    /// once per graph).
    pub rows: Vec<u64>,
    /// Floating-point operations per epoch on the dense space, with those of the product [weighted](Cost::PRODUCT).
    pub dense: f64,
    /// The same on the quotient space.
    pub quotient: f64,
}

impl Cost {
    /// The assumed cost of one operation of the product on rows, relative to one of a matrix product in an MLP: it
    /// reads a number for each operation, while the MLPs reuse every number hundreds of times.
    pub const PRODUCT: f64 = 4.0;

    /// A backward pass costs twice as much as a forward pass.
    const PASSES: f64 = 3.0;

    /// The cost of a network on these graphs: `rows(l)` rows through the MLPs of block l, `rows(l + 1)` sums over n, or over
    /// classes of twins.
    /// O(colours).
    ///
    /// ```
    /// use ppgn_graph::{encode::{Encoding, Kind}, generate::generate};
    /// use ppgn_nn::{Colours, Cost, PpgnConfig, Precision};
    /// let rook = generate("rook:n=4")?;
    /// let encoder = Encoding::from(Kind::Authors).encoder(rook.schema())?;
    /// let colours = Colours::encode(&encoder, rook.graphs(), Precision::F32, 3, &Default::default())?;
    /// let cost = Cost::new(&PpgnConfig::new(1, 2), &colours);
    /// assert_eq!((cost.pairs, &cost.rows[..]), (256, &[2, 3, 3, 3][..]));
    /// assert!(cost.quotient < 0.02 * cost.dense);
    /// # Ok::<(), ppgn_nn::Error>(())
    /// ```
    pub fn new(config: &PpgnConfig, colours: &Colours) -> Self {
        let (order, rows) = (colours.order(), vec![0; colours.depth() + 1]);
        let blocks = config.descriptions();
        let mut cost = Cost { order, pairs: 0, rows, dense: 0.0, quotient: 0.0 };
        for graph in 0..colours.graphs() {
            let (nodes, rows) = (colours.nodes(graph), colours.rows(graph));
            let tuples = nodes.pow(colours.order() as u32);
            cost.pairs += tuples as u64;
            cost.rows.iter_mut().zip(&rows).for_each(|(sum, &rows)| *sum += rows as u64);
            cost.dense += flops(&blocks, [nodes; 2], |_| tuples);
            cost.quotient +=
                flops(&blocks, [nodes, colours.terms(graph)], |level| rows[level.min(rows.len() - 1)]);
        }
        cost
    }

    /// The cost of the quotient space relative to the dense space.
    pub fn share(&self) -> f64 {
        self.quotient / self.dense
    }
}

/// The cost of an epoch for one graph of n nodes, whose matrix product has [so many terms](Colours::terms), with
/// `rows(level)` rows at each level: floating-point operations of the forward and backward pass of these blocks, with
/// those of the product weighted by [`Cost::PRODUCT`].
pub fn flops(blocks: &[Description], [nodes, terms]: [usize; 2], rows: impl Fn(usize) -> usize) -> f64 {
    let block = |(level, block): (usize, &Description)| {
        let [below, above] = block.multiplications([nodes, terms], Cost::PRODUCT);
        rows(level) as f64 * below + rows(level + 1) as f64 * above
    };
    2.0 * Cost::PASSES * blocks.iter().enumerate().map(block).sum::<f64>()
}
