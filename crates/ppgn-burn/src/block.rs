//! One block of the network: two MLPs, a matrix product in every channel, and a skip connection (the paper's Section 6);
//! of order k, k MLPs and the generalised product, or the sums of Theorem 1.

use crate::config::{M3, M4, Norm, PpgnConfig, Scale};
use crate::equivariant::EquivariantLinear;
use crate::linear::{Cutter, Linear};
use crate::mlp::Mlp;
use crate::model::Model;
use crate::space::Space;
use crate::tuples;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;

/// What keeps a row of zeros from being divided by 0.
pub(crate) const EPSILON: f64 = 1e-5;

/// `Y1 = m1(X)`, `Y2 = m2(X)`, `W[:,:,c] = Y1[:,:,c] . Y2[:,:,c]`, output `m4(m3(X), W)`.
///
/// m4 is one linear layer without activation, computed as `m3(X) A^T + W B^T + b` without a concatenation; where it is
/// left out the output is `(m3(X), W)`. Options beyond the paper: W divided by sqrt(n) or n, `W / sqrt(mean(W^2) + eps)`
/// over the channels of a row, `+ X`. The paper's other models ([`Model`]): `m4(m3(X), W, ReLU(L(X)))`; `m4(m3(X),
/// m1(X))`, where there is no m2; and layers `ReLU(L(.))` alone ([`Body`]).
#[derive(Debug, Clone)]
pub(crate) struct Block {
    level: usize,
    model: Model,
    order: usize,
    /// m1, m2, and further ones of orders beyond 2.
    factors: Vec<Mlp>,
    m3: Option<Mlp>,
    linear: Option<EquivariantLinear>,
    m4: Option<Linear>,
    scale: Scale,
    norm: Norm,
    residual: bool,
}

/// What a network has between two levels.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// A block with MLPs.
    Block(Box<Block>),
    /// Linear equivariant layers with a ReLU after each.
    Linears(Vec<EquivariantLinear>),
}

impl Body {
    /// Block `level` of a network, from its array of parameters.
    pub(crate) fn cut(config: &PpgnConfig, level: usize, cutter: &mut Cutter<'_>) -> Self {
        if config.model == Model::Lin {
            let layers = config.mlp_widths(&config.blocks[level], 1).len() - 1;
            return Body::Linears((0..layers).map(|_| cutter.equivariant()).collect());
        }
        Body::Block(Box::new(Block::cut(config, level, cutter)))
    }

    /// # Shapes
    /// - `x`: `[rows(level), inputs]`
    /// - result: `[rows(level + 1), outputs]`
    pub(crate) fn forward(&self, x: Tensor<2>, space: &Space) -> Tensor<2> {
        match self {
            Body::Block(block) => block.forward(x, space),
            Body::Linears(layers) => layers.iter().fold(x, |x, layer| relu(space.linear(layer, x))),
        }
    }
}

impl Block {
    /// Block `level` of a network, from its array of parameters.
    pub(crate) fn cut(config: &PpgnConfig, level: usize, cutter: &mut Cutter<'_>) -> Self {
        let widths = config.widths();
        let layers = config.mlp_widths(&config.blocks[level], widths[level]).len() - 1;
        Block {
            level,
            model: config.model,
            order: config.order,
            factors: (0..config.factors()).map(|_| Mlp::cut(cutter, layers)).collect(),
            m3: match &config.m3 {
                M3::Identity => None,
                M3::Mlp(widths) => Some(Mlp::cut(cutter, widths.len())),
            },
            linear: (config.model == Model::MpLin).then(|| cutter.equivariant()),
            m4: match config.m4 {
                M4::Linear => Some(cutter.linear()),
                M4::None => None,
            },
            scale: config.scale,
            norm: config.norm,
            residual: config.residual && widths[level] == widths[level + 1],
        }
    }

    /// # Shapes
    /// - `x`: `[rows(level), inputs]`
    /// - result: `[rows(level + 1), outputs]`
    pub(crate) fn forward(&self, x: Tensor<2>, space: &Space) -> Tensor<2> {
        let w = self.product(&x, space); // [rows(level + 1), product]
        let w = match self.norm {
            Norm::Rms if self.model.has_product() => rms(w),
            Norm::None | Norm::Rms => w,
        };
        let w = match &self.linear {
            None => w,
            Some(layer) => Tensor::cat(vec![w, relu(space.linear(layer, x.clone()))], 1), // [rows, product + width]
        };
        let passed = match &self.m3 {
            Some(m3) => m3.forward(x.clone()), // [rows(level), passed]
            None => x.clone(),
        };
        let output = match &self.m4 {
            Some(m4) => self.join(m4, passed, w, space), // [rows(level + 1), outputs]
            None => Tensor::cat(vec![space.lift(self.level, passed), w], 1),
        };
        if self.residual { output + space.lift(self.level, x) } else { output }
    }

