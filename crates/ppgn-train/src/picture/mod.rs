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
    /// Each by its name; values from epoch 1 on.
    pub(crate) curves: Vec<(&'a str, &'a [f64])>,
}

const PANEL: (f64, f64) = (420.0, 300.0);
const LEFT: f64 = 44.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 58.0;

impl Picture {
    /// Panels side by side: values by epoch, a curve each with its name below. All panels have one scale.
    pub(crate) fn panels(panels: &[Panel<'_>]) -> Self {
        let (width, height) = (PANEL.0 * panels.len() as f64, PANEL.1);
        let mut picture = Picture { width, height, shapes: Vec::new() };
        let values = || panels.iter().flat_map(|p| &p.curves).flat_map(|(_, c)| c.iter().copied());
        let values = || values().filter(|v| v.is_finite());
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let marks = if low <= high { ticks(low, high) } else { vec![0.0, 1.0] };
        for (i, panel) in panels.iter().enumerate() {
            picture.panel(PANEL.0 * i as f64, panel, &marks);
        }
        picture
    }

    fn panel(&mut self, from: f64, panel: &Panel<'_>, marks: &[f64]) {
        let (left, right) = (from + LEFT, from + PANEL.0 - RIGHT);
        let (top, bottom) = (TOP, PANEL.1 - BOTTOM);
        let (low, high) = (marks[0], marks[marks.len() - 1]);
        let epochs = panel.curves.iter().map(|(_, c)| c.len()).max().unwrap_or(1).max(1);
        let x = |epoch: usize| left + (epoch - 1) as f64 / (epochs - 1).max(1) as f64 * (right - left);
        let y = |value: f64| bottom - (value - low) / (high - low) * (bottom - top);
        self.words((left, top - 14.0), Anchor::Start, DARK, panel.title.clone());
        for &mark in marks {
            self.line(vec![(left, y(mark)), (right, y(mark))], 1.0, GRID);
            self.words((left - 6.0, y(mark) + 3.5), Anchor::End, SOFT, short(mark));
        }
        self.words((left, bottom + 16.0), Anchor::Start, SOFT, "epoch 1".into());
        self.words((right, bottom + 16.0), Anchor::End, SOFT, epochs.to_string());
        let mut at = left;
        for (c, (name, curve)) in panel.curves.iter().enumerate() {
            let colour = COLOURS[c % COLOURS.len()];
            let points = curve.iter().enumerate().filter(|(_, v)| v.is_finite());
            self.line(points.map(|(e, &v)| (x(e + 1), y(v))).collect(), 1.6, colour);
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
        let panel = |title: &str| Panel { title: title.into(), curves: vec![("mp", &a), ("a<b", &b)] };
        Picture::panels(&[panel("training"), panel("validation & more")])
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
        let picture = Picture::panels(&[Panel { title: "é".into(), curves: vec![("none", &[])] }]);
        assert!(picture.svg().contains("none") && picture.png().len() > 100);
    }
}
