//! The paper's search for settings: every point of a grid is trained on one fixed split and ranked on the held-out
//! graphs.

use super::jobs::{Ended, Finished, Job, JobWatcher, Workers, run_jobs};
use crate::data::Goal;
use crate::error::{Error, Result};
use crate::metrics::{Metric, Part};
use crate::run::write_json;
use crate::session::Session;
use crate::settings::{Division, Overrides, Request, Settings};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A grid: values to try for some settings. Every combination is a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// A setting's name and its values. The last varies fastest.
    axes: Vec<(String, Vec<toml::Value>)>,
}

/// A grid with more trials is most likely a typo.
const MOST_TRIALS: usize = 10_000;

impl Grid {
    /// The paper's: rates 5e-5, 1e-4, 5e-4, 1e-3 and decays 0.5, 0.75, 1 (of the interval [0.5, 1] that it names).
    pub fn paper() -> Self {
        let axis = |name: &str, values: &[f64]| {
            (name.to_string(), values.iter().map(|&v| toml::Value::Float(v)).collect())
        };
        Grid { axes: vec![axis("rate", &[5e-5, 1e-4, 5e-4, 1e-3]), axis("decay", &[0.5, 0.75, 1.0])] }
    }

    /// These learning rates.
    pub fn rates(rates: &[f64]) -> Self {
        Grid { axes: vec![("rate".into(), rates.iter().map(|&rate| toml::Value::Float(rate)).collect())] }
    }

    /// Parses a grid from TOML: a list of values for any setting of [`Overrides`] except the seed, which draws the
    /// fixed split.
    ///
    /// ```
    /// use ppgn_train::protocol::Grid;
    /// let grid = Grid::from_toml("rate = [1e-3, 1e-4]\nblocks = [[32, 32], [64, 64, 64]]", "grid.toml")?;
    /// assert_eq!(grid.trials().len(), 4);
    /// assert!(Grid::from_toml("rat = [1]", "grid.toml").unwrap_err().is_call());
    /// # Ok::<(), ppgn_train::Error>(())
    /// ```
    pub fn from_toml(text: &str, file: &str) -> Result<Self> {
        let wrong = |message: String| Error::SettingsFile { file: file.to_string(), message };
        let table: toml::Table =
            toml::from_str(text).map_err(|e| wrong(e.to_string().trim_end().to_string()))?;
        let mut axes = Vec::new();
        for (name, value) in table {
            if name == "seed" {
                return Err(Error::VariedSeed { file: file.to_string() });
            }
            let toml::Value::Array(values) = value else {
                return Err(wrong(format!(
                    "`{name}` is not a list of values to try, such as {name} = [{value}]"
                )));
            };
            if values.is_empty() {
                return Err(wrong(format!("`{name}` has no value to try")));
            }
            for value in &values {
                one(&name, value).map_err(|e| wrong(format!("`{name}`, value {value}: {e}")))?;
            }
            axes.push((name, values));
        }
        if axes.is_empty() {
            return Err(wrong("there is no setting to try".into()));
        }
        let trials = axes.iter().try_fold(1usize, |n, (_, values)| n.checked_mul(values.len()));
        match trials.filter(|&n| n <= MOST_TRIALS) {
            Some(_) => Ok(Grid { axes }),
            None => Err(wrong(format!("more than {MOST_TRIALS} combinations"))),
        }
    }

    /// The settings that it varies.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.axes.iter().map(|(name, _)| name.as_str())
    }

    /// All combinations, as tables of settings.
    pub fn trials(&self) -> Vec<toml::Table> {
        let mut trials = vec![toml::Table::new()];
        for (name, values) in &self.axes {
            trials = trials
                .into_iter()
                .flat_map(|trial| {
                    values.iter().map(move |value| {
                        let mut trial = trial.clone();
                        trial.insert(name.clone(), value.clone());
                        trial
                    })
                })
                .collect();
        }
        trials
    }
}

/// One setting as overrides, or a one-line error.
fn one(name: &str, value: &toml::Value) -> Result<Overrides, String> {
    let table = toml::Table::from_iter([(name.to_string(), value.clone())]);
    overrides(table)
}

fn overrides(table: toml::Table) -> Result<Overrides, String> {
    toml::Value::Table(table).try_into().map_err(|e: toml::de::Error| e.message().to_string())
}

/// A search: one run per trial.
#[derive(Debug, Clone)]
pub struct Search {
    folder: PathBuf,
    trials: Vec<toml::Table>,
    jobs: Vec<Job>,
}

/// A trial and its result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// Its rank, 1 for the best; trials whose loss did not stay finite come last.
    pub rank: usize,
    /// Its point of the grid.
    pub settings: toml::Table,
    /// The best epoch; `None` if the loss did not stay finite.
    pub best_epoch: Option<usize>,
    /// The metrics of the held-out graphs at that epoch.
    pub held_out: Option<Part>,
    /// Where the loss was not finite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diverged: Option<String>,
    /// Seconds of all its epochs.
    pub seconds: f64,
    /// Its run folder.
    pub run: PathBuf,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchReport {
    /// The dataset's name.
    pub dataset: String,
    /// The preset.
    pub preset: String,
    /// The seed, which draws the split.
    pub seed: u64,
    /// Epochs of every trial.
    pub epochs: Vec<usize>,
    /// For regression, the targets.
    pub targets: Vec<String>,
    /// The metric that trials are ranked by.
    pub metric: &'static str,
    /// All trials, the best first.
    pub trials: Vec<Trial>,
    /// The settings of the best trial; `None` if no loss stayed finite.
    pub best: Option<toml::Table>,
    /// Seconds of all epochs of all trials.
    pub seconds_training: f64,
}

