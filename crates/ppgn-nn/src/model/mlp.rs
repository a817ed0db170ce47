//! Each pair separately: `m4(m3(X), m1(X))`.

use super::{Description, Kind, Place};

pub(super) struct Mlp;

impl Kind for Mlp {
    fn describe(&self, place: &Place<'_>) -> Description {
        place.joined(vec![place.m3(1), place.m1()])
    }
}
