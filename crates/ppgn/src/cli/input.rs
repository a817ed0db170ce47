//! The options that say what data is meant and how to read it: the same in every command.

use super::output::download_bar;
use super::say;
use anyhow::Result;
use ppgn::graph::format::{self, Format, Limits, ReadOptions, Records, Report};
use ppgn::graph::locate::{Locator, What, default_cache_dir};
use ppgn::graph::text::escaped;
use ppgn::graph::{Dataset, Error, generate};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How to find and read data.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct InputArgs {
    /// The data folder, where names are looked up and downloads go [default: $PPGN_DATA, else the platform's]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) data_dir: Option<PathBuf>,
    /// Input format: text, tu, graph6, sdf, smiles, npz, edges, graphml, gml, json or jsonl [default: detected from the extension, then the content]
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Read edge lists as directed graphs
    #[arg(long)]
    directed: bool,
    /// A table of what is to be learned: a CSV with a row per graph, by id, file name or position; empty cells are not known
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// The column that holds the classes, of --labels, a SMILES table or an SDF (a data tag) [default for --labels: `class`, `label`, or the only one with words]
    #[arg(long, value_name = "COLUMN")]
    class: Option<String>,
    /// Where colours of training graphs are kept [default: $PPGN_CACHE, else the user's cache folder]
    #[arg(long, value_name = "DIR")]
    cache_dir: Option<PathBuf>,
    /// Maximum size of an unpacked zip archive
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size)]
    max_unpacked: u64,
    /// Never download: named datasets must be in the data folder
    #[arg(long)]
    offline: bool,
}

impl InputArgs {
    /// The options that change what the data is, by name, valid in any working directory.
    pub(crate) fn recorded(&self) -> BTreeMap<String, String> {
        let labels = self.labels.as_ref().map(|path| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            path.to_string_lossy().into_owned()
        });
        let options = [
            ("format", self.format.clone()),
            ("directed", self.directed.then(|| "true".to_string())),
            ("labels", labels),
            ("class", self.class.clone()),
        ];
        options.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
    }

    /// The same, with the options of a run where none are given here.
    pub(crate) fn or_recorded(&self, recorded: &BTreeMap<String, String>) -> Self {
        let get = |name: &str| recorded.get(name).cloned();
        InputArgs {
            format: self.format.clone().or_else(|| get("format")),
            directed: self.directed || recorded.contains_key("directed"),
            labels: self.labels.clone().or_else(|| get("labels").map(PathBuf::from)),
            class: self.class.clone().or_else(|| get("class")),
            ..self.clone()
        }
    }

    /// Where what can be computed again is kept.
    pub(crate) fn cache_dir(&self) -> Option<PathBuf> {
        self.cache_dir.clone().or_else(default_cache_dir)
    }

    /// What finds and reads the data.
    pub(crate) fn locator(&self) -> Result<Locator> {
        let format = self.format.as_deref().map(str::parse::<Format>).transpose()?;
        let limits = Limits { max_unpacked: self.max_unpacked, ..Limits::default() };
        let (class, labels) = (self.class.clone(), self.labels.clone());
        let read = ReadOptions { format, limits, directed: self.directed, class, labels };
        let (_, progress) = download_bar(false);
        Ok(Locator { data_dir: self.data_dir.clone(), read, download: !self.offline, progress })
    }
}

/// Opens data as a stream and hands it to `use_it`: graph by graph where the format allows.
pub(crate) fn with_records<T>(
    locator: &Locator,
    spec: &str,
    use_it: impl FnOnce(Records<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let located = locator.resolve(spec)?;
    match (&located.what, located.index) {
        (What::File(path), None) => {
            let mut report = Report::strict();
            let records = format::open(path, &locator.read, &mut report)?;
            let known = records.header.provenance.notes.len();
            let result = use_it(records)?;
            // What a stream noticed on the way is known only now.
            report.notes().iter().skip(known).for_each(|note| say::note(&escaped(note)));
            Ok(result)
        }
        (What::Generator(spec), None) if locator.read.labels.is_none() => {
            use_it(Records::of(&generate::generate(spec)?))
        }
        _ => {
            let dataset: Dataset = locator.load(spec)?;
            use_it(Records::of(&dataset))
        }
    }
}

/// A size such as `512MiB` or `4GiB` in bytes; a plain number is bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "" | "B" => 1u64,
        "KiB" | "K" => 1 << 10,
        "MiB" | "M" => 1 << 20,
        "GiB" | "G" => 1 << 30,
        "TiB" | "T" => 1 << 40,
        _ => {
            return Err(format!(
                "`{text}` is not a size: write a number with KiB, MiB or GiB, such as 512MiB"
            ));
        }
    };
    let bytes = match number.parse::<u64>() {
        Ok(n) => n.checked_mul(factor),
        Err(_) => {
            number.parse::<f64>().ok().map(|n| n * factor as f64).filter(|n| *n < 1.8e19).map(|n| n as u64)
        }
    };
    bytes.ok_or_else(|| format!("`{text}` is not a size that can be: write a number with KiB, MiB or GiB"))
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes() {
        assert_eq!(size("4GiB"), Ok(4 << 30));
        assert_eq!(size("1.5 KiB"), Ok(1536));
        assert_eq!(size("100"), Ok(100));
        for bad in ["", "GiB", "4GB", "-1", "99999999999GiB", "1.2.3MiB"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
