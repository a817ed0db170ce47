//! How graphs and their colours are drawn, on paper (`ppgn wl refine --svg`) and on the page: places for nodes, and fills for
//! colour numbers.

mod layout;
mod palette;

pub use layout::layout;
pub use palette::{Fill, Palette};
