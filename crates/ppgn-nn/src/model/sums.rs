//! The k-order networks from the proof of Theorem 1: `m4(m3(X), L1(m1(X)), ..., Lk(m1(X)))`, where Lq is the sum over
//! the q-th node.

use super::{Description, Kind, Place};
use ppgn_kernels::Product;

pub(super) struct Sums;

impl Kind for Sums {
    fn describe(&self, place: &Place<'_>) -> Description {
        let sums = Product::Sums(place.config.order);
        place.joined(vec![place.m3(1), place.product(sums, 1)])
    }

    fn has_any_order(&self) -> bool {
        true
    }

    fn takes_types(&self) -> bool {
        true
    }
}
