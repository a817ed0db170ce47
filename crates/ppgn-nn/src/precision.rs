//! Numbers in one of two precisions, as plain vectors.
//!
//! A run uses f32 or f64 throughout, chosen at run time. [`Values`] is a vector of either type, and [`Number`] is the
//! trait of the two types for generic code.

use crate::error::{Error, Result};
use crate::weights::chunks;
use ppgn_graph::Float;
use serde::{Deserialize, Serialize};

/// The precision of a network, its batches and its optimiser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32 bits, the default.
    #[default]
    F32,
    /// 64 bits.
    F64,
}

impl Precision {
    /// The bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            Precision::F32 => size_of::<f32>(),
            Precision::F64 => size_of::<f64>(),
        }
    }

    /// Its name in settings: `f32` or `f64`.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        }
    }
}

impl std::str::FromStr for Precision {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "f32" => Ok(Precision::F32),
            "f64" => Ok(Precision::F64),
            _ => Err(Error::call(format!("`{name}` is not a precision; choose f32 or f64"))),
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`.
pub trait Number: Float + ppgn_kernels::Real + sealed::Sealed {
    /// Its precision.
    const PRECISION: Precision;

    /// Wraps a vector.
    fn values(numbers: Vec<Self>) -> Values;

    /// The numbers, if the values are of this type.
    fn slice(values: &Values) -> Option<&[Self]>;

    /// The vector, if the values are of this type.
    fn vector(values: Values) -> Option<Vec<Self>>;
}

macro_rules! number {
    ($real:ty, $kind:ident) => {
        impl Number for $real {
            const PRECISION: Precision = Precision::$kind;

            fn values(numbers: Vec<Self>) -> Values {
                Values::$kind(numbers)
            }

            fn slice(values: &Values) -> Option<&[Self]> {
                match values {
                    Values::$kind(numbers) => Some(numbers),
                    _ => None,
                }
            }

            fn vector(values: Values) -> Option<Vec<Self>> {
                match values {
                    Values::$kind(numbers) => Some(numbers),
                    _ => None,
                }
            }
        }
    };
}
number!(f32, F32);
number!(f64, F64);

/// A vector of numbers in one of the two precisions.
///
/// ```
/// use ppgn_nn::{Precision, Values};
/// let v = Values::zeros(Precision::F64, 3);
/// assert_eq!((v.len(), v.precision(), v.to_f64()), (3, Precision::F64, vec![0.0; 3]));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// In 32 bits.
    F32(Vec<f32>),
    /// In 64 bits.
    F64(Vec<f64>),
}

/// Evaluates the same expression for either type of vector.
macro_rules! each {
    ($values:expr, $v:ident => $body:expr) => {
        match $values {
            $crate::precision::Values::F32($v) => $body,
            $crate::precision::Values::F64($v) => $body,
        }
    };
}
pub(crate) use each;

impl Values {
    /// `length` zeros.
    pub fn zeros(precision: Precision, length: usize) -> Self {
        match precision {
            Precision::F32 => Values::F32(vec![0.0; length]),
            Precision::F64 => Values::F64(vec![0.0; length]),
        }
    }

