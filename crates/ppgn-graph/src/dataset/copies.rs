//! Relabelled copies of the graphs of a dataset: a test of invariance, and a classification task without other data. Networks
//! that tell the graphs apart can learn which graph a copy is of; others can only guess.

use super::{Dataset, Header, Record};
use crate::error::{Error, Result};
use crate::random::Stream;

impl Dataset {
    /// Every graph `copies` times: as it is, then with its nodes in random order. Classes and targets are those of the
    /// graph; where there are neither, the class is its number. Folds and ids are left out.
    ///
    /// Copy c of graph g is drawn from (seed, c, g). O(copies * size). What is known of nodes or pairs would have to move
    /// along: such data is refused.
    ///
    /// ```
    /// use ppgn_graph::generate::generate;
    /// let copies = generate("figure1")?.relabelled_copies(3, 0)?;
    /// assert_eq!((copies.len(), copies.graph(3)), (6, generate("figure1")?.graph(1)));
    /// assert_eq!((copies.class(2), copies.class(3)), (Some(0), Some(1)));
    /// # Ok::<(), ppgn_graph::Error>(())
    /// ```
    pub fn relabelled_copies(&self, copies: usize, seed: u64) -> Result<Dataset> {
        let header = self.header();
        if !header.nodes.is_empty() || !header.pairs.is_empty() {
            return Err(Error::unfit(format!(
                "{} has something to learn of nodes or pairs, which copies would not have; only graphs with classes or \
                 targets of their own, or none, are copied",
                self.name()
            )));
        }
        let numbered = header.classes.is_none() && header.targets.is_empty();
        let classes = if numbered { Some((0..self.len() as i64).collect()) } else { header.classes.clone() };
        let header = Header { classes, folds: Vec::new(), ..header.clone() };
        let records = (0..self.len()).flat_map(|g| (0..copies).map(move |c| (g, c))).map(|(g, c)| {
            let record = self.record(g);
            let graph = match c {
                0 => record.graph,
                _ => {
                    let mut random = Stream::new(seed, "relabelled-copies", &[c as u64, g as u64]);
                    record.graph.permute_randomly(&mut random)
                }
            };
            let label = if numbered { Some(g as i64) } else { record.label };
            Ok(Record { graph, label, id: None, ..record })
        });
        Dataset::collect(header, records)
    }
}

#[cfg(test)]
mod tests {
    use crate::generate::generate;

    #[test]
    fn copies_are_the_graphs_in_another_order() {
        let data = generate("atlas:n=5").unwrap();
        let copies = data.relabelled_copies(4, 1).unwrap();
        assert_eq!(copies.len(), 4 * data.len());
        let mut moved = 0;
        for i in 0..copies.len() {
            let (copy, graph) = (copies.graph(i), data.graph(i / 4));
            assert_eq!(copies.class(i), Some(i / 4));
            assert_eq!((copy.nodes(), copy.edges()), (graph.nodes(), graph.edges()));
            let degrees = |g: &crate::Graph| {
                let mut all: Vec<usize> = (0..g.nodes()).map(|u| g.neighbours(u).len()).collect();
                all.sort_unstable();
                all
            };
            assert_eq!(degrees(copy), degrees(graph));
            moved += usize::from(copy != graph);
        }
        assert!(moved > copies.len() / 2, "{moved}");
        assert_eq!(copies, data.relabelled_copies(4, 1).unwrap());
        assert_ne!(copies, data.relabelled_copies(4, 2).unwrap());
        let csl = generate("csl").unwrap();
        assert_eq!(csl.relabelled_copies(2, 0).unwrap().class(2 * 149 + 1), csl.class(149));
        let error = generate("short-cycles").unwrap().relabelled_copies(2, 0).unwrap_err();
        assert!(error.to_string().contains("nodes or pairs"), "{error}");
    }
}
