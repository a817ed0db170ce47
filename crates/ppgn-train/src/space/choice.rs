//! Which space a dataset is trained on: the cost of both is estimated before either is used.
//!
//! The quotient pays off where pairs merge, and costs a colouring. Real-valued pair features (QM9's distances) leave nothing
//! to merge, which a sample of the graphs shows before all of them are coloured.

use super::cache;
use crate::error::Result;
use crate::session::Session;
use ppgn_graph::encode::Encoder;
use ppgn_graph::{Dataset, Graph};
use ppgn_nn::{ColouringOptions, Colours, Cost, PpgnConfig, Precision, SpaceChoice, flops};
use std::sync::Arc;

/// The space of a run, and why.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The dataset's colours if it is the quotient, nothing if it is the dense space.
    pub colours: Option<Arc<Colours>>,
    /// One sentence for the log.
    pub why: String,
    /// The cost of both, where it was estimated for all graphs.
    pub cost: Option<Cost>,
}

/// What a choice depends on.
#[derive(Debug, Clone)]
pub struct Choosing<'a> {
    /// The setting.
    pub choice: SpaceChoice,
    /// The network.
    pub config: &'a PpgnConfig,
    /// How graphs become rows.
    pub encoder: &'a Encoder,
    /// The graphs.
    pub dataset: &'a Dataset,
    /// Their [digest](Dataset::digest).
    pub digest: &'a str,
    /// The precision of the rows.
    pub precision: Precision,
    /// Where colours are kept, the memory that a colouring may take, and a way to stop it. Without a limit of memory `auto`
    /// has [one](Choosing::MEMORY).
    pub session: &'a Session,
}

impl Choosing<'_> {
    /// The bytes that `auto` takes for a colouring at most, where no limit is given.
    pub const MEMORY: u64 = 6 << 30;

    /// The bytes that colouring a pair takes at most, for a while.
    const PAIR: u64 = 80;

    /// The quotient must save something for the trouble of colouring.
    const WORTH: f64 = 0.9;

    /// The number of graphs of a sample. Of fewer than twice this many graphs none is drawn.
    const SAMPLE: usize = 32;

    /// What a step of the colouring, of which there are n^3 per graph and level, is taken to cost in operations of an
    /// epoch; and how many epochs' work a colouring may be.
    const STEP: f64 = 300.0;
    const EPOCHS: f64 = 20.0;

    /// Chooses a space, and finds the colours if it is the quotient.
    ///
    /// # Complexity
    /// For the quotient that of [`Colours::of`], unless the session has the colours already.
    pub fn choose(&self) -> Result<Chosen> {
        self.config.runs_on(self.choice)?;
        match (self.choice, self.config.needs_pairs()) {
            (SpaceChoice::Dense, _) => Ok(dense(", as requested", None)),
            (SpaceChoice::Auto, Some(why)) => Ok(dense(&format!(": {why}"), None)),
            (SpaceChoice::Quotient, _) => {
                let colours = self.colours(self.options(self.session.max_memory()))?;
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
        // Nothing here asks whether the colours are known already: a run that is resumed must choose as it did.
        let against = self.too_large(limit).or_else(|| self.too_expensive());
        if let Some(why) = against.or_else(|| self.nothing_to_merge()) {
            return Ok(dense(&format!(": {why}"), None));
        }
        let colours = match self.colours(self.options(Some(limit))) {
            Ok(found) => found,
            // Whoever stops a colouring wants to stop, not to train in another way.
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

    /// Why a colouring would need more memory than it may take.
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

    /// Why a colouring would be more work than it can save.
    fn too_expensive(&self) -> Option<String> {
        let sum =
            |of: &dyn Fn(usize) -> f64| self.dataset.graphs().iter().map(|g| of(g.nodes())).sum::<f64>();
        let order = self.config.order as i32;
        let steps = sum(&|n| (n as f64).powi(order + 1)) * self.config.blocks.len() as f64;
        let blocks = self.config.descriptions();
        let epoch = sum(&|n| flops(&blocks, n, |_| n.saturating_pow(order as u32)));
        let epochs = steps * Self::STEP / epoch;
        (epochs > Self::EPOCHS).then(|| {
            let what = tuples_name(self.config.order);
            format!("colouring the {what} would cost as much as about {epochs:.0} epochs of this network")
        })
    }

    /// What a sample of the graphs says against the quotient.
    fn nothing_to_merge(&self) -> Option<String> {
        let graphs = self.dataset.graphs();
        if graphs.len() < 2 * Self::SAMPLE {
            return None;
        }
        let spread = (0..Self::SAMPLE).map(|i| &graphs[i * graphs.len() / Self::SAMPLE]);
        let sample: Vec<Graph> = spread.filter(|graph| graph.nodes() > 0).cloned().collect();
        let options = self.options(self.session.max_memory());
        // Where this fails, colouring all of them says what is wrong, and whether it is an error.
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

    /// The colours of all graphs: in memory, on disk, or found.
    fn colours(&self, options: ColouringOptions) -> Result<Arc<Colours>> {
        let key = cache::key(self.config, self.encoder, self.digest, self.precision);
        let find = || self.encode(self.dataset.graphs(), &options);
        self.session.colours(&key, || match self.session.data_dir() {
            Some(folder) => {
                cache::File::new(folder, &key, self.config, self.encoder).colours(self.dataset, find)
            }
            None => find(),
        })
    }
}

/// What the rows of the dense space are.
fn tuples_name(order: usize) -> String {
    if order == 2 { "pairs".into() } else { format!("{order}-tuples") }
}

/// The quotient's share of the dense cost.
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
