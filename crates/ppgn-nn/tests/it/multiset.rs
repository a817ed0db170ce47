//! Proposition 1 in exact arithmetic: u(X) = u(X') exactly if X' is a row permutation of X.

use num_bigint::BigInt;
use num_rational::BigRational;
use ppgn_graph::random::Stream;
use ppgn_nn::multiset::u;
use proptest::prelude::*;

/// n rows of `a` small integers: few values, so that rows and columns often agree.
fn matrix(n: usize, a: usize, values: usize, random: &mut Stream) -> Vec<Vec<i64>> {
    (0..n).map(|_| (0..a).map(|_| random.below(values) as i64 - values as i64 / 2).collect()).collect()
}

/// Matrices close to X: a row permutation, one entry changed, two entries of a column swapped (so that every column is
/// the same multiset as before), and an unrelated matrix.
fn near(x: &[Vec<i64>], values: usize, random: &mut Stream) -> Vec<Vec<Vec<i64>>> {
    let (n, a) = (x.len(), x[0].len());
    let mut shuffled = x.to_vec();
    random.shuffle(&mut shuffled);
    let mut changed = shuffled.clone();
    changed[random.below(n)][random.below(a)] += 1 - 2 * random.below(2) as i64;
    let mut exchanged = shuffled.clone();
    let (i, j, column) = (random.below(n), random.below(n), random.below(a));
    (exchanged[i][column], exchanged[j][column]) = (exchanged[j][column], exchanged[i][column]);
    vec![shuffled, changed, exchanged, matrix(n, a, values, random)]
}

fn sorted(x: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let mut x = x.to_vec();
    x.sort();
    x
}

fn integers(x: &[Vec<i64>]) -> Vec<Vec<BigInt>> {
    x.iter().map(|row| row.iter().map(|&v| BigInt::from(v)).collect()).collect()
}

/// Every entry v becomes v / (3 + its column): rows of proper fractions.
fn rationals(x: &[Vec<i64>]) -> Vec<Vec<BigRational>> {
    let fraction = |(c, &v): (usize, &i64)| BigRational::new(v.into(), (3 + c as i64).into());
    x.iter().map(|row| row.iter().enumerate().map(fraction).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn u_identifies_a_multiset(n in 1..=5usize, a in 1..=3usize, values in 2..8usize, seed: u64) {
        let mut random = Stream::new(seed, "multisets", &[]);
        let x = matrix(n, a, values, &mut random);
        for y in near(&x, values, &mut random) {
            let same = sorted(&x) == sorted(&y);
            prop_assert_eq!(u(&integers(&x), a) == u(&integers(&y), a), same, "{:?} {:?}", x, y);
            prop_assert_eq!(u(&rationals(&x), a) == u(&rationals(&y), a), same, "{:?} {:?}", x, y);
        }
    }

    #[test]
    fn floats_approximate_the_exact_sums(n in 1..=5usize, a in 1..=3usize, seed: u64) {
        let x = matrix(n, a, 8, &mut Stream::new(seed, "multisets", &[]));
        let floats: Vec<Vec<f64>> = x.iter().map(|row| row.iter().map(|&v| v as f64).collect()).collect();
        let exact: Vec<String> = u(&integers(&x), a).iter().map(BigInt::to_string).collect();
        // Small integers: floats are exact too.
        let float: Vec<String> = u(&floats, a).iter().map(|v| format!("{}", *v as i64)).collect();
        prop_assert_eq!(exact, float);
    }
}

#[test]
fn all_pairs_of_small_multisets() {
    // Every 3 x 2 matrix with entries 0 and 1: the classes by u are the classes by sorted rows.
    let all: Vec<Vec<Vec<i64>>> = (0..64u32)
        .map(|bits| (0..3).map(|i| (0..2).map(|c| i64::from(bits >> (2 * i + c) & 1)).collect()).collect())
        .collect();
    for x in &all {
        for y in &all {
            assert_eq!(u(&integers(x), 2) == u(&integers(y), 2), sorted(x) == sorted(y), "{x:?} {y:?}");
        }
    }
}
