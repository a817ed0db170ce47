//! Renders a chart as the text of an SVG element.

use super::{Anchor, Chart, Look, Shape};
use crate::report::escape;
use std::fmt::Write;

impl Chart {
    /// The SVG.
    pub(crate) fn svg(&self) -> String {
        let Chart { look, width, height, label, shapes } = self;
        let label = escape(label);
        let mut svg = match look {
            Look::File => format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
                 height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\" aria-label=\"{label}\">\n\
                 <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
            ),
            Look::Page => {
                format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">\n")
            }
        };
        let page = look.page();
        for shape in shapes {
            let _ = match shape {
                Shape::Line { points, width, paint, dashes } => {
                    let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
                    let dashes = match dashes.is_empty() {
                        true => String::new(),
                        false => format!(" stroke-dasharray=\"{dashes}\""),
                    };
                    writeln!(
                        svg,
                        "<polyline points=\"{}\" fill=\"none\" stroke=\"{paint}\" stroke-width=\"{width}\" \
                         stroke-linejoin=\"round\"{dashes}/>",
                        points.join(" ")
                    )
                }
                Shape::Mark { at, size, paint, form } => {
                    writeln!(
                        svg,
                        "<path d=\"{}\" fill=\"{paint}\" stroke=\"{page}\" stroke-width=\"0.8\"/>",
                        mark(*at, *size, *form)
                    )
                }
                Shape::Words { at: (x, y), anchor, paint, bold, text } => {
                    let anchor = match anchor {
                        Anchor::Start => "start",
                        Anchor::Middle => "middle",
                        Anchor::End => "end",
                    };
                    let weight = if *bold { " font-weight=\"bold\"" } else { "" };
                    writeln!(
                        svg,
                        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{paint}\"{weight}>{}</text>",
                        escape(text)
                    )
                }
            };
        }
        svg + "</svg>\n"
    }
}

/// The outline of a mark: circle, square, triangle, diamond, or triangle on its head.
fn mark((x, y): (f64, f64), size: f64, form: usize) -> String {
    let corners: &[(f64, f64)] = match form % 5 {
        0 => {
            return format!(
                "M{:.1} {y:.1}a{size:.1} {size:.1} 0 1 0 {:.1} 0a{size:.1} {size:.1} 0 1 0 -{:.1} 0",
                x - size,
                2.0 * size,
                2.0 * size
            );
        }
        1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        2 => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        3 => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
        _ => &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
    };
    let corners: Vec<String> =
        corners.iter().map(|(a, b)| format!("{:.1} {:.1}", x + a * size, y + b * size)).collect();
    format!("M{}z", corners.join("L"))
}
