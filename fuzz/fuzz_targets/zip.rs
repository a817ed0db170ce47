//! Archives, and the telling of formats.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| ppgn_fuzz::read(None, &["x.zip"], bytes));
