//! Matrices of numbers: what losses take and networks return.

use crate::error::{Error, Result};
use crate::precision::{Precision, Values};

/// A row-major matrix in one of the two precisions.
///
/// ```
/// use ppgn_nn::{Matrix, Values};
/// let scores = Matrix::new(2, 3, Values::F32(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))?;
/// assert_eq!((scores.rows(), scores.columns(), scores.row(1)), (2, 3, vec![4.0, 5.0, 6.0]));
/// # Ok::<(), ppgn_nn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Values,
}

impl Matrix {
    /// A matrix of these numbers, row by row.
    pub fn new(rows: usize, columns: usize, values: Values) -> Result<Self> {
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(Error::call(format!(
                "a matrix of {rows} rows and {columns} columns cannot have {} numbers",
                values.len()
            )));
        }
        Ok(Matrix { rows, columns, values })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The numbers, row by row.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The numbers, row by row.
    pub fn into_values(self) -> Values {
        self.values
    }

    /// The numbers as `f64`, exactly.
    pub fn to_f64(&self) -> Vec<f64> {
        self.values.to_f64()
    }

    /// One row as `f64`.
    ///
    /// # Panics
    /// If the row is out of range.
    pub fn row(&self, row: usize) -> Vec<f64> {
        self.values.part(row * self.columns..(row + 1) * self.columns).to_f64()
    }

    /// Its precision.
    pub fn precision(&self) -> Precision {
        self.values.precision()
    }
}
