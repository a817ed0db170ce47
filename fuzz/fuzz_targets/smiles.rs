//! SMILES, one per line or in a table.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ppgn_graph::format::Format;

fuzz_target!(|bytes: &[u8]| ppgn_fuzz::read(Some(Format::Smiles), &["x.csv"], bytes));
