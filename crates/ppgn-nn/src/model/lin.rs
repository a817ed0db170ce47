//! The full linear basis alone: layers `f(L(.))` in sequence, f the activation, with neither m3 nor m4.

use super::{Description, Kind, Place};
use crate::config::{M3, M4, PpgnConfig};
use crate::error::{Error, Result};

pub(super) struct Lin;

impl Kind for Lin {
    fn describe(&self, place: &Place<'_>) -> Description {
        let branches = vec![place.equivariant(&place.widths())];
        let activation = place.config.activation;
        Description {
            inputs: place.inputs,
            identity: false,
            branches,
            join: None,
            residual: false,
            activation,
        }
    }

    fn validate(&self, config: &PpgnConfig) -> Result<()> {
        let more = [
            (config.m3 != M3::Identity, "m3"),
            (config.m4 != M4::Linear, "m4"),
            (config.residual, "residual"),
            (config.blocks.iter().any(|b| b.product.is_some()), "product"),
        ];
        match more.iter().find(|(set, _)| *set) {
            None => Ok(()),
            Some((_, name)) => Err(Error::config(format!(
                "blocks of the model `lin` consist of linear layers only; remove `{name}`"
            ))),
        }
    }
}
