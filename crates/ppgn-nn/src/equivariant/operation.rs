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

/// All tuples of so many indices below n, in their order.
fn tuples(order: usize, n: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..n.pow(order as u32)).map(move |place| digits(place, order, n))
}

/// The tuple at a place.
fn digits(mut place: usize, order: usize, n: usize) -> Vec<usize> {
    let mut tuple = vec![0; order];
    for digit in tuple.iter_mut().rev() {
        *digit = place % n;
        place /= n;
    }
    tuple
}

/// The place of a tuple.
fn place(tuple: impl IntoIterator<Item = usize>, n: usize) -> usize {
    tuple.into_iter().fold(0, |place, digit| place * n + digit)
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
        let kept = (0..self.kept.len()).filter(|&b| self.kept[b]);
        let order: Vec<usize> = kept.chain((0..self.kept.len()).filter(|&b| !self.kept[b])).collect();
        let row = |tuple: Vec<usize>| {
            let mut value = vec![0; order.len()];
            order.iter().zip(tuple).for_each(|(&block, digit)| value[block] = digit);
            place(self.blocks.iter().map(|&b| value[b]), n) as i64
        };
        tuples(order.len(), n).map(row).collect()
    }
}

impl Embedding {
    /// # Shapes
    /// - `x`: `[n^order, channels]`
    /// - result: `[n^l, channels]`
    pub(super) fn apply(&self, x: Tensor<2>, n: usize) -> Tensor<2> {
        let rows = x.dims()[0];
        let places: Vec<i64> = tuples(self.blocks.len(), n).map(|tuple| self.row(&tuple, n)).collect();
        if places.len() == rows && places.iter().enumerate().all(|(i, &p)| i as i64 == p) {
            return x;
        }
        // Where indices of a block differ, a row of zeros that follows the others.
        let zero = x.clone().narrow(0, 0, 1).zeros_like();
        let places = indices(places, &x);
        Tensor::cat(vec![x, zero], 0).select(0, places) // [n^l, channels]
    }

    /// The incoming row of an output tuple, or the one behind the last.
    fn row(&self, tuple: &[usize], n: usize) -> i64 {
        let mut value: Vec<Option<usize>> = vec![None; self.source.len()];
        for (&block, &digit) in self.blocks.iter().zip(tuple) {
            if value[block].replace(digit).is_some_and(|before| before != digit) {
                return n.pow(self.order as u32) as i64;
            }
        }
        let mut digits = vec![0; self.order];
        for (source, value) in self.source.iter().zip(value) {
            if let (Some(source), Some(value)) = (source, value) {
                digits[*source] = value;
            }
        }
        place(digits, n) as i64
    }
}
