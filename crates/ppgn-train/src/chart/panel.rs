//! One panel: grid, ticks, titles, curves and their legend, placed so that no text lies on another.

use super::coincide::dashes;
use super::{Anchor, Axis, Chart, Curve, Drawn, Paint, Panel, Shape};

const RIGHT: f64 = 16.0;
/// From one line of text to the next.
const LINE: f64 = 18.0;
/// The room of a sample in the legend.
const SAMPLE: f64 = 30.0;

/// A line with more points than this has marks at some of them.
const ALL_MARKED: usize = 24;
/// Marks of such a line.
const MARKS: usize = 8;

/// The part of a panel with the curves, in drawn units.
#[derive(Clone, Copy)]
struct Place {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Chart {
    /// Draws a panel from this x on and gives its height.
    pub(super) fn panel(&mut self, from: f64, panel: &Panel<'_>) -> f64 {
        let look = self.look;
        let (width, height) = look.panel();
        let marks = |axis: &Axis, of: fn(&(f64, f64)) -> f64| {
            let range = [axis.range, panel.range(of)].into_iter().flatten();
            axis.scale.marks(range.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))))
        };
        let (across, up) = (marks(&panel.across, |p| p.0), marks(&panel.up, |p| p.1));
        let widest = up.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
        let left = from + (look.letter() * widest as f64 + 12.0).max(40.0);
        let titles = f64::from(u8::from(!panel.title.is_empty())) * 20.0;
        let top = 14.0 + titles + LINE;
        let place = Place { left, right: from + width - RIGHT, top, bottom: top + height };
        let x = move |at: f64| {
            let at = panel.across.scale.coordinate(at);
            place.left + (at - across.low) / (across.high - across.low) * (place.right - place.left)
        };
        let y = move |at: f64| {
            let at = panel.up.scale.coordinate(at);
            place.bottom + (at - up.low) / (up.high - up.low) * (place.top - place.bottom)
        };
        self.bold((from + 10.0, 16.0), panel.title.clone());
        self.words((from + 10.0, top - 10.0), Anchor::Start, look.soft(), panel.up.title.clone());
        let inverse = |low: f64, high: f64, mark: f64, start: f64, end: f64| {
            start + (mark - low) / (high - low) * (end - start)
        };
        for (mark, label) in &up.ticks {
            let height = inverse(up.low, up.high, *mark, place.bottom, place.top);
            self.line(vec![(place.left, height), (place.right, height)], 1.0, look.grid(), "");
            self.words((place.left - 6.0, height + 4.0), Anchor::End, look.soft(), label.clone());
        }
        let ticks = across.ticks.iter().map(|(mark, label)| {
            (inverse(across.low, across.high, *mark, place.left, place.right), label.as_str())
        });
        self.ticks_across(place, ticks.collect());
        let middle = (place.left + place.right) / 2.0;
        self.words(
            (middle, place.bottom + 17.0 + LINE),
            Anchor::Middle,
            look.soft(),
            panel.across.title.clone(),
        );
        if let Some(best) = panel.best {
            self.best(place, x(best), best);
        }
        let drawn: Vec<Vec<(f64, f64)>> =
            panel.curves.iter().map(|curve| drawn_points(curve, &x, &y)).collect();
        let lines: Vec<Vec<(f64, f64)>> = panel
            .curves
            .iter()
            .zip(&drawn)
            .map(|(curve, points)| if curve.drawn == Drawn::Line { points.clone() } else { Vec::new() })
            .collect();
        let dashes = dashes(&lines);
        for (number, curve) in panel.curves.iter().enumerate() {
            let paint = look.curve(number, curve.named);
            self.curve(curve, number, panel.curves.len(), &drawn[number], paint, dashes[number]);
            if let Drawn::Power(a, b) = curve.drawn {
                let ends = panel_ends(curve).map(|(low, high)| [low, high].map(|n| (x(n), y(a * n.powf(b)))));
                let paint = look.curve(number, curve.named);
                self.shapes.push(Shape::Line {
                    points: ends.map(Vec::from).unwrap_or_default(),
                    width: 1.4,
                    paint,
                    dashes: "",
                });
            }
        }
        self.legend(from, panel, &dashes, place.bottom + 20.0 + 2.0 * LINE)
    }

    /// The labels of the horizontal axis that have room, both ends first.
    fn ticks_across(&mut self, place: Place, ticks: Vec<(f64, &str)>) {
        let look = self.look;
        let wide = |label: &str| look.letter() * label.chars().count() as f64;
        let edge = place.right + RIGHT;
        let mut taken: Vec<(f64, f64)> = Vec::new();
        let last = ticks.len().saturating_sub(1);
        let order = [0, last].into_iter().chain(1..last).take(ticks.len());
        for i in order {
            let (at, label) = ticks[i];
            let middle = at.min(edge - wide(label) / 2.0);
            let (start, end) = (middle - wide(label) / 2.0, middle + wide(label) / 2.0);
            self.line(vec![(at, place.bottom), (at, place.bottom + 4.0)], 1.0, look.soft(), "");
            if taken.iter().all(|(a, b)| start > b + 6.0 || end < a - 6.0) {
                taken.push((start, end));
                self.words((middle, place.bottom + 17.0), Anchor::Middle, look.soft(), label.to_string());
            }
        }
    }

    /// The best epoch as a line, with its number above.
    fn best(&mut self, place: Place, at: f64, best: f64) {
        let look = self.look;
        self.line(vec![(at, place.top - 5.0), (at, place.bottom)], 1.0, look.soft(), "3 4");
        let text = format!("best: epoch {best}");
        let half = look.letter() * text.chars().count() as f64 / 2.0;
        // The axis title is on the left of the same line; where they would meet, the text goes to the right of the line.
        let middle =
            at.clamp(place.left + half + 60.0, (place.right + RIGHT - half).max(place.left + half + 60.0));
        self.words((middle, place.top - 10.0), Anchor::Middle, look.soft(), text);
    }

    fn curve(
        &mut self,
        curve: &Curve<'_>,
        number: usize,
        of: usize,
        points: &[(f64, f64)],
        paint: Paint,
        dashes: &'static str,
    ) {
        // Earlier marks are larger, so that they are seen behind those on top of them.
        let size = if of == 1 { 3.4 } else { (4.4 - 0.6 * number as f64).max(2.6) };
        match curve.drawn {
            Drawn::Line => {
                self.line(points.to_vec(), 1.8, paint.clone(), dashes);
                for at in marked(points, number, of) {
                    self.shapes.push(Shape::Mark { at, size, paint: paint.clone(), form: number });
                }
            }
            Drawn::Power(..) => points.iter().for_each(|&at| {
                self.shapes.push(Shape::Mark { at, size: 1.2 * size, paint: paint.clone(), form: number });
            }),
            Drawn::Dots => points.iter().for_each(|&at| {
                self.shapes.push(Shape::Mark { at, size: 2.4, paint: paint.clone(), form: 0 });
            }),
            Drawn::Guide => self.line(points.to_vec(), 1.0, self.look.soft(), "4 4"),
        }
    }

    /// The names of the curves, in as many lines as they need; gives the height of the panel.
    fn legend(&mut self, from: f64, panel: &Panel<'_>, dashes: &[&'static str], top: f64) -> f64 {
        let look = self.look;
        let (width, _) = look.panel();
        let (left, right) = (from + 10.0, from + width - 4.0);
        let (mut at, mut height) = (left, top);
        let most = ((right - left - SAMPLE) / look.letter()) as usize;
        let named = |(_, curve): &(usize, &Curve<'_>)| {
            curve.drawn != Drawn::Guide && !curve.name.is_empty() && !curve.points.is_empty()
        };
        for (number, curve) in panel.curves.iter().enumerate().filter(named) {
            let name = shortened(&curve.name, most);
            let needed = SAMPLE + look.letter() * name.chars().count() as f64;
            if at > left && at + needed > right {
                (at, height) = (left, height + LINE);
            }
            let paint = look.curve(number, curve.named);
            let middle = height - 4.0;
            if curve.drawn != Drawn::Dots {
                self.line(vec![(at, middle), (at + 22.0, middle)], 1.8, paint.clone(), dashes[number]);
            }
            let form = if curve.drawn == Drawn::Dots { 0 } else { number };
            self.shapes.push(Shape::Mark { at: (at + 11.0, middle), size: 3.6, paint, form });
            self.words((at + SAMPLE, height), Anchor::Start, look.ink(), name);
            at += needed + 16.0;
        }
        height + 10.0
    }

    fn line(&mut self, points: Vec<(f64, f64)>, width: f64, paint: Paint, dashes: &'static str) {
        self.shapes.push(Shape::Line { points, width, paint, dashes });
    }

    fn words(&mut self, at: (f64, f64), anchor: Anchor, paint: Paint, text: String) {
        if !text.is_empty() {
            self.shapes.push(Shape::Words { at, anchor, paint, bold: false, text });
        }
    }

    fn bold(&mut self, at: (f64, f64), text: String) {
        if !text.is_empty() {
            let paint = self.look.ink();
            self.shapes.push(Shape::Words { at, anchor: Anchor::Start, paint, bold: true, text });
        }
    }
}

