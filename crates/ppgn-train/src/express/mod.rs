//! The expressiveness lab: how many pairs of graphs does a network really tell apart, beside the test that bounds it?
//!
//! A [`Suite`] is a collection of pairs of graphs. A [`Subject`] is what is measured: a [`Network`] of this crate, or
//! anything that maps graphs to vectors. A [`Protocol`] says when a pair counts as distinguished:
//!
//! - `exact`: the Weisfeiler-Leman test that bounds the subject distinguishes it;
//! - `random`: outputs of untrained weights differ by more than ten times what relabelled copies of one graph differ by;
//! - `rpc`: BREC's reliable paired comparisons (Wang and Zhang, ICML 2024): a network is trained for every pair, and
//!   Hotelling's statistic decides. With batch-normalised outputs the loss is 0 after an epoch, so `rpc` barely trains:
//!   `random` is reported beside it.
//!
//! [`Lab`] runs a protocol over a suite, pair by pair on all cores, resumes what a folder holds, and gives a [`Report`]:
//! what was distinguished, beside the exact bound, and why the rest was missed.
//!
//! ```
//! use ppgn_graph::locate::Locator;
//! use ppgn_train::{Overrides, Session, express::{Lab, Network, Protocol, Suite, bound_of}};
//! let suite = Suite::load("figure1", &Locator::default())?;
//! let network = Network::new("small", &Overrides::default(), &suite)?;
//! let bound = bound_of(network.config())?;
//! let lab = Lab { subject: Some(&network), seeds: vec![0, 1], ..Lab::new(&suite, Protocol::Random, bound) };
//! let report = lab.run(&Session::default(), &|_| {})?;
//! assert_eq!((report.pairs, report.bound, report.distinguished), (1, 1, 1));
//! # Ok::<(), ppgn_train::Error>(())
//! ```

mod bases;
mod bound;
mod collection;
mod copies;
mod counting;
mod lab;
mod loss;
mod picture;
mod report;
mod statistic;
mod store;
mod subject;
mod suite;
mod trial;

pub use bound::bound_of;
pub use collection::{Collected, Left};
pub use copies::copies;
pub use counting::{COUNTING_SPLIT, Counted, PUBLISHED, counting, counting_jobs};
pub use lab::{Lab, Progress, Protocol};
pub use loss::{cosine_loss, normalised};
pub use picture::picture;
pub use report::{CategoryReport, Missed, Reason, Report, Unproven};
pub use statistic::{Hotelling, hotelling};
pub use subject::{Instance, Network, OUTPUTS, Subject};
pub use suite::{Category, Pairing, SUITES, Suite};
pub use trial::{
    BATCH, COPIES, EPOCHS, FACTOR, LOSS, MULTIPLE, NOISE_COPIES, PATIENCE, Place, RATE, Random, Rpc,
    THRESHOLD, Trial, trial,
};

/// What PyTorch computes: tests/golden/express.py.
#[cfg(test)]
fn golden() -> serde_json::Value {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/express.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// The rows of a matrix in it.
#[cfg(test)]
fn flat(value: &serde_json::Value) -> (usize, Vec<f64>) {
    let rows = value.as_array().unwrap();
    let numbers = rows.iter().flat_map(|row| row.as_array().unwrap()).map(|x| x.as_f64().unwrap());
    (rows[0].as_array().unwrap().len(), numbers.collect())
}
