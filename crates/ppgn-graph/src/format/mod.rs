//! Reading and writing datasets in the formats of the field.
//!
//! | format | read from | one file here |
//! | --- | --- | --- |
//! | `text` | the format of the paper's data, with its `10fold_idx` | `text` |
//! | `tu` | TU Dortmund's `NAME_A.txt` ... | `tu` |
//! | `graph6` | graph6, sparse6 and digraph6, one graph per line | `graph6` |
//! | `sdf` | molecules, SDF V2000 and V3000 with data tags; QM9 with its CSV of targets | `sdf`, `qm9::sdf` |
//! | `smiles` | molecules, a CSV with a column of SMILES, or one SMILES per line | `smiles` |
//! | `npz` | QM9 as NumPy arrays | `qm9::npz` |
//! | `edges` | an edge list `u v [label]`, plain or CSV; a folder of them | `edges` |
//! | `graphml` | GraphML | `graphml` |
//! | `gml` | GML | `gml` |
//! | `json` | node-link JSON | `nodelink` |
//! | `jsonl` | ppgn's own JSON Lines, lossless | `jsonl` |
//!
//! [`read`] does everything: it opens a file, folder or zip ([`source`]), detects the format from the extension and then
//! from the content ([`detect`]), and reads strictly. [`check`] reads the same way but collects all defects. [`open`] gives a
//! stream for data larger than memory, and [`write()`] takes one.

mod attributes;
mod budget;
mod collect;
mod columns;
pub(crate) mod csv;
mod detect;
mod edges;
mod gml;
pub mod graph6;
mod graphml;
mod item_labels;
mod jsonl;
mod labels;
pub mod lines;
pub(crate) mod molecules;
mod nodelink;
mod nodes;
pub mod npy;
mod python;
pub mod qm9;
mod report;
mod sdf;
mod smiles;
pub mod source;
mod stream;
mod text;
mod tu;
mod xml;

use budget::Meter;
pub use detect::detect;
pub use report::Report;
pub use smiles::molecule;
pub use source::{Entry, Limits, Source};

use crate::dataset::{Dataset, Header, Provenance, Record};
use crate::error::{Defect, Error, Result};
use crate::graph::Merged;
use std::path::{Path, PathBuf};

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// The text format of the paper's data.
    Text,
    /// TU Dortmund.
    Tu,
    /// graph6, sparse6 and digraph6.
    Graph6,
    /// Molecules as an SDF file.
    Sdf,
    /// Molecules as SMILES.
    Smiles,
    /// QM9 as NumPy arrays.
    Npz,
    /// Edge lists, one graph per file.
    Edges,
    /// GraphML.
    GraphMl,
    /// GML.
    Gml,
    /// Node-link JSON.
    NodeLink,
    /// ppgn's JSON Lines.
    Jsonl,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 11] = [
        Format::Text,
        Format::Tu,
        Format::Graph6,
        Format::Sdf,
        Format::Smiles,
        Format::Npz,
        Format::Edges,
        Format::GraphMl,
        Format::Gml,
        Format::NodeLink,
        Format::Jsonl,
    ];

    /// Its name, as in `--format tu`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Tu => "tu",
            Format::Graph6 => "graph6",
            Format::Sdf => "sdf",
            Format::Smiles => "smiles",
            Format::Npz => "npz",
            Format::Edges => "edges",
            Format::GraphMl => "graphml",
            Format::Gml => "gml",
            Format::NodeLink => "json",
            Format::Jsonl => "jsonl",
        }
    }

    /// A one-line description.
    pub fn about(self) -> &'static str {
        match self {
            Format::Text => "the text format of the paper's data, with its 10fold_idx (NAME.txt)",
            Format::Tu => "TU Dortmund (NAME_A.txt, NAME_graph_indicator.txt ...)",
            Format::Graph6 => "graph6, sparse6 and digraph6, one graph per line (.g6 .s6 .d6)",
            Format::Sdf => "molecules, SDF V2000 or V3000 with data tags; QM9 with its CSV of targets (.sdf)",
            Format::Smiles => {
                "molecules, a table with a column `smiles` and targets, or one SMILES per line (.csv .smi)"
            }
            Format::Npz => "QM9 as NumPy arrays (.npz)",
            Format::Edges => {
                "edge lists, lines `u v [label]`, plain or CSV, one graph per file (.edges .el .csv .tsv .txt)"
            }
            Format::GraphMl => "GraphML, as NetworkX, igraph and yEd write it (.graphml)",
            Format::Gml => "GML, as NetworkX and igraph write it (.gml)",
            Format::NodeLink => "node-link JSON, as networkx.node_link_data gives it (.json)",
            Format::Jsonl => "ppgn's own JSON Lines, lossless (.jsonl)",
        }
    }
}

