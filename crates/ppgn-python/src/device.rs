//! `device=`: where networks are trained and run. A wheel without GPU support says so, and how to build one that has it.

use ppgn_nn::device::Accelerator;
use ppgn_train::{DeviceChoice, Error};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// The device of this name; nothing for the CPU.
pub(crate) fn device(name: &str) -> PyResult<Option<Arc<dyn Accelerator>>> {
    let chosen = name.parse::<DeviceChoice>().and_then(|choice| choice.among(0, gpus));
    chosen.map_err(|error| {
        let install = match error {
            Error::NoDevice { supported: false, .. } => {
                "; in a checkout, `MATURIN_PEP517_ARGS='--features wgpu' pip install .` installs one that has it"
            }
            _ => "",
        };
        PyValueError::new_err(format!("device={name:?}: {error}{install}"))
    })
}

/// The GPUs of this machine; nothing in a build that cannot use any.
fn gpus() -> Option<Vec<Arc<dyn Accelerator>>> {
    #[cfg(feature = "gpu")]
    return Some(ppgn_burn::devices().into_iter().map(|gpu| Arc::new(gpu) as Arc<dyn Accelerator>).collect());
    #[cfg(not(feature = "gpu"))]
    None
}
