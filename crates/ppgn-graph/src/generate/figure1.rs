//! Pairs with the properties that the paper states of its Figure 1, whose picture is not in the source: 1-WL does
//! not distinguish the two graphs, and tr(A^3), six times the number of triangles, is 0 for one and 12 for the other.

use super::families::cycles;
use super::{Generator, Made, Parameter};
use crate::error::Result;
use crate::graph::Graph;

pub(super) const FIGURE1: Generator = Generator {
    name: "figure1",
    about: "the pair of the paper's introduction: the same to 1-WL, apart by one matrix product, tr(A^3) = 0 and 12",
    parameters: &[Parameter::new(
        "variant",
        "1",
        "1: the 6-cycle and two triangles; 2: the hexagon with a long chord, and two triangles joined by an edge",
    )],
    make: |a| match a.number("variant", 1..=2)? {
        1 => Ok(Made::pair(cycles(6, 1)?, cycles(3, 2)?)),
        _ => Ok(Made::pair(with_edge(&cycles(6, 1)?)?, with_edge(&cycles(3, 2)?)?)),
    },
};

/// The graph with the edge 0 - 3: the long chord of the hexagon, the link between two triangles.
fn with_edge(g: &Graph) -> Result<Graph> {
    let edges = g.edge_list().map(|(u, v, _)| (u as u32, v as u32));
    Ok(Graph::undirected(g.nodes(), edges.chain([(0, 3)]))?)
}

#[cfg(test)]
mod tests {
    use crate::generate::generate;

    #[test]
    fn pairs_have_the_stated_properties() {
        for (variant, edges) in [(1, 6), (2, 7)] {
            let pair = generate(&format!("figure1:variant={variant}")).unwrap();
            assert_eq!((pair.len(), pair.class(0), pair.class(1)), (2, Some(0), Some(1)));
            let trace = |i: usize| {
                let g = pair.graph(i);
                g.arc_list()
                    .map(|(u, v, _)| {
                        g.neighbours(v).iter().filter(|&&w| g.arc(w as usize, u).is_some()).count()
                    })
                    .sum::<usize>()
            };
            assert_eq!((trace(0), trace(1)), (0, 12));
            let degrees = |i: usize| {
                let g = pair.graph(i);
                let mut degrees: Vec<_> = (0..g.nodes()).map(|u| g.neighbours(u).len()).collect();
                degrees.sort_unstable();
                degrees
            };
            assert_eq!(degrees(0), degrees(1));
            assert_eq!((pair.graph(0).edges(), pair.graph(1).edges()), (edges, edges));
        }
        assert!(generate("figure1:variant=3").unwrap_err().to_string().contains("from 1 to 2"));
    }
}
