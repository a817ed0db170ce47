//! One block of the network, from its description: branches side by side, the join, and the residual connection.
//!
//! A block is three pieces. *Before*: MLPs on the rows below. *Between*: rows meet, as tuples or messages. *After*: the norm, the
//! join and the residual connection on the rows above. Where rows and tuples are the same, all three are one piece for the
//! automatic differentiation; else rows are gathered in between.

use crate::equivariant::Equivariant;
use crate::linear::{Cutter, Linear};
use crate::local::{How, Local, total};
use crate::meeting::{Factor, Meeting};
use crate::mlp::Mlp;
use crate::product::{nothing, product};
use crate::space::Step;
use burn::tensor::Tensor;
use ppgn_nn::kernels::Product;
use ppgn_nn::model::{self, Description, Layer};
use ppgn_nn::{Activation, Part};

/// A [`Description`] with its parameters.
struct Block<'a> {
    description: &'a Description,
    branches: Vec<Branch>,
    join: Option<Linear>,
}

/// What a block computes of its input X before the join.
enum Branch {
    Skip,
    Rows(Mlp),
    Product { product: Product, factors: Vec<Mlp>, norm: Option<f64> },
    Equivariant(Vec<Equivariant>),
}

/// What the piece before gives.
struct Before {
    /// What meets: the factors of every product, in the order of the branches.
    factors: Vec<Vec<Tensor<2>>>,
    /// What is lifted to the rows above: with a join, the sum of what its columns make of it; else branch by branch.
    below: Vec<Tensor<2>>,
}

/// What a block was run on, for its gradient.
#[derive(Debug)]
pub(crate) enum Tape {
    Whole(Local),
    Pieces { before: Local, sizes: Vec<usize>, lifted: usize, between: Vec<Between>, after: Local },
}

/// How a branch met.
#[derive(Debug)]
pub(crate) enum Between {
    /// On tuples.
    Tuples(Local),
    /// On edges.
    Edges,
    /// There were no rows.
    Nothing,
}

/// A block of a network, where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) description: &'a Description,
    pub(crate) parts: &'a [Part],
    pub(crate) step: &'a Step,
}

