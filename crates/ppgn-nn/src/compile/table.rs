//! Tables as ReLU networks, exact on a finite set of codes: what the proofs leave to universal approximation.
//!
//! A row has an integer code, a fixed linear function of its channels, and finitely many codes `v_0 < v_1 < ...` occur.
//! Any table of natural numbers on them is an MLP of four layers with a ReLU after each:
//!
//! ```text
//! steps    a_i = max(0, code - v_i + 1), b_i = max(0, code - v_i)     a_i - b_i is 1 if code >= v_i, else 0
//! rank     r = sum of a_i - b_i                                       0, 1, ..., for v_0, v_1, ...
//! hinges   h_i = max(0, r - i)
//! table    f = f(0) + sum of d_i * h_i                                interpolates (0, f(0)), (1, f(1)), ...
//! ```
//!
//! Its values between codes are irrelevant, since no row has them. The rank comes first because codes are far apart:
//! slopes between codes would be fractions, while those between ranks are integers.

use super::exact::Largest;
use crate::error::{Error, Result};

/// The maximum number of weights per layer: 2^26, half a GiB.
const MAX_WEIGHTS: usize = 1 << 26;

/// One linear layer: `Y = X A^T + b`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layer {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// A, `[outputs, inputs]` row-major.
    pub(super) weight: Vec<f64>,
    /// b.
    pub(super) bias: Vec<f64>,
}

impl Layer {
    /// A layer of zeros; an error if it would be too large.
    pub(super) fn zeros(inputs: usize, outputs: usize) -> Result<Self> {
        check_size(inputs, outputs)?;
        Ok(Layer { inputs, outputs, weight: vec![0.0; inputs * outputs], bias: vec![0.0; outputs] })
    }

    /// Sets `A[output, input]`.
    pub(super) fn set(&mut self, output: usize, input: usize, weight: i64) {
        self.weight[output * self.inputs + input] = weight as f64;
    }
}

/// Rejects layers that are too large to be useful.
pub(super) fn check_size(inputs: usize, outputs: usize) -> Result<()> {
    match inputs.checked_mul(outputs) {
        Some(weights) if weights <= MAX_WEIGHTS => Ok(()),
        _ => Err(Error::unfit(format!(
            "a layer with {inputs} inputs and {outputs} outputs has more than {MAX_WEIGHTS} weights: compile fewer \
             graphs together, or use the multiset encoding `projections`"
        ))),
    }
}

/// The codes that occur at a block's input, and the channels they are computed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Codes {
    /// The weights of the channels: a row's code is the weighted sum of its channels.
    channels: Vec<i64>,
    /// The codes that occur, ascending.
    values: Vec<i64>,
}

impl Codes {
    /// From any list of codes, in any order and with duplicates; it must not be empty.
    pub(super) fn new(channels: Vec<i64>, mut values: Vec<i64>) -> Self {
        values.sort_unstable();
        values.dedup();
        Codes { channels, values }
    }

    /// The number of distinct codes.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Channels per row.
    pub(super) fn channels(&self) -> usize {
        self.channels.len()
    }

    /// The index of a code among those that occur.
    pub(super) fn rank(&self, code: i64) -> usize {
        self.values.partition_point(|&v| v < code)
    }

    /// The largest magnitude of a code.
    pub(super) fn magnitude(&self) -> i64 {
        self.values.iter().map(|v| v.abs()).max().unwrap_or(0)
    }

    /// The widths of the hidden layers of a table.
    pub(super) fn hidden(&self) -> Vec<usize> {
        let steps = self.len() - 1;
        vec![(2 * steps).max(1), 1, steps.max(1)]
    }

    /// The MLP that computes tables: `tables[c][r]`, at least 0, is the value of channel c for the code of rank r.
    ///
    /// # Shapes
    /// - input of the MLP: `[rows, self.channels()]`
    /// - its output: `[rows, tables.len()]`
    pub(super) fn tables(&self, tables: &[Vec<i64>], largest: &mut Largest) -> Result<Vec<Layer>> {
        let [steps, rank, hinges] = self.ranks(largest)?;
        let mut last = Layer::zeros(hinges.outputs, tables.len())?;
        for (c, table) in tables.iter().enumerate() {
            last.bias[c] = table[0] as f64;
            let mut bound = i128::from(table[0].abs());
            for i in 0..self.len() - 1 {
                let slope = |i: usize| table[i + 1] - table[i];
                let bend = if i == 0 { slope(0) } else { slope(i) - slope(i - 1) };
                bound += i128::from(bend.abs()) * (self.len() - 1 - i) as i128;
                last.set(c, i, bend);
            }
            largest.admit(bound, || format!("the sums of a table of {} colours", self.len()))?;
        }
        Ok(vec![steps, rank, hinges, last])
    }

