//! The numbers printed in the paper, and the rank of a measured one among them.
//!
//! They are data (`paper.toml`) for comparison only: no setting and no result depends on what the paper printed.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A printed result: a mean in percent, and a standard deviation if one is printed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Printed {
    /// The mean.
    pub mean: f64,
    /// The deviation.
    pub std: Option<f64>,
}

impl Printed {
    fn of(cell: &[f64]) -> Option<Self> {
        Some(Printed { mean: *cell.first()?, std: cell.get(1).copied() })
    }
}

/// A rank among methods: 1 is the best; equal methods share a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rank {
    /// The rank.
    pub rank: usize,
    /// Number of methods with a printed result, including the ranked one.
    pub of: usize,
}

impl Rank {
    fn among(others: impl Iterator<Item = f64>, is_better: impl Fn(f64) -> bool) -> Self {
        let (mut rank, mut of) = (1, 1);
        for other in others {
            rank += usize::from(is_better(other));
            of += 1;
        }
        Rank { rank, of }
    }
}

/// Table 1: accuracies of 10-fold cross-validation, in percent.
#[derive(Debug, Clone, Deserialize)]
pub struct Table1 {
    /// The names of its datasets, in its order.
    pub datasets: Vec<String>,
    #[serde(rename = "rank")]
    ranks: Vec<usize>,
    #[serde(rename = "paper-1")]
    paper_1: Vec<Vec<f64>>,
    #[serde(rename = "paper-2")]
    paper_2: Vec<Vec<f64>>,
    #[serde(rename = "paper-3")]
    paper_3: Vec<Vec<f64>>,
    other: BTreeMap<String, Vec<Vec<f64>>>,
}

impl Table1 {
    /// The table.
    ///
    /// ```
    /// use ppgn_train::protocol::Table1;
    /// let table = Table1::printed()?;
    /// let mutag = table.column("mutag")?;
    /// assert_eq!(table.of_preset(mutag, "paper-1").unwrap().mean, 90.55);
    /// assert_eq!(table.rank(mutag, 91.0).rank, 3);
    /// # Ok::<(), ppgn_train::Error>(())
    /// ```
    pub fn printed() -> Result<Self> {
        Ok(tables()?.table1)
    }

    /// The column of a dataset; case is ignored.
    pub fn column(&self, dataset: &str) -> Result<usize> {
        self.datasets.iter().position(|d| d.eq_ignore_ascii_case(dataset)).ok_or_else(|| {
            Error::settings(format!(
                "`{dataset}` is not in Table 1; its datasets are {}",
                self.datasets.join(", ")
            ))
        })
    }

    /// What the paper printed for one of its three networks; `None` for other presets.
    pub fn of_preset(&self, column: usize, preset: &str) -> Option<Printed> {
        let row = match preset {
            "paper-1" => &self.paper_1,
            "paper-2" => &self.paper_2,
            "paper-3" => &self.paper_3,
            _ => return None,
        };
        row.get(column).and_then(|cell| Printed::of(cell))
    }

    /// The best of the paper's three networks, and its name.
    pub fn best(&self, column: usize) -> Option<(&'static str, Printed)> {
        let all = ["paper-1", "paper-2", "paper-3"].into_iter();
        let mut all = all.filter_map(|preset| Some((preset, self.of_preset(column, preset)?)));
        let first = all.next()?;
        Some(all.fold(first, |best, next| if next.1.mean > best.1.mean { next } else { best }))
    }

    /// The rank that the paper printed for the best of its three.
    pub fn printed_rank(&self, column: usize) -> Option<usize> {
        self.ranks.get(column).copied()
    }

    /// The rank of an accuracy in percent among the other methods of the table.
    pub fn rank(&self, column: usize, mean: f64) -> Rank {
        let others = self.other.values().filter_map(|row| Printed::of(row.get(column)?));
        Rank::among(others.map(|p| p.mean), |other| other > mean)
    }
}

