//! The one door to all tests: [`refine`].

use crate::{Error, Options, Refinement, Test, tuples};
use ppgn_graph::Graph;

/// Colours the nodes (1-WL) or the k-tuples (k-WL, k-FWL) of these graphs together, round by round, until nothing
/// changes or [`Options::rounds`] are used up.
///
/// Colours mean the same in all graphs, so graphs are told apart by their histograms. The result does not depend on
/// the order of nodes or graphs, on threads or on the machine.
///
/// # Complexity
/// 1-WL: O((n + m) log n) in all. A round of k-WL takes O(k n^k) steps, one of k-FWL O(k n^(k+1)), both with O(n^k)
/// memory.
///
/// ```
/// use ppgn_graph::Graph;
/// use ppgn_wl::{Options, Test, refine};
/// let hexagon = Graph::undirected(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)])?;
/// let triangles = Graph::undirected(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])?;
/// let pair = [hexagon, triangles];
/// assert!(refine(&pair, Test::wl(2)?, &Options::default())?.equal(0, 1));
/// assert_eq!(refine(&pair, Test::fwl(2)?, &Options::default())?.parting_round(0, 1), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn refine(graphs: &[Graph], test: Test, options: &Options) -> Result<Refinement, Error> {
    match test.k() {
        // MERGE: crate::colour_refinement::refine(graphs, options) goes here.
        1 => Err(Error::UnknownTest(test.to_string())),
        _ => tuples::refine(graphs, test, options),
    }
}
