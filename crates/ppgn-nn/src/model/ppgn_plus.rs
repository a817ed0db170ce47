//! PPGN++ (Puny et al. 2023, "Equivariant Polynomials for Graph Neural Networks"): the paper's block with transposition
//! and the identity: `m4(m3(Z), W)` with `Z = (X, I)` and `W = m1(Z, Z^T) . m2(Z)`, as in its authors' code.
//!
//! Their networks pool by mean. Our input consists of isomorphism types of pairs: they have the rows of (i, j) and (j, i),
//! so pairs of one colour have transposes of one colour from the start, and the quotient space stays exact.

use super::{Description, Kind, Place};

pub(super) struct PpgnPlus;

impl Kind for PpgnPlus {
    fn describe(&self, place: &Place<'_>) -> Description {
        let seen = Place { inputs: place.inputs + 1, ..*place };
        let block = seen.joined(vec![seen.m3(2), seen.transposed_product()]);
        let residual = place.config.residual && block.outputs() == place.inputs;
        Description { inputs: place.inputs, identity: true, residual, ..block }
    }

    fn takes_types(&self) -> bool {
        true
    }
}
