//! The loop of a matrix product, by hand: a tile of 6 rows by two vectors, line by line.
//!
//! A line is 20 instructions, two vectors, six numbers and twelve multiplications, which takes a core six cycles at best. What
//! a compiler makes of the same loop has up to ten more, for addresses, or keeps sums in memory when it unrolls. On a core
//! of one's own that costs little; where two threads share a core (and so on most rented machines) each has half of its
//! places for instructions, and then every one of them counts: measured there, this loop is 10 to 20 % faster.

use super::MR;
use std::arch::asm;
use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};

/// Lines that a turn of the loop takes.
const TURN: usize = 4;

/// Row i of a tile at line q: a number times two vectors. `a` holds rows 0 to 2 and `a3` rows 3 to 5, `r` apart; `s` is
/// the way from a line to the next.
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

/// Line q of a turn; a vector has `w` bytes.
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

/// All sums of a tile, from memory or back: `t` is where they are.
#[rustfmt::skip]
macro_rules! sums {
    (@load $v:literal, $($n:literal)*) => { concat!($("vmovups ", $v, "mm", $n, ", [{t} + ", $n, "*{w}]\n",)*) };
    (@store $v:literal, $($n:literal)*) => { concat!($("vmovups [{t} + ", $n, "*{w}], ", $v, "mm", $n, "\n",)*) };
    ($what:tt $v:literal) => { sums!(@$what $v, "0" "1" "2" "3" "4" "5" "6" "7" "8" "9" "10" "11") };
}

/// The loop of one level for one number type: `$v` begins a vector register's name, `$t` ends an instruction's.
macro_rules! lines {
    ($name:ident, $features:literal, $real:ty, $vector:ty, $v:literal $t:literal) => {
        /// `tile[i][j] += sum over p of a[i * row + p * STEP] * b[p * NR + j]` over the first lines of `depth`, as many as are
        /// whole turns: gives how many.
        ///
        /// # Safety
        /// `tile` must have MR rows; `a` must be readable at `i * row + p * STEP` and `b` at `p * NR + j` for all `i < MR`,
        /// `j < NR`, `p < depth`.
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
            // SAFETY: it reads MR rows of TURN lines a turn, and as many of `b`, all within what the caller vouches for; it
            // writes the tile alone. (After the last turn the pointers may be beyond the ends: nothing reads there.)
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
lines!(avx512_f32, "avx512f,avx2,fma", f32, __m512, "z" "s");
lines!(avx512_f64, "avx512f,avx2,fma", f64, __m512d, "z" "d");
