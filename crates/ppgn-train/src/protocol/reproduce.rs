//! The paper's tables: measured results next to the printed ones.

use super::cv::CvReport;
use super::jobs::{Finished, Job};
use super::paper::{Printed, Rank, Table1, Table2};
use crate::data::Goal;
use crate::error::{Error, Result};
use crate::settings::{Division, Request, Settings};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A dataset of Table 1, measured. Accuracies in percent, as the paper prints them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row1 {
    /// The dataset.
    pub dataset: String,
    /// The preset that was measured.
    pub preset: String,
    /// Epochs of every fold.
    pub epochs: usize,
    /// Folds that were measured.
    pub folds: usize,
    /// The best epoch of the mean curve.
    pub epoch: usize,
    /// Mean over the folds.
    pub accuracy_mean: f64,
    /// Sample standard deviation over the folds.
    pub accuracy_std: Option<f64>,
    /// Its rank among the table's other methods.
    pub rank: Rank,
    /// What the paper printed for the preset, else for the best of its three networks.
    pub printed: Option<Printed>,
    /// The network that was printed.
    pub printed_preset: String,
    /// The rank of the printed result among the table's other methods.
    pub printed_rank: Option<Rank>,
}

impl Row1 {
    /// A cross-validation next to this column of the paper's table.
    pub fn new(table: &Table1, column: usize, report: &CvReport) -> Self {
        let mean = report.accuracy_mean.unwrap_or(0.0) * 100.0;
        let best = table.best(column).map(|(name, figure)| (name.to_string(), figure));
        let printed = table.of_preset(column, &report.preset).map(|p| (report.preset.clone(), p)).or(best);
        Row1 {
            dataset: table.datasets.get(column).unwrap_or(&report.dataset).clone(),
            preset: report.preset.clone(),
            epochs: report.epochs,
            folds: report.folds.len(),
            epoch: report.epoch.unwrap_or(0),
            accuracy_mean: mean,
            accuracy_std: report.accuracy_std.map(|s| s * 100.0),
            rank: table.rank(column, mean),
            printed_rank: printed.as_ref().map(|(_, p)| table.rank(column, p.mean)),
            printed: printed.as_ref().map(|(_, p)| *p),
            printed_preset: printed.map(|(name, _)| name).unwrap_or_default(),
        }
    }
}

/// The paper's two settings for QM9.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Networks {
    /// One network for all targets.
    Together,
    /// A network for this target alone.
    Alone(String),
}

impl Networks {
    /// Parses names: `all` (one network), `each` (one network per target), or targets by name.
    ///
    /// ```
    /// use ppgn_train::protocol::{Networks, Table2};
    /// let table = Table2::printed()?;
    /// assert_eq!(Networks::of(&table, &["all".into()])?, [Networks::Together]);
    /// assert_eq!(Networks::of(&table, &["each".into()])?.len(), 12);
    /// assert_eq!(Networks::of(&table, &["MU".into()])?, [Networks::Alone("mu".into())]);
    /// assert!(Networks::of(&table, &["spin".into()]).unwrap_err().is_call());
    /// # Ok::<(), ppgn_train::Error>(())
    /// ```
    pub fn of(table: &Table2, words: &[String]) -> Result<Vec<Self>> {
        let mut named = Vec::new();
        for word in words {
            match word.as_str() {
                "all" => named.push(Networks::Together),
                "each" => named.extend(table.targets.iter().cloned().map(Networks::Alone)),
                name => named.push(Networks::Alone(table.targets[table.row(name)?].clone())),
            }
        }
        let mut once = Vec::new();
        for networks in named {
            if !once.contains(&networks) {
                once.push(networks);
            }
        }
        Ok(once)
    }

    /// `all`, or the target's name.
    pub fn name(&self) -> &str {
        match self {
            Networks::Together => "all",
            Networks::Alone(target) => target,
        }
    }

