//! Line charts as SVG: curves by epoch, or by size on logarithmic scales, in panels side by side.
//!
//! A chart is a list of lines and labels, so that it can be tested without parsing SVG. It has one of two looks: a file of
//! its own has a white background and fixed colours; a chart in `report.html` uses the colours of the page, which follow the
//! reader's light or dark scheme.

mod svg;
mod ticks;

use std::borrow::Cow;
use ticks::{short, ticks};

/// A shape, in units in which a letter is about [`LETTER`] wide.
enum Shape {
    /// A line through points.
    Line { points: Vec<(f64, f64)>, width: f64, paint: Paint, dashed: bool },
    /// Text, with its baseline at this height.
    Words { at: (f64, f64), anchor: Anchor, paint: Paint, text: String },
}

/// How text is aligned to its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// A colour as SVG writes it.
type Paint = Cow<'static, str>;

/// The width of a letter.
const LETTER: f64 = 6.5;

/// Where a chart is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// A file of its own, panels of 420 by 300.
    File,
    /// In a page whose style has the variables `--ink`, `--soft`, `--line`, and one per curve, by its name; one wide panel.
    Page,
}

/// Colours that people with any kind of colour vision can distinguish (Okabe and Ito).
const COLOURS: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];

impl Look {
    fn panel(self) -> (f64, f64) {
        match self {
            Look::File => (420.0, 300.0),
            Look::Page => (860.0, 320.0),
        }
    }

    fn ink(self) -> Paint {
        Cow::from(if self == Look::File { "#333333" } else { "var(--ink)" })
    }

    fn soft(self) -> Paint {
        Cow::from(if self == Look::File { "#777777" } else { "var(--soft)" })
    }

    fn grid(self) -> Paint {
        Cow::from(if self == Look::File { "#e4e4e4" } else { "var(--line)" })
    }

    fn curve(self, number: usize, name: &str) -> Paint {
        match self {
            Look::File => Cow::from(COLOURS[number % COLOURS.len()]),
            Look::Page => Cow::from(format!("var(--{name})")),
        }
    }
}

/// The shapes of a chart, and its size.
pub(crate) struct Chart {
    look: Look,
    width: f64,
    height: f64,
    shapes: Vec<Shape>,
}

/// A curve of a panel.
pub(crate) struct Curve<'a> {
    pub(crate) name: &'a str,
    /// Points whose y is not finite are left out.
    pub(crate) points: Vec<(f64, f64)>,
}

/// Curves on one pair of axes.
pub(crate) struct Panel<'a> {
    /// Above the curves; may be empty.
    pub(crate) title: String,
    pub(crate) curves: Vec<Curve<'a>>,
    /// The best epoch, which is marked.
    pub(crate) best: Option<f64>,
}

impl Panel<'_> {
    /// The smallest and the largest value of one coordinate of its points, if there are any.
    fn range(&self, of: impl Fn(&(f64, f64)) -> f64) -> Option<(f64, f64)> {
        let numbers = self.curves.iter().flat_map(|curve| &curve.points).map(of).filter(|x| x.is_finite());
        numbers.fold(None, |range: Option<(f64, f64)>, x| {
            Some(range.map_or((x, x), |(low, high)| (low.min(x), high.max(x))))
        })
    }
}

/// A panel's axes: positions and labels of the ticks. The outermost ticks are the ends of an axis.
struct Frame {
    across: Vec<(f64, String)>,
    up: Vec<(f64, String)>,
}

const LEFT: f64 = 56.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 58.0;

/// Ticks of the horizontal axis closer to the best epoch than this are left out.
const APART: f64 = 90.0;

