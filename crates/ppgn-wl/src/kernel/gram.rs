//! The Gram matrix of the subtree kernel: all inner products, as exact integers.

use super::SubtreeKernel;
use crate::{Error, Options, Test};
use rayon::prelude::*;
use std::ops::Range;

/// The kernel of every pair of graphs: symmetric, exact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gram {
    graphs: usize,
    values: Vec<u64>,
}

impl Gram {
    /// The matrix of its stripes, which may have been computed elsewhere: rows a to b of every stripe a..b, from column a on, as
    /// [`SubtreeKernel::between`] gives them. `None` where they are not the stripes of a matrix of this many graphs.
    ///
    /// ```
    /// use ppgn_graph::generate::generate;
    /// use ppgn_wl::{Gram, Options, subtree_kernel};
    /// let (graphs, options) = (generate("gnp:n=6,p=0.5,count=5")?, Options::default());
    /// let kernel = subtree_kernel(graphs.graphs(), 2, &options)?;
    /// let stripes = [kernel.between(0..2, 0..5, &options)?, kernel.between(2..5, 2..5, &options)?];
    /// assert_eq!(Gram::from_stripes(5, [0..2, 2..5].into_iter().zip(stripes)), Some(kernel.gram(&options)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_stripes(
        graphs: usize,
        stripes: impl IntoIterator<Item = (Range<usize>, Vec<u64>)>,
    ) -> Option<Self> {
        let mut values = vec![0; graphs * graphs];
        let mut next = 0;
        for (rows, stripe) in stripes {
            let width = graphs.checked_sub(rows.start)?;
            if rows.start != next || rows.end > graphs || stripe.len() != rows.len() * width {
                return None;
            }
            next = rows.end;
            let start = rows.start;
            for (row, numbers) in rows.zip(stripe.chunks(width.max(1))) {
                values[row * graphs + start..][..width].copy_from_slice(numbers);
            }
        }
        mirror(&mut values, graphs, 0);
        (next == graphs).then_some(Gram { graphs, values })
    }

    /// The number of graphs, and so of rows and columns.
    pub fn graphs(&self) -> usize {
        self.graphs
    }

    /// The kernel of graphs i and j.
    pub fn get(&self, i: usize, j: usize) -> u64 {
        self.row(i)[j]
    }

    /// Row i.
    pub fn row(&self, i: usize) -> &[u64] {
        &self.values[i * self.graphs..(i + 1) * self.graphs]
    }

    /// All rows, one after another.
    pub fn values(&self) -> &[u64] {
        &self.values
    }
}

impl SubtreeKernel {
    /// The Gram matrix K = F F^T of the features F.
    ///
    /// # Complexity
    ///
    /// O(N^2 + sum over the runs of (graphs that have the colour)^2) for N graphs, on all cores of the rayon pool.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`] if the matrix would not fit [`Options::max_memory`]; [`Error::KernelTooLarge`] if its values
    /// would not fit 63 bits.
    pub fn gram(&self, options: &Options) -> Result<Gram, Error> {
        let n = self.graphs();
        self.check(n, options)?;
        let columns = Columns::of(self);
        let mut values = vec![0u64; n * n];
        values.par_chunks_mut(n).enumerate().try_for_each(|(i, row)| {
            options.interrupt.check()?;
            let entries = self.offsets[i]..self.offsets[i + 1];
            for (&(run, count), &place) in self.entries[entries.clone()].iter().zip(&columns.places[entries])
            {
                let factor = self.weight(run) * u64::from(count);
                // From this graph's own place on: the upper triangle. Nothing overflows, `check` has seen to it.
                for &(graph, other) in &columns.entries[place..columns.ends[run as usize]] {
                    let cell = &mut row[graph as usize];
                    *cell = cell.wrapping_add(factor.wrapping_mul(u64::from(other)));
                }
            }
            Ok(())
        })?;
        mirror(&mut values, n, 0);
        Ok(Gram { graphs: n, values })
    }

    /// Whether [`gram`](Self::gram) would be computed: its errors, before any work.
    pub fn check_gram(&self, options: &Options) -> Result<(), Error> {
        self.check(self.graphs(), options)
    }

