//! Plots as pictures: a list of lines and words that becomes SVG, and PNG with the same content.
//!
//! A picture is for readers of a report, so it must come out the same on every machine: the PNG is drawn here, with
//! letters of its own, and needs neither a font nor a library that looks for one.

mod font;
mod png;
mod svg;

use crate::report::chart::{short, ticks};

/// Something drawn, in units of which a letter is [`LETTER`] wide.
pub(crate) enum Shape {
    /// A line through points.
    Line { points: Vec<(f64, f64)>, width: f64, colour: Colour },
    /// Words, their foot at this height.
    Words { at: (f64, f64), anchor: Anchor, colour: Colour, text: String },
}

/// Where words are, seen from their place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Red, green, blue.
pub(crate) type Colour = [u8; 3];

/// Room that a letter takes.
const LETTER: f64 = 6.0;

const DARK: Colour = [0x33, 0x33, 0x33];
const SOFT: Colour = [0x77, 0x77, 0x77];
const GRID: Colour = [0xe4, 0xe4, 0xe4];

/// Colours that people with any kind of colour vision tell apart (Okabe and Ito).
const COLOURS: [Colour; 4] = [[0x00, 0x72, 0xb2], [0xd5, 0x5e, 0x00], [0x00, 0x9e, 0x73], [0xcc, 0x79, 0xa7]];

/// What is drawn, and how large it is.
pub(crate) struct Picture {
    width: f64,
    height: f64,
    shapes: Vec<Shape>,
}

/// Curves over the same range, beside others of their kind.
pub(crate) struct Panel<'a> {
    pub(crate) title: String,
    /// Each by its name.
    pub(crate) curves: Vec<(&'a str, Vec<(f64, f64)>)>,
}

impl Panel<'_> {
    /// The least and the greatest of some numbers of its points, if they have any.
    fn range(&self, of: impl Fn(&(f64, f64)) -> f64) -> Option<(f64, f64)> {
        let numbers = self.curves.iter().flat_map(|(_, points)| points).map(of).filter(|x| x.is_finite());
        numbers.fold(None, |range: Option<(f64, f64)>, x| {
            Some(range.map_or((x, x), |(low, high)| (low.min(x), high.max(x))))
        })
    }
}

/// A panel's scales: where its marks are, and what is written at them. The outermost are its ends.
struct Frame {
    across: Vec<(f64, String)>,
    up: Vec<(f64, String)>,
}

const PANEL: (f64, f64) = (420.0, 300.0);
const LEFT: f64 = 44.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 58.0;

impl Picture {
    /// Panels side by side: values by epoch, from 1 on, a curve each with its name below. All panels have one scale.
    pub(crate) fn by_epoch(panels: &[Panel<'_>]) -> Self {
        let ranges = || panels.iter().filter_map(|panel| panel.range(|p| p.1));
        let range = ranges().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let marks = range.map_or(vec![0.0, 1.0], |(low, high)| ticks(low, high));
        let up: Vec<(f64, String)> = marks.iter().map(|&mark| (mark, short(mark))).collect();
        let frame = |panel: &Panel<'_>| {
            let epochs = panel.range(|p| p.0).map_or(1.0, |range| range.1);
            let across = vec![(1.0, "epoch 1".into()), (epochs.max(2.0), epochs.to_string())];
            Frame { across, up: up.clone() }
        };
        Self::panels(panels, frame)
    }

    /// The same with both scales by their logarithms, marked at powers of two across and of ten upwards: what grows as a
    /// power is a straight line. Numbers are above 0; panels have scales of their own.
    pub(crate) fn logarithmic(mut panels: Vec<Panel<'_>>) -> Self {
        for (_, points) in panels.iter_mut().flat_map(|panel| &mut panel.curves) {
            points.iter_mut().for_each(|(x, y)| (*x, *y) = (x.log2(), y.log10()));
        }
        let powers = |base: f64, range: Option<(f64, f64)>| {
            let (low, high) = range.map_or((0, 1), |(low, high)| (low.floor() as i32, high.ceil() as i32));
            (low..=high.max(low + 1)).map(|e| (f64::from(e), short(base.powi(e)))).collect()
        };
        Self::panels(&panels, |panel| Frame {
            across: powers(2.0, panel.range(|p| p.0)),
            up: powers(10.0, panel.range(|p| p.1)),
        })
    }

    fn panels(panels: &[Panel<'_>], frame: impl Fn(&Panel<'_>) -> Frame) -> Self {
        let (width, height) = (PANEL.0 * panels.len() as f64, PANEL.1);
        let mut picture = Picture { width, height, shapes: Vec::new() };
        for (i, panel) in panels.iter().enumerate() {
            picture.panel(PANEL.0 * i as f64, panel, &frame(panel));
        }
        picture
    }

