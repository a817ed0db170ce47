//! The paper's block: `m4(m3(X), W)` with `W = m1(X) . m2(X)`, the matrix product in every channel; for order k, W is
//! the generalised product of k factors (Section 6). At order 1 rows are nodes and W is message passing, GIN's sum over the
//! neighbours: `W[i, r] = sum over the edges (i, j) of X0[i,j,r] * m1(X)[j]` for every channel r of the encoding X0.

use super::{Description, Kind, Place};
use ppgn_kernels::Product;

pub(super) struct Mp;

impl Kind for Mp {
    fn describe(&self, place: &Place<'_>) -> Description {
        let order = place.config.order;
        let product = match order {
            1 => Product::Neighbours(place.config.inputs),
            2 => Product::Matrix,
            _ => Product::Generalised,
        };
        place.joined(vec![place.m3(order), place.product(product, order)])
    }

    fn has_any_order(&self) -> bool {
        true
    }
}
