//! The product of a graph with twins: one node per class of twins takes part, instead of all.
//!
//! Two nodes are twins if they can change places without changing the matrix of colours. So the row of a pair (i, j) with i
//! in class A and j in another class C is that of their first nodes, and a class of s nodes has at most two rows of its own:
//! d of its pairs (i, i), and a of its other pairs. For i in A and k in another class B the sum over all nodes becomes one
//! over classes, `W[i,k] = factor * sum over C of size(C) * M1[A,C] * M2[C,B]`. M1 and M2 have the rows of Y1 and Y2; that of
//! a class of s nodes with itself is the mean `(Y[d] + (s - 1) * Y[a]) / s`, since i (or k) is one of these nodes. That is a
//! product on the dense space ([`crate::product`]) of t by t pairs for t classes. Pairs within a class are computed one by
//! one ([`super::rows`]): a graph has at most two rows of them per class.

use super::{ColourMatrix, Own, Share};
use crate::large;
use crate::linear::add_to;
use crate::planes::{Part, add_scaled};
use crate::product::{Square, product, product_backward};
use crate::real::Real;
use crate::shared::Shared;
use crate::simd::{Kernel, Simd, dispatch};
use crate::workspace::{Buffer, Workspace};

/// The classes of twins of a graph.
#[derive(Debug)]
pub(super) struct Classes {
    /// For every node its class.
    pub(super) of: Vec<u32>,
    /// The nodes of every class: how many, the first, and the second if there is one.
    members: Vec<(usize, usize, usize)>,
}

/// A side of the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    /// Its rows are multiplied by the size of their class.
    Right,
}

impl Classes {
    /// From the first twin of every node.
    pub(super) fn new(twins: &[u32]) -> Self {
        let mut classes = Classes { of: Vec::with_capacity(twins.len()), members: Vec::new() };
        for (node, &first) in twins.iter().enumerate() {
            let class =
                if first as usize == node { classes.len() } else { classes.of[first as usize] as usize };
            classes.of.push(class as u32);
            match classes.members.get_mut(class) {
                None => classes.members.push((1, node, node)),
                Some((size, first, second)) => {
                    *second = if second == first { node } else { *second };
                    *size += 1;
                }
            }
        }
        classes
    }

    /// The number of classes.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// The classes of the nodes of pair number `place`, for n nodes.
    fn pair(&self, place: u32, n: usize) -> (usize, usize) {
        let node = |node: usize| self.of[node] as usize;
        (node(place as usize / n), node(place as usize % n))
    }

    /// Whether both nodes of a pair are in one class.
    pub(super) fn has_both(&self, place: u32, n: usize) -> bool {
        let (a, b) = self.pair(place, n);
        a == b
    }

    /// The rows below, with their weights, of the entries of one class with all others, in order; and its entry with itself.
    #[inline(always)]
    fn line<'a>(&'a self, matrix: &'a [u32], side: Side, class: usize) -> Line<'a> {
        let (size, first, second) = self.members[class];
        let row = &matrix[first * self.of.len()..][..self.of.len()];
        let scale = if side == Side::Right { size as f64 } else { 1.0 };
        let own = scale / size as f64;
        Line {
            row,
            scale,
            own: [(row[first] as usize, own), (row[second] as usize, own * (size - 1) as f64)],
        }
    }
}

/// A line of M1 or M2.
struct Line<'a> {
    /// The rows below of the pairs of its first node.
    row: &'a [u32],
    /// The weight of the row of another class.
    scale: f64,
    /// The rows d and a of the class itself, with their weights; the second weight is 0 if a class has one node.
    own: [(usize, f64); 2],
}

/// M1 or M2 from the rows of Y1 or Y2.
struct Gather<'a, T> {
    classes: &'a Classes,
    matrix: &'a [u32],
    side: Side,
    part: Part,
    y: &'a [T],
    to: &'a mut [T],
}

impl<T: Real> Kernel<T> for Gather<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let Gather { classes, matrix, side, part, y, to } = self;
        for (class, to) in to.chunks_exact_mut(classes.len() * part.width).enumerate() {
            let Line { row, scale, own } = classes.line(matrix, side, class);
            let scale = T::rounded(scale);
            for (to, &(_, node, _)) in to.chunks_exact_mut(part.width).zip(&classes.members) {
                set::<T, S>(to, &y[part.at(row[node] as usize)..][..part.width], scale);
            }
            let to = &mut to[class * part.width..][..part.width];
            let [(d, one), (a, rest)] = own;
            set::<T, S>(to, &y[part.at(d)..][..part.width], T::rounded(one));
            add::<T, S>(to, &y[part.at(a)..][..part.width], T::rounded(rest));
        }
    }
}

/// Adds the gradients of M1 or M2 to those of Y1 or Y2.
struct Scatter<'a, T> {
    classes: &'a Classes,
    matrix: &'a [u32],
    side: Side,
    part: Part,
    from: &'a [T],
    d: &'a Shared<'a, T>,
}

