//! Provably powerful graph networks ([Maron et al. 2019](https://arxiv.org/abs/1905.11136)) on the CPU.
//!
//! A [`PpgnConfig`] describes a network and builds a [`Ppgn`]; graphs become a [`Batch`] of rows, one per ordered pair
//! of nodes; [`Ppgn::forward`] computes scores, [`Ppgn::embed`] the pooled features, [`Ppgn::backward`] the gradient of
//! a [`Loss`] as plain vectors for [`Adam`]. The batch's [`Space`] determines what a row is and how the matrix product
//! combines pairs. What a block computes is described once, in [`model`]. Weights are saved in safetensors files
//! ([`weights`]) or imported from the authors' checkpoints ([`import`]), under the same names.
//!
//! The paper's theory is executable as well: [`PpgnConfig::order`] extends pairs to k-tuples, [`compile`] constructs
//! the networks of Theorems 1 and 2 and of the generalisation to k-FWL for given graphs, [`equivariant`] contains the
//! linear layers of any order with their full basis, [`multiset`] the power sums of Section 4.
//!
//! ```
//! use ppgn_nn::{Adam, Batch, BlockConfig, Loss, PpgnConfig, Precision, Values};
//!
//! let config = PpgnConfig { blocks: vec![BlockConfig::new(8); 2], ..PpgnConfig::new(1, 2) };
//! let mut network = config.init(1, Precision::F32)?;
//! let (edge, none) = ([0.0f32, 1.0, 1.0, 0.0], [0.0f32; 4]);              // two nodes with an edge, and without
//! let batch = Batch::dense(1, &[(2, &edge[..]), (2, &none[..])])?;
//! let parameters: Vec<Values> = network.parameters()?.into_iter().map(|(_, values)| values).collect();
//! let mut adam = Adam::new(&parameters);
//! let mut losses = Vec::new();
//! for _ in 0..20 {
//!     let step = network.backward(&batch, |scores| Loss::cross_entropy(&[1, 0]).of(scores))?;
//!     network.update(|parameters| adam.step(parameters, &step.gradients, 0.01))?;
//!     losses.push(step.loss);
//! }
//! assert!(losses[19] < losses[0]);
//! # Ok::<(), ppgn_nn::Error>(())
//! ```

mod adam;
mod average;
mod batch;
mod config;
pub mod device;
mod dropout;
mod edges;
mod engine;
mod error;
mod isomorphism;
mod layout;
mod loss;
mod matrix;
mod network;
mod precision;
mod quotient;
mod space;
mod space_choice;
mod suffix;

pub mod compile;
pub mod equivariant;
pub mod import;
pub mod model;
pub mod multiset;
pub mod single;
pub mod weights;

pub use adam::{Adam, clip};
pub use average::Average;
pub use batch::Batch;
pub use config::{Activation, BlockConfig, Level, M3, M4, Norm, Pooling, PpgnConfig, Scale, SuffixKind};
pub use dropout::Dropout;
pub use error::{Error, Result};
pub use layout::{Array, Layout, Part};
pub use loss::{Evaluated, Loss, Terms};
pub use matrix::Matrix;
pub use model::Model;
pub use network::{Ppgn, Step};
pub use ppgn_kernels as kernels;
pub use ppgn_kernels::Workspace;
pub use ppgn_wl::{Interrupt, Options as ColouringOptions};
pub use precision::{Number, Precision, Values};
pub use quotient::{ColourParts, Colours, Cost, GraphColours, Places, Quotient, flops};
pub use space::{Dense, Group, Space};
pub use space_choice::SpaceChoice;
