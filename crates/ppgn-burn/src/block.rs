//! One block of the network, from its description: branches side by side, the join, and the residual connection.

use crate::equivariant::Equivariant;
use crate::linear::{Cutter, Linear};
use crate::mlp::Mlp;
use crate::space::Space;
use burn::tensor::Tensor;
use ppgn_nn::kernels::Product;
use ppgn_nn::model::{self, Description, Layer};
use ppgn_nn::{Activation, Scale};

/// A [`Description`] with its parameters.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    branches: Vec<Branch>,
    join: Option<Linear>,
    residual: bool,
}

/// What a block computes of its input X before the join.
#[derive(Debug, Clone)]
enum Branch {
    Skip,
    Rows(Mlp),
    Product { product: Product, factors: Vec<Mlp>, norm: Option<f64> },
    Equivariant(Vec<Equivariant>),
}

/// The result of a branch: with the rows of the block's input, or of its output.
enum Made {
    Below(Tensor<2>),
    Above(Tensor<2>),
}

impl Block {
    /// The block of a description, from its array of parameters.
    pub(crate) fn cut(description: &Description, cutter: &mut Cutter<'_>) -> Self {
        let cut = |branch| Branch::cut(branch, description.activation, cutter);
        let branches = description.branches.iter().map(cut).collect();
        let join = description.join.as_ref().map(|_| cutter.linear());
        Block { branches, join, residual: description.residual }
    }

    /// Block number `level` of a network.
    ///
    /// # Shapes
    /// - `x`: `[rows(level), inputs]`
    /// - result: `[rows(level + 1), outputs]`
    pub(crate) fn forward(&self, level: usize, x: Tensor<2>, space: &Space, scale: Scale) -> Tensor<2> {
        let made = self.branches.iter().map(|branch| branch.forward(level, &x, space, scale));
        let output = match &self.join {
            Some(join) => joined(join, made, level, space),
            None => {
                let above = made.map(|made| match made {
                    Made::Below(y) => space.lift(level, y),
                    Made::Above(y) => y,
                });
                Tensor::cat(above.collect(), 1)
            }
        };
        if self.residual { output + space.lift(level, x) } else { output }
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

    fn forward(&self, level: usize, x: &Tensor<2>, space: &Space, scale: Scale) -> Made {
        match self {
            Branch::Skip => Made::Below(x.clone()),
            Branch::Rows(mlp) => Made::Below(mlp.forward(x.clone())),
            Branch::Product { product, factors, norm } => {
                let ys = factors.iter().map(|mlp| mlp.forward(x.clone())).collect(); // [rows(level), product] each
                let w = space.product(level, *product, ys, scale); // [rows(level + 1), product]
                Made::Above(match norm {
                    Some(epsilon) => rms(w, *epsilon),
                    None => w,
                })
            }
            Branch::Equivariant(layers) => {
                Made::Above(layers.iter().fold(x.clone(), |x, layer| layer.forward(space.pairs(), x)))
            }
        }
    }
}

/// The join on the branches side by side, without putting them there: each meets its own columns of the weight. Linear
/// maps and lifting commute, and there are no more rows below than above, so what is below is lifted last.
fn joined(join: &Linear, made: impl Iterator<Item = Made>, level: usize, space: &Space) -> Tensor<2> {
    let mut start = 0;
    let mut columns = |y: Tensor<2>| {
        let width = y.dims()[1];
        start += width;
        y.matmul(join.weight.clone().narrow(1, start - width, width).transpose()) // [rows, outputs]
    };
    let add = |sum: &mut Option<Tensor<2>>, y| {
        *sum = Some(match sum.take() {
            Some(sum) => sum + y,
            None => y,
        });
    };
    let [mut below, mut above] = [None, None];
    for made in made {
        match made {
            Made::Below(y) => add(&mut below, columns(y)),
            Made::Above(y) => add(&mut above, columns(y)),
        }
    }
    if let Some(below) = below {
        add(&mut above, space.lift(level, below));
    }
    above.expect("a block has branches") + join.bias.clone().unsqueeze()
}

/// Each row divided by the root of its mean square.
///
/// # Shapes
/// - `w`, result: `[rows, channels]`
fn rms(w: Tensor<2>, epsilon: f64) -> Tensor<2> {
    let square = (w.clone() * w.clone()).mean_dim(1); // [rows, 1]
    w / (square + epsilon).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::{download, upload};
    use burn::tensor::{DType, Device};
    use ppgn_nn::{BlockConfig, Dense, Layout, M3, M4, Norm, PpgnConfig, Values};

    /// The output of a block of one input channel and width 1, all weights 1 and biases 0, on the matrix (1 2; 3 4).
    fn output(config: PpgnConfig) -> Vec<f64> {
        let config = PpgnConfig { blocks: vec![BlockConfig::new(1)], depth: 1, ..config };
        let device = Device::flex();
        let layout = Layout::new(&config);
        let parts = &layout.arrays()[0].parts;
        let tensors: Vec<Tensor<1>> = parts
            .iter()
            .map(|part| {
                let number = if part.name.ends_with("weight") { 1.0 } else { 0.0 };
                upload(&Values::F64(vec![number; part.len()]), 0..part.len(), [part.len()], &device)
            })
            .collect();
        let block = Block::cut(&config.descriptions()[0], &mut Cutter::new(parts, &tensors));
        let x = upload(&Values::F64(vec![1.0, 2.0, 3.0, 4.0]), 0..4, [4, 1], &device);
        let space = ppgn_nn::Space::Dense(Dense::new(&[2]).unwrap());
        let space = Space::new(&space, &config, DType::F64, &device).unwrap();
        download(block.forward(0, x, &space, config.scale)).unwrap().to_f64()
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
        let expected = 7.0 / (49.0f64 + 1e-5).sqrt();
        assert!((norm[1] - expected).abs() < 1e-15, "{norm:?}");
    }
}
