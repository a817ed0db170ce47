//! Matrix product and the full linear basis: `m4(m3(X), W, f(L(X)))`, L as wide as the block.

use super::{Description, Kind, Place};
use ppgn_kernels::Product;

pub(super) struct MpLin;

impl Kind for MpLin {
    fn describe(&self, place: &Place<'_>) -> Description {
        let linear = place.equivariant(&[place.inputs, place.block.width]);
        place.joined(vec![place.m3(2), place.product(Product::Matrix, 2), linear])
    }
}
