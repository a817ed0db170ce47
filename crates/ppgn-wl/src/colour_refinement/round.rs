//! One round: splitters speak, nodes hear, and every class is split by what its nodes heard.
//!
//! There are two ways to bring messages to their nodes, with the same lists in the end. *Telling*: the nodes of
//! splitters go through their neighbours. The work is that of the splitters alone, but every message goes to a random
//! place, twice: to be counted, and to be written. *Asking*: every node that is not alone in its class goes through
//! its own neighbours and looks which are in splitters; one random read per neighbour, class by class in little memory.
//! A round asks if that walks over at most [`PATIENCE`] times as many neighbours as telling would, so the bound of
//! telling holds for both. The first rounds and those of random graphs ask, the long tail of a grid's rounds tells.

use super::messages::{Codes, Listener, Message, sort};
use super::partition::Partition;
use super::rows::Rows;
use crate::Error;
use crate::pace::Pace;
use std::cmp::Ordering;
use std::ops::Range;

/// What is known of a round, and the memory that rounds share.
pub(super) struct Round<'a> {
    rows: &'a Rows<'a>,
    patience: u64,
    /// For every node: nothing heard (0), alone in its class and so deaf ([`ALONE`]), or, while splitters tell, first
    /// how many messages it hears, then where the next one goes, then where its list ends.
    heard: Vec<u32>,
    /// The classes with more than one node, and some that had more once.
    open: Vec<u32>,
    /// What asking costs: the walk over the neighbours of all nodes that are not alone.
    asking: u64,
    /// The lists of a class or of the round, and the nodes that have them.
    narrow: Vec<u32>,
    wide: Vec<u64>,
    items: Vec<Listener>,
    /// The classes to be split, and which of `sizes` are their parts'.
    splits: Vec<(u32, Range<u32>)>,
    sizes: Vec<u32>,
}

/// How much longer a walk may be for asking than for telling: telling goes twice, and to worse places. Measured on
/// random graphs and trees with a million nodes: 1 is clearly slower; 2, 4 and 8 are within noise of each other.
pub(super) const PATIENCE: u64 = 4;

/// Marks a node that is alone in its class, so that no message matters to it.
const ALONE: u32 = u32::MAX;

impl<'a> Round<'a> {
    /// Before the first round.
    pub(super) fn new(rows: &'a Rows<'a>, partition: &Partition, patience: u64) -> Self {
        let mut heard = vec![0; partition.nodes()];
        let mut asking = rows.walk_all();
        for class in 0..partition.colours() {
            if let &[u] = partition.class(class) {
                heard[u as usize] = ALONE;
                asking -= rows.walk(u);
            }
        }
        Round {
            rows,
            patience,
            heard,
            open: (0..partition.colours()).collect(),
            asking,
            narrow: Vec::new(),
            wide: Vec::new(),
            items: Vec::new(),
            splits: Vec::new(),
            sizes: Vec::new(),
        }
    }

    /// Finds what this round splits, which [`apply`](Round::apply) does then; whether it splits anything.
    pub(super) fn run(
        &mut self,
        partition: &mut Partition,
        splitters: Range<u32>,
        pace: &mut Pace<'_>,
    ) -> Result<bool, Error> {
        self.splits.clear();
        self.sizes.clear();
        let codes = Codes::new(splitters, self.rows.relation_count());
        if codes.last() == 1 && partition.colours() == 1 {
            self.count(partition, pace)?;
        } else if codes.last() <= u64::from(u32::MAX) {
            let mut lists = std::mem::take(&mut self.narrow);
            self.hear(partition, &codes, &mut lists, pace)?;
            self.narrow = lists;
        } else {
            let mut lists = std::mem::take(&mut self.wide);
            self.hear(partition, &codes, &mut lists, pace)?;
            self.wide = lists;
        }
        Ok(!self.splits.is_empty())
    }

    /// Splits what the last run found, in ascending order of the classes.
    pub(super) fn apply(&mut self, partition: &mut Partition) {
        self.splits.sort_unstable_by_key(|(class, _)| *class);
        for (class, parts) in self.splits.drain(..) {
            let sizes = &self.sizes[parts.start as usize..parts.end as usize];
            let born = partition.split(class, sizes, |u| {
                self.heard[u as usize] = ALONE;
                self.asking -= self.rows.walk(u);
            });
            self.open.extend(born.filter(|&c| partition.size(c) > 1));
        }
    }

    /// The first round where all nodes are alike and all neighbours too: a list is as good as its length.
    fn count(&mut self, partition: &mut Partition, pace: &mut Pace<'_>) -> Result<(), Error> {
        let degree = |u: u32| self.rows.neighbours(u).len() as u64;
        let listener = |&u: &u32| Listener { prefix: degree(u), begin: 0, node: u };
        self.items.clear();
        self.items.extend(partition.class(0).iter().map(listener));
        self.separate(partition, 0, &|a, b| a.prefix.cmp(&b.prefix), pace)
    }

    /// Brings the messages to their nodes the cheaper way.
    fn hear<M: Message>(
        &mut self,
        partition: &mut Partition,
        codes: &Codes,
        lists: &mut Vec<M>,
        pace: &mut Pace<'_>,
    ) -> Result<(), Error> {
        let mut telling = 0;
        for &v in codes.splitters.clone().flat_map(|class| partition.class(class)) {
            telling += self.rows.walk(v);
            if self.patience.saturating_mul(telling) >= self.asking {
                return self.ask(partition, codes, lists, pace);
            }
        }
        self.tell(partition, codes, lists, pace)
    }