impl Search {
    /// One run per trial in `folder`, named after its settings. For classification a tenth of the graphs is held out, as a
    /// validation set where early stopping or the selection of the best epoch asks for one; for regression the split is
    /// 80/10/10 and the validation set counts. The seed draws the split, the same for all trials.
    pub fn new(request: &Request<'_>, grid: &Grid, folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref().to_path_buf();
        let given = serde_json::to_value(&request.overrides).map_err(|e| Error::settings(e.to_string()))?;
        if let Some(name) = grid.names().find(|name| given.get(*name).is_some_and(|set| !set.is_null())) {
            return Err(Error::Varied { name: name.to_string() });
        }
        if let Some(name) = grid.names().find(|name| *name == "select") {
            return Err(Error::settings(format!(
                "`{name}` cannot be varied: trials that are ranked by different metrics cannot be compared"
            )));
        }
        let asked = |name: &str| grid.names().any(|varied| varied == name);
        let given = &request.overrides;
        let validated = given.patience.is_some_and(|epochs| epochs > 0)
            || asked("patience")
            || given.select.is_some_and(|select| select.validation);
        let division = match request.goal()? {
            Goal::Classes(_) if validated => Division::Shares([0.9, 0.1, 0.0]),
            Goal::Classes(_) => Division::Holdout(0.1),
            Goal::Targets(_) | Goal::Labels(_) => Division::Shares([0.8, 0.1, 0.1]),
        };
        let trials = grid.trials();
        let mut taken = BTreeSet::new();
        let job = |(i, trial): (usize, &toml::Table)| {
            let overrides = overrides(trial.clone()).map_err(Error::Settings)?.or(request.overrides.clone());
            let settings =
                Settings::resolve(&Request { overrides, division: division.clone(), ..request.clone() })?;
            let mut folder_name = file_name(trial);
            if folder_name.len() > 120 || !taken.insert(folder_name.clone()) {
                folder_name = format!("trial-{}", i + 1);
            }
            Ok(Job { name: words(trial), path: folder.join(folder_name), settings })
        };
        let jobs = trials.iter().enumerate().map(job).collect::<Result<_>>()?;
        Ok(Search { folder, trials, jobs })
    }

    /// Its runs.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// The same with this prefix in the name of every run.
    pub(crate) fn called(mut self, word: &str) -> Self {
        self.jobs.iter_mut().for_each(|job| job.name = format!("{word}, {}", job.name));
        self
    }

    /// Runs what is missing, writes `search.json` to the folder and returns the result; `None` if it was stopped.
    pub fn run(
        &self,
        session: &Session,
        dataset: &ppgn_graph::Dataset,
        workers: Workers,
        watcher: &JobWatcher<'_>,
    ) -> Result<Option<SearchReport>> {
        let Some(ended) = run_jobs(session, &self.jobs, dataset, workers, watcher)? else { return Ok(None) };
        self.ended(session, ended).map(Some)
    }

    /// Writes `search.json` for finished runs, and returns the result.
    pub(crate) fn ended(&self, session: &Session, ended: Vec<Ended>) -> Result<SearchReport> {
        let report = self.report(ended)?;
        if session.leads() {
            write_json(&self.folder.join("search.json"), &report)?;
        }
        Ok(report)
    }

    fn report(&self, ended: Vec<Ended>) -> Result<SearchReport> {
        let Some(settings) = self.jobs.first().map(|job| &job.settings) else {
            return Err(Error::settings("there is nothing to try"));
        };
        let trials = self.trials.iter().zip(&self.jobs).zip(ended);
        let mut trials: Vec<Trial> = trials.map(|((set, job), ended)| trial(set, job, ended)).collect();
        // A stable sort: ties keep the order of the grid.
        let metric = settings.training.select.metric.resolved(&settings.goal);
        let badness = |trial: &Trial| badness(trial, metric);
        trials.sort_by(|a, b| badness(a).partial_cmp(&badness(b)).unwrap_or(std::cmp::Ordering::Equal));
        trials.iter_mut().enumerate().for_each(|(i, trial)| trial.rank = i + 1);
        let targets = match &settings.goal {
            Goal::Classes(_) => Vec::new(),
            Goal::Targets(targets) | Goal::Labels(targets) => {
                targets.iter().map(|t| t.name.clone()).collect()
            }
        };
        let mut epochs: Vec<usize> = self.jobs.iter().map(|job| job.settings.training.epochs).collect();
        epochs.sort_unstable();
        epochs.dedup();
        Ok(SearchReport {
            dataset: settings.dataset.clone(),
            preset: settings.preset().to_string(),
            seed: settings.training.seed,
            epochs,
            targets,
            metric: metric.field(),
            best: trials.first().filter(|t| t.held_out.is_some()).map(|t| t.settings.clone()),
            seconds_training: trials.iter().map(|t| t.seconds).sum(),
            trials,
        })
    }
}

