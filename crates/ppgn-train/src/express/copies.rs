//! Relabelled copies of a graph: what the protocols measure noise on.

use ppgn_graph::Graph;
use ppgn_graph::random::Stream;
use std::collections::HashSet;

/// Draws in a row that bring nothing new before the search for further copies ends.
const PATIENCE: usize = 100;

/// This many copies of a graph under random relabellings, the first being the graph itself, and how many of them differ.
///
/// They are pairwise different as long as different ones are found. A graph with many automorphisms has few labellings
/// (a complete graph has one), so once 100 draws in a row bring nothing new, the rest are drawn from those found.
///
/// ```
/// use ppgn_graph::{Graph, random::Stream};
/// use ppgn_train::express::copies;
/// let mut random = Stream::new(0, "copies", &[]);
/// let path = Graph::undirected(3, [(0, 1), (1, 2)])?;
/// let (drawn, different) = copies(&path, 5, &mut random);
/// assert_eq!((drawn.len(), different, &drawn[0]), (5, 3, &path));
/// # Ok::<(), ppgn_graph::GraphError>(())
/// ```
pub fn copies(graph: &Graph, count: usize, random: &mut Stream) -> (Vec<Graph>, usize) {
    let mut found = vec![graph.clone()];
    let mut seen: HashSet<Key> = HashSet::from([key(graph)]);
    let mut misses = 0;
    while found.len() < count && misses < PATIENCE {
        let copy = graph.permute_randomly(random);
        if seen.insert(key(&copy)) {
            found.push(copy);
            misses = 0;
        } else {
            misses += 1;
        }
    }
    let different = found.len();
    while found.len() < count {
        found.push(found[random.below(different)].clone());
    }
    (found, different)
}

/// What makes two labellings different: edges, labels and attributes.
type Key = (Vec<u32>, Vec<u32>, Vec<i64>, Vec<i64>, Vec<u64>);

fn key(graph: &Graph) -> Key {
    let numbers = graph.all_node_attributes().iter().chain(graph.all_edge_attributes());
    (
        graph.offsets().to_vec(),
        graph.targets().to_vec(),
        graph.all_node_labels().to_vec(),
        graph.all_edge_labels().to_vec(),
        numbers.map(|x| x.to_bits()).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::generate::generate;

    #[test]
    fn copies_differ_where_they_can() {
        let many = generate("regular:n=10,d=3,seed=4").unwrap();
        let (drawn, different) = copies(many.graph(0), 32, &mut Stream::new(0, "x", &[]));
        assert_eq!((drawn.len(), different), (32, 32));
        let keys: HashSet<Key> = drawn.iter().map(key).collect();
        assert_eq!(keys.len(), 32);
        let complete = generate("complete:n=6").unwrap();
        let (drawn, different) = copies(complete.graph(0), 32, &mut Stream::new(0, "x", &[]));
        assert_eq!((drawn.len(), different), (32, 1));
        let again = copies(many.graph(0), 32, &mut Stream::new(0, "x", &[])).0;
        assert_eq!(again, copies(many.graph(0), 32, &mut Stream::new(0, "x", &[])).0);
    }
}
