//! From rows to graphs: the maximum or the sum over a graph's diagonal pairs, and over the others; over every pattern of
//! longer tuples.
//!
//! Where several pairs attain a maximum, its gradient is split evenly over them: with the paper's zero biases rows of
//! zeros tie often, and no other rule is the same in every order of the nodes and in every space. What a graph has no pairs
//! for (off the diagonal of one node) is 0.
//!
//! On the dense space graphs of one size are pooled together, with a mask per pattern; on the quotient all graphs are, by
//! one gather per pattern.

use crate::product::rows;
use crate::transfer::indices;
use burn::tensor::{Bool, DType, Device, Int, Tensor, TensorData};
use ppgn_nn::kernels::{Patterns, patterns};
use ppgn_nn::{Dense, Group, Pooling, Quotient};

/// The tuples that are not of a pattern, `[1, n^k, 1]`, and the number of those that are.
type Without = (Tensor<3, Bool>, f64);

/// What pooling on the dense space needs on the device.
#[derive(Debug, Clone)]
pub(crate) struct Masks {
    /// For every group and pattern, the tuples that are *not* of it; nothing where none is.
    groups: Vec<Vec<Option<Without>>>,
    /// Where each given graph lies, if not in the given order.
    places: Option<Tensor<1, Int>>,
}

impl Masks {
    pub(crate) fn new(space: &Dense, device: &Device) -> Self {
        let mut walk = Patterns::new(space.order());
        let group = |group: &Group| {
            let mut without = vec![vec![true; group.each]; patterns(space.order())];
            walk.each(group.nodes, |place, pattern| without[pattern][place] = false);
            let mask = |without: Vec<bool>| {
                let count = without.iter().filter(|&&without| !without).count() as f64;
                let data = TensorData::new(without, [1, group.each, 1]);
                (Tensor::from_data(data, device), count)
            };
            let present = |without: Vec<bool>| without.contains(&false).then(|| mask(without));
            without.into_iter().map(present).collect()
        };
        let groups = space.groups().iter().map(group).collect();
        let mut places = vec![0; space.graphs()];
        space.given().iter().enumerate().for_each(|(place, &graph)| places[graph] = place);
        let places = (!places.is_sorted()).then(|| indices(places, device));
        Masks { groups, places }
    }

    /// Pooling on the dense space.
    ///
    /// # Shapes
    /// - `x`: `[rows, channels]`
    /// - result: `[graphs, patterns * channels]`, graphs in the order in which they were given
    pub(crate) fn pool(&self, space: &Dense, x: Tensor<2>, pooling: Pooling) -> Tensor<2> {
        let group = |(group, masks): (&Group, &Vec<Option<Without>>)| {
            let (g, channels) = (group.graphs, x.dims()[1]);
            let tuples = || rows(space, group, &x).reshape([g, group.each, channels]);
            let part = |mask: &Option<Without>| match (mask, pooling) {
                (None, _) => Tensor::zeros([g, channels], (&x.device(), x.dtype())),
                (Some((mask, _)), Pooling::Max) => maximum(tuples(), Some(mask), None),
                (Some((mask, count)), Pooling::Sum | Pooling::Mean) => {
                    let mask = mask.clone().expand([g, group.each, channels]);
                    let sums = tuples().mask_fill(mask, 0.0).sum_dim(1).squeeze_dim(1); // [g, channels]
                    // By a tensor: the gradient of a division by a number rounds its reciprocal to f32.
                    let count = || Tensor::full([1, 1], *count, (&x.device(), x.dtype()));
                    if pooling == Pooling::Mean { sums / count() } else { sums }
                }
            };
            Tensor::cat(masks.iter().map(part).collect(), 1) // [g, patterns * channels]
        };
        let pooled = Tensor::cat(space.groups().iter().zip(&self.groups).map(group).collect(), 0);
        match &self.places {
            Some(places) => pooled.select(0, places.clone()),
            None => pooled,
        }
    }
}

/// What pooling a level of the quotient needs on the device, one per pattern.
#[derive(Debug, Clone)]
pub(crate) struct Segments(Vec<Segment>);