impl Place<'_> {
    /// Runs the block.
    ///
    /// # Shapes
    /// - `x`: `[rows below, inputs]`
    /// - result: `[rows above, outputs]`
    pub(crate) fn forward(&self, x: Tensor<2>, how: How<'_>) -> (Tensor<2>, Option<Tape>) {
        if let (None, None, Some(meeting)) = (&self.step.lift, &self.step.partners, &self.step.meeting)
            && meeting.ways.is_none()
        {
            let whole = |x: &[Tensor<2>], parameters: &[Tensor<1>]| {
                let block = self.cut(parameters);
                let Before { factors, below } = block.before(x[0].clone(), None);
                let met = block.meet(meeting, factors, &x[0]);
                vec![block.after(&meeting.factor, met, below, x[0].clone())]
            };
            let (mut outputs, local) = Local::run(vec![x], how, whole);
            return (outputs.remove(0), local.map(Tape::Whole));
        }
        self.pieces(x, how)
    }

    /// The same in three pieces.
    fn pieces(&self, x: Tensor<2>, how: How<'_>) -> (Tensor<2>, Option<Tape>) {
        let Step { lift, meeting, partners, .. } = self.step;
        let mut inputs = vec![x.clone()];
        inputs.extend(partners.as_ref().map(|partners| partners.rows.forward(x.clone())));
        let (mut sizes, mut lifted) = (Vec::new(), 0);
        let before = |inputs: &[Tensor<2>], parameters: &[Tensor<1>]| {
            let transposed = inputs.get(1).cloned().zip(partners.as_ref().map(|p| p.diagonal.clone()));
            let Before { factors, below } = self.cut(parameters).before(inputs[0].clone(), transposed);
            (sizes, lifted) = (factors.iter().map(Vec::len).collect(), below.len());
            factors.into_iter().flatten().chain(below).collect()
        };
        let (mut outputs, before) = Local::run(inputs, how, before);
        let up = |y: Tensor<2>| lift.as_ref().map_or(y.clone(), |lift| lift.forward(y));
        let below: Vec<Tensor<2>> = outputs.split_off(outputs.len() - lifted).into_iter().map(up).collect();
        let mut outputs = outputs.into_iter();
        let (mut met, mut between) = (Vec::new(), Vec::new());
        let mut size = sizes.iter();
        for branch in self.description.branches.iter() {
            let ys: Vec<Tensor<2>> = match branch {
                model::Branch::Skip | model::Branch::Rows(_) => continue,
                model::Branch::Product { .. } => outputs.by_ref().take(*size.next().unwrap_or(&0)).collect(),
                model::Branch::Equivariant(_) => vec![x.clone()],
            };
            let (w, how) = self.between(branch, ys, how.sloped());
            met.push(w);
            between.push(how);
        }
        let count = met.len();
        let residual = self.description.residual.then(|| up(x));
        let factor = meeting.as_ref().map_or(&Factor::One, |meeting| &meeting.factor);
        let after = |inputs: &[Tensor<2>], parameters: &[Tensor<1>]| {
            let met = inputs[..count].to_vec();
            let below = inputs[count..count + lifted].to_vec();
            let x = inputs.last().cloned().expect("a block has branches");
            vec![self.cut(parameters).after(factor, met, below, x)]
        };
        let inputs: Vec<Tensor<2>> = met.into_iter().chain(below).chain(residual).collect();
        let (mut output, after) = Local::run(inputs, how.sloped(), after);
        let tape =
            before.zip(after).map(|(before, after)| Tape::Pieces { before, sizes, lifted, between, after });
        (output.remove(0), tape)
    }

    /// How a branch meets: its rows above.
    fn between(&self, branch: &model::Branch, ys: Vec<Tensor<2>>, how: How<'_>) -> (Tensor<2>, Between) {
        if let Some(messages) = &self.step.messages {
            return (messages.forward(ys[0].clone()), Between::Edges);
        }
        let Some(meeting) = &self.step.meeting else {
            let model::Branch::Product { product, .. } = branch else {
                return (ys[0].clone(), Between::Nothing);
            };
            return (nothing(*product, &ys), Between::Nothing);
        };
        let spread = |y: Tensor<2>| match &meeting.ways {
            Some([spread, _]) => spread.forward(y),
            None => y,
        };
        let ys = ys.into_iter().map(spread).collect();
        let meet = |ys: &[Tensor<2>], parameters: &[Tensor<1>]| {
            let block = self.cut(parameters);
            let same = |(_, described): &(&Branch, &model::Branch)| std::ptr::eq(*described, branch);
            let mut branches = block.branches.iter().zip(&self.description.branches);
            let (own, _) = branches.find(same).expect("a branch of this block");
            vec![own.meet(meeting, ys)]
        };
        let (mut w, local) = Local::run(ys, how, meet);
        let w = match &meeting.ways {
            Some([_, read]) => read.forward(w.remove(0)),
            None => w.remove(0),
        };
        (w, local.map_or(Between::Nothing, Between::Tuples))
    }

    /// The gradient of x from that of the result; those of the parameters are added to `sums`.
    pub(crate) fn backward(
        &self,
        tape: Tape,
        slope: Tensor<2>,
        sums: &mut [Option<Tensor<1>>],
    ) -> Option<Tensor<2>> {
        let (before, sizes, lifted, between, after) = match tape {
            Tape::Whole(local) => return local.pull(vec![slope], sums).remove(0),
            Tape::Pieces { before, sizes, lifted, between, after } => (before, sizes, lifted, between, after),
        };
        let Step { lift, meeting, messages, partners, .. } = self.step;
        let down = |slope: Tensor<2>| lift.as_ref().map_or(slope.clone(), |lift| lift.backward(slope));
        let mut slopes = after.pull(vec![slope], sums).into_iter();
        let met: Vec<Option<Tensor<2>>> = slopes.by_ref().take(between.len()).collect();
        let below: Vec<Option<Tensor<2>>> =
            slopes.by_ref().take(lifted).map(|slope| slope.map(down)).collect();
        let mut of_x: Vec<Option<Tensor<2>>> = slopes.map(|slope| slope.map(down)).collect(); // the residual connection
        let mut of_factors: Vec<Option<Tensor<2>>> = Vec::new();
        let mut size = sizes.iter();
        let meets = self.description.branches.iter().filter(|branch| branch.is_above());
        for ((branch, how), slope) in meets.zip(between).zip(met) {
            let is_product = matches!(branch, model::Branch::Product { .. });
            let count = if is_product { *size.next().unwrap_or(&0) } else { 1 };
            let slopes = match (how, slope, meeting, messages) {
                (Between::Edges, Some(slope), _, Some(messages)) => vec![Some(messages.backward(slope))],
                (Between::Tuples(local), Some(slope), Some(meeting), _) => {
                    let pull = |slope| local.pull(vec![slope], sums);
                    match &meeting.ways {
                        Some([spread, read]) => pull(read.backward(slope))
                            .into_iter()
                            .map(|slope| slope.map(|slope| spread.backward(slope)))
                            .collect(),
                        None => pull(slope),
                    }
                }
                _ => vec![None; count],
            };
            if is_product { of_factors.extend(slopes) } else { of_x.extend(slopes) }
        }
        let all: Vec<Option<Tensor<2>>> = of_factors.into_iter().chain(below).collect();
        let mut inputs = before.pull_some(all, sums).into_iter();
        of_x.extend(inputs.next());
        if let (Some(partners), Some(Some(transposed))) = (partners, inputs.next()) {
            of_x.push(Some(partners.rows.backward(transposed)));
        }
        total(of_x)
    }

    fn cut(&self, parameters: &[Tensor<1>]) -> Block<'_> {
        let mut cutter = Cutter::new(self.parts, parameters);
        let description = self.description;
        let cut = |branch| Branch::cut(branch, description.activation, &mut cutter);
        let branches = description.branches.iter().map(cut).collect();
        let join = description.join.as_ref().map(|_| cutter.linear());
        Block { description, branches, join }
    }
}

