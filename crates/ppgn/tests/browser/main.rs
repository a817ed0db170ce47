//! The local page in a real browser. A binary of its own: it is the only one that needs a browser, and CI times it.

mod devtools;
mod keyboard;
mod live;
mod pictures;
mod saved;
mod served;
mod speed;
mod views;
mod wl;
