//! One basis operation, computed by a diagonal, a sum and a broadcast.
//!
//! The operation of a partition of k + l indices is `Y[o] = sum of X[i]` over the input tuples i for which indices in
//! the same block, of i and of o together, are equal; different blocks may have equal values. So blocks of several
//! input indices take a diagonal of X, blocks without an output index are summed over, blocks without an input index
//! are broadcast, and an output tuple whose indices differ within a block gets 0. The n^(k+l) matrix is never formed.
//! Both halves are gathers by index, and their gradients are scatters by the same indices.

use ppgn_kernels::Real;
use rayon::prelude::*;

/// Takes a diagonal of a k-tensor and sums over some of its indices.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reduction {
    /// The block of every input index.
    blocks: Vec<usize>,
    /// Whether a block is kept; the others are summed over.
    kept: Vec<bool>,
}

/// Embeds a tensor over the kept indices into an l-tensor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Embedding {
    /// The order of the incoming tensor.
    order: usize,
    /// The block of every output index.
    blocks: Vec<usize>,
    /// The incoming index of each block, `None` if it is broadcast.
    source: Vec<Option<usize>>,
}

/// The two halves of the operation of a partition of k + l indices.
pub(super) fn operation(partition: &[usize], k: usize) -> (Reduction, Embedding) {
    let (inputs, outputs) = partition.split_at(k);
    let count = inputs.iter().max().map_or(0, |&b| b + 1);
    let kept: Vec<bool> = (0..count).map(|b| outputs.contains(&b)).collect();
    let digit = |b: usize| kept[..b].iter().filter(|&&kept| kept).count();
    let mut seen: Vec<usize> = Vec::new();
    let mut blocks = Vec::with_capacity(outputs.len());
    for &b in outputs {
        if !seen.contains(&b) {
            seen.push(b);
        }
        blocks.push(seen.iter().position(|&s| s == b).expect("just added"));
    }
    let source = seen.iter().map(|&b| (b < count).then(|| digit(b))).collect();
    let order = digit(count);
    (Reduction { blocks: inputs.to_vec(), kept }, Embedding { order, blocks, source })
}

/// The embedding of a constant, nonzero where the indices of each block are equal: a bias.
pub(super) fn constant(partition: &[usize]) -> Embedding {
    operation(partition, 0).1
}

/// The distance between rows of an order-k tensor when all indices of a block are incremented together, for each block.
fn strides(blocks: &[usize], count: usize, n: usize) -> Vec<usize> {
    let mut strides = vec![0; count];
    let mut step = 1;
    for &block in blocks.iter().rev() {
        strides[block] += step;
        step *= n;
    }
    strides
}

/// The rows for all values of some indices with these strides, the last index varying fastest.
fn rows(strides: impl IntoIterator<Item = usize>, n: usize) -> Vec<usize> {
    strides.into_iter().fold(vec![0], |rows, stride| {
        rows.iter().flat_map(|&row| (0..n).map(move |value| row + value * stride)).collect()
    })
}

fn add<T: Real>(to: &mut [T], from: &[T]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to += from);
}

impl Reduction {
    /// The number of indices summed over.
    pub(super) fn summed(&self) -> usize {
        self.kept.iter().filter(|&&kept| !kept).count()
    }

    /// Computes the sums.
    ///
    /// # Shapes
    /// - `x`: `[n^k, channels]`
    /// - result: `[n^kept, channels]`
    pub(super) fn apply<T: Real>(&self, x: &[T], channels: usize, n: usize) -> Vec<T> {
        let (rows, inner) = (self.rows(n), n.pow(self.summed() as u32));
        let mut sums = vec![T::default(); rows.len() / inner * channels];
        sums.par_chunks_mut(channels).zip(rows.par_chunks(inner)).with_min_len(64).for_each(|(sum, rows)| {
            rows.iter().for_each(|&row| add(sum, &x[row * channels..][..channels]));
        });
        sums
    }

    /// The backward pass: given the gradient of the sums, adds to that of X.
    ///
    /// # Shapes
    /// - `d`: `[n^kept, channels]`
    /// - `dx`: `[n^k, channels]`
    pub(super) fn apply_back<T: Real>(&self, d: &[T], dx: &mut [T], channels: usize, n: usize) {
        let (rows, inner) = (self.rows(n), n.pow(self.summed() as u32));
        for (d, rows) in d.chunks_exact(channels).zip(rows.chunks(inner)) {
            rows.iter().for_each(|&row| add(&mut dx[row * channels..][..channels], d));
        }
    }

    /// The rows of the diagonal, with the kept indices first and those to be summed last.
    fn rows(&self, n: usize) -> Vec<usize> {
        let strides = strides(&self.blocks, self.kept.len(), n);
        let kept = (0..strides.len()).filter(|&b| self.kept[b]);
        let order = kept.chain((0..strides.len()).filter(|&b| !self.kept[b]));
        rows(order.map(|b| strides[b]), n)
    }
}

impl Embedding {
    /// Adds the embedded tensor to an l-tensor.
    ///
    /// # Shapes
    /// - `x`: `[n^order, channels]`
    /// - `y`: `[n^l, channels]`
    pub(super) fn apply<T: Real>(&self, x: &[T], y: &mut [T], channels: usize, n: usize) {
        for (to, from) in self.places(n) {
            add(&mut y[to * channels..][..channels], &x[from * channels..][..channels]);
        }
    }

    /// The backward pass: the gradient of the embedded tensor.
    ///
    /// # Shapes
    /// - `d`: `[n^l, channels]`
    /// - result: `[n^order, channels]`
    pub(super) fn apply_back<T: Real>(&self, d: &[T], channels: usize, n: usize) -> Vec<T> {
        let mut dx = vec![T::default(); n.pow(self.order as u32) * channels];
        for (to, from) in self.places(n) {
            add(&mut dx[from * channels..][..channels], &d[to * channels..][..channels]);
        }
        dx
    }

    /// The number of incoming rows.
    pub(super) fn incoming(&self, n: usize) -> usize {
        n.pow(self.order as u32)
    }

    /// Every output row that receives a value, with its incoming row.
    fn places(&self, n: usize) -> impl Iterator<Item = (usize, usize)> {
        let to = rows(strides(&self.blocks, self.source.len(), n), n);
        let step = |source: &Option<usize>| source.map_or(0, |digit| n.pow((self.order - 1 - digit) as u32));
        let from = rows(self.source.iter().map(step), n);
        to.into_iter().zip(from)
    }
}
