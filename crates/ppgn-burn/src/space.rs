//! A batch's space on the device: the operations in which rows meet, with every index and mask that they need.
//!
//! All of it is uploaded when the space is made, once per batch, and no operation sends anything more. Blocks see a [`Step`]:
//! how rows are lifted, how they meet, and how they are pooled, as `ppgn_nn::Space` defines it.

use crate::gather::Gather;
use crate::meeting::Meeting;
use crate::messages::Messages;
use crate::pool::Pools;
use crate::transfer::Link;
use burn::tensor::Tensor;
use ppgn_nn::{Dense, Error, Level, PpgnConfig, Quotient, Result, Space as Host};
use std::sync::Arc;

/// What the rows of a batch are: one step per block.
#[derive(Debug, Clone)]
pub(crate) struct Space {
    pub(crate) steps: Vec<Arc<Step>>,
    /// The most rows or tuples that exist at once.
    pub(crate) largest: usize,
}

/// What leads from the rows of one level to those of the next.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// The row below of every row; nothing where they are the same.
    pub(crate) lift: Option<Gather>,
    /// How rows meet as tuples; nothing where no graph has a node, and at order 1.
    pub(crate) meeting: Option<Meeting>,
    /// How nodes hear from their neighbours, at order 1.
    pub(crate) messages: Option<Messages>,
    /// The transposed pairs of the rows below, where blocks see them.
    pub(crate) partners: Option<Partners>,
    /// What the suffix takes of the rows above, where it reads them.
    pub(crate) read: Option<Read>,
}

/// The transposed pair of every row, and 1 on the diagonal, `[rows, 1]`.
#[derive(Debug, Clone)]
pub(crate) struct Partners {
    pub(crate) rows: Gather,
    pub(crate) diagonal: Tensor<2>,
}

/// What the suffix takes.
#[derive(Debug, Clone)]
pub(crate) enum Read {
    /// Pooled rows, per graph.
    Pools(Box<Pools>),
    /// The rows of nodes or pairs; nothing where these are the rows.
    Items(Option<Box<Gather>>),
}

impl Space {
    /// The space of a batch that fits the configuration. O(blocks * tuples).
    pub(crate) fn new(link: &Link, space: &Host, config: &PpgnConfig, padding: f64) -> Result<Self> {
        let steps = match space {
            Host::Dense(dense) => dense_steps(link, space, dense, config, padding),
            Host::Quotient(quotient) => (0..config.blocks.len())
                .map(|level| Ok(Arc::new(quotient_step(link, space, quotient, level, config, padding)?)))
                .collect::<Result<Vec<_>>>()?,
            _ => return Err(Error::Call("the composition does not know the batch's space".into())),
        };
        let rows = (0..=config.blocks.len()).map(|level| space.rows(level));
        let tuples = steps.iter().filter_map(|step| step.meeting.as_ref()).map(|meeting| meeting.tuples);
        let largest = rows.chain(tuples).max().unwrap_or(0);
        Ok(Space { steps, largest })
    }
}

/// All levels of the dense space are the same, but for what the suffix reads.
fn dense_steps(
    link: &Link,
    space: &Host,
    dense: &Dense,
    config: &PpgnConfig,
    padding: f64,
) -> Vec<Arc<Step>> {
    let messages = space.messages(1).map(|messages| Messages::new(link, messages, dense.rows()));
    let meeting = messages
        .is_none()
        .then(|| Meeting::dense(link, dense, config.scale, padding, config.needs_pairs().is_some()));
    let partners = sees_transposes(config).then(|| {
        let mut partners: Vec<u32> = vec![0; dense.rows()];
        let mut diagonal = vec![0.0; dense.rows()];
        for (n, start) in dense.starts() {
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                partners[start + i * n + j] = (start + j * n + i) as u32;
            }
            (0..n).for_each(|i| diagonal[start + i * n + i] = 1.0);
        }
        Partners::new(link, &partners, &diagonal)
    });
    let read = match config.level {
        Level::Graph => Read::Pools(Box::new(Pools::dense(link, dense))),
        level => {
            let mut starts = vec![(0, 0); dense.graphs()];
            dense.given().iter().zip(dense.starts()).for_each(|(&graph, first)| starts[graph] = first);
            let rows: Vec<u32> = starts
                .iter()
                .flat_map(|&(nodes, start)| {
                    places(level, config.order, nodes).map(move |p| (start + p) as u32)
                })
                .collect();
            Read::items(link, &rows, dense.rows())
        }
    };
    let step = |read| {
        Arc::new(Step {
            lift: None,
            meeting: meeting.clone(),
            messages: messages.clone(),
            partners: partners.clone(),
            read,
        })
    };
    let (plain, reading) = (step(None), step(Some(read)));
    (0..config.blocks.len())
        .map(|l| if config.pools_after(l) { reading.clone() } else { plain.clone() })
        .collect()
}

fn quotient_step(
    link: &Link,
    space: &Host,
    quotient: &Quotient,
    level: usize,
    config: &PpgnConfig,
    padding: f64,
) -> Result<Step> {
    let below = quotient.rows(level);
    let messages = space.messages(level + 1).map(|messages| Messages::new(link, messages, below));
    let meeting = match messages {
        Some(_) => None,
        None => Meeting::quotient(link, quotient, level, config.scale, padding)?,
    };
    let graphs = || (0..quotient.graphs()).map(|graph| (quotient.nodes()[graph], graph));
    let partners = sees_transposes(config).then(|| {
        let (mut partners, mut diagonal) = (vec![0; below], vec![0.0; below]);
        for (n, graph) in graphs() {
            let matrix = quotient.matrix(level, graph);
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                partners[matrix[i * n + j] as usize] = matrix[j * n + i];
            }
            (0..n).for_each(|i| diagonal[matrix[i * n + i] as usize] = 1.0);
        }
        Partners::new(link, &partners, &diagonal)
    });
    let read = config.pools_after(level).then(|| match config.level {
        Level::Graph => Read::Pools(Box::new(Pools::quotient(link, quotient, level + 1))),
        of => {
            let rows: Vec<u32> = graphs()
                .flat_map(|(nodes, graph)| {
                    let matrix = quotient.matrix(level + 1, graph);
                    places(of, config.order, nodes).map(move |place| matrix[place])
                })
                .collect();
            Read::items(link, &rows, quotient.rows(level + 1))
        }
    });
    let lift = Some(Gather::new(link, quotient.parents(level + 1), below));
    Ok(Step { lift, meeting, messages, partners, read })
}

/// Whether blocks see transposed pairs and the identity.
fn sees_transposes(config: &PpgnConfig) -> bool {
    config.descriptions().iter().any(|block| block.identity)
}

/// The tuples of a graph that have outputs.
fn places(level: Level, order: usize, nodes: usize) -> impl Iterator<Item = usize> {
    let step = if level == Level::Node && order == 2 { nodes + 1 } else { 1 };
    (0..nodes.pow(order as u32)).step_by(step)
}

impl Partners {
    fn new(link: &Link, partners: &[u32], diagonal: &[f64]) -> Self {
        let diagonal = link.numbers("the identity", diagonal, [diagonal.len(), 1]);
        Partners { rows: Gather::new(link, partners, partners.len()), diagonal }
    }
}

impl Read {
    fn items(link: &Link, rows: &[u32], below: usize) -> Self {
        let same = rows.len() == below && rows.iter().enumerate().all(|(place, &row)| place == row as usize);
        Read::Items((!same).then(|| Box::new(Gather::new(link, rows, below))))
    }
}
