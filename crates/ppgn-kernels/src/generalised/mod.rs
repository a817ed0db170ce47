//! The generalised product of Section 6 over k-tuples, which makes networks as powerful as k-FWL.
//!
//! `W[i1..ik] = factor * sum over j of Y1[j,i2..ik] * Y2[i1,j,i3..ik] * ... * Yk[i1..i(k-1),j]` in every channel; for k
//! = 2 this is the matrix product Y2 . Y1. On the dense space everything is computed by *lines*, the n tuples that
//! differ only in their last node: they and their channels are contiguous in memory. A line of W is a sum over j of one
//! row of Yk times k - 1 lines of the other factors, elementwise; so is a line of every gradient except that of Yk,
//! whose rows are sums over such lines. Every line is computed by a single task, in a fixed order. Order 3 has a kernel of
//! its own ([`triples`]). On the quotient space ([`quotient`]) rows are gathered.

pub(crate) mod quotient;
mod triples;

use crate::mlp::mask;
use crate::product::{Square, within};
use crate::real::Real;
use crate::simd::{Kernel, Simd, dispatch};
use crate::tuples::steps;
use crate::workspace::Workspace;
use rayon::prelude::*;

/// W from Y1, ..., Yk on the dense space: one row per tuple.
///
/// # Shapes
/// - `ys`, each, and `w`: `[rows, channels]`, including the n^k rows of every graph
///
/// # Complexity
/// O(sum of n^(k+1) * k * channels).
pub(crate) fn generalised_product<T: Real>(
    workspace: &Workspace,
    graphs: &[Square],
    channels: usize,
    ys: &[&[T]],
    w: &mut [T],
) {
    assert!(ys.len() >= 2 && ys.iter().all(|y| y.len() == w.len()));
    if let &[y1, y2, y3] = ys {
        return triples::product(workspace, graphs, channels, [y1, y2, y3], w);
    }
    each_line(workspace, graphs, ys.len(), channels, w, |graph, line, out| {
        dispatch(Sum { graph, line, channels, out, last: ys[ys.len() - 1], factors: &ys[..ys.len() - 1] });
    });
}

/// The gradients of Y1, ..., Yk; with `relu`, each already 0 where its Y is not above 0: the derivative of the ReLU that
/// produced it.
///
/// # Shapes
/// - `dw`, `ys` and `ds`, each: `[rows, channels]`; `ds` are overwritten
///
/// # Complexity
/// O(sum of n^(k+1) * k^2 * channels).
pub(crate) fn generalised_product_backward<T: Real>(
    workspace: &Workspace,
    graphs: &[Square],
    channels: usize,
    dw: &[T],
    ys: &[&[T]],
    ds: &mut [&mut [T]],
    relu: bool,
) {
    let order = ys.len();
    assert!(order >= 2 && ds.len() == order);
    assert!(ys.iter().all(|y| y.len() == dw.len()) && ds.iter().all(|d| d.len() == dw.len()));
    if let (&[y1, y2, y3], [d1, d2, d3]) = (ys, &mut *ds) {
        return triples::product_backward(workspace, graphs, channels, dw, [y1, y2, y3], [d1, d2, d3], relu);
    }
    for (q, d) in ds.iter_mut().enumerate() {
        each_line(workspace, graphs, order, channels, d, |graph, line, out| {
            match q + 1 < order {
                true => dispatch(Back { graph, line, channels, q, dw, ys, out: &mut *out }),
                false => {
                    dispatch(BackLast {
                        graph,
                        line,
                        channels,
                        dw,
                        factors: &ys[..order - 1],
                        out: &mut *out,
                    });
                }
            }
            if relu {
                mask(out, &ys[q][graph.line(line, channels)..]);
            }
        });
    }
}

impl Square {
    /// The offset of a line.
    fn line(&self, line: usize, channels: usize) -> usize {
        (self.start + line * self.nodes) * channels
    }