impl Chart {
    /// Panels side by side: values by epoch, counted from 1, with a legend below. All panels have the same scale.
    pub(crate) fn by_epoch(look: Look, panels: &[Panel<'_>]) -> Self {
        let ranges = || panels.iter().filter_map(|panel| panel.range(|p| p.1));
        let range = ranges().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let marks = range.map_or(vec![0.0, 1.0], |(low, high)| ticks(low, high));
        let up: Vec<(f64, String)> = marks.iter().map(|&mark| (mark, short(mark))).collect();
        let frame = |panel: &Panel<'_>| {
            let epochs = panel.range(|p| p.0).map_or(1.0, |range| range.1);
            let across = vec![(1.0, "epoch 1".into()), (epochs.max(2.0), epochs.to_string())];
            Frame { across, up: up.clone() }
        };
        Self::panels(look, panels, frame)
    }

    /// The same with logarithmic axes, with ticks at powers of two (horizontal) and of ten (vertical): a power law is a
    /// straight line. Values are above 0; each panel has its own scale.
    pub(crate) fn logarithmic(look: Look, mut panels: Vec<Panel<'_>>) -> Self {
        for curve in panels.iter_mut().flat_map(|panel| &mut panel.curves) {
            curve.points.iter_mut().for_each(|(x, y)| (*x, *y) = (x.log2(), y.log10()));
        }
        let powers = |base: f64, range: Option<(f64, f64)>| {
            let (low, high) = range.map_or((0, 1), |(low, high)| (low.floor() as i32, high.ceil() as i32));
            (low..=high.max(low + 1)).map(|e| (f64::from(e), short(base.powi(e)))).collect()
        };
        Self::panels(look, &panels, |panel| Frame {
            across: powers(2.0, panel.range(|p| p.0)),
            up: powers(10.0, panel.range(|p| p.1)),
        })
    }

    fn panels(look: Look, panels: &[Panel<'_>], frame: impl Fn(&Panel<'_>) -> Frame) -> Self {
        let (width, height) = look.panel();
        let mut chart = Chart { look, width: width * panels.len() as f64, height, shapes: Vec::new() };
        for (i, panel) in panels.iter().enumerate() {
            chart.panel(width * i as f64, panel, &frame(panel));
        }
        chart
    }

    fn panel(&mut self, from: f64, panel: &Panel<'_>, Frame { across, up }: &Frame) {
        let look = self.look;
        let (width, height) = look.panel();
        let (left, right) = (from + LEFT, from + width - RIGHT);
        let (top, bottom) = (TOP, height - BOTTOM);
        let place = |marks: &[(f64, String)], at: f64, (start, end): (f64, f64)| {
            let (low, high) = (marks[0].0, marks[marks.len() - 1].0);
            start + (at - low) / (high - low) * (end - start)
        };
        let x = |at: f64| place(across, at, (left, right));
        let y = |at: f64| place(up, at, (bottom, top));
        self.words((left, top - 14.0), Anchor::Start, look.ink(), panel.title.clone());
        for (mark, name) in up {
            self.line(vec![(left, y(*mark)), (right, y(*mark))], 1.0, look.grid());
            self.words((left - 6.0, y(*mark) + 3.5), Anchor::End, look.soft(), name.clone());
        }
        for (i, (mark, name)) in across.iter().enumerate() {
            let anchor = match i {
                0 => Anchor::Start,
                _ if i + 1 == across.len() => Anchor::End,
                _ => Anchor::Middle,
            };
            if panel.best.is_none_or(|best| (x(best) - x(*mark)).abs() >= APART) {
                self.words((x(*mark), bottom + 16.0), anchor, look.soft(), name.clone());
            }
        }
        if let Some(best) = panel.best {
            let points = vec![(x(best), top), (x(best), bottom)];
            self.shapes.push(Shape::Line { points, width: 1.0, paint: look.soft(), dashed: true });
            let at = x(best).clamp(left + 24.0, right - 24.0);
            self.words((at, bottom + 16.0), Anchor::Middle, look.soft(), format!("best: {best}"));
        }
        let mut at = left;
        for (number, curve) in panel.curves.iter().enumerate() {
            let paint = look.curve(number, curve.name);
            let points = curve.points.iter().filter(|(_, v)| v.is_finite());
            self.line(points.map(|&(a, v)| (x(a), y(v))).collect(), 1.6, paint.clone());
            self.line(vec![(at, bottom + 37.0), (at + 18.0, bottom + 37.0)], 3.0, paint);
            self.words((at + 24.0, bottom + 40.5), Anchor::Start, look.ink(), curve.name.into());
            at += 24.0 + LETTER * curve.name.chars().count() as f64 + 24.0;
        }
    }

