//! Losses and scores of parts of the data, without training on them.

use crate::data::Prepared;
use crate::error::Result;
use crate::metrics::Sums;
use crate::ranks::Team;
use crate::remote::Scores;
use ppgn_nn::Ppgn;

/// The losses and scores of a part of the data, without training on it. Among several ranks they are those of rank 0.
pub(super) fn evaluate(
    prepared: &Prepared,
    network: &dyn Scores,
    graphs: &[u32],
    batch: usize,
    team: Option<&Team>,
) -> Result<Option<Sums>> {
    match (graphs.is_empty(), team) {
        (true, _) => Ok(None),
        (false, None) => predicted(prepared, network, graphs, batch).map(Some),
        (false, Some(team)) => {
            let (mut loss, mut scores) = (0.0, Vec::new());
            for chosen in team.share(graphs).chunks(batch.max(1)) {
                let found = loss_of(prepared, network, chosen)?;
                loss += found.0;
                scores.extend(found.1);
            }
            let width = prepared.goal.outputs();
            let gathered = team.gather(&[graphs.to_vec()], loss, scores, |g| prepared.rows(&[g]) * width)?;
            Ok(gathered.map(|(loss, scores)| {
                let mut sums = Sums::new();
                scores.iter().for_each(|scores| sums.add(graphs, loss, scores));
                sums
            }))
        }
    }
}

/// The losses and scores of a part of the data.
pub(super) fn predicted(
    prepared: &Prepared,
    network: &dyn Scores,
    graphs: &[u32],
    batch: usize,
) -> Result<Sums> {
    let mut sums = Sums::new();
    for chosen in graphs.chunks(batch.max(1)) {
        let (loss, scores) = loss_of(prepared, network, chosen)?;
        sums.add(chosen, loss, &scores);
    }
    Ok(sums)
}

/// The loss and the scores of a batch.
fn loss_of(prepared: &Prepared, network: &dyn Scores, chosen: &[u32]) -> Result<(f64, Vec<f64>)> {
    Ok(prepared.measured(&network.scores(prepared, chosen)?, chosen)?)
}

/// The first batch of these parts, counted from 1, whose loss is not finite, and its graphs; nothing where only the
/// sum of all is not.
pub(super) fn first_not_finite(
    prepared: &Prepared,
    network: &Ppgn,
    parts: [&Vec<u32>; 2],
    batch: usize,
) -> Result<Option<(usize, Vec<u32>)>> {
    let batches = parts.into_iter().flat_map(|graphs| graphs.chunks(batch.max(1)));
    for (number, chosen) in batches.enumerate() {
        if !loss_of(prepared, network, chosen)?.0.is_finite() {
            return Ok(Some((number + 1, chosen.to_vec())));
        }
    }
    Ok(None)
}
