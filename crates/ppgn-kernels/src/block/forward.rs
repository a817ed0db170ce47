//! The forward pass of a block: all MLPs process a chunk of rows while it is in the cache, then come the products
//! across rows, then the join.

use super::{Block, Branch, Computed, Keep, Kept, Pairs, Product, slices};
use crate::gemm::{End, Panels, Start, rows};
use crate::generalised::generalised_product;
use crate::generalised::quotient::quotient_generalised;
use crate::linear::{Layer, add_to, chunk_rows, together};
use crate::messages::{Messages, neighbour_sums};
use crate::mlp::{Forward, Mlp, mlps};
use crate::norm;
use crate::product::product;
use crate::quotient::quotient_product;
use crate::real::Real;
use crate::sums::{index_sums, quotient_sums};
use crate::workspace::{Buffer, Workspace};
use rayon::prelude::*;

impl<'a, T: Real> Block<'a, T> {
    /// The output and, depending on `keep`, what the backward pass needs.
    ///
    /// # Shapes
    /// - `x`: `[rows, inputs]`
    /// - result: `[rows of the next level, outputs]`
    ///
    /// # Complexity
    /// O(rows * parameters), plus the cost of the products.
    ///
    /// # Panics
    /// If there is an equivariant layer and the rows are colours.
    pub fn forward(
        &self,
        workspace: &Workspace,
        pairs: Pairs<'_>,
        x: &[T],
        keep: Keep,
    ) -> (Buffer<T>, Option<Kept<T>>) {
        T::block_forward(self, workspace, pairs, x, keep)
    }

    pub(crate) fn forward_generic(
        &self,
        workspace: &Workspace,
        pairs: Pairs<'_>,
        x: &[T],
        keep: Keep,
    ) -> (Buffer<T>, Option<Kept<T>>) {
        if let (Pairs::Quotient { parents, .. }, false) = (pairs, self.combines_rows()) {
            // No branch combines rows, so everything is computed on the level below.
            let (below, kept) = self.forward(workspace, Pairs::Dense(&[]), x, keep);
            return (lift(workspace, &below, self.outputs(), parents), kept);
        }
        let count = x.len() / self.inputs;
        let above = match pairs {
            Pairs::Dense(_) => count,
            Pairs::Quotient { colours, parents } => {
                assert_eq!((colours.below, colours.examples.len()), (count, parents.len()));
                parents.len()
            }
        };
        let sight = self.sight(workspace, pairs, x);
        let seen = sight.rows(x);
        let all: Vec<&Mlp<'a, T>> = self.mlps().collect();
        let mut ys: Vec<Buffer<T>> =
            all.iter().map(|m| Buffer::dirty(workspace, count * m.outputs())).collect();
        let mut hidden: Option<Vec<Vec<Buffer<T>>>> =
            (keep == Keep::Hidden).then(|| all.iter().map(|m| m.buffers(workspace, count)).collect());
        let mut buffers = hidden.iter_mut().flatten();
        let forward = all.iter().zip(&mut ys).map(|(mlp, y)| Forward {
            mlp,
            hidden: buffers.next().map(|buffers| slices(buffers)).unwrap_or_default(),
            y: Some(&mut y[..]),
        });
        let (both, own): (Vec<_>, Vec<_>) =
            forward.zip(self.transposes()).partition(|(_, transposes)| *transposes);
        mlps(workspace, seen, own.into_iter().map(|(forward, _)| forward).collect());
        mlps(workspace, sight.both(), both.into_iter().map(|(forward, _)| forward).collect());
        let mut ys = ys.into_iter();
        let branches: Vec<Computed<T>> = self
            .branches
            .iter()
            .map(|branch| {
                let ys = ys.by_ref().take(branch.mlps().len()).collect();
                branch.finish(workspace, pairs, seen, ys, above, keep, self.messages)
            })
            .collect();
        let output = self.join(workspace, pairs, [x, seen], &branches, above);
        (output, (keep != Keep::Nothing).then_some(Kept { branches, hidden }))
    }

