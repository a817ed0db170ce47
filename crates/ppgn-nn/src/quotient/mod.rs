//! The quotient space: pairs that no network can distinguish share a row.
//!
//! The rows at level l are the colours of a batch's pairs after l rounds of 2-FWL on the input rows, shared by all its
//! graphs. It is the same function as on the dense space, with the same gradient: `lift` copies to a colour its
//! parent's row; `product` is computed for one pair per colour, because all pairs of that colour have the same sum;
//! `pool` runs over the colours of a graph, weighted by their counts where it sums or splits. Networks of order k use
//! k-tuples instead of pairs, and k-FWL.
//!
//! [`Colours`] are computed once per dataset; a [`Quotient`] is assembled from them for every batch, without comparing
//! rows again.

mod colours;
mod cost;
mod nodes;
mod parts;
mod twins;

pub use colours::Colours;
pub use cost::{Cost, flops};
pub use parts::{ColourParts, GraphColours, Places};

use crate::edges::Edges;
use crate::error::{Error, Result};
use crate::precision::{Number, Values, each};
use ppgn_kernels::{Count, Example, Patterns};

/// The colours of the pairs of a batch, level by level.
///
/// Pair (i, k) of graph g with n nodes is entry `offsets[g] + i * n + k` of a level's matrix, and likewise for longer
/// tuples. The rows of a level are numbered by the first occurrence of their pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct Quotient {
    /// The order of the tuples: 2 for pairs.
    pub(crate) order: usize,
    pub(crate) nodes: Vec<usize>,
    /// The start of each graph's pairs in a matrix, and the end of the last one's.
    pub(crate) offsets: Vec<usize>,
    /// For colours of pairs, the first twin of every node, graph after graph; else empty. (Twins of the last level are twins
    /// of every level.)
    pub(crate) twins: Vec<u32>,
    pub(crate) levels: Vec<Level>,
}

/// The rows of one level.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Level {
    /// The number of rows.
    pub(crate) rows: usize,
    /// The row of every pair, graph after graph. No block reads that of the last level: it is there for networks with
    /// outputs per node or pair only, else empty.
    pub(crate) matrix: Vec<u32>,
    /// For each row its parent at the level below; empty at level 0.
    pub(crate) parent: Vec<u32>,
    /// The first pair that has each row: `W[row] = factor(n) * sum over j of Y1[(i,j)] * Y2[(j,k)]`, where the rows of
    /// (i,j) and (j,k) are read from the matrix of the level below; empty at level 0.
    pub(crate) example: Vec<Example>,
    /// The rows each graph pools, graph after graph.
    pub(crate) pool: Vec<Count>,
    /// The start of each graph's part of `pool`, and the end of the last one's.
    pub(crate) pool_offsets: Vec<usize>,
    /// The rows of the level below that each row hears from; at order 1 only, and not at level 0.
    pub(crate) edges: Option<Edges>,
}

/// Marks an index that has not been assigned yet.
const NONE: u32 = u32::MAX;

impl Quotient {
    /// The quotient space of these graphs of a dataset, and the colour of every row of level 0.
    ///
    /// # Complexity
    /// O(pairs * levels + colours * log colours).
    ///
    /// `whole` says whether to store the matrix of the last level too.
    pub(crate) fn new(colours: &Colours, graphs: &[usize], whole: bool) -> Result<(Self, Vec<u32>)> {
        if graphs.is_empty() {
            return Err(Error::call("a batch needs at least one graph"));
        }
        if let Some(graph) = graphs.iter().find(|&&graph| graph >= colours.graphs()) {
            return Err(Error::call(format!(
                "graph index {graph} is out of range; number of coloured graphs: {}",
                colours.graphs()
            )));
        }
        let nodes: Vec<usize> = graphs.iter().map(|&graph| colours.nodes(graph)).collect();
        let mut offsets = vec![0];
        offsets.extend(nodes.iter().scan(0, |sum, n| {
            *sum += n.pow(colours.order() as u32);
            Some(*sum)
        }));
        let mut assembly = Assembly::new(colours, graphs);
        let last = colours.depth();
        let mut levels = vec![Level::default(); last + 1];
        for level in (0..=last).rev() {
            assembly.fill(&mut levels[level], level, whole);
            if level > 0 {
                levels[level].parent = assembly.descend(level);
            }
        }
        if colours.order() == 1 {
            hear(colours, graphs, &offsets, &mut levels);
        }
        let twins = graphs.iter().filter_map(|&graph| colours.twins.get(graph)).flatten().copied().collect();
        Ok((Quotient { order: colours.order(), nodes, offsets, twins, levels }, assembly.ids))
    }

