//! One basis operation, computed by a diagonal, a sum and a broadcast.
//!
//! The operation of a partition of k + l indices is `Y[o] = sum of X[i]` over the input tuples i for which indices in one
//! block, of i and of o together, are equal; different blocks may have equal values. So blocks of input indices take a
//! diagonal of X, those that no output index shares are summed over, output indices in blocks of their own are broadcast,
//! and an output tuple whose indices differ within a block gets 0. The n^(k+l) matrix never exists.

use burn::tensor::{Int, Tensor};

/// Takes a diagonal of a k-tensor, and sums over some of its indices.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reduction {
    /// The block of every input index.
    blocks: Vec<usize>,
    /// Whether a block stays; the others are summed over.
    kept: Vec<bool>,
}

/// Puts a tensor of the kept indices into an l-tensor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Embedding {
    /// How many indices come in.
    order: usize,
    /// The block of every output index.
    blocks: Vec<usize>,
    /// Which of the incoming indices each block is, `None` where it is broadcast.
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
        blocks.push(seen.iter().position(|&s| s == b).expect("it was put there"));
    }
    let source = seen.iter().map(|&b| (b < count).then(|| digit(b))).collect();
    let order = digit(count);
    (Reduction { blocks: inputs.to_vec(), kept }, Embedding { order, blocks, source })
}

/// The embedding of a constant that is there where the indices of each block are equal: a bias.
pub(super) fn constant(partition: &[usize]) -> Embedding {
    operation(partition, 0).1
}

/// How far apart the rows of an order-k tensor are for each block of its indices: a step in all of them at once.
fn strides(blocks: &[usize], count: usize, n: usize) -> Vec<usize> {
    let mut strides = vec![0; count];
    let mut step = 1;
    for &block in blocks.iter().rev() {
        strides[block] += step;
        step *= n;
    }
    strides
}

/// The rows of all tuples of values of some indices, the last one fastest, by their strides.
fn rows(strides: impl IntoIterator<Item = usize>, n: usize) -> Vec<usize> {
    strides.into_iter().fold(vec![0], |rows, stride| {
        rows.iter().flat_map(|&row| (0..n).map(move |value| row + value * stride)).collect()
    })
}

fn indices(list: Vec<i64>, like: &Tensor<2>) -> Tensor<1, Int> {
    Tensor::from_data(list.as_slice(), &like.device())
}

impl Reduction {
    /// How many indices are summed over.
    pub(super) fn summed(&self) -> usize {
        self.kept.iter().filter(|&&kept| !kept).count()
    }

    /// # Shapes
    /// - `x`: `[n^k, channels]`
    /// - result: `[n^kept, channels]`
    pub(super) fn apply(&self, x: &Tensor<2>, n: usize) -> Tensor<2> {
        let channels = x.dims()[1];
        let (kept, summed) = (self.kept.len() - self.summed(), self.summed());
        let rows = self.rows(n);
        let x = match rows.iter().enumerate().all(|(i, &row)| i as i64 == row) && rows.len() == x.dims()[0] {
            true => x.clone(),
            false => x.clone().select(0, indices(rows, x)), // [n^(kept + summed), channels]
        };
        if summed == 0 {
            return x;
        }
        let [outer, inner] = [kept, summed].map(|order| n.pow(order as u32));
        x.reshape([outer, inner, channels]).sum_dim(1).squeeze_dim(1) // [n^kept, channels]
    }

    /// The rows of the diagonal, the kept indices first and those to be summed last.
    fn rows(&self, n: usize) -> Vec<i64> {
        let strides = strides(&self.blocks, self.kept.len(), n);
        let kept = (0..strides.len()).filter(|&b| self.kept[b]);
        let order = kept.chain((0..strides.len()).filter(|&b| !self.kept[b]));
        rows(order.map(|b| strides[b]), n).into_iter().map(|row| row as i64).collect()
    }
}

impl Embedding {
    /// # Shapes
    /// - `x`: `[n^order, channels]`
    /// - result: `[n^l, channels]`
    pub(super) fn apply(&self, x: Tensor<2>, n: usize) -> Tensor<2> {
        let places = self.places(n);
        if places.len() == x.dims()[0] && places.iter().enumerate().all(|(i, &p)| i as i64 == p) {
            return x;
        }
        // Where indices of a block differ, a row of zeros that follows the others.
        let zero = x.clone().narrow(0, 0, 1).zeros_like();
        let places = indices(places, &x);
        Tensor::cat(vec![x, zero], 0).select(0, places) // [n^l, channels]
    }

    /// The incoming row of every output tuple, or the one behind the last where indices of a block differ.
    fn places(&self, n: usize) -> Vec<i64> {
        let [incoming, outgoing] = [self.order, self.blocks.len()].map(|order| n.pow(order as u32));
        let mut places = vec![incoming as i64; outgoing];
        let to = rows(strides(&self.blocks, self.source.len(), n), n);
        let step = |source: &Option<usize>| source.map_or(0, |digit| n.pow((self.order - 1 - digit) as u32));
        let from = rows(self.source.iter().map(step), n);
        to.into_iter().zip(from).for_each(|(to, from)| places[to] = from as i64);
        places
    }
}
