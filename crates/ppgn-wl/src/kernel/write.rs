//! Features and Gram matrix as NumPy and SciPy read them: `scipy.sparse.load_npz` and `numpy.load`.
//!
//! Files appear complete or not at all, and the same numbers give the same bytes.

use super::{Gram, SparseRows};
use npyz::WriterBuilder;
use ppgn_graph::format::write_atomically;
use ppgn_graph::{Error, Result};
use std::io::{self, Seek, Write};
use std::path::Path;
use zip::write::{SimpleFileOptions, ZipWriter};

impl SparseRows {
    /// Writes the matrix as SciPy does: an `.npz` with `data`, `indices`, `indptr`, `shape` and `format`.
    ///
    /// ```python
    /// features = scipy.sparse.load_npz("features.npz")
    /// ```
    pub fn write_npz(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        write_atomically(path, |out| {
            let mut zip = ZipWriter::new(out);
            self.write_arrays(&mut zip).and_then(|()| Ok(zip.finish()?)).map_err(|e| Error::io(path, e))?;
            Ok(())
        })
    }

    fn write_arrays<W: Write + Seek>(&self, zip: &mut ZipWriter<W>) -> io::Result<()> {
        // Both index arrays have one type, and it is the narrow one wherever that will do, as in SciPy.
        let narrow = self.columns.max(self.values.len() as u64) <= i32::MAX as u64;
        for (name, index) in [("indices.npy", &self.indices), ("indptr.npy", &self.indptr)] {
            start(zip, name)?;
            match narrow {
                true => array(zip, "<i4", &[index.len()], index, |x| (x as i32).to_le_bytes())?,
                false => array(zip, "<i8", &[index.len()], index, |x| x.to_le_bytes())?,
            }
        }
        start(zip, "format.npy")?;
        array(zip, "|S3", &[], b"csr", |x| [x])?;
        start(zip, "shape.npy")?;
        array(zip, "<i8", &[2], &[self.indptr.len() as u64 - 1, self.columns], |x| x.to_le_bytes())?;
        start(zip, "data.npy")?;
        array(zip, "<i8", &[self.values.len()], &self.values, |x| x.to_le_bytes())
    }
}

impl Gram {
    /// Writes the matrix as an array of 64-bit integers: `.npy`, or `.npz` with the array `gram`.
    ///
    /// ```python
    /// gram = numpy.load("gram.npy")
    /// ```
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let ending = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        let shape = [self.graphs(), self.graphs()];
        let fill = |out: &mut dyn Write| array(out, "<i8", &shape, self.values(), |x| x.to_le_bytes());
        match ending.as_deref() {
            Some("npy") => write_atomically(path, |out| fill(out).map_err(|e| Error::io(path, e))),
            Some("npz") => write_atomically(path, |out| {
                let mut zip = ZipWriter::new(out);
                let filled = start(&mut zip, "gram.npy").and_then(|()| fill(&mut zip));
                filled.and_then(|()| Ok(zip.finish()?)).map_err(|e| Error::io(path, e))?;
                Ok(())
            }),
            _ => Err(Error::call(format!("`{}` must end in .npy or .npz", path.display()))),
        }
    }
}

/// Begins a file in an archive.
fn start<W: Write + Seek>(zip: &mut ZipWriter<W>, name: &str) -> io::Result<()> {
    // No clock: equal contents are equal files.
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .last_modified_time(zip::DateTime::default())
        .large_file(true);
    Ok(zip.start_file(name, options)?)
}

/// Writes an array of this type and shape, the values in chunks of bytes.
fn array<T: Copy, const N: usize>(
    out: &mut (impl Write + ?Sized),
    kind: &str,
    shape: &[usize],
    values: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> io::Result<()> {
    let shape: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
    let kind = npyz::DType::new_scalar(kind.parse().expect("a type of NumPy"));
    npyz::WriteOptions::new_header_only().dtype(kind).shape(&shape).writer(&mut *out).write_header_only()?;
    let mut buffer = Vec::with_capacity(N * values.len().min(1 << 13));
    for chunk in values.chunks(1 << 13) {
        buffer.clear();
        buffer.extend(chunk.iter().flat_map(|&x| bytes(x)));
        out.write_all(&buffer)?;
    }
    Ok(())
}
