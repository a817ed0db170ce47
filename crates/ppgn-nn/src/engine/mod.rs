//! A network on the CPU: rows through blocks, pooling and suffix, forward and backward, on the kernels.
//!
//! [`cut`] maps a block's description onto its parameters, [`view`] presents the batch's space to the kernels; this
//! file contains the two passes. A [`Tape`] holds what the backward pass needs.
//!
//! The graphs of a dense batch meet at the loss only. With narrow blocks, whose activations take longer to fetch than to
//! compute, groups of graphs go through all blocks one after another, each while it is in the cache.

mod cut;
mod items;
mod view;

use crate::config::{Pooling, PpgnConfig, SuffixKind};
use crate::dropout::Masks;
use crate::model::Description;
use crate::space::Space;
use items::Items;
use ppgn_kernels::{
    Block, Buffer, Keep, Kept, Pools, Real, Scored, Suffix, Ties, Workspace, activate, activate_backward,
    add_each, in_pool, multiply_each, pool_max, pool_max_backward, pool_mean, pool_mean_backward, pool_sum,
    pool_sum_backward,
};
use rayon::prelude::*;
use view::{Group, View};

/// A network's layers with their parameters, on a space.
pub(crate) struct Engine<'a, T> {
    config: &'a PpgnConfig,
    blocks: Vec<Block<'a, T>>,
    suffix: Suffix<'a, T>,
    view: View<'a>,
    /// Groups of graphs that go through all blocks one after another; empty where the batch goes as a whole.
    groups: Vec<Group<'a>>,
    /// The rows that nodes or pairs have their features from; nothing where graphs are pooled.
    items: Option<Items>,
    workspace: &'a Workspace,
}

/// Hidden layers of up to this many bytes are kept for the backward pass; beyond that they are recomputed.
const HIDDEN: usize = 512 << 20;

/// Numbers per activation from which graphs form a group: with this many, those of a block stay in the L2 cache.
const GROUP: usize = 1 << 15;

/// The largest block, in bytes of parameters, that takes group after group: a wider one needs more rows at a time.
const NARROW: usize = 256 << 10;

/// The most sums that the gradients of groups are added to before these are added in order.
const SUMS: usize = 32;

/// What the backward pass needs from the forward pass.
#[derive(Debug)]
pub(crate) struct Tape<T: Real> {
    /// One per group, or one for the whole batch.
    blocks: Vec<BlockTape<T>>,
    pooled: Vec<Buffer<T>>,
    scored: Scored<T>,
    /// What the pooled features were multiplied by: one mask per block that is pooled, or none.
    masks: Vec<Vec<T>>,
}

impl<T: Real> Tape<T> {
    /// The scores, `[graphs, outputs]`.
    pub(crate) fn scores(&self) -> &[T] {
        &self.scored.scores
    }
}

/// The blocks' part of it.
#[derive(Debug)]
struct BlockTape<T: Real> {
    /// The input of every block except the first.
    inputs: Vec<Buffer<T>>,
    kept: Vec<Kept<T>>,
    /// The ties of every max-pooled block; empty for other pooling.
    ties: Vec<Ties<T>>,
    /// The output of the last block, if pooling activates it.
    last: Option<Buffer<T>>,
}