impl std::str::FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Format::ALL.into_iter().find(|f| f.name() == name).ok_or_else(|| {
            let names: Vec<_> = Format::ALL.iter().map(|f| f.name()).collect();
            Error::call(format!("`{name}` is not a format; there are {}", names.join(", ")))
        })
    }
}

/// How to read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// The format, where it should not be detected from the extension and the content.
    pub format: Option<Format>,
    /// Limits on what reading may cost.
    pub limits: Limits,
    /// Whether the edges of an edge list have a direction; other formats say it themselves.
    pub directed: bool,
    /// The column or data tag that holds the classes, for formats with a table of what is to be learned.
    pub class: Option<String>,
    /// A table of what is to be learned: a CSV with one row per graph, by id, file name or position.
    pub labels: Option<PathBuf>,
}

/// A dataset as a stream: the header, then the graphs.
pub struct Records<'a> {
    /// Everything but the graphs.
    pub header: Header,
    /// The graphs in order. An error ends the stream.
    pub records: Box<dyn Iterator<Item = Result<Record>> + 'a>,
}

impl Records<'_> {
    /// A dataset in memory as a stream.
    pub fn of(dataset: &Dataset) -> Records<'_> {
        Records { header: dataset.header().clone(), records: Box::new(dataset.records().map(Ok)) }
    }

    /// The stream collected.
    pub fn collect(self) -> Result<Dataset> {
        Dataset::collect(self.header, self.records)
    }
}

/// Reads the dataset at `path`: a file, a folder, or a zip archive of either.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Dataset> {
    let mut report = Report::strict();
    match load(path, options, &mut report)? {
        Loaded::Whole(dataset) => Ok(dataset),
        Loaded::Stream(Records { header, records }, mut meter) => {
            let metered = records.map(|record| record.and_then(|r| meter.record(&r).map(|()| r)));
            Dataset::collect(header, metered)
        }
    }
}

/// Reads everything at `path` and collects its defects. An error means that reading could not continue.
pub fn check(path: impl AsRef<Path>, options: &ReadOptions, report: &mut Report) -> Result<()> {
    let path = path.as_ref();
    let found = report.count();
    let result = load(path, options, report).and_then(|loaded| match loaded {
        Loaded::Whole(_) => Ok(()),
        Loaded::Stream(mut records, _) => records.records.try_for_each(|record| record.map(drop)),
    });
    match result {
        Ok(()) => Ok(()),
        Err(Error::Defect(defect)) => report.defect(defect),
        // What does not fit together after defects were skipped is their consequence, not another defect.
        Err(Error::Unfit(_)) if report.count() > found => Ok(()),
        Err(Error::Unfit(message)) => report.defect(Defect::new(path.display().to_string(), message)),
        Err(error) => Err(error),
    }
}

/// Opens the dataset at `path` as a stream. JSON Lines and graph6 are read graph by graph, in memory of one graph;
/// the other formats spread a graph over their files, and are loaded first.
pub fn open<'a>(
    path: impl AsRef<Path>,
    options: &ReadOptions,
    report: &'a mut Report,
) -> Result<Records<'a>> {
    match load(path, options, report)? {
        Loaded::Stream(records, _) => Ok(records),
        Loaded::Whole(dataset) => {
            let header = dataset.header().clone();
            let records = (0..dataset.len()).map(move |i| Ok(dataset.record(i)));
            Ok(Records { header, records: Box::new(records) })
        }
    }
}

/// What a reader returns: a dataset that was loaded whole is not taken apart only to be collected again.
#[allow(clippy::large_enum_variant, reason = "there is one of it at a time")]
enum Loaded<'a> {
    Whole(Dataset),
    Stream(Records<'a>, Meter),
}

