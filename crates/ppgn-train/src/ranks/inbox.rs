//! Messages that have arrived and that nobody has asked for yet.

use super::link::Channel;
use crate::error::{Error, Result};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};

/// The messages of one rank: whoever transports them puts them in, whoever needs them waits for them.
#[derive(Debug, Default)]
pub struct Inbox {
    state: Mutex<State>,
    arrived: Condvar,
    waiting: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    messages: HashMap<Channel, VecDeque<(usize, Vec<u8>)>>,
    /// The ranks that take no further part, and why.
    left: BTreeMap<usize, Option<String>>,
}

impl Inbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A message has arrived.
    pub fn put(&self, from: usize, channel: Channel, message: Vec<u8>) {
        self.state().messages.entry(channel).or_default().push_back((from, message));
        self.arrived.notify_all();
    }

    /// A rank takes no further part.
    pub fn left(&self, rank: usize, why: Option<&str>) {
        self.state().left.insert(rank, why.map(str::to_string));
        self.arrived.notify_all();
    }

    /// The number of ranks that take no further part.
    pub fn departed(&self) -> usize {
        self.state().left.len()
    }

    /// The number of threads that wait for a message.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    /// The next message of a channel, from this rank or from any. An error if there is none and the sender has left (any, where
    /// it may be from any), or a rank where something went wrong. Where it has to wait, it counts as [waiting](Inbox::waiting)
    /// first and then calls `waits`, once.
    pub fn take(
        &self,
        from: Option<usize>,
        channel: Channel,
        waits: impl FnOnce(),
    ) -> Result<(usize, Vec<u8>)> {
        let mut state = self.state();
        if let Some(message) = state.next(from, channel)? {
            return Ok(message);
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
        waits();
        let found = loop {
            match state.next(from, channel) {
                Ok(None) => state = self.arrived.wait(state).unwrap_or_else(|e| e.into_inner()),
                Ok(Some(message)) => break Ok(message),
                Err(e) => break Err(e),
            }
        };
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        found
    }

    /// The same without waiting: `None` if there is no message yet.
    pub fn look(&self, from: Option<usize>, channel: Channel) -> Result<Option<(usize, Vec<u8>)>> {
        self.state().next(from, channel)
    }
}

impl State {
    fn next(&mut self, from: Option<usize>, channel: Channel) -> Result<Option<(usize, Vec<u8>)>> {
        if let Some(queue) = self.messages.get_mut(&channel)
            && let Some(place) = queue.iter().position(|(sender, _)| from.is_none_or(|f| f == *sender))
        {
            return Ok(queue.remove(place));
        }
        let is_missed = |rank: usize| from.is_none_or(|from| from == rank);
        match self.left.iter().find(|(rank, why)| why.is_some() || is_missed(**rank)) {
            None => Ok(None),
            Some((&rank, why)) => {
                let message = why.clone().unwrap_or_else(|| "it has left".into());
                Err(Error::Rank { rank, message })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_in_order_and_departures_end_the_waiting() {
        let inbox = Inbox::default();
        let (a, b) = (Channel(10), Channel(11));
        inbox.put(1, a, vec![1]);
        inbox.put(2, a, vec![2]);
        inbox.put(1, b, vec![3]);
        inbox.put(1, a, vec![4]);
        assert_eq!(inbox.look(Some(3), a).unwrap(), None);
        assert_eq!(inbox.take(Some(2), a, || ()).unwrap(), (2, vec![2]));
        assert_eq!(inbox.take(None, a, || ()).unwrap(), (1, vec![1]));
        inbox.left(1, None);
        assert_eq!(
            inbox.take(Some(1), a, || ()).unwrap(),
            (1, vec![4]),
            "what was sent before is still there"
        );
        assert!(matches!(inbox.take(Some(1), a, || ()), Err(Error::Rank { rank: 1, .. })));
        assert_eq!(inbox.take(Some(1), b, || ()).unwrap(), (1, vec![3]));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| inbox.take(Some(2), a, || ()));
            inbox.left(3, Some("its disk is full"));
            let error = waiting.join().unwrap().unwrap_err();
            assert_eq!(error.to_string(), "rank 3: its disk is full");
        });
    }

    #[test]
    fn whoever_waits_counts_before_it_says_so_and_not_longer_than_it_waits() {
        let (inbox, a) = (&Inbox::default(), Channel(10));
        inbox.put(1, a, vec![1]);
        inbox.take(None, a, || panic!("a message is there")).unwrap();
        std::thread::scope(|scope| {
            let (said, heard) = std::sync::mpsc::channel();
            let counted = move || said.send(inbox.waiting()).unwrap();
            let waiting = scope.spawn(move || inbox.take(None, a, counted));
            assert_eq!(heard.recv().unwrap(), 1);
            inbox.put(1, a, vec![2]);
            assert_eq!(waiting.join().unwrap().unwrap(), (1, vec![2]));
            assert_eq!(inbox.waiting(), 0);
        });
    }
}