impl<'a, T: Real> Engine<'a, T> {
    /// The engine of a network, from its descriptions and the arrays of its layout.
    pub(crate) fn new(
        config: &'a PpgnConfig,
        blocks: &[Description],
        arrays: &[&'a [T]],
        space: &'a Space,
        workspace: &'a Workspace,
    ) -> Self {
        let widths: Vec<usize> =
            std::iter::once(config.first_width()).chain(blocks.iter().map(Description::outputs)).collect();
        let layers = cut::layers(&config.suffix_layers(&widths), arrays[blocks.len()]);
        let suffix = match config.suffix {
            SuffixKind::I => Suffix::Chain(layers, config.activation.into()),
            SuffixKind::Ii => Suffix::Sum(layers),
        };
        let view = View::new(config, space);
        let block = |(l, (block, array)): (usize, (&Description, &&'a [T]))| Block {
            messages: view.messages(l),
            ..cut::block(block, array)
        };
        let blocks = blocks.iter().zip(arrays).enumerate().map(block).collect();
        let items = Items::new(config, space);
        let narrow = arrays[..arrays.len() - 1].iter().all(|array| size_of_val(*array) <= NARROW);
        let width = widths.iter().max().map_or(1, |&width| width.max(1));
        let groups = if narrow && items.is_none() { view.groups(GROUP.div_ceil(width)) } else { Vec::new() };
        Engine { config, blocks, suffix, view, groups, items, workspace }
    }

    /// The rows of the scores: graphs, nodes or pairs.
    fn outputs(&self) -> usize {
        self.items.as_ref().map_or(self.view.graphs(), Items::len)
    }

    /// The pooled features the suffix takes, `[graphs, patterns * width]` each.
    pub(crate) fn features(&self, rows: &[T]) -> Vec<Buffer<T>> {
        in_pool(|| self.blocks_forward(rows, false, None).0)
    }

    /// The scores, `[graphs, outputs]`.
    pub(crate) fn scores(&self, rows: &[T]) -> Vec<T> {
        in_pool(|| {
            let (pooled, _) = self.blocks_forward(rows, false, self.items.as_ref());
            self.suffix.forward(self.workspace, self.outputs(), &pooled).scores.to_vec()
        })
    }

    /// The scores, with what the backward pass needs; with these masks, if there is dropout.
    pub(crate) fn forward(&self, rows: &[T], masks: Option<Masks<T>>) -> Tape<T> {
        let Masks { pooled: masks, hidden } = masks.unwrap_or_default();
        in_pool(|| {
            let (mut pooled, blocks) = self.blocks_forward(rows, true, self.items.as_ref());
            pooled.iter_mut().zip(&masks).for_each(|(features, mask)| multiply_each(features, mask));
            let scored = self.suffix.forward_masked(self.workspace, self.outputs(), &pooled, hidden);
            Tape { blocks, pooled, scored, masks }
        })
    }

    /// Given the gradient of the scores, adds the gradients of all parameters to `gradients`, one per array of the
    /// layout. `ready` is called with each as soon as it is complete: the suffix's, then the blocks' from the last to the
    /// first.
    pub(crate) fn backward(
        &self,
        rows: &[T],
        tape: Tape<T>,
        scores: &[T],
        gradients: &mut [Vec<T>],
        ready: &mut (dyn FnMut(usize, &mut Vec<T>) + Send),
    ) {
        in_pool(|| {
            let Tape { blocks, pooled, scored, masks } = tape;
            let Some((of_suffix, of_blocks)) = gradients.split_last_mut() else { return };
            let mut features = self.suffix.backward(self.workspace, &pooled, scored, scores, of_suffix);
            ready(of_blocks.len(), of_suffix);
            features.iter_mut().zip(&masks).for_each(|(features, mask)| multiply_each(features, mask));
            self.blocks_backward(rows, blocks, &features, of_blocks, ready);
        });
    }

    /// The size of the hidden layers of all MLPs, in bytes.
    fn hidden_bytes(&self) -> usize {
        let numbers = self.blocks.iter().enumerate().map(|(l, block)| self.view.rows(l) * block.hidden());
        numbers.sum::<usize>() * size_of::<T>()
    }

    /// The features that the suffix takes: pooled, or those of nodes or pairs.
    fn blocks_forward(
        &self,
        rows: &[T],
        keep: bool,
        items: Option<&Items>,
    ) -> (Vec<Buffer<T>>, Vec<BlockTape<T>>) {
        if self.groups.is_empty() {
            let (pooled, tape) = self.view_forward(&self.view, rows, keep, items);
            return (pooled, vec![tape]);
        }
        // Graphs do not depend on each other: a group goes through all blocks while it is in the cache.
        let mut passes: Vec<(Vec<Buffer<T>>, BlockTape<T>)> = Vec::new();
        let each = |group: &Group<'a>| self.view_forward(&group.view, self.of_group(group, rows), keep, None);
        self.groups.par_iter().with_max_len(1).map(each).collect_into_vec(&mut passes);
        let graphs = self.view.graphs();
        let widths = passes[0].0.iter().map(|features| features.len() / self.groups[0].place.len());
        let mut pooled: Vec<Buffer<T>> =
            widths.map(|width| Buffer::zeros(self.workspace, graphs * width)).collect();
        let mut tapes = Vec::with_capacity(passes.len());
        for (group, (features, tape)) in self.groups.iter().zip(passes) {
            for (to, features) in pooled.iter_mut().zip(features) {
                let width = to.len() / graphs;
                for (numbers, &place) in features.chunks_exact(width).zip(&group.place) {
                    to[place * width..][..width].copy_from_slice(numbers);
                }
            }
            tapes.push(tape);
        }
        (pooled, tapes)
    }

    /// The rows of a group.
    fn of_group<'r>(&self, group: &Group<'_>, rows: &'r [T]) -> &'r [T] {
        let width = self.blocks[0].inputs;
        &rows[group.rows.start * width..group.rows.end * width]
    }

    /// The blocks on all graphs of a view.
    fn view_forward(
        &self,
        view: &View<'_>,
        rows: &[T],
        keep: bool,
        items: Option<&Items>,
    ) -> (Vec<Buffer<T>>, BlockTape<T>) {
        let mut tape = BlockTape { inputs: Vec::new(), kept: Vec::new(), ties: Vec::new(), last: None };
        let mut pooled = Vec::new();
        let mut input: Option<Buffer<T>> = None;
        let what = match keep {
            true if self.hidden_bytes() <= HIDDEN => Keep::Hidden,
            true => Keep::Results,
            false => Keep::Nothing,
        };
        for (l, block) in self.blocks.iter().enumerate() {
            let x = input.as_deref().unwrap_or(rows);
            let (output, kept) = block.forward(self.workspace, view.pairs(l), x, what);
            if self.config.pools_after(l) {
                let (features, ties) = self.pool(view, l, block.outputs(), &output, items, keep);
                pooled.push(features);
                tape.ties.extend(ties);
            }
            tape.kept.extend(kept);
            if let Some(x) = input.replace(output).filter(|_| keep) {
                tape.inputs.push(x);
            }
        }
        tape.last = input.filter(|_| keep && self.config.activate_pooled);
        (pooled, tape)
    }

    /// The features that the suffix takes of block l, and the rows that attain their maxima.
    fn pool(
        &self,
        view: &View<'_>,
        l: usize,
        width: usize,
        output: &Buffer<T>,
        items: Option<&Items>,
        keep: bool,
    ) -> (Buffer<T>, Option<Ties<T>>) {
        let activated = self.config.activate_pooled.then(|| {
            let mut copy = Buffer::copy(self.workspace, output);
            activate(self.config.activation.into(), &mut copy);
            copy
        });
        let output = activated.as_ref().unwrap_or(output);
        if let Some(items) = items {
            let mut features = Buffer::zeros(self.workspace, items.len() * width);
            pool_sum(items.pools(l), width, output, &mut features);
            return (features, None);
        }
        let pools = view.pools(l + 1);
        let mut features = Buffer::zeros(self.workspace, view.graphs() * self.config.pools() * width);
        let ties = match self.config.pooling {
            Pooling::Max => Some(pool_max(pools, width, output, &mut features, keep)),
            Pooling::Sum => {
                pool_sum(pools, width, output, &mut features);
                None
            }
            Pooling::Mean => {
                pool_mean(pools, width, output, &mut features);
                None
            }
            Pooling::MaxMean => {
                let [mut maxima, mut means] =
                    [(); 2].map(|()| Buffer::zeros(self.workspace, features.len() / 2));
                let ties = pool_max(pools, width, output, &mut maxima, keep);
                pool_mean(pools, width, output, &mut means);
                let halves = maxima.chunks_exact(self.half(width)).zip(means.chunks_exact(self.half(width)));
                for (to, (maxima, means)) in features.chunks_exact_mut(2 * self.half(width)).zip(halves) {
                    to[..maxima.len()].copy_from_slice(maxima);
                    to[maxima.len()..].copy_from_slice(means);
                }
                Some(ties)
            }
        };
        (features, ties)
    }

    /// The number of maxima of a graph, and of means, where both are its features.
    fn half(&self, width: usize) -> usize {
        self.config.pools() / 2 * width
    }

    /// Adds the gradient of the features of block l to that of its rows.
    fn pool_backward(
        &self,
        view: &View<'_>,
        l: usize,
        width: usize,
        ties: Option<Ties<T>>,
        features: &[T],
        to: &mut [T],
    ) {
        let pools: Pools<'_> = view.pools(l + 1);
        match (&self.items, ties, self.config.pooling) {
            (Some(items), ..) => pool_sum_backward(items.pools(l), width, features, to),
            (None, Some(ties), Pooling::MaxMean) => {
                let half = self.half(width);
                let part = |from: usize| -> Vec<T> {
                    features.chunks_exact(2 * half).flat_map(|row| &row[from..from + half]).copied().collect()
                };
                pool_max_backward(pools, width, &ties, &part(0), to);
                pool_mean_backward(pools, width, &part(half), to);
            }
            (None, Some(ties), _) => pool_max_backward(pools, width, &ties, features, to),
            (None, None, Pooling::Mean) => pool_mean_backward(pools, width, features, to),
            (None, None, _) => pool_sum_backward(pools, width, features, to),
        }
    }

    /// Given the gradients of the pooled features, adds those of the blocks' parameters to `gradients`, and tells when one
    /// is complete.
    fn blocks_backward(
        &self,
        rows: &[T],
        tapes: Vec<BlockTape<T>>,
        features: &[Buffer<T>],
        gradients: &mut [Vec<T>],
        ready: &mut (dyn FnMut(usize, &mut Vec<T>) + Send),
    ) {
        if self.groups.is_empty() {
            for tape in tapes {
                self.view_backward(&self.view, rows, tape, features, gradients, &mut *ready);
            }
            return;
        }
        // Some groups one after another have a sum of their own. Which ones depends on the batch alone.
        let together = self.groups.len().div_ceil(SUMS);
        let mut tapes = tapes.into_iter();
        let runs: Vec<(&[Group<'a>], Vec<BlockTape<T>>)> = self
            .groups
            .chunks(together)
            .map(|groups| (groups, tapes.by_ref().take(groups.len()).collect()))
            .collect();
        let mut sums: Vec<Vec<Buffer<T>>> = Vec::new();
        let run = |(groups, tapes): (&[Group<'a>], Vec<BlockTape<T>>)| {
            let mut sums: Vec<Buffer<T>> =
                gradients.iter().map(|gradient| Buffer::zeros(self.workspace, gradient.len())).collect();
            let mut to: Vec<&mut [T]> = sums.iter_mut().map(|sum| &mut sum[..]).collect();
            for (group, tape) in groups.iter().zip(tapes) {
                let own: Vec<Buffer<T>> = features.iter().map(|all| self.features_of(group, all)).collect();
                self.view_backward(&group.view, self.of_group(group, rows), tape, &own, &mut to, |_, _| {});
            }
            sums
        };
        runs.into_par_iter().with_max_len(1).map(run).collect_into_vec(&mut sums);
        // Only the last group completes a gradient. Blocks are narrow here, and the first to be added up is on its way while
        // the others are.
        for (l, gradient) in gradients.iter_mut().enumerate().rev() {
            sums.iter().for_each(|sums| add_each(gradient, &sums[l]));
            ready(l, gradient);
        }
    }

    /// The rows of a group's graphs in an array with one row per graph.
    fn features_of(&self, group: &Group<'_>, all: &[T]) -> Buffer<T> {
        let width = all.len() / self.view.graphs();
        let mut own = Buffer::dirty(self.workspace, group.place.len() * width);
        for (to, &place) in own.chunks_exact_mut(width).zip(&group.place) {
            to.copy_from_slice(&all[place * width..][..width]);
        }
        own
    }

    /// The backward pass on all graphs of a view. `done` is called with the gradient of a block after it was added to.
    fn view_backward<G: AsMut<[T]>>(
        &self,
        view: &View<'_>,
        rows: &[T],
        tape: BlockTape<T>,
        features: &[Buffer<T>],
        gradients: &mut [G],
        mut done: impl FnMut(usize, &mut G),
    ) {
        let BlockTape { mut inputs, mut kept, mut ties, last: mut output } = tape;
        let mut features = features.iter().rev();
        let mut d: Option<Buffer<T>> = None;
        for (l, block) in self.blocks.iter().enumerate().rev() {
            let width = block.outputs();
            let length = view.rows(l + 1) * width;
            let mut gradient = d.take().unwrap_or_else(|| Buffer::zeros(self.workspace, length));
            if let Some(features) = features.next().filter(|_| self.config.pools_after(l)) {
                match output.take().filter(|_| self.config.activate_pooled) {
                    None => self.pool_backward(view, l, width, ties.pop(), features, &mut gradient),
                    Some(output) => {
                        let mut activated = Buffer::zeros(self.workspace, length);
                        self.pool_backward(view, l, width, ties.pop(), features, &mut activated);
                        activate_backward(self.config.activation.into(), &output, &mut activated);
                        add_each(&mut gradient, &activated);
                    }
                }
            }
            // The input of this block is the output of the one before.
            output = inputs.pop();
            let Some(kept) = kept.pop() else { break };
            let x = output.as_deref().unwrap_or(rows);
            let pairs = view.pairs(l);
            d = block.backward(self.workspace, pairs, x, kept, gradient, gradients[l].as_mut(), l > 0);
            done(l, &mut gradients[l]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BlockConfig;
    use crate::layout::Layout;
    use crate::precision::Precision;
    use crate::{Batch, Number};
    use ppgn_graph::encode::{Encoding, Kind};
    use ppgn_graph::{Graph, Schema};
    use ppgn_kernels::{Branch, Mlp, Product};

    /// At k = 2 the generalised product is Y2 . Y1.
    #[test]
    fn at_order_two_the_generalised_product_swaps_m1_and_m2() {
        let graphs = [
            Graph::directed(5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 4)]).unwrap(),
            Graph::directed(3, [(0, 1), (0, 2)]).unwrap(),
        ];
        let encoder = Encoding::from(Kind::Paper).encoder(&Schema::of(&graphs).unwrap()).unwrap();
        let graphs: Vec<&Graph> = graphs.iter().collect();
        let batch = Batch::encode(&encoder, &graphs, Precision::F64).unwrap();
        let config = PpgnConfig { blocks: vec![BlockConfig::new(6); 3], ..PpgnConfig::new(1, 2) };
        let layout = Layout::new(&config);
        // Without biases everything is a polynomial in the adjacency matrix, and such matrices commute.
        let biased = |a: &crate::Values| a.to_f64().iter().map(|x| x + 0.1).collect::<Vec<f64>>();
        let arrays: Vec<Vec<f64>> = layout.initial(3, Precision::F64).iter().map(biased).collect();
        let arrays: Vec<&[f64]> = arrays.iter().map(Vec::as_slice).collect();
        let rows = f64::slice(batch.rows()).unwrap();
        let workspace = Workspace::default();
        let blocks = config.descriptions();
        let run = |engine: &Engine<'_, f64>| {
            let (pooled, tape) = engine.blocks_forward(rows, true, None);
            let ones: Vec<Buffer<f64>> =
                pooled.iter().map(|p| Buffer::copy(&workspace, &vec![1.0; p.len()])).collect();
            let mut gradients: Vec<Vec<f64>> =
                layout.arrays()[..3].iter().map(|array| vec![0.0; array.len()]).collect();
            engine.blocks_backward(rows, tape, &ones, &mut gradients, &mut |_, _| {});
            (pooled.iter().map(|p| p.to_vec()).collect::<Vec<_>>(), gradients)
        };
        let new = || Engine::new(&config, &blocks, &arrays, batch.space(), &workspace);
        let mut general = new();
        let plain = run(&general);
        let each = |engine: &mut Engine<'_, f64>, change: fn(&mut Product, &mut Vec<Mlp<'_, f64>>)| {
            for block in &mut engine.blocks {
                for branch in &mut block.branches {
                    if let Branch::Product { product, factors, .. } = branch {
                        change(product, factors);
                    }
                }
            }
        };
        each(&mut general, |product, _| *product = Product::Generalised);
        let unchanged = run(&general);
        each(&mut general, |_, factors| factors.swap(0, 1));
        let (pooled, mut gradients) = run(&general);
        for (gradient, block) in gradients.iter_mut().zip(&blocks) {
            let length = block.layers().take(2).map(|layer| layer.count().unwrap()).sum::<usize>();
            gradient[..2 * length].rotate_left(length);
        }
        let off = |a: &[Vec<f64>], b: &[Vec<f64>]| {
            a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let size = |a: &[Vec<f64>]| a.iter().flatten().fold(1.0, |m: f64, x| m.max(x.abs()));
        assert!(off(&pooled, &plain.0) < 1e-12 * size(&pooled));
        assert!(off(&gradients, &plain.1) < 1e-12 * size(&gradients));
        assert!(off(&unchanged.0, &plain.0) > 1e-3 * size(&pooled), "on directed graphs the order matters");
    }
}
