//! Blocks and pooling by the kernels: what a network does on the CPU between its input and its suffix.
//!
//! The whole way from rows to pooled features is one operation with its own backward pass. burn's autodiff has the
//! suffix and the loss, whatever the caller makes of them, and stops at the pooled features; from their gradient on,
//! [`Trunk::backward`] goes back through the blocks in place. Other devices compose burn's operations instead
//! ([`crate::block`]); tests hold the two together.

use crate::config::{M3, M4, Norm, Pooling, PpgnConfig, SuffixKind};
use crate::model::Model;
use crate::space::Space;
use ppgn_kernels::{
    Block, Buffer, Colours, Equivariant, Keep, Kept, Layer, Linears, Mlp, Pairs, Pools, Product, Real,
    Square, Ties, in_pool, pool_max, pool_max_backward, pool_sum, pool_sum_backward,
};

/// A network's blocks over their parameters, on a space.
pub(crate) struct Trunk<'a, T> {
    config: &'a PpgnConfig,
    blocks: Vec<Body<'a, T>>,
    plan: Plan<'a>,
}

/// Hidden layers of up to so many bytes are kept for the backward pass; of more, they are computed again.
const HIDDEN: usize = 512 << 20;

/// What a backward pass needs of the forward pass.
pub(crate) struct Tape<T: Real> {
    /// The input of every block but the first.
    inputs: Vec<Buffer<T>>,
    kept: Vec<Memory<T>>,
    /// The maxima's ties of every pooled block; nothing where sums are pooled.
    ties: Vec<Ties<T>>,
}

impl<'a, T: Real> Trunk<'a, T> {
    /// The blocks of a configuration, from the arrays of its layout.
    pub(crate) fn new(config: &'a PpgnConfig, arrays: &[&'a [T]], space: &'a Space) -> Self {
        let blocks = (0..config.blocks.len()).map(|l| cut(config, l, arrays[l])).collect();
        Trunk { config, blocks, plan: Plan::new(config, space) }
    }

    /// Whether block l's output is pooled.
    fn pools(&self, l: usize) -> bool {
        self.config.suffix == SuffixKind::Ii || l + 1 == self.blocks.len()
    }

    /// What the hidden layers of all MLPs would take.
    fn hidden_bytes(&self) -> usize {
        let numbers = self.blocks.iter().enumerate().map(|(l, block)| self.plan.rows(l) * block.hidden());
        numbers.sum::<usize>() * size_of::<T>()
    }

    /// The pooled features that the suffix takes, `[graphs, patterns * width]` each, and the tape if it is wanted.
    pub(crate) fn forward(&self, rows: &[T], keep: bool) -> (Vec<Vec<T>>, Option<Tape<T>>) {
        in_pool(|| self.forward_here(rows, keep))
    }

    fn forward_here(&self, rows: &[T], keep: bool) -> (Vec<Vec<T>>, Option<Tape<T>>) {
        let mut tape = Tape { inputs: Vec::new(), kept: Vec::new(), ties: Vec::new() };
        let mut pooled = Vec::new();
        let mut input: Option<Buffer<T>> = None;
        let what = match keep {
            true if self.hidden_bytes() <= HIDDEN => Keep::Hidden,
            true => Keep::Results,
            false => Keep::Nothing,
        };
        for (l, block) in self.blocks.iter().enumerate() {
            let x = input.as_deref().unwrap_or(rows);
            let (output, kept) = block.forward(self.plan.pairs(l), x, what);
            if self.pools(l) {
                let width = block.outputs();
                let mut features = vec![T::default(); self.plan.graphs() * self.config.pools() * width];
                let pools = self.plan.pools(l + 1);
                match self.config.pooling {
                    Pooling::Max => tape.ties.push(pool_max(pools, width, &output, &mut features, keep)),
                    Pooling::Sum => pool_sum(pools, width, &output, &mut features),
                }
                pooled.push(features);
            }
            tape.kept.extend(kept);
            if let Some(x) = input.replace(output).filter(|_| keep) {
                tape.inputs.push(x);
            }
        }
        (pooled, keep.then_some(tape))
    }

    /// Adds the gradient of the blocks' parameters to theirs, array by array, from that of the pooled features.
    pub(crate) fn backward(&self, rows: &[T], tape: Tape<T>, features: &[Vec<T>], gradients: &mut [Vec<T>]) {
        in_pool(|| self.backward_here(rows, tape, features, gradients));
    }

    fn backward_here(&self, rows: &[T], tape: Tape<T>, features: &[Vec<T>], gradients: &mut [Vec<T>]) {
        let Tape { mut inputs, mut kept, mut ties } = tape;
        let mut features = features.iter().rev();
        let mut d: Option<Buffer<T>> = None;
        for (l, block) in self.blocks.iter().enumerate().rev() {
            let width = block.outputs();
            let mut gradient = d.take().unwrap_or_else(|| Buffer::zeros(self.plan.rows(l + 1) * width));
            if let Some(features) = features.next().filter(|_| self.pools(l)) {
                let pools = self.plan.pools(l + 1);
                match ties.pop() {
                    Some(ties) => pool_max_backward(pools, width, &ties, features, &mut gradient),
                    None => pool_sum_backward(pools, width, features, &mut gradient),
                }
            }
            let x = inputs.pop();
            let Some(kept) = kept.pop() else { break };
            let x = x.as_deref().unwrap_or(rows);
            d = block.backward(self.plan.pairs(l), x, kept, gradient, &mut gradients[l], l > 0);
        }
    }
}

