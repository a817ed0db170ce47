//! Where the tuples of a graph meet: the rows of a level laid out as *panels*, batches of matrices of one size.
//!
//! Graphs of one size are a panel as they are: neither padding nor gathers. Graphs of different sizes share a panel where that
//! costs few tuples of padding, as wide as the largest of them; the tuples beyond a graph's own are rows of zeros, which
//! products and sums do not see, and nothing is read from there. On the quotient space, rows of colours are spread to all
//! tuples of the graphs that have an example of a colour above, and read from the examples.

use crate::gather::Gather;
use crate::transfer::Link;
use burn::tensor::Tensor;
use ppgn_nn::{Dense, Group, Quotient, Result, Scale};

/// Graphs of different sizes share a panel while it has at most this many times their own tuples. `docs/gpu.md` has the
/// measurements behind it.
pub(crate) const PADDING: f64 = 1.5;

/// How rows below become tuples, and tuples rows above.
#[derive(Debug, Clone)]
pub(crate) struct Meeting {
    pub(crate) panels: Vec<Panel>,
    /// Rows below to tuples, and tuples to rows above; nothing where both are the same.
    pub(crate) ways: Option<[Gather; 2]>,
    /// What products are multiplied by.
    pub(crate) factor: Factor,
    /// Tuples of all panels.
    pub(crate) tuples: usize,
}

/// Consecutive graphs in matrices of one size.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub(crate) order: usize,
    pub(crate) graphs: usize,
    /// Nodes of the largest.
    pub(crate) nodes: usize,
    /// The first tuple.
    pub(crate) start: usize,
    /// The number of tuples.
    pub(crate) tuples: usize,
    /// For pairs of graphs of different sizes, if they were asked for: 1 where a graph has a pair, `[graphs, n, n, 1]`, and the reciprocals of the
    /// sizes, `[graphs, 1, 1, 1]`.
    pub(crate) own: Option<[Tensor<4>; 2]>,
}

/// What the rows above a product are multiplied by.
#[derive(Debug, Clone)]
pub(crate) enum Factor {
    One,
    Same(f64),
    /// `[rows above, 1]`
    Rows(Box<Tensor<2>>),
}

impl Factor {
    fn new(link: &Link, factors: &[f64]) -> Self {
        match factors {
            [] => Factor::One,
            [first, rest @ ..] if rest.iter().all(|factor| factor == first) => match *first {
                1.0 => Factor::One,
                factor => Factor::Same(factor),
            },
            _ => Factor::Rows(Box::new(link.numbers("factors of products", factors, [factors.len(), 1]))),
        }
    }

    /// The rows above, multiplied.
    pub(crate) fn times(&self, w: Tensor<2>) -> Tensor<2> {
        match self {
            Factor::One => w,
            Factor::Same(factor) => w.mul_scalar(*factor),
            Factor::Rows(factors) => w * (**factors).clone(),
        }
    }
}

/// The tuples of the graphs of a dense space, in panels.
struct Layout<'a> {
    space: &'a Dense,
    panels: Vec<Panel>,
    /// For every graph in storage order: its nodes, the nodes of its panel, and its first tuple.
    graphs: Vec<(usize, usize, usize)>,
    tuples: usize,
    exact: bool,
}

impl<'a> Layout<'a> {
    fn new(link: &Link, space: &'a Dense, padding: f64, masks: bool) -> Self {
        let order = space.order();
        let tuples_of = |n: usize| n.pow(order as u32);
        let shared = shared(space, padding);
        let exact = shared.iter().all(|panel| panel.len() == 1);
        let (mut panels, mut graphs, mut start) = (Vec::new(), Vec::new(), 0);
        for groups in shared {
            let nodes = groups[groups.len() - 1].nodes;
            let sizes: Vec<usize> =
                groups.iter().flat_map(|group| std::iter::repeat_n(group.nodes, group.graphs)).collect();
            let first = start;
            for &n in &sizes {
                graphs.push((n, nodes, start));
                start += tuples_of(nodes);
            }
            let own = (groups.len() > 1 && order == 2 && masks).then(|| own_pairs(link, &sizes, nodes));
            let (tuples, graphs) = (start - first, sizes.len());
            panels.push(Panel { order, graphs, nodes, start: first, tuples, own });
        }
        Layout { space, panels, graphs, tuples: start, exact }
    }

    /// The place among all tuples of a graph's tuple.
    fn place(&self, graph: usize, tuple: usize) -> u32 {
        let (own, wide, start) = self.graphs[graph];
        let (mut rest, mut place, mut value) = (tuple, start, 1);
        for _ in 0..self.space.order() {
            place += rest % own * value;
            rest /= own;
            value *= wide;
        }
        place as u32
    }

    /// The row below of every tuple, given that of every graph's own; `below` for padding.
    fn spread<'r>(
        &self,
        below: usize,
        rows: impl Fn(usize) -> Box<dyn Iterator<Item = u32> + 'r>,
    ) -> Vec<u32> {
        let mut spread = vec![below as u32; self.tuples];
        for graph in 0..self.graphs.len() {
            for (tuple, row) in rows(graph).enumerate() {
                spread[self.place(graph, tuple) as usize] = row;
            }
        }
        spread
    }
}