/// Table 2: mean absolute errors on QM9.
#[derive(Debug, Clone, Deserialize)]
pub struct Table2 {
    /// The names of its targets, in its order.
    pub targets: Vec<String>,
    /// Their units.
    pub units: Vec<String>,
    #[serde(rename = "ours-1")]
    together: Vec<f64>,
    #[serde(rename = "ours-2")]
    alone: Vec<f64>,
    #[serde(flatten)]
    other: BTreeMap<String, Vec<f64>>,
}

impl Table2 {
    /// The table.
    pub fn printed() -> Result<Self> {
        Ok(tables()?.table2)
    }

    /// The row of a target; case is ignored.
    pub fn row(&self, target: &str) -> Result<usize> {
        self.targets.iter().position(|t| t.eq_ignore_ascii_case(target)).ok_or_else(|| {
            Error::settings(format!(
                "`{target}` is not in Table 2; its targets are {}",
                self.targets.join(", ")
            ))
        })
    }

    /// What the paper printed for one network that learns all targets together.
    pub fn together(&self, row: usize) -> Option<f64> {
        self.together.get(row).copied()
    }

    /// What the paper printed for a network that learns this target alone.
    pub fn alone(&self, row: usize) -> Option<f64> {
        self.alone.get(row).copied()
    }

    /// The other methods of the table with a printed result, and that result.
    pub fn others(&self, row: usize) -> impl Iterator<Item = (&str, f64)> {
        let figure = move |errors: &[f64]| errors.get(row).copied().filter(|e| e.is_finite());
        self.other.iter().filter_map(move |(name, errors)| Some((name.as_str(), figure(errors)?)))
    }

    /// The rank of an error among the other methods of the table.
    pub fn rank(&self, row: usize, error: f64) -> Rank {
        Rank::among(self.others(row).map(|(_, e)| e), |other| other < error)
    }
}

#[derive(Deserialize)]
struct Tables {
    table1: Table1,
    table2: Table2,
}

fn tables() -> Result<Tables> {
    toml::from_str(include_str!("paper.toml"))
        .map_err(|e| Error::SettingsFile { file: "paper.toml".into(), message: e.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_ranks_come_out_of_the_printed_figures() {
        let table = Table1::printed().unwrap();
        for column in 0..table.datasets.len() {
            let (_, best) = table.best(column).unwrap();
            let rank = table.rank(column, best.mean).rank;
            assert_eq!(Some(rank), table.printed_rank(column), "{}", table.datasets[column]);
        }
        assert_eq!(table.best(6), Some(("paper-3", Printed { mean: 73.0, std: Some(5.77) })));
        assert_eq!(table.rank(0, 100.0), Rank { rank: 1, of: 15 });
    }

    #[test]
    fn the_lowest_errors_are_as_many_as_the_paper_says() {
        let table = Table2::printed().unwrap();
        assert_eq!(table.others(7).collect::<Vec<_>>(), [("1-2-3-GNN", 0.0427)]);
        let lowest =
            |errors: &[f64]| errors.iter().enumerate().filter(|(t, e)| table.rank(*t, **e).rank == 1).count();
        assert_eq!((lowest(&table.together), lowest(&table.alone)), (5, 9));
    }

    #[test]
    fn tables_are_whole() {
        let one = Table1::printed().unwrap();
        for row in [&one.paper_1, &one.paper_2, &one.paper_3].into_iter().chain(one.other.values()) {
            assert_eq!(row.len(), one.datasets.len());
        }
        let two = Table2::printed().unwrap();
        for row in [&two.together, &two.alone].into_iter().chain(two.other.values()) {
            assert_eq!(row.len(), two.targets.len());
        }
        for ((name, unit), target) in two.targets.iter().zip(&two.units).zip(ppgn_graph::format::qm9::TARGETS)
        {
            assert_eq!((name.as_str(), unit.as_str()), target);
        }
        assert!(one.column("ENZYMES").unwrap_err().to_string().contains("MUTAG, PTC"));
        assert!(two.row("spin").unwrap_err().is_call());
    }
}
