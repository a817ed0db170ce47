//! Detecting a format: from the extension of a name, then from the first lines.

use super::edges;
use super::lines::{integer, tokens};
use super::{Entry, Format, Source};
use crate::error::{Defect, Error, Remedy, Result};
use crate::text::natural;
use std::collections::HashSet;

/// Finds the dataset in a source: its format and the entry that it is read from. With `wanted`, only that format.
///
/// A folder or archive must hold exactly one dataset; the error lists what it holds otherwise. Files of a format that
/// has one graph per file are one dataset together, in natural order (`g9` before `g10`). Where the entry is itself an archive (an `.npz` in a folder), the source returned is that archive.
pub fn detect(source: Source, wanted: Option<Format>) -> Result<(Format, Source, Vec<Entry>)> {
    // A single file in a given format needs no detection; but an .npz has arrays inside.
    if let (Some(format), [entry]) = (wanted, source.entries())
        && (source.is_single_file() || format != Format::Npz)
    {
        let entries = vec![entry.clone()];
        return Ok((format, source, entries));
    }
    let mut candidates: Vec<(Format, Entry)> = Vec::new();
    let mut joined: HashSet<(Format, &str, &str)> = HashSet::new();
    for entry in source.entries() {
        let Some(format) = format_of(&source, entry)? else { continue };
        // The files of an npz or of a TU dataset are one candidate together.
        let first = match format {
            Format::Npz if entry.name.ends_with(".npy") => joined.insert((format, entry.folder(), "")),
            Format::Tu => joined.insert((format, entry.folder(), super::tu::prefix(entry).unwrap_or(""))),
            _ => true,
        };
        if first && wanted.is_none_or(|w| w == format) {
            candidates.push((format, entry.clone()));
        }
    }
    let shown = source.path().display();
    match candidates.len() {
        1 => {
            let (format, entry) = candidates[0].clone();
            if format == Format::Npz && entry.name.ends_with(".npz") {
                let inner = Source::open(source.describe(&entry), source.limits())?;
                if inner.is_single_file() {
                    return Err(
                        Defect::new(source.describe(&entry), "not an .npz archive of NumPy arrays").into()
                    );
                }
                let first = inner.entries().first().cloned();
                let first = first
                    .ok_or_else(|| Defect::new(inner.path().display().to_string(), "an empty archive"))?;
                return Ok((format, inner, vec![first]));
            }
            Ok((format, source, vec![entry]))
        }
        0 if source.entries().is_empty() => Err(Defect::new(shown.to_string(), "no files in it").into()),
        0 => {
            let what = wanted
                .map_or("no dataset".to_string(), |w| format!("no dataset in the format `{}`", w.name()));
            let defect = Defect::new(shown.to_string(), format!("{what} that ppgn recognises in it"));
            Err(match wanted.is_none() && source.is_single_file() {
                true => defect.remedy(Remedy::NameFormat),
                false => defect,
            }
            .into())
        }
        _ if one_per_file(&candidates) => {
            let format = candidates[0].0;
            let mut entries: Vec<Entry> = candidates.into_iter().map(|(_, entry)| entry).collect();
            entries.sort_by(|a, b| natural(&a.name, &b.name));
            Ok((format, source, entries))
        }
        count => {
            let mut names: Vec<String> = candidates.iter().take(8).map(|(_, e)| e.name.clone()).collect();
            if count > names.len() {
                names.push("...".into());
            }
            Err(Error::call(format!(
                "{shown} holds {count} datasets: {}; choose one of them",
                names.join(", ")
            )))
        }
    }
}

/// Whether these files are one dataset together: all of one format that has one graph per file.
fn one_per_file(candidates: &[(Format, Entry)]) -> bool {
    let first = candidates[0].0;
    matches!(first, Format::Edges | Format::GraphMl | Format::Gml | Format::NodeLink)
        && candidates.iter().all(|(format, _)| *format == first)
}

/// The format that an entry begins a dataset of, if any.
fn format_of(source: &Source, entry: &Entry) -> Result<Option<Format>> {
    let name = entry.file_name().to_ascii_lowercase();
    if super::tu::is_part(source, entry) {
        return Ok(Some(Format::Tu));
    }
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    Ok(match extension {
        "jsonl" | "ndjson" => Some(Format::Jsonl),
        "g6" | "s6" | "d6" | "graph6" | "sparse6" | "digraph6" => Some(Format::Graph6),
        "sdf" | "sd" | "mol" => Some(Format::Sdf),
        "smi" | "smiles" => Some(Format::Smiles),
        "npy" | "npz" => Some(Format::Npz),
        "edges" | "el" | "edgelist" => Some(Format::Edges),
        "graphml" => Some(Format::GraphMl),
        "gml" => Some(Format::Gml),
        "json" => Some(Format::NodeLink),
        // The targets of an SDF, and what comes along with datasets.
        "csv" if name.ends_with(".sdf.csv") => None,
        "csv" | "tsv" if super::smiles::is_table(&source.peek(entry, 4096)?) => Some(Format::Smiles),
        // Named by itself, a table can only be meant as edges; among other files it may be anything.
        "csv" | "tsv" if source.entries().len() == 1 => Some(Format::Edges),
        _ if belongs_to_another(entry, &name) && !source.is_single_file() => None,
        // Among the files of a folder, a table of labels is not one of the graphs.
        "csv" | "tsv" => {
            let start = source.peek(entry, 4096)?;
            (edges::table_of(&start).is_none() && edges::begins(&start)).then_some(Format::Edges)
        }
        _ => by_content(&source.peek(entry, 4096)?),
    })
}

