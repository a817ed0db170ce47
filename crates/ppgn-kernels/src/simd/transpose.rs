//! Transposes of small blocks: between rows of channels and one matrix per channel.

use super::Simd;
use crate::real::Real;

/// Side length of a block.
pub(crate) const SIDE: usize = 8;

/// `to[c * stride + k] = from[k][c]` for all k and c below [`SIDE`].
///
/// # Safety
/// Every pointer of `from` must be readable for `SIDE` numbers, and `to` writable for `SIDE` numbers at each of
/// `c * stride`.
#[inline(always)]
pub(crate) unsafe fn transpose<T: Real, S: Simd<T>>(from: &[*const T; SIDE], to: *mut T, stride: usize) {
    #[cfg(target_arch = "x86_64")]
    if size_of::<T>() == 4 && S::LANES >= SIDE {
        // SAFETY: only f32 has four bytes, and vectors of eight and more mean AVX2 at least; the rest is guaranteed by
        // the caller.
        unsafe { eight_f32(&from.map(|line| line.cast()), to.cast(), stride) };
        return;
    }
    for (k, line) in from.iter().enumerate() {
        for c in 0..SIDE {
            // SAFETY: guaranteed by the caller.
            unsafe { *to.add(c * stride + k) = *line.add(c) };
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn eight_f32(from: &[*const f32; SIDE], to: *mut f32, stride: usize) {
    use std::arch::x86_64::*;
    // SAFETY: guaranteed by the caller.
    let r: [__m256; SIDE] = from.map(|line| unsafe { _mm256_loadu_ps(line) });
    // Pairs of lines, then fours, then the halves of vectors.
    let [a0, a1] = [_mm256_unpacklo_ps(r[0], r[1]), _mm256_unpackhi_ps(r[0], r[1])];
    let [a2, a3] = [_mm256_unpacklo_ps(r[2], r[3]), _mm256_unpackhi_ps(r[2], r[3])];
    let [a4, a5] = [_mm256_unpacklo_ps(r[4], r[5]), _mm256_unpackhi_ps(r[4], r[5])];
    let [a6, a7] = [_mm256_unpacklo_ps(r[6], r[7]), _mm256_unpackhi_ps(r[6], r[7])];
    let b0 = _mm256_shuffle_ps::<0x44>(a0, a2);
    let b1 = _mm256_shuffle_ps::<0xEE>(a0, a2);
    let b2 = _mm256_shuffle_ps::<0x44>(a1, a3);
    let b3 = _mm256_shuffle_ps::<0xEE>(a1, a3);
    let b4 = _mm256_shuffle_ps::<0x44>(a4, a6);
    let b5 = _mm256_shuffle_ps::<0xEE>(a4, a6);
    let b6 = _mm256_shuffle_ps::<0x44>(a5, a7);
    let b7 = _mm256_shuffle_ps::<0xEE>(a5, a7);
    let columns = [
        _mm256_permute2f128_ps::<0x20>(b0, b4),
        _mm256_permute2f128_ps::<0x20>(b1, b5),
        _mm256_permute2f128_ps::<0x20>(b2, b6),
        _mm256_permute2f128_ps::<0x20>(b3, b7),
        _mm256_permute2f128_ps::<0x31>(b0, b4),
        _mm256_permute2f128_ps::<0x31>(b1, b5),
        _mm256_permute2f128_ps::<0x31>(b2, b6),
        _mm256_permute2f128_ps::<0x31>(b3, b7),
    ];
    for (c, column) in columns.into_iter().enumerate() {
        // SAFETY: guaranteed by the caller.
        unsafe { _mm256_storeu_ps(to.add(c * stride), column) };
    }
}