    fn panel(&mut self, from: f64, panel: &Panel<'_>, Frame { across, up }: &Frame) {
        let (left, right) = (from + LEFT, from + PANEL.0 - RIGHT);
        let (top, bottom) = (TOP, PANEL.1 - BOTTOM);
        let place = |marks: &[(f64, String)], at: f64, (start, end): (f64, f64)| {
            let (low, high) = (marks[0].0, marks[marks.len() - 1].0);
            start + (at - low) / (high - low) * (end - start)
        };
        let x = |at: f64| place(across, at, (left, right));
        let y = |at: f64| place(up, at, (bottom, top));
        self.words((left, top - 14.0), Anchor::Start, DARK, panel.title.clone());
        for (mark, name) in up {
            self.line(vec![(left, y(*mark)), (right, y(*mark))], 1.0, GRID);
            self.words((left - 6.0, y(*mark) + 3.5), Anchor::End, SOFT, name.clone());
        }
        for (i, (mark, name)) in across.iter().enumerate() {
            let anchor = match i {
                0 => Anchor::Start,
                _ if i + 1 == across.len() => Anchor::End,
                _ => Anchor::Middle,
            };
            self.words((x(*mark), bottom + 16.0), anchor, SOFT, name.clone());
        }
        let mut at = left;
        for (c, (name, curve)) in panel.curves.iter().enumerate() {
            let colour = COLOURS[c % COLOURS.len()];
            let points = curve.iter().filter(|(_, v)| v.is_finite());
            self.line(points.map(|&(a, v)| (x(a), y(v))).collect(), 1.6, colour);
            self.line(vec![(at, bottom + 37.0), (at + 18.0, bottom + 37.0)], 3.0, colour);
            self.words((at + 24.0, bottom + 40.5), Anchor::Start, DARK, (*name).into());
            at += 24.0 + LETTER * name.len() as f64 + 24.0;
        }
    }

    fn line(&mut self, points: Vec<(f64, f64)>, width: f64, colour: Colour) {
        self.shapes.push(Shape::Line { points, width, colour });
    }

    fn words(&mut self, at: (f64, f64), anchor: Anchor, colour: Colour, text: String) {
        self.shapes.push(Shape::Words { at, anchor, colour, text });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Picture {
        let (a, b) = ([0.5, 0.75, 1.0], [0.5, f64::NAN, 0.25]);
        let by_epoch = |values: [f64; 3]| [1.0, 2.0, 3.0].into_iter().zip(values).collect();
        let panel = |title: &str| Panel {
            title: title.into(),
            curves: vec![("mp", by_epoch(a)), ("a<b", by_epoch(b))],
        };
        Picture::by_epoch(&[panel("training"), panel("validation & more")])
    }

    #[test]
    fn svg_has_every_curve_and_name() {
        let svg = picture().svg();
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{svg}");
        assert_eq!(svg.matches("#0072b2").count(), 4, "{svg}");
        assert!(svg.contains("a&lt;b") && svg.contains("validation &amp; more") && !svg.contains("NaN"));
    }

    #[test]
    fn png_is_sound_and_coloured() {
        let png = picture().png();
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
        // Every chunk's length and checksum, up to the end.
        let mut at = 8;
        let (mut data, mut names) = (Vec::new(), Vec::new());
        while at < png.len() {
            let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
            let length = number(at) as usize;
            let body = &png[at + 4..at + 8 + length];
            assert_eq!(number(at + 8 + length), crc32fast::hash(body));
            names.push(body[..4].to_vec());
            if body.starts_with(b"IDAT") {
                data.extend_from_slice(&body[4..]);
            }
            at += 12 + length;
        }
        assert_eq!(names, [b"IHDR", b"IDAT", b"IEND"]);
        let mut rows = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::ZlibDecoder::new(&data[..]), &mut rows).unwrap();
        assert_eq!(rows.len(), 600 * (1 + 3 * 1680));
        let pixels: Vec<Colour> =
            rows.chunks(1 + 3 * 1680).flat_map(|r| r[1..].chunks(3).map(|p| [p[0], p[1], p[2]])).collect();
        for colour in [COLOURS[0], COLOURS[1], DARK] {
            assert!(pixels.iter().filter(|p| **p == colour).count() > 100, "{colour:?}");
        }
    }

    #[test]
    fn nothing_to_draw_is_an_empty_frame() {
        let panel = || Panel { title: "é".into(), curves: vec![("none", Vec::new())] };
        for picture in [Picture::by_epoch(&[panel()]), Picture::logarithmic(vec![panel()])] {
            assert!(picture.svg().contains("none") && picture.png().len() > 100);
        }
    }

    #[test]
    fn powers_are_straight_lines() {
        let curve = [1.0f64, 2.0, 4.0, 8.0].map(|n| (n, n.powi(3))).to_vec();
        let picture = Picture::logarithmic(vec![Panel { title: "n^3".into(), curves: vec![("a", curve)] }]);
        let drawn = picture.shapes.iter().find_map(|shape| match shape {
            Shape::Line { points, .. } if points.len() == 4 => Some(points),
            _ => None,
        });
        let steps: Vec<(f64, f64)> =
            drawn.unwrap().windows(2).map(|w| (w[1].0 - w[0].0, w[1].1 - w[0].1)).collect();
        assert!(steps.iter().all(|s| (s.0 - steps[0].0).abs() < 1e-9 && (s.1 - steps[0].1).abs() < 1e-9));
        assert!(picture.svg().contains(">8</text>") && picture.svg().contains(">1000</text>"));
    }
}
