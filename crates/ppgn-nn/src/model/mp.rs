//! The paper's block: `m4(m3(X), W)` with `W = m1(X) . m2(X)`, the matrix product in every channel; for order k, W is
//! the generalised product of k factors (Section 6).

use super::{Description, Kind, Place};
use ppgn_kernels::Product;

pub(super) struct Mp;

impl Kind for Mp {
    fn describe(&self, place: &Place<'_>) -> Description {
        let order = place.config.order;
        let product = if order == 2 { Product::Matrix } else { Product::Generalised };
        place.joined(vec![place.m3(order), place.product(product, order)])
    }

    fn has_any_order(&self) -> bool {
        true
    }
}
