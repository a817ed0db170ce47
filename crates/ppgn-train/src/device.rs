//! Where networks are trained and run: on the CPU, or on a GPU that is chosen by name.

use crate::error::{Error, Result};
use ppgn_nn::device::Accelerator;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A choice of a device: `cpu`, `gpu`, `gpu:1` or `auto`.
///
/// ```
/// use ppgn_train::DeviceChoice;
/// assert_eq!("gpu:1".parse::<DeviceChoice>()?, DeviceChoice::Gpu(1));
/// assert_eq!("gpu".parse::<DeviceChoice>()?.to_string(), "gpu:0");
/// assert!("tpu".parse::<DeviceChoice>().is_err());
/// # Ok::<(), ppgn_train::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// The CPU engine.
    #[default]
    Cpu,
    /// The GPU of this number, from 0.
    Gpu(usize),
    /// The first GPU that computes with hardware of its own; the CPU if there is none.
    Auto,
}

impl FromStr for DeviceChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "cpu" => Ok(DeviceChoice::Cpu),
            "gpu" => Ok(DeviceChoice::Gpu(0)),
            "auto" => Ok(DeviceChoice::Auto),
            _ => match text.strip_prefix("gpu:").and_then(|number| number.parse().ok()) {
                Some(number) => Ok(DeviceChoice::Gpu(number)),
                None => Err(Error::settings(format!(
                    "`{text}` is not a device; choose cpu, gpu, gpu:1 (the second one) or auto"
                ))),
            },
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::Gpu(number) => write!(f, "gpu:{number}"),
            DeviceChoice::Auto => f.write_str("auto"),
        }
    }
}

impl DeviceChoice {
    /// The device among the GPUs that a build can use; nothing for the CPU. `list` is called only if a GPU may be wanted; it
    /// gives nothing for a build without GPU support.
    ///
    /// # Errors
    /// [`Error::NoDevice`] where a GPU is wanted that is not there.
    pub fn among(
        self,
        list: impl FnOnce() -> Option<Vec<Arc<dyn Accelerator>>>,
    ) -> Result<Option<Arc<dyn Accelerator>>> {
        if self == DeviceChoice::Cpu {
            return Ok(None);
        }
        let found = list();
        match (self, found) {
            (DeviceChoice::Gpu(number), Some(found)) if number < found.len() => {
                Ok(found.into_iter().nth(number))
            }
            (DeviceChoice::Gpu(number), found) => Err(Error::NoDevice {
                number,
                supported: found.is_some(),
                found: found.iter().flatten().map(|device| device.name()).collect(),
            }),
            (_, found) => Ok(found.into_iter().flatten().find(|device| device.is_hardware())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_refused() {
        let none = || Some(Vec::new());
        assert!(DeviceChoice::Cpu.among(|| panic!("the CPU needs no list")).unwrap().is_none());
        assert!(DeviceChoice::Auto.among(none).unwrap().is_none());
        assert!(DeviceChoice::Auto.among(|| None).unwrap().is_none());
        let error = DeviceChoice::Gpu(0).among(none).unwrap_err();
        assert!(error.is_call() && error.to_string().contains("no GPU"), "{error}");
        let error = DeviceChoice::Gpu(1).among(|| None).unwrap_err();
        assert!(error.is_call() && error.to_string().contains("without GPU support"), "{error}");
    }
}