fn load<'a>(path: impl AsRef<Path>, options: &ReadOptions, report: &'a mut Report) -> Result<Loaded<'a>> {
    let source = Source::open(path, options.limits)?;
    let (format, source, entries) = detect(source, options.format)?;
    let entry = entries[0].clone();
    let dataset = match format {
        Format::Jsonl | Format::Graph6 => {
            let meter = source.meter();
            let records = match format {
                Format::Jsonl => jsonl::stream(source, entry, report)?,
                _ => graph6::stream(source, entry, report)?,
            };
            if options.labels.is_none() {
                return Ok(Loaded::Stream(records, meter));
            }
            // What is learned of a graph may be in any row.
            let mut meter = meter;
            let Records { header, records } = records;
            let metered = records.map(|record| record.and_then(|r| meter.record(&r).map(|()| r)));
            Dataset::collect(header, metered)?
        }
        Format::Text => text::read(&source, &entry, report)?,
        Format::Tu => tu::read(&source, &entry, report)?,
        Format::Sdf if qm9::sdf::is_qm9(&entry) => qm9::sdf::read(&source, &entry, report)?,
        Format::Sdf => sdf::read(&source, &entry, options, report)?,
        Format::Smiles => smiles::read(&source, &entry, options, report)?,
        Format::Npz => qm9::npz::read(&source, report)?,
        Format::Edges => edges::read(&source, &entries, options.directed, report)?,
        Format::GraphMl | Format::Gml | Format::NodeLink => {
            let read = match format {
                Format::GraphMl => graphml::read,
                Format::Gml => gml::read,
                _ => nodelink::read,
            };
            collect::collect(&source, &entries, format, report, |entry, report| read(&source, entry, report))?
        }
    };
    Ok(Loaded::Whole(with_labels(dataset, options)?))
}

/// The dataset with the table of [`ReadOptions::labels`], where there is one.
pub(crate) fn with_labels(dataset: Dataset, options: &ReadOptions) -> Result<Dataset> {
    match &options.labels {
        Some(path) => labels::apply(&dataset, path, options.class.as_deref(), options.limits),
        None => Ok(dataset),
    }
}

/// Where a dataset came from, with the reader's notes.
fn provenance(source: &Source, format: Format, report: &Report) -> Provenance {
    Provenance {
        source: source.path().display().to_string(),
        format: format.name().to_string(),
        notes: report.notes().to_vec(),
    }
}

/// Notes edges that were given more than once.
fn note_merged(merged: Merged, report: &mut Report) {
    if merged.duplicates > 0 {
        report.note(format!("{} edges were given more than once and merged", merged.duplicates));
    }
    if merged.conflicts > 0 {
        let count = merged.conflicts;
        report.note(format!("{count} of them had different labels or attributes; the first was kept"));
    }
}

/// Stops a reader that collected defects (beyond the `before` that it started with): no dataset is made from the rest.
fn refuse_defects(report: &Report, before: usize) -> Result<()> {
    match report.count() - before {
        0 => Ok(()),
        count => Err(Error::unfit(format!("not read because of {count} defects"))),
    }
}

/// How to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteOptions {
    /// Leave out what the format cannot hold, instead of refusing.
    pub lossy: bool,
}

/// The result of [`write()`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The format, detected from the extension of the path.
    pub format: Format,
    /// How many graphs were written.
    pub graphs: usize,
    /// What was left out, where that was allowed.
    pub dropped: Vec<String>,
}

/// Writes a stream to `out`: `.jsonl` is JSON Lines, `.g6` graph6; a path without an extension, or one that ends in `/`,
/// is a folder in the TU format, named after the folder.
///
/// The file appears under its name only when it is complete. What the format cannot hold is an error that lists it,
/// unless [`WriteOptions::lossy`].
pub fn write(records: Records<'_>, out: impl AsRef<Path>, options: WriteOptions) -> Result<Written> {
    let out = out.as_ref();
    match writer_of(out)? {
        Format::Jsonl => jsonl::write(records, out),
        Format::Graph6 => graph6::write(records, out, options),
        _ => tu::write(records, out, options),
    }
}

/// The format that [`write()`] uses for this path.
pub fn writer_of(out: &Path) -> Result<Format> {
    let shown = out.to_string_lossy();
    match out.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        _ if shown.ends_with('/') || out.is_dir() => Ok(Format::Tu),
        Some("jsonl" | "ndjson") => Ok(Format::Jsonl),
        Some("g6" | "graph6") => Ok(Format::Graph6),
        None => Ok(Format::Tu),
        Some(other) => Err(Error::call(format!(
            "cannot write `.{other}`: the output must end in .jsonl (JSON Lines) or .g6 (graph6), or be a folder (TU)"
        ))),
    }
}