    /// The layers up to the hinges.
    fn ranks(&self, largest: &mut Largest) -> Result<[Layer; 3]> {
        let hidden = self.hidden();
        let mut steps = Layer::zeros(self.channels(), hidden[0])?;
        let mut rank = Layer::zeros(hidden[0], 1)?;
        let mut hinges = Layer::zeros(1, hidden[2])?;
        let most = i128::from(*self.values.last().expect("a code occurs"));
        let mut bound = 0;
        for (i, &value) in self.values[1..].iter().enumerate() {
            for (unit, bias, sign) in [(2 * i, 1 - value, 1), (2 * i + 1, -value, -1)] {
                self.channels.iter().enumerate().for_each(|(c, &w)| steps.set(unit, c, w));
                steps.bias[unit] = bias as f64;
                rank.set(0, unit, sign);
                bound += most + i128::from(bias);
            }
            hinges.set(i, 0, 1);
            hinges.bias[i] = -(i as f64);
        }
        largest.admit(bound, || format!("the ranks of {} codes up to {most}", self.len()))?;
        let code = i128::from(self.magnitude());
        largest.admit(2 * code + 1, || format!("codes of up to {code}"))?;
        Ok([steps, rank, hinges])
    }

    /// An MLP with the same widths as a table's that copies one channel, of zeros and ones, to all its outputs.
    pub(super) fn pass(&self, channel: usize, outputs: usize) -> Result<Vec<Layer>> {
        let hidden = self.hidden();
        let widths = [&[self.channels()], hidden.as_slice(), &[outputs]].concat();
        let mut layers = Vec::new();
        for (l, pair) in widths.windows(2).enumerate() {
            let mut layer = Layer::zeros(pair[0], pair[1])?;
            let input = if l == 0 { channel } else { 0 };
            let last = l + 2 == widths.len();
            (0..if last { outputs } else { 1 }).for_each(|output| layer.set(output, input, 1));
            layers.push(layer);
        }
        Ok(layers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::random::Stream;

    fn apply(layers: &[Layer], row: &[f64]) -> Vec<f64> {
        layers.iter().fold(row.to_vec(), |x, layer| {
            let unit = |o: usize| {
                let weights = &layer.weight[o * layer.inputs..][..layer.inputs];
                let sum: f64 = weights.iter().zip(&x).map(|(w, x)| w * x).sum();
                (sum + layer.bias[o]).max(0.0)
            };
            (0..layer.outputs).map(unit).collect()
        })
    }

    #[test]
    fn a_table_is_exact_on_every_code() {
        let mut random = Stream::new(0, "codes", &[]);
        for count in [1usize, 2, 3, 10, 100] {
            let drawn = (0..count).map(|_| random.below(1 << 30) as i64 - (1 << 29)).collect();
            let codes = Codes::new(vec![3, 0, 1], drawn);
            let mut table = || (0..codes.len()).map(|_| random.below(1 << 12) as i64).collect::<Vec<_>>();
            let tables = [table(), table(), vec![1; codes.len()]];
            let mut largest = Largest::default();
            let layers = codes.tables(&tables, &mut largest).unwrap();
            assert!(largest.bound() >= i128::from(codes.magnitude()));
            for (rank, &code) in codes.values.iter().enumerate() {
                // The code is 3 * x + y; the channel in between is ignored.
                let row = [code.div_euclid(3) as f64, 77.0, code.rem_euclid(3) as f64];
                let expected: Vec<f64> = tables.iter().map(|t| t[rank] as f64).collect();
                assert_eq!(apply(&layers, &row), expected);
                assert_eq!(codes.rank(code), rank);
            }
            let pass = codes.pass(1, 2).unwrap();
            let widths = |layers: &[Layer]| layers.iter().map(|l| l.outputs).collect::<Vec<_>>();
            assert_eq!(widths(&pass)[..3], widths(&layers)[..3]);
            assert_eq!(apply(&pass, &[5.0, 1.0, 9.0]), [1.0, 1.0]);
            assert_eq!(apply(&pass, &[5.0, 0.0, 9.0]), [0.0, 0.0]);
        }
    }

    #[test]
    fn tables_that_are_too_large_are_errors() {
        let codes = Codes::new(vec![1], vec![0, 1 << 52, 1 << 53]);
        let error = codes.tables(&[vec![0, 1, 2]], &mut Largest::default()).unwrap_err();
        assert!(
            error.to_string().contains("the ranks of 3 codes up to 9007199254740992 may reach"),
            "{error}"
        );
        let codes = Codes::new(vec![1], vec![0, 1]);
        let error = codes.tables(&[vec![1 << 52, 0]], &mut Largest::default()).unwrap_err();
        assert!(error.to_string().contains("the sums of a table of 2 colours"), "{error}");
        assert!(Layer::zeros(1 << 14, 1 << 14).unwrap_err().to_string().contains("projections"));
    }
}
