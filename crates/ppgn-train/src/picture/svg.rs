//! A picture as SVG.

use super::{Anchor, Colour, Picture, Shape};
use std::fmt::Write;

impl Picture {
    /// The text of the file.
    pub(crate) fn svg(&self) -> String {
        let Picture { width, height, shapes } = self;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        for shape in shapes {
            let _ = match shape {
                Shape::Line { points, width, colour } => {
                    let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
                    writeln!(
                        svg,
                        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\" \
                         stroke-linejoin=\"round\"/>",
                        points.join(" "),
                        hex(*colour)
                    )
                }
                Shape::Words { at: (x, y), anchor, colour, text } => {
                    let anchor = match anchor {
                        Anchor::Start => "start",
                        Anchor::Middle => "middle",
                        Anchor::End => "end",
                    };
                    writeln!(
                        svg,
                        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{}\">{}</text>",
                        hex(*colour),
                        crate::report::escape(text)
                    )
                }
            };
        }
        svg + "</svg>\n"
    }
}

fn hex([r, g, b]: Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}
