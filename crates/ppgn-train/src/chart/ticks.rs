//! Positions and labels of the ticks of an axis.

/// How numbers are placed along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Numbers.
    Linear,
    /// Shares, labelled in percent.
    Percent,
    /// Whole numbers from 1: the axis ends with the data.
    Epochs,
    /// Numbers above 0 by their logarithms, with ticks at powers of two.
    Log2,
    /// The same, with ticks at powers of ten, and between few of these at two and five times a power.
    Log10,
}

/// The most ticks of a logarithmic axis.
const MOST: usize = 9;

/// An axis: what it covers, in the coordinates of [`Scale::coordinate`], and its ticks.
pub(super) struct Marks {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Vec<(f64, String)>,
}

impl Scale {
    /// Where a number is on the axis; not finite where it is nowhere.
    pub(super) fn coordinate(self, x: f64) -> f64 {
        match self {
            Scale::Linear | Scale::Epochs | Scale::Percent => x,
            Scale::Log2 => x.log2(),
            Scale::Log10 => x.log10(),
        }
    }

    /// The axis for numbers in this range.
    pub(super) fn marks(self, range: Option<(f64, f64)>) -> Marks {
        match self {
            Scale::Linear => {
                let (low, high) = range.unwrap_or((0.0, 1.0));
                spanned(round(low, high), short)
            }
            Scale::Percent => {
                let (low, high) = range.unwrap_or((0.0, 1.0));
                let (low, high) = if low < high { (low, high) } else { (low - 0.05, high + 0.05) };
                spanned(round(low.max(0.0), high.min(1.0)), |x| format!("{} %", short(x * 100.0)))
            }
            Scale::Epochs => {
                let high = range.map_or(2.0, |range| range.1).max(2.0);
                let inner =
                    round(1.0, high).into_iter().filter(|x| *x > 1.0 && *x < high && x.fract() == 0.0);
                let ticks = std::iter::once(1.0).chain(inner).chain([high]).map(|x| (x, short(x)));
                Marks { low: 1.0, high, ticks: ticks.collect() }
            }
            Scale::Log2 => powers(2.0, &[1.0], range.map(|(a, b)| (a.log2(), b.log2()))),
            Scale::Log10 => {
                let range = range.map(|(a, b)| (a.log10(), b.log10()));
                match range.is_some_and(|(a, b)| b.ceil() - a.floor() <= 2.0) {
                    true => powers(10.0, &[1.0, 2.0, 5.0], range),
                    false => powers(10.0, &[1.0], range),
                }
            }
        }
    }
}

/// An axis from the first tick to the last.
fn spanned(ticks: Vec<f64>, label: impl Fn(f64) -> String) -> Marks {
    let (low, high) = (ticks[0], ticks[ticks.len() - 1]);
    let mut ticks: Vec<(f64, String)> = ticks.into_iter().map(|x| (x, label(x))).collect();
    // As many decimals in all labels as in the longest, unless they have exponents.
    let decimals =
        |label: &str| label.split(' ').next().and_then(|n| n.split_once('.')).map_or(0, |(_, d)| d.len());
    let most = ticks.iter().map(|tick| decimals(&tick.1)).max().unwrap_or(0);
    if most > 0 && ticks.iter().all(|tick| !tick.1.contains('e')) {
        for (_, label) in &mut ticks {
            let (number, unit) = label.split_once(' ').map_or((label.as_str(), ""), |(n, _)| (n, " %"));
            let point = if decimals(number) == 0 { "." } else { "" };
            *label = format!("{number}{point}{}{unit}", "0".repeat(most - decimals(number)));
        }
    }
    Marks { low, high, ticks }
}

/// Ticks at multiples of powers, around a range of logarithms.
fn powers(base: f64, factors: &[f64], range: Option<(f64, f64)>) -> Marks {
    let (low, high) = range.filter(|(a, b)| a.is_finite() && b.is_finite()).unwrap_or((0.0, 1.0));
    let (first, last) = (low.floor() as i32, (high.ceil() as i32).max(low.floor() as i32 + 1));
    let step = ((last - first) as usize / MOST + 1) as i32;
    let at = |e: i32, factor: f64| f64::from(e) + factor.log2() / base.log2();
    let all = (first..=last).flat_map(|e| factors.iter().map(move |f| (e, *f)));
    let all: Vec<(f64, String)> = all
        .filter(|(e, f)| (e - first) % step == 0 && at(*e, *f) <= f64::from(last) + 1e-9)
        .map(|(e, f)| (at(e, f), short(f * base.powi(e))))
        .collect();
    // From the last tick below the range to the first above it.
    let from = all.iter().rposition(|(x, _)| *x <= low + 1e-9).unwrap_or(0);
    let to = all.iter().position(|(x, _)| *x >= high - 1e-9).unwrap_or(all.len() - 1).max(from);
    let to = if to == from { (from + 1).min(all.len() - 1) } else { to };
    let ticks = all[from..=to].to_vec();
    let (start, end) = (ticks[0].0, ticks[ticks.len() - 1].0);
    Marks { low: start.min(low), high: end.max(high).max(start + 1e-3), ticks }
}

