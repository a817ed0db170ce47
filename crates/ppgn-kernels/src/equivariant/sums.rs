//! The parts of an equivariant layer other than matrix products: sums over rows, columns, diagonals and all entries,
//! and the broadcasts that reverse them.

use crate::gemm::{End, Panels, Start, View, rows};
use crate::linear::{add_to, chunk_rows};
use crate::product::Square;
use crate::real::Real;
use crate::workspace::{Buffer, Workspace};
use rayon::prelude::*;

/// Sums over the matrices of a batch, or values to broadcast over them.
pub(super) struct Sums<T: Real> {
    /// Three per node, `[nodes, 3, width]`: for its row, its column and its diagonal entry.
    pub(super) nodes: Buffer<T>,
    /// Two per graph, `[graphs, 2, width]`: for all entries and for the diagonal.
    pub(super) graphs: Buffer<T>,
}

/// What to do with the rows a layer computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Epilogue {
    /// Apply a ReLU and store them.
    Relu,
    /// Store them.
    Set,
    /// Add them to the current contents.
    Add,
}

impl<T: Real> Sums<T> {
    fn dirty(workspace: &Workspace, graphs: &[Square], width: usize) -> Self {
        let nodes: usize = graphs.iter().map(|graph| graph.nodes).sum();
        Sums {
            nodes: Buffer::dirty(workspace, nodes * 3 * width),
            graphs: Buffer::dirty(workspace, graphs.len() * 2 * width),
        }
    }

    /// Each graph with its values per node and per graph.
    fn parts<'a>(
        &'a mut self,
        graphs: &'a [Square],
        width: usize,
    ) -> Vec<(&'a Square, &'a mut [T], &'a mut [T])> {
        let mut rest = &mut *self.nodes;
        let part = |(graph, own): (&'a Square, &'a mut [T])| {
            let (nodes, next) = std::mem::take(&mut rest).split_at_mut(graph.nodes * 3 * width);
            rest = next;
            (graph, nodes, own)
        };
        graphs.iter().zip(self.graphs.chunks_exact_mut(2 * width)).map(part).collect()
    }

    /// The sums of every matrix, each accumulated in row order.
    pub(super) fn of(workspace: &Workspace, graphs: &[Square], x: &[T], width: usize) -> Self {
        let mut sums = Sums::dirty(workspace, graphs, width);
        sums.parts(graphs, width).into_par_iter().for_each(|(graph, nodes, own)| {
            nodes.fill(T::default());
            own.fill(T::default());
            let x = &x[graph.start * width..][..graph.rows() * width];
            for (pair, row) in x.chunks_exact(width).enumerate() {
                let (i, j) = (pair / graph.nodes, pair % graph.nodes);
                add_to(&mut nodes[3 * i * width..][..width], row);
                add_to(&mut nodes[(3 * j + 1) * width..][..width], row);
                if i == j {
                    nodes[(3 * i + 2) * width..][..width].copy_from_slice(row);
                }
            }
            let (total, trace) = own.split_at_mut(width);
            for node in nodes.chunks_exact(3 * width) {
                add_to(total, &node[..width]);
                add_to(trace, &node[2 * width..]);
            }
        });
        sums
    }

    /// Turns sums into means: sums over nodes are divided by n, sums over pairs by n^2.
    pub(super) fn means(mut self, graphs: &[Square], width: usize) -> Self {
        for (graph, nodes, own) in self.parts(graphs, width) {
            let share = 1.0 / graph.nodes.max(1) as f64;
            let scale = |x: &mut [T], by: f64| x.iter_mut().for_each(|x| *x *= T::rounded(by));
            nodes.chunks_exact_mut(3 * width).for_each(|node| scale(&mut node[..2 * width], share));
            let (total, trace) = own.split_at_mut(width);
            scale(total, share * share);
            scale(trace, share);
        }
        self
    }

    /// Broadcasts these values along rows, columns, diagonals and everywhere, and adds X and its transpose times their
    /// maps.
    ///
    /// # Shapes
    /// - `x`: `[rows, depth]` each, `maps`: `[depth, width]` each
    /// - `y`: `[rows, width]`
    pub(super) fn put(
        mut self,
        graphs: &[Square],
        width: usize,
        x: [&[T]; 2],
        maps: &[Panels<T>; 2],
        y: &mut [T],
        epilogue: Epilogue,
    ) {
        // A broadcast to all entries is one along every column; a broadcast to the diagonal is one to each of its
        // entries.
        for (_, nodes, own) in self.parts(graphs, width) {
            for node in nodes.chunks_exact_mut(3 * width) {
                add_to(&mut node[width..], own);
            }
        }
        let mut tasks = Vec::new();
        let (mut rest, mut at, mut nodes) = (y, 0, &*self.nodes);
        for graph in graphs.iter().filter(|graph| graph.nodes > 0) {
            let (own, next) = nodes.split_at(graph.nodes * 3 * width);
            nodes = next;
            // A few whole rows of the matrix at a time.
            let lines = (chunk_rows(graph.rows()) / graph.nodes).max(1);
            for first in (0..graph.nodes).step_by(lines) {
                let start = graph.start + first * graph.nodes;
                let count = lines.min(graph.nodes - first) * graph.nodes;
                let (_, here) = std::mem::take(&mut rest).split_at_mut((start - at) * width);
                let (here, next) = here.split_at_mut(count * width);
                (rest, at) = (next, start + count);
                tasks.push((own, first, start, here));
            }
        }
        let depth = maps[0].depth;
        tasks.into_par_iter().for_each(|(nodes, first, start, y)| {
            let n = nodes.len() / (3 * width);
            let node = |i: usize, what: usize| &nodes[(3 * i + what) * width..][..width];
            for (place, y) in y.chunks_exact_mut(width).enumerate() {
                let (i, j) = (first + place / n, place % n);
                let both = node(i, 0).iter().zip(node(j, 1)).map(|(&along, &down)| along + down);
                match epilogue {
                    Epilogue::Relu | Epilogue::Set => y.iter_mut().zip(both).for_each(|(y, both)| *y = both),
                    Epilogue::Add => y.iter_mut().zip(both).for_each(|(y, both)| *y += both),
                }
                if i == j {
                    add_to(y, node(i, 2));
                }
            }
            let count = y.len() / width;
            let end = if epilogue == Epilogue::Relu { End::Relu } else { End::Keep };
            let [x, turned] = x.map(|x| &x[start * depth..(start + count) * depth]);
            rows(x, &maps[0], y, Start::Current, End::Keep);
            rows(turned, &maps[1], y, Start::Current, end);
        });
    }
}

