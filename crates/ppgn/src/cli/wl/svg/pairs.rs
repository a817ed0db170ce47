//! The matrix of a graph's pairs: row i, column j in the fill of the colour of (i, j), with the numbers of nodes along both axes.

use ppgn_view::draw::Palette;
use std::fmt::Write;

/// The room of the axes.
const AXIS: f64 = 34.0;
/// Numbers along an axis, at most.
const NUMBERS: usize = 25;

/// The side of the square that the matrix of n nodes and its axes are drawn in.
pub(super) fn side(n: usize) -> f64 {
    AXIS + (8.0 * n as f64).clamp(220.0, 480.0)
}

pub(super) fn draw(svg: &mut String, n: usize, colours: &[u32], palette: &Palette) {
    let width = side(n) - AXIS;
    let cell = width / n.max(1) as f64;
    axes(svg, n, width, cell);
    let _ = writeln!(svg, "<g transform=\"translate({AXIS} {AXIS})\" shape-rendering=\"crispEdges\">");
    for (i, row) in colours.chunks(n.max(1)).enumerate() {
        // Equal neighbours in a row are one rectangle.
        let mut j = 0;
        while j < n {
            let run = row[j..].iter().take_while(|&&c| c == row[j]).count();
            palette.fills(row[j], |fill| {
                let _ = writeln!(
                    svg,
                    "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{fill}\"/>",
                    j as f64 * cell,
                    i as f64 * cell,
                    run as f64 * cell + 0.05,
                    cell + 0.05,
                );
            });
            j += run;
        }
    }
    let _ = writeln!(
        svg,
        "<rect width=\"{width:.1}\" height=\"{width:.1}\" fill=\"none\" stroke=\"#333\"/>\n</g>"
    );
}

fn axes(svg: &mut String, n: usize, width: f64, cell: f64) {
    let step = [1, 2, 5, 10, 20, 50].into_iter().find(|step| n.div_ceil(*step) <= NUMBERS).unwrap_or(100);
    svg.push_str("<g font-size=\"9\" fill=\"#555\">\n");
    let middle = AXIS + width / 2.0;
    let _ = writeln!(svg, "<text x=\"{middle:.1}\" y=\"10\" text-anchor=\"middle\">node j</text>");
    let _ = writeln!(
        svg,
        "<text transform=\"translate(9 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">node i</text>"
    );
    for u in (0..n).step_by(step) {
        let at = AXIS + (u as f64 + 0.5) * cell;
        let _ =
            writeln!(svg, "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{u}</text>", AXIS - 5.0);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{u}</text>",
            AXIS - 4.0,
            at + 3.2
        );
    }
    svg.push_str("</g>\n");
}
