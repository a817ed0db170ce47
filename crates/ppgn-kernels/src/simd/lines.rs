//! The inner loop of a matrix product in assembly: a tile of 6 rows by two vectors, line by line.
//!
//! A line takes 20 instructions: two vector loads, six broadcasts and twelve fused multiply-adds, at best six cycles.
//! Compiled from Rust, the same loop has up to ten more, for addresses, or spills sums to memory when it unrolls. On a
//! dedicated core that costs little. Where two threads share a core, as on most rented machines, each gets half the
//! issue slots, and every instruction counts: measured there, this loop is 10 to 20 % faster. The sums pass through
//! memory on the way in and out, so short loops are left to the compiler. So are those with AVX-512, where twelve
//! multiply-adds take twelve cycles and leave issue slots to spare.

use super::MR;
use std::arch::asm;
use std::arch::x86_64::{__m256, __m256d};

/// Lines per iteration of the loop.
const TURN: usize = 4;

/// Row i of a tile at line q: a number times two vectors. `a` points to rows 0 to 2 and `a3` to rows 3 to 5, `r` apart;
/// `s` is the distance between lines.
#[rustfmt::skip]
macro_rules! one_row {
    ($v:literal $t:literal, $q:literal, $a:literal, $first:literal, $second:literal) => {
        concat!(
            "vbroadcasts", $t, " ", $v, "mm14, [", $a, " + ", $q, "*{s}]\n",
            "vfmadd231p", $t, " ", $v, "mm", $first, ", ", $v, "mm14, ", $v, "mm12\n",
            "vfmadd231p", $t, " ", $v, "mm", $second, ", ", $v, "mm14, ", $v, "mm13\n",
        )
    };
}

/// Line q of an iteration; a vector has `w` bytes.
#[rustfmt::skip]
macro_rules! one_line {
    ($v:literal $t:literal, $q:literal) => {
        concat!(
            "vmovups ", $v, "mm12, [{b} + ", $q, "*2*{w}]\n",
            "vmovups ", $v, "mm13, [{b} + ", $q, "*2*{w} + {w}]\n",
            one_row!($v $t, $q, "{a}", "0", "1"),
            one_row!($v $t, $q, "{a} + {r}", "2", "3"),
            one_row!($v $t, $q, "{a} + 2*{r}", "4", "5"),
            one_row!($v $t, $q, "{a3}", "6", "7"),
            one_row!($v $t, $q, "{a3} + {r}", "8", "9"),
            one_row!($v $t, $q, "{a3} + 2*{r}", "10", "11"),
        )
    };
}

/// Loads or stores all sums of a tile; `t` is its address.
#[rustfmt::skip]
macro_rules! sums {
    (@load $v:literal, $($n:literal)*) => { concat!($("vmovups ", $v, "mm", $n, ", [{t} + ", $n, "*{w}]\n",)*) };
    (@store $v:literal, $($n:literal)*) => { concat!($("vmovups [{t} + ", $n, "*{w}], ", $v, "mm", $n, "\n",)*) };
    ($what:tt $v:literal) => { sums!(@$what $v, "0" "1" "2" "3" "4" "5" "6" "7" "8" "9" "10" "11") };
}

/// The loop for one level and one number type: `$v` is the prefix of the vector registers, `$t` the suffix of the
/// instructions.
macro_rules! lines {
    ($name:ident, $features:literal, $real:ty, $vector:ty, $v:literal $t:literal) => {
        /// `tile[i][j] += sum over p of a[i * row + p * STEP] * b[p * NR + j]` over the leading lines that form whole
        /// iterations; returns the number of these lines.
        ///
        /// # Safety
        /// `tile` must have MR rows; `a` must be readable at `i * row + p * STEP` and `b` at `p * NR + j` for all
        /// `i < MR`, `j < NR`, `p < depth`.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $name<const STEP: usize>(
            tile: *mut [$vector; 2],
            depth: usize,
            a: *const $real,
            row: usize,
            b: *const $real,
        ) -> usize {
            const { assert!(MR == 6) };
            let turns = depth / TURN;
            if turns == 0 {
                return 0;
            }
            // SAFETY: each iteration reads TURN lines of the MR rows of `a` and of `b`, all within the bounds that the
            // caller guarantees, and only the tile is written. (After the last iteration the pointers may be past the
            // end, but are not read.)
            unsafe {
                asm!(
                    sums!(load $v),
                    "2:",
                    one_line!($v $t, "0"),
                    one_line!($v $t, "1"),
                    one_line!($v $t, "2"),
                    one_line!($v $t, "3"),
                    "add {b}, 8*{w}",
                    "add {a}, 4*{s}",
                    "add {a3}, 4*{s}",
                    "dec {n}",
                    "jnz 2b",
                    sums!(store $v),
                    t = in(reg) tile,
                    n = inout(reg) turns => _,
                    a = inout(reg) a => _,
                    a3 = inout(reg) a.wrapping_add(3 * row) => _,
                    b = inout(reg) b => _,
                    r = in(reg) row * size_of::<$real>(),
                    s = const STEP * size_of::<$real>(),
                    w = const size_of::<$vector>(),
                    out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _,
                    out("ymm5") _, out("ymm6") _, out("ymm7") _, out("ymm8") _, out("ymm9") _,
                    out("ymm10") _, out("ymm11") _, out("ymm12") _, out("ymm13") _, out("ymm14") _,
                    options(nostack),
                );
            }
            turns * TURN
        }
    };
}

lines!(avx2_f32, "avx2,fma", f32, __m256, "y" "s");
lines!(avx2_f64, "avx2,fma", f64, __m256d, "y" "d");