/// Rows times a matrix.
///
/// # Shapes
/// - `x`: `[rows, matrix.rows]`
/// - result: `[rows, matrix.columns]`
pub(super) fn mapped<T: Real>(workspace: &Workspace, x: &[T], matrix: View<'_, T>) -> Buffer<T> {
    let (depth, width) = (matrix.rows, matrix.columns);
    let panels = Panels::new(workspace, matrix);
    let count = x.len() / depth;
    let mut y = Buffer::dirty(workspace, count * width);
    let chunk = chunk_rows(count);
    x.par_chunks(chunk * depth)
        .zip(y.par_chunks_mut(chunk * width))
        .for_each(|(x, y)| rows(x, &panels, y, Start::Zero, End::Keep));
    y
}

/// Every matrix transposed; rows that belong to no graph are left unspecified.
pub(super) fn transposed<T: Real>(
    workspace: &Workspace,
    graphs: &[Square],
    x: &[T],
    width: usize,
) -> Buffer<T> {
    let mut y = Buffer::dirty(workspace, x.len());
    let (mut rest, mut at) = (&mut *y, 0);
    let mut lines = Vec::new();
    for graph in graphs {
        let (_, here) = std::mem::take(&mut rest).split_at_mut((graph.start - at) * width);
        let (here, next) = here.split_at_mut(graph.rows() * width);
        (rest, at) = (next, graph.start + graph.rows());
        let x = &x[graph.start * width..];
        lines.extend(
            here.chunks_exact_mut((graph.nodes * width).max(1))
                .enumerate()
                .map(|(i, to)| (graph.nodes, x, i, to)),
        );
    }
    lines.into_par_iter().for_each(|(n, x, i, to)| {
        for (j, to) in to.chunks_exact_mut(width).enumerate() {
            to.copy_from_slice(&x[(j * n + i) * width..][..width]);
        }
    });
    y
}
