//! Multisets as vectors: the power-sum multi-symmetric polynomials of the paper's Section 4.
//!
//! A multiset of n colours in R^a is a matrix X with n rows whose order is irrelevant. `p_alpha(X)` is the sum over the
//! rows of the monomial `x^alpha`, and `u(X)` lists p_alpha for all exponents alpha with |alpha| <= n. By Proposition
//! 1, two matrices with n rows have the same u exactly if one is a row permutation of the other.
//!
//! Everything is generic over the number type: floats give what a network computes; with big integers or rationals
//! (`num-bigint`, `num-rational`) the proposition holds exactly, and is tested that way. Exponents start at 0: with the
//! paper's `[n]^a`, which starts at 1, the proposition would not hold.

use num_traits::{One, Zero};

/// All exponents alpha in N^a with |alpha| <= degree, ordered by degree and in descending order within a degree.
///
/// There are C(degree + a, a) of them; the caller must ensure that they fit in memory.
///
/// # Complexity
/// O(a * C(degree + a, a)).
///
/// ```
/// use ppgn_nn::multiset::exponents;
/// assert_eq!(exponents(2, 2), [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]);
/// assert_eq!(exponents(3, 5).len(), 56);                      // C(8, 3)
/// ```
pub fn exponents(a: usize, degree: u32) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    let degrees = if a == 0 { 0..=0 } else { 0..=degree };
    degrees.for_each(|d| extend(&mut all, &mut Vec::with_capacity(a), a, d));
    all
}

/// Adds all exponents that start with `begun` and have `a` further entries whose sum is `rest`.
fn extend(all: &mut Vec<Vec<u32>>, begun: &mut Vec<u32>, a: usize, rest: u32) {
    match a {
        0 => all.push(begun.clone()),
        1 => all.push([begun.as_slice(), &[rest]].concat()),
        _ => {
            for first in (0..=rest).rev() {
                begun.push(first);
                extend(all, begun, a - 1, rest - first);
                begun.pop();
            }
        }
    }
}

/// The monomial `x^alpha = x_1^alpha_1 * ... * x_a^alpha_a`; `x^0 = 1`, also for x = 0. O(|alpha|).
///
/// ```
/// use ppgn_nn::multiset::monomial;
/// assert_eq!(monomial(&[2i64, 0, 5], &[3, 0, 1]), 40);
/// ```
pub fn monomial<T: Clone + One>(x: &[T], alpha: &[u32]) -> T {
    let powers = x.iter().zip(alpha).flat_map(|(x, &power)| std::iter::repeat_n(x, power as usize));
    powers.fold(T::one(), |product, x| product * x.clone())
}

/// The power sum `p_alpha(X) = sum over the rows x of X of x^alpha`. O(n * |alpha|).
///
/// ```
/// use ppgn_nn::multiset::power_sum;
/// assert_eq!(power_sum(&[[1.0, 2.0], [3.0, 0.5]], &[1, 2]), 4.75);         // 1 * 4 + 3 * 0.25
/// ```
pub fn power_sum<T: Clone + Zero + One>(rows: &[impl AsRef<[T]>], alpha: &[u32]) -> T {
    rows.iter().fold(T::zero(), |sum, x| sum + monomial(x.as_ref(), alpha))
}

/// `u(X) = (p_alpha(X) : |alpha| <= n)` for the n rows of X, in the order of [`exponents`]: C(n + a, a) numbers.
///
/// `a` is the length of the rows, which cannot be derived from an empty multiset.
///
/// # Complexity
/// O(n^2 * C(n + a, a)) operations.
///
/// ```
/// use ppgn_nn::multiset::u;
/// let (x, y) = ([[0i64, 1], [1, 0]], [[0, 0], [1, 1]]);       // each column holds a 0 and a 1
/// assert_eq!(u(&x, 2), [2, 1, 1, 1, 0, 1]);
/// assert_eq!(u(&y, 2), [2, 1, 1, 1, 1, 1]);                   // only the mixed sum differs
/// assert_eq!(u(&[[1, 0], [0, 1]], 2), u(&x, 2));
/// ```
pub fn u<T: Clone + Zero + One>(rows: &[impl AsRef<[T]>], a: usize) -> Vec<T> {
    let degree = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    exponents(a, degree).iter().map(|alpha| power_sum(rows, alpha)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_number_of_exponents_matches_the_paper() {
        let binomial = |n: u64, k: u64| (1..=k).fold(1, |b, i| b * (n - k + i) / i);
        for a in 0..5 {
            for degree in 0..7 {
                let all = exponents(a, degree);
                assert_eq!(all.len() as u64, binomial(u64::from(degree) + a as u64, a as u64));
                assert!(all.iter().all(|alpha| alpha.len() == a && alpha.iter().sum::<u32>() <= degree));
                assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
            }
        }
    }

    #[test]
    fn exponents_starting_at_one_are_not_enough() {
        // The slip in the paper's [n]^a: if every exponent is at least 1, a row with a zero in it contributes nothing.
        let (x, y) = ([[0i64, 1], [0, 2]], [[0i64, 3], [0, 4]]);
        let from_one = |x: &[[i64; 2]]| -> Vec<i64> {
            exponents(2, 2).iter().filter(|a| !a.contains(&0)).map(|a| power_sum(x, a)).collect()
        };
        assert_eq!(from_one(&x), from_one(&y));
        assert_ne!(u(&x, 2), u(&y, 2));
    }
}
