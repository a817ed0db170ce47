//! Numbers and indices on their way to a device and back. Everything that crosses that border does so here.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use ppgn_nn::{Error, Precision, Result, Values};
use std::ops::Range;

/// What burn calls a precision.
pub(crate) fn dtype(precision: Precision) -> DType {
    match precision {
        Precision::F32 => DType::F32,
        Precision::F64 => DType::F64,
    }
}

/// Some of these numbers on a device, in their precision. There must be as many as the shape has.
pub(crate) fn upload<const D: usize>(
    values: &Values,
    range: Range<usize>,
    shape: [usize; D],
    device: &Device,
) -> Tensor<D> {
    let data = match values {
        Values::F32(numbers) => TensorData::new(numbers[range].to_vec(), shape),
        Values::F64(numbers) => TensorData::new(numbers[range].to_vec(), shape),
    };
    Tensor::from_data(data, (device, dtype(values.precision())))
}

/// The numbers of a tensor.
pub(crate) fn download<const D: usize>(tensor: Tensor<D>) -> Result<Values> {
    let failed = |reason: String| Error::Unfit(format!("the device did not return its numbers: {reason}"));
    let data = tensor.try_into_data().map_err(|error| failed(format!("{error:?}")))?;
    let numbers = match data.dtype() {
        DType::F64 => data.try_into_vec().map(Values::F64),
        _ => data.try_into_vec().map(Values::F32),
    };
    numbers.map_err(|error| failed(format!("{error:?}")))
}

/// Indices on a device.
pub(crate) fn indices(rows: impl IntoIterator<Item = usize>, device: &Device) -> Tensor<1, Int> {
    let rows: Vec<i64> = rows.into_iter().map(|row| row as i64).collect();
    Tensor::from_data(rows.as_slice(), device)
}
