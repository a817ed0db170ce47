//! Which network each test compiles to: one of the paper's three, chosen by the test's family and its k.

use crate::config::PpgnConfig;
use crate::error::{Error, Result};
use crate::model::Model;
use ppgn_wl::{Family, Test};

/// The kind of network a test compiles to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    /// The order k of the tuples.
    pub(super) order: usize,
    /// Whether blocks use the sums over one position each instead of a product.
    pub(super) sums: bool,
    /// For every factor of the product, or every sum: the position of the tuple that node j takes.
    pub(super) places: Vec<usize>,
}

impl Form {
    /// 2-FWL is the network of Theorem 2, k-FWL the generalised product network, k-WL the k-order network of Theorem 1.
    pub(super) fn of(test: Test) -> Result<Self> {
        let order = test.k();
        if order < 2 {
            return Err(Error::call(format!(
                "{test} cannot be compiled: it colours nodes, but networks work on pairs and longer tuples; 2-wl \
                 distinguishes the same graphs"
            )));
        }
        let sums = test.family() == Family::Wl;
        let places = match (sums, order) {
            // W[i,k] = sum over j of Y1[i,j] * Y2[j,k].
            (false, 2) => vec![1, 0],
            (_, k) => (0..k).collect(),
        };
        let form = Form { order, sums, places };
        form.config(1, 1).validate()?;
        Ok(form)
    }

    /// A configuration of this form with default blocks.
    pub(super) fn config(&self, inputs: usize, outputs: usize) -> PpgnConfig {
        let model = if self.sums { Model::Sums } else { Model::Mp };
        PpgnConfig { order: self.order, model, ..PpgnConfig::new(inputs, outputs) }
    }

    /// Whether the input consists of isomorphism types of tuples.
    pub(super) fn has_types(&self) -> bool {
        self.config(1, 1).tuples().is_some()
    }

    /// What a row is, for messages.
    pub(super) fn tuples(&self) -> String {
        if self.order == 2 { "pairs".into() } else { format!("{}-tuples", self.order) }
    }
}