    /// The join applied to all results. Linear maps commute with lifting, and the level below never has more rows than
    /// the level above: what is computed below is joined below and then lifted. `seen` is what the branches see of X.
    fn join(
        &self,
        workspace: &Workspace,
        pairs: Pairs<'_>,
        [x, seen]: [&[T]; 2],
        computed: &[Computed<T>],
        above: usize,
    ) -> Buffer<T> {
        let outputs = self.outputs();
        let mut output = Buffer::dirty(workspace, above * outputs);
        let Some(join) = self.join else {
            let columns: Vec<_> = self.columns().zip(computed).collect();
            output.par_chunks_mut(outputs).enumerate().for_each(|(row, to)| {
                for ((branch, width, from), computed) in &columns {
                    let row = if branch.is_above() { row } else { pairs.parent(row) };
                    to[*from..from + width].copy_from_slice(&computed.result(seen)[row * width..][..*width]);
                }
                if self.residual {
                    add_to(to, &x[pairs.parent(row) * self.inputs..][..self.inputs]);
                }
            });
            return output;
        };
        let panels = self.panels(join, |layer, from, width| layer.forward_panels(workspace, from, width));
        let parts = self.columns().zip(computed).zip(&panels);
        let parts = parts.map(|(((branch, width, _), computed), panels)| {
            (branch.is_above(), Part { numbers: computed.result(seen), width, panels })
        });
        let (upper, lower): (Vec<_>, Vec<_>) = parts.partition(|(is_above, _)| *is_above);
        let [upper, lower] =
            [upper, lower].map(|parts| parts.into_iter().map(|(_, part)| part).collect::<Vec<_>>());
        let below = |start: usize, to: &mut [T]| {
            let count = to.len() / outputs;
            match lower.split_first() {
                Some((first, others)) => {
                    first.multiply(start, count, to, Start::Bias(join.bias));
                    others.iter().for_each(|part| part.multiply(start, count, to, Start::Current));
                }
                None => to.chunks_exact_mut(outputs).for_each(|to| to.copy_from_slice(join.bias)),
            }
            if self.residual {
                add_to(to, &x[start * self.inputs..][..count * self.inputs]);
            }
        };
        match pairs {
            Pairs::Dense(_) => {
                let chunk = chunk_rows(above);
                let chunks = output.par_chunks_mut(chunk * outputs).with_max_len(1).enumerate();
                chunks.filter(|_| !workspace.is_stopped()).for_each(|(at, to)| {
                    below(at * chunk, to);
                    let count = to.len() / outputs;
                    upper.iter().for_each(|part| part.multiply(at * chunk, count, to, Start::Current));
                });
            }
            Pairs::Quotient { parents, .. } => {
                let count = x.len() / self.inputs;
                let mut lifted = Buffer::dirty(workspace, count * outputs);
                let chunk = chunk_rows(count);
                let chunks = lifted.par_chunks_mut(chunk * outputs).with_max_len(1).enumerate();
                chunks.for_each(|(at, to)| below(at * chunk, to));
                let chunk = chunk_rows(above);
                let chunks = output.par_chunks_mut(chunk * outputs).zip(parents.par_chunks(chunk));
                chunks.with_max_len(1).enumerate().for_each(|(at, (to, parents))| {
                    if workspace.is_stopped() {
                        return;
                    }
                    let start = |n| if n == 0 { Start::Table(&lifted[..], parents) } else { Start::Current };
                    for (n, part) in upper.iter().enumerate() {
                        part.multiply(at * chunk, parents.len(), to, start(n));
                    }
                });
            }
        }
        output
    }

