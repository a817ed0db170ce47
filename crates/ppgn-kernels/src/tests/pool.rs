//! Pooling with ties, against values worked out by hand and against the equations.

use super::naive::Random;
use crate::{
    Count, Pools, Square, pool_max, pool_max_backward, pool_mean, pool_mean_backward, pool_sum,
    pool_sum_backward,
};

const X: [f64; 14] = [-4.0, -2.0, -2.0, -2.0, -2.0, 5.0, 7.0, 1.0, 7.0, 5.0, 0.0, 7.0, 2.0, 3.0];

#[test]
fn ties_share_the_gradient_evenly() {
    // One node; two nodes, all tied; three nodes with ties on the diagonal (5) and off it (7). Results in the order 3,
    // 1, 2.
    let graphs = [(0, 1), (1, 2), (5, 3)].map(|(start, nodes)| Square { start, nodes, factor: 1.0 });
    let pools = Pools::Dense { order: 2, graphs: &graphs, place: &[1, 2, 0] };
    let mut pooled = [0.0; 6];
    let ties = pool_max(pools, 1, &X, &mut pooled, true);
    assert_eq!(pooled, [5.0, 7.0, -4.0, 0.0, -2.0, -2.0]);
    let mut dx = [0.0; 14];
    pool_max_backward(pools, 1, &ties, &[1.0, 12.0, 100.0, 1e9, 1000.0, 5000.0], &mut dx);
    assert_eq!(dx, [100.0, 500.0, 2500.0, 2500.0, 500.0, 0.5, 4.0, 0.0, 4.0, 0.5, 0.0, 4.0, 0.0, 0.0]);
    pool_sum(pools, 1, &X, &mut pooled);
    assert_eq!(pooled, [13.0, 24.0, -4.0, 0.0, -4.0, -4.0]);
    let mut dx = [0.0; 14];
    pool_sum_backward(pools, 1, &[1.0, 12.0, 100.0, 1e9, 1000.0, 5000.0], &mut dx);
    assert_eq!(dx[..6], [100.0, 1000.0, 5000.0, 5000.0, 1000.0, 1.0]);
    pool_mean(pools, 1, &X, &mut pooled);
    assert_eq!(pooled, [13.0 / 3.0, 4.0, -4.0, 0.0, -2.0, -2.0]);
    let mut dx = [0.0; 14];
    pool_mean_backward(pools, 1, &[3.0, 12.0, 100.0, 1e9, 1000.0, 5000.0], &mut dx);
    assert_eq!(dx[..8], [100.0, 500.0, 2500.0, 2500.0, 500.0, 1.0, 2.0, 2.0]);
}

#[test]
fn nan_survives_max_pooling() {
    let graphs = [Square { start: 0, nodes: 3, factor: 1.0 }];
    let pools = Pools::Dense { order: 2, graphs: &graphs, place: &[0] };
    for at in 0..9 {
        let mut x = [1.0f32; 9];
        x[at] = f32::NAN;
        let mut pooled = [0.0; 2];
        pool_max(pools, 1, &x, &mut pooled, true);
        assert_eq!(pooled.map(f32::is_nan), [at % 4 == 0, at % 4 != 0]);
    }
}

