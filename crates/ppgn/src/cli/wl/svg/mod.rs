//! Colourings as pictures: one panel per round, the graph with its nodes numbered and coloured (1-WL) or the matrix of its
//! pairs coloured (2-WL, 2-FWL), each with a legend. A colour keeps its fill from round to round in its largest part.

mod nodes;
mod pairs;

use ppgn::graph::Graph;
use ppgn::graph::text::escaped;
use ppgn::wl::Refinement;
use ppgn_view::draw::{Palette, layout};
use std::fmt::Write;

const GAP: f64 = 24.0;
const CAPTION: f64 = 24.0;
/// More rounds than this are shown by their first and last panels.
const MOST_PANELS: usize = 12;

/// Colours in a legend; of more, the largest.
const LEGEND: usize = 12;
/// Entries side by side, and the height of a line of them.
const ACROSS: usize = 3;
const LINE: f64 = 17.0;

/// The largest graph that is drawn as a matrix of pairs.
pub(super) const MOST_PAIR_NODES: usize = 250;

/// The picture as SVG: one row per graph, one panel per round.
pub(super) fn draw(graphs: &[Graph], names: &[String], refinement: &Refinement) -> String {
    let rounds = panels(refinement.rounds());
    let of_nodes = refinement.test().k() == 1;
    let side = |graph: &Graph| if of_nodes { nodes::side(graph.nodes()) } else { pairs::side(graph.nodes()) };
    let widest = graphs.iter().map(side).fold(260.0, f64::max);
    let colourings: Vec<Vec<Vec<u32>>> = (0..graphs.len())
        .map(|g| rounds.iter().map(|&round| refinement.colours_at(g, round)).collect())
        .collect();
    let palette = Palette::new(colourings.iter().flatten().flatten().copied());
    let (mut body, mut y) = (String::new(), GAP);
    for (g, graph) in graphs.iter().enumerate() {
        let places = if of_nodes { layout(graph, nodes::apart(graph.nodes())) } else { Vec::new() };
        let mut height: f64 = 0.0;
        for (p, (&round, colours)) in rounds.iter().zip(&colourings[g]).enumerate() {
            let x = GAP + p as f64 * (widest + GAP);
            let classes = classes(colours);
            let _ = writeln!(body, "<g transform=\"translate({x:.1} {y:.1})\">");
            let count =
                if classes.len() == 1 { "1 colour".into() } else { format!("{} colours", classes.len()) };
            let _ = writeln!(
                body,
                "<text x=\"0\" y=\"14\" fill=\"#333\">{} · round {round} · {count}</text>",
                escape(&names[g])
            );
            let _ = writeln!(body, "<g transform=\"translate(0 {CAPTION})\">");
            match of_nodes {
                true => nodes::draw(&mut body, graph, &places, colours, &palette),
                false => pairs::draw(&mut body, graph.nodes(), colours, &palette),
            }
            body.push_str("</g>\n");
            let below = CAPTION + side(graph) + 16.0;
            let what = if of_nodes { ["node", "nodes"] } else { ["pair", "pairs"] };
            let lines = legend(&mut body, &classes, &palette, below, widest / ACROSS as f64, what);
            body.push_str("</g>\n");
            height = height.max(below + lines as f64 * LINE);
        }
        y += height + GAP;
    }
    let width = GAP + rounds.len() as f64 * (widest + GAP);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {y:.0}\" width=\"{width:.0}\" height=\"{y:.0}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}{body}</svg>\n",
        palette.patterns()
    )
}

/// The rounds that get a panel: all, or the first ones and the last.
fn panels(rounds: usize) -> Vec<usize> {
    match rounds < MOST_PANELS {
        true => (0..=rounds).collect(),
        false => (0..MOST_PANELS - 1).chain([rounds]).collect(),
    }
}

/// The colours that occur with the number of their members, the largest first.
fn classes(colours: &[u32]) -> Vec<(u32, usize)> {
    let mut sorted = colours.to_vec();
    sorted.sort_unstable();
    let mut classes: Vec<(u32, usize)> =
        sorted.chunk_by(|a, b| a == b).map(|class| (class[0], class.len())).collect();
    classes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    classes
}

/// A sample of each colour with its number and the number of its members; gives the number of lines.
fn legend(
    svg: &mut String,
    classes: &[(u32, usize)],
    palette: &Palette,
    top: f64,
    column: f64,
    [one, many]: [&str; 2],
) -> usize {
    // The last place is for what is left out.
    let shown = if classes.len() <= LEGEND { classes.len() } else { LEGEND - 1 };
    for (i, (colour, members)) in classes[..shown].iter().enumerate() {
        let (x, y) = ((i % ACROSS) as f64 * column, top + (i / ACROSS) as f64 * LINE);
        palette.fills(*colour, |fill| {
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"11\" height=\"11\" fill=\"{fill}\" stroke=\"#333\" stroke-width=\"0.6\"/>",
                y - 1.0
            );
        });
        let what = if *members == 1 { one } else { many };
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"10\" fill=\"#333\">{colour}: {members} {what}</text>",
            x + 15.0,
            y + 8.5
        );
    }
    if shown < classes.len() {
        let (x, y) = ((shown % ACROSS) as f64 * column, top + (shown / ACROSS) as f64 * LINE);
        let more = classes.len() - shown;
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"10\" fill=\"#333\">and {more} more</text>",
            y + 8.5
        );
    }
    classes.len().min(LEGEND).div_ceil(ACROSS)
}

/// Text for XML, which allows no control characters, not even escaped ones: they are made visible first.
fn escape(text: &str) -> String {
    escaped(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn::wl::{Options, Test, refine};

    fn picture(graph: Graph, test: Test) -> String {
        let graphs = [graph];
        let refinement = refine(&graphs, test, &Options::default()).unwrap();
        draw(&graphs, &["x".to_string()], &refinement)
    }

    #[test]
    fn nodes_have_numbers_and_colours_a_legend() {
        let path = Graph::undirected(30, (0..29).map(|i| (i, i + 1))).unwrap();
        let svg = picture(path, Test::COLOUR_REFINEMENT);
        for text in [">0</text>", ">29</text>", ">0: 2 nodes</text>", "and 4 more"] {
            assert!(svg.contains(text), "no {text} in {svg}");
        }
    }

    #[test]
    fn matrices_have_axes() {
        let cycle = Graph::undirected(6, (0..6).map(|i| (i, (i + 1) % 6))).unwrap();
        let svg = picture(cycle, Test::fwl(2).unwrap());
        for text in [">node i</text>", ">node j</text>", ">5</text>", ": 6 pairs</text>"] {
            assert!(svg.contains(text), "no {text} in {svg}");
        }
    }

    #[test]
    fn classes_are_sorted_by_size() {
        assert_eq!(classes(&[3, 1, 3, 2, 1, 3]), [(3, 3), (1, 2), (2, 1)]);
        assert!(classes(&[]).is_empty());
    }
}
