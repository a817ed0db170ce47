//! How the data is split: the options, and what they make of a dataset.

use super::wrong::wrong;
use anyhow::Result;
use ppgn::graph::Dataset;
use ppgn::graph::split::{GroupOrder, Listed, grouped, scaffolds};
use ppgn::train::{Division, text};
use std::path::{Path, PathBuf};

/// The split of a run, unless another is asked for.
const SHARES: [f64; 3] = [0.8, 0.1, 0.1];

/// How the data is split.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct DivisionArgs {
    /// Train and test on this given fold of the data, counted from 1
    #[arg(long, value_name = "K", conflicts_with_all = ["holdout", "split", "split_file", "split_by"])]
    fold: Option<usize>,
    /// Hold out this share of the graphs as test set, such as 0.1, stratified by class
    #[arg(long, value_name = "F", allow_negative_numbers = true, conflicts_with_all = ["split", "split_file", "split_by"])]
    holdout: Option<f64>,
    /// Training, validation and test set in percent [default: 80/10/10]
    #[arg(long, value_name = "A/B/C", value_parser = parsed_shares)]
    split: Option<Shares>,
    /// CSV file with the part of every graph: a column `id` or `position` (from 0), and a column `part` (train,
    /// validation, test or none). Every run folder has one, split.csv
    #[arg(long, value_name = "FILE.csv")]
    split_file: Option<PathBuf>,
    /// How graphs are drawn for the sets: stratified (by class), random, scaffold (molecules with the same Bemis-Murcko
    /// framework stay together, the largest groups in training), or column:NAME of --split-file, or of data that is a CSV
    /// table: its words are parts, or groups that stay together [default: stratified]
    #[arg(long, value_name = "HOW")]
    split_by: Option<By>,
}

/// Three shares that sum to 1.
#[derive(Debug, Clone, Copy)]
struct Shares([f64; 3]);

fn parsed_shares(text: &str) -> Result<Shares, String> {
    text::shares(text).map(Shares)
}

/// How graphs are drawn for the sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum By {
    Stratified,
    Random,
    Scaffold,
    Column(String),
}

impl std::str::FromStr for By {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.split_once(':')) {
            ("stratified", _) => Ok(By::Stratified),
            ("random", _) => Ok(By::Random),
            ("scaffold", _) => Ok(By::Scaffold),
            (_, Some(("column", name))) if !name.is_empty() => Ok(By::Column(name.into())),
            _ => Err(format!(
                "`{text}` is not a way to split; there are stratified, random, scaffold and column:NAME"
            )),
        }
    }
}

/// The split that options or a file ask for, before the data is known.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Asked {
    pub(crate) fold: Option<usize>,
    pub(crate) holdout: Option<f64>,
    pub(crate) split: Option<[f64; 3]>,
    pub(crate) split_file: Option<PathBuf>,
    pub(crate) split_by: Option<By>,
}

impl DivisionArgs {
    /// What the options ask for; nothing where none was given.
    pub(crate) fn asked(&self) -> Option<Asked> {
        let DivisionArgs { fold, holdout, split, split_file, split_by } = self.clone();
        let asked = Asked { fold, holdout, split: split.map(|s| s.0), split_file, split_by };
        (asked != Asked::default()).then_some(asked)
    }
}

impl Asked {
    /// What is wrong with it, whatever the data.
    pub(crate) fn check(&self, limited: bool) -> Result<()> {
        let ways =
            [self.fold.is_some(), self.holdout.is_some(), self.split.is_some() || self.split_by.is_some()];
        if ways.iter().filter(|&&way| way).count() > 1 || (ways[0] || ways[1]) && self.split_file.is_some() {
            return Err(wrong("`fold`, `holdout` and `split` exclude each other"));
        }
        let column = matches!(self.split_by, Some(By::Column(_)));
        if self.split_file.is_some() && !column && (self.split.is_some() || self.split_by.is_some()) {
            return Err(wrong(
                "--split-file says the part of every graph; with --split, use --split-by column:NAME for a column of groups",
            ));
        }
        if limited && self.fold.is_some() {
            return Err(wrong("--limit cannot be used with --fold: folds divide the whole dataset"));
        }
        if limited && (self.split_file.is_some() || column) {
            return Err(wrong(
                "--limit cannot be used with a file of parts, which divides the whole dataset",
            ));
        }
        Ok(())
    }

    /// The split of this data, which was given as `spec`.
    pub(crate) fn division(&self, spec: &str, dataset: &Dataset, seed: u64) -> Result<Division> {
        if let Some(fold) = self.fold {
            return Ok(Division::Fold(fold));
        }
        if let Some(share) = self.holdout {
            return Ok(Division::Holdout(share));
        }
        let shares = self.split.unwrap_or(SHARES);
        match (&self.split_by, &self.split_file) {
            (None, Some(file)) => {
                Ok(Division::listed(name(file), &Listed::read(file, dataset, None)?.parts()?))
            }
            (Some(By::Column(column)), file) => {
                let file = file.as_deref().or_else(|| is_table(spec).then(|| Path::new(spec)));
                let Some(file) = file else {
                    return Err(wrong(format!(
                        "{spec} is not a CSV table: --split-file gives the file of the column"
                    )));
                };
                let listed = Listed::read(file, dataset, Some(column))?;
                let split = match listed.has_parts() {
                    true => listed.parts()?,
                    false => grouped(listed.words(), shares, GroupOrder::Random(seed))?,
                };
                Ok(Division::listed(format!("column {column} of {}", name(file)), &split))
            }
            (Some(By::Scaffold), _) => {
                let words: Vec<String> = scaffolds(dataset)?.iter().map(u32::to_string).collect();
                let split = grouped(words.iter().map(String::as_str), shares, GroupOrder::Largest)?;
                Ok(Division::listed("scaffolds", &split))
            }
            (Some(By::Random), _) => Ok(Division::Random(shares)),
            (None | Some(By::Stratified), _) => Ok(Division::Shares(shares)),
        }
    }
}

/// Whether data by this name is a table whose rows are graphs.
fn is_table(spec: &str) -> bool {
    let ending = Path::new(spec).extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    matches!(ending.as_deref(), Some("csv" | "tsv"))
}

/// The name of a file without its folders: what is the same on every machine.
fn name(file: &Path) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_split() {
        assert_eq!("column:site".parse(), Ok(By::Column("site".into())));
        assert_eq!("random".parse(), Ok(By::Random));
        assert_eq!("scaffold".parse(), Ok(By::Scaffold));
        for wrong in ["column", "column:", "scafold", ""] {
            assert!(wrong.parse::<By>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_excludes_each_other() {
        let file = Some(PathBuf::from("a.csv"));
        let listed = Asked { split_file: file.clone(), ..Asked::default() };
        assert!(listed.check(false).is_ok() && listed.check(true).is_err());
        let groups = Asked {
            split: Some([0.5, 0.25, 0.25]),
            split_by: Some(By::Column("a".into())),
            ..listed.clone()
        };
        assert!(groups.check(false).is_ok());
        for wrong in [
            Asked { fold: Some(1), holdout: Some(0.1), ..Asked::default() },
            Asked { fold: Some(1), ..listed.clone() },
            Asked { split: Some([0.8, 0.1, 0.1]), ..listed.clone() },
            Asked { split_by: Some(By::Random), ..listed },
        ] {
            assert!(wrong.check(false).is_err(), "{wrong:?}");
        }
    }
}
