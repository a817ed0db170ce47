//! Matrix products with what surrounds them in a network done on the way.
//!
//! Two forms are all that a network needs. [`rows`]: rows times a small matrix, `C = f(start + A B)`, with the bias or
//! the skip connection as the start and ReLU or its mask at the end, so that a row goes through memory once a layer.
//! [`outer`]: the gradient of such a matrix, `C += A^T B`, where the long side is summed over.
//!
//! The matrix B is packed once into panels as wide as the registers ([`Panels`]); A is read as it lies.

mod micro;
mod outer;
mod pack;
mod rows;

pub(crate) use outer::{Columns, Product, outer};
pub(crate) use pack::{Panels, View};
pub(crate) use rows::{End, Start, rows};