/// What a network has between two levels.
enum Body<'a, T> {
    Block(Box<Block<'a, T>>),
    Linears(Linears<'a, T>),
}

/// What its backward pass needs.
enum Memory<T: Real> {
    Block(Kept<T>),
    Linears(Vec<Buffer<T>>),
}

impl<T: Real> Body<'_, T> {
    fn outputs(&self) -> usize {
        match self {
            Body::Block(block) => block.outputs(),
            Body::Linears(linears) => linears.outputs(),
        }
    }

    /// Numbers a row of hidden layers that can be computed again.
    fn hidden(&self) -> usize {
        match self {
            Body::Block(block) => block.hidden(),
            Body::Linears(_) => 0,
        }
    }

    fn forward(&self, pairs: Pairs<'_>, x: &[T], keep: Keep) -> (Buffer<T>, Option<Memory<T>>) {
        match self {
            Body::Block(block) => {
                let (output, kept) = block.forward(pairs, x, keep);
                (output, kept.map(Memory::Block))
            }
            Body::Linears(linears) => {
                let (output, kept) = linears.forward(pairs.squares(), x, keep != Keep::Nothing);
                (output, kept.map(Memory::Linears))
            }
        }
    }

    fn backward(
        &self,
        pairs: Pairs<'_>,
        x: &[T],
        kept: Memory<T>,
        d: Buffer<T>,
        gradient: &mut [T],
        wanted: bool,
    ) -> Option<Buffer<T>> {
        match (self, kept) {
            (Body::Block(block), Memory::Block(kept)) => block.backward(pairs, x, kept, d, gradient, wanted),
            (Body::Linears(linears), Memory::Linears(kept)) => {
                linears.backward(pairs.squares(), x, kept, d, gradient, wanted)
            }
            _ => unreachable!("a body gets back what it has kept"),
        }
    }
}

/// Block l over its array of parameters.
fn cut<'a, T: Real>(config: &PpgnConfig, l: usize, array: &'a [T]) -> Body<'a, T> {
    if config.model == Model::Lin {
        let widths = config.mlp_widths(&config.blocks[l], config.widths()[l]);
        let mut rest = array;
        let layer = |w: &[usize]| {
            let (layer, next) = Equivariant::cut(rest, w[0], w[1]);
            rest = next;
            layer
        };
        return Body::Linears(Linears { layers: widths.windows(2).map(layer).collect() });
    }
    Body::Block(Box::new(block(config, l, array)))
}

