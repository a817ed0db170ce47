//! Charts as SVG: curves by epoch, measurements with fitted powers on logarithmic scales, predictions against the truth; in
//! panels side by side.
//!
//! A chart is a list of shapes, so that it can be tested without parsing SVG. It has one of two looks: a file of its own has a
//! white background and fixed colours; a chart in a page uses the colours of the page, which follow the reader's light or dark
//! scheme, and is as wide as a phone's screen at its natural size.
//!
//! Curves differ in colour and in the shape of their marks. A curve that coincides with an earlier one is dashed, so that both
//! are seen.

mod coincide;
mod panel;
mod svg;
mod ticks;

use std::borrow::Cow;

pub(crate) use ticks::Scale;

/// A shape, in units in which a letter is about [`Look::letter`] wide.
enum Shape {
    /// A line through points, dashed by this pattern unless it is empty.
    Line { points: Vec<(f64, f64)>, width: f64, paint: Paint, dashes: &'static str },
    /// A mark at a point; its number chooses the form.
    Mark { at: (f64, f64), size: f64, paint: Paint, form: usize },
    /// Text, with its baseline at this height.
    Words { at: (f64, f64), anchor: Anchor, paint: Paint, bold: bool, text: String },
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

/// Where a chart is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// A file of its own.
    File,
    /// In a page whose style has the variables `--ink`, `--soft`, `--line`, `--page`, one per named colour, and `--c0` to
    /// `--c7`.
    Page,
}

/// Colours that people with any kind of colour vision can distinguish (Okabe and Ito; the yellow is darker, to be seen on
/// white), and a grey.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#7a3db8", "#5f5f5f"];

impl Look {
    /// Width of a panel, and height of the part with the curves.
    fn panel(self) -> (f64, f64) {
        match self {
            Look::File => (460.0, 230.0),
            Look::Page => (420.0, 190.0),
        }
    }

    /// The width of a letter.
    fn letter(self) -> f64 {
        match self {
            Look::File => 6.6,
            Look::Page => 7.0,
        }
    }

    fn ink(self) -> Paint {
        Cow::from(if self == Look::File { "#222222" } else { "var(--ink)" })
    }

    fn soft(self) -> Paint {
        Cow::from(if self == Look::File { "#666666" } else { "var(--soft)" })
    }

    fn grid(self) -> Paint {
        Cow::from(if self == Look::File { "#e4e4e4" } else { "var(--line)" })
    }

    fn page(self) -> Paint {
        Cow::from(if self == Look::File { "white" } else { "var(--page)" })
    }

    fn curve(self, number: usize, named: Option<&'static str>) -> Paint {
        match (self, named) {
            (Look::File, _) => Cow::from(COLOURS[number % COLOURS.len()]),
            (Look::Page, Some(name)) => Cow::from(format!("var(--{name})")),
            (Look::Page, None) => Cow::from(format!("var(--c{})", number % COLOURS.len())),
        }
    }

    /// The colours of numbered curves as variables of a page.
    pub(crate) fn variables() -> String {
        COLOURS.iter().enumerate().map(|(i, colour)| format!("--c{i}:{colour};")).collect()
    }
}

/// The shapes of a chart, and its size.
pub(crate) struct Chart {
    look: Look,
    width: f64,
    height: f64,
    /// What it shows, for those who cannot see it.
    label: String,
    shapes: Vec<Shape>,
}

/// A curve of a panel.
pub(crate) struct Curve<'a> {
    pub(crate) name: Cow<'a, str>,
    /// The variable of a page's style that has its colour; by its number if there is none.
    pub(crate) named: Option<&'static str>,
    /// Points that are not finite are left out.
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) drawn: Drawn,
}

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Drawn {
    /// As a line with marks: all points, or some of many.
    Line,
    /// As marks, with the line `y = a x^b` behind them, given as (a, b).
    Power(f64, f64),
    /// As small dots.
    Dots,
    /// As a thin line without marks or name.
    Guide,
}

impl<'a> Curve<'a> {
    /// A line by this name.
    pub(crate) fn line(name: impl Into<Cow<'a, str>>, points: Vec<(f64, f64)>) -> Self {
        Curve { name: name.into(), named: None, points, drawn: Drawn::Line }
    }
}

/// An axis: its title, its scale, and the range that it covers at least.
#[derive(Clone)]
pub(crate) struct Axis {
    pub(crate) title: String,
    pub(crate) scale: Scale,
    pub(crate) range: Option<(f64, f64)>,
}

impl Axis {
    pub(crate) fn new(title: impl Into<String>, scale: Scale) -> Self {
        Axis { title: title.into(), scale, range: None }
    }
}

/// Curves on one pair of axes.
pub(crate) struct Panel<'a> {
    /// Above the curves; may be empty.
    pub(crate) title: String,
    pub(crate) across: Axis,
    pub(crate) up: Axis,
    pub(crate) curves: Vec<Curve<'a>>,
    /// The best epoch, which is marked.
    pub(crate) best: Option<f64>,
}

