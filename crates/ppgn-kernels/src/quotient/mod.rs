//! The channelwise matrix product on the quotient space: one row for all pairs that 2-FWL has not distinguished.
//!
//! The row of a colour is computed for one pair (i, k) of that colour,
//! `W[r] = factor * sum over j of Y1[c(i,j)] * Y2[c(j,k)]`, where c(i,j) is the row of pair (i,j) one level below. If a
//! graph contributes few rows, they are computed one by one ([`rows`]); if it contributes many, the whole matrix
//! product is cheaper ([`whole`]), because each number read then serves many sums; if many of its nodes are twins, the
//! product of their classes is cheaper still ([`twins`]). The gradients are added to rows that graphs share, so tasks
//! are divided by channels rather than by graphs: every sum has a fixed order, whatever the number of threads.

mod rows;
#[cfg(test)]
mod sweep;
mod twins;
mod ways;
mod whole;

pub use ways::merges_twins;

use crate::large;
use crate::planes::Part;
use crate::real::Real;
use crate::shared::{Shared, numbers};
use crate::simd::{Kernel, Simd, dispatch};
use crate::workspace::Workspace;
use rayon::prelude::*;
use twins::Classes;
use ways::{Own, Pass, Way, by_graph};

/// A tuple of nodes of one graph of the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// The graph's index in the batch.
    pub graph: u32,
    /// The tuple's index in its graph: `i * n + k` for (i, k), and likewise for longer tuples.
    pub place: u32,
}

/// What a product needs to compute the rows of one level from those of the level below: the row below of every tuple,
/// one matrix per graph, and an example tuple for every row of this level.
#[derive(Debug, Clone, Copy)]
pub struct ColourMatrix<'a> {
    /// Number of rows on the level below.
    pub below: usize,
    /// For each row of this level, a tuple that has it.
    pub examples: &'a [Example],
    /// Number of nodes of each graph.
    pub nodes: &'a [usize],
    /// The factor applied to each graph's product.
    pub factors: &'a [f64],
    /// Where each graph's tuples begin in `matrix`.
    pub offsets: &'a [usize],
    /// For every tuple its row on the level below, graph after graph, row-major.
    pub matrix: &'a [u32],
    /// For every node, graph after graph, the first node of its graph that it can change places with without changing
    /// `matrix`, itself if there is none before it; empty if they are not known. Results are wrong where such a change of
    /// places does change the matrix. Only the matrix product on pairs reads it.
    pub twins: &'a [u32],
}

impl ColourMatrix<'_> {
    /// Asserts that every index read later is within bounds, for tuples of this order.
    pub(crate) fn check(&self, order: usize) {
        // A maximum, unlike `all`, is computed with vectors.
        assert!(
            self.matrix.is_empty()
                || (self.matrix.iter().fold(0, |m, &row| m.max(row)) as usize) < self.below
        );
        let order = u32::try_from(order).expect("tuples have a length that can be counted");
        for example in self.examples {
            let tuples = self.nodes[example.graph as usize].checked_pow(order);
            let tuples = tuples.expect("the number of tuples fits in usize");
            assert!((example.place as usize) < tuples);
            let end = self.offsets[example.graph as usize].checked_add(tuples);
            assert!(end.is_some_and(|end| end <= self.matrix.len()));
        }
        self.check_twins();
    }

    /// Asserts that there are twins of all nodes or none, and that the first of them is a first one.
    fn check_twins(&self) {
        if self.twins.is_empty() {
            return;
        }
        let mut rest = self.twins;
        for &nodes in self.nodes {
            let (own, others) = rest.split_at(nodes);
            assert!(own.iter().enumerate().all(|(node, &first)| {
                let first = first as usize;
                first <= node && own[first] as usize == first
            }));
            rest = others;
        }
        assert!(rest.is_empty());
    }

    /// A graph's number of nodes, and the row below of every pair.
    fn matrix_of(&self, graph: usize) -> (usize, &[u32]) {
        let n = self.nodes[graph];
        (n, &self.matrix[self.offsets[graph]..][..n * n])
    }

    /// The rows c(i,j) and c(j,k) for all j, in order.
    #[inline(always)]
    fn terms(&self, graph: usize, place: u32) -> impl Iterator<Item = (usize, usize)> {
        let (n, matrix) = self.matrix_of(graph);
        let (i, k) = (place as usize / n, place as usize % n);
        let left = &matrix[i * n..][..n];
        let right = matrix[k..].iter().step_by(n);
        left.iter().zip(right).map(|(&l, &r)| (l as usize, r as usize))
    }
}

