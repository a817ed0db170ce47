//! Tables of labels, beside JSON Lines: the bytes before the first NUL are the graphs, those after it the table.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ppgn_graph::format::Format;

fuzz_target!(|bytes: &[u8]| {
    ppgn_fuzz::read_with(Some(Format::Jsonl), &["x.jsonl", "labels.csv"], Some("labels.csv"), bytes)
});