    /// Its run in a folder, on a split 80/10/10 drawn by the seed.
    ///
    /// Data in other units than the table's is refused: errors would not be comparable.
    pub fn job(&self, table: &Table2, request: &Request<'_>, folder: &Path) -> Result<Job> {
        let targets = match self {
            Networks::Together => table.targets.clone(),
            Networks::Alone(target) => vec![target.clone()],
        };
        let division = Division::Shares([0.8, 0.1, 0.1]);
        let settings = Settings::resolve(&Request { targets, division, ..request.clone() })?;
        if let Goal::Targets(targets) = &settings.goal {
            for target in targets {
                let unit = &table.units[table.row(&target.name)?];
                if target.unit != *unit {
                    return Err(Error::Incomplete(format!(
                        "{}: {} is in `{}`, the table's unit is `{unit}`",
                        request.data, target.name, target.unit
                    )));
                }
            }
        }
        let name = match self {
            Networks::Together => "all targets".to_string(),
            Networks::Alone(target) => target.clone(),
        };
        Ok(Job { name, path: folder.join(self.name()), settings })
    }
}

/// A target of Table 2, measured: mean absolute errors in the table's units.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row2 {
    /// The target.
    pub target: String,
    /// Its unit.
    pub unit: String,
    /// Whether one network learned all targets, or this one alone.
    pub network: &'static str,
    /// The preset that was measured.
    pub preset: String,
    /// Epochs trained.
    pub epochs: usize,
    /// The epoch with the lowest validation loss.
    pub best_epoch: usize,
    /// The test error at that epoch.
    pub mae: f64,
    /// Its rank among the table's other methods.
    pub rank: Rank,
    /// What the paper printed for such a network.
    pub printed: Option<f64>,
    /// The rank of the printed result among the table's other methods.
    pub printed_rank: Option<Rank>,
    /// The table's other methods.
    pub others: BTreeMap<String, f64>,
}

impl Row2 {
    /// The rows of a finished run.
    pub fn of(table: &Table2, networks: &Networks, finished: &Finished) -> Result<Vec<Self>> {
        let summary = &finished.summary;
        let errors = summary.best.test.as_ref().map_or(&[][..], |part| &part.mae);
        if errors.len() != summary.targets.len() {
            return Err(Error::Incomplete("the run does not have a test error for every target".into()));
        }
        let row = |(name, &mae): (&String, &f64)| {
            let row = table.row(name)?;
            let printed =
                if *networks == Networks::Together { table.together(row) } else { table.alone(row) };
            Ok(Row2 {
                target: name.clone(),
                unit: table.units[row].clone(),
                network: if *networks == Networks::Together { "together" } else { "alone" },
                preset: summary.preset.clone(),
                epochs: summary.epochs,
                best_epoch: summary.best_epoch,
                mae,
                rank: table.rank(row, mae),
                printed,
                printed_rank: printed.map(|p| table.rank(row, p)),
                others: table.others(row).map(|(name, e)| (name.to_string(), e)).collect(),
            })
        };
        summary.targets.iter().zip(errors).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(preset: &str, mean: f64) -> CvReport {
        CvReport {
            dataset: "MUTAG".into(),
            preset: preset.into(),
            seed: 0,
            seeds: Vec::new(),
            alone: Vec::new(),
            epochs: 1,
            folds: vec![1, 2],
            folds_are: "given",
            epoch: Some(1),
            accuracy_mean: Some(mean),
            accuracy_std: Some(0.05),
            curves: vec![],
            curve_mean: vec![],
            seconds_training: 0.0,
            metric: "accuracy",
            at_epoch: None,
            baseline: None,
            fair: None,
        }
    }

    #[test]
    fn a_preset_is_beside_its_own_figure_and_others_beside_the_best() {
        let table = Table1::printed().unwrap();
        let row = Row1::new(&table, 0, &report("paper-3", 0.895));
        assert_eq!((row.printed.unwrap().mean, row.printed_preset.as_str()), (89.44, "paper-3"));
        assert_eq!((row.rank.rank, row.printed_rank.unwrap().rank), (3, 3));
        assert_eq!((row.accuracy_mean, row.accuracy_std), (89.5, Some(5.0)));
        let row = Row1::new(&table, 0, &report("small", 0.5));
        assert_eq!((row.printed.unwrap().mean, row.printed_preset.as_str()), (90.55, "paper-1"));
        assert_eq!(row.rank, Rank { rank: 15, of: 15 });
    }
}