fn belongs_to_another(entry: &Entry, name: &str) -> bool {
    entry.folder().rsplit('/').next() == Some("10fold_idx")
        || name.contains("readme")
        || name.starts_with("license")
        || name == "uncharacterized.txt"
        || name.ends_with(".md")
        || name.ends_with(".py")
}

fn by_content(start: &[u8]) -> Option<Format> {
    if start.starts_with(b">>graph6<<")
        || start.starts_with(b">>sparse6<<")
        || start.starts_with(b">>digraph6<<")
    {
        return Some(Format::Graph6);
    }
    let mut lines = start.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).filter(|l| !l.is_empty());
    let first = lines.next()?;
    if first.starts_with(b"{") {
        let holds = |key: &[u8]| memchr::memmem::find(start, key).is_some();
        let node_link = !holds(b"\"ppgn\"") && holds(b"\"nodes\"");
        return Some(if node_link { Format::NodeLink } else { Format::Jsonl });
    }
    if first.starts_with(b"<") && memchr::memmem::find(start, b"<graphml").is_some() {
        return Some(Format::GraphMl);
    }
    if tokens(first).next() == Some(b"graph") && memchr::memmem::find(start, b"[").is_some() {
        return Some(Format::Gml);
    }
    if tokens(first).count() == 1 && integer(first).is_some() {
        return Some(Format::Text);
    }
    if edges::looks_like(std::iter::once(first).chain(lines.clone())) {
        return Some(Format::Edges);
    }
    let data = std::iter::once(first).chain(lines).find(|l| !l.starts_with(b"#"))?;
    let graph6 = |b: &u8| (63..=126).contains(b) || *b == b':' || *b == b'&';
    (!data.is_empty() && data.iter().all(graph6)).then_some(Format::Graph6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Limits;

    fn found(files: &[(&str, &str)], path: &str, wanted: Option<Format>) -> Result<(Format, String)> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let source = Source::open(folder.path().join(path), Limits::default())?;
        detect(source, wanted).map(|(format, _, entries)| (format, entries[0].name.clone()))
    }

    #[test]
    fn content_tells_text_and_edges() {
        let text = |bytes: &str| by_content(bytes.as_bytes());
        assert_eq!(text("3\n1 0\n0 0\n"), Some(Format::Text));
        for edges in ["1 2\n", "# c\n1 2 3\n", "% c\n1,2\n", "a;b\n1;2\n", "\u{feff}a,b\n1,2\n"] {
            assert_eq!(text(edges), Some(Format::Edges), "{edges:?}");
        }
        for neither in ["", "1 2 3 4\n", "see below\n1 2\n", "1.5 2\n", "# only\n"] {
            assert_eq!(text(neither), None, "{neither:?}");
        }
    }

    #[test]
    fn the_files_of_a_tu_dataset_are_one() {
        let files = [
            ("M_A.txt", ""),
            ("M_graph_indicator.txt", "1\n"),
            ("M_graph_labels.txt", "1\n"),
            ("readme.txt", "1\n"),
        ];
        assert_eq!(found(&files, "", None).unwrap(), (Format::Tu, "M_A.txt".into()));
        for (name, _) in &files[..3] {
            assert_eq!(found(&files, name, None).unwrap(), (Format::Tu, name.to_string()));
        }
        // By its name alone, a file of labels is none of a TU dataset.
        assert_eq!(found(&files[2..], "", None).unwrap(), (Format::Text, "M_graph_labels.txt".into()));
        let two = [("a/M_A.txt", ""), ("b/M_A.txt", "")];
        let error = found(&two, "", None).unwrap_err();
        assert!(error.is_call() && error.to_string().contains("2 datasets: a/M_A.txt, b/M_A.txt"), "{error}");
    }

    #[test]
    fn the_wanted_format_needs_no_recognising() {
        let files = [("x.dat", "what is this?")];
        assert!(found(&files, "", None).is_err());
        for path in ["", "x.dat"] {
            assert_eq!(found(&files, path, Some(Format::Edges)).unwrap(), (Format::Edges, "x.dat".into()));
        }
    }
}
