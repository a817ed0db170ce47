//! A whole block, forward and backward: MLPs, the product of what they give, and the skip connection.
//!
//! `Y1 = m1(X)`, `Y2 = m2(X)`, `W = product(Y1, Y2)`, output `m4(m3(X), W)`; blocks on k-tuples have k MLPs instead of
//! two, or one ([`Product`]). What the backward pass needs is kept ([`Kept`]): Y1, Y2 and W (and m3(X) where m3 is an
//! MLP); gradients take the places of what they are gradients of as soon as that was used.
//!
//! Two of the paper's models for comparison are variants: without a product W is m1(X); with an equivariant layer L the
//! output is `m4(m3(X), W, ReLU(L(X)))`.

use crate::buffer::Buffer;
use crate::equivariant::Equivariant;
use crate::gemm::{End, Panels, Start, rows};
use crate::generalised::quotient::{quotient_generalised, quotient_generalised_backward};
use crate::generalised::{generalised_product, generalised_product_backward};
use crate::linear::{Input, Joined, Layer, add_to, chunk_rows, linear_backward};
use crate::mlp::{Backward, Forward, Mlp, mask, mlps, mlps_backward};
use crate::norm;
use crate::product::{Square, product, product_backward};
use crate::quotient::{Colours, quotient_product, quotient_product_backward};
use crate::real::Real;
use crate::sums::{index_sums, index_sums_backward, quotient_sums, quotient_sums_backward};
use rayon::prelude::*;

/// What a block is made of. Its parameters follow each other in one flat array: the MLPs of the product, m3, L, m4, each
/// layer's weight and then its bias.
#[derive(Debug, Clone)]
pub struct Block<'a, T> {
    /// What becomes of the outputs of the MLPs before it.
    pub product: Product,
    /// m1, m2 and, for longer tuples, further ones, all equally wide at their ends.
    pub factors: Vec<Mlp<'a, T>>,
    /// m3, or the identity.
    pub m3: Option<Mlp<'a, T>>,
    /// L, whose ReLU(L(X)) goes beside W, or none. It needs all pairs as rows.
    pub linear: Option<Equivariant<'a, T>>,
    /// m4, on (m3(X), W, ReLU(L(X))), or none: then these side by side are the output.
    pub m4: Option<Layer<'a, T>>,
    /// The epsilon of the RMS norm of W, or no norm.
    pub norm: Option<f64>,
    /// Whether X is added to the output, which is as wide.
    pub residual: bool,
}

/// What W is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// `Y1 . Y2` in every channel, over pairs.
    Matrix,
    /// The generalised product of as many factors as tuples have nodes; over pairs it is `Y2 . Y1`.
    Generalised,
    /// No product: W is Y1.
    None,
    /// The sums of Y1 over one index each, of tuples of so many nodes: W is so many times as wide as Y1.
    Sums(usize),
}

/// What a block's rows are, and how they become those of the next level.
#[derive(Debug, Clone, Copy)]
pub enum Pairs<'a> {
    /// Every pair, or every tuple, is a row, before and after.
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
    /// Y1, Y2, ...
    ys: Vec<Buffer<T>>,
    w: Buffer<T>,
    /// What W was multiplied by, row by row, where there is a norm.
    scales: Vec<T>,
    /// m3(X), where m3 is an MLP.
    passed: Option<Buffer<T>>,
    /// ReLU(L(X)), where there is an L.
    linear: Option<Buffer<T>>,
    /// The hidden layers of m1, m2, ..., and of m3, where they are kept.
    hidden: Option<Vec<Vec<Buffer<T>>>>,
}

