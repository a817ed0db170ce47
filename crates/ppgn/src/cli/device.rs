//! `--device`: where a command trains and predicts. A build without GPU support has the option too, and says how to get one that
//! can use GPUs.

use super::say;
use anyhow::Result;
use ppgn::nn::device::Accelerator;
use ppgn::train::ranks::Ranks;
use ppgn::train::{DeviceChoice, Session};
use std::sync::Arc;

/// `--device`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct DeviceArgs {
    /// Where to compute: cpu, gpu (with mpirun, the ranks of a machine take its GPUs in turn), gpu:N (number N of `ppgn
    /// devices`) or auto (gpu if there is one, else cpu) [default: cpu]
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceChoice>,
}

impl DeviceArgs {
    /// The session with the device of `--device`. What `gpu` and `auto` stand for is said, unless `quiet`; rank 0 speaks of its
    /// own.
    pub(crate) fn of(self, session: Session, quiet: bool) -> Result<Session> {
        let Some(choice) = self.device else { return Ok(session) };
        let device = choice.among(session.ranks().map_or(0, Ranks::place), gpus)?;
        match &device {
            Some(device) if !quiet => {
                let software = if device.is_hardware() { "" } else { ": software, which runs on the CPU" };
                let others = match (session.ranks(), choice) {
                    (None, _) => String::new(),
                    (Some(_), DeviceChoice::Gpu(Some(_))) => format!(" (rank 0; every rank takes {choice})"),
                    (Some(_), _) => " (rank 0; the ranks of a machine take its GPUs in turn)".into(),
                };
                say::note(&format!("computing on {}{software}{others}", device.name()));
            }
            None if !quiet && choice == DeviceChoice::Auto => {
                let why = if SUPPORTED { "there is no GPU" } else { "this build of ppgn has no GPU support" };
                say::note(&format!("computing on the CPU: {why}"));
            }
            _ => {}
        }
        Ok(session.with_device(device))
    }
}

/// Whether this build can use GPUs.
pub(crate) const SUPPORTED: bool = cfg!(feature = "gpu");

/// How to get a build that can.
pub(crate) const INSTALL: &str = "`cargo install --path crates/ppgn --features wgpu` installs one that has it (or cuda, or rocm): docs/gpu.md";

/// The GPUs of this machine; nothing in a build that cannot use any.
fn gpus() -> Option<Vec<Arc<dyn Accelerator>>> {
    #[cfg(feature = "gpu")]
    return Some(
        ppgn::burn::devices().into_iter().map(|gpu| Arc::new(gpu) as Arc<dyn Accelerator>).collect(),
    );
    #[cfg(not(feature = "gpu"))]
    None
}
