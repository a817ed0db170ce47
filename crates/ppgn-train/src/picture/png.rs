//! A picture as PNG, two pixels a unit: lines with soft edges, letters of the built-in font.

use super::font::{COLUMNS, ROWS, glyph};
use super::{Anchor, Colour, LETTER, Picture, Shape};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;

/// Pixels a unit, and pixels a dot of a letter.
const SCALE: usize = 2;

struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Colour>,
}

impl Picture {
    /// The bytes of the file.
    pub(crate) fn png(&self) -> Vec<u8> {
        let [width, height] = [self.width, self.height].map(|x| (x.ceil() as usize).max(1) * SCALE);
        let mut canvas = Canvas { width, height, pixels: vec![[255; 3]; width * height] };
        for shape in &self.shapes {
            match shape {
                Shape::Line { points, width, colour } => canvas.line(points, *width, *colour),
                Shape::Words { at, anchor, colour, text } => canvas.words(*at, *anchor, *colour, text),
            }
        }
        canvas.encode()
    }
}

impl Canvas {
    /// A line whose pixels are covered by how far inside of it they are. The bends are round: a pixel is as near as it is
    /// to the nearest part.
    fn line(&mut self, points: &[(f64, f64)], width: f64, colour: Colour) {
        let scale = |&(x, y): &(f64, f64)| (x * SCALE as f64, y * SCALE as f64);
        let points: Vec<(f64, f64)> = points.iter().map(scale).collect();
        let reach = width * SCALE as f64 / 2.0 + 0.5;
        let mut cover = vec![0f64; self.pixels.len()];
        for pair in points.windows(2) {
            let [(ax, ay), (bx, by)] = [pair[0], pair[1]];
            let range = |a: f64, b: f64, most: usize| {
                let (low, high) = ((a.min(b) - reach).floor(), (a.max(b) + reach).ceil());
                low.clamp(0.0, most as f64) as usize..high.clamp(0.0, most as f64) as usize
            };
            let (dx, dy) = (bx - ax, by - ay);
            let length = (dx * dx + dy * dy).max(f64::MIN_POSITIVE);
            for row in range(ay, by, self.height) {
                for column in range(ax, bx, self.width) {
                    let (px, py) = (column as f64 + 0.5 - ax, row as f64 + 0.5 - ay);
                    let along = ((px * dx + py * dy) / length).clamp(0.0, 1.0);
                    let far = (px - along * dx).hypot(py - along * dy);
                    let cover = &mut cover[row * self.width + column];
                    *cover = cover.max((reach - far).clamp(0.0, 1.0));
                }
            }
        }
        for (pixel, cover) in self.pixels.iter_mut().zip(cover).filter(|(_, cover)| *cover > 0.0) {
            for (p, c) in pixel.iter_mut().zip(colour) {
                *p = (f64::from(*p) * (1.0 - cover) + f64::from(c) * cover).round() as u8;
            }
        }
    }

    fn words(&mut self, (x, y): (f64, f64), anchor: Anchor, colour: Colour, text: &str) {
        let wide = LETTER * text.chars().count() as f64;
        let x = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - wide / 2.0,
            Anchor::End => x - wide,
        };
        let left = (x * SCALE as f64).round() as i64;
        let top = (y * SCALE as f64).round() as i64 - (ROWS * SCALE) as i64;
        for (place, letter) in text.chars().enumerate() {
            let left = left + (place as f64 * LETTER) as i64 * SCALE as i64;
            for (row, bits) in glyph(letter).into_iter().enumerate() {
                for column in (0..COLUMNS).filter(|c| bits >> (COLUMNS - 1 - c) & 1 == 1) {
                    self.dot(left + (column * SCALE) as i64, top + (row * SCALE) as i64, colour);
                }
            }
        }
    }

    fn dot(&mut self, left: i64, top: i64, colour: Colour) {
        for row in top..top + SCALE as i64 {
            for column in left..left + SCALE as i64 {
                let inside =
                    (0..self.width as i64).contains(&column) && (0..self.height as i64).contains(&row);
                if inside {
                    self.pixels[row as usize * self.width + column as usize] = colour;
                }
            }
        }
    }

    fn encode(&self) -> Vec<u8> {
        // Eight bits a channel, red, green and blue, no interlacing; every row begins with its filter, none.
        let [width, height] = [self.width, self.height].map(|n| (n as u32).to_be_bytes());
        let header = [&width[..], &height, &[8, 2, 0, 0, 0]].concat();
        let mut rows = Vec::with_capacity(self.height * (1 + 3 * self.width));
        for row in self.pixels.chunks(self.width) {
            rows.push(0);
            rows.extend(row.iter().flatten());
        }
        let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
        chunk(&mut png, b"IHDR", &header);
        chunk(&mut png, b"IDAT", &compressed(&rows));
        chunk(&mut png, b"IEND", &[]);
        png
    }
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // A vector takes whatever is written to it.
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default()
}

fn chunk(png: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    png.extend((data.len() as u32).to_be_bytes());
    let start = png.len();
    png.extend(name);
    png.extend(data);
    let checksum = crc32fast::hash(&png[start..]);
    png.extend(checksum.to_be_bytes());
}
