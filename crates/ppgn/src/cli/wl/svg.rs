//! Colourings as pictures: one panel per round, the graph with its nodes coloured (1-WL) or the matrix of its pairs
//! coloured (2-WL, 2-FWL). A colour keeps its hue from round to round in its largest part.

use super::layout::layout;
use ppgn::graph::Graph;
use ppgn::graph::text::escaped;
use ppgn::wl::Refinement;
use std::fmt::Write;

const PANEL: f64 = 220.0;
const GAP: f64 = 24.0;
const CAPTION: f64 = 22.0;
/// More rounds than this are shown by their first and last panels.
const MOST_PANELS: usize = 12;

/// The largest graph that is drawn as a matrix of pairs.
pub(super) const MOST_PAIR_NODES: usize = 250;

/// The picture as SVG: one row per graph, one panel per round.
pub(super) fn draw(graphs: &[Graph], names: &[String], refinement: &Refinement) -> String {
    let rounds = panels(refinement.rounds());
    let width = GAP + rounds.len() as f64 * (PANEL + GAP);
    let height = GAP + graphs.len() as f64 * (PANEL + CAPTION + GAP);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (g, graph) in graphs.iter().enumerate() {
        let places = if refinement.test().k() == 1 { layout(graph) } else { Vec::new() };
        for (p, &round) in rounds.iter().enumerate() {
            let (x, y) = (GAP + p as f64 * (PANEL + GAP), GAP + g as f64 * (PANEL + CAPTION + GAP));
            let colours = refinement.colours_at(g, round);
            let mut distinct = colours.clone();
            distinct.sort_unstable();
            distinct.dedup();
            let _ = writeln!(svg, "<g transform=\"translate({x:.1} {y:.1})\">");
            let _ = writeln!(
                svg,
                "<text x=\"0\" y=\"14\" fill=\"#333\">{} · round {round} · {} {}</text>",
                escape(&names[g]),
                distinct.len(),
                if distinct.len() == 1 { "colour" } else { "colours" }
            );
            let _ = writeln!(svg, "<g transform=\"translate(0 {CAPTION})\">");
            match places.is_empty() {
                false => nodes(&mut svg, graph, &places, &colours),
                true => pairs(&mut svg, graph.nodes(), &colours),
            }
            svg.push_str("</g>\n</g>\n");
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// The rounds that get a panel: all, or the first ones and the last.
fn panels(rounds: usize) -> Vec<usize> {
    match rounds < MOST_PANELS {
        true => (0..=rounds).collect(),
        false => (0..MOST_PANELS - 1).chain([rounds]).collect(),
    }
}

fn nodes(svg: &mut String, graph: &Graph, places: &[[f64; 2]], colours: &[u32]) {
    let radius = (60.0 / (graph.nodes() as f64).sqrt()).clamp(1.5, 9.0);
    let at = |u: usize| {
        let scale = PANEL - 4.0 * radius;
        (2.0 * radius + places[u][0] * scale, 2.0 * radius + places[u][1] * scale)
    };
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
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{}\" stroke=\"#333\"><title>node {u}, colour {c}</title></circle>",
            fill(c)
        );
    }
}

fn pairs(svg: &mut String, n: usize, colours: &[u32]) {
    let cell = PANEL / n as f64;
    svg.push_str("<g shape-rendering=\"crispEdges\">\n");
    for (i, row) in colours.chunks(n).enumerate() {
        // Equal neighbours in a row are one rectangle.
        let mut j = 0;
        while j < n {
            let run = row[j..].iter().take_while(|&&c| c == row[j]).count();
            let _ = writeln!(
                svg,
                "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{}\"/>",
                j as f64 * cell,
                i as f64 * cell,
                run as f64 * cell + 0.05,
                cell + 0.05,
                fill(row[j])
            );
            j += run;
        }
    }
    svg.push_str("</g>\n");
}

/// A fill for a colour number: hues by the golden angle, so that near numbers look different.
fn fill(colour: u32) -> String {
    let hue = (f64::from(colour) * 137.507_764) % 360.0;
    let light = [62, 48, 74][(colour / 7 % 3) as usize];
    format!("hsl({hue:.0} 70% {light}%)")
}

/// Text for XML, which allows no control characters, not even escaped ones: they are made visible first.
fn escape(text: &str) -> String {
    escaped(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
