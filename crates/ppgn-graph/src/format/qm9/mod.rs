//! placeholder
pub(crate) mod npz;
pub(crate) mod sdf;
