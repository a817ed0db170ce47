//! Which space a run trains on, and the colours that runs on the same data share.
//!
//! Folds and trials of one process train on one dataset: its colours are found once, kept in memory for the next run,
//! and on disk if the process has a data folder.

use crate::settings::Settings;
use ppgn_graph::encode::Encoder;
use ppgn_graph::{Dataset, Result};
use ppgn_nn::{Choosing, Chosen, ColouringOptions, Colours, Interrupt};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The data folder of the process; without one nothing is kept on disk.
static DATA_DIR: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The colours that were needed last, and what they are the colours of.
static LAST: Mutex<Option<(String, Arc<Colours>)>> = Mutex::new(None);

/// From now on colours are kept in the folder `colours` of this data folder. A library writes nowhere unless it is
/// told to; the command line tells it its data folder.
pub fn keep_colours_in(data_dir: Option<PathBuf>) {
    *DATA_DIR.lock().unwrap_or_else(PoisonError::into_inner) = data_dir;
}

/// What stops a search for colours.
static INTERRUPT: Mutex<Option<Interrupt>> = Mutex::new(None);

/// From now on a search for colours, of which nobody hears while it lasts, ends when this is set; training is then
/// stopped, as by a watcher.
pub fn stop_colouring_by(interrupt: Interrupt) {
    *INTERRUPT.lock().unwrap_or_else(PoisonError::into_inner) = Some(interrupt);
}

fn interrupt() -> Interrupt {
    INTERRUPT.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
}

/// Whether that was asked for.
pub(crate) fn interrupted() -> bool {
    interrupt().check().is_err()
}

/// The space of a run, by its settings.
pub(crate) fn choose(settings: &Settings, encoder: &Encoder, dataset: &Dataset) -> Result<Chosen> {
    let data_dir = DATA_DIR.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let interrupt = interrupt();
    let key = format!(
        "{} {:?} {:?} {} {} {:?}",
        settings.digest,
        settings.encoding,
        encoder.channels(),
        settings.training.precision.name(),
        settings.network.blocks.len(),
        settings.network.tuples()
    );
    // Held while colouring: who comes second waits for what the first finds.
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let known = last.as_ref().filter(|(of, _)| *of == key).map(|(_, colours)| colours.clone());
    let chosen = Choosing {
        choice: settings.training.space,
        config: &settings.network,
        encoder,
        dataset,
        precision: settings.training.precision,
        data_dir: data_dir.as_deref(),
        known,
        options: ColouringOptions { interrupt, ..Default::default() },
    }
    .choose()?;
    if let Some(colours) = &chosen.colours {
        *last = Some((key, colours.clone()));
    }
    Ok(chosen)
}
