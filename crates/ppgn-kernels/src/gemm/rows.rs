//! Rows times a matrix, fused with the bias before and the ReLU after.

use super::micro::{accumulate, accumulate_half, spill};
use super::pack::Panels;
use crate::real::Real;
use crate::shared::numbers;
use crate::simd::{Kernel, MAX_NR, MR, Simd, dispatch};

/// The initial value of a row of the result.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Start<'a, T> {
    /// Zero.
    Zero,
    /// This row, `[columns]`.
    Bias(&'a [T]),
    /// The current contents.
    Current,
    /// The row of a table `[_, columns]` selected by the index, `[rows]`.
    Table(&'a [T], &'a [u32]),
}

/// What is applied to each number of the result.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    /// Nothing.
    Keep,
    /// `max(0, x)`.
    Relu,
    /// 0 where the previous contents are not above 0: the derivative of the ReLU that produced them.
    Mask,
}

/// `C = end(start + A B)`.
///
/// # Shapes
/// - `a`: `[rows, depth]`, `b`: `[depth, columns]`
/// - `c`: `[rows, columns]`
///
/// # Complexity
/// O(rows * depth * columns), near peak throughput from about ten rows on.
pub(crate) fn rows<T: Real>(a: &[T], b: &Panels<T>, c: &mut [T], start: Start<'_, T>, end: End) {
    if b.columns == 0 {
        return;
    }
    let rows = c.len() / b.columns;
    assert_eq!((rows * b.columns, numbers(rows, b.depth)), (c.len(), a.len()));
    match start {
        Start::Bias(bias) => assert_eq!(bias.len(), b.columns),
        Start::Table(table, index) => {
            assert_eq!(index.len(), rows);
            assert!(index.iter().all(|&i| (i as usize + 1) * b.columns <= table.len()));
        }
        Start::Zero | Start::Current => {}
    }
    dispatch(Rows { a, b, c, start, end });
}

struct Rows<'a, T: Real> {
    a: &'a [T],
    b: &'a Panels<T>,
    c: &'a mut [T],
    start: Start<'a, T>,
    end: End,
}

impl<T: Real> Kernel<T> for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(mut self) {
        let rows = self.c.len() / self.b.columns;
        for from in (0..self.b.columns).step_by(S::NR) {
            let mut row = 0;
            while row + MR <= rows {
                self.tile::<S, MR>(row, from);
                row += MR;
            }
            // Fewer than MR rows are left.
            while row + 2 <= rows {
                self.tile::<S, 2>(row, from);
                row += 2;
            }
            if row < rows {
                self.tile::<S, 1>(row, from);
            }
        }
    }
}

impl<T: Real> Rows<'_, T> {
    /// The tile of M rows starting at `row`, in the panel that starts at column `from`.
    #[inline(always)]
    fn tile<S: Simd<T>, const M: usize>(&mut self, row: usize, from: usize) {
        let Panels { numbers, depth, columns } = self.b;
        let (depth, columns) = (*depth, *columns);
        let (a, b) = (&self.a[row * depth..(row + M) * depth], &numbers[from * depth..][..depth * S::NR]);
        let whole = from + S::NR <= columns;
        let mut tile = [[S::splat(T::default()); 2]; M];
        if whole {
            for (i, sums) in tile.iter_mut().enumerate() {
                if let Some(start) = self.start_of(row + i, from, S::NR) {
                    *sums = read::<T, S>(start);
                }
            }
        }
        // SAFETY: `a` holds M rows of `depth` numbers, `b` a panel of `depth` lines.
        unsafe {
            match columns - from > S::LANES {
                true => accumulate::<T, S, M>(&mut tile, depth, a.as_ptr(), depth, 1, b.as_ptr()),
                false => accumulate_half::<T, S, M>(&mut tile, depth, a.as_ptr(), depth, 1, b.as_ptr()),
            }
        }
        if !whole {
            return self.edge(&mut spill::<T, S, M>(&tile), row, from);
        }
        for (i, sums) in tile.into_iter().enumerate() {
            let at = (row + i) * columns + from;
            let sums = match self.end {
                End::Keep => sums,
                End::Relu => sums.map(S::relu),
                End::Mask => {
                    let mask = read::<T, S>(&self.c[at..at + S::NR]);
                    [S::mask(sums[0], mask[0]), S::mask(sums[1], mask[1])]
                }
            };
            write::<T, S>(&mut self.c[at..at + S::NR], sums);
        }
    }

    /// The initial values of `width` numbers of a row.
    #[inline(always)]
    fn start_of(&self, row: usize, from: usize, width: usize) -> Option<&[T]> {
        let columns = self.b.columns;
        match self.start {
            Start::Zero => None,
            Start::Bias(bias) => Some(&bias[from..from + width]),
            Start::Current => Some(&self.c[row * columns + from..][..width]),
            Start::Table(table, index) => Some(&table[index[row] as usize * columns + from..][..width]),
        }
    }

    /// The last columns, which do not fill two vectors.
    #[inline(always)]
    fn edge<const M: usize>(&mut self, tile: &mut [[T; MAX_NR]; M], row: usize, from: usize) {
        let (columns, zero) = (self.b.columns, T::default());
        let width = columns - from;
        for (i, line) in tile.iter_mut().enumerate() {
            let at = (row + i) * columns + from;
            let line = &mut line[..width];
            if let Some(start) = self.start_of(row + i, from, width) {
                line.iter_mut().zip(start).for_each(|(x, &s)| *x += s);
            }
            match self.end {
                End::Keep => {}
                End::Relu => line.iter_mut().for_each(|x| *x = if *x < zero { zero } else { *x }),
                End::Mask => {
                    let mask = &self.c[at..at + width];
                    line.iter_mut().zip(mask).for_each(|(x, &m)| *x = if m > zero { *x } else { zero });
                }
            }
            self.c[at..at + width].copy_from_slice(line);
        }
    }
}

#[inline(always)]
fn read<T: Real, S: Simd<T>>(from: &[T]) -> [S::V; 2] {
    assert!(from.len() >= S::NR);
    // SAFETY: there are NR numbers, two vectors.
    unsafe { [S::load(from.as_ptr()), S::load(from.as_ptr().add(S::LANES))] }
}

#[inline(always)]
fn write<T: Real, S: Simd<T>>(to: &mut [T], [first, second]: [S::V; 2]) {
    assert!(to.len() >= S::NR);
    // SAFETY: there is room for NR numbers, two vectors.
    unsafe {
        S::store(to.as_mut_ptr(), first);
        S::store(to.as_mut_ptr().add(S::LANES), second);
    }
}
