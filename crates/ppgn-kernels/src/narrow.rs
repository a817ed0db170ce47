//! The backward pass of narrow layers, chunk by chunk: gradients of weights and of rows while both are in the cache.
//!
//! Wide layers compute the gradient of a matrix for all rows at once ([`crate::gemm::outer`]). For narrow ones that
//! would read every row several times for little arithmetic. Here rows are divided into parts, whose number depends only
//! on that of the rows, and each part has gradients of its own. A task takes one part, chunk by chunk, through all
//! layers; then the gradients of the parts are added in order. So no sum depends on the number of threads.

use crate::gemm::ROWS;
use crate::linear::add_to;
use crate::real::Real;
use crate::simd::prefetch;
use crate::workspace::{Buffer, Workspace};
use rayon::prelude::*;

/// The largest gradient, in bytes, that is computed in this way: it has to stay in the L2 cache beside the rows.
const BYTES: usize = 256 << 10;

/// Rows per chunk: as many layers of them as possible in the L1 cache, the rest in L2.
pub(crate) const CHUNK: usize = 60;

/// Rows per part at least, and the most parts.
const PART: usize = 4 * CHUNK;
const PARTS: usize = 32;

/// Whether layers with this many parameters are narrow.
pub(crate) fn is_narrow<T>(parameters: usize) -> bool {
    const { assert!(CHUNK <= ROWS) };
    parameters * size_of::<T>() <= BYTES
}

/// Rows per part, a multiple of [`CHUNK`].
pub(crate) fn part_rows(rows: usize) -> usize {
    rows.div_ceil(PARTS).next_multiple_of(CHUNK).max(PART)
}

/// Asks for the rows of the chunk that starts at this one, `width` numbers each, while the chunk before it is computed:
/// narrow rows take less time to compute than to fetch.
pub(crate) fn prefetch_rows<T>(rows: &[T], width: usize, start: usize) {
    let end = ((start + CHUNK) * width).min(rows.len());
    prefetch(rows.get(start * width..end).unwrap_or_default());
}

/// Runs a task per part, each with `length` numbers of its own that start at zero, and returns those in order.
pub(crate) fn by_parts<T: Real, P: Send>(
    workspace: &Workspace,
    parts: Vec<P>,
    length: usize,
    task: impl Fn(P, &mut [T]) + Sync,
) -> Vec<Buffer<T>> {
    let mut sums: Vec<Buffer<T>> = parts.iter().map(|_| Buffer::dirty(workspace, length)).collect();
    sums.par_iter_mut().zip(parts).with_max_len(1).filter(|_| !workspace.is_stopped()).for_each(
        |(sums, part)| {
            sums.fill(T::default());
            task(part, sums);
        },
    );
    sums
}

/// Adds the numbers from `from` on of every part to `to`, in order.
pub(crate) fn add_parts<T: Real>(parts: &[Buffer<T>], from: usize, to: &mut [T]) {
    const TOGETHER: usize = 1 << 12;
    to.par_chunks_mut(TOGETHER).enumerate().for_each(|(n, to)| {
        let length = to.len();
        parts.iter().for_each(|part| add_to(to, &part[from + n * TOGETHER..][..length]));
    });
}
