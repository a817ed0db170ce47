//! The optimiser's step against its formula, on arrays longer than one chunk.

use super::naive::Random;
use crate::{AdamStep, adam, finite, multiply_by, sum_of_squares};

#[test]
fn a_step_matches_the_formula() {
    let count = 40_001;
    let mut random = Random::new(2);
    let [p, g, m] = [(); 3].map(|()| random.numbers(count));
    let v: Vec<f64> = random.numbers(count).iter().map(|x| x.abs()).collect();
    let step = AdamStep { beta1: 0.9, beta2: 0.999, rate: 0.1, root: 0.3, epsilon: 1e-8, keep: 0.99 };
    let (mut p1, mut m1, mut v1) = (p.clone(), m.clone(), v.clone());
    adam(step, &mut p1, &g, &mut m1, &mut v1);
    for i in 0..count {
        let first = 0.9 * m[i] + 0.1 * g[i];
        let second = 0.999 * v[i] + 0.001 * g[i] * g[i];
        let moved = 0.99 * p[i] - 0.1 * first / (second.sqrt() / 0.3 + 1e-8);
        assert!((m1[i] - first).abs() < 1e-15 && (v1[i] - second).abs() < 1e-15);
        assert!((p1[i] - moved).abs() <= 1e-12 * moved.abs().max(1.0), "{i}");
    }
}

#[test]
fn norms_and_factors_match_the_formula() {
    let mut x = Random::new(3).numbers(40_001);
    let naive: f64 = x.iter().map(|x| x * x).sum();
    assert!((sum_of_squares(&x) - naive).abs() < 1e-12 * naive);
    let before = x.clone();
    multiply_by(&mut x, 0.3);
    assert!(x.iter().zip(&before).all(|(x, before)| *x == 0.3 * before));
    assert_eq!((sum_of_squares::<f64>(&[]), sum_of_squares(&[1e30f32, 0.0]).is_finite()), (0.0, true));
}

#[test]
fn a_single_nan_or_infinity_is_found() {
    let mut x = vec![1.0f32; 200_000];
    assert!(finite(&x));
    for (at, bad) in [(0, f32::NAN), (199_999, f32::INFINITY), (77_777, f32::NEG_INFINITY)] {
        x[at] = bad;
        assert!(!finite(&x));
        x[at] = f32::MAX;
    }
    assert!(finite(&x));
}
