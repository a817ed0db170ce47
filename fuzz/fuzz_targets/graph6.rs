//! graph6, sparse6 and digraph6.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ppgn_graph::format::Format;

fuzz_target!(|bytes: &[u8]| ppgn_fuzz::read(Some(Format::Graph6), &["x.g6"], bytes));
