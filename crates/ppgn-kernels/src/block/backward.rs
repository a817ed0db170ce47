//! The backward pass of a block: through the join, then branch by branch. Each gradient overwrites the value it belongs
//! to as soon as that value is no longer needed.

use super::sight::Sight;
use super::{Block, Branch, Computed, Kept, Pairs, Product, slices};
use crate::activation::times;
use crate::generalised::generalised_product_backward;
use crate::generalised::quotient::quotient_generalised_backward;
use crate::linear::{Input, Joined, add_to, linear_backward};
use crate::messages::{Messages, neighbour_sums_backward};
use crate::mlp::{Backward, Forward, Mlp, mask, mlps, mlps_backward};
use crate::norm;
use crate::product::product_backward;
use crate::quotient::quotient_product_backward;
use crate::real::Real;
use crate::sums::{index_sums_backward, quotient_sums_backward};
use crate::workspace::{Buffer, Workspace};
use rayon::prelude::*;

/// The gradient of a branch's result.
enum Slope<T: Real> {
    /// The branch is X itself, so its gradient goes straight into X's.
    Input,
    /// Stored in a separate buffer.
    Apart(Buffer<T>),
    /// Overwrites the result; holds a copy of the result if it is needed again.
    InPlace(Option<Buffer<T>>),
}

impl<T: Real> Block<'_, T> {
    /// Adds the gradients of all parameters to `gradient`, the block's flat array, and returns X's gradient if
    /// requested. `d` is the gradient of the output.
    ///
    /// # Shapes
    /// - `x`, result: `[rows, inputs]`
    /// - `d`: `[rows of the next level, outputs]`
    #[allow(clippy::too_many_arguments, reason = "a backward pass needs all of them")]
    pub fn backward(
        &self,
        workspace: &Workspace,
        pairs: Pairs<'_>,
        x: &[T],
        kept: Kept<T>,
        d: Buffer<T>,
        gradient: &mut [T],
        with_input: bool,
    ) -> Option<Buffer<T>> {
        T::block_backward(self, workspace, pairs, x, kept, d, gradient, with_input)
    }

    #[allow(clippy::too_many_arguments, reason = "a backward pass needs all of them")]
    pub(crate) fn backward_generic(
        &self,
        workspace: &Workspace,
        pairs: Pairs<'_>,
        x: &[T],
        kept: Kept<T>,
        d: Buffer<T>,
        gradient: &mut [T],
        with_input: bool,
    ) -> Option<Buffer<T>> {
        let count = x.len() / self.inputs;
        let (below, combines_rows) = (pairs.drop(workspace, &d, self.outputs(), count), self.combines_rows());
        if let (Pairs::Quotient { .. }, false) = (pairs, combines_rows) {
            return self.backward(workspace, Pairs::Dense(&[]), x, kept, below?, gradient, with_input);
        }
        let sight = self.sight(workspace, pairs, x);
        let seen = sight.rows(x);
        let Kept { mut branches, hidden } = kept;
        let mut dx = with_input.then(|| match self.branches.iter().any(|b| matches!(b, Branch::Skip)) {
            true => Buffer::dirty(workspace, seen.len()),
            false => Buffer::zeros(workspace, seen.len()),
        });
        let mut rest = gradient;
        let mut own: Vec<&mut [T]> = Vec::with_capacity(branches.len());
        for branch in &self.branches {
            let (of_branch, next) = rest.split_at_mut(branch.len());
            own.push(of_branch);
            rest = next;
        }
        let mut slopes: Vec<Slope<T>> =
            self.branches.iter().zip(&branches).map(|(b, computed)| b.slope(workspace, computed)).collect();
        {
            let below = below.as_deref().unwrap_or(&d);
            self.join_backward(
                workspace,
                pairs,
                [below, &d],
                seen,
                &mut branches,
                &mut slopes,
                dx.as_deref_mut(),
                rest,
            );
        }
        let added =
            (self.residual && with_input).then(|| below.unwrap_or_else(|| Buffer::copy(workspace, &d)));
        drop(d);
        let mut hidden = hidden.map(Vec::into_iter);
        for (((branch, computed), slope), gradient) in self.branches.iter().zip(branches).zip(slopes).zip(own)
        {
            let hidden = hidden.as_mut().map(|hidden| hidden.by_ref().take(branch.mlps().len()).collect());
            let dx = dx.as_deref_mut();
            branch.backward(
                workspace,
                pairs,
                (x, &sight),
                computed,
                slope,
                hidden,
                gradient,
                dx,
                self.messages,
            );
        }
        let mut dx = dx.map(|dx| sight.narrowed(workspace, dx, self.inputs));
        if let (Some(dx), Some(more)) = (&mut dx, added) {
            add_to(dx, &more);
        }
        dx
    }

    /// The backward pass through the join: fills in the gradient of every branch's result.
    #[allow(clippy::too_many_arguments, reason = "a backward pass needs all of them")]
    fn join_backward(
        &self,
        workspace: &Workspace,
        pairs: Pairs<'_>,
        [below, d]: [&[T]; 2],
        x: &[T],
        computed: &mut [Computed<T>],
        slopes: &mut [Slope<T>],
        dx: Option<&mut [T]>,
        gradient: &mut [T],
    ) {
        let outputs = self.outputs();
        let mut dx = dx;
        let mut inputs = Vec::with_capacity(computed.len());
        for (computed, slope) in computed.iter_mut().zip(slopes) {
            inputs.push(match (computed, slope) {
                (Computed::Input, _) => Input::Apart(x, dx.take()),
                (Computed::Rows(y), Slope::Apart(d)) => Input::Apart(y, Some(&mut **d)),
                (Computed::Equivariant(ys, _), Slope::Apart(d)) => {
                    Input::Apart(ys.last().map_or(&[], |y| y), Some(&mut **d))
                }
                (Computed::Product { w, .. }, _) => Input::InPlace(w),
                (Computed::Rows(_) | Computed::Equivariant(..), _) => {
                    unreachable!("their gradients have separate buffers")
                }
            });
        }
        let Some(join) = self.join else {
            for ((branch, width, from), input) in self.columns().zip(inputs) {
                let (Input::Apart(_, Some(to)) | Input::InPlace(to)) = input else { continue };
                let d = if branch.is_above() { d } else { below };
                to.par_chunks_mut(width)
                    .zip(d.par_chunks(outputs))
                    .for_each(|(to, d)| to.copy_from_slice(&d[from..from + width]));
            }
            return;
        };
        let (weights, bias) = gradient.split_at_mut(join.inputs * outputs);
        let panels = self.panels(join, |layer, from, width| layer.backward_panels(workspace, from, width));
        let (mut upper, mut lower) = (Vec::new(), Vec::new());
        for (((branch, width, from), input), back) in self.columns().zip(inputs).zip(&panels) {
            let joined = Joined { input, width, from, back };
            if branch.is_above() { upper.push(joined) } else { lower.push(joined) }
        }
        let stride = join.inputs;
        match pairs {
            Pairs::Dense(_) => {
                upper.append(&mut lower);
                linear_backward(workspace, d, outputs, upper, (weights, stride), Some(bias));
            }
            Pairs::Quotient { .. } => {
                linear_backward(workspace, d, outputs, upper, (&mut *weights, stride), Some(bias));
                linear_backward(workspace, below, outputs, lower, (weights, stride), None);
            }
        }
    }
}