    /// For every factor q, the line in which node j replaces the node at position q.
    #[inline(always)]
    fn lines_with<'a, T>(
        &self,
        j: usize,
        channels: usize,
        factors: &[&'a [T]],
        places: &[(usize, usize)],
        lines: &mut [&'a [T]],
    ) {
        for (of, (y, &(first, step))) in lines.iter_mut().zip(factors.iter().zip(places)) {
            *of = &y[self.line(first + j * step, channels)..][..self.nodes * channels];
        }
    }
}

/// Calls a function for every line with its graph and its index.
fn each_line<T: Real>(
    workspace: &Workspace,
    graphs: &[Square],
    order: usize,
    channels: usize,
    numbers: &mut [T],
    call: impl Fn(&Square, usize, &mut [T]) + Sync,
) {
    within(graphs, order, channels, numbers.len());
    let mut rest = numbers;
    let mut from = 0;
    let mut parts = Vec::with_capacity(graphs.len());
    for graph in graphs.iter().filter(|graph| graph.nodes > 0 && channels > 0) {
        assert!(graph.start >= from, "graphs are in order and do not overlap");
        let rows = graph.nodes.pow(order as u32);
        let (part, next) = rest.split_at_mut((graph.start - from + rows) * channels);
        let (_, part) = part.split_at_mut((graph.start - from) * channels);
        parts.push((graph, part));
        (rest, from) = (next, graph.start + rows);
    }
    parts.into_par_iter().for_each(|(graph, part)| {
        let lines = part.par_chunks_mut(graph.nodes * channels).enumerate();
        lines.filter(|_| !workspace.is_stopped()).for_each(|(line, out)| call(graph, line, out));
    });
}

/// `out += row * product of lines[..][at..]`, channel by channel.
#[inline(always)]
fn add<T: Real>(out: &mut [T], row: &[T], lines: &[&[T]], at: usize) {
    let channels = out.len();
    let row = &row[..channels];
    match lines {
        [x] => {
            let x = &x[at..][..channels];
            out.iter_mut().zip(row).zip(x).for_each(|((o, &r), &x)| *o += r * x);
        }
        [x, y] => {
            let (x, y) = (&x[at..][..channels], &y[at..][..channels]);
            let numbers = out.iter_mut().zip(row).zip(x.iter().zip(y));
            numbers.for_each(|((o, &r), (&x, &y))| *o += r * x * y);
        }
        _ => {
            for (c, (o, &r)) in out.iter_mut().zip(row).enumerate() {
                *o += lines.iter().fold(r, |product, line| product * line[at + c]);
            }
        }
    }
}

/// The same for all rows of a line, with a single row as the other factor.
#[inline(always)]
fn add_line<T: Real>(out: &mut [T], row: &[T], lines: &[&[T]]) {
    for (l, out) in out.chunks_exact_mut(row.len()).enumerate() {
        add(out, row, lines, l * row.len());
    }
}

/// A line of W.
struct Sum<'a, T> {
    graph: &'a Square,
    line: usize,
    channels: usize,
    out: &'a mut [T],
    /// Yk.
    last: &'a [T],
    /// Y1, ..., Y(k-1).
    factors: &'a [&'a [T]],
}

impl<T: Real> Kernel<T> for Sum<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let Sum { graph, line, channels, out, last, factors } = self;
        let n = graph.nodes;
        let mut places = Vec::new();
        steps(line, n, factors.len(), &mut places);
        let mut lines = factors.to_vec();
        out.fill(T::default());
        for j in 0..n {
            graph.lines_with(j, channels, factors, &places, &mut lines);
            add_line(out, &last[graph.line(line, channels) + j * channels..][..channels], &lines);
        }
        scale(out, graph.factor);
    }
}

/// A line of the gradient of Yq, q < k: with j the line's node at position q, the sum over all nodes m in its place.
struct Back<'a, T> {
    graph: &'a Square,
    line: usize,
    channels: usize,
    q: usize,
    dw: &'a [T],
    ys: &'a [&'a [T]],
    out: &'a mut [T],
}

impl<T: Real> Kernel<T> for Back<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let Back { graph, line, channels, q, dw, ys, out } = self;
        let (n, width, places) = (graph.nodes, graph.nodes * channels, ys.len() - 1);
        let (mut own, mut others) = (Vec::new(), Vec::new());
        steps(line, n, places, &mut own);
        let (first, step) = own[q];
        let j = (line - first) / step;
        let mut lines = vec![dw; places];
        out.fill(T::default());
        for m in 0..n {
            let there = first + m * step;
            steps(there, n, places, &mut others);
            for (r, (of, &(first, step))) in lines.iter_mut().zip(&others).enumerate() {
                *of = match r == q {
                    true => &dw[graph.line(there, channels)..][..width],
                    false => &ys[r][graph.line(first + j * step, channels)..][..width],
                };
            }
            add_line(out, &ys[places][graph.line(there, channels) + j * channels..][..channels], &lines);
        }
        scale(out, graph.factor);
    }
}

/// A line of the gradient of Yk: row j is the sum over a line of dW times the other factors' lines with j.
struct BackLast<'a, T> {
    graph: &'a Square,
    line: usize,
    channels: usize,
    dw: &'a [T],
    /// Y1, ..., Y(k-1).
    factors: &'a [&'a [T]],
    out: &'a mut [T],
}

impl<T: Real> Kernel<T> for BackLast<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let BackLast { graph, line, channels, dw, factors, out } = self;
        let (n, width) = (graph.nodes, graph.nodes * channels);
        let mut places = Vec::new();
        steps(line, n, factors.len(), &mut places);
        let dw = &dw[graph.line(line, channels)..][..width];
        let mut lines = factors.to_vec();
        out.fill(T::default());
        for (j, out) in out.chunks_exact_mut(channels).enumerate() {
            graph.lines_with(j, channels, factors, &places, &mut lines);
            for (l, d) in dw.chunks_exact(channels).enumerate() {
                add(out, d, &lines, l * channels);
            }
        }
        scale(out, graph.factor);
    }
}

#[inline(always)]
fn scale<T: Real>(out: &mut [T], factor: f64) {
    if factor != 1.0 {
        let factor = T::rounded(factor);
        out.iter_mut().for_each(|x| *x *= factor);
    }
}
