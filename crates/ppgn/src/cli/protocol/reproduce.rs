//! `ppgn reproduce`: the paper's tables, measured next to printed, and its figure.

use super::cv::percent;
use super::figure::{self, figure};
use super::{WorkArgs, duration, shown, stopped};
use crate::cli::input::InputArgs;
use crate::cli::load::{Data, load_to_train};
use crate::cli::output::{self, short};
use crate::cli::wrong::wrong;
use anyhow::Result;
use clap::Subcommand;
use ppgn::train::protocol::{
    Cv, Ended, Job, Networks, Notice, Rank, Row1, Row2, Table1, Table2, Workers, estimate, run_jobs,
};
use ppgn::train::{Overrides, Preset, Request, Session, limited};
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Anything longer needs `--yes`.
const AN_HOUR: f64 = 3600.0;

/// `ppgn reproduce`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    table: Table,
}

#[derive(Debug, Subcommand)]
enum Table {
    /// Table 1: 10-fold accuracy on eight datasets
    Table1 {
        /// Datasets of the table, repeated or separated by commas [default: all eight]
        #[arg(long = "dataset", value_name = "D", value_delimiter = ',')]
        datasets: Vec<String>,
        /// Presets to train: paper-1, paper-2, paper-3 or any other, repeated or separated by commas
        #[arg(long = "preset", value_name = "P", value_delimiter = ',', default_value = "paper-1")]
        presets: Vec<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Table 2: mean absolute errors on QM9
    Table2 {
        /// Targets by name (one network per target), all (one network for all), or each (twelve networks)
        #[arg(long = "target", value_name = "T", value_delimiter = ',', default_value = "all")]
        targets: Vec<String>,
        /// Preset to train
        #[arg(long, value_name = "P", default_value = "qm9")]
        preset: String,
        /// QM9, if it is not to be found by its name
        #[arg(long, value_name = "DATA", default_value = "QM9")]
        data: String,
        #[command(flatten)]
        common: Common,
    },
    /// The inset figure: four models on NCI1, training and validation accuracy by epoch
    Figure(figure::Args),
}

/// The options that tables and figure share.
#[derive(Debug, clap::Args)]
pub(super) struct Common {
    /// Train only N epochs, to try it out: the results are then not comparable with the table
    #[arg(long, value_name = "N")]
    pub(super) epochs: Option<usize>,
    /// Use only N graphs of each dataset, to try it out: the results are then not comparable with the table
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Random seed of weights, batches and splits
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(super) seed: u64,
    /// Start even if it takes more than an hour
    #[arg(long)]
    yes: bool,
    /// The folder for the runs; finished runs in it are not repeated, those of fewer epochs are extended [default: runs/reproduce]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) work: WorkArgs,
    #[command(flatten)]
    pub(super) input: InputArgs,
}

impl Common {
    /// Prints a table: one JSON object, or text.
    fn show<R: Serialize>(
        &self,
        table: &str,
        rows: &[R],
        start: Instant,
        out: &Path,
        text: fn(&[R]) -> String,
    ) -> Result<ExitCode> {
        let report = json!({
            "table": table, "rows": rows, "epochs": self.epochs, "limit": self.limit, "seed": self.seed,
        });
        let seconds = start.elapsed().as_secs_f64();
        let text = || Ok(format!("{}{}", text(rows), self.reservation()));
        shown(&report, self.work.json, seconds, out, text)
    }

    /// The folder for the runs, the same for the same options. Shortened runs have a folder of their own.
    pub(super) fn folder(&self) -> PathBuf {
        let mut name = "reproduce".to_string();
        for (what, n) in [("epochs", self.epochs), ("limit", self.limit)] {
            name += &n.map(|n| format!("-{what}-{n}")).unwrap_or_default();
        }
        if self.seed != 0 {
            name += &format!("-seed-{}", self.seed);
        }
        self.out.clone().unwrap_or_else(|| PathBuf::from("runs").join(name))
    }

    /// Loads a dataset, and draws a part of it if there is a limit.
    pub(super) fn load(&self, session: &Session, spec: &str) -> Result<Data> {
        let data = load_to_train(session, spec, &self.input)?;
        Ok(Data { dataset: limited(&data.dataset, self.limit, self.seed)?, ..data })
    }

