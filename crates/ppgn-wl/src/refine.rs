//! [`refine`]: the one way into every test.

use crate::{Error, Options, Refinement, Test, colour_refinement};
use ppgn_graph::Graph;

/// Refines the colours of these graphs together, so that a colour means the same in all of them.
///
/// The colours of round 0 are the isomorphism types of k-tuples; every round recolours a tuple by its colour and
/// those of its neighbours, as the test defines them, until a round splits no class any more or
/// [`Options::rounds`] is reached. Colours are canonical: relabelling nodes permutes the colouring, reordering graphs
/// reorders it, and nothing else changes.
///
/// # Complexity
///
/// 1-WL: O((n + m) log n) for n nodes and m edges of all graphs together.
///
/// # Errors
///
/// [`Error::NoGraphs`], [`Error::NoNodes`], [`Error::TooManyTuples`] and [`Error::TooManyEdges`] for what cannot be
/// coloured, [`Error::Memory`] if [`Options::max_memory`] would not do, [`Error::Interrupted`] on request.
///
/// ```
/// use ppgn_graph::Graph;
/// use ppgn_wl::{Options, Test, refine};
/// let path = Graph::undirected(4, [(0, 1), (1, 2), (2, 3)])?;
/// let star = Graph::undirected(4, [(0, 1), (0, 2), (0, 3)])?;
/// let r = refine(&[path, star], Test::COLOUR_REFINEMENT, &Options::default())?;
/// assert_eq!(r.parting_round(0, 1), Some(1));
/// assert_eq!(r.colours_at(0, 1), [0, 1, 1, 0]);      // by degree: the ends, the inner nodes
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn refine(graphs: &[Graph], test: Test, options: &Options) -> Result<Refinement, Error> {
    match test.k() {
        1 => colour_refinement::refine(graphs, options),
        // MERGE: the tests on tuples, k >= 2, join here.
        _ => Err(Error::UnknownTest(test.to_string())),
    }
}