impl Block<'_> {
    /// The piece before, from the rows and, where blocks see them, those of the transposed pairs with the identity.
    fn before(&self, x: Tensor<2>, transposed: Option<(Tensor<2>, Tensor<2>)>) -> Before {
        let with = |x: Tensor<2>, identity: &Tensor<2>| match self.description.identity {
            true => Tensor::cat(vec![x, identity.clone()], 1),
            false => x,
        };
        let (x, both) = match transposed {
            None => (x, None),
            Some((transposed, identity)) => {
                let x = with(x, &identity); // [rows, seen]
                let both = Tensor::cat(vec![x.clone(), with(transposed, &identity)], 1); // [rows, 2 * seen]
                (x, Some(both))
            }
        };
        let (mut factors, mut below) = (Vec::new(), Vec::new());
        for (number, branch) in self.branches.iter().enumerate() {
            match branch {
                Branch::Skip => below.push(self.columns(number, x.clone())),
                Branch::Rows(mlp) => below.push(self.columns(number, mlp.forward(x.clone()))),
                Branch::Product { product, factors: mlps, .. } => {
                    let seen = |m: usize| match (product, m, &both) {
                        (Product::Transposed, 0, Some(both)) => both.clone(),
                        _ => x.clone(),
                    };
                    factors.push(mlps.iter().enumerate().map(|(m, mlp)| mlp.forward(seen(m))).collect());
                }
                Branch::Equivariant(_) => {}
            }
        }
        if self.join.is_some() {
            below = below.into_iter().reduce(|sum, y| sum + y).into_iter().collect();
        }
        Before { factors, below }
    }

    /// What the join's columns make of a branch, without its bias; the branch itself without a join. Linear maps and lifting
    /// commute, and there are no more rows below than above, so what is below is lifted last.
    fn columns(&self, number: usize, y: Tensor<2>) -> Tensor<2> {
        let Some(join) = &self.join else { return y };
        let outputs = |branch: &model::Branch| branch.outputs(self.description.seen());
        let start: usize = self.description.branches[..number].iter().map(outputs).sum();
        let width = y.dims()[1];
        y.matmul(join.weight.clone().narrow(1, start, width).transpose()) // [rows, outputs]
    }

    /// All branches that meet, where rows and tuples are the same.
    fn meet(&self, meeting: &Meeting, factors: Vec<Vec<Tensor<2>>>, x: &Tensor<2>) -> Vec<Tensor<2>> {
        let mut factors = factors.into_iter();
        let meet = |branch: &Branch| match branch {
            Branch::Skip | Branch::Rows(_) => None,
            Branch::Product { .. } => Some(branch.meet(meeting, &factors.next()?)),
            Branch::Equivariant(_) => Some(branch.meet(meeting, std::slice::from_ref(x))),
        };
        self.branches.iter().filter_map(meet).collect()
    }

    /// The piece after, from what met and what was lifted; x is the block's own input, lifted.
    fn after(&self, factor: &Factor, met: Vec<Tensor<2>>, below: Vec<Tensor<2>>, x: Tensor<2>) -> Tensor<2> {
        let (mut met, mut below) = (met.into_iter(), below.into_iter());
        let mut parts = Vec::new();
        for (number, branch) in self.branches.iter().enumerate() {
            let part = match branch {
                Branch::Skip | Branch::Rows(_) if self.join.is_some() => continue,
                Branch::Skip | Branch::Rows(_) => below.next(),
                Branch::Product { product, norm, .. } => met.next().map(|w| {
                    let w = if let Product::Neighbours(_) = product { w } else { factor.times(w) };
                    self.columns(number, norm.map_or(w.clone(), |epsilon| rms(w, epsilon)))
                }),
                Branch::Equivariant(_) => met.next().map(|w| self.columns(number, w)),
            };
            parts.extend(part);
        }
        let output = match &self.join {
            None => Tensor::cat(parts, 1),
            Some(join) => {
                let sum = parts.into_iter().chain(below).reduce(|sum, part| sum + part);
                sum.expect("a block has branches") + join.bias.clone().unsqueeze()
            }
        };
        if self.description.residual { output + x } else { output }
    }
}

