//! Where networks are trained and run: on the CPU, or on a GPU, which is chosen by its number or by the rank that asks.

use crate::error::{Error, Result};
use ppgn_nn::device::Accelerator;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A choice of a device: `cpu`, `gpu`, `gpu:1` or `auto`.
///
/// ```
/// use ppgn_train::DeviceChoice;
/// assert_eq!("gpu:1".parse::<DeviceChoice>()?, DeviceChoice::Gpu(Some(1)));
/// assert_eq!("gpu".parse::<DeviceChoice>()?.to_string(), "gpu");
/// assert!("tpu".parse::<DeviceChoice>().is_err());
/// # Ok::<(), ppgn_train::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// The CPU engine.
    #[default]
    Cpu,
    /// The GPU of this number, from 0. Without a number, the first; each of several ranks on a machine takes the next one, and
    /// they begin again with the first where there are more ranks than GPUs. Software is taken only if there is nothing else.
    Gpu(Option<usize>),
    /// The same where there is a GPU that computes with hardware of its own, else the CPU.
    Auto,
}

impl FromStr for DeviceChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "cpu" => Ok(DeviceChoice::Cpu),
            "gpu" => Ok(DeviceChoice::Gpu(None)),
            "auto" => Ok(DeviceChoice::Auto),
            _ => match text.strip_prefix("gpu:").and_then(|number| number.parse().ok()) {
                Some(number) => Ok(DeviceChoice::Gpu(Some(number))),
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
            DeviceChoice::Gpu(None) => f.write_str("gpu"),
            DeviceChoice::Gpu(Some(number)) => write!(f, "gpu:{number}"),
            DeviceChoice::Auto => f.write_str("auto"),
        }
    }
}

impl DeviceChoice {
    /// The device among the GPUs that a build can use; nothing for the CPU. `place` is the number of the rank that asks
    /// [among those of its machine](crate::ranks::Ranks::place), 0 for a process that is alone. `list` is called only if a GPU
    /// may be wanted; it gives nothing for a build without GPU support.
    ///
    /// # Errors
    /// [`Error::NoDevice`] where a GPU is wanted that is not there.
    pub fn among(
        self,
        place: usize,
        list: impl FnOnce() -> Option<Vec<Arc<dyn Accelerator>>>,
    ) -> Result<Option<Arc<dyn Accelerator>>> {
        if self == DeviceChoice::Cpu {
            return Ok(None);
        }
        let list = list();
        let supported = list.is_some();
        let found = list.unwrap_or_default();
        let mut own: Vec<&Arc<dyn Accelerator>> =
            found.iter().filter(|device| device.is_hardware()).collect();
        if own.is_empty() && self == DeviceChoice::Gpu(None) {
            own = found.iter().collect();
        }
        let taken = match self {
            DeviceChoice::Gpu(Some(number)) => found.get(number),
            _ => own.into_iter().cycle().nth(place),
        };
        match (self, taken) {
            (_, Some(device)) => Ok(Some(device.clone())),
            (DeviceChoice::Gpu(number), None) => Err(Error::NoDevice {
                number: number.unwrap_or(0),
                supported,
                found: found.iter().map(|device| device.name()).collect(),
            }),
            (_, None) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_nn::device::OnDevice;
    use ppgn_nn::{Ppgn, PpgnConfig, Precision};

    /// A device with a name and nothing else.
    #[derive(Debug)]
    struct Named(&'static str);

    impl Accelerator for Named {
        fn name(&self) -> String {
            self.0.into()
        }

        fn is_hardware(&self) -> bool {
            self.0 != "software"
        }

        fn check(&self, _: &PpgnConfig, _: Precision, _: &[usize]) -> ppgn_nn::Result<()> {
            Ok(())
        }

        fn load(&self, _: &Ppgn) -> ppgn_nn::Result<Box<dyn OnDevice>> {
            Err(ppgn_nn::Error::Unfit("it has only a name".into()))
        }
    }

    /// The devices that the ranks at places 0 to 4 take of these.
    fn taken(choice: &str, there: &[&'static str]) -> Vec<String> {
        let list = || Some(there.iter().map(|&name| Arc::new(Named(name)) as Arc<dyn Accelerator>).collect());
        let choice: DeviceChoice = choice.parse().unwrap();
        let at = |place| choice.among(place, list).unwrap().map_or("cpu".into(), |device| device.name());
        (0..5).map(at).collect()
    }

    #[test]
    fn ranks_take_the_gpus_of_their_machine_in_turn() {
        let two = ["a", "software", "b"];
        for choice in ["gpu", "auto"] {
            assert_eq!(taken(choice, &two), ["a", "b", "a", "b", "a"], "{choice}");
            assert_eq!(taken(choice, &["a"]), ["a"; 5], "{choice}");
        }
        assert_eq!(taken("gpu:2", &two), ["b"; 5]);
        assert_eq!(taken("gpu:1", &two), ["software"; 5], "what is named is taken");
        assert_eq!(taken("gpu", &["software"]), ["software"; 5]);
        assert_eq!(taken("auto", &["software"]), ["cpu"; 5]);
        assert_eq!(taken("cpu", &two), ["cpu"; 5]);
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let none = || Some(Vec::new());
        assert!(DeviceChoice::Cpu.among(0, || panic!("the CPU needs no list")).unwrap().is_none());
        assert!(DeviceChoice::Auto.among(1, none).unwrap().is_none());
        assert!(DeviceChoice::Auto.among(0, || None).unwrap().is_none());
        for choice in [DeviceChoice::Gpu(None), DeviceChoice::Gpu(Some(0))] {
            let error = choice.among(1, none).unwrap_err();
            assert!(error.is_call() && error.to_string().contains("no GPU"), "{error}");
            let error = choice.among(1, || None).unwrap_err();
            assert!(error.is_call() && error.to_string().contains("without GPU support"), "{error}");
        }
    }

    #[test]
    fn names_are_read_and_written() {
        for name in ["cpu", "gpu", "gpu:0", "gpu:3", "auto"] {
            assert_eq!(name.parse::<DeviceChoice>().unwrap().to_string(), name);
        }
    }
}
