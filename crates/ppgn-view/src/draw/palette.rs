//! Fills for colour numbers that people can distinguish: each is as far as possible from all before it, in OKLab, a space in which
//! equal distances look equal (Björn Ottosson, 2020). Where fills run out, numbers repeat them with a pattern on top.

use std::collections::BTreeSet;
use std::fmt::Write;

/// Plain fills; more would be too near each other.
const PLAIN: usize = 32;
/// Patterns on top of them: none, lines, lines the other way, dots.
const PATTERNS: usize = 4;

/// A fill as SVG writes it.
pub type Fill = str;

/// A colour: its OKLab coordinates and its sRGB bytes.
#[derive(Debug, Clone, Copy)]
struct Tone {
    lab: [f64; 3],
    rgb: [u8; 3],
}

/// The fills of the colours of a picture.
#[derive(Debug)]
pub struct Palette {
    tones: Vec<Tone>,
    /// The patterns that are used.
    used: BTreeSet<usize>,
}

impl Palette {
    /// Plain fills; more would be too near each other. Beyond them, numbers repeat the fills with a pattern on top.
    pub const PLAIN: usize = PLAIN;

    /// The plain fill of a colour, as `#rrggbb`.
    pub fn fill(&self, colour: u32) -> String {
        let [r, g, b] = self.tone(colour).rgb;
        format!("#{r:02x}{g:02x}{b:02x}")
    }

    /// For these colour numbers.
    pub fn new(colours: impl Iterator<Item = u32>) -> Self {
        let used = colours.map(pattern).filter(|pattern| *pattern > 0).collect();
        Palette { tones: tones(PLAIN), used }
    }

    /// Calls `draw` with every fill of a colour, one on top of the other.
    pub fn fills(&self, colour: u32, mut draw: impl FnMut(&Fill)) {
        draw(&self.fill(colour));
        if let pattern @ 1.. = pattern(colour) {
            draw(&format!("url(#p{pattern})"));
        }
    }

    /// Whether white is better legible on it than black.
    pub fn is_dark(&self, colour: u32) -> bool {
        self.tone(colour).lab[0] < 0.6
    }

    fn tone(&self, colour: u32) -> Tone {
        self.tones[colour as usize % PLAIN]
    }

    /// The definitions of the patterns that are used.
    pub fn patterns(&self) -> String {
        let mut defs = String::new();
        for pattern in &self.used {
            let shape = match pattern {
                1 => "<path d=\"M-1 5L5 -1M3 9L9 3\" stroke=\"black\" stroke-width=\"1.2\"/>",
                2 => "<path d=\"M-1 3L5 9M3 -1L9 5\" stroke=\"white\" stroke-width=\"1.4\"/>",
                _ => "<circle cx=\"4\" cy=\"4\" r=\"1.5\" fill=\"black\"/>",
            };
            let _ = writeln!(
                defs,
                "<pattern id=\"p{pattern}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">{shape}</pattern>"
            );
        }
        if defs.is_empty() { defs } else { format!("<defs>\n{defs}</defs>\n") }
    }
}

/// The pattern of a colour number.
fn pattern(colour: u32) -> usize {
    colour as usize / PLAIN % PATTERNS
}

/// The first fills: the farthest point first, from a blue on white paper with grey edges.
///
/// # Complexity
/// O(count * candidates), with 1440 candidates.
fn tones(count: usize) -> Vec<Tone> {
    let candidates: Vec<Tone> = candidates();
    let blue = toned([0.62, 0.15, 250.0]);
    let mut chosen: Vec<Tone> = blue.into_iter().collect();
    // White is the paper and grey the edges: no fill may be near them.
    let paper = [[1.0, 0.0, 0.0], [0.68, 0.0, 0.0]];
    let mut nearest: Vec<f64> = candidates
        .iter()
        .map(|tone| paper.iter().map(|lab| 0.8 * distance(tone.lab, *lab)).fold(f64::MAX, f64::min))
        .collect();
    let mut last = chosen[0];
    while chosen.len() < count {
        for (near, tone) in nearest.iter_mut().zip(&candidates) {
            *near = near.min(distance(tone.lab, last.lab));
        }
        let Some(i) = (0..candidates.len()).max_by(|&a, &b| nearest[a].total_cmp(&nearest[b])) else { break };
        last = candidates[i];
        chosen.push(last);
    }
    chosen
}

