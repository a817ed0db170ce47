//! A whole block, forward and backward: two MLPs, the channel product, and the skip connection.
//!
//! `Y1 = m1(X)`, `Y2 = m2(X)`, `W = product(Y1, Y2)`, output `m4(m3(X), W)`. What the backward pass needs is kept
//! ([`Kept`]): Y1, Y2 and W (and m3(X) where m3 is an MLP); gradients take the places of what they are gradients of as
//! soon as that was used.

use crate::buffer::Buffer;
use crate::gemm::{End, Panels, Start, rows};
use crate::linear::{Input, Joined, Layer, add_to, all_column_sums, chunk_rows, linear_backward};
use crate::mlp::{Backward, Forward, Mlp, mlps, mlps_backward};
use crate::norm;
use crate::product::{Square, product, product_backward};
use crate::quotient::{Colours, quotient_product, quotient_product_backward};
use crate::real::Real;
use rayon::prelude::*;

/// What a block is made of. Its parameters follow each other in one flat array: m1, m2, m3, m4, each layer's weight
/// and then its bias.
#[derive(Debug, Clone)]
pub struct Block<'a, T> {
    /// m1.
    pub m1: Mlp<'a, T>,
    /// m2, as wide as m1 at its end.
    pub m2: Mlp<'a, T>,
    /// m3, or the identity.
    pub m3: Option<Mlp<'a, T>>,
    /// m4, on (m3(X), W), or none: then these two side by side are the output.
    pub m4: Option<Layer<'a, T>>,
    /// The epsilon of the RMS norm of W, or no norm.
    pub norm: Option<f64>,
    /// Whether X is added to the output, which is as wide.
    pub residual: bool,
}

/// What a block's rows are, and how they become those of the next level.
#[derive(Debug, Clone, Copy)]
pub enum Pairs<'a> {
    /// Every pair is a row, before and after.
    Dense(&'a [Square]),
    /// One row a colour.
    Quotient {
        /// The product.
        colours: Colours<'a>,
        /// The row below that each row comes from.
        parents: &'a [u32],
    },
}

/// What a forward pass keeps for the backward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Nothing: there is none.
    Nothing,
    /// Y1, Y2 and W; the hidden layers of the MLPs are computed again.
    Results,
    /// The hidden layers too: sooner, and the same numbers.
    Hidden,
}

/// What the backward pass needs beside X.
#[derive(Debug)]
pub struct Kept<T: Real> {
    y1: Buffer<T>,
    y2: Buffer<T>,
    w: Buffer<T>,
    /// What W was multiplied by, row by row, where there is a norm.
    scales: Vec<T>,
    /// m3(X), where m3 is an MLP.
    passed: Option<Buffer<T>>,
    /// The hidden layers of m1, m2 and m3, where they are kept.
    hidden: Option<Vec<Vec<Buffer<T>>>>,
}