    /// W from X.
    fn product(&self, x: &Tensor<2>, space: &Space) -> Tensor<2> {
        let y = |q: usize| self.factors[q].forward(x.clone()); // [rows(level), product]
        match (self.model, self.order) {
            (Model::Mp | Model::MpLin, 2) => space.product(self.level, y(0), y(1), self.scale),
            (Model::Mp | Model::MpLin, k) => {
                tuples::product(space, self.level, (0..k).map(y).collect(), self.scale)
            }
            (Model::Sums, _) => tuples::sums(space, self.level, y(0), self.scale),
            (Model::Mlp | Model::Lin, _) => space.lift(self.level, y(0)),
        }
    }

    /// m4 on the two. Linear maps and lifting commute, and there are no more rows below than above.
    fn join(&self, m4: &Linear, passed: Tensor<2>, w: Tensor<2>, space: &Space) -> Tensor<2> {
        let ([_, a], [_, b]) = (passed.dims(), w.dims());
        let columns = |start, length| m4.weight.clone().narrow(1, start, length).transpose();
        let passed = passed.matmul(columns(0, a)); // [rows(level), outputs]
        let w = w.matmul(columns(a, b)); // [rows(level + 1), outputs]
        space.lift(self.level, passed) + w + m4.bias.clone().unsqueeze()
    }
}

/// Each row divided by the root of its mean square.
///
/// # Shapes
/// - `w`, result: `[rows, channels]`
fn rms(w: Tensor<2>) -> Tensor<2> {
    let square = (w.clone() * w.clone()).mean_dim(1); // [rows, 1]
    w / (square + EPSILON).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BlockConfig;
    use crate::layout::Layout;
    use crate::precision::Values;
    use crate::space::Dense;
    use burn::tensor::Device;

    /// The output of a block of one input channel and width 1, all weights 1 and biases 0, on the matrix (1 2; 3 4).
    fn output(config: PpgnConfig) -> Vec<f64> {
        let config = PpgnConfig { blocks: vec![BlockConfig::new(1)], depth: 1, ..config };
        let layout = Layout::new(&config);
        let array = &layout.arrays()[0];
        let mut numbers = vec![0.0; array.len()];
        for part in array.parts.iter().filter(|part| part.name.ends_with("weight")) {
            numbers[part.range()].fill(1.0);
        }
        let device = Device::default();
        let flat = Values::F64(numbers).into_tensor([array.len()], &device);
        let block = Block::cut(&config, 0, &mut Cutter::new(&flat, &array.parts, None));
        let x = Values::F64(vec![1.0, 2.0, 3.0, 4.0]).into_tensor([4, 1], &device);
        Values::of(block.forward(x, &Space::Dense(Dense::new(&[2]).unwrap()))).unwrap().to_f64()
    }

    #[test]
    fn every_option_by_hand() {
        // (1 2; 3 4)^2 = (7 10; 15 22)
        let base = || PpgnConfig::new(1, 1);
        assert_eq!(output(base()), [8.0, 12.0, 18.0, 26.0]);
        assert_eq!(output(PpgnConfig { scale: Scale::N, ..base() }), [4.5, 7.0, 10.5, 15.0]);
        assert_eq!(output(PpgnConfig { residual: true, ..base() }), [9.0, 14.0, 21.0, 30.0]);
        let without = output(PpgnConfig { m4: M4::None, ..base() });
        assert_eq!(without, [1.0, 7.0, 2.0, 10.0, 3.0, 15.0, 4.0, 22.0]);
        let wide = output(PpgnConfig { m4: M4::None, m3: M3::Mlp(vec![1, 2]), ..base() });
        assert_eq!(wide[..6], [1.0, 1.0, 7.0, 2.0, 2.0, 10.0]);
        let norm = output(PpgnConfig { norm: Norm::Rms, m4: M4::None, ..base() });
        let expected = 7.0 / (49.0 + EPSILON).sqrt();
        assert!((norm[1] - expected).abs() < 1e-15, "{norm:?}");
    }
}
