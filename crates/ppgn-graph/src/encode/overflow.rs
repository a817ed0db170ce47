//! Numbers that are too large for the precision of the rows. As infinities they would become NaN in the first matrix product,
//! and NaN scores look like an answer; so they are refused before anything is computed from them.

use super::{Encoder, Plan};
use crate::error::{Error, Result};
use crate::float::Float;
use crate::graph::Graph;

impl Encoder {
    /// Whether every number of these graphs that the encoding uses is finite as a `T`; an [`Error::Overflow`] that names
    /// graph and number otherwise. O(nodes + edges) numbers per graph, and its distances where they are used.
    ///
    /// ```
    /// use ppgn_graph::encode::{Encoding, Kind};
    /// use ppgn_graph::{GraphBuilder, Schema};
    /// let mut atom = GraphBuilder::undirected(1);
    /// atom.node_attributes(1, vec![1e39]);
    /// let atom = atom.build()?;
    /// let encoder = Encoding::from(Kind::Paper).encoder(&Schema::of(&[atom.clone()])?)?;
    /// assert!(encoder.check::<f64>(&[atom.clone()]).is_ok());
    /// let message = encoder.check::<f32>(&[atom]).unwrap_err().to_string();
    /// assert_eq!(message, "graph 0: attribute0 of node 0 is 1e39, which f32 cannot hold");
    /// # Ok::<(), ppgn_graph::Error>(())
    /// ```
    pub fn check<T: Float>(&self, graphs: &[Graph]) -> Result<()> {
        graphs.iter().enumerate().try_for_each(|(number, graph)| self.fits_in::<T>(graph, Some(number)))
    }

    /// The same for one graph, which may have a number.
    pub(super) fn fits_in<T: Float>(&self, graph: &Graph, number: Option<usize>) -> Result<()> {
        let fails = |attribute: String, value: f64| {
            Err(Error::Overflow { graph: number, attribute, value, precision: T::NAME })
        };
        let too_large = |numbers: &[f64]| numbers.iter().position(|&x| !T::holds(x));
        let name = |names: &[String], i: usize| names.get(i).map_or(format!("attribute {i}"), String::clone);
        if let Plan::Authors(_) = self.plan {
            return Ok(()); // degrees and labels only
        }
        for u in 0..graph.nodes() {
            let numbers = graph.node_attributes(u);
            if let Some(i) = too_large(numbers) {
                let name = name(&self.schema.node_attributes, i);
                return fails(format!("{name} of node {u}"), numbers[i]);
            }
        }
        let distances = match &self.plan {
            Plan::Paper(paper) => paper.distances,
            Plan::Authors(_) => false,
            Plan::Qm9(_) => true,
        };
        if distances {
            let positions = graph.positions().unwrap_or_default();
            for (i, a) in positions.iter().enumerate() {
                for (j, b) in positions.iter().enumerate().take(i) {
                    let distance = super::qm9::distance(a, b);
                    if !T::holds(distance) {
                        return fails(format!("the distance of nodes {j} and {i}"), distance);
                    }
                }
            }
        }
        for (u, v, arc) in graph.arc_list() {
            let numbers = graph.edge_attributes(arc);
            if let Some(i) = too_large(numbers) {
                let name = name(&self.schema.edge_attributes, i);
                return fails(format!("{name} of edge {u} {v}"), numbers[i]);
            }
        }
        Ok(())
    }
}
