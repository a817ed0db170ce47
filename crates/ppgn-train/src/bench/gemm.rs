//! The yardstick: a matrix product and nothing else.

use ppgn_graph::random::Stream;
use ppgn_nn::Workspace;
use ppgn_nn::kernels::multiply;
use std::time::Instant;

/// The width of the paper's blocks.
const WIDTH: usize = 400;

/// So many rows are enough to see the machine's speed.
const MOST_ROWS: usize = 1 << 15;

/// Billions of floating-point operations a second of a product `[rows, 400] [400, 400]` in f32 and rayon's current pool:
/// the best of `repeats` of our own kernel. Beyond 32,768 rows so many are used. (`benches/peers/compare.py` has PyTorch's
/// `torch.mm` as a yardstick that is not ours.)
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
        multiply(&workspace, &a, (&b, WIDTH, WIDTH), &mut c, false);
        std::hint::black_box(&mut c);
        best = best.min(start.elapsed().as_secs_f64());
    }
    2.0 * (rows * WIDTH * WIDTH) as f64 / best / 1e9
}
