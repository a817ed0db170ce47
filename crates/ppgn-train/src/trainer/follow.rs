//! Training as one of several ranks, but the first: the settings, the state and what to do next come from rank 0.

use super::Event;
use super::learner::{Given, Learner};
use crate::data::Prepared;
use crate::error::{Error, Result};
use crate::ranks::Team;
use crate::session::Session;
use crate::settings::Settings;
use ppgn_graph::Dataset;
use ppgn_nn::SpaceChoice;
use serde::{Deserialize, Serialize};

/// What rank 0 tells the others to do next.
#[derive(Serialize, Deserialize)]
pub(super) enum Order {
    /// To train this epoch with this rate, and to evaluate.
    Epoch { number: usize, rate: f64 },
    /// Nothing more.
    End,
}

/// Takes part in the training of rank 0, as one of the other ranks, until it ends. Nothing is written.
///
/// The settings, the space and the state are those of rank 0; the data must be the same.
pub fn follow(session: &Session, dataset: &Dataset) -> Result<()> {
    let Some(ranks) = session.ranks() else {
        return Err(Error::settings("there are no other ranks to train with"));
    };
    if ranks.leads() {
        return Err(Error::settings("rank 0 trains, the others follow"));
    }
    let mut settings: Settings = ranks.decided_elsewhere()?;
    settings.validate()?;
    let prepared = Prepared::new(session, &settings, dataset)?;
    let quotient: bool = ranks.decided_elsewhere()?;
    // What `auto` takes may depend on the memory of a machine.
    let prepared = match prepared.space.colours.is_some() == quotient {
        true => prepared,
        false => {
            settings.training.space = if quotient { SpaceChoice::Quotient } else { SpaceChoice::Dense };
            Prepared::new(session, &settings, dataset)?
        }
    };
    session.install(|| -> Result<()> {
        let mut learner = Learner::new(session, &settings)?;
        learner.synchronise(ranks)?;
        let team = Team::start(ranks, &prepared)?;
        let given = Given { session, settings: &settings, prepared: &prepared, team: Some(&team) };
        learner.send(&given)?;
        while let Order::Epoch { number, rate } = ranks.decided_elsewhere()? {
            let mut watcher = |_: Event<'_>| session.check().is_ok();
            if learner.epoch(&given, number, rate, &mut watcher)?.is_none() {
                return Err(Error::Interrupted);
            }
            learner.evaluate(&given)?;
        }
        Ok(())
    })
}
