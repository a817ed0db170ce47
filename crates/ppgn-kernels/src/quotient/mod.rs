//! The channel product over colours: one row for all pairs that 2-FWL has not told apart.
//!
//! The row of a colour is computed for one pair (i, k) that has it, `W[r] = factor * sum over j of Y1[c(i,j)] *
//! Y2[c(j,k)]`, with c(i,j) the row of pair (i,j) one level below. A graph with few rows of its own has them summed one by
//! one ([`rows`]); of one with many, the whole product of matrices costs less ([`whole`]), for there a number that was read
//! serves many sums. The gradients add to rows that graphs share, so tasks share out channels, not graphs: every sum has one
//! order, whatever the number of threads.

mod rows;
mod whole;

use crate::planes::Part;
use crate::real::Real;
use crate::shared::{Shared, numbers};
use crate::simd::{Kernel, Simd, dispatch};
use crate::workspace::Workspace;
use rayon::prelude::*;

/// A tuple of nodes of a graph of the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// The graph.
    pub graph: u32,
    /// Where the tuple stands among those of its graph: (i, k) at `i * n + k`, and so on for longer ones.
    pub place: u32,
}

/// What makes the rows of one level from those of the level below.
#[derive(Debug, Clone, Copy)]
pub struct Colours<'a> {
    /// Rows of the level below.
    pub below: usize,
    /// A tuple that has each row of this level.
    pub examples: &'a [Example],
    /// Nodes of every graph.
    pub nodes: &'a [usize],
    /// What every graph's product is multiplied by.
    pub factors: &'a [f64],
    /// Where every graph's tuples begin in `matrix`.
    pub offsets: &'a [usize],
    /// The row below of every tuple, graph after graph, row-major.
    pub matrix: &'a [u32],
}

impl Colours<'_> {
    /// Holds everything that is read later within its bounds, for tuples of so many nodes.
    pub(crate) fn check(&self, order: usize) {
        assert!(self.matrix.iter().all(|&row| (row as usize) < self.below));
        let order = u32::try_from(order).expect("tuples have a length that can be counted");
        for example in self.examples {
            let tuples = self.nodes[example.graph as usize].checked_pow(order);
            let tuples = tuples.expect("a graph's tuples can be numbered");
            assert!((example.place as usize) < tuples);
            let end = self.offsets[example.graph as usize].checked_add(tuples);
            assert!(end.is_some_and(|end| end <= self.matrix.len()));
        }
    }

    /// The rows of c(i,j) and of c(j,k) for all j, in order.
    #[inline(always)]
    fn terms(&self, graph: usize, place: u32) -> impl Iterator<Item = (usize, usize)> {
        let n = self.nodes[graph];
        let matrix = &self.matrix[self.offsets[graph]..][..n * n];
        let (i, k) = (place as usize / n, place as usize % n);
        let left = &matrix[i * n..][..n];
        let right = matrix[k..].iter().step_by(n);
        left.iter().zip(right).map(|(&l, &r)| (l as usize, r as usize))
    }
}

/// The rows of one graph: each with the place of its tuple.
struct Own {
    graph: usize,
    rows: Vec<(u32, u32)>,
}

impl Own {
    /// Whether all entries of the product cost less than those that are wanted. A term of a sum by itself costs about ten
    /// times one within a tile (seen in a profile of NCI1), and putting matrices together some terms a pair.
    fn is_whole(&self, colours: &Colours<'_>) -> bool {
        let n = colours.nodes[self.graph];
        8 * self.rows.len() > n * (n + 32)
    }
}

/// The rows of every graph that has some.
fn by_graph(colours: &Colours<'_>) -> Vec<Own> {
    let mut all: Vec<Own> = (0..colours.nodes.len()).map(|graph| Own { graph, rows: Vec::new() }).collect();
    for (row, example) in colours.examples.iter().enumerate() {
        all[example.graph as usize].rows.push((row as u32, example.place));
    }
    all.retain(|own| !own.rows.is_empty());
    all
}