    fn line(&mut self, points: Vec<(f64, f64)>, width: f64, paint: Paint) {
        self.shapes.push(Shape::Line { points, width, paint, dashed: false });
    }

    fn words(&mut self, at: (f64, f64), anchor: Anchor, paint: Paint, text: String) {
        if !text.is_empty() {
            self.shapes.push(Shape::Words { at, anchor, paint, text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(title: &str) -> Panel<'_> {
        let by_epoch = |values: [f64; 3]| [1.0, 2.0, 3.0].into_iter().zip(values).collect();
        let (a, b) = (by_epoch([0.5, 0.75, 1.0]), by_epoch([0.5, f64::NAN, 0.25]));
        let curves = vec![Curve { name: "mp", points: a }, Curve { name: "a<b", points: b }];
        Panel { title: title.into(), curves, best: None }
    }

    #[test]
    fn a_file_has_every_curve_and_name() {
        let svg = Chart::by_epoch(Look::File, &[panel("training"), panel("validation & more")]).svg();
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{svg}");
        assert_eq!(svg.matches("#0072b2").count(), 4, "{svg}");
        assert!(svg.contains("a&lt;b") && svg.contains("validation &amp; more") && !svg.contains("NaN"));
    }

    #[test]
    fn a_page_has_its_own_colours_and_the_best_epoch() {
        let curve = |name| Curve { name, points: vec![(1.0, 0.5), (2.0, 0.25), (40.0, 0.1)] };
        let panel =
            Panel { title: String::new(), curves: vec![curve("train"), curve("test")], best: Some(39.0) };
        let svg = Chart::by_epoch(Look::Page, &[panel]).svg();
        assert!(
            svg.starts_with("<svg viewBox=") && svg.contains("var(--train)") && svg.contains("var(--test)")
        );
        // The last epoch gives way to the best one.
        assert!(svg.contains(">best: 39</text>") && !svg.contains(">40</text>"), "{svg}");
        assert!(svg.contains(">epoch 1</text>") && !svg.contains('#'), "{svg}");
    }

    #[test]
    fn nothing_to_draw_is_an_empty_frame() {
        let panel = || Panel {
            title: "é".into(),
            curves: vec![Curve { name: "none", points: Vec::new() }],
            best: None,
        };
        for chart in [
            Chart::by_epoch(Look::File, &[panel()]),
            Chart::by_epoch(Look::Page, &[Panel { best: Some(1.0), ..panel() }]),
            Chart::logarithmic(Look::File, vec![panel()]),
        ] {
            let svg = chart.svg();
            assert!(svg.contains("none") && !svg.contains("NaN"), "{svg}");
        }
    }

    #[test]
    fn powers_are_straight_lines() {
        let points = [1.0f64, 2.0, 4.0, 8.0].map(|n| (n, n.powi(3))).to_vec();
        let panel = Panel { title: "n^3".into(), curves: vec![Curve { name: "a", points }], best: None };
        let chart = Chart::logarithmic(Look::File, vec![panel]);
        let drawn = chart.shapes.iter().find_map(|shape| match shape {
            Shape::Line { points, .. } if points.len() == 4 => Some(points),
            _ => None,
        });
        let steps: Vec<(f64, f64)> =
            drawn.unwrap().windows(2).map(|w| (w[1].0 - w[0].0, w[1].1 - w[0].1)).collect();
        assert!(steps.iter().all(|s| (s.0 - steps[0].0).abs() < 1e-9 && (s.1 - steps[0].1).abs() < 1e-9));
        assert!(chart.svg().contains(">8</text>") && chart.svg().contains(">1000</text>"));
    }
}
