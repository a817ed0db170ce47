//! The channelwise product of a large graph: in every channel a plain matrix product.
//!
//! [`crate::product`] multiplies matrices whose entries are vectors of channels. That needs no transposes, but each
//! entry fills a cache line, and large matrices of that kind no longer fit the cache. Here one cache line of channels
//! is processed at a time. The right-hand side of the product is transposed into panels, one packed matrix of numbers
//! per channel. A task then takes some rows of pairs through all steps: it transposes them, multiplies them channel by
//! channel with the kernel of the matrix products ([`crate::gemm`]), and writes the result back as rows of channels. So
//! one graph keeps all threads busy, and needs little more memory than the panels. Every sum runs over j in order,
//! whatever the tasks.

use crate::gemm::{End, Panels, Start, rows};
use crate::planes::{copy, replace};
use crate::real::Real;
use crate::shared::Shared;
use crate::simd::{Kernel, MR, SIDE, Simd, dispatch, transpose};
use crate::workspace::{Buffer, Workspace};
use rayon::prelude::*;

/// The number of nodes from which a graph is large, by measurement (`docs/performance.md`).
const NODES: usize = 120;

/// Channels processed at once: whole cache lines.
pub(crate) const CHANNELS: usize = 16;

/// Rows of pairs per task. Every task reads the whole right-hand side, so tasks are few: four per part of the channels.
fn rows_per_task(n: usize) -> usize {
    n.div_ceil(4).next_multiple_of(MR).max(24)
}

/// Whether a graph's product is computed by this file.
pub(crate) fn is_large(nodes: usize) -> bool {
    nodes >= NODES
}

/// A graph's matrices for some channels: entry (i, j) is `pair(i, j)`, a slice with one number per channel.
#[derive(Clone, Copy)]
pub(crate) struct Source<P> {
    /// Number of nodes.
    pub(crate) n: usize,
    /// Number of channels, at most [`CHANNELS`].
    pub(crate) channels: usize,
    /// The numbers of a pair.
    pub(crate) pair: P,
}

/// How the result of a pair is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Write {
    /// `to = x`.
    Set,
    /// `to = x` where `to`, the output of a ReLU, is above 0, else 0.
    Masked,
}

impl<'a, T: Real, P: Fn(usize, usize) -> &'a [T] + Sync> Source<P> {
    /// The matrices packed as right-hand sides.
    pub(crate) fn pack(&self, workspace: &Workspace) -> Vec<Panels<T>> {
        let mut panels: Vec<Panels<T>> =
            (0..self.channels).map(|_| Panels::dirty(workspace, self.n, self.n)).collect();
        {
            let to: Vec<Shared<'_, T>> = panels.iter_mut().map(Panels::shared).collect();
            (0..self.n.div_ceil(SIDE)).into_par_iter().filter(|_| !workspace.is_stopped()).for_each(
                |block| {
                    let lines = block * SIDE..(block * SIDE + SIDE).min(self.n);
                    dispatch(Pack { source: self, lines, to: &to });
                },
            );
        }
        panels
    }

    /// The matrices times those that were packed, times `by`, written to `to` at `at(i, k)` for every pair.
    ///
    /// # Safety
    /// While this runs, nothing else may access these places, and no two pairs share one.
    pub(crate) unsafe fn multiply(
        &self,
        workspace: &Workspace,
        right: &[Panels<T>],
        to: &Shared<'_, T>,
        at: impl Fn(usize, usize) -> usize + Sync,
        by: T,
        write: Write,
    ) {
        let Source { n, channels, .. } = *self;
        let most = rows_per_task(n);
        let blocks: Vec<usize> = (0..n).step_by(most).collect();
        blocks.into_par_iter().with_max_len(1).filter(|_| !workspace.is_stopped()).for_each(|from| {
            let count = most.min(n - from);
            let size = count * n;
            // An odd number of cache lines apart, so that the channels of a pair do not map to a single cache set.
            let stride = size.next_multiple_of(2 * CHANNELS) + CHANNELS;
            let mut scratch = Buffer::<T>::dirty(workspace, 2 * channels * stride);
            let (left, out) = scratch.split_at_mut(channels * stride);
            dispatch(Gather { source: self, from, count, to: left, stride });
            for ((left, out), right) in left.chunks_exact(stride).zip(out.chunks_exact_mut(stride)).zip(right)
            {
                rows(&left[..size], right, &mut out[..size], Start::Zero, End::Keep);
            }
            dispatch(Scatter { n, from, count, channels, out, stride, to, at: &at, by, write });
        });
    }
}

