//! The local page: the runs of a folder while they train, the graphs of a dataset, Weisfeiler-Leman step by step.
//!
//! [`serve`] answers on a loopback address with a page of plain modules that is part of the binary, and a small interface
//! of JSON under `/api`. A request goes through [`guard`](mod@guard) (who may ask), `place` (what may be read) and `job` (how
//! long and how much), to one function per view that turns a query into JSON. [`export`] writes the same answers as files.
//!
//! Nothing is written, and nothing outside the folder of the runs and the data folder is read.

mod answer;
mod assets;
mod data;
mod dataset;
pub mod draw;
mod drawn;
mod error;
mod export;
mod followed;
mod guard;
mod job;
mod live;
mod mistakes;
mod network;
mod place;
mod presets;
mod query;
mod run;
mod runs;
mod server;
mod sweep;
mod thinned;
mod wl;

pub use error::{Error, Result};
pub use export::{Exported, export};
pub use server::{Served, serve};

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What is shown, and to whom.
#[derive(Debug, Clone)]
pub struct View {
    /// The folder of the runs. It may appear later.
    pub runs: PathBuf,
    /// The data folder.
    pub data: PathBuf,
    /// The address to listen at; without one, 127.0.0.1. Any other than a loopback address is guarded by a token.
    pub host: Option<String>,
    /// The port; without one, 7766 or, if that is taken, any that is free.
    pub port: Option<u16>,
    /// How long a dataset is kept in memory after its last use: a minute.
    pub kept: Duration,
}

impl View {
    /// The runs of a folder, for this machine alone.
    pub fn new(runs: impl Into<PathBuf>, data: impl Into<PathBuf>) -> Self {
        let kept = Duration::from_secs(60);
        View { runs: runs.into(), data: data.into(), host: None, port: None, kept }
    }
}

/// Whether only this machine can reach an address.
fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}
