//! Rejects configurations that cannot be built, before anything is allocated.

use super::{Level, M3, M4, PpgnConfig};
use crate::error::{Error, Result};
use crate::layout::Layout;

/// Longer tuples exceed any memory except for graphs of a few nodes.
const MAX_ORDER: usize = 10;

/// A configuration with more parameters than this is taken for a mistake.
const MAX_PARAMETERS: usize = 1 << 30;

impl PpgnConfig {
    /// Checks that such a network can be built; the error explains the problem.
    pub fn validate(&self) -> Result<()> {
        let positive = |what: &str, n: usize| match n {
            0 => Err(Error::config(format!("a network needs {what}; this one has 0"))),
            _ => Ok(()),
        };
        positive("at least one input channel", self.inputs)?;
        positive("at least one output", self.outputs)?;
        positive("at least one block", self.blocks.len())?;
        positive("MLPs of at least one layer", self.depth)?;
        if !(1..=MAX_ORDER).contains(&self.order) {
            return Err(Error::config(format!(
                "a network needs an order from 1 (nodes) to {MAX_ORDER}, not {}",
                self.order
            )));
        }
        let most = if self.level == Level::Pair { 2..=2 } else { 1..=2 };
        if self.level != Level::Graph && !most.contains(&self.order) {
            return Err(Error::config(format!(
                "outputs per node need order 1 or 2, those per pair need order 2, and the network has order {}",
                self.order
            )));
        }
        if self.init_gain.is_some_and(|gain| !(gain > 0.0 && gain.is_finite())) {
            return Err(Error::config(format!(
                "the gain of the initial weights must be a positive number, not {}",
                self.init_gain.unwrap_or_default()
            )));
        }
        let m3: &[usize] = match &self.m3 {
            M3::Identity => &[],
            M3::Mlp(widths) if widths.is_empty() => {
                return Err(Error::config(
                    "m3 as an MLP needs at least one width; for no layers, use the identity",
                ));
            }
            M3::Mlp(widths) => widths,
        };
        let blocks = self
            .blocks
            .iter()
            .flat_map(|b| [b.width, b.product()].into_iter().chain(b.hidden.iter().flatten().copied()));
        for width in blocks.chain(m3.iter().copied()).chain(self.suffix_hidden.iter().copied()) {
            positive("layers of at least one channel", width)?;
        }
        if self.depth > 1000 || self.blocks.len() > 1000 {
            return Err(Error::config("a network has at most 1000 blocks with MLPs of at most 1000 layers"));
        }
        self.model.validate(self)?;
        if self.residual && self.m4 == M4::None {
            return Err(Error::config(
                "residual blocks need m4: without it a block's output is (m3(X), W), which already includes X",
            ));
        }
        match Layout::count(self) {
            Some(n) if n <= MAX_PARAMETERS => Ok(()),
            _ => Err(Error::config(format!(
                "these widths give more than {MAX_PARAMETERS} parameters; the blocks are {:?}",
                self.blocks.iter().map(|b| b.width).collect::<Vec<_>>()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BlockConfig;
    use crate::model::Model;

    #[test]
    fn invalid_configurations_are_errors() {
        let base = || PpgnConfig::new(2, 2);
        let message = |config: PpgnConfig| {
            let error = config.validate().unwrap_err();
            assert!(error.is_call());
            error.to_string()
        };
        assert!(message(PpgnConfig { inputs: 0, ..base() }).contains("input channel"));
        assert!(message(PpgnConfig { outputs: 0, ..base() }).contains("output"));
        assert!(message(PpgnConfig { blocks: vec![], ..base() }).contains("block"));
        assert!(message(PpgnConfig { blocks: vec![BlockConfig::new(0)], ..base() }).contains("channel"));
        assert!(message(PpgnConfig { depth: 0, ..base() }).contains("one layer"));
        assert!(message(PpgnConfig { order: 0, ..base() }).contains("from 1"));
        assert!(message(PpgnConfig { order: 1, level: Level::Pair, ..base() }).contains("need order 2"));
        assert!(message(PpgnConfig { order: 1, model: Model::Sums, ..base() }).contains("goes with `mp`"));
        assert!(message(PpgnConfig { order: 11, ..base() }).contains("not 11"));
        assert!(message(PpgnConfig { order: 3, level: Level::Node, ..base() }).contains("order 1 or 2"));
        assert!(message(PpgnConfig { order: 3, model: Model::MpLin, ..base() }).contains("order 2"));
        assert!(message(PpgnConfig { m3: M3::Mlp(vec![]), ..base() }).contains("m3"));
        for gain in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(message(PpgnConfig { init_gain: Some(gain), ..base() }).contains("gain"));
        }
        assert!(message(PpgnConfig { m4: M4::None, residual: true, ..base() }).contains("residual"));
        assert!(message(PpgnConfig { model: Model::Lin, m4: M4::None, ..base() }).contains("remove `m4`"));
        assert!(message(PpgnConfig { model: Model::Lin, residual: true, ..base() }).contains("`residual`"));
        assert!(
            message(PpgnConfig { blocks: vec![BlockConfig::new(usize::MAX)], ..base() })
                .contains("more than")
        );
        assert!(message(PpgnConfig { depth: usize::MAX, ..base() }).contains("1000"));
        let wide = BlockConfig { product: Some(usize::MAX), ..BlockConfig::new(1) };
        assert!(message(PpgnConfig { blocks: vec![wide; 3], m4: M4::None, ..base() }).contains("more than"));
    }
}
