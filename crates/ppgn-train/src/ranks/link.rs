//! How ranks send each other messages: any bytes, in order, between any two ranks.

use super::inbox::Inbox;
use crate::error::Result;
use std::sync::Arc;

/// What a message is about: those of different channels do not wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Channel(pub u8);

impl Channel {
    /// What rank 0 says to all.
    pub(super) const FIRST: Channel = Channel(1);
    /// Parts of gradients, from every rank to the rank that sums them.
    pub(super) const PARTS: Channel = Channel(2);
    /// Sums of parts, to every rank.
    pub(super) const SUMS: Channel = Channel(3);
    /// Losses and scores, to rank 0.
    pub(super) const SCORES: Channel = Channel(4);
    /// From a rank that is free, to rank 0.
    pub(super) const FREE: Channel = Channel(5);
    /// The job that it gets.
    pub(super) const JOB: Channel = Channel(6);
    /// From rank 0: jobs that are being done are to end.
    pub(super) const STOP: Channel = Channel(7);
}

/// A connection to the other ranks of a job.
pub trait Link: Send + Sync + std::fmt::Debug {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// The number of ranks on this machine, which share its memory.
    fn neighbours(&self) -> usize;

    /// The number of this rank among those on this machine, from 0.
    fn place(&self) -> usize;

    /// The number of cores that this rank may use, with those that it shares with others divided among them.
    fn cores(&self) -> usize;

    /// Sends a message, without waiting for its arrival. Messages of one channel between two ranks arrive in order.
    fn send(&self, to: usize, channel: Channel, message: Vec<u8>);

    /// Waits until all that was sent has left this rank. Before it computes, a rank does so for what others wait for: whoever
    /// moves messages may be given no core while all of them compute.
    fn flush(&self);

    /// The next message of a channel, from this rank or from any, with its sender; waits for it without using a core. An error
    /// once the sender has left.
    fn receive(&self, from: Option<usize>, channel: Channel) -> Result<(usize, Vec<u8>)>;

    /// The same without waiting: `None` if there is no message yet.
    fn look(&self, from: Option<usize>, channel: Channel) -> Result<Option<(usize, Vec<u8>)>>;

    /// Tells the others that this rank takes no further part, and why if something went wrong.
    fn leave(&self, why: Option<&str>);
}

/// Ranks that are threads of one process.
#[derive(Debug)]
pub(super) struct Threads {
    rank: usize,
    inboxes: Arc<[Inbox]>,
}

impl Threads {
    /// All ranks of a job of this size.
    pub(super) fn all(size: usize) -> Vec<Threads> {
        let inboxes: Arc<[Inbox]> = (0..size).map(|_| Inbox::default()).collect();
        (0..size).map(|rank| Threads { rank, inboxes: inboxes.clone() }).collect()
    }
}

impl Link for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.inboxes.len()
    }

    fn neighbours(&self) -> usize {
        self.inboxes.len()
    }

    fn place(&self) -> usize {
        self.rank
    }

    fn cores(&self) -> usize {
        std::thread::available_parallelism().map_or(1, |cores| cores.get() / self.inboxes.len()).max(1)
    }

    fn send(&self, to: usize, channel: Channel, message: Vec<u8>) {
        self.inboxes[to].put(self.rank, channel, message);
    }

    fn flush(&self) {}

    fn receive(&self, from: Option<usize>, channel: Channel) -> Result<(usize, Vec<u8>)> {
        self.inboxes[self.rank].take(from, channel, || ())
    }

    fn look(&self, from: Option<usize>, channel: Channel) -> Result<Option<(usize, Vec<u8>)>> {
        self.inboxes[self.rank].look(from, channel)
    }

    fn leave(&self, why: Option<&str>) {
        let others = self.inboxes.iter().enumerate().filter(|(rank, _)| *rank != self.rank);
        others.for_each(|(_, inbox)| inbox.left(self.rank, why));
    }
}