impl Branch {
    fn cut(branch: &model::Branch, activation: Activation, cutter: &mut Cutter<'_>) -> Self {
        let mut mlp = |layers: &[Layer]| Mlp::cut(cutter, layers.len(), activation);
        match branch {
            model::Branch::Skip => Branch::Skip,
            model::Branch::Rows(layers) => Branch::Rows(mlp(layers)),
            model::Branch::Product { product, factors, norm } => {
                let factors = factors.iter().map(|layers| mlp(layers)).collect();
                Branch::Product { product: *product, factors, norm: *norm }
            }
            model::Branch::Equivariant(layers) => {
                Branch::Equivariant(layers.iter().map(|_| Equivariant::cut(cutter, activation)).collect())
            }
        }
    }

    /// What the branch makes of tuples.
    fn meet(&self, meeting: &Meeting, ys: &[Tensor<2>]) -> Tensor<2> {
        match self {
            Branch::Product { product: kind, .. } => product(meeting, *kind, ys),
            Branch::Equivariant(layers) => {
                layers.iter().fold(ys[0].clone(), |x, layer| layer.forward(meeting, x))
            }
            Branch::Skip | Branch::Rows(_) => ys[0].clone(),
        }
    }
}

/// Each row divided by the root of its mean square.
///
/// # Shapes
/// - `w`, result: `[rows, channels]`
fn rms(w: Tensor<2>, epsilon: f64) -> Tensor<2> {
    let square = (w.clone() * w.clone()).mean_dim(1); // [rows, 1]
    w / (square + epsilon).sqrt()
}
