//! Linear equivariant layers of any order, and the k-order networks built from them (Section 3.1; Maron et al. 2019).
//!
//! A layer from k-tensors to l-tensors has one basis operation per partition of its k + l indices ([`partitions`]);
//! each is a diagonal, a sum and a broadcast. [`EquivariantLinear`] is the layer, [`KOrder`] the network
//! `F = m . h . L_d . s ... s . L_1` of Theorem 1's architecture, for k = 2 and 3.

mod layer;
mod network;
mod operation;
mod partition;

pub use layer::{EquivariantConfig, EquivariantLinear};
pub use network::{KOrder, KOrderConfig};
pub use partition::{bell, partitions};
