//! A block backward: through the join, then branch by branch. A gradient takes the place of what it is the gradient of as
//! soon as that was used.

use super::{Block, Branch, Kept, Made, Pairs, Product, slices};
use crate::generalised::generalised_product_backward;
use crate::generalised::quotient::quotient_generalised_backward;
use crate::linear::{Input, Joined, add_to, linear_backward};
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
    /// It is X's, and goes there.
    Input,
    /// In a buffer of its own.
    Apart(Buffer<T>),
    /// In the place of the result; what that was, where it is needed again.
    InPlace(Option<Buffer<T>>),
}

impl<T: Real> Block<'_, T> {
    /// Adds the gradients of all parameters to `gradient`, the block's flat array, and gives X's if it is wanted. `d`
    /// is the gradient of the output.
    ///
    /// # Shapes
    /// - `x`, result: `[rows, inputs]`
    /// - `d`: `[rows of the next level, outputs]`
    #[allow(clippy::too_many_arguments, reason = "what a backward pass is made of")]
    pub fn backward(
        &self,
        workspace: &Workspace,
        pairs: Pairs<'_>,
        x: &[T],
        kept: Kept<T>,
        d: Buffer<T>,
        gradient: &mut [T],
        wanted: bool,
    ) -> Option<Buffer<T>> {
        let count = x.len() / self.inputs;
        let (below, meets) = (pairs.drop(workspace, &d, self.outputs(), count), self.meets());
        if let (Pairs::Quotient { .. }, false) = (pairs, meets) {
            return self.backward(workspace, Pairs::Dense(&[]), x, kept, below?, gradient, wanted);
        }
        let Kept { mut branches, hidden } = kept;
        let mut dx = wanted.then(|| match self.branches.iter().any(|b| matches!(b, Branch::Skip)) {
            true => Buffer::dirty(workspace, x.len()),
            false => Buffer::zeros(workspace, x.len()),
        });
        let mut rest = gradient;
        let mut own: Vec<&mut [T]> = Vec::with_capacity(branches.len());
        for branch in &self.branches {
            let (of_branch, next) = rest.split_at_mut(branch.len());
            own.push(of_branch);
            rest = next;
        }
        let mut slopes: Vec<Slope<T>> =
            self.branches.iter().zip(&branches).map(|(b, made)| b.slope(workspace, made)).collect();
        {
            let below = below.as_deref().unwrap_or(&d);
            self.join_backward(
                workspace,
                pairs,
                [below, &d],
                x,
                &mut branches,
                &mut slopes,
                dx.as_deref_mut(),
                rest,
            );
        }
        let added = (self.residual && wanted).then(|| below.unwrap_or_else(|| Buffer::copy(workspace, &d)));
        drop(d);
        let mut hidden = hidden.map(Vec::into_iter);
        for (((branch, made), slope), gradient) in self.branches.iter().zip(branches).zip(slopes).zip(own) {
            let hidden = hidden.as_mut().map(|hidden| hidden.by_ref().take(branch.mlps().len()).collect());
            branch.backward(workspace, pairs, x, made, slope, hidden, gradient, dx.as_deref_mut());
        }
        if let (Some(dx), Some(more)) = (&mut dx, added) {
            add_to(dx, &more);
        }
        dx
    }

    /// The way back through the join: fills every branch's slope.
    #[allow(clippy::too_many_arguments, reason = "what a backward pass is made of")]
    fn join_backward(
        &self,
        workspace: &Workspace,
        pairs: Pairs<'_>,
        [below, d]: [&[T]; 2],
        x: &[T],
        made: &mut [Made<T>],
        slopes: &mut [Slope<T>],
        dx: Option<&mut [T]>,
        gradient: &mut [T],
    ) {
        let outputs = self.outputs();
        let mut dx = dx;
        let mut inputs = Vec::with_capacity(made.len());
        for (made, slope) in made.iter_mut().zip(slopes) {
            inputs.push(match (made, slope) {
                (Made::Input, _) => Input::Apart(x, dx.take()),
                (Made::Rows(y), Slope::Apart(d)) => Input::Apart(y, Some(&mut **d)),
                (Made::Equivariant(ys), Slope::Apart(d)) => {
                    Input::Apart(ys.last().map_or(&[], |y| y), Some(&mut **d))
                }
                (Made::Product { w, .. }, _) => Input::InPlace(w),
                (Made::Rows(_) | Made::Equivariant(_), _) => unreachable!("their slopes lie apart"),
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
    /// Where the gradient of its result goes.
    fn slope(&self, workspace: &Workspace, made: &Made<T>) -> Slope<T> {
        match (self, made) {
            (Branch::Skip, _) => Slope::Input,
            // The norm's gradient needs what W's gradient takes the place of.
            (Branch::Product { norm: Some(_), .. }, Made::Product { w, .. }) => {
                Slope::InPlace(Some(Buffer::copy(workspace, w)))
            }
            (Branch::Product { .. }, _) => Slope::InPlace(None),
            (Branch::Rows(_) | Branch::Equivariant(_), made) => {
                Slope::Apart(Buffer::dirty(workspace, made.result(&[]).len()))
            }
        }
    }

    /// From the gradient of its result to those of its parameters, and X's, which is added to `dx`.
    #[allow(clippy::too_many_arguments, reason = "what a backward pass is made of")]
    fn backward(
        &self,
        workspace: &Workspace,
        pairs: Pairs<'_>,
        x: &[T],
        made: Made<T>,
        slope: Slope<T>,
        hidden: Option<Vec<Vec<Buffer<T>>>>,
        gradient: &mut [T],
        dx: Option<&mut [T]>,
    ) {
        let ds = match (self, made, slope) {
            (Branch::Rows(_), Made::Rows(y), Slope::Apart(mut d)) => {
                mask(&mut d, &y);
                vec![d]
            }
            (
                Branch::Product { product, factors, .. },
                Made::Product { mut ys, mut w, scales },
                Slope::InPlace(normed),
            ) => {
                if let Some(normed) = normed {
                    norm::rms_backward(&mut w, &normed, self.outputs(0), &scales);
                }
                product.multiply_backward(workspace, pairs, factors[0].outputs(), &w, &mut ys);
                ys
            }
            (Branch::Equivariant(layers), Made::Equivariant(ys), Slope::Apart(d)) => {
                return layers.backward(workspace, pairs.squares(), x, ys, d, gradient, dx);
            }
            _ => return,
        };
        let mut hidden = hidden.unwrap_or_else(|| self.hidden_again(workspace, x));
        let mut rest = gradient;
        let mlps = self.mlps().iter().zip(&ds).zip(&mut hidden).map(|((mlp, d), hidden)| {
            let (gradient, next) = std::mem::take(&mut rest).split_at_mut(mlp.len());
            rest = next;
            Backward { mlp, d, hidden: slices(hidden), gradient }
        });
        mlps_backward(workspace, x, mlps.collect(), dx);
    }

    /// The hidden layers of its MLPs, which the forward pass did not keep.
    fn hidden_again(&self, workspace: &Workspace, x: &[T]) -> Vec<Vec<Buffer<T>>> {
        let count = self.mlps().first().map_or(0, |mlp| x.len() / mlp.inputs());
        let mut hidden: Vec<Vec<Buffer<T>>> =
            self.mlps().iter().map(|m: &Mlp<'a, T>| m.rooms(workspace, count)).collect();
        let forward = self.mlps().iter().zip(&mut hidden);
        let forward = forward.map(|(mlp, hidden)| Forward { mlp, hidden: slices(hidden), y: None });
        mlps(workspace, x, forward.collect());
        hidden
    }
}

impl Product {
    /// The gradients of the factors, in their places, from W's.
    fn multiply_backward<T: Real>(
        self,
        workspace: &Workspace,
        pairs: Pairs<'_>,
        channels: usize,
        w: &[T],
        ys: &mut Vec<Buffer<T>>,
    ) {
        if let (Product::Matrix, Pairs::Dense(graphs), [y1, y2]) = (self, pairs, &mut ys[..]) {
            return product_backward(workspace, graphs, channels, w, y1, y2);
        }
        let mut ds: Vec<Buffer<T>> = ys.iter().map(|y| Buffer::dirty(workspace, y.len())).collect();
        {
            let ys: Vec<&[T]> = ys.iter().map(|y| &**y).collect();
            let mut ds: Vec<&mut [T]> = ds.iter_mut().map(|d| &mut **d).collect();
            match (self, pairs, &mut ds[..]) {
                (Product::Matrix, Pairs::Quotient { colours, .. }, [d1, d2]) => {
                    quotient_product_backward(workspace, colours, channels, w, [ys[0], ys[1]], [d1, d2]);
                }
                (Product::Sums(order), Pairs::Dense(graphs), [d]) => {
                    index_sums_backward(graphs, order, channels, w, ys[0], d);
                }
                (Product::Sums(order), Pairs::Quotient { colours, .. }, [d]) => {
                    quotient_sums_backward(colours, order, channels, w, ys[0], d);
                }
                (_, Pairs::Dense(graphs), ds) => {
                    generalised_product_backward(workspace, graphs, channels, w, &ys, ds)
                }
                (_, Pairs::Quotient { colours, .. }, ds) => {
                    quotient_generalised_backward(workspace, colours, channels, w, &ys, ds);
                }
            }
        }
        *ys = ds;
    }
}
