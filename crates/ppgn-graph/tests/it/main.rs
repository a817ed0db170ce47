//! The crate as its users see it: files in, datasets out.

mod graph6;
mod jsonl;
mod random_datasets;
mod stream_fuzz;
mod stream_memory;