    /// These numbers, rounded to the precision.
    pub fn from_f64(precision: Precision, numbers: &[f64]) -> Self {
        match precision {
            Precision::F32 => Values::F32(numbers.iter().map(|&x| x as f32).collect()),
            Precision::F64 => Values::F64(numbers.to_vec()),
        }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        each!(self, v => v.len())
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their precision.
    pub fn precision(&self) -> Precision {
        match self {
            Values::F32(_) => Precision::F32,
            Values::F64(_) => Precision::F64,
        }
    }

    /// The numbers as `f64`, exactly.
    pub fn to_f64(&self) -> Vec<f64> {
        match self {
            Values::F32(v) => v.iter().map(|&x| f64::from(x)).collect(),
            Values::F64(v) => v.clone(),
        }
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        each!(self, v => ppgn_kernels::finite(v))
    }

    /// Adds other numbers, one to one.
    ///
    /// ```
    /// use ppgn_nn::Values;
    /// let mut sum = Values::F32(vec![1.0, 2.0]);
    /// sum.add(&Values::F32(vec![0.5, 0.5]));
    /// assert_eq!(sum, Values::F32(vec![1.5, 2.5]));
    /// ```
    ///
    /// # Panics
    /// If the others have another precision or length.
    pub fn add(&mut self, others: &Values) {
        match (self, others) {
            (Values::F32(sum), Values::F32(others)) => ppgn_kernels::add_each(sum, others),
            (Values::F64(sum), Values::F64(others)) => ppgn_kernels::add_each(sum, others),
            _ => panic!("numbers of two precisions cannot be added"),
        }
    }

    /// Appends the numbers as bytes, little-endian.
    ///
    /// ```
    /// use ppgn_nn::{Precision, Values};
    /// let numbers = Values::F64(vec![1.5, -0.0]);
    /// let mut bytes = Vec::new();
    /// numbers.write(&mut bytes);
    /// assert_eq!(bytes.len(), 16);
    /// assert_eq!(Values::read(Precision::F64, &bytes), Some(numbers));
    /// assert_eq!(Values::read(Precision::F64, &bytes[1..]), None);
    /// ```
    pub fn write(&self, to: &mut Vec<u8>) {
        // Into chunks of constant length, which a compiler makes one copy.
        let start = to.len();
        to.resize(start + self.bytes(), 0);
        each!(self, v => {
            let (chunks, _) = to[start..].as_chunks_mut();
            chunks.iter_mut().zip(v).for_each(|(chunk, x)| *chunk = x.to_le_bytes());
        });
    }

    /// The numbers of these bytes, little-endian; nothing where the last one is cut off.
    pub fn read(precision: Precision, bytes: &[u8]) -> Option<Self> {
        let whole = bytes.len().is_multiple_of(precision.bytes());
        whole.then(|| match precision {
            Precision::F32 => Values::F32(chunks(bytes, f32::from_le_bytes)),
            Precision::F64 => Values::F64(chunks(bytes, f64::from_le_bytes)),
        })
    }

    /// The number of bytes that they take [written](Values::write).
    pub fn bytes(&self) -> usize {
        self.len() * self.precision().bytes()
    }

    /// Adds, number by number, others that were [written](Values::write) as bytes.
    ///
    /// ```
    /// use ppgn_nn::Values;
    /// let (mut sum, mut bytes) = (Values::F32(vec![1.0, 2.0]), Vec::new());
    /// Values::F32(vec![0.5, 0.25]).write(&mut bytes);
    /// sum.add_written(&bytes);
    /// assert_eq!(sum, Values::F32(vec![1.5, 2.25]));
    /// ```
    ///
    /// # Panics
    /// If there are more or fewer bytes.
    pub fn add_written(&mut self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.bytes(), "numbers of another length cannot be added");
        match self {
            Values::F32(sum) => {
                sum.iter_mut().zip(bytes.as_chunks().0).for_each(|(x, y)| *x += f32::from_le_bytes(*y))
            }
            Values::F64(sum) => {
                sum.iter_mut().zip(bytes.as_chunks().0).for_each(|(x, y)| *x += f64::from_le_bytes(*y))
            }
        }
    }

    /// Copies `from` to the positions starting at `start`.
    ///
    /// # Panics
    /// If they do not fit, or are of another precision.
    pub fn put(&mut self, start: usize, from: &Values) {
        match (self, from) {
            (Values::F32(to), Values::F32(from)) => to[start..start + from.len()].copy_from_slice(from),
            (Values::F64(to), Values::F64(from)) => to[start..start + from.len()].copy_from_slice(from),
            _ => panic!("numbers of another precision cannot be copied"),
        }
    }

    /// A range of the numbers.
    ///
    /// # Panics
    /// If it goes beyond them.
    pub fn part(&self, range: std::ops::Range<usize>) -> Values {
        match self {
            Values::F32(v) => Values::F32(v[range].to_vec()),
            Values::F64(v) => Values::F64(v[range].to_vec()),
        }
    }
}
