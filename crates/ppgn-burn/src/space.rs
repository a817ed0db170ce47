//! A batch's space on the device: the operations in which rows meet, with every index and mask that they need.
//!
//! All of it is uploaded when the space is made, once per batch, and no operation sends anything more. Blocks see
//! [`lift`](Space::lift), [`product`](Space::product) and [`pool`](Space::pool), as `ppgn_nn::Space` defines them; linear
//! equivariant layers need all pairs as rows.

use crate::pool::{Masks, Segments};
use crate::product;
use crate::transfer::indices;
use burn::tensor::{DType, Device, Int, Tensor};
use ppgn_nn::kernels::Product;
use ppgn_nn::{Dense, Pooling, PpgnConfig, Quotient, Result, Scale};

/// What the rows of a batch are.
#[derive(Debug, Clone)]
pub(crate) enum Space {
    /// Every tuple of nodes.
    Dense { space: Dense, masks: Box<Masks> },
    /// Every colour of tuples: what leads from each level to the next.
    Quotient(Vec<Step>),
}

/// What leads from the rows of one level to those of the next.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// The row below of every row.
    parents: Tensor<1, Int>,
    /// The way through the dense space; nothing where no graph has a node.
    meeting: Option<Meeting>,
    /// Pooling above, where the network pools.
    segments: Option<Segments>,
}

/// Rows of colours meet as all tuples of the graphs that have an example of a colour above.
#[derive(Debug, Clone)]
struct Meeting {
    dense: Dense,
    /// The row below of every tuple.
    spread: Tensor<1, Int>,
    /// The tuple of every row above.
    read: Tensor<1, Int>,
}

impl Space {
    /// The space of a batch that fits the configuration.
    pub(crate) fn new(
        space: &ppgn_nn::Space,
        config: &PpgnConfig,
        dtype: DType,
        device: &Device,
    ) -> Result<Self> {
        match space {
            ppgn_nn::Space::Dense(space) => {
                Ok(Space::Dense { space: space.clone(), masks: Box::new(Masks::new(space, device)) })
            }
            ppgn_nn::Space::Quotient(quotient) => {
                let step = |level: usize| {
                    let pools = config.pools_after(level);
                    Ok(Step {
                        parents: indices(places(quotient.parents(level + 1)), device),
                        meeting: Meeting::new(quotient, level, device)?,
                        segments: pools.then(|| Segments::new(quotient, level + 1, dtype, device)),
                    })
                };
                Ok(Space::Quotient((0..config.blocks.len()).map(step).collect::<Result<_>>()?))
            }
            _ => Err(ppgn_nn::Error::Call("the composition does not know the batch's space".into())),
        }
    }

    /// The rows of `level` as rows of `level + 1`.
    ///
    /// # Shapes
    /// - `x`: `[rows(level), channels]`
    /// - result: `[rows(level + 1), channels]`
    pub(crate) fn lift(&self, level: usize, x: Tensor<2>) -> Tensor<2> {
        match self {
            Space::Dense { .. } => x,
            Space::Quotient(steps) => x.select(0, steps[level].parents.clone()),
        }
    }

    /// How the outputs of MLPs meet: see [`product::product`].
    ///
    /// # Shapes
    /// - `ys`, each: `[rows(level), channels]`
    /// - result: `[rows(level + 1), channels]`; `[rows(level + 1), order * channels]` for `Sums`
    pub(crate) fn product(&self, level: usize, kind: Product, ys: Vec<Tensor<2>>, scale: Scale) -> Tensor<2> {
        match self {
            Space::Dense { space, .. } => product::product(space, kind, &ys, scale),
            Space::Quotient(steps) => match &steps[level].meeting {
                Some(Meeting { dense, spread, read }) => {
                    let ys: Vec<_> = ys.into_iter().map(|y| y.select(0, spread.clone())).collect(); // [tuples, channels]
                    product::product(dense, kind, &ys, scale).select(0, read.clone())
                }
                None => product::nothing(kind, &ys),
            },
        }
    }

    /// Per graph, over the tuples of every pattern.
    ///
    /// # Shapes
    /// - `x`: `[rows(level), channels]`
    /// - result: `[graphs, patterns * channels]`, in the order in which the graphs were given
    ///
    /// # Panics
    /// On the quotient, at a level after which the network does not pool.
    pub(crate) fn pool(&self, level: usize, x: Tensor<2>, pooling: Pooling) -> Tensor<2> {
        match self {
            Space::Dense { space, masks } => masks.pool(space, x, pooling),
            Space::Quotient(steps) => {
                let segments = steps[level - 1].segments.as_ref();
                segments.expect("the network pools after this level").pool(x, pooling)
            }
        }
    }

    /// The space of all pairs.
    ///
    /// # Panics
    /// On the quotient: networks with linear equivariant layers refuse it.
    pub(crate) fn pairs(&self) -> &Dense {
        match self {
            Space::Dense { space, .. } => space,
            Space::Quotient(_) => panic!("linear equivariant layers need the dense space"),
        }
    }
}

impl Meeting {
    fn new(space: &Quotient, level: usize, device: &Device) -> Result<Option<Self>> {
        let examples = space.examples(level + 1);
        let mut graphs: Vec<usize> = examples.iter().map(|example| example.graph as usize).collect();
        graphs.dedup(); // examples are in the order of graphs
        if graphs.is_empty() {
            return Ok(None);
        }
        let nodes: Vec<usize> = graphs.iter().map(|&graph| space.nodes()[graph]).collect();
        let dense = Dense::of_tuples(space.order(), &nodes)?;
        let mut spread = Vec::with_capacity(dense.rows());
        let mut starts = vec![0; space.graphs()];
        for &lies in dense.given() {
            starts[graphs[lies]] = spread.len();
            spread.extend(places(space.matrix(level, graphs[lies])));
        }
        let read = examples.iter().map(|example| starts[example.graph as usize] + example.place as usize);
        let (spread, read) = (indices(spread, device), indices(read, device));
        Ok(Some(Meeting { dense, spread, read }))
    }
}

fn places(rows: &[u32]) -> impl Iterator<Item = usize> {
    rows.iter().map(|&row| row as usize)
}
