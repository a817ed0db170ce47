//! The counting tasks: random graphs with exact counts of substructures as targets, per graph and per node.
//!
//! The graphs are drawn as in Chen et al., *Can graph neural networks count substructures?* (2020), whose random regular
//! graphs Huang et al. (2023) and others count on: m-regular graphs on n nodes, (n, m) one of (10, 6), (15, 6), (20, 5) and
//! (30, 5), of which n edges are removed. So there are 18.75 nodes and 31.25 edges on average.

use super::regular::regular;
use super::rows::from_edges;
use super::{COUNT, Generator, Made, Parameter, SEED};
use crate::dataset::{Item, Known, Learnable, Target};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::random::Stream;
use crate::substructures::{Counts, SUBSTRUCTURES, counts};

pub(super) const COUNTING: Generator = Generator {
    name: "counting",
    about: "random graphs with the number of triangles, cycles, 4-cliques ... as targets; order 2 can count all but 4-cliques",
    parameters: &[Parameter { default: "5000", ..COUNT }, SEED],
    make: |a| {
        let made = Made::random(a, (30, 150), draw)?;
        let counted: Vec<Counts> = made.graphs.iter().map(counts).collect();
        let values = counted.iter().flat_map(|counts| counts.graph).map(|x| x as f64).collect();
        let targets = SUBSTRUCTURES.map(|name| Target { name: name.into(), unit: String::new() }).to_vec();
        let known = counted.iter().map(|counts| {
            let values = counts.nodes.iter().flatten().map(|&x| x as f64).collect();
            Known::new((0..counts.nodes.len() as u64).collect(), Vec::new(), values).map_err(Error::unfit)
        });
        let known = known.collect::<Result<_>>()?;
        let learnable = Learnable { targets: targets.clone(), ..Learnable::default() };
        Ok(Made { targets: Some((targets, values)), items: Some((Item::Node, learnable, known)), ..made })
    },
};

const SIZES: [(u32, u32); 4] = [(10, 6), (15, 6), (20, 5), (30, 5)];

fn draw(random: &mut Stream) -> Result<Graph> {
    let (n, degree) = SIZES[random.below(SIZES.len())];
    let whole = regular(n, degree, random)?;
    let mut edges: Vec<(u32, u32)> = whole.edge_list().map(|(u, v, _)| (u as u32, v as u32)).collect();
    random.shuffle(&mut edges);
    edges.truncate(edges.len() - n as usize);
    from_edges(n, &edges)
}

#[cfg(test)]
mod tests {
    use crate::dataset::Item;
    use crate::generate::generate;
    use crate::substructures::counts;

    #[test]
    fn graphs_are_as_described_and_targets_are_their_counts() {
        let data = generate("counting:count=400").unwrap();
        let mean = |of: fn(&crate::Graph) -> usize| {
            data.graphs().iter().map(|g| of(g) as f64).sum::<f64>() / data.len() as f64
        };
        assert!((mean(|g| g.nodes()) - 18.75).abs() < 1.5 && (mean(|g| g.edges()) - 31.25).abs() < 2.5);
        for i in 0..data.len() {
            let wanted = counts(data.graph(i)).graph.map(|x| x as f64);
            assert_eq!(data.targets(i), wanted);
            let nodes = data.known(Item::Node, i);
            for (u, wanted) in counts(data.graph(i)).nodes.into_iter().enumerate() {
                assert_eq!(nodes.values(u), wanted.map(|x| x as f64));
            }
        }
    }
}