impl<'a> Panel<'a> {
    /// Values by epoch.
    pub(crate) fn by_epoch(title: impl Into<String>, up: Axis, curves: Vec<Curve<'a>>) -> Self {
        Panel { title: title.into(), across: Axis::new("epoch", Scale::Epochs), up, curves, best: None }
    }

    /// The smallest and the largest value of one coordinate of its finite points, if there are any.
    fn range(&self, of: impl Fn(&(f64, f64)) -> f64) -> Option<(f64, f64)> {
        let finite = |p: &&(f64, f64)| p.0.is_finite() && p.1.is_finite();
        let points = self.curves.iter().flat_map(|curve| &curve.points);
        points.filter(finite).map(of).fold(None, |range: Option<(f64, f64)>, x| {
            Some(range.map_or((x, x), |(low, high)| (low.min(x), high.max(x))))
        })
    }
}

impl Chart {
    /// Panels side by side, each with its own scales.
    pub(crate) fn new(look: Look, panels: &[Panel<'_>]) -> Self {
        let (width, _) = look.panel();
        let label = panels.iter().map(|p| format!("{} {}", p.title, p.up.title).trim().to_string());
        let label = label.collect::<Vec<_>>().join("; ");
        let width_of_all = width * panels.len() as f64;
        let mut chart = Chart { look, width: width_of_all, height: 0.0, label, shapes: Vec::new() };
        for (i, panel) in panels.iter().enumerate() {
            let height = chart.panel(width * i as f64, panel);
            chart.height = chart.height.max(height);
        }
        chart
    }

    /// Panels side by side, with the same vertical scale.
    pub(crate) fn on_one_scale(look: Look, panels: &mut [Panel<'_>]) -> Self {
        let ranges = panels.iter().filter_map(|panel| panel.range(|p| p.1));
        let all = ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        panels.iter_mut().for_each(|panel| panel.up.range = all);
        Self::new(look, panels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(title: &str) -> Panel<'_> {
        let by_epoch = |values: [f64; 3]| [1.0, 2.0, 3.0].into_iter().zip(values).collect();
        let (a, b) = (by_epoch([0.5, 0.75, 1.0]), by_epoch([0.5, f64::NAN, 0.25]));
        let curves = vec![Curve::line("mp", a), Curve::line("a<b", b)];
        Panel::by_epoch(title, Axis::new("accuracy", Scale::Percent), curves)
    }

    fn lines(chart: &Chart, points: usize) -> Vec<(&Vec<(f64, f64)>, &'static str)> {
        let line = |shape| match shape {
            &Shape::Line { points: ref p, dashes, .. } if p.len() == points => Some((p, dashes)),
            _ => None,
        };
        chart.shapes.iter().filter_map(line).collect()
    }

    fn texts(chart: &Chart) -> Vec<&str> {
        let words = chart.shapes.iter().filter_map(|shape| match shape {
            Shape::Words { text, .. } => Some(text.as_str()),
            _ => None,
        });
        words.collect()
    }

    #[test]
    fn a_file_has_every_curve_axis_and_name() {
        let svg = Chart::new(Look::File, &[panel("training"), panel("validation & more")]).svg();
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{svg}");
        assert!(svg.contains("a&lt;b") && svg.contains("validation &amp; more") && !svg.contains("NaN"));
        for text in [">accuracy</text>", ">epoch</text>", ">60 %</text>", ">100 %</text>", ">3</text>"] {
            assert!(svg.contains(text), "no {text} in {svg}");
        }
    }

    #[test]
    fn a_page_has_its_own_colours_and_the_best_epoch() {
        let curve = |name| Curve {
            named: Some(name),
            ..Curve::line(name, vec![(1.0, 0.5), (2.0, 0.25), (40.0, 0.1)])
        };
        let curves = vec![curve("train"), curve("test")];
        let panel = Panel::by_epoch("", Axis::new("loss", Scale::Linear), curves);
        let chart = Chart::new(Look::Page, &[Panel { best: Some(39.0), ..panel }]);
        let svg = chart.svg();
        assert!(svg.starts_with("<svg viewBox=") && !svg.contains('#'), "{svg}");
        assert!(svg.contains("var(--train)") && svg.contains("var(--test)"), "{svg}");
        // The best epoch is named beside its line, and the ticks stay.
        let texts = texts(&chart);
        for text in ["best: epoch 39", "1", "40"] {
            assert!(texts.contains(&text), "no {text} in {texts:?}");
        }
    }

    #[test]
    fn all_text_is_inside_and_none_overlaps() {
        let curve = |i: i32| {
            let points = (1..=1000).map(|e| (f64::from(e), f64::from(e * i) * 1e5)).collect();
            Curve::line(format!("a rather long name of a run {i}"), points)
        };
        for look in [Look::Page, Look::File] {
            let up = Axis::new("loss", Scale::Linear);
            let panel = Panel::by_epoch("title", up, (0..7).map(curve).collect());
            let chart = Chart::new(look, &[Panel { best: Some(1000.0), ..panel }]);
            let mut boxes: Vec<(f64, f64, f64, &str)> = Vec::new();
            for shape in &chart.shapes {
                let Shape::Words { at: (x, y), anchor, text, .. } = shape else { continue };
                let width = look.letter() * text.chars().count() as f64;
                let start = match anchor {
                    Anchor::Start => *x,
                    Anchor::Middle => x - width / 2.0,
                    Anchor::End => x - width,
                };
                assert!(
                    start >= -0.5 && start + width <= chart.width + 0.5,
                    "{text} at {start}, {width} wide"
                );
                assert!(*y > 8.0 && *y < chart.height, "{text} at {y} of {}", chart.height);
                for (left, right, height, other) in &boxes {
                    let apart = start >= *right || start + width <= *left || (y - height).abs() > 11.0;
                    assert!(apart, "`{text}` lies on `{other}`");
                }
                boxes.push((start, start + width, *y, text));
            }
        }
    }

    #[test]
    fn nothing_to_draw_is_an_empty_frame() {
        let curve = || vec![Curve::line("none", Vec::new())];
        for scale in [Scale::Linear, Scale::Percent, Scale::Log10] {
            for look in [Look::File, Look::Page] {
                let panel = Panel::by_epoch("é", Axis::new("y", scale), curve());
                let svg = Chart::new(look, &[Panel { best: Some(1.0), ..panel }]).svg();
                assert!(
                    !svg.contains("none</text>") && !svg.contains("NaN") && !svg.contains("inf"),
                    "{svg}"
                );
            }
        }
    }

    #[test]
    fn powers_are_straight_lines_through_their_marks() {
        let points = [1.0f64, 2.0, 4.0, 8.0].map(|n| (n, n.powi(3))).to_vec();
        let curve = Curve { drawn: Drawn::Power(1.0, 3.0), ..Curve::line("a", points) };
        let (across, up) = (Axis::new("n", Scale::Log2), Axis::new("ms", Scale::Log10));
        let panel = Panel { title: "n^3".into(), across, up, curves: vec![curve], best: None };
        let chart = Chart::new(Look::File, &[panel]);
        let marks: Vec<(f64, f64)> = chart
            .shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Mark { at, .. } => Some(*at),
                _ => None,
            })
            .collect();
        let on = |(x, y): (f64, f64)| {
            lines(&chart, 2).iter().any(|(line, _)| {
                let (a, b) = (line[0], line[1]);
                let sloped = (a.1 - b.1).abs() > 1.0 && (a.0 - b.0).abs() > 1.0;
                sloped && (a.1 + (b.1 - a.1) * (x - a.0) / (b.0 - a.0) - y).abs() < 1e-6
            })
        };
        // The last mark is that of the legend.
        assert_eq!(marks.len(), 5);
        assert!(marks[..4].iter().all(|mark| on(*mark)));
        assert!(chart.svg().contains(">8</text>") && chart.svg().contains(">1000</text>"));
    }

    #[test]
    fn curves_that_coincide_are_both_visible() {
        let up: Vec<(f64, f64)> = (1..=50).map(|e| (f64::from(e), f64::from(e))).collect();
        let down: Vec<(f64, f64)> = up.iter().map(|(e, y)| (*e, 50.0 - y)).collect();
        let curves = || {
            vec![
                Curve::line("a", up.clone()),
                Curve::line("b", up.clone()),
                Curve::line("c", down.clone()),
                Curve::line("d", up.clone()),
            ]
        };
        let chart = Chart::new(Look::File, &[Panel::by_epoch("", Axis::new("y", Scale::Linear), curves())]);
        let dashes: Vec<&str> = lines(&chart, 50).iter().map(|line| line.1).collect();
        // The first is solid, those on it have gaps of their own; the one that only crosses it is solid.
        assert!(dashes[0].is_empty() && dashes[2].is_empty(), "{dashes:?}");
        assert!(!dashes[1].is_empty() && !dashes[3].is_empty() && dashes[1] != dashes[3], "{dashes:?}");
        // Their marks are at different epochs.
        let marks = |number: usize| -> Vec<i64> {
            let paint = Look::File.curve(number, None);
            let of = |shape: &Shape| match shape {
                Shape::Mark { at, paint: p, .. } if *p == paint => Some((at.0 * 10.0) as i64),
                _ => None,
            };
            chart.shapes.iter().filter_map(of).collect()
        };
        let (a, b) = (marks(0), marks(1));
        assert!(a.len() > 4 && a.iter().all(|x| !b[..b.len() - 1].contains(x)), "{a:?} {b:?}");
    }
}
