//! [`refine`]: the one way into every test.

use crate::{Error, Options, Refinement, Test, colour_refinement, tuples};
use ppgn_graph::Graph;

/// Colours the nodes (1-WL) or the k-tuples (k-WL, k-FWL) of these graphs together, so that a colour means the same in
/// all of them.
///
/// The colours of round 0 are isomorphism types; every round recolours a tuple by its colour and those of its
/// neighbours, as the test defines them, until a round splits no class any more or [`Options::rounds`] is reached.
/// Colours are canonical: relabelling nodes permutes the colouring, reordering graphs reorders it, and nothing else
/// changes, on any number of threads and on any machine.
///
/// # Complexity
///
/// 1-WL: O((n + m) log n) for n nodes and m edges of all graphs together. A round of k-WL takes O(k n^k) steps, one of
/// k-FWL O(k n^(k+1)), both with O(n^k) memory.
///
/// # Errors
///
/// [`Error::NoGraphs`], [`Error::NoNodes`], [`Error::TooManyTuples`] and [`Error::TooManyEdges`] for what cannot be
/// coloured, [`Error::Memory`] if [`Options::max_memory`] would not do, [`Error::Interrupted`] on request.
///
/// ```
/// use ppgn_graph::Graph;
/// use ppgn_wl::{Options, Test, refine};
/// let hexagon = Graph::undirected(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)])?;
/// let triangles = Graph::undirected(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])?;
/// let pair = [hexagon, triangles];
/// assert!(refine(&pair, Test::COLOUR_REFINEMENT, &Options::default())?.equal(0, 1));
/// assert_eq!(refine(&pair, Test::fwl(2)?, &Options::default())?.distinguishing_round(0, 1), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn refine(graphs: &[Graph], test: Test, options: &Options) -> Result<Refinement, Error> {
    match test.k() {
        1 => colour_refinement::refine(graphs, options),
        _ => tuples::refine(graphs, test, options),
    }
}
