//! A piece of the network with its gradient: automatic differentiation where nothing is picked by number.
//!
//! burn's tape knows the gradients of matrix products, activations, sums and the like, and they are the same bits in every run.
//! Between such pieces rows are gathered ([`Gather`](crate::gather::Gather)), and there the gradient is passed on by hand.

use burn::tensor::{Gradients, Tensor};

/// A piece that was run, with what its gradient needs.
#[derive(Debug)]
pub(crate) struct Local {
    inputs: Vec<Tensor<2>>,
    parameters: Vec<Tensor<1>>,
    outputs: Vec<Tensor<2>>,
}

/// How a piece is run.
#[derive(Clone, Copy)]
pub(crate) struct How<'a> {
    pub(crate) parameters: &'a [Tensor<1>],
    /// Whether its inputs get a gradient.
    pub(crate) sloped: bool,
    /// Whether what the gradient needs is kept.
    pub(crate) keep: bool,
}

impl How<'_> {
    /// The same, with a gradient of the inputs.
    pub(crate) fn sloped(self) -> Self {
        How { sloped: true, ..self }
    }
}

impl Local {
    /// Runs a piece on these inputs: its outputs, and what `pull` needs if it is to be kept.
    pub(crate) fn run(
        inputs: Vec<Tensor<2>>,
        how: How<'_>,
        piece: impl FnOnce(&[Tensor<2>], &[Tensor<1>]) -> Vec<Tensor<2>>,
    ) -> (Vec<Tensor<2>>, Option<Local>) {
        if !how.keep {
            return (piece(&inputs, how.parameters), None);
        }
        let inputs: Vec<Tensor<2>> = inputs
            .into_iter()
            .map(|x| if how.sloped { x.autodiff().require_grad() } else { x.autodiff() })
            .collect();
        let parameters: Vec<Tensor<1>> =
            how.parameters.iter().map(|part| part.clone().autodiff().require_grad()).collect();
        let outputs = piece(&inputs, &parameters);
        let plain = outputs.iter().map(|output| output.clone().without_autodiff()).collect();
        (plain, Some(Local { inputs, parameters, outputs }))
    }

    /// The gradients of the inputs from those of the outputs; those of the parameters are added to `sums`. An input that
    /// the outputs do not depend on has none.
    pub(crate) fn pull(
        self,
        slopes: Vec<Tensor<2>>,
        sums: &mut [Option<Tensor<1>>],
    ) -> Vec<Option<Tensor<2>>> {
        self.pull_some(slopes.into_iter().map(Some).collect(), sums)
    }

    /// The same where the gradients of some outputs are zero.
    pub(crate) fn pull_some(
        self,
        slopes: Vec<Option<Tensor<2>>>,
        sums: &mut [Option<Tensor<1>>],
    ) -> Vec<Option<Tensor<2>>> {
        // The combination of the outputs with these slopes has the gradient wanted.
        let tracked = self.outputs.into_iter().zip(slopes).filter(|(output, _)| output.is_tracked());
        let parts = tracked.filter_map(|(output, slope)| Some((output * slope?).sum()));
        let Some(sum) = parts.reduce(|sum, part| sum + part) else {
            return self.inputs.iter().map(|_| None).collect();
        };
        let mut tape: Gradients = sum.backward();
        for (sum, parameter) in sums.iter_mut().zip(&self.parameters) {
            let Some(gradient) = parameter.grad_remove(&mut tape) else { continue };
            *sum = Some(match sum.take() {
                Some(sum) => sum + gradient,
                None => gradient,
            });
        }
        self.inputs.iter().map(|input| input.grad_remove(&mut tape)).collect()
    }
}

/// The sum of gradients, of which some may be missing.
pub(crate) fn total(slopes: impl IntoIterator<Item = Option<Tensor<2>>>) -> Option<Tensor<2>> {
    slopes.into_iter().flatten().reduce(|sum, slope| sum + slope)
}
