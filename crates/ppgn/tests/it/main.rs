//! The command line as a user meets it: every test runs the real binary.

mod bench;
mod compile;
mod data;
mod devices;
mod documents;
mod express;
mod express_tasks;
mod front;
mod integrity;
mod kills;
mod levels;
mod limits;
mod log;
mod molecules;
mod nothing_lost;
mod own_data;
#[cfg(target_os = "linux")]
mod power_cut;
mod predict;
mod protocol;
mod resume;
mod run;
mod runs;
mod splits;
mod threads;
mod train;
mod wl;
