//! A line chart as SVG, coloured by the page's style: one line a part of the data, and a mark at the best epoch.

use std::fmt::Write;

/// A curve; its name is its colour's name in the style too.
pub(super) struct Line {
    pub(super) name: &'static str,
    pub(super) points: Vec<(f64, f64)>,
}

pub(super) struct Chart {
    pub(super) lines: Vec<Line>,
    /// The epoch to mark.
    pub(super) mark: f64,
    /// How far the horizontal axis goes.
    pub(super) epochs: f64,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 56.0;
const BOTTOM: f64 = 36.0;
const TOP: f64 = 26.0;

impl Chart {
    pub(super) fn svg(&self) -> String {
        let values = || self.lines.iter().flat_map(|l| &l.points).map(|p| p.1).filter(|y| y.is_finite());
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        if low > high {
            return String::new();
        }
        let ticks = ticks(low, high);
        let (low, high) = (ticks[0], ticks[ticks.len() - 1]);
        let x = |epoch: f64| LEFT + (epoch - 1.0) / (self.epochs - 1.0).max(1.0) * (WIDTH - LEFT - 12.0);
        let y = |value: f64| HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - BOTTOM - TOP);
        let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n");
        for tick in &ticks {
            let at = y(*tick);
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {at:.1}H{WIDTH}\" stroke=\"var(--line)\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                at + 4.0,
                short(*tick)
            );
        }
        let marks = [1.0, self.mark, self.epochs];
        let _ = writeln!(
            svg,
            "<path d=\"M{0:.1} {TOP}V{1}\" stroke=\"var(--soft)\" stroke-dasharray=\"3 4\"/>",
            x(self.mark),
            HEIGHT - BOTTOM
        );
        for (i, epoch) in marks.iter().enumerate() {
            // The outer two give way to the best epoch where they would touch it.
            if i != 1 && (x(*epoch) - x(self.mark)).abs() < 90.0 {
                continue;
            }
            let (text, anchor) = match i {
                0 => ("epoch 1".to_string(), "start"),
                1 => (format!("best: {epoch}"), "middle"),
                _ => (format!("{epoch}"), "end"),
            };
            let place = x(*epoch)
                .clamp(LEFT + if i == 1 { 24.0 } else { 0.0 }, WIDTH - if i == 1 { 30.0 } else { 12.0 });
            let _ = writeln!(
                svg,
                "<text x=\"{place:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{text}</text>",
                HEIGHT - 14.0
            );
        }
        for (i, line) in self.lines.iter().enumerate() {
            let points = line.points.iter().filter(|p| p.1.is_finite());
            let points: Vec<String> = points.map(|p| format!("{:.1},{:.1}", x(p.0), y(p.1))).collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"var(--{})\" stroke-width=\"1.8\" stroke-linejoin=\"round\"/>",
                points.join(" "),
                line.name
            );
            let at = LEFT + 100.0 * i as f64;
            let _ = writeln!(
                svg,
                "<path d=\"M{at} 10h18\" stroke=\"var(--{})\" stroke-width=\"3\"/><text x=\"{}\" y=\"14\">{}</text>",
                line.name,
                at + 24.0,
                line.name
            );
        }
        svg + "</svg>\n"
    }
}

/// Round numbers around a range, at least two.
pub(crate) fn ticks(low: f64, high: f64) -> Vec<f64> {
    let span = if high > low { high - low } else { low.abs().max(1.0) };
    let rough = span / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough).unwrap_or(rough);
    let (first, last) = ((low / step).floor(), (high / step).ceil().max((low / step).floor() + 1.0));
    let count = (last - first) as usize;
    (0..=count).map(|i| (first + i as f64) * step).collect()
}

/// A tick in few digits.
pub(crate) fn short(x: f64) -> String {
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

    #[test]
    fn values_that_are_no_numbers_are_left_out() {
        let line =
            |points| Chart { lines: vec![Line { name: "test", points }], mark: 1.0, epochs: 2.0 }.svg();
        assert_eq!(line(vec![(1.0, f64::NAN)]), "");
        assert!(!line(vec![(1.0, f64::NAN), (2.0, 0.5)]).contains("NaN"));
        assert!(line(vec![(1.0, 0.25)]).contains("polyline"));
    }
}