    /// The part of the join that acts on each branch.
    pub(super) fn panels(
        &self,
        join: Layer<'a, T>,
        panels: impl Fn(&Layer<'a, T>, usize, usize) -> Panels<T> + Sync,
    ) -> Vec<Panels<T>> {
        let columns: Vec<(usize, usize)> = self.columns().map(|(_, width, from)| (from, width)).collect();
        let columns = columns.into_par_iter().with_min_len(together(join.len()));
        columns.map(|(from, width)| panels(&join, from, width)).collect()
    }
}

/// A branch's result before the join.
struct Part<'a, T: Real> {
    numbers: &'a [T],
    width: usize,
    panels: &'a Panels<T>,
}

impl<T: Real> Part<'_, T> {
    fn multiply(&self, row: usize, count: usize, to: &mut [T], start: Start<'_, T>) {
        let numbers = &self.numbers[row * self.width..(row + count) * self.width];
        rows(numbers, self.panels, to, start, End::Keep);
    }
}

impl<T: Real> Branch<'_, T> {
    /// The rest of the branch, once the MLPs have computed `ys`.
    #[allow(clippy::too_many_arguments, reason = "branches differ in what they need")]
    fn finish(
        &self,
        workspace: &Workspace,
        pairs: Pairs<'_>,
        x: &[T],
        mut ys: Vec<Buffer<T>>,
        above: usize,
        keep: Keep,
        messages: Option<Messages<'_>>,
    ) -> Computed<T> {
        match self {
            Branch::Skip => Computed::Input,
            Branch::Rows(_) => Computed::Rows(ys.swap_remove(0)),
            Branch::Product { product, factors, norm } => {
                let width = self.outputs(0);
                let mut w = Buffer::dirty(workspace, above * width);
                let each = factors[0].outputs();
                product.multiply(workspace, pairs, each, &ys, &mut w, messages);
                let scales = norm.map_or(Vec::new(), |epsilon| norm::rms(&mut w, width, epsilon));
                Computed::Product { ys, w, scales }
            }
            Branch::Equivariant(layers) => {
                let (ys, slopes) = layers.forward(workspace, pairs.squares(), x, keep != Keep::Nothing);
                Computed::Equivariant(ys, slopes)
            }
        }
    }
}

impl Product {
    /// W from the factors, each with `channels` channels.
    fn multiply<T: Real>(
        self,
        workspace: &Workspace,
        pairs: Pairs<'_>,
        channels: usize,
        ys: &[Buffer<T>],
        w: &mut [T],
        messages: Option<Messages<'_>>,
    ) {
        let ys: Vec<&[T]> = ys.iter().map(|y| &**y).collect();
        match (self, pairs) {
            (Product::Matrix | Product::Transposed, Pairs::Dense(graphs)) => {
                product(workspace, graphs, channels, ys[0], ys[1], w);
            }
            (Product::Matrix | Product::Transposed, Pairs::Quotient { colours, .. }) => {
                quotient_product(workspace, colours, channels, ys[0], ys[1], w);
            }
            (Product::Generalised, Pairs::Dense(graphs)) => {
                generalised_product(workspace, graphs, channels, &ys, w)
            }
            (Product::Generalised, Pairs::Quotient { colours, .. }) => {
                quotient_generalised(workspace, colours, channels, &ys, w);
            }
            (Product::Neighbours(_), _) => {
                neighbour_sums(messages.expect("rows have neighbours"), channels, ys[0], w);
            }
            (Product::Sums(order), Pairs::Dense(graphs)) => index_sums(graphs, order, channels, ys[0], w),
            (Product::Sums(order), Pairs::Quotient { colours, .. }) => {
                quotient_sums(colours, order, channels, ys[0], w);
            }
        }
    }
}

/// Copies to each row its parent row on the level below.
fn lift<T: Real>(workspace: &Workspace, below: &[T], width: usize, parents: &[u32]) -> Buffer<T> {
    let mut above = Buffer::dirty(workspace, parents.len() * width);
    above
        .par_chunks_mut(width)
        .zip(parents)
        .for_each(|(to, &parent)| to.copy_from_slice(&below[parent as usize * width..][..width]));
    above
}
