//! Which format is this? Told by the ending of a name, then by the first lines.

use super::lines::{fields, integer, tokens};
use super::{Entry, Format, Source};
use crate::error::{Defect, Error, Result};

/// Finds the dataset in a source: its format and the entry that it is read from. With `wanted`, only that format.
///
/// A folder or archive must hold exactly one dataset; the error lists what it holds otherwise. Where the entry is
/// itself an archive (an `.npz` in a folder), the source returned is that archive.
pub fn detect(source: Source, wanted: Option<Format>) -> Result<(Format, Source, Entry)> {
    if let (Some(format), true) = (wanted, source.is_single_file()) {
        let entry = source.entries()[0].clone();
        // A TU dataset is a set of files: naming one of them names them all.
        return match (format, super::tu::prefix(&entry)) {
            (Format::Tu, Some(_)) => detect(Source::open(parent(&source), source.limits())?, wanted),
            _ => Ok((format, source, entry)),
        };
    }
    let mut candidates: Vec<(Format, Entry)> = Vec::new();
    for entry in source.entries() {
        let Some(format) = format_of(&source, entry)? else { continue };
        // The files of an npz or of a TU dataset are one candidate together.
        let joined = match format {
            Format::Npz if entry.name.ends_with(".npy") => {
                candidates.iter().any(|(f, e)| *f == Format::Npz && e.folder() == entry.folder())
            }
            Format::Tu => candidates.iter().any(|(f, e)| {
                *f == Format::Tu
                    && e.folder() == entry.folder()
                    && super::tu::prefix(e) == super::tu::prefix(entry)
            }),
            _ => false,
        };
        if !joined && wanted.is_none_or(|w| w == format) {
            candidates.push((format, entry.clone()));
        }
    }
    let shown = source.path().display();
    match candidates.len() {
        1 => {
            let (format, entry) = candidates[0].clone();
            if format == Format::Tu && source.is_single_file() {
                let wanted = super::tu::prefix(&entry).map(str::to_string);
                let folder = Source::open(parent(&source), source.limits())?;
                let entry = folder
                    .entries()
                    .iter()
                    .find(|e| e.folder().is_empty() && super::tu::prefix(e).map(str::to_string) == wanted);
                let Some(entry) = entry.cloned() else { return Ok((format, source, candidates.remove(0).1)) };
                return Ok((format, folder, entry));
            }
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
                return Ok((format, inner, first));
            }
            Ok((format, source, entry))
        }
        0 if source.entries().is_empty() => Err(Defect::new(shown.to_string(), "no files in it").into()),
        0 => {
            let what = wanted
                .map_or("no dataset".to_string(), |w| format!("no dataset in the format `{}`", w.name()));
            let hint = "; --format names one of text, tu, graph6, sdf, npz, edges, jsonl";
            let hint = if wanted.is_none() && source.is_single_file() { hint } else { "" };
            Err(Defect::new(shown.to_string(), format!("{what} that ppgn recognises in it{hint}")).into())
        }
        count => {
            let mut names: Vec<String> = candidates.iter().take(8).map(|(_, e)| e.name.clone()).collect();
            if count > names.len() {
                names.push("...".into());
            }
            Err(Error::call(format!(
                "{shown} holds {count} datasets: {}; name one of them",
                names.join(", ")
            )))
        }
    }
}

fn parent(source: &Source) -> std::path::PathBuf {
    match source.path().parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => ".".into(),
    }
}

/// The format that an entry begins a dataset of, if any.
fn format_of(source: &Source, entry: &Entry) -> Result<Option<Format>> {
    let name = entry.file_name().to_ascii_lowercase();
    if super::tu::prefix(entry).is_some() {
        return Ok(Some(Format::Tu));
    }
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    Ok(match ending {
        "jsonl" | "ndjson" => Some(Format::Jsonl),
        "g6" | "s6" | "d6" | "graph6" | "sparse6" | "digraph6" => Some(Format::Graph6),
        "sdf" => Some(Format::Sdf),
        "npy" | "npz" => Some(Format::Npz),
        "edges" | "el" | "edgelist" | "tsv" => Some(Format::Edges),
        // The targets of an SDF, and what comes along with datasets.
        "csv" if name.ends_with(".sdf.csv") => None,
        _ if belongs_to_another(entry, &name) && !source.is_single_file() => None,
        _ => by_content(&source.peek(entry, 4096)?),
    })
}

fn belongs_to_another(entry: &Entry, name: &str) -> bool {
    entry.folder().rsplit('/').next() == Some("10fold_idx")
        || name.starts_with("readme")
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
        return Some(Format::Jsonl);
    }
    if tokens(first).count() == 1 && integer(first).is_some() {
        return Some(Format::Text);
    }
    let data = std::iter::once(first).chain(lines).find(|l| !l.starts_with(b"#"))?;
    let is_edge = |line: &[u8]| {
        let tokens: Vec<&[u8]> = fields(line).take(4).collect();
        (2..=3).contains(&tokens.len()) && tokens[..2].iter().all(|t| integer(t).is_some())
    };
    let has_header = data.contains(&b',') && fields(data).count() <= 3;
    if is_edge(data) || (has_header && start.split(|&b| b == b'\n').skip(1).any(is_edge)) {
        return Some(Format::Edges);
    }
    let graph6 = |b: &u8| (63..=126).contains(b) || *b == b':' || *b == b'&';
    (!data.is_empty() && data.iter().all(graph6)).then_some(Format::Graph6)
}