    /// Every node that is not alone looks which of its neighbours are in splitters.
    fn ask<M: Message>(
        &mut self,
        partition: &mut Partition,
        codes: &Codes,
        lists: &mut Vec<M>,
        pace: &mut Pace<'_>,
    ) -> Result<(), Error> {
        let mut open = std::mem::take(&mut self.open);
        open.retain(|&class| partition.size(class) > 1);
        for &class in &open {
            lists.clear();
            self.items.clear();
            for &node in partition.class(class) {
                let begin = lists.len();
                let neighbours = self.rows.neighbours(node);
                pace.spend(1 + neighbours.len())?;
                for (i, &v) in neighbours.iter().enumerate() {
                    let colour = partition.colour(v);
                    if codes.splitters.contains(&colour) {
                        lists.push(codes.message(colour, self.rows.relation(node, i)));
                    }
                }
                lists[begin..].sort_unstable();
                self.items.push(Listener { prefix: codes.pack(&lists[begin..]), begin: begin as u32, node });
                lists.push(M::default());
            }
            self.separate(partition, class, &|a, b| codes.compare(lists, a, b), pace)?;
        }
        self.open = open;
        Ok(())
    }

    /// The nodes of splitters go through their neighbours.
    fn tell<M: Message>(
        &mut self,
        partition: &mut Partition,
        codes: &Codes,
        lists: &mut Vec<M>,
        pace: &mut Pace<'_>,
    ) -> Result<(), Error> {
        let classes = self.announce(partition, codes, lists, pace)?;
        self.write(partition, codes, lists, pace)?;
        let mut begin = 0;
        for class in classes {
            self.items.clear();
            for &node in partition.tail(class) {
                let end = std::mem::take(&mut self.heard[node as usize]) as usize;
                let list = &mut lists[begin..end];
                if self.rows.relation_count() > 1 {
                    list.sort_unstable();
                }
                self.items.push(Listener { prefix: codes.pack(list), begin: begin as u32, node });
                begin = end + 1;
            }
            self.separate(partition, class, &|a, b| codes.compare(lists, a, b), pace)?;
            partition.clear_tail(class);
        }
        Ok(())
    }

    /// Counts every node's messages, gathers those that hear any in the tails of their classes, and makes room for
    /// their lists, class after class.
    fn announce<M: Message>(
        &mut self,
        partition: &mut Partition,
        codes: &Codes,
        lists: &mut Vec<M>,
        pace: &mut Pace<'_>,
    ) -> Result<Vec<u32>, Error> {
        let heard = &mut self.heard;
        let mut listeners = Vec::new();
        for &v in codes.splitters.clone().flat_map(|class| partition.class(class)) {
            let neighbours = self.rows.neighbours(v);
            pace.spend(1 + neighbours.len())?;
            for &u in neighbours {
                let count = &mut heard[u as usize];
                if *count == 0 {
                    listeners.push(u);
                }
                *count = if *count == ALONE { ALONE } else { *count + 1 };
            }
        }
        let mut classes = Vec::new();
        for &u in &listeners {
            classes.extend(partition.move_to_tail(u));
        }
        let mut end = 0;
        for &u in classes.iter().flat_map(|&class| partition.tail(class)) {
            let count = std::mem::replace(&mut heard[u as usize], end);
            end += count + 1;
        }
        pace.spend(2 * listeners.len())?;
        lists.clear();
        lists.resize(end as usize, M::default());
        Ok(classes)
    }

    /// Writes the messages. Splitters ascend, so with one relation the lists are sorted as they come.
    fn write<M: Message>(
        &mut self,
        partition: &Partition,
        codes: &Codes,
        lists: &mut [M],
        pace: &mut Pace<'_>,
    ) -> Result<(), Error> {
        for class in codes.splitters.clone() {
            for &v in partition.class(class) {
                let neighbours = self.rows.neighbours(v);
                pace.spend(1 + neighbours.len())?;
                for (i, &u) in neighbours.iter().enumerate() {
                    let next = &mut self.heard[u as usize];
                    if *next != ALONE {
                        lists[*next as usize] = codes.message(class, self.rows.relation_back(v, i));
                        *next += 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Sorts the nodes of a class that heard something, and notes how they separate from each other and from those that
    /// heard nothing, which come first.
    fn separate(
        &mut self,
        partition: &mut Partition,
        class: u32,
        compare: &impl Fn(&Listener, &Listener) -> Ordering,
        pace: &mut Pace<'_>,
    ) -> Result<(), Error> {
        sort(&mut self.items, compare, pace)?;
        let first = self.sizes.len();
        let silent = partition.size(class) - self.items.len() as u32;
        self.sizes.extend((silent > 0).then_some(silent));
        let parts = self.items.chunk_by(|a, b| compare(a, b).is_eq());
        self.sizes.extend(parts.map(|part| part.len() as u32));
        if self.sizes.len() == first + 1 {
            self.sizes.truncate(first);
            return Ok(());
        }
        partition.arrange(class, self.items.iter().map(|item| item.node));
        self.splits.push((class, first as u32..self.sizes.len() as u32));
        Ok(())
    }
}
