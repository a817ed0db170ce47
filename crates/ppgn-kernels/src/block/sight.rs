//! What a block sees of its input X: the rows themselves, with the identity as a further channel, or beside the rows of
//! the transposed pairs (i, j) -> (j, i).
//!
//! On the quotient space both are defined where colours say which pairs are (i, i), and where pairs of one colour have
//! transposes of one colour. If that holds for the colours of level 0, it holds for those of all levels: the terms of
//! 2-FWL at (k, i) are those at (i, k), transposed and swapped.

use super::{Block, Branch, Pairs, Product};
use crate::real::Real;
use crate::workspace::{Buffer, Workspace};
use rayon::prelude::*;

/// The inputs of a block's branches, made of X.
pub(super) struct Sight<T: Real> {
    partners: Option<Partners>,
    /// X with the identity, `[rows, inputs + 1]`; nothing where branches see X.
    extended: Option<Buffer<T>>,
    /// That beside its transpose, twice as wide; nothing where no factor sees it.
    both: Option<Buffer<T>>,
}

/// For every row that of the transposed pair, and whether it is on the diagonal.
struct Partners {
    rows: Vec<u32>,
    diagonal: Vec<bool>,
}

impl<T: Real> Block<'_, T> {
    /// Channels that its branches see.
    pub(super) fn seen(&self) -> usize {
        self.inputs + usize::from(self.identity)
    }

    /// What its branches see of X, `[rows, inputs]`. O(pairs + rows * inputs).
    pub(super) fn sight(&self, workspace: &Workspace, pairs: Pairs<'_>, x: &[T]) -> Sight<T> {
        let transposed = |branch: &Branch<'_, T>| branch.sees_transpose(0);
        let transposes = self.branches.iter().any(transposed);
        if !self.identity && !transposes {
            return Sight { partners: None, extended: None, both: None };
        }
        let partners = Partners::of(pairs, x.len() / self.inputs);
        let extended = self.identity.then(|| partners.with_identity(workspace, x, self.inputs));
        let both =
            transposes.then(|| partners.beside(workspace, extended.as_deref().unwrap_or(x), self.seen()));
        Sight { partners: Some(partners), extended, both }
    }
}

impl<T: Real> Branch<'_, T> {
    /// Whether its MLP number m sees the transpose beside X.
    pub(super) fn sees_transpose(&self, m: usize) -> bool {
        matches!(self, Branch::Product { product: Product::Transposed, .. }) && m == 0
    }
}

impl<T: Real> Sight<T> {
    /// The rows that branches see.
    pub(super) fn rows<'a>(&'a self, x: &'a [T]) -> &'a [T] {
        self.extended.as_deref().unwrap_or(x)
    }

    /// These beside their transposes.
    pub(super) fn both(&self) -> &[T] {
        self.both.as_deref().unwrap_or(&[])
    }

    /// Adds the gradient of [`both`](Self::both) to that of the rows, `[rows, width]`: the second half belongs to the
    /// transposed pairs. Transposition maps the pairs of a colour onto those of its partner, so this holds for sums over the
    /// pairs of a colour, too.
    pub(super) fn fold(&self, d: &[T], width: usize, to: &mut [T]) {
        let Some(partners) = &self.partners else { return };
        to.par_chunks_mut(width).zip(&partners.rows).enumerate().for_each(|(row, (to, &partner))| {
            let own = &d[row * 2 * width..][..width];
            let other = &d[partner as usize * 2 * width + width..][..width];
            to.iter_mut().zip(own).zip(other).for_each(|((to, &a), &b)| *to += a + b);
        });
    }

    /// The gradient of X from that of the rows: without the channel of the identity.
    pub(super) fn narrowed(&self, workspace: &Workspace, d: Buffer<T>, inputs: usize) -> Buffer<T> {
        if self.extended.is_none() {
            return d;
        }
        let mut to = Buffer::dirty(workspace, d.len() / (inputs + 1) * inputs);
        to.par_chunks_mut(inputs)
            .zip(d.par_chunks(inputs + 1))
            .for_each(|(to, d)| to.copy_from_slice(&d[..inputs]));
        to
    }
}

impl Partners {
    fn of(pairs: Pairs<'_>, count: usize) -> Self {
        let mut rows: Vec<u32> = (0..count).map(row).collect();
        let mut diagonal = vec![false; count];
        match pairs {
            Pairs::Dense(graphs) => {
                for graph in graphs {
                    let n = graph.nodes;
                    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                        rows[graph.start + i * n + j] = row(graph.start + j * n + i);
                    }
                    (0..n).for_each(|i| diagonal[graph.start + i * n + i] = true);
                }
            }
            Pairs::Quotient { colours, .. } => {
                for (&n, &start) in colours.nodes.iter().zip(colours.offsets) {
                    let matrix = &colours.matrix[start..][..n * n];
                    for (i, own) in matrix.chunks_exact(n.max(1)).enumerate() {
                        own.iter().enumerate().for_each(|(j, &own)| rows[own as usize] = matrix[j * n + i]);
                        diagonal[own[i] as usize] = true;
                    }
                }
                assert!(rows.iter().all(|&row| (row as usize) < count));
            }
        }
        Partners { rows, diagonal }
    }

    /// X and 1 on the diagonal, 0 off it.
    fn with_identity<T: Real>(&self, workspace: &Workspace, x: &[T], inputs: usize) -> Buffer<T> {
        let mut to = Buffer::dirty(workspace, self.rows.len() * (inputs + 1));
        let rows = to.par_chunks_mut(inputs + 1).zip(x.par_chunks(inputs)).zip(&self.diagonal);
        rows.for_each(|((to, x), &diagonal)| {
            to[..inputs].copy_from_slice(x);
            to[inputs] = T::rounded(f64::from(u8::from(diagonal)));
        });
        to
    }

    /// Every row beside that of the transposed pair.
    fn beside<T: Real>(&self, workspace: &Workspace, x: &[T], width: usize) -> Buffer<T> {
        let mut to = Buffer::dirty(workspace, 2 * x.len());
        to.par_chunks_mut(2 * width).zip(&self.rows).enumerate().for_each(|(row, (to, &partner))| {
            let (own, other) = to.split_at_mut(width);
            own.copy_from_slice(&x[row * width..][..width]);
            other.copy_from_slice(&x[partner as usize * width..][..width]);
        });
        to
    }
}

fn row(at: usize) -> u32 {
    u32::try_from(at).expect("rows are numbered by 32 bits")
}