    /// The kernel of the graphs `rows` with the graphs `columns`: a block of [`gram`](Self::gram), row after row, without
    /// the rest of it. For test graphs and training graphs that were refined together.
    ///
    /// ```
    /// use ppgn_graph::generate::generate;
    /// use ppgn_wl::{Options, subtree_kernel};
    /// let (graphs, options) = (generate("gnp:n=6,p=0.5,count=5")?, Options::default());
    /// let kernel = subtree_kernel(graphs.graphs(), 2, &options)?;
    /// let (gram, block) = (kernel.gram(&options)?, kernel.between(3..5, 0..3, &options)?);
    /// assert_eq!(block, [&gram.row(3)[..3], &gram.row(4)[..3]].concat());
    /// assert_eq!(kernel.diagonal()[4], gram.get(4, 4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`gram`](Self::gram). Ranges that reach beyond the graphs are cut.
    pub fn between(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        options: &Options,
    ) -> Result<Vec<u64>, Error> {
        let within =
            |range: Range<usize>| range.start.min(self.graphs())..range.end.clamp(range.start, self.graphs());
        let (rows, columns) = (within(rows), within(columns));
        let width = columns.len();
        self.check((rows.len() as f64 * width as f64).sqrt().ceil() as usize, options)?;
        let by_run = Columns::of(self);
        let mut values = vec![0u64; rows.len() * width];
        if values.is_empty() {
            return Ok(values);
        }
        values.par_chunks_mut(width).zip(rows).try_for_each(|(row, graph)| {
            options.interrupt.check()?;
            for &(run, count) in self.row(graph) {
                let factor = self.weight(run) * u64::from(count);
                let start = (run as usize).checked_sub(1).map_or(0, |before| by_run.ends[before]);
                let entries = &by_run.entries[start..by_run.ends[run as usize]];
                let first = entries.partition_point(|e| (e.0 as usize) < columns.start);
                for &(other, times) in entries[first..].iter().take_while(|e| (e.0 as usize) < columns.end) {
                    let cell = &mut row[other as usize - columns.start];
                    *cell = cell.wrapping_add(factor.wrapping_mul(u64::from(times)));
                }
            }
            Ok(())
        })?;
        Ok(values)
    }

    /// The kernel of every graph with itself.
    pub fn diagonal(&self) -> Vec<u64> {
        let square = |&(run, count): &(u32, u32)| self.weight(run) * u64::from(count) * u64::from(count);
        (0..self.graphs()).map(|g| self.row(g).iter().map(square).sum()).collect()
    }

    /// Whether a matrix of n * n values fits, in memory and in 63 bits each.
    fn check(&self, n: usize, options: &Options) -> Result<(), Error> {
        // A graph's nodes are its counts after round 0, whose runs come first.
        let first = self.colours[0];
        let nodes = |g| self.row(g).iter().take_while(|e| e.0 < first).map(|e| u64::from(e.1)).sum::<u64>();
        let most = (0..self.graphs()).map(nodes).max().unwrap_or(0);
        let rounds = self.iterations as u64 + 1;
        let largest = u128::from(most) * u128::from(most) * u128::from(rounds);
        if largest > i64::MAX as u128 {
            return Err(Error::KernelTooLarge { nodes: most, rounds });
        }
        let cells = (n as u64).saturating_mul(n as u64);
        let need = cells.saturating_mul(8).saturating_add(16 * self.entries.len() as u64);
        let limit = options.max_memory.unwrap_or(isize::MAX as u64);
        match need > limit {
            true => Err(Error::Memory { test: Test::COLOUR_REFINEMENT, need, limit }),
            false => Ok(()),
        }
    }
}

/// The entries by run: which graphs have it, in ascending order, and how often.
struct Columns {
    entries: Vec<(u32, u32)>,
    /// Where each run's entries end.
    ends: Vec<usize>,
    /// Where each entry of the rows stands here.
    places: Vec<usize>,
}

impl Columns {
    fn of(kernel: &SubtreeKernel) -> Self {
        let mut next = vec![0usize; kernel.runs.len() + 1];
        for &(run, _) in &kernel.entries {
            next[run as usize + 1] += 1;
        }
        for run in 0..kernel.runs.len() {
            next[run + 1] += next[run];
        }
        let mut entries = vec![(0, 0); kernel.entries.len()];
        let mut places = Vec::with_capacity(entries.len());
        for graph in 0..kernel.graphs() {
            for &(run, count) in kernel.row(graph) {
                let place = &mut next[run as usize];
                entries[*place] = (graph as u32, count);
                places.push(*place);
                *place += 1;
            }
        }
        Columns { entries, ends: next, places }
    }
}

/// Copies the upper triangle of a block on the diagonal into the lower one. The block's rows are `rows`, n values
/// each, and its first column is `from`.
fn mirror(rows: &mut [u64], n: usize, from: usize) {
    let size = rows.len().checked_div(n).unwrap_or(0);
    if size <= 64 {
        for i in 0..size {
            for j in 0..i {
                rows[i * n + from + j] = rows[j * n + from + i];
            }
        }
        return;
    }
    let half = size / 2;
    let (top, bottom) = rows.split_at_mut(half * n);
    // The block below the diagonal: few rows at a time, so that the columns read stay in cache.
    bottom.par_chunks_mut(16 * n).enumerate().for_each(|(chunk, rows)| {
        for j in 0..half {
            for (i, row) in rows.chunks_mut(n).enumerate() {
                row[from + j] = top[j * n + from + half + 16 * chunk + i];
            }
        }
    });
    rayon::join(|| mirror(top, n, from), || mirror(bottom, n, from + half));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_are_symmetric() {
        for n in [1, 2, 64, 65, 200] {
            let mut values: Vec<u64> =
                (0..n * n).map(|x| if x % n >= x / n { x as u64 } else { 0 }).collect();
            mirror(&mut values, n, 0);
            for i in 0..n {
                for j in 0..n {
                    assert_eq!(values[i * n + j], (i.min(j) * n + i.max(j)) as u64);
                }
            }
        }
    }
}