fn block<'a, T: Real>(config: &PpgnConfig, l: usize, array: &'a [T]) -> Block<'a, T> {
    let widths = config.widths();
    let (inputs, outputs) = (widths[l], widths[l + 1]);
    let mut rest = array;
    let layer = |rest: &mut &'a [T], inputs: usize, outputs: usize| {
        let (layer, next) = Layer::cut(rest, inputs, outputs);
        *rest = next;
        layer
    };
    let mut mlp =
        |widths: &[usize]| Mlp { layers: widths.windows(2).map(|w| layer(&mut rest, w[0], w[1])).collect() };
    let product = config.mlp_widths(&config.blocks[l], inputs);
    let factors = (0..config.factors()).map(|_| mlp(&product)).collect();
    let m3 = match &config.m3 {
        M3::Identity => None,
        M3::Mlp(widths) => {
            let widths: Vec<usize> = std::iter::once(inputs).chain(widths.iter().copied()).collect();
            Some(mlp(&widths))
        }
    };
    let linear = (config.model == Model::MpLin).then(|| {
        let (layer, next) = Equivariant::cut(rest, inputs, config.blocks[l].width);
        rest = next;
        layer
    });
    let m4 = match config.m4 {
        M4::Linear => {
            Some(layer(&mut rest, config.passed(inputs) + config.beside(&config.blocks[l]), outputs))
        }
        M4::None => None,
    };
    let norm = match config.norm {
        Norm::Rms if config.model.has_product() => Some(crate::block::EPSILON),
        Norm::None | Norm::Rms => None,
    };
    let product = match (config.model, config.order) {
        (Model::Mp | Model::MpLin, 2) => Product::Matrix,
        (Model::Mp | Model::MpLin, _) => Product::Generalised,
        (Model::Sums, k) => Product::Sums(k),
        (Model::Mlp | Model::Lin, _) => Product::None,
    };
    Block { product, factors, m3, linear, m4, norm, residual: config.residual && inputs == outputs }
}

