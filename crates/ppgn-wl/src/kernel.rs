//! The WL subtree kernel (Shervashidze et al., *Weisfeiler-Lehman Graph Kernels*, JMLR 12, 2011) of a set of graphs.
//!
//! A graph's features are its colour histograms after rounds 0, 1, ..., H of 1-WL, one column per round and colour; the
//! kernel of two graphs is the inner product of their features. Every round counts, also those that split nothing,
//! and colours that a round does not split are columns of that round all the same.
//!
//! The colours are a forest, so most columns are copies: the column of a colour that no round splits is the same
//! round after round. Here a *run* of equal columns is kept once, with the rounds that it stands for. The Gram matrix
//! multiplies a run by its length, the features write it out.

mod gram;
mod write;

pub use gram::Gram;

use crate::pace::Pace;
use crate::{Error, Options, Refinement, Test, refine};
use ppgn_graph::Graph;
use rayon::prelude::*;
use std::ops::Range;

/// The WL subtree features of a set of graphs: see [`subtree_kernel`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubtreeKernel {
    /// The number of colours after each round, 0 to H or to the last one that split something.
    colours: Vec<u32>,
    iterations: usize,
    runs: Vec<Run>,
    /// Graph g's (run, count), ascending by run, are `entries[offsets[g]..offsets[g + 1]]`.
    offsets: Vec<usize>,
    entries: Vec<(u32, u32)>,
}

/// Equal columns: a colour, and the rounds after which its class is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    colour: u32,
    rounds: Range<usize>,
}

/// A sparse matrix in compressed rows: row i has `values[indptr[i]..indptr[i + 1]]` in the columns
/// `indices[indptr[i]..indptr[i + 1]]`, which ascend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparseRows {
    /// The number of columns.
    pub columns: u64,
    /// Where each row begins, one more than there are rows.
    pub indptr: Vec<u64>,
    /// The column of each entry.
    pub indices: Vec<u64>,
    /// The entries.
    pub values: Vec<u64>,
}

/// The WL subtree kernel of these graphs after rounds 0..=`iterations` of 1-WL.
///
/// [`Options::features`] says what counts as a colour; [`Options::rounds`] is not used. The result gives the
/// [features](SubtreeKernel::features) and the [Gram matrix](SubtreeKernel::gram). Exact, and the same on any number
/// of threads.
///
/// # Complexity
///
/// O((n + m) log n) for the colours and O(n log n) per iteration for the histograms, for n nodes and m edges of all
/// graphs together.
///
/// ```
/// use ppgn_graph::Graph;
/// use ppgn_wl::{Options, subtree_kernel};
/// let path = Graph::undirected(3, [(0, 1), (1, 2)])?;
/// let edge = Graph::undirected(2, [(0, 1)])?;
/// let kernel = subtree_kernel(&[path, edge], 1, &Options::default())?;
/// // Round 0: one colour, 3 and 2 nodes. Round 1: the ends of edges, 2 and 2 nodes; the middle of the path.
/// assert_eq!(kernel.features(&Options::default())?.values, [3, 2, 1, 2, 2]);
/// assert_eq!(kernel.gram(&Options::default())?.values(), [3 * 3 + 2 * 2 + 1, 3 * 2 + 2 * 2, 10, 8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn subtree_kernel(
    graphs: &[Graph],
    iterations: usize,
    options: &Options,
) -> Result<SubtreeKernel, Error> {
    let nodes: u64 = graphs.iter().map(|g| g.nodes() as u64).sum();
    // There are at most two runs per node: a new colour starts one, and what is left of its parent another.
    if nodes > u64::from(u32::MAX / 2) {
        return Err(Error::TooManyTuples { nodes: nodes as usize, k: 1 });
    }
    let Some(end) = iterations.checked_add(1) else {
        return Err(Error::KernelTooLarge { nodes, rounds: u64::MAX });
    };
    let options = Options { rounds: Some(iterations), ..options.clone() };
    let refinement = refine(graphs, Test::COLOUR_REFINEMENT, &options)?;
    let mut pace = Pace::new(&options.interrupt);
    let mut rows: Vec<Vec<(u32, u32)>> = vec![Vec::new(); graphs.len()];
    let mut runs: Vec<Run> = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    for round in 0..=refinement.rounds() {
        let first = runs.len() as u32;
        start_runs(&refinement, round, &mut runs, &mut open);
        // The run that every last colour counts for in this round, if it is one of the new ones.
        let counts_for: Vec<u32> = refinement.ancestors(round).iter().map(|&c| open[c as usize]).collect();
        rows.par_iter_mut().enumerate().for_each(|(g, row)| {
            let runs = refinement.colours(g).iter().map(|&c| counts_for[c as usize]);
            let mut new: Vec<u32> = runs.filter(|&run| run >= first).collect();
            new.sort_unstable();
            row.extend(new.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)));
        });
        pace.spend(counts_for.len() + nodes as usize)?;
    }
    for &run in &open {
        runs[run as usize].rounds.end = end;
    }
    let mut offsets = vec![0];
    offsets.extend(rows.iter().scan(0, |end, row| {
        *end += row.len();
        Some(*end)
    }));
    let colours = (0..=refinement.rounds()).map(|r| refinement.colours_after(r) as u32).collect();
    Ok(SubtreeKernel { colours, iterations, runs, offsets, entries: rows.concat() })
}

