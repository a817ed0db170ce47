//! Matrix products, fused with the operations around them in a network.
//!
//! A network needs just two forms. [`rows`]: rows times a small matrix, `C = f(start + A B)`, with the bias or the skip
//! connection as the start and ReLU or its mask at the end, so that each layer reads and writes a row once. [`outer`]:
//! the gradient of such a matrix, `C += A^T B`, summed over the long side; [`short`] is the same for a narrow layer and a
//! few rows.
//!
//! The matrix B is packed once into panels as wide as the registers ([`Panels`]); A is read in place.

mod micro;
mod outer;
mod pack;
mod rows;
mod short;

pub(crate) use outer::{Columns, Product, outer};
pub(crate) use pack::{Panels, View};
pub(crate) use rows::{End, Start, rows};
pub(crate) use short::{ROWS, Target, short};
