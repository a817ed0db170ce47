//! Renders a chart as the text of an SVG element.

use super::{Anchor, Chart, Look, Shape};
use std::fmt::Write;

impl Chart {
    /// The SVG.
    pub(crate) fn svg(&self) -> String {
        let Chart { look, width, height, shapes } = self;
        let mut svg = match look {
            Look::File => format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
                 height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
                 <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
            ),
            Look::Page => format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\">\n"),
        };
        for shape in shapes {
            let _ = match shape {
                Shape::Line { points, width, paint, dashed } => {
                    let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
                    let dashes = if *dashed { " stroke-dasharray=\"3 4\"" } else { "" };
                    writeln!(
                        svg,
                        "<polyline points=\"{}\" fill=\"none\" stroke=\"{paint}\" stroke-width=\"{width}\" \
                         stroke-linejoin=\"round\"{dashes}/>",
                        points.join(" ")
                    )
                }
                Shape::Words { at: (x, y), anchor, paint, text } => {
                    let anchor = match anchor {
                        Anchor::Start => "start",
                        Anchor::Middle => "middle",
                        Anchor::End => "end",
                    };
                    writeln!(
                        svg,
                        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{paint}\">{}</text>",
                        crate::report::escape(text)
                    )
                }
            };
        }
        svg + "</svg>\n"
    }
}
