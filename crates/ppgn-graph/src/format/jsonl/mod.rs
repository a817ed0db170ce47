//! ppgn's own format, JSON Lines: a header line with the schema and the format's version, then one graph per line.
//! It is lossless, readable and writable by hand, and both read and written as a stream.
//!
//! ```text
//! {"ppgn":1,"name":"two","graphs":2,"schema":{"directed":false,...},"classes":[0,1],...}
//! {"n":3,"id":"first","label":0,"edges":[[0,1],[1,2]],"node_labels":[6,6,8]}
//! {"n":1,"label":null,"edges":[],"node_labels":[7]}
//! ```
//!
//! `docs/formats.md` defines it. Here `header` is the first line, `graph` the others, `read` and `write` the file,
//! `labels` and `columns` the tables in it, `items` what is learned of nodes and pairs, and `explain` says what is wrong with a line.

mod columns;
mod explain;
mod graph;
mod header;
mod items;
mod labels;
mod read;
mod write;

use explain::explain;
pub(crate) use read::stream;
pub(crate) use write::write;

/// The version of the format: what `"ppgn"` is in the header.
const VERSION: u64 = 1;
