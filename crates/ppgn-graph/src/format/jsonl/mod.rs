//! ppgn's own format, JSON Lines: a header line with the schema and the format's version, then one graph per line.
//! It is lossless, readable and writable by hand, and both read and written as a stream.
//!
//! ```text
//! {"ppgn":1,"name":"two","graphs":2,"schema":{"directed":false,...},"classes":[0,1],...}
//! {"n":3,"label":0,"edges":[[0,1],[1,2]],"node_labels":[6,6,8]}
//! {"n":1,"label":1,"edges":[],"node_labels":[7]}
//! ```
//!
//! `docs/formats.md` defines it. Here `header` is the first line, `graph` the others, `read` and `write` the file.

mod columns;
mod graph;
mod header;
mod read;
mod write;

pub(crate) use read::stream;
pub(crate) use write::write;

/// The version of the format: what `"ppgn"` is in the header.
const VERSION: u64 = 1;

/// What is wrong with the JSON of a line: serde's message with the column, cut to a length that can be shown.
fn explain(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "the line ends in the middle of a value: the file is cut short, or the line is broken in two"
            .into();
    }
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
    let mut shown: String = text.chars().take(300).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    match error.column() {
        0 => shown,
        column => format!("{shown} (column {column})"),
    }
}