impl<T: Real> Block<'_, T> {
    fn inputs(&self) -> usize {
        self.factors[0].inputs()
    }

    /// Channels of W.
    fn product(&self) -> usize {
        let each = self.factors[0].outputs();
        if let Product::Sums(order) = self.product { order * each } else { each }
    }

    /// Channels of m3(X).
    fn passed(&self) -> usize {
        self.m3.as_ref().map_or(self.inputs(), Mlp::outputs)
    }

    /// Channels of ReLU(L(X)).
    fn linear(&self) -> usize {
        self.linear.map_or(0, |linear| linear.outputs())
    }

    /// Channels of the output.
    pub fn outputs(&self) -> usize {
        self.m4.map_or(self.passed() + self.product() + self.linear(), |m4| m4.outputs)
    }

    /// m1, m2, ..., and m3 where it is one.
    fn mlps(&self) -> impl Iterator<Item = &Mlp<'_, T>> {
        self.factors.iter().chain(&self.m3)
    }

    /// Numbers a row of all hidden layers of its MLPs.
    pub fn hidden(&self) -> usize {
        self.mlps().map(Mlp::hidden).sum()
    }

    /// The hidden layers of all MLPs, which the forward pass did not keep.
    fn hidden_again(&self, x: &[T]) -> Vec<Vec<Buffer<T>>> {
        let count = x.len() / self.inputs();
        let mut hidden: Vec<Vec<Buffer<T>>> = self.mlps().map(|m| m.rooms(count)).collect();
        let forward = self.mlps().zip(&mut hidden);
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
    ///
    /// # Panics
    /// If there is an L and the rows are colours.
    pub fn forward(&self, pairs: Pairs<'_>, x: &[T], keep: Keep) -> (Buffer<T>, Option<Kept<T>>) {
        if let (Pairs::Quotient { parents, .. }, Product::None) = (pairs, self.product) {
            // Nothing mixes rows, so all is computed below.
            let (below, kept) = self.forward(Pairs::Dense(&[]), x, keep);
            return (lift(&below, self.outputs(), parents), kept);
        }
        let count = x.len() / self.inputs();
        let above = match pairs {
            Pairs::Dense(_) => count,
            Pairs::Quotient { colours, parents } => {
                assert_eq!((colours.below, colours.examples.len()), (count, parents.len()));
                parents.len()
            }
        };
        let width = self.product();
        let all: Vec<&Mlp<'_, T>> = self.mlps().collect();
        let mut ys: Vec<Buffer<T>> = all.iter().map(|m| Buffer::dirty(count * m.outputs())).collect();
        let mut hidden: Option<Vec<Vec<Buffer<T>>>> =
            (keep == Keep::Hidden).then(|| all.iter().map(|m| m.rooms(count)).collect());
        let mut rooms = hidden.iter_mut().flatten();
        let forward = all.iter().zip(&mut ys).map(|(mlp, y)| Forward {
            mlp,
            hidden: rooms.next().map(|rooms| slices(rooms)).unwrap_or_default(),
            y: Some(&mut y[..]),
        });
        mlps(x, forward.collect());
        let passed = if self.m3.is_some() { ys.pop() } else { None };
        let linear = self.linear.map(|linear| linear.forward(pairs.squares(), x));
        let mut w = Buffer::dirty(above * width);
        self.multiply(pairs, &ys, &mut w);
        let scales = self.norm.map_or(Vec::new(), |epsilon| norm::rms(&mut w, width, epsilon));
        let output = self.join(pairs, x, passed.as_deref().unwrap_or(x), &w, linear.as_deref());
        (output, (keep != Keep::Nothing).then_some(Kept { ys, w, scales, passed, linear, hidden }))
    }

    /// W from the factors.
    fn multiply(&self, pairs: Pairs<'_>, ys: &[Buffer<T>], w: &mut [T]) {
        let each = self.factors[0].outputs();
        let ys: Vec<&[T]> = ys.iter().map(|y| &**y).collect();
        match (self.product, pairs) {
            (Product::None, _) => w.copy_from_slice(ys[0]),
            (Product::Matrix, Pairs::Dense(graphs)) => product(graphs, each, ys[0], ys[1], w),
            (Product::Matrix, Pairs::Quotient { colours, .. }) => {
                quotient_product(colours, each, ys[0], ys[1], w);
            }
            (Product::Generalised, Pairs::Dense(graphs)) => generalised_product(graphs, each, &ys, w),
            (Product::Generalised, Pairs::Quotient { colours, .. }) => {
                quotient_generalised(colours, each, &ys, w);
            }
            (Product::Sums(order), Pairs::Dense(graphs)) => index_sums(graphs, order, each, ys[0], w),
            (Product::Sums(order), Pairs::Quotient { colours, .. }) => {
                quotient_sums(colours, order, each, ys[0], w);
            }
        }
    }

    /// The gradients of the factors, in their places, from W's.
    fn multiply_backward(&self, pairs: Pairs<'_>, w: &[T], ys: &mut Vec<Buffer<T>>) {
        let each = self.factors[0].outputs();
        if let (Product::Matrix, Pairs::Dense(graphs), [y1, y2]) = (self.product, pairs, &mut ys[..]) {
            return product_backward(graphs, each, w, y1, y2);
        }
        let mut ds: Vec<Buffer<T>> = ys.iter().map(|y| Buffer::dirty(y.len())).collect();
        {
            let ys: Vec<&[T]> = ys.iter().map(|y| &**y).collect();
            let mut ds: Vec<&mut [T]> = ds.iter_mut().map(|d| &mut **d).collect();
            match (self.product, pairs, &mut ds[..]) {
                (Product::None, _, [d]) => {
                    d.copy_from_slice(w);
                    mask(d, ys[0]);
                }
                (Product::Matrix, Pairs::Quotient { colours, .. }, [d1, d2]) => {
                    quotient_product_backward(colours, each, w, [ys[0], ys[1]], [d1, d2]);
                }
                (Product::Sums(order), Pairs::Dense(graphs), [d]) => {
                    index_sums_backward(graphs, order, each, w, ys[0], d);
                }
                (Product::Sums(order), Pairs::Quotient { colours, .. }, [d]) => {
                    quotient_sums_backward(colours, order, each, w, ys[0], d);
                }
                (_, Pairs::Dense(graphs), ds) => generalised_product_backward(graphs, each, w, &ys, ds),
                (_, Pairs::Quotient { colours, .. }, ds) => {
                    quotient_generalised_backward(colours, each, w, &ys, ds);
                }
            }
        }
        *ys = ds;
    }

    /// m4 on m3(X), W and ReLU(L(X)), and what is added. Linear maps and lifting commute, and there are no more rows
    /// below than above: what comes of X is computed below, and lifted.
    fn join(&self, pairs: Pairs<'_>, x: &[T], passed: &[T], w: &[T], linear: Option<&[T]>) -> Buffer<T> {
        let (inner, width, outputs) = (self.passed(), self.product(), self.outputs());
        let above = w.len() / width;
        let mut output = Buffer::dirty(above * outputs);
        let Some(m4) = self.m4 else {
            let rows = output.par_chunks_mut(outputs).zip(w.par_chunks(width)).enumerate();
            rows.for_each(|(row, (to, w))| {
                to[..inner].copy_from_slice(&passed[pairs.parent(row) * inner..][..inner]);
                to[inner..inner + width].copy_from_slice(w);
                if let Some(linear) = linear {
                    to[inner + width..].copy_from_slice(&linear[row * self.linear()..][..self.linear()]);
                }
            });
            return output;
        };
        let [of_x, of_w, of_linear] = self.parts(m4, Layer::forward_panels);
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
                inputs.zip(outputs).with_max_len(1).enumerate().for_each(|(at, ((x, passed), (to, w)))| {
                    below(passed, x, to);
                    rows(w, &of_w, to, Start::There, End::Keep);
                    if let Some(linear) = linear {
                        let part = &linear[at * chunk * self.linear()..];
                        let part = &part[..w.len() / width * self.linear()];
                        rows(part, &of_linear, to, Start::There, End::Keep);
                    }
                });
            }
            Pairs::Quotient { parents, .. } => {
                let count = passed.len() / inner;
                let mut lifted = Buffer::dirty(count * outputs);
                let chunk = chunk_rows(count);
                let inputs = x.par_chunks(chunk * self.inputs()).zip(passed.par_chunks(chunk * inner));
                let to = lifted.par_chunks_mut(chunk * outputs);
                inputs.zip(to).with_max_len(1).for_each(|((x, passed), to)| below(passed, x, to));
                let chunk = chunk_rows(above);
                let above = output.par_chunks_mut(chunk * outputs).zip(w.par_chunks(chunk * width));
                above.zip(parents.par_chunks(chunk)).with_max_len(1).for_each(|((to, w), parents)| {
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
        if let (Pairs::Quotient { .. }, Product::None) = (pairs, self.product) {
            let d = pairs.drop(&d, self.outputs(), x.len() / self.inputs())?;
            return self.backward(Pairs::Dense(&[]), x, kept, d, gradient, wanted);
        }
        let Kept { mut ys, mut w, scales, passed, mut linear, hidden } = kept;
        let (of_factors, rest) = gradient.split_at_mut(self.factors.iter().map(Mlp::len).sum());
        let (of_m3, rest) = rest.split_at_mut(self.m3.as_ref().map_or(0, Mlp::len));
        let (of_linear, of_m4) = rest.split_at_mut(self.linear.map_or(0, |linear| linear.len()));
        // What comes to m3(X): to X itself where m3 is the identity.
        let mut dx =
            (wanted || self.m3.is_some()).then(|| Buffer::dirty(x.len() / self.inputs() * self.passed()));
        let mut dx_of_residual = None;
        // The norm's gradient needs what W's gradient takes the place of.
        let normed = self.norm.map(|_| Buffer::copy(&w));
        let before = linear.as_deref().map(Buffer::copy);
        {
            let below = pairs.drop(&d, self.outputs(), x.len() / self.inputs());
            let below = below.as_deref().unwrap_or(&d);
            let input = passed.as_deref().unwrap_or(x);
            let beside = [&mut w[..], linear.as_deref_mut().unwrap_or_default()];
            self.part(pairs, [below, &d], input, beside, dx.as_deref_mut(), of_m4);
            if self.residual && wanted {
                dx_of_residual = Some(Buffer::copy(below));
            }
        }
        drop(d);
        if let Some(normed) = normed {
            norm::rms_backward(&mut w, &normed, self.product(), &scales);
        }
        self.multiply_backward(pairs, &w, &mut ys);
        drop(w);
        let mut hidden = hidden.unwrap_or_else(|| self.hidden_again(x));
        let mut hidden: Vec<Vec<&mut [T]>> = hidden.iter_mut().map(|hidden| slices(hidden)).collect();
        let of_passed = if self.m3.is_some() { hidden.pop() } else { None };
        let mut dx = match (&self.m3, passed) {
            (Some(m3), Some(passed)) => {
                let mut d3 = dx.take()?;
                mask(&mut d3, &passed);
                let mut dx = wanted.then(|| Buffer::zeros(x.len()));
                let hidden = of_passed.unwrap_or_default();
                let m3 = Backward { mlp: m3, d: &d3, hidden, gradient: of_m3 };
                mlps_backward(x, vec![m3], dx.as_deref_mut());
                dx
            }
            _ => dx,
        };
        let mut rest = of_factors;
        let factors = self.factors.iter().zip(&ys).zip(hidden).map(|((mlp, d), hidden)| {
            let (gradient, next) = std::mem::take(&mut rest).split_at_mut(mlp.len());
            rest = next;
            Backward { mlp, d, hidden, gradient }
        });
        mlps_backward(x, factors.collect(), dx.as_deref_mut());
        if let (Some(layer), Some(mut d), Some(before)) = (&self.linear, linear, before) {
            mask(&mut d, &before);
            layer.backward(pairs.squares(), x, &d, dx.as_deref_mut(), of_linear);
        }
        if let (Some(dx), Some(more)) = (&mut dx, dx_of_residual) {
            add_to(dx, &more);
        }
        dx
    }

    /// The parts of m4 that act on m3(X), on W and on ReLU(L(X)).
    fn parts<'a>(
        &self,
        m4: Layer<'a, T>,
        panels: impl Fn(&Layer<'a, T>, usize, usize) -> Panels<T> + Sync,
    ) -> [Panels<T>; 3] {
        let (inner, width, linear) = (self.passed(), self.product(), self.linear());
        let (of_x, (of_w, of_linear)) = rayon::join(
            || panels(&m4, 0, inner),
            || rayon::join(|| panels(&m4, inner, width), || panels(&m4, inner + width, linear)),
        );
        [of_x, of_w, of_linear]
    }

    /// The way back through m4: the gradients of W and ReLU(L(X)) take their places, m3(X)'s is written to `dx`.
    fn part(
        &self,
        pairs: Pairs<'_>,
        [below, d]: [&[T]; 2],
        passed: &[T],
        [w, linear]: [&mut [T]; 2],
        dx: Option<&mut [T]>,
        gradient: &mut [T],
    ) {
        let (inner, width, outputs) = (self.passed(), self.product(), self.outputs());
        let Some(m4) = self.m4 else {
            for (part, from, width) in [(w, inner, width), (linear, inner + width, self.linear())] {
                part.par_chunks_mut(width.max(1))
                    .zip(d.par_chunks(outputs))
                    .for_each(|(part, d)| part.copy_from_slice(&d[from..from + width]));
            }
            if let Some(dx) = dx {
                dx.par_chunks_mut(inner)
                    .zip(below.par_chunks(outputs))
                    .for_each(|(dx, d)| dx.copy_from_slice(&d[..inner]));
            }
            return;
        };
        let (weights, bias) = gradient.split_at_mut(m4.inputs * outputs);
        let weights = (weights, m4.inputs);
        let [of_x, of_w, of_linear] = self.parts(m4, Layer::backward_panels);
        let w = Joined { input: Input::InPlace(w), width, from: inner, back: &of_w };
        let x = Joined { input: Input::Apart(passed, dx), width: inner, from: 0, back: &of_x };
        match pairs {
            Pairs::Dense(_) => {
                let mut inputs = vec![w, x];
                if let Some(layer) = &self.linear {
                    let (width, from) = (layer.outputs(), inner + width);
                    inputs.push(Joined { input: Input::InPlace(linear), width, from, back: &of_linear });
                }
                linear_backward(d, outputs, inputs, weights, Some(bias));
            }
            Pairs::Quotient { .. } => {
                linear_backward(d, outputs, vec![w], (&mut *weights.0, weights.1), Some(bias));
                linear_backward(below, outputs, vec![x], weights, None);
            }
        }
    }
}

fn slices<T: Real>(buffers: &mut [Buffer<T>]) -> Vec<&mut [T]> {
    buffers.iter_mut().map(|buffer| &mut buffer[..]).collect()
}

/// Each row from its row below.
fn lift<T: Real>(below: &[T], width: usize, parents: &[u32]) -> Buffer<T> {
    let mut above = Buffer::dirty(parents.len() * width);
    above
        .par_chunks_mut(width)
        .zip(parents)
        .for_each(|(to, &parent)| to.copy_from_slice(&below[parent as usize * width..][..width]));
    above
}

impl<'a> Pairs<'a> {
    /// The graphs whose pairs the rows are.
    ///
    /// # Panics
    /// If the rows are colours.
    pub fn squares(&self) -> &'a [Square] {
        match self {
            Pairs::Dense(graphs) => graphs,
            Pairs::Quotient { .. } => {
                panic!("an equivariant layer needs all pairs, and these rows are colours")
            }
        }
    }

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
