//! TU Dortmund: the files of a dataset, NULs between them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ppgn_graph::format::Format;

fuzz_target!(|bytes: &[u8]| ppgn_fuzz::read(
    Some(Format::Tu),
    &[
        "x_A.txt",
        "x_graph_indicator.txt",
        "x_graph_labels.txt",
        "x_node_labels.txt",
        "x_node_attributes.txt",
        "x_edge_labels.txt",
        "x_edge_attributes.txt",
        "x_graph_attributes.txt",
    ],
    bytes
));