/// Lightness, chroma and hue in steps, as far as screens can show them.
fn candidates() -> Vec<Tone> {
    let lightness = [0.48, 0.56, 0.64, 0.72, 0.80, 0.88];
    let chroma = [0.05, 0.10, 0.15, 0.20];
    let hues = (0..60).map(|i| f64::from(i) * 6.0);
    let all = hues.flat_map(|h| lightness.iter().flat_map(move |l| chroma.map(|c| [*l, c, h])));
    all.filter_map(toned).collect()
}

/// The tone of a lightness, chroma and hue in degrees; nothing where sRGB does not have it.
fn toned([l, c, h]: [f64; 3]) -> Option<Tone> {
    let (a, b) = (c * h.to_radians().cos(), c * h.to_radians().sin());
    let cube = |x: f64, y: f64| (l + x * a + y * b).powi(3);
    let (l_, m_, s_) = (
        cube(0.396_337_777_4, 0.215_803_757_3),
        cube(-0.105_561_345_8, -0.063_854_172_8),
        cube(-0.089_484_177_5, -1.291_485_548),
    );
    let linear = [
        4.076_741_662_1 * l_ - 3.307_711_591_3 * m_ + 0.230_969_929_2 * s_,
        -1.268_438_004_6 * l_ + 2.609_757_401_1 * m_ - 0.341_319_396_5 * s_,
        -0.004_196_086_3 * l_ - 0.703_418_614_7 * m_ + 1.707_614_701 * s_,
    ];
    let in_gamut = linear.iter().all(|x| (-1e-4..=1.0001).contains(x));
    let byte = |x: f64| {
        let x = x.clamp(0.0, 1.0);
        let curved = if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
        (curved * 255.0).round() as u8
    };
    in_gamut.then(|| Tone { lab: [l, a, b], rgb: linear.map(byte) })
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_32_fills_are_far_from_each_other() {
        let tones = tones(PLAIN);
        assert_eq!(tones.len(), PLAIN);
        let nearest = |count: usize| {
            let pairs = (0..count).flat_map(|i| (0..i).map(move |j| (i, j)));
            pairs.map(|(i, j)| distance(tones[i].lab, tones[j].lab)).fold(f64::MAX, f64::min)
        };
        // 0.02 is a difference that is just noticed.
        assert!(
            nearest(12) > 0.13 && nearest(24) > 0.09 && nearest(PLAIN) > 0.07,
            "{} {} {}",
            nearest(12),
            nearest(24),
            nearest(PLAIN)
        );
    }

    #[test]
    fn known_colours_are_converted() {
        // By Ottosson's definition: white, and pure red of sRGB at (0.628, 0.2577, 29.23).
        assert_eq!(toned([1.0, 0.0, 0.0]).unwrap().rgb, [255, 255, 255]);
        let red = toned([0.627_955, 0.2576, 29.234]).unwrap().rgb;
        assert!(red[0] >= 254 && red[1] <= 3 && red[2] <= 3, "{red:?}");
        assert!(toned([0.9, 0.3, 29.0]).is_none());
    }

    #[test]
    fn numbers_beyond_the_fills_have_patterns() {
        let palette = Palette::new([3, 40].into_iter());
        let fills = |colour| {
            let mut all = Vec::new();
            palette.fills(colour, |fill| all.push(fill.to_string()));
            all
        };
        assert_eq!(fills(3).len(), 1);
        assert_eq!((fills(35).len(), &fills(35)[0]), (2, &fills(3)[0]));
        assert!(palette.patterns().contains("id=\"p1\"") && !palette.patterns().contains("p2"));
    }
}