impl<'a, T: Real> Branch<'a, T> {
    /// Chooses where the gradient of its result is stored.
    fn slope(&self, workspace: &Workspace, computed: &Computed<T>) -> Slope<T> {
        match (self, computed) {
            (Branch::Skip, _) => Slope::Input,
            // The norm's gradient needs W, which W's own gradient is about to overwrite.
            (Branch::Product { norm: Some(_), .. }, Computed::Product { w, .. }) => {
                Slope::InPlace(Some(Buffer::copy(workspace, w)))
            }
            (Branch::Product { .. }, _) => Slope::InPlace(None),
            (Branch::Rows(_) | Branch::Equivariant(_), computed) => {
                Slope::Apart(Buffer::dirty(workspace, computed.result(&[]).len()))
            }
        }
    }

    /// From the gradient of its result to those of its parameters and of X; the latter is added to `dx`.
    #[allow(clippy::too_many_arguments, reason = "a backward pass needs all of them")]
    fn backward(
        &self,
        workspace: &Workspace,
        pairs: Pairs<'_>,
        (x, sight): (&[T], &Sight<T>),
        computed: Computed<T>,
        slope: Slope<T>,
        hidden: Option<Vec<Vec<Buffer<T>>>>,
        gradient: &mut [T],
        dx: Option<&mut [T]>,
        messages: Option<Messages<'_>>,
    ) {
        let x = sight.rows(x);
        let relu = self.mlps().iter().all(|mlp| mlp.activation.is_relu());
        let mut ds = match (self, computed, slope) {
            (Branch::Rows(_), Computed::Rows(y), Slope::Apart(mut d)) => {
                if relu {
                    mask(&mut d, &y);
                }
                vec![d]
            }
            (
                Branch::Product { product, factors, .. },
                Computed::Product { mut ys, mut w, scales },
                Slope::InPlace(normed),
            ) => {
                if let Some(normed) = normed {
                    norm::rms_backward(&mut w, &normed, self.outputs(0), &scales);
                }
                let each = factors[0].outputs();
                product.multiply_backward(workspace, pairs, each, &w, &mut ys, relu, messages);
                ys
            }
            (Branch::Equivariant(layers), Computed::Equivariant(ys, slopes), Slope::Apart(d)) => {
                return layers.backward(workspace, pairs.squares(), x, (ys, slopes), d, gradient, dx);
            }
            _ => return,
        };
        let mut hidden = hidden.unwrap_or_else(|| self.hidden_again(workspace, x, sight));
        let mut rest = gradient;
        let mlps = self.mlps().iter().zip(&mut ds).zip(&mut hidden).map(|((mlp, d), hidden)| {
            let (gradient, next) = std::mem::take(&mut rest).split_at_mut(mlp.len());
            rest = next;
            let (hidden, slopes) = hidden.split_at_mut(mlp.layers.len() - 1);
            let mut slopes: Vec<&[T]> = slopes.iter().map(|slopes| &**slopes).collect();
            // A ReLU's derivative is part of what came before.
            if let Some(last) = slopes.pop() {
                d.par_chunks_mut(1 << 14).zip(last.par_chunks(1 << 14)).for_each(|(d, s)| times(d, s));
            }
            Backward { mlp, d, hidden: slices(hidden), slopes, gradient }
        });
        let mut mlps: Vec<_> = mlps.collect();
        let own = mlps.split_off(usize::from(self.sees_transpose(0)));
        let mut dx = dx;
        if let (Some(first), Some(dx)) = (mlps.first(), dx.as_deref_mut()) {
            let mut both = Buffer::zeros(workspace, sight.both().len());
            let width = first.mlp.inputs() / 2;
            mlps_backward(workspace, sight.both(), mlps, Some(&mut both));
            sight.fold(&both, width, dx);
        } else {
            mlps_backward(workspace, sight.both(), mlps, None);
        }
        mlps_backward(workspace, x, own, dx);
    }