/// A space as the kernels see it.
enum Plan<'a> {
    Dense { order: usize, squares: Vec<Square>, place: &'a [usize], rows: usize },
    Quotient { space: &'a crate::Quotient, factors: Vec<f64> },
}

impl<'a> Plan<'a> {
    fn new(config: &PpgnConfig, space: &'a Space) -> Self {
        match space {
            Space::Dense(dense) => {
                let square = |(nodes, start): (usize, usize)| Square {
                    start,
                    nodes,
                    factor: config.scale.factor(nodes.max(1)),
                };
                let squares = dense.starts().map(square).collect();
                Plan::Dense { order: dense.tuples(), squares, place: dense.order(), rows: dense.rows() }
            }
            Space::Quotient(space) => {
                let factors = space.nodes.iter().map(|&n| config.scale.factor(n.max(1))).collect();
                Plan::Quotient { space, factors }
            }
        }
    }

    fn graphs(&self) -> usize {
        match self {
            Plan::Dense { squares, .. } => squares.len(),
            Plan::Quotient { space, .. } => space.graphs(),
        }
    }

    /// Rows of a level.
    fn rows(&self, level: usize) -> usize {
        match self {
            Plan::Dense { rows, .. } => *rows,
            Plan::Quotient { space, .. } => space.rows(level),
        }
    }

    /// What block l takes rows from and to.
    fn pairs(&self, l: usize) -> Pairs<'_> {
        match self {
            Plan::Dense { squares, .. } => Pairs::Dense(squares),
            Plan::Quotient { space, factors } => {
                let (below, above) = (&space.levels[l], &space.levels[l + 1]);
                let colours = Colours {
                    below: below.rows,
                    examples: &above.example,
                    nodes: &space.nodes,
                    factors,
                    offsets: &space.offsets,
                    matrix: &below.matrix,
                };
                Pairs::Quotient { colours, parents: &above.parent }
            }
        }
    }

    /// What is pooled at a level.
    fn pools(&self, level: usize) -> Pools<'_> {
        match self {
            Plan::Dense { order, squares, place, .. } => {
                Pools::Dense { order: *order, graphs: squares, place }
            }
            Plan::Quotient { space, .. } => {
                let level = &space.levels[level];
                Pools::Quotient { order: space.order, counts: &level.pool, offsets: &level.pool_offsets }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BlockConfig;
    use crate::layout::Layout;
    use crate::precision::Precision;
    use crate::{Batch, Device, Number};
    use ppgn_graph::encode::{Encoding, Kind};
    use ppgn_graph::{Graph, Schema};

    /// At k = 2 the generalised product is Y2 . Y1.
    #[test]
    fn at_order_two_it_is_the_ordinary_network_with_m1_and_m2_exchanged() {
        let graphs = [
            Graph::directed(5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 4)]).unwrap(),
            Graph::directed(3, [(0, 1), (0, 2)]).unwrap(),
        ];
        let encoder = Encoding::from(Kind::Paper).encoder(&Schema::of(&graphs).unwrap()).unwrap();
        let graphs: Vec<&Graph> = graphs.iter().collect();
        let batch = Batch::encode(&encoder, &graphs, Precision::F64, &Device::default()).unwrap();
        let config = PpgnConfig { blocks: vec![BlockConfig::new(6); 3], ..PpgnConfig::new(1, 2) };
        let layout = Layout::new(&config);
        // Without biases all is made of powers of the adjacency matrix, which commute.
        let biased = |a: &crate::Values| a.to_f64().iter().map(|x| x + 0.1).collect::<Vec<f64>>();
        let arrays: Vec<Vec<f64>> = layout.initial(3, Precision::F64).iter().map(biased).collect();
        let arrays: Vec<&[f64]> = arrays.iter().map(Vec::as_slice).collect();
        let rows = f64::slice(batch.rows()).unwrap();
        let run = |trunk: &Trunk<'_, f64>| {
            let (pooled, tape) = trunk.forward(rows, true);
            let ones: Vec<Vec<f64>> = pooled.iter().map(|p| vec![1.0; p.len()]).collect();
            let mut gradients: Vec<Vec<f64>> =
                layout.arrays()[..3].iter().map(|array| vec![0.0; array.len()]).collect();
            trunk.backward(rows, tape.unwrap(), &ones, &mut gradients);
            (pooled, gradients)
        };
        let ordinary = Trunk::new(&config, &arrays, batch.space());
        let mut general = Trunk::new(&config, &arrays, batch.space());
        let plain = run(&general);
        let each = |trunk: &mut Trunk<'_, f64>, change: fn(&mut Block<'_, f64>)| {
            for body in &mut trunk.blocks {
                if let Body::Block(block) = body {
                    change(block);
                }
            }
        };
        each(&mut general, |block| block.product = Product::Generalised);
        let unchanged = run(&general);
        each(&mut general, |block| block.factors.swap(0, 1));
        let (pooled, mut gradients) = run(&general);
        for (gradient, body) in gradients.iter_mut().zip(&ordinary.blocks) {
            let Body::Block(block) = body else { panic!("a block of MLPs") };
            let length: usize = block.factors[0].layers.iter().map(|l| l.weight.len() + l.bias.len()).sum();
            gradient[..2 * length].rotate_left(length);
        }
        let off = |a: &[Vec<f64>], b: &[Vec<f64>]| {
            a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let size = |a: &[Vec<f64>]| a.iter().flatten().fold(1.0, |m: f64, x| m.max(x.abs()));
        assert!(off(&pooled, &plain.0) < 1e-12 * size(&pooled));
        assert!(off(&gradients, &plain.1) < 1e-12 * size(&gradients));
        assert!(off(&unchanged.0, &plain.0) > 1e-3 * size(&pooled), "on directed graphs the order counts");
    }
}
