//! The contents of a colouring as plain data, so that they can be stored, sent and checked.

use crate::precision::Values;

/// The contents of [`Colours`](super::Colours), for storing or transferring them.
///
/// [`Colours::parts`](super::Colours::parts) returns them; [`Colours::from_parts`](super::Colours::from_parts)
/// validates them and rebuilds the colours.
#[derive(Debug, Clone, PartialEq)]
pub struct ColourParts {
    /// The order of the tuples: 2 for pairs.
    pub order: usize,
    /// Channels per input row.
    pub channels: usize,
    /// The input row of every colour of level 0, `[count(0), channels]`.
    pub inputs: Values,
    /// The number of colours at each level. The colours of a level are the first of the next.
    pub counts: Vec<u32>,
    /// The colour that each one was split from; those of level 0 are their own parents.
    pub parents: Vec<u32>,
    /// The graphs.
    pub graphs: Vec<GraphColours>,
}

/// One graph: its colours at the last level, in the order of their first pairs, and which of them each pair has.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphColours {
    /// Its number of nodes, n.
    pub nodes: usize,
    /// Its colours.
    pub colours: Vec<u32>,
    /// Which of them each of the `n^order` tuples has.
    pub places: Places,
}

/// For every pair (i, k), at i * n + k, the index of its colour in the graph's list: two bytes if the list is short
/// enough, otherwise four.
#[derive(Debug, Clone, PartialEq)]
pub enum Places {
    /// For lists of at most [`Places::NARROW`] colours.
    Narrow(Vec<u16>),
    /// For longer lists.
    Wide(Vec<u32>),
}

impl Places {
    /// The largest number of colours that two bytes can index.
    pub const NARROW: usize = 1 << 16;

    pub(super) fn new(places: Vec<u32>, colours: usize) -> Self {
        match colours <= Self::NARROW {
            true => Places::Narrow(places.into_iter().map(|place| place as u16).collect()),
            false => Places::Wide(places),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Places::Narrow(places) => places.len(),
            Places::Wide(places) => places.len(),
        }
    }

    /// Calls `each` with the index of every pair, in order.
    pub(super) fn for_each(&self, mut each: impl FnMut(usize)) {
        match self {
            Places::Narrow(places) => places.iter().for_each(|&place| each(usize::from(place))),
            Places::Wide(places) => places.iter().for_each(|&place| each(place as usize)),
        }
    }
}

impl ColourParts {
    /// Whether every number is within its range, so that later indexing cannot fail. O(tuples).
    pub(super) fn are_consistent(&self) -> bool {
        let ColourParts { order, channels, inputs, counts, parents, graphs } = self;
        let (Some(&first), Some(&last)) = (counts.first(), counts.last()) else { return false };
        let Ok(order) = u32::try_from(*order) else { return false };
        let born = counts.windows(2).all(|pair| {
            let new = parents.get(pair[0] as usize..pair[1] as usize);
            pair[0] <= pair[1] && new.is_some_and(|new| new.iter().all(|&parent| parent < pair[0]))
        });
        let graph = |graph: &GraphColours| {
            let narrow = matches!(graph.places, Places::Narrow(_));
            // Lists are in the order of first pairs.
            let (mut seen, mut ordered) = (0, true);
            graph.places.for_each(|place| {
                ordered &= place <= seen;
                seen += usize::from(place == seen);
            });
            graph.nodes.checked_pow(order) == Some(graph.places.len())
                && narrow == (graph.colours.len() <= Places::NARROW)
                && ordered
                && seen == graph.colours.len()
                && graph.colours.iter().all(|&colour| colour < last)
        };
        born && parents.len() == last as usize
            && (first as usize).checked_mul(*channels) == Some(inputs.len())
            && graphs.iter().all(graph)
    }
}
