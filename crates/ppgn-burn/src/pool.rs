//! From rows to graphs: the maximum, sum or mean over a graph's diagonal pairs, and over the others; over every pattern of
//! longer tuples.
//!
//! Where several pairs attain a maximum, its gradient is split evenly over them: with the paper's zero biases rows of
//! zeros tie often, and no other rule is the same in every order of the nodes and in every space. What a graph has no pairs
//! for (off the diagonal of one node) is 0.
//!
//! All three are `P[s] = sum over the entries e of segment s of share[e] * X[row of e]`, up to rounding; a segment is a pattern
//! of a graph. So the gradient is one formula: `share[e] * slope[s]`, added up over the entries of a row.

use crate::gather::{Gather, Lists, Tree};
use crate::transfer::Link;
use burn::tensor::{Int, Tensor};
use ppgn_nn::kernels::{Patterns, patterns};
use ppgn_nn::{Dense, Pooling, Quotient};

/// What pooling needs on the device.
#[derive(Debug, Clone)]
pub(crate) struct Pools {
    graphs: usize,
    patterns: usize,
    /// The row of every entry; nothing where entries are the rows.
    rows: Option<Gather>,
    /// The segment of every entry.
    segment: Tensor<1, Int>,
    tree: Tree,
    /// How many tuples an entry stands for, `[entries, 1]`; nothing where all stand for one.
    counts: Option<Tensor<2>>,
    /// The reciprocals of the tuples of every segment, `[segments, 1]`, 0 where there are none.
    reciprocals: Tensor<2>,
    /// 1 where a segment has entries, `[segments, 1]`; nothing where all have.
    present: Option<Tensor<2>>,
}

/// What is pooled, entry by entry.
#[derive(Default)]
struct Entries {
    rows: Vec<u32>,
    segments: Vec<u32>,
    counts: Vec<f64>,
}

/// What the gradient needs: the share of every entry in its segment, `[entries, channels or 1]`; for maxima and means, of both.
#[derive(Debug, Clone)]
pub(crate) struct Shares(Vec<Tensor<2>>);

impl Pools {
    /// All tuples of the dense space.
    pub(crate) fn dense(link: &Link, space: &Dense) -> Self {
        let (mut walk, per) = (Patterns::new(space.order()), patterns(space.order()));
        let mut entries = Entries::default();
        for ((nodes, start), &graph) in space.starts().zip(space.given()) {
            walk.each(nodes, |place, pattern| {
                entries.rows.push((start + place) as u32);
                entries.segments.push((graph * per + pattern) as u32);
                entries.counts.push(1.0);
            });
        }
        Pools::new(link, entries, space.rows(), space.graphs(), per)
    }

    /// The colours of a level of the quotient.
    pub(crate) fn quotient(link: &Link, space: &Quotient, level: usize) -> Self {
        let per = patterns(space.order());
        let mut entries = Entries::default();
        for graph in 0..space.graphs() {
            for count in space.pool(level, graph) {
                entries.rows.push(count.row);
                entries.segments.push((graph * per) as u32 + count.pattern);
                entries.counts.push(f64::from(count.count));
            }
        }
        Pools::new(link, entries, space.rows(level), space.graphs(), per)
    }

    fn new(link: &Link, entries: Entries, below: usize, graphs: usize, patterns: usize) -> Self {
        let Entries { rows, segments, counts } = entries;
        let total = graphs * patterns;
        let mut tuples = vec![0.0; total];
        segments.iter().zip(&counts).for_each(|(&segment, count)| tuples[segment as usize] += count);
        let same = rows.len() == below && rows.iter().enumerate().all(|(place, &row)| place == row as usize);
        let reciprocals: Vec<f64> = tuples.iter().map(|&n| if n > 0.0 { 1.0 / n } else { 0.0 }).collect();
        let present: Vec<f64> = tuples.iter().map(|&n| if n > 0.0 { 1.0 } else { 0.0 }).collect();
        let column = |numbers: &[f64]| link.numbers("weights of pooling", numbers, [numbers.len(), 1]);
        Pools {
            graphs,
            patterns,
            rows: (!same).then(|| Gather::new(link, &rows, below)),
            segment: link.indices(&segments),
            tree: Tree::new(link, Lists::inverse(&segments, total), segments.len()),
            counts: counts.iter().any(|&count| count != 1.0).then(|| column(&counts)),
            reciprocals: column(&reciprocals),
            present: present.contains(&0.0).then(|| column(&present)),
        }
    }

