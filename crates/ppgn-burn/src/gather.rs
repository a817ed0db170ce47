//! Rows picked by their numbers, and rows added up by their numbers: each is the other's gradient.
//!
//! burn's own gradient of picking (`select`) runs over all rows one after another on a GPU, and adding by atomics (`scatter`)
//! gives other bits in every run. Here sums run over *segments*, lists of rows that are known when a batch is made: a
//! [`Tree`] adds a few rows of every list at a time, in a fixed order, until one is left. Each round is one gather and one sum
//! over all segments at once.

use crate::transfer::Link;
use burn::tensor::{DType, Int, Tensor};

/// How many rows a round may add at a time.
const WIDTHS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// A matrix of rows that were picked from another, some of them perhaps rows of zeros.
#[derive(Debug, Clone)]
pub(crate) struct Gather {
    picked: Picked,
    back: Tree,
}

impl Gather {
    /// Row i of the result is row `rows[i]` of the `below` rows; `below` itself stands for a row of zeros.
    ///
    /// # Complexity
    /// O(rows + below).
    pub(crate) fn new(link: &Link, rows: &[u32], below: usize) -> Self {
        let lists = Lists::inverse(rows, below);
        Gather { picked: Picked::new(link, rows, below), back: Tree::new(link, lists, rows.len()) }
    }

    /// # Shapes
    /// - `x`: `[below, channels]`
    /// - result: `[rows, channels]`
    pub(crate) fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.picked.of(x, 0.0)
    }

    /// The gradient of x from that of the result.
    ///
    /// # Shapes
    /// - `slope`: `[rows, channels]`
    /// - result: `[below, channels]`
    pub(crate) fn backward(&self, slope: Tensor<2>) -> Tensor<2> {
        self.back.sum(slope)
    }
}

/// Indices of rows, on the device.
#[derive(Debug, Clone)]
struct Picked {
    rows: Tensor<1, Int>,
    /// Whether some of them is the row behind the last.
    pads: bool,
}

impl Picked {
    fn new(link: &Link, rows: &[u32], below: usize) -> Self {
        Picked { rows: link.indices(rows), pads: rows.iter().any(|&row| row as usize == below) }
    }

    /// The rows of x, or a row of this number.
    fn of(&self, x: Tensor<2>, number: f64) -> Tensor<2> {
        let x = match self.pads {
            true => {
                let row = Tensor::full([1, x.dims()[1]], number, (&x.device(), x.dtype()));
                Tensor::cat(vec![x, row], 0)
            }
            false => x,
        };
        x.select(0, self.rows.clone())
    }
}

/// A list of rows per segment.
pub(crate) struct Lists {
    /// Where each list begins, and the end of the last.
    offsets: Vec<usize>,
    rows: Vec<u32>,
}

impl Lists {
    /// For each of `segments`, the places that have its number, in order; other numbers are left out.
    pub(crate) fn inverse(numbers: &[u32], segments: usize) -> Self {
        let mut offsets = vec![0; segments + 1];
        for &number in numbers.iter().filter(|&&number| (number as usize) < segments) {
            offsets[number as usize + 1] += 1;
        }
        (0..segments).for_each(|s| offsets[s + 1] += offsets[s]);
        let mut next = offsets.clone();
        let mut rows = vec![0; offsets[segments]];
        for (place, &number) in numbers.iter().enumerate() {
            if (number as usize) < segments {
                rows[next[number as usize]] = place as u32;
                next[number as usize] += 1;
            }
        }
        Lists { offsets, rows }
    }

    fn lengths(&self) -> impl Iterator<Item = usize> {
        self.offsets.windows(2).map(|pair| pair[1] - pair[0])
    }
}

/// The sum or maximum over the rows of every segment.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    rounds: Vec<Round>,
}

#[derive(Debug, Clone)]
struct Round {
    picked: Picked,
    width: usize,
}

impl Tree {
    /// The tree over these lists of `sources` rows.
    ///
    /// # Complexity
    /// O(rows + segments).
    pub(crate) fn new(link: &Link, mut lists: Lists, mut sources: usize) -> Self {
        let mut rounds = Vec::new();
        loop {
            let most = lists.lengths().max().unwrap_or(0);
            let same = most <= 1 && lists.rows.len() == sources && lists.offsets.len() == sources + 1;
            if same && lists.rows.iter().enumerate().all(|(place, &row)| place == row as usize) {
                return Tree { rounds };
            }
            // What is gathered, and what is left to be gathered again.
            let cost = |width: usize| lists.lengths().map(|n| n.div_ceil(width) * (width + 2)).sum::<usize>();
            let width = WIDTHS.into_iter().filter(|&width| most <= 1 || width > 1).min_by_key(|&w| cost(w));
            let width = width.unwrap_or(1).min(most.max(1));
            let last = most <= width;
            let (mut rows, mut offsets) = (Vec::new(), vec![0]);
            for pair in lists.offsets.windows(2) {
                let list = &lists.rows[pair[0]..pair[1]];
                let chunks = if last { 1 } else { list.len().div_ceil(width) };
                rows.extend_from_slice(list);
                rows.extend(std::iter::repeat_n(sources as u32, chunks * width - list.len()));
                offsets.push(offsets[offsets.len() - 1] + chunks);
            }
            rounds.push(Round { picked: Picked::new(link, &rows, sources), width });
            if last {
                return Tree { rounds };
            }
            sources = offsets[offsets.len() - 1];
            lists = Lists { offsets, rows: (0..sources as u32).collect() };
        }
    }