/// The rows of one pattern in every graph, as many as the graph with the most has.
#[derive(Debug, Clone)]
struct Segment {
    /// Rows, graph after graph; where a graph has fewer, its first again.
    rows: Tensor<1, Int>,
    /// How many tuples each stands for, `[graphs, most, 1]`; none where a row is there again.
    weights: Tensor<3>,
}

impl Segments {
    pub(crate) fn new(space: &Quotient, level: usize, dtype: DType, device: &Device) -> Self {
        // A row of zeros that pooling puts behind the last: for graphs that have nothing of a pattern.
        let zeros = (space.rows(level), 1.0);
        let segment = |pattern: usize| {
            let graph = |graph: usize| {
                let counts =
                    space.pool(level, graph).iter().filter(|count| count.pattern as usize == pattern);
                let rows: Vec<(usize, f64)> =
                    counts.map(|count| (count.row as usize, f64::from(count.count))).collect();
                if rows.is_empty() { vec![zeros] } else { rows }
            };
            let graphs: Vec<Vec<(usize, f64)>> = (0..space.graphs()).map(graph).collect();
            let most = graphs.iter().map(Vec::len).max().unwrap_or(0);
            let padded = graphs.iter().flat_map(|rows| {
                let again = std::iter::repeat_n((rows[0].0, 0.0), most - rows.len());
                rows.iter().copied().chain(again)
            });
            let (rows, weights): (Vec<usize>, Vec<f64>) = padded.unzip();
            let weights = TensorData::new(weights, [graphs.len(), most, 1]);
            Segment { rows: indices(rows, device), weights: Tensor::from_data(weights, (device, dtype)) }
        };
        Segments((0..patterns(space.order())).map(segment).collect())
    }

    /// Pooling on the quotient space.
    ///
    /// # Shapes
    /// - `x`: `[rows(level), channels]`
    /// - result: `[graphs, patterns * channels]`
    pub(crate) fn pool(&self, x: Tensor<2>, pooling: Pooling) -> Tensor<2> {
        let channels = x.dims()[1];
        let zeros = Tensor::zeros([1, channels], (&x.device(), x.dtype()));
        let x = Tensor::cat(vec![x, zeros], 0); // [rows(level) + 1, channels]
        let part = |Segment { rows, weights }: &Segment| {
            let [graphs, most, _] = weights.dims();
            let chosen = x.clone().select(0, rows.clone()).reshape([graphs, most, channels]);
            match pooling {
                Pooling::Max => maximum(chosen, None, Some(weights)),
                Pooling::Sum => (chosen * weights.clone()).sum_dim(1).squeeze_dim(1), // [graphs, channels]
                Pooling::Mean => {
                    let sums: Tensor<3> = (chosen * weights.clone()).sum_dim(1); // [graphs, 1, channels]
                    (sums / weights.clone().sum_dim(1)).squeeze_dim(1)
                }
            }
        };
        Tensor::cat(self.0.iter().map(part).collect(), 1)
    }
}