    /// # Shapes
    /// - `x`: `[rows, channels]`
    /// - result: `[graphs, patterns * channels]`, graphs in the order in which they were given; for maxima and means, twice as
    ///   many
    pub(crate) fn forward(&self, x: Tensor<2>, pooling: Pooling, keep: bool) -> (Tensor<2>, Option<Shares>) {
        let channels = x.dims()[1];
        let x = match &self.rows {
            Some(rows) => rows.forward(x),
            None => x,
        }; // [entries, channels]
        let weighted = |x: Tensor<2>| match &self.counts {
            Some(counts) => x * counts.clone(),
            None => x,
        };
        let spread = |x: Tensor<2>| x.select(0, self.segment.clone()); // [entries, ...]
        let ones = || Tensor::ones([self.segment.dims()[0], 1], (&x.device(), x.dtype()));
        let maxima = || {
            let maxima = self.tree.max(x.clone()); // [segments, channels]
            let pooled = match &self.present {
                Some(present) => maxima.clone() * present.clone(),
                None => maxima.clone(),
            };
            let shares = keep.then(|| {
                let tied = x.clone().equal(spread(maxima)); // [entries, channels]
                let tied = weighted(x.zeros_like().mask_fill(tied, 1.0));
                tied.clone() / spread(self.tree.sum(tied))
            });
            (pooled, shares)
        };
        let sums = || (self.tree.sum(weighted(x.clone())), keep.then(|| weighted(ones())));
        let means = || {
            let pooled = self.tree.sum(weighted(x.clone())) * self.reciprocals.clone();
            (pooled, keep.then(|| weighted(spread(self.reciprocals.clone()))))
        };
        let parts = match pooling {
            Pooling::Max => vec![maxima()],
            Pooling::Sum => vec![sums()],
            Pooling::Mean => vec![means()],
            Pooling::MaxMean => vec![maxima(), means()],
        };
        let (pooled, shares): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let shape = [self.graphs, self.patterns * channels];
        let pooled = pooled.into_iter().map(|pooled| pooled.reshape(shape)).collect();
        (Tensor::cat(pooled, 1), shares.into_iter().collect::<Option<_>>().map(Shares))
    }

