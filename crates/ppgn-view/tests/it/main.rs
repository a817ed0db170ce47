//! The interface over HTTP, as whoever is not a friend would use it.

mod fuzz;
mod http;
mod long;
mod outside;
mod safe;
