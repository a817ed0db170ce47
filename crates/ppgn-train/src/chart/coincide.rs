//! Which curves lie on others: of two that coincide, the upper one has gaps that show the lower one.

/// Curves nearer than this are not seen as two.
const NEAR: f64 = 1.6;

/// A curve coincides with another where this share of its points is near it.
const SHARE: f64 = 0.15;

/// Patterns of dashes: solid, and for curves on one, two, and more others.
const DASHES: [&str; 4] = ["", "7 7", "2 6", "10 4 2 4"];

/// The dashes of each curve, given as points from left to right in drawn units: solid unless it lies on earlier ones.
///
/// # Complexity
/// O(k^2 p log p) for k curves of p points.
pub(super) fn dashes(curves: &[Vec<(f64, f64)>]) -> Vec<&'static str> {
    let below = |i: usize| curves[..i].iter().filter(|lower| lie_together(&curves[i], lower)).count();
    (0..curves.len()).map(|i| DASHES[below(i).min(DASHES.len() - 1)]).collect()
}

fn lie_together(upper: &[(f64, f64)], lower: &[(f64, f64)]) -> bool {
    let near = upper.iter().filter(|(x, y)| height(lower, *x).is_some_and(|h| (h - y).abs() < NEAR)).count();
    near >= 2 && near as f64 >= SHARE * upper.len() as f64
}

/// The height of a curve at x, if it reaches there.
fn height(curve: &[(f64, f64)], x: f64) -> Option<f64> {
    let next = curve.partition_point(|p| p.0 < x);
    let after = curve.get(next)?;
    match next.checked_sub(1).map(|before| curve[before]) {
        Some(before) => Some(before.1 + (after.1 - before.1) * (x - before.0) / (after.0 - before.0)),
        None => (after.0 - x < 0.5).then_some(after.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_between_their_neighbours() {
        let curve = [(0.0, 0.0), (10.0, 20.0), (20.0, 0.0)];
        assert_eq!(
            [height(&curve, 0.0), height(&curve, 5.0), height(&curve, 20.0)],
            [Some(0.0), Some(10.0), Some(0.0)]
        );
        assert_eq!([height(&curve, 21.0), height(&curve, -1.0), height(&[], 0.0)], [None; 3]);
    }

    #[test]
    fn curves_that_only_cross_are_solid() {
        let line = |slope: f64| (0..100).map(|x| (f64::from(x), 50.0 + slope * f64::from(x - 50))).collect();
        assert_eq!(dashes(&[line(1.0), line(-1.0)]), ["", ""]);
        assert_eq!(dashes(&[line(1.0), line(1.01), line(1.0)]), ["", "7 7", "2 6"]);
    }
}