/// W from Y1 and Y2.
///
/// # Shapes
/// - `y1`, `y2`: `[below, channels]`
/// - `w`: `[examples, channels]`
///
/// # Complexity
/// O(examples * n * channels), or O(n^3 * channels) for a graph where that is cheaper.
pub(crate) fn quotient_product<T: Real>(
    workspace: &Workspace,
    colours: ColourMatrix<'_>,
    channels: usize,
    y1: &[T],
    y2: &[T],
    w: &mut [T],
) {
    colours.check(2);
    assert_eq!([y1.len(), y2.len()], [numbers(colours.below, channels); 2]);
    assert_eq!(w.len(), numbers(colours.examples.len(), channels));
    let all = by_graph(&colours, Pass::Forward);
    let w = Shared::new(w);
    let few = all.len() * channels.div_ceil(FORWARD) < TASKS * rayon::current_num_threads();
    let tasks: Vec<Task<'_>> = all.iter().flat_map(|own| own.tasks(&colours, channels, few)).collect();
    tasks.into_par_iter().with_max_len(1).filter(|_| !workspace.is_stopped()).for_each(|task| match task {
        Task::Rows(graph, rows) => dispatch(rows::Forward { colours, graph, rows, channels, y1, y2, w: &w }),
        Task::Whole(own, part) => {
            let task = whole::Forward { workspace, colours, own, part, y1, y2, w: &w };
            if own.is_large(&colours) { task.large() } else { dispatch(task) }
        }
        Task::Twins(own, classes, part) => {
            twins::Forward { workspace, colours, own, classes, part, y1, y2, w: &w }.run()
        }
    });
}