#[test]
fn colours_are_weighted_by_their_pairs() {
    let channels = 5;
    let mut random = Random::new(4);
    let table: Vec<f64> = random.numbers(4 * channels);
    // Three nodes; rows 0 and 1 occur on the diagonal, rows 1, 2 and 3 off it.
    let rows = [0u32, 2, 3, 2, 1, 1, 3, 2, 0];
    let dense: Vec<f64> =
        rows.iter().flat_map(|&r| table[r as usize * channels..][..channels].to_vec()).collect();
    let counts = [(0, 0, 2), (1, 0, 1), (1, 1, 1), (2, 1, 3), (3, 1, 2)];
    let counts = counts.map(|(row, pattern, count)| Count { row, pattern, count });
    let graphs = [Square { start: 0, nodes: 3, factor: 1.0 }];
    let all = Pools::Dense { order: 2, graphs: &graphs, place: &[0] };
    let few = Pools::Quotient { order: 2, counts: &counts, offsets: &[0, 5] };
    let d = random.numbers(2 * channels);
    let [mut a, mut b] = [vec![0.0; 2 * channels], vec![0.0; 2 * channels]];
    for way in ["max", "sum", "mean"] {
        let [mut da, mut db] = [vec![0.0; dense.len()], vec![0.0; table.len()]];
        if way == "mean" {
            pool_mean(all, channels, &dense, &mut a);
            pool_mean(few, channels, &table, &mut b);
            pool_mean_backward(all, channels, &d, &mut da);
            pool_mean_backward(few, channels, &d, &mut db);
        } else if way == "sum" {
            pool_sum(all, channels, &dense, &mut a);
            pool_sum(few, channels, &table, &mut b);
            pool_sum_backward(all, channels, &d, &mut da);
            pool_sum_backward(few, channels, &d, &mut db);
        } else {
            let ties = pool_max(all, channels, &dense, &mut a, true);
            pool_max_backward(all, channels, &ties, &d, &mut da);
            let ties = pool_max(few, channels, &table, &mut b, true);
            pool_max_backward(few, channels, &ties, &d, &mut db);
        }
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-14));
        let mut summed = vec![0.0; table.len()];
        for (pair, &row) in rows.iter().enumerate() {
            (0..channels).for_each(|c| summed[row as usize * channels + c] += da[pair * channels + c]);
        }
        assert!(summed.iter().zip(&db).all(|(a, b)| (a - b).abs() < 1e-14), "{summed:?} {db:?}");
    }
}

/// The maximum of every channel over the diagonal and off it, and the gradient by the definition: its share for every pair
/// that attains it.
fn naive_maxima(n: usize, channels: usize, x: &[f32], d: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let mut pooled = vec![0.0; 2 * channels];
    let mut dx = vec![0.0; x.len()];
    for place in 0..2 * channels {
        let (pattern, c) = (place / channels, place % channels);
        let rows = (0..n * n).filter(|row| usize::from(row / n != row % n) == pattern);
        let numbers: Vec<(usize, f32)> = rows.map(|row| (row, x[row * channels + c])).collect();
        let Some(most) = numbers.iter().map(|&(_, x)| x).reduce(f32::max) else { continue };
        pooled[place] = most;
        let tied: Vec<usize> = numbers.iter().filter(|&&(_, x)| x == most).map(|&(row, _)| row).collect();
        tied.iter().for_each(|row| dx[row * channels + c] += d[place] / tied.len() as f32);
    }
    (pooled, dx)
}

#[test]
fn maxima_of_whole_vectors_match_the_definition() {
    let mut random = Random::new(8);
    // Channels that fill one vector of a level, two, several, or none; few different numbers, so that many are tied.
    for channels in [4, 16, 32, 37, 48, 96] {
        for n in [1, 2, 7] {
            let coarse = |x: f64| (x * 8.0).round() as f32;
            let x: Vec<f32> = random.numbers(n * n * channels).into_iter().map(coarse).collect();
            let d: Vec<f32> = (0..2 * channels).map(|place| place as f32 + 1.0).collect();
            let (expected, gradient) = naive_maxima(n, channels, &x, &d);
            let graphs = [Square { start: 0, nodes: n, factor: 1.0 }];
            let pools = Pools::Dense { order: 2, graphs: &graphs, place: &[0] };
            let mut pooled = vec![0.0f32; 2 * channels];
            let ties = pool_max(pools, channels, &x, &mut pooled, true);
            assert_eq!(pooled, expected, "{channels} channels, {n} nodes");
            let mut dx = vec![0.0f32; x.len()];
            pool_max_backward(pools, channels, &ties, &d, &mut dx);
            let near = dx.iter().zip(&gradient).all(|(a, b)| (a - b).abs() <= 1e-5 * b.abs());
            assert!(near, "{channels} channels, {n} nodes");
            for broken in [f32::NAN, f32::INFINITY] {
                let mut x = x.clone();
                x[(n * n - 1) * channels] = broken;
                pool_max(pools, channels, &x, &mut pooled, true);
                assert_eq!(pooled[0].to_bits(), broken.to_bits(), "{channels} channels, {n} nodes");
                assert_eq!(pooled[1..], expected[1..]);
            }
        }
    }
}