fn trial(settings: &toml::Table, job: &Job, ended: Ended) -> Trial {
    let (best_epoch, held_out, diverged, seconds) = match ended {
        Ended::Finished(finished) => {
            let Finished { summary, seconds, .. } = *finished;
            let part = summary.best.validation.or(summary.best.test);
            (Some(summary.best_epoch), part, None, seconds)
        }
        Ended::Diverged(error) => (None, None, Some(error.to_string()), 0.0),
    };
    Trial {
        rank: 0,
        settings: settings.clone(),
        best_epoch,
        held_out,
        diverged,
        seconds,
        run: job.path.clone(),
    }
}

/// The key that trials are ranked by, lower first: the metric, then the loss. One whose metric is undefined comes after those
/// where it is not, and one whose loss was not finite last.
fn badness(trial: &Trial, metric: Metric) -> (u8, f64, f64) {
    match trial.held_out.as_ref().map(|part| (metric.score(part), part.loss)) {
        Some((Some(score), loss)) => (0, -score, loss),
        Some((None, loss)) => (1, 0.0, loss),
        None => (2, 0.0, 0.0),
    }
}

/// A trial for people: `rate 0.0001, decay 0.5`.
fn words(trial: &toml::Table) -> String {
    let words: Vec<String> = trial.iter().map(|(name, value)| format!("{name} {}", plain(value))).collect();
    words.join(", ")
}

/// A value; a string without its quotes.
fn plain(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// The name of a trial's folder: `decay=0.5,rate=0.0001`.
fn file_name(trial: &toml::Table) -> String {
    let safe = |text: String| -> String {
        let kept = text.chars().filter(|c| !c.is_whitespace());
        kept.map(|c| if c.is_ascii_alphanumeric() || ".-_=".contains(c) { c } else { '_' }).collect()
    };
    let words: Vec<String> =
        trial.iter().map(|(name, value)| safe(format!("{name}={}", plain(value)))).collect();
    words.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_grid() {
        let trials = Grid::paper().trials();
        assert_eq!(trials.len(), 12);
        let names: BTreeSet<String> = trials.iter().map(file_name).collect();
        assert!(names.contains("decay=0.75,rate=0.00005"), "{names:?}");
        assert_eq!(names.len(), 12);
        let first = overrides(trials[0].clone()).unwrap();
        assert_eq!((first.rate, first.decay), (Some(5e-5), Some(0.5)));
    }

    #[test]
    fn grids_in_files() {
        let text = "blocks = [[4], [8, { width = 8, product = 2 }]]\nsuffix = [\"i\", \"ii\"]\nepochs = [3]";
        let trials = Grid::from_toml(text, "g").unwrap().trials();
        assert_eq!(trials.len(), 4);
        let names: BTreeSet<String> = trials.iter().map(file_name).collect();
        assert_eq!(names.len(), 4, "{names:?}");
        let message = |text: &str| {
            let error = Grid::from_toml(text, "g.toml").unwrap_err();
            assert!(error.is_call());
            error.to_string()
        };
        assert!(message("rates = [1e-3]").contains("unknown field `rates`"));
        assert!(message("rate = 1e-3").contains("not a list"));
        assert!(message("rate = []").contains("no value"));
        assert!(message("rate = [\"fast\"]").contains("`rate`"));
        assert!(message("seed = [1, 2]").contains("draws the split"));
        assert!(message("").contains("no setting"));
        assert!(message("rate = [").contains("g.toml"));
    }

    #[test]
    fn the_metric_first_then_the_loss_and_diverged_last() {
        let trial = |held_out: Option<Part>| Trial {
            rank: 0,
            settings: toml::Table::new(),
            best_epoch: None,
            held_out,
            diverged: None,
            seconds: 0.0,
            run: PathBuf::new(),
        };
        let part = |accuracy: f64, auc: Option<f64>, loss: f64| {
            Some(Part { loss, accuracy: Some(accuracy), roc_auc: Some(auc), ..Part::default() })
        };
        let better = |metric, a, b| badness(&trial(a), metric) < badness(&trial(b), metric);
        assert!(better(Metric::Accuracy, part(0.9, None, 5.0), part(0.8, None, 0.1)));
        assert!(better(Metric::Accuracy, part(0.9, None, 0.1), part(0.9, None, 0.2)));
        assert!(better(Metric::RocAuc, part(0.8, Some(0.7), 5.0), part(0.9, Some(0.6), 0.1)));
        assert!(better(Metric::RocAuc, part(0.8, Some(0.1), 5.0), part(0.9, None, 0.1)), "undefined");
        assert!(better(Metric::Loss, part(0.8, None, 0.1), part(0.9, None, 0.2)));
        assert!(better(Metric::RocAuc, part(0.0, None, 1e300), None));
    }
}
