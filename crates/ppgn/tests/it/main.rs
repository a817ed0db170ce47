//! The command line as a user meets it: every test runs the real binary.

mod data;
mod protocol;
mod run;
mod wl;