/// The maximum over the rows that are not left out, its gradient split over those that attain it, evenly or by weight.
///
/// # Shapes
/// - `x`: `[g, rows, channels]`
/// - `without`: `[1, rows, 1]`
/// - `weights`: `[g, rows, 1]`
/// - result: `[g, channels]`
fn maximum(x: Tensor<3>, without: Option<&Tensor<3, Bool>>, weights: Option<&Tensor<3>>) -> Tensor<2> {
    let plain = x.clone().without_autodiff();
    let plain = match without {
        Some(without) => plain.mask_fill(without.clone().expand(x.dims()), f64::NEG_INFINITY),
        None => plain,
    };
    let value = plain.clone().max_dim(1); // [g, 1, channels]
    if !x.is_autodiff() {
        return value.squeeze_dim(1);
    }
    let tied = plain.clone().equal(value.clone().expand(plain.dims())); // [g, rows, channels]
    let share = plain.zeros_like().mask_fill(tied, 1.0);
    let share = match weights {
        Some(weights) => share * weights.clone(),
        None => share,
    };
    let share = share.clone() / share.sum_dim(1); // [g, rows, channels]
    // Worth the maximum, up to rounding, and with the gradient wanted; taking off its own value leaves an exact 0.
    let mean = (x * share).sum_dim(1); // [g, 1, channels]
    let slope = mean.clone() - mean.detach();
    (slope + value).squeeze_dim(1) // [g, channels]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(device: &Device, numbers: &[f64]) -> Tensor<2> {
        let data = TensorData::new(numbers.to_vec(), [numbers.len(), 1]);
        Tensor::from_data(data, (device, DType::F64))
    }

    fn dense(space: &Dense, x: Tensor<2>, pooling: Pooling) -> Tensor<2> {
        Masks::new(space, &Device::flex()).pool(space, x, pooling)
    }

    #[test]
    fn ties_share_the_gradient_evenly() {
        // Three nodes with ties on the diagonal (5) and off it (7), one node, and two nodes all tied.
        let device = Device::flex().autodiff();
        let space = Dense::new(&[3, 1, 2]).unwrap();
        let numbers = [-4.0, -2.0, -2.0, -2.0, -2.0, 5.0, 7.0, 1.0, 7.0, 5.0, 0.0, 7.0, 2.0, 3.0];
        let x = tensor(&device, &numbers).require_grad();
        let pooled = dense(&space, x.clone(), Pooling::Max);
        let values: Vec<f64> = pooled.clone().try_into_vec_as().unwrap();
        assert_eq!(values, [5.0, 7.0, -4.0, 0.0, -2.0, -2.0]);
        let weights = tensor(&device, &[1.0, 12.0, 100.0, 1e9, 1000.0, 5000.0]).reshape([3, 2]);
        let gradients = (pooled * weights).sum_dim(0).sum_dim(1).backward();
        let gradient: Vec<f64> = x.grad(&gradients).unwrap().try_into_vec_as().unwrap();
        let expected = [100.0, 500.0, 2500.0, 2500.0, 500.0, 0.5, 4.0, 0.0, 4.0, 0.5, 0.0, 4.0, 0.0, 0.0];
        assert_eq!(gradient, expected);
    }

    #[test]
    fn ties_of_colours_share_it_by_their_counts() {
        // Two graphs: rows 0 (once), 1 (three times) and 2, of which the first two tie; and nothing.
        let device = Device::flex();
        let weights = Tensor::from_data(
            TensorData::new(vec![1.0, 3.0, 2.0, 1.0, 0.0, 0.0], [2, 3, 1]),
            (&device, DType::F64),
        );
        let segment = Segment { rows: indices([0, 1, 2, 3, 3, 3], &device), weights };
        let x = tensor(&device.clone().autodiff(), &[4.0, 4.0, -1.0]).require_grad();
        let pool = |pooling| Segments(vec![segment.clone()]).pool(x.clone(), pooling);
        let maxima = pool(Pooling::Max);
        assert_eq!(maxima.clone().try_into_vec_as::<f64>().unwrap(), [4.0, 0.0]);
        assert_eq!(pool(Pooling::Sum).try_into_vec_as::<f64>().unwrap(), [14.0, 0.0]);
        assert_eq!(pool(Pooling::Mean).try_into_vec_as::<f64>().unwrap(), [14.0 / 6.0, 0.0]);
        let gradients = maxima.sum_dim(0).backward();
        let gradient: Vec<f64> = x.grad(&gradients).unwrap().try_into_vec_as().unwrap();
        assert_eq!(gradient, [0.25, 0.75, 0.0]);
    }

    #[test]
    fn sums_are_over_each_part() {
        let space = Dense::new(&[2, 0, 1]).unwrap();
        let x = tensor(&Device::flex(), &[8.0, 1.0, 2.0, 3.0, 4.0]);
        let sums: Vec<f64> = dense(&space, x.clone(), Pooling::Sum).try_into_vec_as().unwrap();
        assert_eq!(sums, [5.0, 5.0, 0.0, 0.0, 8.0, 0.0]);
        let means: Vec<f64> = dense(&space, x.clone(), Pooling::Mean).try_into_vec_as().unwrap();
        assert_eq!(means, [2.5, 2.5, 0.0, 0.0, 8.0, 0.0]);
        let maxima: Vec<f64> = dense(&space, x, Pooling::Max).try_into_vec_as().unwrap();
        assert_eq!(maxima, [4.0, 3.0, 0.0, 0.0, 8.0, 0.0]);
    }
}