/// Calls `each` with the blocks of a range: their start and length.
#[inline(always)]
fn blocks(length: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..length).step_by(SIDE).map(move |from| (from, SIDE.min(length - from)))
}

/// Transposes up to SIDE slices of channels: number c of slice k goes to `to[c * stride + k]`.
#[inline(always)]
fn spread<T: Real, S: Simd<T>>(
    from: [&[T]; SIDE],
    some: usize,
    channels: usize,
    to: &mut [T],
    stride: usize,
) {
    let mut done = 0;
    if some == SIDE {
        while done + SIDE <= channels {
            let from = from.map(|from| from[done..done + SIDE].as_ptr());
            let to = &mut to[done * stride..][..(SIDE - 1) * stride + SIDE];
            // SAFETY: every slice has SIDE numbers from `done` on, and `to` room for as many at each stride.
            unsafe { transpose::<T, S>(&from, to.as_mut_ptr(), stride) };
            done += SIDE;
        }
    }
    for c in done..channels {
        to[c * stride..][..some].iter_mut().zip(from).for_each(|(to, from)| *to = from[c]);
    }
}

/// Some lines of all panels.
struct Pack<'a, 's, T, P> {
    source: &'a Source<P>,
    lines: std::ops::Range<usize>,
    to: &'a [Shared<'s, T>],
}

impl<'p, T: Real, P: Fn(usize, usize) -> &'p [T]> Kernel<T> for Pack<'_, '_, T, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let Source { n, channels, ref pair } = *self.source;
        let mut block = [T::default(); CHANNELS * SIDE];
        for (k, some) in blocks(n.next_multiple_of(S::NR)) {
            for line in self.lines.clone() {
                let inside = some.min(n.saturating_sub(k));
                let from = std::array::from_fn(|x| if x < inside { pair(line, k + x) } else { &[] });
                if inside < SIDE {
                    block.fill(T::default());
                }
                spread::<T, S>(from, inside, channels, &mut block, SIDE);
                let place = k / S::NR * n * S::NR + line * S::NR + k % S::NR;
                for (numbers, to) in block.chunks_exact(SIDE).zip(self.to) {
                    // SAFETY: only this task writes this line.
                    let to = unsafe { to.part(place, SIDE) };
                    to.copy_from_slice(numbers);
                }
            }
        }
    }
}

/// Rows `from..from + count` of all matrices, `stride` numbers apart.
struct Gather<'a, T, P> {
    source: &'a Source<P>,
    from: usize,
    count: usize,
    to: &'a mut [T],
    stride: usize,
}

impl<'p, T: Real, P: Fn(usize, usize) -> &'p [T]> Kernel<T> for Gather<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let Source { n, channels, ref pair } = *self.source;
        for (j, some) in blocks(n) {
            for i in 0..self.count {
                let from = std::array::from_fn(|x| if x < some { pair(self.from + i, j + x) } else { &[] });
                spread::<T, S>(from, some, channels, &mut self.to[i * n + j..], self.stride);
            }
        }
    }
}

/// Writes rows `from..from + count` of all results.
struct Scatter<'a, 's, T, P> {
    n: usize,
    from: usize,
    count: usize,
    channels: usize,
    out: &'a [T],
    stride: usize,
    to: &'a Shared<'s, T>,
    at: &'a P,
    by: T,
    write: Write,
}

impl<T: Real, P: Fn(usize, usize) -> usize> Kernel<T> for Scatter<'_, '_, T, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let Scatter { n, from, count, channels, out, stride, to, at, by, write } = self;
        assert!(channels <= CHANNELS);
        for i in 0..count {
            for (k, some) in blocks(n) {
                let mut pairs = [T::default(); SIDE * CHANNELS];
                for (c, there) in blocks(channels) {
                    let line = |x: usize| &out[(c + x) * stride + i * n + k..][..some];
                    let lines = std::array::from_fn(|x| if x < there { line(x) } else { &[] });
                    spread::<T, S>(lines, there, some, &mut pairs[c..], CHANNELS);
                }
                pairs.iter_mut().for_each(|x| *x *= by);
                for (x, numbers) in pairs.chunks_exact(CHANNELS).take(some).enumerate() {
                    // SAFETY: no other task accesses this place, guaranteed by the caller.
                    let to = unsafe { to.part(at(from + i, k + x), channels) };
                    for (to, numbers) in to.chunks_mut(S::LANES).zip(numbers[..channels].chunks(S::LANES)) {
                        match write {
                            Write::Set => copy::<T, S>(to, numbers),
                            Write::Masked => replace::<T, S>(to, numbers),
                        }
                    }
                }
            }
        }
    }
}
