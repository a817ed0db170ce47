//! Products of matrices whose entries are vectors, with both sides packed into strips.
//!
//! A vector holds some channels of one pair, and the product of a graph's pairs is a matrix product of such entries. The
//! left-hand side is packed into strips of a few rows, the right-hand side into strips of a few columns, entries in the
//! order in which a tile of the result reads them: the inner loop has two pointers, and every load is next to the one
//! before. (Read in place, the entries of a column are a power of two apart for many sizes of graphs and networks, and so
//! compete for the same lines of the cache.) The result goes from the registers to where it belongs.

use crate::planes::Part;
use crate::real::Real;
use crate::simd::Simd;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Vectors in a cache line, which are packed together: each is a plane, a matrix of its own.
#[inline(always)]
pub(crate) const fn planes<T, S: Simd<T>>() -> usize {
    let vectors = LINE / size_of::<T>() / S::LANES;
    if vectors == 0 { 1 } else { vectors }
}

/// Numbers in a plane of n by n vectors.
#[inline(always)]
pub(crate) fn plane<T, S: Simd<T>>(n: usize) -> usize {
    n * n * S::LANES
}

/// The side of a product that is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Strips of rows.
    Left,
    /// Strips of columns.
    Right,
}

impl Side {
    /// The rows or columns of the next strip, if this many are left.
    #[inline(always)]
    fn strip<T, S: Simd<T>>(self, left: usize) -> usize {
        match (self, S::TALL, left) {
            (Side::Left, true, 6..) => 6,
            (Side::Right, true, 4..) => 4,
            (Side::Left, true, 3..) | (_, false, 3..) => 3,
            (Side::Right, true, 2..) => 2,
            _ => 1,
        }
    }
}

/// Packs the channels of a part, at most [`planes`] vectors: `pair(across, along)` is where those of an entry begin, by its
/// place across the strips and along them. A vector that the part does not fill is padded with 0.
///
/// # Safety
/// `pair` must be readable for `part.width` numbers for all places below n.
#[inline(always)]
pub(crate) unsafe fn pack<T: Real, S: Simd<T>>(
    side: Side,
    n: usize,
    part: Part,
    pair: impl Fn(usize, usize) -> *const T,
    to: &mut [T],
) {
    let (vectors, size) = (part.width.div_ceil(S::LANES), plane::<T, S>(n));
    assert!(to.len() >= vectors * size);
    let mut first = 0;
    while first < n {
        let count = side.strip::<T, S>(n - first);
        for along in 0..n {
            for x in 0..count {
                let from = pair(first + x, along);
                let at = (first * n + along * count + x) * S::LANES;
                for p in 0..vectors {
                    let some = S::LANES.min(part.width - p * S::LANES);
                    // SAFETY: the numbers are readable, guaranteed by the caller; there is room for every plane.
                    unsafe {
                        let numbers = read::<T, S>(from.add(p * S::LANES), some);
                        S::store(to.as_mut_ptr().add(p * size + at), numbers);
                    }
                }
            }
        }
        first += count;
    }
}

/// The first numbers of a vector, then zeros.
///
/// # Safety
/// They must be readable.
#[inline(always)]
pub(crate) unsafe fn read<T: Real, S: Simd<T>>(from: *const T, some: usize) -> S::V {
    if some == S::LANES {
        // SAFETY: guaranteed by the caller.
        return unsafe { S::load(from) };
    }
    let mut numbers = [T::default(); LINE];
    // SAFETY: as above; an array has room for every vector.
    unsafe {
        std::ptr::copy_nonoverlapping(from, numbers.as_mut_ptr(), some);
        S::load(numbers.as_ptr())
    }
}

/// Stores the first numbers of a vector.
///
/// # Safety
/// Their places must be writable.
#[inline(always)]
pub(crate) unsafe fn write<T: Real, S: Simd<T>>(to: *mut T, v: S::V, some: usize) {
    if some == S::LANES {
        // SAFETY: guaranteed by the caller.
        return unsafe { S::store(to, v) };
    }
    let mut numbers = [T::default(); LINE];
    // SAFETY: as above; an array has room for every vector.
    unsafe {
        S::store(numbers.as_mut_ptr(), v);
        std::ptr::copy_nonoverlapping(numbers.as_ptr(), to, some);
    }
}

/// Where the entries of a result go. (Not a closure: one with several call sites is not inlined, and only inlined code is
/// compiled for the level.)
pub(crate) trait Put<T, S: Simd<T>> {
    /// Takes entry (i, k) of the product.
    fn put(&mut self, i: usize, k: usize, v: S::V);
}

/// The product of two packed planes, n by n entries each; every sum runs over the entries in order.
///
/// # Complexity
/// O(n^3) multiplications of vectors.
#[inline(always)]
pub(crate) fn multiply<T: Real, S: Simd<T>>(n: usize, a: &[T], b: &[T], to: &mut impl Put<T, S>) {
    let size = plane::<T, S>(n);
    let (a, b) = (&a[..size], &b[..size]);
    let mut k = 0;
    // A strip of the right-hand side stays in the first-level cache, while those of the left-hand side pass by.
    while k < n {
        let right = &b[k * n * S::LANES..];
        k += match Side::Right.strip::<T, S>(n - k) {
            4 => columns::<T, S, 4>(n, a, right, k, to),
            3 => columns::<T, S, 3>(n, a, right, k, to),
            2 => columns::<T, S, 2>(n, a, right, k, to),
            _ => columns::<T, S, 1>(n, a, right, k, to),
        };
    }
}

/// B columns of the product from k on; returns B.
#[inline(always)]
fn columns<T: Real, S: Simd<T>, const B: usize>(
    n: usize,
    a: &[T],
    b: &[T],
    k: usize,
    to: &mut impl Put<T, S>,
) -> usize {
    let mut i = 0;
    while i < n {
        let left = &a[i * n * S::LANES..];
        i += match Side::Left.strip::<T, S>(n - i) {
            6 => tile::<T, S, 6, B>(n, left, b, i, k, to),
            3 => tile::<T, S, 3, B>(n, left, b, i, k, to),
            _ => tile::<T, S, 1, B>(n, left, b, i, k, to),
        };
    }
    B
}

/// Entries (i.., k..) of the product; returns A.
#[inline(always)]
fn tile<T: Real, S: Simd<T>, const A: usize, const B: usize>(
    n: usize,
    a: &[T],
    b: &[T],
    i: usize,
    k: usize,
    to: &mut impl Put<T, S>,
) -> usize {
    assert!(A * n * S::LANES <= a.len() && B * n * S::LANES <= b.len());
    let mut sums = [[S::splat(T::default()); B]; A];
    let (mut left, mut right) = (a.as_ptr(), b.as_ptr());
    for _ in 0..n {
        // SAFETY: both strips have n times as many vectors as are read here.
        unsafe {
            let mut line = [S::splat(T::default()); B];
            for (y, v) in line.iter_mut().enumerate() {
                *v = S::load(right.add(y * S::LANES));
            }
            for (x, sums) in sums.iter_mut().enumerate() {
                let v = S::load(left.add(x * S::LANES));
                for (sum, &w) in sums.iter_mut().zip(&line) {
                    *sum = S::multiply_add(v, w, *sum);
                }
            }
            (left, right) = (left.add(A * S::LANES), right.add(B * S::LANES));
        }
    }
    for (x, sums) in sums.into_iter().enumerate() {
        for (y, sum) in sums.into_iter().enumerate() {
            to.put(i + x, k + y, sum);
        }
    }
    A
}
