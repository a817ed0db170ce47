//! Positions and labels of the ticks of an axis.

/// Round numbers that span a range, at least two.
pub(super) fn ticks(low: f64, high: f64) -> Vec<f64> {
    let span = if high > low { high - low } else { low.abs().max(1.0) };
    let rough = span / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough).unwrap_or(rough);
    let (first, last) = ((low / step).floor(), (high / step).ceil().max((low / step).floor() + 1.0));
    let count = (last - first) as usize;
    (0..=count).map(|i| (first + i as f64) * step).collect()
}

/// A tick's label, in few digits.
pub(super) fn short(x: f64) -> String {
    let text = format!("{:.4}", x);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "0" | "-0" if x.abs() > 1e-9 => format!("{x:.1e}"),
        "-0" => "0".into(),
        text => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_around_the_range() {
        assert_eq!(ticks(0.1, 0.9), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        for (low, high) in [(3.0, 3.0), (0.0, 0.0), (-1.0, 1e9), (1e-7, 2e-7)] {
            let t = ticks(low, high);
            assert!(t.len() >= 2 && t.len() < 12, "{t:?}");
            assert!(t[0] <= low && t[t.len() - 1] >= high, "{t:?}");
        }
    }
}
