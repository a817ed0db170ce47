//! The yardstick: a matrix product and nothing else.

use ppgn_graph::random::Stream;
use ppgn_nn::kernels::Layer;
use ppgn_nn::{Device, Tensor};
use std::time::Instant;

/// The width of the paper's blocks.
const WIDTH: usize = 400;

/// So many rows are enough to see the machine's speed.
const MOST_ROWS: usize = 1 << 15;

/// Billions of floating-point operations a second of a product `[rows, 400] [400, 400]` in f32 and rayon's current pool:
/// the best of `repeats` of the `gemm` crate's (through burn) and of our own kernel. Beyond 32,768 rows so many are used.
pub fn gemm_gflops(rows: usize, repeats: usize) -> f64 {
    let rows = rows.clamp(1, MOST_ROWS);
    let device = Device::default();
    let mut random = Stream::new(0, "gemm", &[]);
    let mut numbers = |rows: usize| -> Vec<f32> { (0..rows * WIDTH).map(|_| random.unit() as f32).collect() };
    let (a, b, bias) = (numbers(rows), numbers(WIDTH), vec![0.0; WIDTH]);
    let layer = Layer { weight: &b, bias: &bias, inputs: WIDTH, outputs: WIDTH };
    let mut c = vec![0.0; rows * WIDTH];
    let tensor = |x: &[f32]| Tensor::<1>::from_data(x, &device).reshape([x.len() / WIDTH, WIDTH]);
    let (x, y): (Tensor<2>, Tensor<2>) = (tensor(&a), tensor(&b));
    let mut best = f64::INFINITY;
    for _ in 0..repeats.max(1) + 1 {
        let start = Instant::now();
        std::hint::black_box(x.clone().matmul(y.clone()).into_data());
        best = best.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        layer.forward(&a, &mut c);
        std::hint::black_box(&mut c);
        best = best.min(start.elapsed().as_secs_f64());
    }
    2.0 * (rows * WIDTH * WIDTH) as f64 / best / 1e9
}
