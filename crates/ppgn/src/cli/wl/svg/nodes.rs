//! A graph on paper: edges, and nodes with their numbers in the fill of their colour.

use ppgn::graph::Graph;
use ppgn_view::draw::Palette;
use std::fmt::Write;

/// Beyond this many nodes there is no room for numbers.
const NUMBERED: usize = 200;

/// The side of the square that a graph of n nodes is drawn in: the same room for each node, within reason.
pub(super) fn side(n: usize) -> f64 {
    (60.0 * (n as f64).sqrt()).clamp(220.0, 640.0)
}

/// The radius of a node.
fn radius(n: usize) -> f64 {
    if n <= NUMBERED { 9.0 } else { (0.2 * side(n) / (n as f64).sqrt()).clamp(1.5, 9.0) }
}

/// How far nodes must be apart, as a share of the room that their centres have.
pub(super) fn apart(n: usize) -> f64 {
    2.7 * radius(n) / room(n)
}

/// The side of the square that centres are in.
fn room(n: usize) -> f64 {
    side(n) - 4.0 * radius(n)
}

pub(super) fn draw(svg: &mut String, graph: &Graph, places: &[[f64; 2]], colours: &[u32], palette: &Palette) {
    let n = graph.nodes();
    let (radius, room) = (radius(n), room(n));
    let at = |u: usize| (2.0 * radius + places[u][0] * room, 2.0 * radius + places[u][1] * room);
    let _ = writeln!(svg, "<g stroke=\"#999\" stroke-width=\"1\" fill=\"none\">");
    for (u, v, _) in graph.edge_list() {
        let ((x, y), (a, b)) = (at(u), at(v));
        let _ = match u == v {
            true => {
                writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"{:.1}\"/>", y - radius, radius * 0.8)
            }
            false => writeln!(svg, "<path d=\"M{x:.1} {y:.1}L{a:.1} {b:.1}\"/>"),
        };
    }
    svg.push_str("</g>\n");
    for (u, &c) in colours.iter().enumerate() {
        let (x, y) = at(u);
        palette.fills(c, |fill| {
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{fill}\" stroke=\"#333\"><title>node {u}, colour {c}</title></circle>"
            );
        });
        if n <= NUMBERED {
            let ink = if palette.is_dark(c) { "white" } else { "black" };
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"9\" text-anchor=\"middle\" fill=\"{ink}\">{u}</text>",
                y + 3.2
            );
        }
    }
}