/// The points of a curve where they are drawn.
fn drawn_points(curve: &Curve<'_>, x: &impl Fn(f64) -> f64, y: &impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let places = curve.points.iter().map(|&(a, v)| (x(a), y(v)));
    places.filter(|(a, v)| a.is_finite() && v.is_finite()).collect()
}

/// The first and the last x of a curve.
fn panel_ends(curve: &Curve<'_>) -> Option<(f64, f64)> {
    curve.points.first().zip(curve.points.last()).map(|(first, last)| (first.0, last.0))
}

/// The points of a line that have marks: all of few, of many some at equal distances. Those of several curves alternate, so
/// that the marks of curves that coincide are all seen.
fn marked(points: &[(f64, f64)], number: usize, of: usize) -> Vec<(f64, f64)> {
    if points.len() <= ALL_MARKED {
        return points.to_vec();
    }
    let step = points.len() as f64 / MARKS as f64;
    let offset = step * (number as f64 + 0.5) / of.max(1) as f64;
    (0..MARKS).filter_map(|i| points.get((offset + i as f64 * step) as usize).copied()).collect()
}

/// Text with its middle left out where it is longer than this.
fn shortened(text: &str, most: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= most {
        return text.to_string();
    }
    let half = most.saturating_sub(1) / 2;
    letters[..half].iter().chain(['…'].iter()).chain(&letters[letters.len() - half..]).collect()
}
