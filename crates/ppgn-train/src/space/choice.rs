//! Chooses the space that a dataset is trained on: the cost of both is estimated before either is used.
//!
//! The quotient space pays off where pairs merge, and costs a colouring. Real-valued pair features (QM9's distances)
//! leave nothing to merge, which a sample of the graphs shows before all of them are coloured.

use super::cache;
use crate::error::Result;
use crate::session::Session;
use ppgn_graph::encode::Encoder;
use ppgn_graph::{Dataset, Graph};
use ppgn_nn::{ColouringOptions, Colours, Cost, PpgnConfig, Precision, SpaceChoice, flops};
use std::sync::Arc;

/// The space of a run, and the reason.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The dataset's colours for the quotient space, `None` for the dense space.
    pub colours: Option<Arc<Colours>>,
    /// One sentence for the log.
    pub why: String,
    /// The cost of both, if it was estimated for all graphs.
    pub cost: Option<Cost>,
}

/// What the choice depends on.
#[derive(Debug, Clone)]
pub struct Choosing<'a> {
    /// The setting.
    pub choice: SpaceChoice,
    /// The network.
    pub config: &'a PpgnConfig,
    /// How graphs are encoded.
    pub encoder: &'a Encoder,
    /// The graphs.
    pub dataset: &'a Dataset,
    /// Their [digest](Dataset::digest).
    pub digest: &'a str,
    /// The precision of the rows.
    pub precision: Precision,
    /// Where colours are kept, the memory limit of a colouring, and a way to stop it. Without a memory limit `auto` has
    /// [one](Choosing::MEMORY) of its own.
    pub session: &'a Session,
}

