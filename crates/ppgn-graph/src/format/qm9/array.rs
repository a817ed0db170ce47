//! One `.npy` array of an archive or folder, converted to the type that is needed.
//!
//! The crate npyz knows the format, but trusts the header, so it is checked here first. A header is a Python literal that
//! claims a type and a shape: it is refused if it is longer, deeper or has larger numbers than a plain array needs, it
//! never makes ppgn allocate memory, and the data must have exactly the length that it states.

use super::super::lines::read_failure;
use super::super::{Entry, Source};
use crate::error::{Defect, Result};
use npyz::{Deserialize, NpyFile, NpyHeader, Order};
use std::io::{self, BufReader, Read};

/// A plain array's header has about 120 bytes.
const LONGEST_HEADER: usize = 4096;
/// The maximum length of a string in an array, in bytes.
const LONGEST_STRING: usize = 1024;

/// An array whose header has been read.
pub(super) struct Array {
    /// The file name, for messages.
    pub(super) file: String,
    header: NpyHeader,
    reader: BufReader<Box<dyn Read + Send>>,
}

impl Array {
    pub(super) fn open(source: &Source, entry: &Entry) -> Result<Self> {
        let file = source.describe(entry);
        let mut reader = BufReader::with_capacity(1 << 17, source.reader(entry)?);
        let header = header(&mut reader).map_err(|e| match e {
            HeaderError::Read(e) => read_failure(&file, e),
            HeaderError::Wrong(message) => Defect::new(&*file, message),
        })?;
        if header.order() == Order::Fortran && header.shape().len() > 1 {
            let message = "in Fortran order; save the array with numpy.ascontiguousarray";
            return Err(Defect::new(file, message).into());
        }
        Ok(Array { file, header, reader })
    }

    /// A defect of the array.
    pub(super) fn defect(&self, message: impl Into<String>) -> Defect {
        Defect::new(&*self.file, message)
    }

    /// The number of rows, if the array has rows of `columns` numbers; 1 is for an array that has no rows.
    pub(super) fn rows(&self, columns: usize) -> Result<usize> {
        let shape = self.header.shape();
        let rows = match shape {
            [rows] if columns == 1 => Some(*rows),
            [rows, c] if *c == columns as u64 => Some(*rows),
            _ => None,
        };
        let rows = rows.and_then(|r| usize::try_from(r).ok());
        rows.ok_or_else(|| {
            let wanted = if columns == 1 { "(N,)".to_string() } else { format!("(N, {columns})") };
            let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
            let comma = if shape.len() == 1 { "," } else { "" };
            self.defect(format!("an array of shape ({}{comma}), but {wanted} is needed", shape.join(", ")))
                .into()
        })
    }

    /// All numbers of an array of integers. O(length).
    pub(super) fn integers(mut self) -> Result<Vec<i32>> {
        macro_rules! try_types {
            ($($type:ty)*) => {$(
                if let Some(values) = self.read(|x: $type| i32::try_from(x).ok())? {
                    return Ok(values);
                }
            )*};
        }
        try_types!(u8 i8 u16 i16 u32 i32 u64 i64);
        Err(self.wrong_type("integers").into())
    }

    /// All numbers of an array of reals or integers. O(length).
    pub(super) fn reals(mut self) -> Result<Vec<f64>> {
        macro_rules! try_types {
            ($($type:ty)*) => {$(
                if let Some(values) = self.read(|x: $type| Some(f64::from(x)))? {
                    return Ok(values);
                }
            )*};
        }
        try_types!(f32 f64 u8 i8 u16 i16 u32 i32);
        Err(self.wrong_type("floating-point numbers").into())
    }

    /// All strings of an array of strings. O(length).
    pub(super) fn strings(mut self) -> Result<Vec<String>> {
        let fits = self.header.dtype().num_bytes().is_some_and(|bytes| bytes <= LONGEST_STRING);
        match if fits { self.read(Some::<String>)? } else { None } {
            Some(values) => Ok(values),
            None => Err(self.wrong_type("short strings").into()),
        }
    }

    fn wrong_type(&self, wanted: &str) -> Defect {
        self.defect(format!("an array of type {}, but {wanted} are needed", self.header.dtype().descr()))
    }

    /// The values of the array, if it is of type `T`. `convert` gives `None` for a value that is out of range.
    fn read<T: Deserialize, U>(&mut self, convert: impl Fn(T) -> Option<U>) -> Result<Option<Vec<U>>> {
        let file = NpyFile::with_header(self.header.clone(), &mut self.reader);
        let Ok(items) = file.try_data::<T>() else { return Ok(None) };
        let mut values = Vec::new();
        for item in items {
            match item.map(&convert) {
                Ok(Some(value)) => values.push(value),
                Ok(None) => {
                    return Err(self
                        .defect(format!("number {} of the array is out of range", values.len()))
                        .into());
                }
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                    let message = format!(
                        "ends after {} of the {} numbers that its header announces",
                        values.len(),
                        self.header.len()
                    );
                    return Err(self.defect(message).into());
                }
                Err(e) => return Err(read_failure(&self.file, e).into()),
            }
        }
        // Reading to the end also has the archive's checksum compared.
        match self.reader.read(&mut [0]) {
            Ok(0) => Ok(Some(values)),
            Ok(_) => Err(self.defect("continues after the numbers that its header announces").into()),
            Err(e) => Err(read_failure(&self.file, e).into()),
        }
    }
}

enum HeaderError {
    Read(io::Error),
    Wrong(String),
}

/// Reads an array's header, of versions 1 to 3 of the format.
fn header(reader: &mut impl Read) -> Result<NpyHeader, HeaderError> {
    let wrong = |message: &str| HeaderError::Wrong(format!("not a NumPy array: {message}"));
    let cut = |e: io::Error| match e.kind() {
        io::ErrorKind::UnexpectedEof => wrong("it ends within its header"),
        _ => HeaderError::Read(e),
    };
    let mut bytes = vec![0; 10];
    reader.read_exact(&mut bytes).map_err(cut)?;
    if !bytes.starts_with(b"\x93NUMPY") {
        return Err(wrong("it does not begin as one"));
    }
    let mut length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    if bytes[6] > 1 {
        let mut rest = [0; 2];
        reader.read_exact(&mut rest).map_err(cut)?;
        length |= usize::from(u16::from_le_bytes(rest)) << 16;
        bytes.extend(rest);
    }
    if length > LONGEST_HEADER {
        return Err(wrong(&format!("a header of {length} bytes")));
    }
    let start = bytes.len();
    bytes.resize(start + length, 0);
    reader.read_exact(&mut bytes[start..]).map_err(cut)?;
    if !is_modest(&bytes[start..]) {
        return Err(wrong("its header is not that of a plain array"));
    }
    NpyHeader::from_reader(&bytes[..]).map_err(|e| wrong(&e.to_string()))
}

/// Whether a header is as simple as that of an array of at most two dimensions: the parser descends into brackets and
/// multiplies the numbers, so there must be few of the former and no overflow in the latter.
fn is_modest(text: &[u8]) -> bool {
    let brackets = text.iter().filter(|b| matches!(b, b'(' | b'[' | b'{')).count();
    let digits = text.iter().filter(|b| b.is_ascii_digit()).count();
    let exponents =
        text.windows(2).any(|w| w[0].is_ascii_digit() && matches!(w[1], b'x' | b'X' | b'e' | b'E' | b'_'));
    brackets <= 3 && digits <= 18 && !exponents
}