/// W from Y1 and Y2.
///
/// # Shapes
/// - `y1`, `y2`: `[below, channels]`
/// - `w`: `[examples, channels]`
///
/// # Complexity
/// O(examples * n * channels), or O(n^3 * channels) for a graph where that is less work.
pub(crate) fn quotient_product<T: Real>(
    workspace: &Workspace,
    colours: Colours<'_>,
    channels: usize,
    y1: &[T],
    y2: &[T],
    w: &mut [T],
) {
    colours.check(2);
    assert_eq!([y1.len(), y2.len()], [numbers(colours.below, channels); 2]);
    assert_eq!(w.len(), numbers(colours.examples.len(), channels));
    let all = by_graph(&colours);
    let w = Shared::new(w);
    let tasks: Vec<Task<'_>> = all.iter().flat_map(|own| own.tasks(&colours, channels)).collect();
    tasks.into_par_iter().with_max_len(1).filter(|_| !workspace.is_stopped()).for_each(|task| match task {
        Task::Rows(graph, rows) => dispatch(rows::Forward { colours, graph, rows, channels, y1, y2, w: &w }),
        Task::Whole(own, part) => dispatch(whole::Forward { workspace, colours, own, part, y1, y2, w: &w }),
    });
}

/// Some work of a forward pass.
enum Task<'a> {
    /// Rows of a graph, all channels.
    Rows(usize, &'a [(u32, u32)]),
    /// All rows of a graph, some channels.
    Whole(&'a Own, Part),
}

impl Own {
    fn tasks(&self, colours: &Colours<'_>, channels: usize) -> Vec<Task<'_>> {
        match self.is_whole(colours) {
            true => Part::all(channels).cut(FORWARD).map(|part| Task::Whole(self, part)).collect(),
            false => self.rows.chunks(32).map(|rows| Task::Rows(self.graph, rows)).collect(),
        }
    }
}

/// The gradients of Y1 and Y2, each 0 where Y1 (or Y2) is not above 0.
///
/// # Shapes
/// - `dw`: `[examples, channels]`
/// - `y1`, `y2`, `d1`, `d2`: `[below, channels]`; the last two are written whole
///
/// # Complexity
/// O(examples * n * channels), or O(n^3 * channels) for a graph where that is less work.
pub(crate) fn quotient_product_backward<T: Real>(
    workspace: &Workspace,
    colours: Colours<'_>,
    channels: usize,
    dw: &[T],
    [y1, y2]: [&[T]; 2],
    [d1, d2]: [&mut [T]; 2],
) {
    colours.check(2);
    let below = numbers(colours.below, channels);
    assert_eq!([y1.len(), y2.len(), d1.len(), d2.len()], [below; 4]);
    assert_eq!(dw.len(), numbers(colours.examples.len(), channels));
    let all = by_graph(&colours);
    let (d1, d2) = (Shared::new(d1), Shared::new(d2));
    let parts: Vec<Part> = Part::all(channels).cut(BACKWARD).collect();
    parts.into_par_iter().with_max_len(1).for_each(|part| {
        let d = [&d1, &d2];
        dispatch(Clear { rows: colours.below, part, d, y: None });
        for own in &all {
            if workspace.is_stopped() {
                return;
            }
            let share = Share { workspace, colours, own, part, dw, y: [y1, y2], d };
            match own.is_whole(&colours) {
                true => dispatch(whole::Backward(share)),
                false => dispatch(rows::Backward(share)),
            }
        }
        dispatch(Clear { rows: colours.below, part, d, y: Some([y1, y2]) });
    });
}

/// What a graph's rows add to some channels of the gradients.
struct Share<'a, T> {
    workspace: &'a Workspace,
    colours: Colours<'a>,
    own: &'a Own,
    part: Part,
    dw: &'a [T],
    y: [&'a [T]; 2],
    d: [&'a Shared<'a, T>; 2],
}

/// Channels of a task: whole cache lines, so that tasks do not share them.
const FORWARD: usize = 64;
const BACKWARD: usize = 32;

/// Makes a part of all rows 0; or, with what a ReLU gave, 0 where that is 0.
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
                // SAFETY: one task alone touches these channels.
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