impl<T: Real> Kernel<T> for Scatter<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let Scatter { classes, matrix, side, part, from, d } = self;
        for (class, from) in from.chunks_exact(classes.len() * part.width).enumerate() {
            let Line { row, scale, own } = classes.line(matrix, side, class);
            let scale = T::rounded(scale);
            for (other, (from, &(_, node, _))) in
                from.chunks_exact(part.width).zip(&classes.members).enumerate()
            {
                if other != class {
                    // SAFETY: only one task accesses these channels.
                    let to = unsafe { d.part(part.at(row[node] as usize), part.width) };
                    add::<T, S>(to, from, scale);
                }
            }
            for (row, weight) in own {
                // SAFETY: as above.
                let to = unsafe { d.part(part.at(row), part.width) };
                add::<T, S>(to, &from[class * part.width..][..part.width], T::rounded(weight));
            }
        }
    }
}

/// `to = from * by`, vector by vector.
#[inline(always)]
fn set<T: Real, S: Simd<T>>(to: &mut [T], from: &[T], by: T) {
    to.fill(T::default());
    add::<T, S>(to, from, by);
}

/// `to += from * by`, vector by vector.
#[inline(always)]
fn add<T: Real, S: Simd<T>>(to: &mut [T], from: &[T], by: T) {
    for (to, from) in to.chunks_mut(S::LANES).zip(from.chunks(S::LANES)) {
        add_scaled::<T, S>(to, from, by);
    }
}

/// Some channels of the rows of W whose nodes are in different classes.
pub(super) struct Forward<'a, T> {
    pub(super) workspace: &'a Workspace,
    pub(super) colours: ColourMatrix<'a>,
    pub(super) own: &'a Own,
    pub(super) classes: &'a Classes,
    pub(super) part: Part,
    pub(super) y1: &'a [T],
    pub(super) y2: &'a [T],
    pub(super) w: &'a Shared<'a, T>,
}

impl<T: Real> Forward<'_, T> {
    pub(super) fn run(self) {
        let Forward { workspace, colours, own, classes, part, y1, y2, w } = self;
        let (n, matrix) = colours.matrix_of(own.graph);
        let t = classes.len();
        for part in part.cut(large::CHANNELS) {
            let width = part.width;
            let [mut left, mut right, mut out] =
                [(); 3].map(|()| Buffer::<T>::dirty(workspace, t * t * width));
            dispatch(Gather { classes, matrix, side: Side::Left, part, y: y1, to: &mut left });
            dispatch(Gather { classes, matrix, side: Side::Right, part, y: y2, to: &mut right });
            product(workspace, &[square(&colours, own, t)], width, &left, &right, &mut out);
            for &(row, place) in &own.rows {
                let (a, b) = classes.pair(place, n);
                // SAFETY: each row belongs to one graph, and only this task writes these channels of it.
                let to = unsafe { w.part(part.at(row as usize), width) };
                to.copy_from_slice(&out[(a * t + b) * width..][..width]);
            }
        }
    }
}

/// What the rows whose nodes are in different classes contribute to the gradients.
pub(super) fn backward<T: Real>(share: Share<'_, T>, classes: &Classes) {
    let Share { workspace, colours, own, part, dw, y: [y1, y2], d: [d1, d2] } = share;
    let (n, matrix) = colours.matrix_of(own.graph);
    let t = classes.len();
    for part in part.cut(large::CHANNELS) {
        let width = part.width;
        let [mut left, mut right, mut d] = [(); 3].map(|()| Buffer::<T>::dirty(workspace, t * t * width));
        dispatch(Gather { classes, matrix, side: Side::Left, part, y: y1, to: &mut left });
        dispatch(Gather { classes, matrix, side: Side::Right, part, y: y2, to: &mut right });
        d.fill(T::default());
        for &(row, place) in &own.rows {
            let (a, b) = classes.pair(place, n);
            // Two rows may share a pair of classes: their contributions are added.
            add_to(&mut d[(a * t + b) * width..][..width], &dw[part.at(row as usize)..][..width]);
        }
        product_backward(workspace, &[square(&colours, own, t)], width, &d, &mut left, &mut right, false);
        dispatch(Scatter { classes, matrix, side: Side::Left, part, from: &left, d: d1 });
        dispatch(Scatter { classes, matrix, side: Side::Right, part, from: &right, d: d2 });
    }
}

/// The graph of classes.
fn square(colours: &ColourMatrix<'_>, own: &Own, classes: usize) -> Square {
    Square { start: 0, nodes: classes, factor: colours.factors[own.graph] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_know_their_first_two_nodes() {
        let classes = Classes::new(&[0, 1, 0, 3, 1, 0]);
        assert_eq!((classes.len(), &classes.of[..]), (3, &[0, 1, 0, 2, 1, 0][..]));
        assert!(classes.has_both(2, 6) && classes.has_both(0, 6) && !classes.has_both(1, 6));
    }
}