    /// Whether pairs of one row at level 0 have transposes of one row, and are either all on the diagonal or all off it.
    /// Then the same holds at all levels. O(pairs).
    pub(crate) fn is_closed(&self) -> bool {
        let level = &self.levels[0];
        let mut partners = vec![(NONE, false); level.rows];
        let mut graphs = self.nodes.iter().zip(&self.offsets);
        graphs.all(|(&n, &start)| {
            let matrix = &level.matrix[start..][..n * n];
            (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).all(|(i, j)| {
                let (partner, found) =
                    (&mut partners[matrix[i * n + j] as usize], (matrix[j * n + i], i == j));
                let fits = partner.0 == NONE || *partner == found;
                *partner = found;
                fits
            })
        })
    }

    /// The number of graphs.
    pub fn graphs(&self) -> usize {
        self.nodes.len()
    }

    /// The order of the tuples: 2 for pairs.
    pub fn order(&self) -> usize {
        self.order
    }

    /// The number of blocks of the networks that can run on it.
    pub fn depth(&self) -> usize {
        self.levels.len() - 1
    }

    /// The number of rows at a level.
    ///
    /// # Panics
    /// If `level` exceeds [`depth`](Self::depth).
    pub fn rows(&self, level: usize) -> usize {
        self.levels[level].rows
    }

    /// The number of rows on the dense space.
    pub fn pairs(&self) -> usize {
        self.offsets[self.nodes.len()]
    }

    /// The number of nodes of every graph.
    pub fn nodes(&self) -> &[usize] {
        &self.nodes
    }

    /// The row of every pair (or longer tuple) of a graph at a level, in lexicographic order.
    ///
    /// # Panics
    /// If `level` is [`depth`](Self::depth) or more: no block reads the pairs of the last level, and only a batch for
    /// networks with outputs per node or pair has them.
    pub fn matrix(&self, level: usize, graph: usize) -> &[u32] {
        &self.levels[level].matrix[self.offsets[graph]..self.offsets[graph + 1]]
    }

    /// For each row of a level its parent at the level below; empty at level 0.
    ///
    /// # Panics
    /// If `level` exceeds [`depth`](Self::depth).
    pub fn parents(&self, level: usize) -> &[u32] {
        &self.levels[level].parent
    }

    /// The first pair that has each row of a level, in the order of the graphs; empty at level 0.
    ///
    /// # Panics
    /// If `level` exceeds [`depth`](Self::depth).
    pub fn examples(&self, level: usize) -> &[Example] {
        &self.levels[level].example
    }

    /// What each graph pools at a level: rows with their counts.
    ///
    /// # Panics
    /// If `level` exceeds [`depth`](Self::depth).
    pub fn pool(&self, level: usize, graph: usize) -> &[Count] {
        let Level { pool, pool_offsets, .. } = &self.levels[level];
        &pool[pool_offsets[graph]..pool_offsets[graph + 1]]
    }
}

/// Fills in who every row hears from: the neighbours of its first node, by their rows at the level below.
fn hear(colours: &Colours, graphs: &[usize], offsets: &[usize], levels: &mut [Level]) {
    for level in 1..levels.len() {
        let (below, above) = levels.split_at_mut(level);
        let (below, above) = (&below[level - 1], &mut above[0]);
        let mut edges = Edges::new(colours.channels() - 1);
        for example in &above.example {
            let graph = example.graph as usize;
            let own = colours.edges[graphs[graph]].at(example.place as usize);
            edges.push(own.map(|(j, weights)| (below.matrix[offsets[graph] + j as usize], weights)));
        }
        above.edges = Some(edges);
    }
}

/// A space under construction, from the last level down.
struct Assembly<'a> {
    colours: &'a Colours,
    graphs: &'a [usize],
    /// The colours in the graphs' lists, one list after another.
    entries: Vec<Entry>,
    /// The start of each graph's list, and the end of the last one's.
    starts: Vec<usize>,
    /// The row of every entry at the current level.
    row: Vec<u32>,
    /// The colour of every row at the current level.
    ids: Vec<u32>,
}