/// Ends the runs of the colours that this round split, and starts those of all colours that are new or smaller now.
fn start_runs(refinement: &Refinement, round: usize, runs: &mut Vec<Run>, open: &mut Vec<u32>) {
    let born = open.len() as u32..refinement.colours_after(round) as u32;
    open.resize(born.end as usize, u32::MAX);
    let mut changed: Vec<u32> = born.clone().filter_map(|c| refinement.parent(c)).collect();
    // Parents ascend, since colours are born in the order of (parent, key).
    changed.dedup();
    for colour in changed.into_iter().chain(born) {
        if let Some(ended) = runs.get_mut(open[colour as usize] as usize) {
            ended.rounds.end = round;
        }
        open[colour as usize] = runs.len() as u32;
        runs.push(Run { colour, rounds: round..round });
    }
}

impl SubtreeKernel {
    /// The number of graphs.
    pub fn graphs(&self) -> usize {
        self.offsets.len() - 1
    }

    /// H: rounds 0..=H count.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// The number of colours after a round, and so of its columns.
    fn colours_after(&self, round: usize) -> u64 {
        u64::from(self.colours[round.min(self.colours.len() - 1)])
    }

    /// The columns of a round: colour c after round r is column `block(r).start + c`.
    pub fn block(&self, round: usize) -> Range<u64> {
        let last = self.colours.len() - 1;
        let start: u64 = (0..round.min(last)).map(|r| self.colours_after(r)).sum();
        // All rounds after the last one that split something have the same number of columns.
        let more = (round.saturating_sub(last) as u64).saturating_mul(self.colours_after(last));
        let start = start.saturating_add(more);
        start..start.saturating_add(self.colours_after(round))
    }

    fn row(&self, graph: usize) -> &[(u32, u32)] {
        &self.entries[self.offsets[graph]..self.offsets[graph + 1]]
    }

    /// How many rounds a run stands for.
    fn weight(&self, run: u32) -> u64 {
        self.runs[run as usize].rounds.len() as u64
    }

