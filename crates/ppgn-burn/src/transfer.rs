//! Numbers and indices on their way to a device and back. Everything that crosses that border does so here, and is counted.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use ppgn_nn::{Error, Precision, Result, Values};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// What crossed the border between host and device, by what it was.
///
/// ```
/// let transfers = ppgn_burn::Transfers::default();
/// assert_eq!((transfers.uploads().count(), transfers.to_string()), (0, String::new()));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transfers {
    up: BTreeMap<&'static str, Moved>,
    down: BTreeMap<&'static str, Moved>,
}

/// How often something crossed the border, and how many bytes in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moved {
    /// Tensors.
    pub times: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Transfers {
    /// What went to the device.
    pub fn uploads(&self) -> impl Iterator<Item = (&'static str, Moved)> {
        self.up.iter().map(|(what, moved)| (*what, *moved))
    }

    /// What came back.
    pub fn downloads(&self) -> impl Iterator<Item = (&'static str, Moved)> {
        self.down.iter().map(|(what, moved)| (*what, *moved))
    }
}

/// One line per kind: direction, what, tensors, bytes.
impl fmt::Display for Transfers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines =
            self.uploads().map(|line| ("up", line)).chain(self.downloads().map(|line| ("down", line)));
        for (direction, (what, Moved { times, bytes })) in lines {
            writeln!(f, "{direction:<5} {what:<24} {times:>5} tensors {bytes:>10} bytes")?;
        }
        Ok(())
    }
}

/// The way to a device: where it is, the precision of its numbers, and what went there and back.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    device: Device,
    precision: Precision,
    seen: Arc<Mutex<Transfers>>,
}

impl Link {
    pub(crate) fn new(device: &Device, precision: Precision) -> Self {
        Link { device: device.clone().without_autodiff(), precision, seen: Arc::default() }
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn precision(&self) -> Precision {
        self.precision
    }

    /// What crossed the border since the last call.
    pub(crate) fn take(&self) -> Transfers {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn count(
        &self,
        what: &'static str,
        bytes: usize,
        of: impl FnOnce(&mut Transfers) -> &mut BTreeMap<&'static str, Moved>,
    ) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = of(&mut seen).entry(what).or_default();
        moved.times += 1;
        moved.bytes += bytes as u64;
    }

    /// These numbers on the device. There must be as many as the shape has, in the precision of the link.
    pub(crate) fn upload<const D: usize>(
        &self,
        what: &'static str,
        values: &Values,
        shape: [usize; D],
    ) -> Tensor<D> {
        let (data, bytes) = match values {
            Values::F32(numbers) => (TensorData::new(numbers.clone(), shape), size_of_val(&numbers[..])),
            Values::F64(numbers) => (TensorData::new(numbers.clone(), shape), size_of_val(&numbers[..])),
        };
        self.count(what, bytes, |seen| &mut seen.up);
        Tensor::from_data(data, (&self.device, dtype(values.precision())))
    }

    /// These numbers, rounded to the precision of the link.
    pub(crate) fn numbers<const D: usize>(
        &self,
        what: &'static str,
        numbers: &[f64],
        shape: [usize; D],
    ) -> Tensor<D> {
        self.upload(what, &Values::from_f64(self.precision, numbers), shape)
    }

    /// Indices on the device.
    pub(crate) fn indices(&self, rows: &[u32]) -> Tensor<1, Int> {
        self.count("indices", size_of_val(rows), |seen| &mut seen.up);
        let rows: Vec<i32> = rows.iter().map(|&row| row as i32).collect();
        Tensor::from_data(rows.as_slice(), &self.device)
    }

    /// The numbers of a tensor.
    pub(crate) fn download<const D: usize>(&self, what: &'static str, tensor: Tensor<D>) -> Result<Values> {
        let failed =
            |reason: String| Error::Unfit(format!("the device did not return its numbers: {reason}"));
        let data = tensor.try_into_data().map_err(|error| failed(format!("{error:?}")))?;
        let numbers = match data.dtype() {
            DType::F64 => data.try_into_vec().map(Values::F64),
            _ => data.try_into_vec().map(Values::F32),
        };
        let numbers = numbers.map_err(|error| failed(format!("{error:?}")))?;
        let size = if numbers.precision() == Precision::F64 { 8 } else { 4 };
        self.count(what, numbers.len() * size, |seen| &mut seen.down);
        Ok(numbers)
    }

    /// Zeros.
    pub(crate) fn zeros<const D: usize>(&self, shape: [usize; D]) -> Tensor<D> {
        Tensor::zeros(shape, (&self.device, dtype(self.precision)))
    }
}

/// What burn calls a precision.
pub(crate) fn dtype(precision: Precision) -> DType {
    match precision {
        Precision::F32 => DType::F32,
        Precision::F64 => DType::F64,
    }
}