impl<T: Real> Block<'_, T> {
    fn inputs(&self) -> usize {
        self.m1.inputs()
    }

    /// Channels of W.
    fn product(&self) -> usize {
        self.m1.outputs()
    }

    /// Channels of m3(X).
    fn passed(&self) -> usize {
        self.m3.as_ref().map_or(self.inputs(), Mlp::outputs)
    }

    /// Channels of the output.
    pub fn outputs(&self) -> usize {
        self.m4.map_or(self.passed() + self.product(), |m4| m4.outputs)
    }

    /// Numbers a row of all hidden layers of its MLPs.
    pub fn hidden(&self) -> usize {
        self.mlps().into_iter().map(Mlp::hidden).sum()
    }

    fn mlps(&self) -> Vec<&Mlp<'_, T>> {
        [&self.m1, &self.m2].into_iter().chain(&self.m3).collect()
    }

    /// The hidden layers of all MLPs, which the forward pass did not keep.
    fn hidden_again(&self, x: &[T]) -> Vec<Vec<Buffer<T>>> {
        let all = self.mlps();
        let mut hidden: Vec<Vec<Buffer<T>>> = all.iter().map(|m| m.rooms(x.len() / self.inputs())).collect();
        let forward = all.into_iter().zip(&mut hidden);
        mlps(x, forward.map(|(mlp, hidden)| Forward { mlp, hidden: slices(hidden), y: None }).collect());
        hidden
    }

    /// The output, and what the backward pass needs if it is wanted.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`
    /// - result: `[rows of the next level, outputs]`
    ///
    /// # Complexity
    /// O(rows * (layers' sizes) + product).
    pub fn forward(&self, pairs: Pairs<'_>, x: &[T], keep: Keep) -> (Buffer<T>, Option<Kept<T>>) {
        let count = x.len() / self.inputs();
        let above = match pairs {
            Pairs::Dense(_) => count,
            Pairs::Quotient { colours, parents } => {
                assert_eq!((colours.below, colours.examples.len()), (count, parents.len()));
                parents.len()
            }
        };
        let width = self.product();
        let all = self.mlps();
        let mut y: Vec<Buffer<T>> = all.iter().map(|m| Buffer::dirty(count * m.outputs())).collect();
        let mut hidden: Option<Vec<Vec<Buffer<T>>>> =
            (keep == Keep::Hidden).then(|| all.iter().map(|m| m.rooms(count)).collect());
        let mut rooms = hidden.iter_mut().flatten();
        let forward = all.iter().zip(&mut y).map(|(mlp, y)| Forward {
            mlp,
            hidden: rooms.next().map(|rooms| slices(rooms)).unwrap_or_default(),
            y: Some(&mut y[..]),
        });
        mlps(x, forward.collect());
        let mut y = y.into_iter();
        let (Some(y1), Some(y2), passed) = (y.next(), y.next(), y.next()) else {
            unreachable!("there are m1 and m2")
        };
        let mut w = Buffer::dirty(above * width);
        match pairs {
            Pairs::Dense(graphs) => product(graphs, width, &y1, &y2, &mut w),
            Pairs::Quotient { colours, .. } => quotient_product(colours, width, &y1, &y2, &mut w),
        }
        let scales = self.norm.map_or(Vec::new(), |epsilon| norm::rms(&mut w, width, epsilon));
        let output = self.join(pairs, x, passed.as_deref().unwrap_or(x), &w);
        (output, (keep != Keep::Nothing).then_some(Kept { y1, y2, w, scales, passed, hidden }))
    }

    /// m4 on m3(X) and W, and what is added. Linear maps and lifting commute, and there are no more rows below than
    /// above: what comes of X is computed below, and lifted.
    fn join(&self, pairs: Pairs<'_>, x: &[T], passed: &[T], w: &[T]) -> Buffer<T> {
        let (inner, width, outputs) = (self.passed(), self.product(), self.outputs());
        let above = w.len() / width;
        let mut output = Buffer::dirty(above * outputs);
        let Some(m4) = self.m4 else {
            let rows = output.par_chunks_mut(outputs).zip(w.par_chunks(width)).enumerate();
            rows.for_each(|(row, (to, w))| {
                to[..inner].copy_from_slice(&passed[pairs.parent(row) * inner..][..inner]);
                to[inner..].copy_from_slice(w);
            });
            return output;
        };
        let [of_x, of_w] = halves(m4, inner, width, Layer::forward_panels);
        let below = |passed: &[T], x: &[T], to: &mut [T]| {
            rows(passed, &of_x, to, Start::Bias(m4.bias), End::Keep);
            if self.residual {
                add_to(to, x);
            }
        };
        match pairs {
            Pairs::Dense(_) => {
                let chunk = chunk_rows(above);
                let inputs = x.par_chunks(chunk * self.inputs()).zip(passed.par_chunks(chunk * inner));
                let outputs = output.par_chunks_mut(chunk * outputs).zip(w.par_chunks(chunk * width));
                inputs.zip(outputs).for_each(|((x, passed), (to, w))| {
                    below(passed, x, to);
                    rows(w, &of_w, to, Start::There, End::Keep);
                });
            }
            Pairs::Quotient { parents, .. } => {
                let count = passed.len() / inner;
                let mut lifted = Buffer::dirty(count * outputs);
                let chunk = chunk_rows(count);
                let inputs = x.par_chunks(chunk * self.inputs()).zip(passed.par_chunks(chunk * inner));
                let to = lifted.par_chunks_mut(chunk * outputs);
                inputs.zip(to).for_each(|((x, passed), to)| below(passed, x, to));
                let chunk = chunk_rows(above);
                let above = output.par_chunks_mut(chunk * outputs).zip(w.par_chunks(chunk * width));
                above.zip(parents.par_chunks(chunk)).for_each(|((to, w), parents)| {
                    rows(w, &of_w, to, Start::Table(&lifted, parents), End::Keep);
                });
            }
        }
        output
    }

    /// Adds the gradients of all parameters to `gradient`, the block's flat array, and gives X's if it is wanted. `d`
    /// is the gradient of the output.
    ///
    /// # Shapes
    /// - `x`, result: `[rows, inputs]`
    /// - `d`: `[rows of the next level, outputs]`
    pub fn backward(
        &self,
        pairs: Pairs<'_>,
        x: &[T],
        kept: Kept<T>,
        d: Buffer<T>,
        gradient: &mut [T],
        wanted: bool,
    ) -> Option<Buffer<T>> {
        let Kept { mut y1, mut y2, mut w, scales, passed, hidden } = kept;
        let (of_m1, rest) = gradient.split_at_mut(self.m1.len());
        let (of_m2, rest) = rest.split_at_mut(self.m2.len());
        let (of_m3, of_m4) = rest.split_at_mut(self.m3.as_ref().map_or(0, Mlp::len));
        // What comes to m3(X): to X itself where m3 is the identity.
        let mut dx =
            (wanted || self.m3.is_some()).then(|| Buffer::zeros(x.len() / self.inputs() * self.passed()));
        let mut dx_of_residual = None;
        // The norm's gradient needs what W's gradient takes the place of.
        let normed = self.norm.map(|_| copy(&w));
        {
            let below = pairs.drop(&d, self.outputs(), x.len() / self.inputs());
            let below = below.as_deref().unwrap_or(&d);
            let input = passed.as_deref().unwrap_or(x);
            self.part(pairs, [below, &d], input, &mut w, dx.as_deref_mut(), of_m4);
            if self.residual && wanted {
                dx_of_residual = Some(copy(below));
            }
        }
        drop(d);
        if let Some(normed) = normed {
            norm::rms_backward(&mut w, &normed, self.product(), &scales);
        }
        match pairs {
            Pairs::Dense(graphs) => product_backward(graphs, self.product(), &w, &mut y1, &mut y2),
            Pairs::Quotient { colours, .. } => {
                let mut d1 = Buffer::dirty(y1.len());
                let mut d2 = Buffer::dirty(y2.len());
                quotient_product_backward(colours, self.product(), &w, [&y1, &y2], [&mut d1, &mut d2]);
                (y1, y2) = (d1, d2);
            }
        }
        drop(w);
        let mut hidden = hidden.unwrap_or_else(|| self.hidden_again(x));
        let mut hidden = hidden.iter_mut().map(|hidden| slices(hidden));
        let [h1, h2, h3] = std::array::from_fn(|_| hidden.next().unwrap_or_default());
        let mut dx = match (&self.m3, passed) {
            (Some(m3), Some(passed)) => {
                let mut d3 = dx.take()?;
                let zero = T::default();
                d3.iter_mut().zip(passed.iter()).for_each(|(d, &y)| *d = if y > zero { *d } else { zero });
                let mut dx = wanted.then(|| Buffer::zeros(x.len()));
                let m3 = Backward { mlp: m3, d: &d3, hidden: h3, gradient: of_m3 };
                mlps_backward(x, vec![m3], dx.as_deref_mut());
                dx
            }
            _ => dx,
        };
        let m1 = Backward { mlp: &self.m1, d: &y1, hidden: h1, gradient: of_m1 };
        let m2 = Backward { mlp: &self.m2, d: &y2, hidden: h2, gradient: of_m2 };
        mlps_backward(x, vec![m1, m2], dx.as_deref_mut());
        if let (Some(dx), Some(more)) = (&mut dx, dx_of_residual) {
            add_to(dx, &more);
        }
        dx
    }

    /// The way back through m4: W's gradient takes its place, m3(X)'s is added to `dx`.
    fn part(
        &self,
        pairs: Pairs<'_>,
        [below, d]: [&[T]; 2],
        passed: &[T],
        w: &mut [T],
        dx: Option<&mut [T]>,
        gradient: &mut [T],
    ) {
        let (inner, width, outputs) = (self.passed(), self.product(), self.outputs());
        let Some(m4) = self.m4 else {
            w.par_chunks_mut(width)
                .zip(d.par_chunks(outputs))
                .for_each(|(w, d)| w.copy_from_slice(&d[inner..]));
            if let Some(dx) = dx {
                dx.par_chunks_mut(inner)
                    .zip(below.par_chunks(outputs))
                    .for_each(|(dx, d)| add_to(dx, &d[..inner]));
            }
            return;
        };
        let (weights, bias) = gradient.split_at_mut(m4.inputs * outputs);
        let weights = (weights, m4.inputs);
        let [of_x, of_w] = halves(m4, inner, width, Layer::backward_panels);
        let w = Joined { input: Input::InPlace(w), width, from: inner, back: &of_w };
        let x = Joined { input: Input::Apart(passed, dx), width: inner, from: 0, back: &of_x };
        add_to(bias, &all_column_sums(below, outputs));
        match pairs {
            Pairs::Dense(_) => linear_backward(d, outputs, vec![w, x], weights),
            Pairs::Quotient { .. } => {
                linear_backward(d, outputs, vec![w], (&mut *weights.0, weights.1));
                linear_backward(below, outputs, vec![x], weights);
            }
        }
    }
}

