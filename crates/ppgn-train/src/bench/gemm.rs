//! The yardstick for speeds: a plain matrix product.

use ppgn_graph::random::Stream;
use ppgn_nn::Workspace;
use ppgn_nn::single::multiply;
use std::time::Instant;

/// The width of the paper's blocks.
const WIDTH: usize = 400;

/// The most rows that are measured: enough to see the machine's speed.
const MOST_ROWS: usize = 1 << 15;

/// Billions of floating-point operations per second of a product `[rows, 400] [400, 400]` in f32, in rayon's current pool:
/// the best of `repeats` runs of our own kernel, with at most 32,768 rows. (`benches/peers/compare.py` uses PyTorch's
/// `torch.mm`, a yardstick that is independent of our code.)
pub fn gemm_gflops(rows: usize, repeats: usize) -> f64 {
    let rows = rows.clamp(1, MOST_ROWS);
    let workspace = Workspace::default();
    let mut random = Stream::new(0, "gemm", &[]);
    let mut numbers = |rows: usize| -> Vec<f32> { (0..rows * WIDTH).map(|_| random.unit() as f32).collect() };
    let (a, b) = (numbers(rows), numbers(WIDTH));
    let mut c = vec![0.0; rows * WIDTH];
    let mut best = f64::INFINITY;
    for _ in 0..repeats.max(1) + 1 {
        let start = Instant::now();
        multiply(&workspace, &a, (&b, WIDTH, WIDTH), &mut c);
        std::hint::black_box(&mut c);
        best = best.min(start.elapsed().as_secs_f64());
    }
    2.0 * (rows * WIDTH * WIDTH) as f64 / best / 1e9
}
