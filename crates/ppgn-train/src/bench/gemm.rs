//! The yardstick: a matrix product and nothing else.

use ppgn_graph::random::Stream;
use ppgn_nn::{Device, Tensor};
use std::time::Instant;

/// The width of the paper's blocks.
const WIDTH: usize = 400;

/// So many rows are enough to see the machine's speed.
const MOST_ROWS: usize = 1 << 15;

/// Billions of floating-point operations a second of a product `[rows, 400] [400, 400]` in f32, by the matrix product of
/// the `gemm` crate (through burn) in rayon's current pool: the best of `repeats`. Beyond 32,768 rows so many are used.
pub fn gemm_gflops(rows: usize, repeats: usize) -> f64 {
    let rows = rows.clamp(1, MOST_ROWS);
    let device = Device::default();
    let mut random = Stream::new(0, "gemm", &[]);
    let mut matrix = |rows: usize| -> Tensor<2> {
        let numbers: Vec<f32> = (0..rows * WIDTH).map(|_| random.unit() as f32).collect();
        Tensor::<1>::from_data(numbers.as_slice(), &device).reshape([rows, WIDTH])
    };
    let (a, b) = (matrix(rows), matrix(WIDTH));
    let best = (0..repeats.max(1) + 1).map(|_| {
        let start = Instant::now();
        std::hint::black_box(a.clone().matmul(b.clone()).into_data());
        start.elapsed().as_secs_f64()
    });
    let best = best.fold(f64::INFINITY, f64::min);
    2.0 * (rows * WIDTH * WIDTH) as f64 / best / 1e9
}