/// A task of the forward pass.
enum Task<'a> {
    /// Some rows of a graph, all channels.
    Rows(usize, &'a [(u32, u32)]),
    /// All rows of a graph, some channels.
    Whole(&'a Own, Part),
    /// The same, by classes of twins.
    Twins(&'a Own, &'a Classes, Part),
}

impl Own {
    fn tasks(&self, colours: &ColourMatrix<'_>, channels: usize, few: bool) -> Vec<Task<'_>> {
        let width = if few || self.is_large(colours) { large::CHANNELS } else { FORWARD };
        let parts = Part::all(channels).cut(width);
        match &self.way {
            Way::Rows => self.rows.chunks(32).map(|rows| Task::Rows(self.graph, rows)).collect(),
            Way::Whole => parts.map(|part| Task::Whole(self, part)).collect(),
            Way::Twins(classes) => parts.map(|part| Task::Twins(self, classes, part)).collect(),
        }
    }
}

/// The gradients of Y1 and Y2; with `relu`, each 0 where Y1 (or Y2) is not above 0.
///
/// # Shapes
/// - `dw`: `[examples, channels]`
/// - `y1`, `y2`, `d1`, `d2`: `[below, channels]`; the last two are overwritten
///
/// # Complexity
/// O(examples * n * channels), or O(n^3 * channels) for a graph where that is cheaper.
pub(crate) fn quotient_product_backward<T: Real>(
    workspace: &Workspace,
    colours: ColourMatrix<'_>,
    channels: usize,
    dw: &[T],
    [y1, y2]: [&[T]; 2],
    [d1, d2]: [&mut [T]; 2],
    relu: bool,
) {
    colours.check(2);
    let below = numbers(colours.below, channels);
    assert_eq!([y1.len(), y2.len(), d1.len(), d2.len()], [below; 4]);
    assert_eq!(dw.len(), numbers(colours.examples.len(), channels));
    let all = by_graph(&colours, Pass::Backward);
    let (d1, d2) = (Shared::new(d1), Shared::new(d2));
    let few = channels.div_ceil(BACKWARD) < TASKS * rayon::current_num_threads();
    let width = if few { large::CHANNELS } else { BACKWARD };
    let parts: Vec<Part> = Part::all(channels).cut(width).collect();
    parts.into_par_iter().with_max_len(1).for_each(|part| {
        let d = [&d1, &d2];
        dispatch(Clear { rows: colours.below, part, d, y: None });
        for own in &all {
            if workspace.is_stopped() {
                return;
            }
            let share = |part: Part| Share { workspace, colours, own, part, dw, y: [y1, y2], d };
            match &own.way {
                Way::Whole if own.is_large(&colours) => {
                    part.cut(large::CHANNELS).for_each(|part| whole::Backward(share(part)).large());
                }
                Way::Whole => dispatch(whole::Backward(share(part))),
                Way::Rows => dispatch(rows::Backward(share(part))),
                Way::Twins(classes) => twins::backward(share(part), classes),
            }
        }
        if relu {
            dispatch(Clear { rows: colours.below, part, d, y: Some([y1, y2]) });
        }
    });
}

/// The contribution of a graph's rows to some channels of the gradients.
struct Share<'a, T> {
    workspace: &'a Workspace,
    colours: ColourMatrix<'a>,
    own: &'a Own,
    part: Part,
    dw: &'a [T],
    y: [&'a [T]; 2],
    d: [&'a Shared<'a, T>; 2],
}

/// Channels per task: whole cache lines, so that tasks share none; fewer where there would be fewer than this many
/// tasks per thread. (Tasks do not affect any sum.)
const FORWARD: usize = 64;
const BACKWARD: usize = 32;
const TASKS: usize = 4;

/// Sets a range of channels of all rows to 0; or, given the output of a ReLU, only where that is 0.
struct Clear<'a, T> {
    rows: usize,
    part: Part,
    d: [&'a Shared<'a, T>; 2],
    y: Option<[&'a [T]; 2]>,
}

impl<T: Real> Kernel<T> for Clear<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let zero = S::splat(T::default());
        for at in (0..self.rows).map(|row| self.part.at(row)) {
            for (n, d) in self.d.into_iter().enumerate() {
                // SAFETY: only one task accesses these channels.
                let d = unsafe { d.part(at, self.part.width) };
                let y = self.y.map(|y| &y[n][at..at + self.part.width]);
                let whole = d.len() / S::LANES * S::LANES;
                for c in (0..whole).step_by(S::LANES) {
                    // SAFETY: both have the part's width.
                    unsafe {
                        let to = d.as_mut_ptr().add(c);
                        S::store(to, y.map_or(zero, |y| S::mask(S::load(to), S::load(y.as_ptr().add(c)))));
                    }
                }
                for c in whole..d.len() {
                    d[c] = if y.is_some_and(|y| y[c] > T::default()) { d[c] } else { T::default() };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::naive::Random;

    #[test]
    fn a_large_graph_with_many_channels_matches_the_equations() {
        // With one thread, a task has more channels than a large graph's product takes at once.
        let (n, below, above, channels) = (120, 40, 2600, TASKS * BACKWARD);
        let mut random = Random::new(7);
        let mut pick = |below: usize| random.bits() as usize % below;
        let matrix: Vec<u32> = (0..n * n).map(|_| pick(below) as u32).collect();
        let examples: Vec<Example> =
            (0..above).map(|_| Example { graph: 0, place: pick(n * n) as u32 }).collect();
        let colours = ColourMatrix {
            below,
            examples: &examples,
            nodes: &[n],
            factors: &[0.5],
            offsets: &[0],
            matrix: &matrix,
            twins: &[],
        };
        assert!(large::is_large(n) && Pass::Forward.whole_is_cheaper(n, above));
        let [y1, y2] = [(); 2].map(|()| random.numbers(below * channels));
        let dw = random.numbers(above * channels);
        let mut expected = [vec![0.0; above * channels], vec![0.0; y1.len()], vec![0.0; y2.len()]];
        for (row, example) in examples.iter().enumerate() {
            for (l, r) in colours.terms(0, example.place) {
                for c in 0..channels {
                    let [at, l, r] = [row, l, r].map(|row| row * channels + c);
                    expected[0][at] += 0.5 * y1[l] * y2[r];
                    expected[1][l] += 0.5 * dw[at] * y2[r];
                    expected[2][r] += 0.5 * dw[at] * y1[l];
                }
            }
        }
        let workspace = Workspace::default();
        let results = [1, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let [mut w, mut d1, mut d2] = expected.clone().map(|zeros| vec![7.0; zeros.len()]);
            pool.install(|| {
                quotient_product(&workspace, colours, channels, &y1, &y2, &mut w);
                quotient_product_backward(
                    &workspace,
                    colours,
                    channels,
                    &dw,
                    [&y1, &y2],
                    [&mut d1, &mut d2],
                    false,
                );
            });
            [w, d1, d2]
        });
        assert!(results[0] == results[1], "the same bits on any number of threads");
        for (got, expected) in results[0].iter().flatten().zip(expected.iter().flatten()) {
            assert!((got - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{got} {expected}");
        }
    }
}
