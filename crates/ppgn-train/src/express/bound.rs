//! The exact bound of a network: the Weisfeiler-Leman test that no choice of weights beats, pair by pair.

use super::suite::Category;
use crate::error::Result;
use crate::session::Session;
use ppgn_graph::Graph;
use ppgn_nn::{Model, PpgnConfig};
use ppgn_wl::{Options, Refinement, Test, refine};
use std::collections::HashMap;

/// The test that bounds networks of this configuration: k-FWL for matrix products of order k, 1-WL for order 1 and for
/// linear equivariant layers on pairs (2-WL, which is as strong), k-WL for the sums of that test.
///
/// ```
/// use ppgn_nn::{Model, PpgnConfig};
/// use ppgn_train::express::bound_of;
/// assert_eq!(bound_of(&PpgnConfig::new(1, 16))?.to_string(), "2-fwl");
/// assert_eq!(bound_of(&PpgnConfig { model: Model::Lin, ..PpgnConfig::new(1, 16) })?.to_string(), "1-wl");
/// # Ok::<(), ppgn_train::Error>(())
/// ```
pub fn bound_of(config: &PpgnConfig) -> Result<Test> {
    Ok(match config.model {
        Model::Lin | Model::Mlp if config.order <= 2 => Test::COLOUR_REFINEMENT,
        Model::Sums | Model::Lin | Model::Mlp => Test::wl(config.order)?,
        _ => Test::fwl(config.order)?,
    })
}

/// What a test is given.
fn options(session: &Session) -> Options {
    let (max_memory, interrupt) = (session.memory(), session.interrupt().clone());
    Options { max_memory, interrupt, ..Options::default() }
}

/// The round in which the test distinguishes two graphs; `None` if it never does.
pub(super) fn rounds(session: &Session, test: Test, pair: [&Graph; 2]) -> Result<Option<usize>> {
    let graphs = pair.map(Graph::clone);
    Ok(refine(&graphs, test, &options(session))?.distinguishing_round(0, 1))
}

/// How the test divides a collection: the class of every graph, and the rounds that takes.
pub(super) fn classes(session: &Session, test: Test, category: &Category) -> Result<(Vec<usize>, usize)> {
    let refinement: Refinement = refine(&category.graphs, test, &options(session))?;
    let mut numbers: HashMap<Vec<(u32, u64)>, usize> = HashMap::new();
    let classes = (0..category.graphs.len()).map(|g| {
        let next = numbers.len();
        *numbers.entry(refinement.histogram(g)).or_insert(next)
    });
    Ok((classes.collect(), refinement.rounds()))
}