    /// A run on this data.
    fn request<'a>(&self, data: &'a Data, preset: &'a str) -> Request<'a> {
        let overrides = Overrides { epochs: self.epochs, seed: Some(self.seed), ..Overrides::default() };
        Request { limit: self.limit, preset, overrides, ..Request::new(&data.spec, &data.dataset) }
    }

    /// A line that says why the results are not comparable with the paper's, if they are not.
    pub(super) fn reservation(&self) -> String {
        let mut cut = Vec::new();
        cut.extend(self.epochs.map(|n| output::counted(n, "epoch", "epochs")));
        cut.extend(self.limit.map(|n| output::counted(n, "graph", "graphs") + " at most"));
        match cut.is_empty() {
            true => String::new(),
            false => format!("Shortened ({}): not the paper's protocol.\n", cut.join(", ")),
        }
    }
}

/// Runs `ppgn reproduce`.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.table {
        Table::Table1 { datasets, presets, common } => table1(datasets, presets, common),
        Table::Table2 { targets, preset, data, common } => table2(targets, preset, data, common),
        Table::Figure(args) => figure(args),
    }
}

/// Runs that belong together, and their data.
pub(super) struct Part<'a> {
    pub(super) name: String,
    pub(super) data: &'a Data,
    pub(super) jobs: Vec<Job>,
    /// The number of similar runs that will follow.
    pub(super) later: usize,
}

fn table1(datasets: &[String], presets: &[String], common: &Common) -> Result<ExitCode> {
    let start = Instant::now();
    let table = Table1::printed()?;
    let mut columns = datasets.iter().map(|d| table.column(d)).collect::<Result<Vec<_>, _>>()?;
    if columns.is_empty() {
        columns = (0..table.datasets.len()).collect();
    }
    presets.iter().try_for_each(|preset| Preset::new(preset, "").map(|_| ()))?;
    let (folder, session) = (common.folder(), common.work.session()?);
    let load = |&column: &usize| common.load(&session, &table.datasets[column]);
    let data = columns.iter().map(load).collect::<Result<Vec<_>>>()?;
    let (mut parts, mut cvs) = (Vec::new(), Vec::new());
    for (&column, data) in columns.iter().zip(&data) {
        for preset in presets {
            let name = format!("{} {preset}", table.datasets[column]);
            let place = folder.join("table1").join(preset).join(&table.datasets[column]);
            let cv = Cv::new(&common.request(data, preset), &[], place)?;
            parts.push(Part { name, data, jobs: cv.jobs().to_vec(), later: 0 });
            cvs.push((column, cv));
        }
    }
    let workers = common.work.workers();
    if let Some(code) = permission(&parts, Order::OneByOne, workers, common)? {
        return Ok(code);
    }
    let mut rows = Vec::new();
    for ((column, cv), part) in cvs.iter().zip(&parts) {
        let board = common.work.board(&part.jobs, "folds")?;
        let Data { session, dataset, .. } = part.data;
        let report = cv.run(session, dataset, workers, &|job, notice| board.watch(job, notice));
        board.end();
        let Some(report) = report? else { return Ok(stopped(&folder)) };
        rows.push(Row1::new(&table, *column, &report));
    }
    common.show("table1", &rows, start, &folder, text1)
}

fn text1(rows: &[Row1]) -> String {
    let head = ["dataset", "preset", "measured %", "rank", "epoch", "printed %", "of", "rank"];
    let mut lines = vec![head.map(String::from).to_vec()];
    for row in rows {
        lines.push(vec![
            row.dataset.clone(),
            row.preset.clone(),
            percent(row.accuracy_mean, row.accuracy_std),
            ranked(row.rank),
            format!("{}/{}", row.epoch, row.epochs),
            row.printed.map_or_else(String::new, |p| percent(p.mean, p.std)),
            row.printed_preset.clone(),
            row.printed_rank.map_or_else(String::new, ranked),
        ]);
    }
    format!(
        "Table 1: accuracy over ten folds; ranks among the table's other methods.\n{}",
        output::table(&lines)
    )
}

fn ranked(rank: Rank) -> String {
    format!("{}/{}", rank.rank, rank.of)
}

