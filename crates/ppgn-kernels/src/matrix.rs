//! Plain matrix products, for layers outside a block.

use crate::gemm::{Columns, End, Panels, Product, Start, View, outer, rows};
use crate::linear::chunk_rows;
use crate::real::Real;
use crate::shared::numbers;
use crate::workspace::Workspace;
use rayon::prelude::*;

/// `Y = X M`, or `Y += X M`.
///
/// # Shapes
/// - `x`: `[rows, depth]`, `m`: `[depth, columns]`, `y`: `[rows, columns]`
///
/// # Complexity
/// O(rows * depth * columns).
///
/// # Panics
/// If the lengths are inconsistent.
pub fn multiply<T: Real>(workspace: &Workspace, x: &[T], m: (&[T], usize, usize), y: &mut [T], add: bool) {
    T::multiply(workspace, x, m, y, add)
}

pub(crate) fn multiply_generic<T: Real>(
    workspace: &Workspace,
    x: &[T],
    (m, depth, columns): (&[T], usize, usize),
    y: &mut [T],
    add: bool,
) {
    assert_eq!(m.len(), numbers(depth, columns));
    by_chunks(workspace, x, View::part(m, depth, columns, 0, columns), y, add);
}

/// `Y = X M^T`, or `Y += X M^T`.
///
/// # Shapes
/// - `x`: `[rows, columns]`, `m`: `[depth, columns]`, `y`: `[rows, depth]`
///
/// # Complexity
/// O(rows * depth * columns).
///
/// # Panics
/// If the lengths are inconsistent.
pub fn multiply_transposed<T: Real>(
    workspace: &Workspace,
    x: &[T],
    m: (&[T], usize, usize),
    y: &mut [T],
    add: bool,
) {
    T::multiply_transposed(workspace, x, m, y, add)
}

pub(crate) fn multiply_transposed_generic<T: Real>(
    workspace: &Workspace,
    x: &[T],
    (m, depth, columns): (&[T], usize, usize),
    y: &mut [T],
    add: bool,
) {
    assert_eq!(m.len(), numbers(depth, columns));
    by_chunks(workspace, x, View::part(m, depth, columns, 0, columns).transposed(), y, add);
}

fn by_chunks<T: Real>(workspace: &Workspace, x: &[T], matrix: View<'_, T>, y: &mut [T], add: bool) {
    let (depth, columns) = (matrix.rows, matrix.columns);
    if depth == 0 || columns == 0 {
        return;
    }
    let count = x.len() / depth;
    assert_eq!((x.len(), y.len()), (count * depth, count * columns));
    let panels = Panels::new(workspace, matrix);
    let start = || if add { Start::Current } else { Start::Zero };
    let chunk = chunk_rows(count);
    x.par_chunks(chunk * depth)
        .zip(y.par_chunks_mut(chunk * columns))
        .with_max_len(1)
        .for_each(|(x, y)| rows(x, &panels, y, start(), End::Keep));
}

/// `C += X^T D`, summed over rows.
///
/// # Shapes
/// - `x`: `[rows, depth]`, `d`: `[rows, columns]`, `c`: `[depth, columns]`
///
/// # Complexity
/// O(rows * depth * columns).
///
/// # Panics
/// If the lengths are inconsistent.
pub fn add_outer<T: Real>(workspace: &Workspace, x: (&[T], usize), d: (&[T], usize), c: &mut [T]) {
    T::add_outer(workspace, x, d, c)
}

pub(crate) fn add_outer_generic<T: Real>(
    workspace: &Workspace,
    (x, depth): (&[T], usize),
    (d, columns): (&[T], usize),
    c: &mut [T],
) {
    assert_eq!(c.len(), numbers(depth, columns));
    let bs = vec![Columns { b: d, width: columns, from: 0 }];
    outer(workspace, vec![Product { a: x, bs, c, stride: columns, sums: None }]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_match_the_definition() {
        let workspace = Workspace::default();
        let number = |i: usize| ((i * 37 + 11) % 19) as f64 - 9.0;
        for (count, depth, columns) in [(1, 1, 1), (7, 3, 5), (130, 17, 33)] {
            let x: Vec<f64> = (0..count * depth).map(number).collect();
            let m: Vec<f64> = (0..depth * columns).map(|i| number(i + 3)).collect();
            let d: Vec<f64> = (0..count * columns).map(|i| number(i + 5)).collect();
            let sum = |length: usize, term: &dyn Fn(usize) -> f64| (0..length).map(term).sum::<f64>();
            let mut y = vec![1.0; count * columns];
            multiply(&workspace, &x, (&m, depth, columns), &mut y, true);
            for (at, y) in y.iter().enumerate() {
                let (r, c) = (at / columns, at % columns);
                assert_eq!(*y, 1.0 + sum(depth, &|k| x[r * depth + k] * m[k * columns + c]));
            }
            let mut y = vec![1.0; count * depth];
            multiply_transposed(&workspace, &d, (&m, depth, columns), &mut y, false);
            for (at, y) in y.iter().enumerate() {
                let (r, k) = (at / depth, at % depth);
                assert_eq!(*y, sum(columns, &|c| d[r * columns + c] * m[k * columns + c]));
            }
            let mut c = vec![1.0; depth * columns];
            add_outer(&workspace, (&x, depth), (&d, columns), &mut c);
            for (at, c) in c.iter().enumerate() {
                let (k, column) = (at / columns, at % columns);
                assert_eq!(*c, 1.0 + sum(count, &|r| x[r * depth + k] * d[r * columns + column]));
            }
        }
    }
}
