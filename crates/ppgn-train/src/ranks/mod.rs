//! Several processes that work as one: the ranks of a cluster job, rank 0 first among them.
//!
//! All ranks run the same command on the same data. Two things are shared:
//!
//! - **steps**: every rank takes its [share](crate::share) of a batch, the gradients are [summed](reduce) in a fixed order,
//!   and all take the same step. Batches and randomness are functions of (seed, epoch), so any number of ranks follows
//!   the curve of one: two ranks, and 4, 8 ... where batches are large, to the bit, others up to the rounding of the sum;
//! - **jobs**: folds, trials, pairs of graphs are [farmed out](farm) to ranks as they become free.
//!
//! Rank 0 writes what concerns all. How messages travel is the business of a [`Link`]: MPI's is in the crate `ppgn-mpi`;
//! [`Ranks::in_process`] has threads for ranks, and is what tests use.

mod farm;
mod inbox;
mod link;
mod reduce;
mod team;

pub(crate) use farm::{Hear, Jobs};
pub use inbox::Inbox;
pub use link::{Channel, Link};
pub(crate) use team::{Team, understood};

use crate::error::Result;
use link::Threads;
use std::sync::Arc;

/// This process among the ranks of a job.
///
/// ```
/// use ppgn_train::ranks::Ranks;
/// let ranks = Ranks::in_process(2);
/// std::thread::scope(|scope| {
///     for ranks in &ranks {
///         scope.spawn(|| assert_eq!(ranks.from_first(|| b"hello".to_vec()).unwrap(), b"hello"));
///     }
/// });
/// ```
#[derive(Debug, Clone)]
pub struct Ranks {
    link: Arc<dyn Link>,
}

impl Ranks {
    /// The ranks that a link connects.
    pub fn new(link: Arc<dyn Link>) -> Self {
        Ranks { link }
    }

    /// Ranks that are threads of this process, one value for each of them.
    pub fn in_process(size: usize) -> Vec<Ranks> {
        Threads::all(size).into_iter().map(|link| Ranks::new(Arc::new(link))).collect()
    }

    /// The number of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.link.rank()
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.link.size()
    }

    /// The number of ranks on this machine, which share its memory.
    pub fn neighbours(&self) -> usize {
        self.link.neighbours().max(1)
    }

    /// The number of this rank among those on this machine, from 0: by it they share out what a machine has.
    pub fn place(&self) -> usize {
        self.link.place()
    }

    /// The number of cores for the threads of this rank, at least 1.
    pub fn cores(&self) -> usize {
        self.link.cores().max(1)
    }

    /// Whether this is rank 0, which writes what concerns all.
    pub fn leads(&self) -> bool {
        self.rank() == 0
    }

    /// Tells the others that this rank takes no further part, and why if something went wrong. Whoever waits for it has an
    /// error then.
    pub fn leave(&self, why: Option<&str>) {
        self.link.leave(why);
    }

    /// What rank 0 says, on every rank: `message` is called on rank 0 alone.
    pub fn from_first(&self, message: impl FnOnce() -> Vec<u8>) -> Result<Vec<u8>> {
        if !self.leads() {
            return Ok(self.link.receive(Some(0), Channel::FIRST)?.1);
        }
        let message = message();
        (1..self.size()).for_each(|to| self.link.send(to, Channel::FIRST, message.clone()));
        self.link.flush();
        Ok(message)
    }
}