/// A colour of the last level in a graph. A colour of pairs may occur both on the diagonal and off it; one of longer
/// tuples has a single pattern, because their input rows determine it.
struct Entry {
    example: Example,
    /// The pattern of the first of `counts`; the second belongs to the next pattern.
    pattern: u32,
    counts: [u32; 2],
}

impl<'a> Assembly<'a> {
    fn new(colours: &'a Colours, graphs: &'a [usize]) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        let mut starts = vec![0];
        let mut listed = Vec::new();
        let order = colours.order();
        let mut patterns = Patterns::new(order);
        for (number, &graph) in graphs.iter().enumerate() {
            let coloured = &colours.parts.graphs[graph];
            let (start, n) = (entries.len(), coloured.nodes);
            // The next pair on the diagonal. (A remainder per pair would take longer than all the rest.)
            let (mut tuple, mut diagonal) = (0, 0);
            coloured.places.for_each(|place| {
                // Lists are in the order of first pairs: a new entry is always the next.
                if start + place == entries.len() {
                    let example = Example { graph: number as u32, place: tuple as u32 };
                    let pattern = if order == 2 { 0 } else { patterns.of(&digits(tuple, n, order)) as u32 };
                    entries.push(Entry { example, pattern, counts: [0; 2] });
                }
                let second = order == 2 && tuple != diagonal;
                if tuple == diagonal {
                    diagonal += n + 1;
                }
                entries[start + place].counts[usize::from(second)] += 1;
                tuple += 1;
            });
            listed.extend_from_slice(&coloured.colours);
            starts.push(entries.len());
        }
        let (row, ids) = number(&listed);
        Assembly { colours, graphs, entries, starts, row, ids }
    }

    /// Fills in the current level, except for the parents.
    fn fill(&self, into: &mut Level, level: usize, whole: bool) {
        into.rows = self.ids.len();
        if whole || level < self.colours.depth() {
            let tuples = |&graph: &usize| self.colours.parts.graphs[graph].places.len();
            into.matrix.reserve_exact(self.graphs.iter().map(tuples).sum());
            for (number, &graph) in self.graphs.iter().enumerate() {
                let row = &self.row[self.starts[number]..self.starts[number + 1]];
                self.colours.parts.graphs[graph].places.for_each(|place| into.matrix.push(row[place]));
            }
        }
        if level > 0 {
            // Rows are in the order of first pairs too: a new row is always the next.
            for (entry, &row) in self.entries.iter().zip(&self.row) {
                if row as usize == into.example.len() {
                    into.example.push(entry.example);
                }
            }
        }
        into.pool_offsets.push(0);
        let mut place_of = vec![[NONE; 2]; self.ids.len()];
        for list in self.starts.windows(2) {
            let start = into.pool.len();
            for (entry, &row) in self.entries[list[0]..list[1]].iter().zip(&self.row[list[0]..list[1]]) {
                let parts = place_of[row as usize].iter_mut().zip(entry.counts).zip(entry.pattern..);
                for ((place, count), pattern) in parts.filter(|((_, count), _)| *count > 0) {
                    if *place == NONE || (*place as usize) < start {
                        *place = into.pool.len() as u32;
                        into.pool.push(Count { row, pattern, count: 0 });
                    }
                    into.pool[*place as usize].count += count;
                }
            }
            into.pool_offsets.push(into.pool.len());
        }
    }

    /// Moves to the level below; returns the row there of every row here.
    fn descend(&mut self, level: usize) -> Vec<u32> {
        let below: Vec<u32> = self.ids.iter().map(|&id| self.colours.parent(level, id)).collect();
        let (parent, ids) = number(&below);
        self.row.iter_mut().for_each(|row| *row = parent[*row as usize]);
        self.ids = ids;
        parent
    }
}

/// The nodes of the tuple with this index.
fn digits(mut place: usize, nodes: usize, order: usize) -> Vec<usize> {
    let mut digits = vec![0; order];
    for digit in digits.iter_mut().rev() {
        (*digit, place) = (place % nodes, place / nodes);
    }
    digits
}