/// Round numbers that span a range, at least two.
fn round(low: f64, high: f64) -> Vec<f64> {
    let span = if high > low { high - low } else { low.abs().max(1.0) };
    let rough = span / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough).unwrap_or(rough);
    let first = (low / step + 1e-9).floor();
    let last = (high / step - 1e-9).ceil().max(first + 1.0);
    let count = (last - first) as usize;
    // Multiples of a power of ten are exact as quotients.
    let exact = |i: f64| if step < 1.0 { i / (1.0 / step).round() } else { i * step };
    let precise = (1.0 / step).round() * step;
    let at = |i: f64| if (precise - 1.0).abs() < 1e-9 { exact(i) } else { i * step };
    (0..=count).map(|i| at(first + i as f64)).collect()
}

/// A tick's label, in few digits.
fn short(x: f64) -> String {
    if x.abs() >= 1e5 {
        let exponent = x.abs().log10().floor() as i32;
        let digits = ((x / 10f64.powi(exponent)) * 1e4).round() / 1e4;
        return format!("{digits}e{exponent}");
    }
    let text = format!("{x:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "0" | "-0" if x.abs() > 1e-12 => format!("{x:.0e}"),
        "-0" => "0".into(),
        text => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, low: f64, high: f64) -> Vec<String> {
        scale.marks(Some((low, high))).ticks.into_iter().map(|tick| tick.1).collect()
    }

    #[test]
    fn ticks_are_round_and_around_the_range() {
        assert_eq!(round(0.1, 0.9), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        for (low, high) in [(3.0, 3.0), (0.0, 0.0), (-1.0, 1e9), (1e-7, 2e-7), (0.98, 1.0)] {
            let t = round(low, high);
            assert!(t.len() >= 2 && t.len() < 12, "{t:?}");
            assert!(t[0] <= low + 1e-12 && t[t.len() - 1] >= high - 1e-12, "{t:?}");
        }
    }

    #[test]
    fn labels_are_what_people_write() {
        assert_eq!(labels(Scale::Linear, 0.0, 1e6), ["0", "2e5", "4e5", "6e5", "8e5", "1e6"]);
        assert_eq!(labels(Scale::Linear, 0.81, 1.2), ["0.8", "0.9", "1.0", "1.1", "1.2"]);
        assert_eq!(labels(Scale::Percent, 0.991, 1.0).first().unwrap(), "99.0 %");
        assert_eq!(labels(Scale::Percent, 0.31, 1.0), ["20 %", "40 %", "60 %", "80 %", "100 %"]);
        assert_eq!(labels(Scale::Percent, 1.0, 1.0), ["94 %", "96 %", "98 %", "100 %"]);
        assert_eq!(labels(Scale::Percent, 0.0, 0.0).first().unwrap(), "0 %");
        assert_eq!(labels(Scale::Epochs, 1.0, 100.0), ["1", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(Scale::Epochs, 1.0, 3.0), ["1", "2", "3"]);
        assert_eq!(labels(Scale::Epochs, 1.0, 1.0), ["1", "2"]);
        assert_eq!(labels(Scale::Log2, 12.0, 96.0), ["8", "16", "32", "64", "128"]);
        assert_eq!(labels(Scale::Log10, 0.01, 900.0), ["0.01", "0.1", "1", "10", "100", "1000"]);
        assert_eq!(labels(Scale::Log10, 3.0, 40.0), ["2", "5", "10", "20", "50"]);
    }

    #[test]
    fn every_range_has_two_ticks_and_is_covered() {
        for scale in [Scale::Linear, Scale::Percent, Scale::Epochs, Scale::Log2, Scale::Log10] {
            for (low, high) in [(0.5, 0.5), (1.0, 1.0), (1e-9, 1e9), (0.2, 0.21), (3.0, 1000.0)] {
                let marks = scale.marks(Some((low, high)));
                assert!(marks.ticks.len() >= 2 && marks.ticks.len() <= 20, "{scale:?} {low} {high}");
                assert!(marks.low < marks.high, "{scale:?} {low} {high}");
                let (a, b) = (scale.coordinate(low), scale.coordinate(high));
                let within = matches!(scale, Scale::Percent | Scale::Epochs)
                    || marks.low <= a + 1e-9 && marks.high >= b - 1e-9;
                assert!(within, "{scale:?} {low} {high}: {} {}", marks.low, marks.high);
            }
            assert!(scale.marks(None).ticks.len() >= 2);
        }
    }
}
