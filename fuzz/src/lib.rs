//! What the fuzz targets share: put bytes where a reader finds them, and read them. A target fails if the reader
//! panics, hangs or takes more memory than the bytes pay for; what it says of them does not matter.

use ppgn_graph::format::{Format, Limits, ReadOptions, Report, check};

/// Checks a dataset of several files: the bytes between NULs are the contents of `names`, in order. One name is one
/// file with all the bytes.
pub fn read(format: Option<Format>, names: &[&str], bytes: &[u8]) {
    read_with(format, names, None, bytes);
}

/// The same with one of these files as the table of labels.
pub fn read_with(format: Option<Format>, names: &[&str], labels: Option<&str>, bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut parts = bytes.splitn(names.len(), |&b| b == 0 && names.len() > 1);
    for (name, part) in names.iter().zip(&mut parts) {
        std::fs::write(folder.path().join(name), part).expect("a temporary file");
    }
    let path = folder.path().join(names[0]);
    let limits = Limits { max_nodes: 1 << 16, max_unpacked: 1 << 24, ..Limits::default() };
    let labels = labels.map(|name| folder.path().join(name));
    let options = ReadOptions { format, limits, labels, ..ReadOptions::default() };
    let _ = check(path, &options, &mut Report::collecting());
}