/// The groups of a dense space that share panels.
fn shared(space: &Dense, padding: f64) -> Vec<Vec<&Group>> {
    // Groups are in order of size, so the last of a panel is the largest.
    let mut shared: Vec<Vec<&Group>> = Vec::new();
    for group in space.groups() {
        let fits = |panel: &Vec<&Group>| {
            let graphs: usize = panel.iter().map(|group| group.graphs).sum::<usize>() + group.graphs;
            let own: usize = panel.iter().map(|group| group.rows()).sum::<usize>() + group.rows();
            (graphs * group.each) as f64 <= padding * own as f64
        };
        match shared.last_mut().filter(|panel| fits(panel)) {
            Some(panel) => panel.push(group),
            None => shared.push(vec![group]),
        }
    }
    shared
}

/// The tuples of all panels of a dense space.
pub(crate) fn tuples(space: &Dense, padding: f64) -> usize {
    let of = |panel: &Vec<&Group>| {
        let each = panel.last().map_or(0, |group| group.each);
        each.saturating_mul(panel.iter().map(|group| group.graphs).sum())
    };
    shared(space, padding).iter().map(of).fold(0, usize::saturating_add)
}

/// 1 where a graph has a pair, and the reciprocals of the sizes.
fn own_pairs(link: &Link, sizes: &[usize], nodes: usize) -> [Tensor<4>; 2] {
    let ones = sizes.iter().flat_map(|&n| {
        (0..nodes * nodes).map(move |pair| if pair / nodes < n && pair % nodes < n { 1.0 } else { 0.0 })
    });
    let ones: Vec<f64> = ones.collect();
    let reciprocals: Vec<f64> = sizes.iter().map(|&n| 1.0 / n.max(1) as f64).collect();
    [
        link.numbers("masks of padding", &ones, [sizes.len(), nodes, nodes, 1]),
        link.numbers("masks of padding", &reciprocals, [sizes.len(), 1, 1, 1]),
    ]
}

impl Meeting {
    /// All tuples of the dense space; with masks of the padding, where linear equivariant layers need them.
    pub(crate) fn dense(link: &Link, space: &Dense, scale: Scale, padding: f64, masks: bool) -> Self {
        let layout = Layout::new(link, space, padding, masks);
        let starts: Vec<(usize, usize)> = space.starts().collect();
        let each = |n: usize| n.pow(space.order() as u32);
        let factors: Vec<f64> = starts
            .iter()
            .flat_map(|&(nodes, _)| std::iter::repeat_n(scale.factor(nodes.max(1)), each(nodes)))
            .collect();
        let ways = (!layout.exact).then(|| {
            let rows = |graph: usize| {
                let (nodes, start) = starts[graph];
                Box::new((start..start + each(nodes)).map(|row| row as u32)) as Box<dyn Iterator<Item = u32>>
            };
            let spread = layout.spread(space.rows(), rows);
            let read: Vec<u32> = (0..starts.len())
                .flat_map(|graph| {
                    let layout = &layout;
                    (0..each(starts[graph].0)).map(move |tuple| layout.place(graph, tuple))
                })
                .collect();
            [Gather::new(link, &spread, space.rows()), Gather::new(link, &read, layout.tuples)]
        });
        let Layout { panels, tuples, .. } = layout;
        Meeting { panels, ways, factor: Factor::new(link, &factors), tuples }
    }

    /// From the colours of a level of the quotient to those of the next; nothing where no graph has a node.
    pub(crate) fn quotient(
        link: &Link,
        space: &Quotient,
        level: usize,
        scale: Scale,
        padding: f64,
    ) -> Result<Option<Self>> {
        let examples = space.examples(level + 1);
        let mut graphs: Vec<usize> = examples.iter().map(|example| example.graph as usize).collect();
        graphs.dedup(); // examples are in the order of graphs
        if graphs.is_empty() {
            return Ok(None);
        }
        let nodes: Vec<usize> = graphs.iter().map(|&graph| space.nodes()[graph]).collect();
        let dense = Dense::of_tuples(space.order(), &nodes)?;
        let layout = Layout::new(link, &dense, padding, false);
        let mut stored = vec![0; space.graphs()];
        dense.given().iter().enumerate().for_each(|(place, &given)| stored[graphs[given]] = place);
        let rows = |place: usize| {
            let graph = graphs[dense.given()[place]];
            Box::new(space.matrix(level, graph).iter().copied()) as Box<dyn Iterator<Item = u32>>
        };
        let spread = layout.spread(space.rows(level), rows);
        let read: Vec<u32> = examples
            .iter()
            .map(|example| layout.place(stored[example.graph as usize], example.place as usize))
            .collect();
        let factor =
            |example: &ppgn_nn::kernels::Example| scale.factor(space.nodes()[example.graph as usize].max(1));
        let factors: Vec<f64> = examples.iter().map(factor).collect();
        let ways = [Gather::new(link, &spread, space.rows(level)), Gather::new(link, &read, layout.tuples)];
        let Layout { panels, tuples, .. } = layout;
        Ok(Some(Meeting { panels, ways: Some(ways), factor: Factor::new(link, &factors), tuples }))
    }

    /// What is computed of every panel, one below another.
    pub(crate) fn join(&self, part: impl Fn(&Panel) -> Tensor<2>) -> Option<Tensor<2>> {
        // A graph without nodes has no tuples.
        let mut parts: Vec<_> = self.panels.iter().filter(|panel| panel.nodes > 0).map(part).collect();
        match parts.len() {
            0 | 1 => parts.pop(),
            _ => Some(Tensor::cat(parts, 0)), // [tuples, channels]
        }
    }

    /// The tuples of a panel.
    pub(crate) fn rows(&self, panel: &Panel, y: &Tensor<2>) -> Tensor<2> {
        match panel.tuples == self.tuples {
            true => y.clone(),
            false => y.clone().narrow(0, panel.start, panel.tuples),
        }
    }
}
