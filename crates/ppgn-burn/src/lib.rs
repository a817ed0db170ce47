//! Provably powerful graph networks composed of [burn](https://burn.dev)'s operations.
//!
//! `ppgn-nn` computes a network with kernels of its own, for the CPU alone. [`Composed`] is the same network as a composition
//! of operations that burn has on every device it knows, gradients by burn's automatic differentiation: the path to GPUs.
//! Both read the same [description](ppgn_nn::model::Description) of a block, and the tests of this crate hold one against the
//! other.
//!
//! Files follow the network: [`network`](Composed) is the whole, `block` a block, `mlp`, `product`, `messages` and `equivariant`
//! its branches, `pool` and `suffix` what comes after. `space` is what a batch needs on the device, uploaded once per
//! batch; `meeting` lays rows out as matrices of few sizes, `gather` picks them and adds them up. No operation is launched per
//! graph. `trainer` keeps weights, optimiser and data on a device from step to step; [`devices`] lists the GPUs of this machine.
//!
//! The device is always named by the caller; the variable `BURN_DEVICE`, which burn's `Device::default()` obeys, has no say.
//!
//! ```
//! use ppgn_burn::{Composed, Device};
//! use ppgn_nn::{Batch, BlockConfig, Loss, PpgnConfig, Precision};
//!
//! let config = PpgnConfig { blocks: vec![BlockConfig::new(8); 2], ..PpgnConfig::new(1, 2) };
//! let network = config.init(1, Precision::F64)?;
//! let (edge, none) = ([0.0, 1.0, 1.0, 0.0], [0.0; 4]);                    // two nodes with an edge, and without
//! let batch = Batch::dense(1, &[(2, &edge[..]), (2, &none[..])])?;
//!
//! let composed = Composed::new(&network, &Device::flex())?;
//! let step = composed.backward(&batch, |scores| Loss::cross_entropy(&[1, 0]).of(scores))?;
//! let kernels = network.backward(&batch, |scores| Loss::cross_entropy(&[1, 0]).of(scores))?;
//! assert!((step.loss - kernels.loss).abs() < 1e-12);
//! # Ok::<(), ppgn_nn::Error>(())
//! ```

mod block;
mod devices;
mod equivariant;
mod gather;
mod linear;
mod local;
mod meeting;
mod messages;
mod mlp;
mod network;
pub mod parity;
mod pool;
mod product;
mod space;
mod suffix;
mod trainer;
mod transfer;

pub use burn::tensor::Device;
pub use devices::{Gpu, apis, devices};
pub use network::Composed;
pub use transfer::{Moved, Transfers};