fn slices<T: Real>(buffers: &mut [Buffer<T>]) -> Vec<&mut [T]> {
    buffers.iter_mut().map(|buffer| &mut buffer[..]).collect()
}

fn copy<T: Real>(x: &[T]) -> Buffer<T> {
    let mut copy = Buffer::dirty(x.len());
    copy.copy_from_slice(x);
    copy
}

/// The parts of m4 that act on m3(X) and on W.
fn halves<'a, T: Real>(
    m4: Layer<'a, T>,
    inner: usize,
    width: usize,
    panels: impl Fn(&Layer<'a, T>, usize, usize) -> Panels<T> + Sync,
) -> [Panels<T>; 2] {
    let (of_x, of_w) = rayon::join(|| panels(&m4, 0, inner), || panels(&m4, inner, width));
    [of_x, of_w]
}

impl Pairs<'_> {
    /// The row below of a row.
    fn parent(&self, row: usize) -> usize {
        match self {
            Pairs::Dense(_) => row,
            Pairs::Quotient { parents, .. } => parents[row] as usize,
        }
    }

    /// The gradient of rows that were lifted: each row below has the sum over its children. Nothing where lifting is
    /// the identity.
    fn drop<T: Real>(&self, d: &[T], width: usize, below: usize) -> Option<Buffer<T>> {
        let Pairs::Quotient { parents, .. } = self else { return None };
        let mut sums = Buffer::zeros(below * width);
        for (row, &parent) in d.chunks_exact(width).zip(*parents) {
            add_to(&mut sums[parent as usize * width..][..width], row);
        }
        Some(sums)
    }
}
