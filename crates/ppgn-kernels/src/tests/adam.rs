//! The optimiser's step against its formula, on arrays longer than one chunk.

use super::naive::Random;
use crate::{AdamStep, adam, finite};

#[test]
fn a_step_matches_the_formula() {
    let count = 40_001;
    let mut random = Random::new(2);
    let [p, g, m] = [(); 3].map(|()| random.numbers(count));
    let v: Vec<f64> = random.numbers(count).iter().map(|x| x.abs()).collect();
    let step = AdamStep { beta1: 0.9, beta2: 0.999, rate: 0.1, root: 0.3, epsilon: 1e-8 };
    let (mut p1, mut m1, mut v1) = (p.clone(), m.clone(), v.clone());
    adam(step, &mut p1, &g, &mut m1, &mut v1);
    for i in 0..count {
        let first = 0.9 * m[i] + 0.1 * g[i];
        let second = 0.999 * v[i] + 0.001 * g[i] * g[i];
        let moved = p[i] - 0.1 * first / (second.sqrt() / 0.3 + 1e-8);
        assert!((m1[i] - first).abs() < 1e-15 && (v1[i] - second).abs() < 1e-15);
        assert!((p1[i] - moved).abs() <= 1e-12 * moved.abs().max(1.0), "{i}");
    }
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