    /// Recomputes the hidden layers of its MLPs that the forward pass did not keep.
    fn hidden_again(&self, workspace: &Workspace, x: &[T], sight: &Sight<T>) -> Vec<Vec<Buffer<T>>> {
        let count = self.mlps().last().map_or(0, |mlp| x.len() / mlp.inputs());
        let mut hidden: Vec<Vec<Buffer<T>>> =
            self.mlps().iter().map(|m: &Mlp<'a, T>| m.buffers(workspace, count)).collect();
        let forward = self.mlps().iter().zip(&mut hidden);
        let forward = forward.map(|(mlp, hidden)| Forward { mlp, hidden: slices(hidden), y: None });
        let mut forward: Vec<_> = forward.collect();
        mlps(workspace, x, forward.split_off(usize::from(self.sees_transpose(0))));
        mlps(workspace, sight.both(), forward);
        hidden
    }
}

impl Product {
    /// The gradients of the factors, written over them, from the gradient of W; 0 where the factor is not above 0, if it
    /// is the output of a ReLU.
    #[allow(clippy::too_many_arguments, reason = "products differ in what they need")]
    fn multiply_backward<T: Real>(
        self,
        workspace: &Workspace,
        pairs: Pairs<'_>,
        channels: usize,
        w: &[T],
        ys: &mut Vec<Buffer<T>>,
        relu: bool,
        messages: Option<Messages<'_>>,
    ) {
        if let (Product::Matrix | Product::Transposed, Pairs::Dense(graphs), [y1, y2]) =
            (self, pairs, &mut ys[..])
        {
            return product_backward(workspace, graphs, channels, w, y1, y2, relu);
        }
        let mut ds: Vec<Buffer<T>> = ys.iter().map(|y| Buffer::dirty(workspace, y.len())).collect();
        {
            let ys: Vec<&[T]> = ys.iter().map(|y| &**y).collect();
            let mut ds: Vec<&mut [T]> = ds.iter_mut().map(|d| &mut **d).collect();
            match (self, pairs, &mut ds[..]) {
                (Product::Matrix | Product::Transposed, Pairs::Quotient { colours, .. }, [d1, d2]) => {
                    quotient_product_backward(
                        workspace,
                        colours,
                        channels,
                        w,
                        [ys[0], ys[1]],
                        [d1, d2],
                        relu,
                    );
                }
                (Product::Neighbours(_), _, [d]) => {
                    let messages = messages.expect("rows have neighbours");
                    neighbour_sums_backward(messages, channels, w, ys[0], d, relu);
                }
                (Product::Sums(order), Pairs::Dense(graphs), [d]) => {
                    index_sums_backward(graphs, order, channels, w, ys[0], d, relu);
                }
                (Product::Sums(order), Pairs::Quotient { colours, .. }, [d]) => {
                    quotient_sums_backward(colours, order, channels, w, ys[0], d, relu);
                }
                (_, Pairs::Dense(graphs), ds) => {
                    generalised_product_backward(workspace, graphs, channels, w, &ys, ds, relu)
                }
                (_, Pairs::Quotient { colours, .. }, ds) => {
                    quotient_generalised_backward(workspace, colours, channels, w, &ys, ds, relu);
                }
            }
        }
        *ys = ds;
    }
}
