//! What the training loop asks of the other ranks: to share a batch, to add up gradients, to bring scores together.

use super::Ranks;
use super::link::Channel;
use super::reduce::Reducer;
use crate::data::Prepared;
use crate::error::{Error, Result};
use crate::share::{halvings, shares};
use ppgn_nn::{Layout, Precision, Values};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The ranks of a training.
pub(crate) struct Team {
    ranks: Ranks,
    reducer: Reducer,
    /// The cost of every graph of the dataset, forward and backward.
    costs: Vec<f64>,
    /// The lengths of the arrays of a gradient, and their precision.
    lengths: Vec<usize>,
    precision: Precision,
}

impl Team {
    /// The ranks of a training on this data.
    pub(crate) fn start(ranks: &Ranks, prepared: &Prepared) -> Result<Self> {
        let lengths = Layout::new(prepared.network()).arrays().iter().map(|array| array.len()).collect();
        let (ranks, reducer) = (ranks.clone(), Reducer::start(ranks.link.clone())?);
        Ok(Team { ranks, reducer, costs: prepared.costs.clone(), lengths, precision: prepared.precision() })
    }

    /// Who computes which graphs of a batch, by their places in it.
    fn shares(&self, batch: &[u32]) -> Vec<Vec<usize>> {
        let costs: Vec<f64> = batch.iter().map(|&g| self.costs[g as usize]).collect();
        shares(&costs, self.ranks.size())
    }

    /// The graphs of a batch that this rank computes.
    pub(crate) fn share(&self, batch: &[u32]) -> Vec<u32> {
        self.shares(batch)[self.ranks.rank()].iter().map(|&i| batch[i]).collect()
    }

    /// The number of times that a batch was halved before the shares of ranks.
    pub(crate) fn halvings(&self) -> u32 {
        halvings(self.ranks.size())
    }

    /// Hands over the gradient of an array, to be added to those of the others. All ranks hand over all arrays of a step, in the
    /// order in which the CPU engine has them ready: the last one first. The first array, which comes last, takes the loss along.
    pub(crate) fn submit(&self, gradient: Values, loss: Option<f64>) {
        self.reducer.submit(gradient, loss);
    }

    /// Hands over the gradients of all arrays, and the loss.
    pub(crate) fn submit_all(&self, gradients: Vec<Values>, loss: f64) {
        for (array, gradient) in gradients.into_iter().enumerate().rev() {
            self.submit(gradient, (array == 0).then_some(loss));
        }
    }

    /// Hands over zeros: this rank's share of the batch is empty.
    pub(crate) fn submit_nothing(&self) {
        let zeros = |&length: &usize| Values::zeros(self.precision, length);
        self.submit_all(self.lengths.iter().map(zeros).collect(), 0.0);
    }

    /// The sums over all ranks of what was handed over in a step: the gradients of all arrays, and the loss.
    pub(crate) fn summed(&self) -> Result<(Vec<Values>, f64)> {
        let (mut gradients, loss) = self.reducer.step()?;
        gradients.reverse();
        Ok((gradients, loss))
    }

    /// Brings the scores of graphs together on rank 0, in the order of `batches`, with the sum of the ranks' losses; nothing on
    /// the others. Graph g has `length(g)` scores, and `mine` are those of this rank's share, batch after batch.
    pub(crate) fn gather(
        &self,
        batches: &[Vec<u32>],
        loss: f64,
        mine: Vec<f64>,
        length: impl Fn(u32) -> usize,
    ) -> Result<Option<(f64, Vec<Vec<f64>>)>> {
        let Some(mut of_ranks) = self.collect(loss, mine)? else { return Ok(None) };
        let mut gathered = Vec::with_capacity(batches.len());
        for batch in batches {
            let mut parts: Vec<Vec<f64>> = vec![Vec::new(); batch.len()];
            for (rank, places) in self.shares(batch).into_iter().enumerate() {
                for place in places {
                    parts[place] = of_ranks[rank].take(length(batch[place]))?;
                }
            }
            gathered.push(parts.concat());
        }
        Ok(Some((of_ranks.iter().map(|numbers| numbers.loss).sum(), gathered)))
    }

    /// The numbers of all ranks on rank 0; nothing on the others.
    fn collect(&self, loss: f64, mine: Vec<f64>) -> Result<Option<Vec<Numbers>>> {
        let (ranks, link) = (&self.ranks, &self.ranks.link);
        if !ranks.leads() {
            let mut message = loss.to_le_bytes().to_vec();
            Values::F64(mine).write(&mut message);
            link.send(0, Channel::SCORES, message);
            link.flush();
            return Ok(None);
        }
        let mut all = vec![Numbers { rank: 0, loss, numbers: mine, taken: 0 }];
        for rank in 1..ranks.size() {
            let (_, message) = link.receive(Some(rank), Channel::SCORES)?;
            let (loss, message) = message.split_first_chunk().ok_or_else(|| unexpected(rank))?;
            let numbers = Values::read(Precision::F64, message).ok_or_else(|| unexpected(rank))?;
            all.push(Numbers { rank, loss: f64::from_le_bytes(*loss), numbers: numbers.to_f64(), taken: 0 });
        }
        Ok(Some(all))
    }
}

/// The numbers of a rank, taken one graph after the other.
struct Numbers {
    rank: usize,
    loss: f64,
    numbers: Vec<f64>,
    taken: usize,
}

impl Numbers {
    fn take(&mut self, count: usize) -> Result<Vec<f64>> {
        let found = self.numbers.get(self.taken..self.taken + count).ok_or_else(|| unexpected(self.rank))?;
        self.taken += count;
        Ok(found.to_vec())
    }
}

fn unexpected(rank: usize) -> Error {
    Error::Rank {
        rank,
        message: "it sent other scores than expected: do all ranks read the same data?".into(),
    }
}

/// What a rank wrote as JSON.
pub(crate) fn understood<T: DeserializeOwned>(text: &[u8]) -> Result<T> {
    serde_json::from_slice(text).map_err(|e| {
        let message = format!("it said what cannot be read ({e}): do all ranks run the same version?");
        Error::Rank { rank: 0, message }
    })
}

impl Ranks {
    /// What rank 0 decides, on every rank.
    pub(crate) fn decided<T: Serialize + DeserializeOwned>(&self, decision: impl FnOnce() -> T) -> Result<T> {
        understood(&self.from_first(|| serde_json::to_vec(&decision()).unwrap_or_default())?)
    }

    /// The same on the other ranks, which know nothing of it.
    pub(crate) fn decided_elsewhere<T: DeserializeOwned>(&self) -> Result<T> {
        understood(&self.from_first(Vec::new)?)
    }

    /// Arrays of rank 0 on every rank: they must have the same form there.
    pub(crate) fn copied(&self, arrays: &mut [Values]) -> Result<()> {
        for array in arrays {
            let message = self.from_first(|| {
                let mut message = Vec::new();
                array.write(&mut message);
                message
            })?;
            let read = Values::read(array.precision(), &message).filter(|read| read.len() == array.len());
            *array = read.ok_or_else(|| unexpected(0))?;
        }
        Ok(())
    }
}