impl Choosing<'_> {
    /// The memory limit of a colouring under `auto`, in bytes, if the session has none.
    pub const MEMORY: u64 = 6 << 30;

    /// Peak memory of a colouring in bytes per pair.
    const PAIR: u64 = 80;

    /// The quotient space is taken below this share of the dense cost.
    const WORTH: f64 = 0.9;

    /// The number of graphs in a sample. Datasets of less than twice that size are not sampled.
    const SAMPLE: usize = 32;

    /// The assumed cost of one of the n^3 steps of a colouring per graph and level, in operations of an epoch; and
    /// the most epochs whose work a colouring may cost.
    const STEP: f64 = 300.0;
    const EPOCHS: f64 = 20.0;

    /// Chooses a space, and colours the graphs for the quotient space.
    ///
    /// # Complexity
    /// For the quotient space that of [`Colours::of`], unless the session has the colours already.
    pub fn choose(&self) -> Result<Chosen> {
        self.config.runs_on(self.choice)?;
        match (self.choice, self.config.needs_pairs()) {
            (SpaceChoice::Dense, _) => Ok(dense(", as requested", None)),
            (SpaceChoice::Auto, Some(why)) => Ok(dense(&format!(": {why}"), None)),
            (SpaceChoice::Quotient, _) => {
                let colours = self.colours(self.options(self.session.memory()))?;
                let cost = Cost::new(self.config, &colours);
                Ok(quotient(colours, ", as requested", cost))
            }
            (SpaceChoice::Auto, None) => self.cheaper(),
        }
    }

    fn options(&self, max_memory: Option<u64>) -> ColouringOptions {
        let interrupt = self.session.interrupt().clone();
        ColouringOptions { max_memory, interrupt, ..ColouringOptions::default() }
    }

    fn cheaper(&self) -> Result<Chosen> {
        let limit = self.session.max_memory().unwrap_or(Self::MEMORY);
        // Whether the colours are known already must not matter: a resumed run must choose as it did before.
        let against = self.too_large(limit).or_else(|| self.too_expensive());
        if let Some(why) = against.or_else(|| self.nothing_to_merge()) {
            return Ok(dense(&format!(": {why}"), None));
        }
        let colours = match self.colours(self.options(Some(limit))) {
            Ok(found) => found,
            // An interrupted colouring must stop the run, not change its space.
            Err(error) if self.session.check().is_err() => return Err(error),
            Err(error) => return Ok(dense(&format!(": {error}"), None)),
        };
        let cost = Cost::new(self.config, &colours);
        match cost.share() < Self::WORTH {
            true => Ok(quotient(colours, "", cost)),
            false => {
                let why =
                    format!(": in the quotient space an epoch would cost about {} of it", percent(&cost));
                Ok(dense(&why, Some(cost)))
            }
        }
    }

    /// The reason if a colouring would need more memory than allowed.
    fn too_large(&self, limit: u64) -> Option<String> {
        let order = self.config.order as u32;
        let tuples = self.dataset.graphs().iter().map(|g| (g.nodes() as u64).saturating_pow(order));
        let tuples = tuples.fold(0u64, u64::saturating_add);
        let need = tuples.saturating_mul(Self::PAIR);
        (need > limit).then(|| {
            let (need, limit) = (need >> 20, limit >> 20);
            let what = tuples_name(self.config.order);
            format!("colouring {tuples} {what} needs about {need} MiB of memory, more than the limit of {limit} MiB")
        })
    }

    /// The reason if a colouring would cost more than it can save.
    fn too_expensive(&self) -> Option<String> {
        let sum =
            |of: &dyn Fn(usize) -> f64| self.dataset.graphs().iter().map(|g| of(g.nodes())).sum::<f64>();
        let order = self.config.order as i32;
        let steps = sum(&|n| (n as f64).powi(order + 1)) * self.config.blocks.len() as f64;
        let blocks = self.config.descriptions();
        let epoch = sum(&|n| flops(&blocks, [n; 2], |_| n.saturating_pow(order as u32)));
        let epochs = steps * Self::STEP / epoch;
        (epochs > Self::EPOCHS).then(|| {
            let what = tuples_name(self.config.order);
            format!("colouring the {what} would cost as much as about {epochs:.0} epochs of this network")
        })
    }

    /// The reason if a sample of the graphs speaks against the quotient space.
    fn nothing_to_merge(&self) -> Option<String> {
        let graphs = self.dataset.graphs();
        if graphs.len() < 2 * Self::SAMPLE {
            return None;
        }
        let spread = (0..Self::SAMPLE).map(|i| &graphs[i * graphs.len() / Self::SAMPLE]);
        let sample: Vec<Graph> = spread.filter(|graph| graph.nodes() > 0).cloned().collect();
        let options = self.options(self.session.max_memory());
        // If this fails, colouring all graphs reports why, and decides whether it is an error.
        let colours = self.session.install(|| self.encode(&sample, &options)).ok()?;
        let cost = Cost::new(self.config, &colours);
        (cost.share() >= Self::WORTH).then(|| {
            format!(
                "too few {} are alike (in a sample of {} graphs the quotient space costs about {} of dense)",
                tuples_name(cost.order),
                sample.len(),
                percent(&cost)
            )
        })
    }

    fn encode(&self, graphs: &[Graph], options: &ColouringOptions) -> Result<Colours> {
        Ok(Colours::of(self.config, self.encoder, graphs, self.precision, options)?)
    }

    /// The colours of all graphs: from memory, from disk, or computed.
    fn colours(&self, options: ColouringOptions) -> Result<Arc<Colours>> {
        let key = cache::key(self.config, self.encoder, self.digest, self.precision);
        let find = || self.encode(self.dataset.graphs(), &options);
        self.session.colours(&key, || match self.session.cache_dir() {
            Some(folder) => {
                cache::File::new(folder, &key, self.config, self.encoder).colours(self.dataset, find)
            }
            None => find(),
        })
    }
}

/// The name of the rows of the dense space.
fn tuples_name(order: usize) -> String {
    match order {
        1 => "nodes".into(),
        2 => "pairs".into(),
        _ => format!("{order}-tuples"),
    }
}

/// The cost of the quotient space, in percent of the dense cost.
fn percent(cost: &Cost) -> String {
    format!("{:.0} %", 100.0 * cost.share())
}

fn dense(why: &str, cost: Option<Cost>) -> Chosen {
    Chosen { colours: None, why: format!("dense space{why}"), cost }
}

fn quotient(colours: Arc<Colours>, how: &str, cost: Cost) -> Chosen {
    let why = format!("quotient space{how}: an epoch costs about {} of dense", percent(&cost));
    Chosen { colours: Some(colours), why, cost: Some(cost) }
}