    /// The gradient of x from that of the result.
    pub(crate) fn backward(&self, shares: Shares, slope: Tensor<2>) -> Tensor<2> {
        let [graphs, width] = slope.dims();
        let width = width / shares.0.len();
        let of = |(kind, shares): (usize, Tensor<2>)| {
            let slope = slope.clone().slice([0..graphs, kind * width..(kind + 1) * width]);
            let slope = slope.reshape([graphs * self.patterns, width / self.patterns]);
            slope.select(0, self.segment.clone()) * shares // [entries, channels]
        };
        let slopes = shares.0.into_iter().enumerate().map(of);
        let Some(slope) = slopes.reduce(|sum, slope| sum + slope) else { return slope };
        match &self.rows {
            Some(rows) => rows.backward(slope),
            None => slope,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;
    use ppgn_nn::Precision;

    fn link() -> Link {
        Link::new(&Device::flex(), Precision::F64)
    }

    fn pooled(pools: &Pools, numbers: &[f64], pooling: Pooling) -> (Vec<f64>, Shares) {
        let x = link().numbers("test", numbers, [numbers.len(), 1]);
        let (pooled, shares) = pools.forward(x, pooling, true);
        (pooled.try_into_vec_as().unwrap(), shares.unwrap())
    }

    #[test]
    fn ties_share_the_gradient_evenly() {
        // Three nodes with ties on the diagonal (5) and off it (7), one node, and two nodes all tied.
        let pools = Pools::dense(&link(), &Dense::new(&[3, 1, 2]).unwrap());
        let numbers = [-4.0, -2.0, -2.0, -2.0, -2.0, 5.0, 7.0, 1.0, 7.0, 5.0, 0.0, 7.0, 2.0, 3.0];
        let (values, shares) = pooled(&pools, &numbers, Pooling::Max);
        assert_eq!(values, [5.0, 7.0, -4.0, 0.0, -2.0, -2.0]);
        let slope = link().numbers("test", &[1.0, 12.0, 100.0, 1e9, 1000.0, 5000.0], [3, 2]);
        let gradient: Vec<f64> = pools.backward(shares, slope).try_into_vec_as().unwrap();
        let expected = [100.0, 500.0, 2500.0, 2500.0, 500.0, 0.5, 4.0, 0.0, 4.0, 0.5, 0.0, 4.0, 0.0, 0.0];
        assert_eq!(gradient, expected);
    }

    #[test]
    fn ties_of_colours_share_it_by_their_counts() {
        // Two graphs: rows 0 (once), 1 (three times) and 2 (twice), of which the first two tie; and nothing.
        let (rows, segments, counts) = (vec![0, 1, 2], vec![0, 0, 0], vec![1.0, 3.0, 2.0]);
        let pools = Pools::new(&link(), Entries { rows, segments, counts }, 3, 2, 1);
        let numbers = [4.0, 4.0, -1.0];
        assert_eq!(pooled(&pools, &numbers, Pooling::Sum).0, [14.0, 0.0]);
        let means = pooled(&pools, &numbers, Pooling::Mean).0;
        assert!((means[0] - 14.0 / 6.0).abs() < 1e-15 && means[1] == 0.0);
        let (maxima, shares) = pooled(&pools, &numbers, Pooling::Max);
        assert_eq!(maxima, [4.0, 0.0]);
        let slope = link().numbers("test", &[1.0, 1.0], [2, 1]);
        let gradient: Vec<f64> = pools.backward(shares, slope).try_into_vec_as().unwrap();
        assert_eq!(gradient, [0.25, 0.75, 0.0]);
    }

    #[test]
    fn sums_and_means_are_over_each_part() {
        let pools = Pools::dense(&link(), &Dense::new(&[2, 0, 1]).unwrap());
        let numbers = [8.0, 1.0, 2.0, 3.0, 4.0];
        assert_eq!(pooled(&pools, &numbers, Pooling::Sum).0, [5.0, 5.0, 0.0, 0.0, 8.0, 0.0]);
        assert_eq!(pooled(&pools, &numbers, Pooling::Max).0, [4.0, 3.0, 0.0, 0.0, 8.0, 0.0]);
        let (means, shares) = pooled(&pools, &numbers, Pooling::Mean);
        assert_eq!(means, [2.5, 2.5, 0.0, 0.0, 8.0, 0.0]);
        let slope = link().numbers("test", &[2.0, 4.0, 1.0, 1.0, 3.0, 1.0], [3, 2]);
        let gradient: Vec<f64> = pools.backward(shares, slope.clone()).try_into_vec_as().unwrap();
        assert_eq!(gradient, [3.0, 1.0, 2.0, 2.0, 1.0]);
        let (both, shares) = pooled(&pools, &numbers, Pooling::MaxMean);
        assert_eq!(both, [4.0, 3.0, 2.5, 2.5, 0.0, 0.0, 0.0, 0.0, 8.0, 0.0, 8.0, 0.0]);
        let none = slope.zeros_like();
        let gradient = pools.backward(shares, Tensor::cat(vec![none, slope], 1));
        assert_eq!(gradient.try_into_vec_as::<f64>().unwrap(), [3.0, 1.0, 2.0, 2.0, 1.0]);
    }
}