    /// The features: one row per graph, one column per (round, colour), ordered by round and then by colour.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`] if the matrix would not fit [`Options::max_memory`].
    pub fn features(&self, options: &Options) -> Result<SparseRows, Error> {
        let entries = (self.entries.iter())
            .try_fold(0u64, |sum, &(run, _)| sum.checked_add(self.weight(run)))
            .unwrap_or(u64::MAX);
        let need = entries.saturating_mul(16).saturating_add(8 * self.offsets.len() as u64);
        let limit = options.max_memory.unwrap_or(isize::MAX as u64 / 2);
        if need > limit {
            return Err(Error::Memory { test: Test::COLOUR_REFINEMENT, need, limit });
        }
        let mut pace = Pace::new(&options.interrupt);
        let mut rows = SparseRows {
            columns: self.block(self.iterations).end,
            indptr: vec![0],
            indices: Vec::with_capacity(entries as usize),
            values: Vec::with_capacity(entries as usize),
        };
        let mut row: Vec<(u64, u64)> = Vec::new();
        let starts: Vec<u64> = (0..self.colours.len()).map(|r| self.block(r).start).collect();
        for graph in 0..self.graphs() {
            row.clear();
            for &(run, count) in self.row(graph) {
                let Run { colour, rounds } = &self.runs[run as usize];
                for round in rounds.clone() {
                    let start = starts.get(round).copied().unwrap_or_else(|| self.block(round).start);
                    row.push((start + u64::from(*colour), u64::from(count)));
                }
            }
            pace.spend(row.len())?;
            row.sort_unstable();
            rows.indices.extend(row.iter().map(|e| e.0));
            rows.values.extend(row.iter().map(|e| e.1));
            rows.indptr.push(rows.indices.len() as u64);
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Features;
    use ppgn_graph::random::Stream;

    fn graphs() -> Vec<Graph> {
        let mut random = Stream::new(9, "kernel", &[]);
        (1..40)
            .map(|n| {
                let edges = (0..n).map(|_| (random.below(n) as u32, random.below(n) as u32));
                Graph::undirected(n, edges.collect::<Vec<_>>()).unwrap()
            })
            .collect()
    }

    /// Histograms of every round, straight from the refinement.
    fn plain(graphs: &[Graph], iterations: usize) -> Vec<Vec<(u64, u64)>> {
        let all = refine(graphs, Test::COLOUR_REFINEMENT, &Options::default()).unwrap();
        let mut rows = vec![Vec::new(); graphs.len()];
        let mut start = 0;
        for r in 0..=iterations {
            for (g, row) in rows.iter_mut().enumerate() {
                row.extend(all.histogram_at(g, r).into_iter().map(|(c, n)| (start + u64::from(c), n)));
            }
            start += all.colours_after(r) as u64;
        }
        rows
    }

    #[test]
    fn features_are_the_histograms_of_all_rounds() {
        let graphs = graphs();
        for iterations in [0, 1, 3, 30] {
            let kernel = subtree_kernel(&graphs, iterations, &Options::default()).unwrap();
            let f = kernel.features(&Options::default()).unwrap();
            let expected = plain(&graphs, iterations);
            for (g, row) in expected.iter().enumerate() {
                let range = f.indptr[g] as usize..f.indptr[g + 1] as usize;
                let found: Vec<(u64, u64)> = range.map(|i| (f.indices[i], f.values[i])).collect();
                assert_eq!(&found, row, "graph {g}, {iterations} iterations");
            }
            let last = kernel.block(iterations);
            assert_eq!(f.columns, last.end);
            assert!(expected.iter().flatten().all(|&(c, _)| c < f.columns));

            let gram = kernel.gram(&Options::default()).unwrap();
            for i in 0..graphs.len() {
                for j in 0..graphs.len() {
                    let product =
                        |&(c, n): &(u64, u64)| expected[j].iter().find(|e| e.0 == c).map_or(0, |e| n * e.1);
                    assert_eq!(gram.get(i, j), expected[i].iter().map(product).sum::<u64>());
                }
            }
        }
    }

    #[test]
    fn threads_do_not_matter() {
        let graphs = graphs();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let kernel = subtree_kernel(&graphs, 4, &Options::default()).unwrap();
                let gram = kernel.gram(&Options::default()).unwrap();
                (kernel, gram)
            })
        };
        assert_eq!(run(1), run(2));
    }

    #[test]
    fn limits_are_told() {
        let graphs = graphs();
        let kernel = subtree_kernel(&graphs, 1_000_000_000_000, &Options::default()).unwrap();
        let options = Options { max_memory: Some(1 << 20), ..Options::default() };
        assert!(matches!(kernel.features(&options), Err(Error::Memory { .. })));
        assert!(kernel.gram(&options).is_ok());
        let options = Options { max_memory: Some(100), ..Options::default() };
        assert!(matches!(kernel.gram(&options), Err(Error::Memory { .. })));
        let kernel = subtree_kernel(&graphs, usize::MAX - 1, &Options::default()).unwrap();
        assert!(matches!(kernel.gram(&Options::default()), Err(Error::KernelTooLarge { .. })));
        assert!(matches!(kernel.features(&Options::default()), Err(Error::Memory { .. })));
        let features = Features::default();
        assert_eq!(subtree_kernel(&[], 1, &Options { features, ..Options::default() }), Err(Error::NoGraphs));
    }
}
