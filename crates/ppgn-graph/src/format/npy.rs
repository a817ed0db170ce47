//! Writing NumPy arrays: a `.npy` file, or an `.npz` archive of several. The embeddings and the WL kernel are written
//! here. Files appear complete or not at all, and equal numbers give equal bytes, because no time stamp is stored.

use crate::error::{Error, Result};
use crate::file::write_atomically;
use npyz::WriterBuilder;
use std::io::{self, Seek, Write};
use std::path::Path;
use zip::write::{SimpleFileOptions, ZipWriter};

/// A type that arrays can hold: `i32`, `i64`, `f32`, `f64`, and byte strings of a fixed length.
pub trait Element: Copy + sealed::Sealed {
    /// NumPy's name of the type, such as `<f4`.
    fn dtype() -> String;

    /// Appends the bytes of a value, little-endian.
    fn put(self, bytes: &mut Vec<u8>);
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($type:ty: $name:literal),*) => {$(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            fn dtype() -> String {
                $name.into()
            }

            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
        }
    )*};
}

elements!(i32: "<i4", i64: "<i8", f32: "<f4", f64: "<f8");

impl<const N: usize> sealed::Sealed for [u8; N] {}
impl<const N: usize> Element for [u8; N] {
    fn dtype() -> String {
        format!("|S{N}")
    }

    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend(self);
    }
}

/// An `.npz` archive that is being written: see [`write_npz`].
pub struct Archive<W: Write + Seek>(ZipWriter<W>);

impl<W: Write + Seek> Archive<W> {
    /// Adds the array `name`. The number of `values` must be that of `shape`; a shape without axes is a single value.
    pub fn array<T: Element>(
        &mut self,
        name: &str,
        shape: &[usize],
        values: impl IntoIterator<Item = T>,
    ) -> io::Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .last_modified_time(zip::DateTime::default())
            .large_file(true);
        self.0.start_file(format!("{name}.npy"), options)?;
        write_array(&mut self.0, shape, values)
    }
}

/// Writes an `.npz` archive of the arrays that `fill` adds.
///
/// ```
/// use ppgn_graph::format::npy::write_npz;
/// let path = std::env::temp_dir().join(format!("ppgn-doc-{}.npz", std::process::id()));
/// write_npz(&path, |npz| npz.array("x", &[2, 2], [1.0f32, 2.0, 3.0, 4.0]))?;   // numpy.load(path)["x"]
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn write_npz<F>(path: &Path, fill: F) -> Result<()>
where
    F: FnOnce(&mut Archive<&mut io::BufWriter<&mut std::fs::File>>) -> io::Result<()>,
{
    write_atomically(path, |out| {
        let mut archive = Archive(ZipWriter::new(out));
        fill(&mut archive).and_then(|()| Ok(archive.0.finish()?)).map_err(|e| Error::io(path, e))?;
        Ok(())
    })
}

/// Writes a `.npy` file with one array.
pub fn write_npy<T: Element>(
    path: &Path,
    shape: &[usize],
    values: impl IntoIterator<Item = T>,
) -> Result<()> {
    write_atomically(path, |out| write_array(out, shape, values).map_err(|e| Error::io(path, e)))
}

fn write_array<T: Element>(
    out: &mut impl Write,
    shape: &[usize],
    values: impl IntoIterator<Item = T>,
) -> io::Result<()> {
    let axes: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
    let dtype = npyz::DType::new_scalar(T::dtype().parse().map_err(io::Error::other)?);
    npyz::WriteOptions::new_header_only().dtype(dtype).shape(&axes).writer(&mut *out).write_header_only()?;
    let mut bytes = Vec::with_capacity(1 << 16);
    let mut count = 0usize;
    for value in values {
        value.put(&mut bytes);
        count += 1;
        if bytes.len() >= 1 << 16 {
            out.write_all(&bytes)?;
            bytes.clear();
        }
    }
    out.write_all(&bytes)?;
    match count == shape.iter().product::<usize>() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{count} values for an array of shape {shape:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_have_the_type_and_shape_of_their_values() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        write_npy(&path, &[2, 3], [1i32, 2, 3, 4, 5, 6]).unwrap();
        let file = npyz::NpyFile::new(std::fs::File::open(&path).unwrap()).unwrap();
        assert_eq!((file.shape(), file.dtype().descr().as_str()), (&[2, 3][..], "'<i4'"));
        assert_eq!(file.into_vec::<i32>().unwrap(), [1, 2, 3, 4, 5, 6]);
        let path = folder.path().join("x.npz");
        let write = || {
            write_npz(&path, |npz| {
                npz.array("format", &[], [*b"csr"])?;
                npz.array("long", &[100_000], (0..100_000).map(f64::from))
            })
        };
        write().unwrap();
        let first = std::fs::read(&path).unwrap();
        write().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), first, "equal numbers are equal bytes");
    }

    #[test]
    fn an_array_with_too_few_values_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_npy(&folder.path().join("x.npy"), &[3], [1i64, 2]).unwrap_err();
        assert!(error.to_string().contains("2 values for an array of shape [3]"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
