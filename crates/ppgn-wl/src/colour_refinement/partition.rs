//! The classes of nodes, as segments of one array, and what splitting costs: the parts that move, not the class.

use std::ops::Range;

/// A partition of the nodes into colours, with every colour's parent.
pub(super) struct Partition {
    /// The colour of every node.
    colour: Vec<u32>,
    /// The nodes, class after class; the order within a class means nothing.
    order: Vec<u32>,
    /// Where every node stands in `order`.
    place: Vec<u32>,
    /// Where every class begins in `order`, and how many nodes it has.
    begin: Vec<u32>,
    size: Vec<u32>,
    parent: Vec<u32>,
    /// How many nodes at the end of every class have been [moved](Partition::move_to_tail) there.
    tail: Vec<u32>,
}

impl Partition {
    /// The partition by these colours, all of which occur and are below `colours`.
    pub(super) fn new(colour: Vec<u32>, colours: usize) -> Self {
        let nodes = colour.len();
        let mut size = Vec::with_capacity(nodes);
        size.resize(colours, 0u32);
        for &c in &colour {
            size[c as usize] += 1;
        }
        let mut begin = Vec::with_capacity(nodes);
        let mut end = 0;
        for &s in &size {
            begin.push(end);
            end += s;
        }
        let mut next = begin.clone();
        let (mut order, mut place) = (vec![0; nodes], vec![0; nodes]);
        for (u, &c) in colour.iter().enumerate() {
            let at = &mut next[c as usize];
            order[*at as usize] = u as u32;
            place[u] = *at;
            *at += 1;
        }
        let mut parent = Vec::with_capacity(nodes);
        parent.extend(0..colours as u32);
        let mut tail = Vec::with_capacity(nodes);
        tail.resize(colours, 0);
        Partition { colour, order, place, begin, size, parent, tail }
    }

    /// The number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.colour.len()
    }

    /// The colour of a node.
    #[inline]
    pub(super) fn colour(&self, u: u32) -> u32 {
        self.colour[u as usize]
    }

    /// The number of colours.
    pub(super) fn colours(&self) -> u32 {
        self.size.len() as u32
    }

    /// Whether every node has a colour of its own, so that nothing can be split any more.
    pub(super) fn is_discrete(&self) -> bool {
        self.size.len() == self.colour.len()
    }

    /// The number of nodes in a class.
    pub(super) fn size(&self, class: u32) -> u32 {
        self.size[class as usize]
    }

    /// The nodes of a class.
    #[inline]
    pub(super) fn class(&self, class: u32) -> &[u32] {
        let begin = self.begin[class as usize] as usize;
        &self.order[begin..begin + self.size[class as usize] as usize]
    }

    /// Puts a node to the end of its class, among those that were put there before. Returns its class if it is the
    /// first one. A node must be put there once only.
    pub(super) fn move_to_tail(&mut self, u: u32) -> Option<u32> {
        let class = self.colour[u as usize];
        let c = class as usize;
        self.tail[c] += 1;
        let (from, to) = (self.place[u as usize], self.begin[c] + self.size[c] - self.tail[c]);
        let other = self.order[to as usize];
        self.order[from as usize] = other;
        self.place[other as usize] = from;
        self.order[to as usize] = u;
        self.place[u as usize] = to;
        (self.tail[c] == 1).then_some(class)
    }

    /// The moved nodes of a class.
    pub(super) fn tail(&self, class: u32) -> &[u32] {
        let nodes = self.class(class);
        &nodes[nodes.len() - self.tail[class as usize] as usize..]
    }

    /// Forgets which nodes of a class were moved.
    pub(super) fn clear_tail(&mut self, class: u32) {
        self.tail[class as usize] = 0;
    }

    /// Puts these nodes, which are the last ones of a class, in this order.
    pub(super) fn arrange(&mut self, class: u32, nodes: impl ExactSizeIterator<Item = u32>) {
        let end = (self.begin[class as usize] + self.size[class as usize]) as usize;
        for (at, u) in (end - nodes.len()..end).zip(nodes) {
            self.order[at] = u;
            self.place[u as usize] = at as u32;
        }
    }

    /// Splits a class into parts of these sizes, in the order in which its nodes stand. The largest part (ties: the
    /// first) stays, the others become new colours in order, which are returned. Calls `alone` with every node that is
    /// now alone in its class.
    pub(super) fn split(&mut self, class: u32, sizes: &[u32], mut alone: impl FnMut(u32)) -> Range<u32> {
        let first_born = self.colours();
        let mut largest = 0;
        for (i, &size) in sizes.iter().enumerate() {
            if size > sizes[largest] {
                largest = i;
            }
        }
        let mut begin = self.begin[class as usize];
        for (i, &size) in sizes.iter().enumerate() {
            let nodes = &self.order[begin as usize..(begin + size) as usize];
            if size == 1 {
                alone(nodes[0]);
            }
            if i == largest {
                self.begin[class as usize] = begin;
                self.size[class as usize] = size;
            } else {
                let born = self.size.len() as u32;
                for &u in nodes {
                    self.colour[u as usize] = born;
                }
                self.begin.push(begin);
                self.size.push(size);
                self.parent.push(class);
                self.tail.push(0);
            }
            begin += size;
        }
        first_born..self.colours()
    }

    /// Every colour's parent, and the colour of every node.
    pub(super) fn into_forest(mut self) -> (Vec<u32>, Vec<u32>) {
        self.parent.shrink_to_fit();
        (self.parent, self.colour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_part_keeps_the_number() {
        let mut p = Partition::new(vec![0, 1, 0, 0, 0], 2);
        assert_eq!((p.class(0), p.class(1)), (&[0, 2, 3, 4][..], &[1][..]));
        assert_eq!(p.move_to_tail(2), Some(0));
        assert_eq!(p.move_to_tail(0), None);
        assert_eq!(p.tail(0), [0, 2]);
        p.arrange(0, [2, 0].into_iter());
        p.clear_tail(0);
        let mut lonely = Vec::new();
        assert_eq!(p.split(0, &[2, 1, 1], |u| lonely.push(u)), 2..4);
        assert_eq!(lonely, [2, 0]);
        assert_eq!(p.colour, [3, 1, 2, 0, 0]);
        p.split(0, &[1, 1], |_| {});
        assert!(p.is_discrete());
        assert_eq!(p.into_forest().0, [0, 1, 0, 0, 0]);
    }
}
