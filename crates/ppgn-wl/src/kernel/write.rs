//! Features and Gram matrix as files that SciPy and NumPy read: `scipy.sparse.load_npz` and `numpy.load`.

use super::{Gram, SparseRows};
use ppgn_graph::format::npy::{write_npy, write_npz};
use ppgn_graph::{Error, Result};
use std::path::Path;

impl SparseRows {
    /// Writes the matrix as SciPy does: an `.npz` with `data`, `indices`, `indptr`, `shape` and `format`.
    ///
    /// ```python
    /// features = scipy.sparse.load_npz("features.npz")
    /// ```
    pub fn write_npz(&self, path: impl AsRef<Path>) -> Result<()> {
        // Both index arrays have the same type, and it is the narrow one wherever that suffices, as in SciPy.
        let narrow = self.columns.max(self.values.len() as u64) <= i32::MAX as u64;
        write_npz(path.as_ref(), |npz| {
            for (name, index) in [("indices", &self.indices), ("indptr", &self.indptr)] {
                let shape = [index.len()];
                match narrow {
                    true => npz.array(name, &shape, index.iter().map(|&x| x as i32))?,
                    false => npz.array(name, &shape, index.iter().map(|&x| x as i64))?,
                }
            }
            npz.array("format", &[], [*b"csr"])?;
            npz.array("shape", &[2], [self.indptr.len() as i64 - 1, self.columns as i64])?;
            npz.array("data", &[self.values.len()], self.values.iter().map(|&x| x as i64))
        })
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
        let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        let shape = [self.graphs(), self.graphs()];
        // `SubtreeKernel::gram` has checked that the values fit 63 bits.
        let values = self.values().iter().map(|&x| x as i64);
        match extension.as_deref() {
            Some("npy") => write_npy(path, &shape, values),
            Some("npz") => write_npz(path, |npz| npz.array("gram", &shape, values)),
            _ => Err(Error::call(format!("`{}` must end in .npy or .npz", path.display()))),
        }
    }
}