/// Numbers distinct values by first occurrence: returns the number of each entry, and the distinct values.
fn number(values: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut sorted: Vec<u64> =
        values.iter().enumerate().map(|(at, &value)| u64::from(value) << 32 | at as u64).collect();
    sorted.sort_unstable();
    // For every value, its first position.
    let mut first = vec![0u32; values.len()];
    for run in sorted.chunk_by(|a, b| a >> 32 == b >> 32) {
        run.iter().for_each(|&key| first[key as u32 as usize] = run[0] as u32);
    }
    let mut distinct = Vec::new();
    let mut numbers = vec![0u32; values.len()];
    for (at, &value) in values.iter().enumerate() {
        numbers[at] = match first[at] as usize {
            earlier if earlier < at => numbers[earlier],
            _ => {
                distinct.push(value);
                distinct.len() as u32 - 1
            }
        };
    }
    (numbers, distinct)
}

/// The input rows of these colours of level 0, `[ids, channels]`.
pub(crate) fn inputs(colours: &Colours, ids: &[u32]) -> Values {
    let channels = colours.channels();
    each!(&colours.parts.inputs, inputs => {
        let rows = ids.iter().flat_map(|&id| &inputs[id as usize * channels..][..channels]);
        Number::values(rows.copied().collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::encode::{Encoding, Kind};
    use ppgn_graph::generate::generate;

    #[test]
    fn values_are_numbered_by_first_occurrence() {
        assert_eq!(number(&[7, 3, 7, 9, 3, 0]), (vec![0, 1, 0, 2, 1, 3], vec![7, 3, 9, 0]));
        assert_eq!(number(&[]), (vec![], vec![]));
    }

    #[test]
    fn the_levels_of_a_space_are_consistent() {
        let dataset = generate("gnp:n=7,p=0.3,count=6").unwrap();
        let encoder = Encoding::from(Kind::Paper).encoder(dataset.schema()).unwrap();
        let options = Default::default();
        let colours =
            Colours::encode(&encoder, dataset.graphs(), crate::Precision::F32, 3, &options).unwrap();
        let (space, ids) = Quotient::new(&colours, &[4, 1, 1, 5], false).unwrap();
        assert_eq!((space.graphs(), space.depth(), space.pairs()), (4, 3, 4 * 49));
        assert_eq!(ids.len(), space.rows(0));
        let at =
            |level: &Level, e: &Example| level.matrix[space.offsets[e.graph as usize] + e.place as usize];
        for pair in space.levels.windows(2) {
            let (below, above) = (&pair[0], &pair[1]);
            assert_eq!((above.parent.len(), above.example.len()), (above.rows, above.rows));
            for (row, (&parent, example)) in above.parent.iter().zip(&above.example).enumerate() {
                assert_eq!(at(below, example), parent);
                assert!(above.matrix.is_empty() || at(above, example) as usize == row);
            }
        }
        for (l, level) in space.levels.iter().enumerate() {
            assert_eq!(level.matrix.len(), if l < 3 { space.pairs() } else { 0 });
            for graph in 0..4 {
                let pool = &level.pool[level.pool_offsets[graph]..level.pool_offsets[graph + 1]];
                let matrix = level.matrix.get(graph * 49..(graph + 1) * 49).unwrap_or_default();
                let of = |count: &Count, pair: &usize| pair.is_multiple_of(8) == (count.pattern == 0);
                for count in pool.iter().filter(|_| !matrix.is_empty()) {
                    let on = |pair: &usize| matrix[*pair] == count.row && of(count, pair);
                    assert_eq!((0..49).filter(on).count(), count.count as usize);
                }
                let sum = |pattern| {
                    pool.iter().filter(|count| count.pattern == pattern).map(|count| count.count).sum::<u32>()
                };
                assert_eq!((sum(0), sum(1)), (7, 42));
            }
        }
        let (whole, _) = Quotient::new(&colours, &[4, 1, 1, 5], true).unwrap();
        for (row, example) in whole.levels[3].example.iter().enumerate() {
            assert_eq!(at(&whole.levels[3], example) as usize, row);
        }
        // The same graph twice has the same rows.
        assert_eq!(space.levels[2].matrix[49..98], space.levels[2].matrix[98..147]);
    }
}