fn table2(targets: &[String], preset: &str, data: &str, common: &Common) -> Result<ExitCode> {
    let start = Instant::now();
    let table = Table2::printed()?;
    let networks = Networks::of(&table, targets)?;
    Preset::new(preset, "")?;
    let data = common.load(&common.work.session()?, data)?;
    let (folder, request) = (common.folder(), common.request(&data, preset));
    let place = folder.join("table2").join(preset);
    let jobs = networks.iter().map(|n| n.job(&table, &request, &place)).collect::<Result<Vec<_>, _>>()?;
    let workers = common.work.one_by_one();
    let name = format!("QM9 {preset}");
    let part = [Part { name, data: &data, jobs: jobs.clone(), later: 0 }];
    if let Some(code) = permission(&part, Order::OneByOne, workers, common)? {
        return Ok(code);
    }
    let board = common.work.board(&jobs, "networks")?;
    let watch = |job: &Job, notice: Notice<'_>| board.watch(job, notice);
    let ended = run_jobs(&data.session, &jobs, &data.dataset, workers, &watch);
    board.end();
    let Some(ended) = ended? else { return Ok(stopped(&folder)) };
    let mut rows = Vec::new();
    for (networks, ended) in networks.iter().zip(ended) {
        match ended {
            Ended::Finished(finished) => rows.extend(Row2::of(&table, networks, &finished)?),
            Ended::Diverged(error) => return Err(error.into()),
        }
    }
    common.show("table2", &rows, start, &folder, text2)
}

fn text2(rows: &[Row2]) -> String {
    let others: std::collections::BTreeSet<&String> = rows.iter().flat_map(|row| row.others.keys()).collect();
    let mut head = ["target", "unit", "network", "measured", "rank", "epoch", "printed", "rank"]
        .map(String::from)
        .to_vec();
    head.extend(others.iter().map(|name| name.to_string()));
    let mut lines = vec![head];
    for row in rows {
        let mut line = vec![
            row.target.clone(),
            row.unit.clone(),
            row.network.to_string(),
            short(row.mae),
            ranked(row.rank),
            format!("{}/{}", row.best_epoch, row.epochs),
            row.printed.map_or_else(String::new, short),
            row.printed_rank.map_or_else(String::new, ranked),
        ];
        line.extend(
            others.iter().map(|name| row.others.get(*name).map_or_else(|| "-".to_string(), |e| short(*e))),
        );
        lines.push(line);
    }
    format!(
        "Table 2: mean absolute test error on QM9 at the best validation epoch; ranks among the table's other methods.\n{}",
        output::table(&lines)
    )
}

/// The order in which parts are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The runs of a part end before those of the next one start.
    OneByOne,
    /// The runs of all parts run together.
    Together,
}

/// Prints how long everything will take, estimated from one measured epoch of each part. An error if that is more
/// than an hour without `--yes`; an exit code if Ctrl-C came first.
pub(super) fn permission(
    parts: &[Part<'_>],
    order: Order,
    workers: Workers,
    common: &Common,
) -> Result<Option<ExitCode>> {
    // Rank 0 asks for all: if it may not start, the others have nobody to work for.
    if !crate::cli::ranks::lead() {
        return Ok(None);
    }
    // A run with other settings in one of the folders is found before an epoch is measured.
    for job in parts.iter().flat_map(|part| &part.jobs) {
        job.standing()?;
    }
    let (mut total, mut work, mut longest) = (0.0, 0.0, 0f64);
    for part in parts {
        let Data { session, dataset, .. } = part.data;
        let Some(estimated) = estimate(session, &part.jobs, dataset, workers)? else {
            return Ok(Some(stopped(&common.folder())));
        };
        let epochs = part.jobs.first().map_or(0, |job| job.settings.training.epochs) * part.later;
        let seconds = estimated.seconds + estimated.epoch * epochs as f64 / workers.jobs as f64;
        total += seconds;
        work += estimated.work + estimated.epoch * epochs as f64;
        longest = longest.max(estimated.seconds);
        if !common.work.quiet && seconds > 0.0 {
            let (epoch, left) = (short(estimated.epoch), duration(seconds));
            eprintln!("{}: {epoch} s per epoch, about {left} left", part.name);
        }
    }
    if order == Order::Together {
        total = (work / workers.jobs as f64).max(longest);
    }
    if !common.work.quiet && total > 0.0 {
        eprintln!(
            "about {} in total, with {} at a time",
            duration(total),
            output::counted(workers.jobs, "run", "runs")
        );
    }
    match total > AN_HOUR && !common.yes {
        false => Ok(None),
        true => Err(wrong(format!(
            "this takes about {}: --yes starts it; --dataset, --target or --rate select less; --epochs and --limit \
             try a shorter run",
            duration(total)
        ))),
    }
}
