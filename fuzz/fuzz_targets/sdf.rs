//! SDF: any, and QM9 with a NUL between the molecules and their targets.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ppgn_graph::format::Format;

fuzz_target!(|bytes: &[u8]| {
    ppgn_fuzz::read(Some(Format::Sdf), &["x.sdf"], bytes);
    ppgn_fuzz::read(Some(Format::Sdf), &["gdb9.sdf", "gdb9.sdf.csv"], bytes);
});