    /// # Shapes
    /// - `x`: `[sources, channels]`
    /// - result: `[segments, channels]`, 0 where a list is empty
    pub(crate) fn sum(&self, x: Tensor<2>) -> Tensor<2> {
        self.reduce(x, 0.0, |rows| rows.sum_dim(1))
    }

    /// The same for the maximum; the least number there is where a list is empty.
    pub(crate) fn max(&self, x: Tensor<2>) -> Tensor<2> {
        // Not minus infinity, which WGSL has no literal for.
        let least = if x.dtype() == DType::F64 { f64::MIN } else { f64::from(f32::MIN) };
        self.reduce(x, least, |rows| rows.max_dim(1))
    }

    fn reduce(&self, x: Tensor<2>, pad: f64, of: impl Fn(Tensor<3>) -> Tensor<3>) -> Tensor<2> {
        self.rounds.iter().fold(x, |x, Round { picked, width }| {
            let channels = x.dims()[1];
            let rows = picked.of(x, pad);
            let chunks = rows.dims()[0] / width;
            if *width == 1 {
                return rows;
            }
            of(rows.reshape([chunks, *width, channels])).reshape([chunks, channels])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;
    use ppgn_graph::random::Stream;
    use ppgn_nn::Precision;

    fn link() -> Link {
        Link::new(&Device::flex(), Precision::F64)
    }

    /// Both directions against loops, for lists of very different lengths.
    #[test]
    fn gathers_and_their_gradients_match_loops() {
        let mut random = Stream::new(1, "gather", &[]);
        for (below, rows) in [(1, 700), (5, 3), (40, 900), (300, 300), (7, 0)] {
            // Half of the rows are of one row below, and some are zeros.
            let pick =
                |random: &mut Stream| if random.below(2) == 0 { 0 } else { random.below(below + 1) as u32 };
            let numbers: Vec<u32> = (0..rows).map(|_| pick(&mut random)).collect();
            let gather = Gather::new(&link(), &numbers, below);
            let draw =
                |n: usize, random: &mut Stream| -> Vec<f64> { (0..n).map(|_| random.unit()).collect() };
            let (x, slope) = (draw(2 * below, &mut random), draw(2 * rows, &mut random));
            let tensor = |v: &[f64]| link().numbers("test", v, [v.len() / 2, 2]);
            let y: Vec<f64> = gather.forward(tensor(&x)).try_into_vec_as().unwrap();
            let mut expected = vec![0.0; 2 * below];
            for (place, &number) in numbers.iter().enumerate() {
                for c in 0..2 {
                    let at = 2 * number as usize + c;
                    assert_eq!(y[2 * place + c], x.get(at).copied().unwrap_or(0.0));
                    expected.get_mut(at).into_iter().for_each(|sum| *sum += slope[2 * place + c]);
                }
            }
            let found: Vec<f64> = gather.backward(tensor(&slope)).try_into_vec_as().unwrap();
            assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-10), "{below} {rows}");
        }
    }

    #[test]
    fn maxima_of_segments() {
        let numbers = [1, 0, 1, 1, 3];
        let tree = Tree::new(&link(), Lists::inverse(&numbers, 4), 5);
        let x = link().numbers("test", &[-3.0, 5.0, -1.0, -2.0, 0.5], [5, 1]);
        let maxima: Vec<f64> = tree.max(x.clone()).try_into_vec_as().unwrap();
        assert_eq!(maxima, [5.0, -1.0, f64::MIN, 0.5]);
        assert_eq!(tree.sum(x).try_into_vec_as::<f64>().unwrap(), [5.0, -6.0, 0.0, 0.5]);
    }

    #[test]
    fn nothing_is_done_where_nothing_is_picked() {
        assert!(Tree::new(&link(), Lists::inverse(&[0, 1, 2], 3), 3).rounds.is_empty());
        assert_eq!(Tree::new(&link(), Lists::inverse(&[2, 1, 0], 3), 3).rounds.len(), 1);
    }
}
