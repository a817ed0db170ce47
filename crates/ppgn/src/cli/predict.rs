//! `ppgn predict`: the predictions of a trained network, one row per graph, node or pair.

mod pairs;
pub(crate) mod rows;

use super::data::DATA_HELP;
use super::device::DeviceArgs;
use super::folder::writable;
use super::input::InputArgs;
use super::load::load_all;
use super::metrics;
use super::output::{self, by_target, counted};
use super::session::MemoryArgs;
use super::threads::ThreadsArgs;
use super::wrong::wrong;
use anyhow::Result;
use ppgn::graph::Dataset;
use ppgn::graph::file::write_whole;
use ppgn::graph::split::{Split, part_names};
use ppgn::nn::Level;
use ppgn::train::{Ensemble, Goal, Part, Settings, Truth};
use rows::{Format, Given, Rows};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// `ppgn predict`.
#[derive(Debug, clap::Args)]
#[command(after_help = DATA_HELP)]
pub(crate) struct Args {
    /// The run folder, or the folder of several seeds, whose predictions are averaged
    run: PathBuf,
    /// The graphs, with the features of those that the run was trained on
    data: String,
    /// Write the rows to FILE: .csv, or .jsonl (JSON Lines) [default: print them as CSV]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite FILE if it exists
    #[arg(long, requires = "out")]
    force: bool,
    /// The raw outputs of the network instead of probabilities or values
    #[arg(long)]
    scores: bool,
    /// Only the graphs of this set of the run's split; DATA must be what the run was trained on
    #[arg(long, value_enum, conflicts_with = "pairs")]
    part: Option<PartName>,
    /// Take graphs 2p and 2p+1 as pairs: how many a compiled network distinguishes
    #[arg(long, conflicts_with_all = ["out", "scores"])]
    pairs: bool,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Print no closing line
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object, and rows to --out only
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: InputArgs,
}

/// A set of a run's split.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum PartName {
    Train,
    Validation,
    Test,
}

impl PartName {
    fn of(self, split: &Split) -> &[u32] {
        match self {
            PartName::Train => &split.train,
            PartName::Validation => &split.validation,
            PartName::Test => &split.test,
        }
    }

    fn name(self) -> &'static str {
        match self {
            PartName::Train => "train",
            PartName::Validation => "validation",
            PartName::Test => "test",
        }
    }
}

/// Runs `ppgn predict`.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let format = args.out.as_deref().map_or(Ok(Format::Csv), Format::of)?;
    args.out.as_deref().map_or(Ok(()), |out| writable(out, args.force))?;
    let ensemble =
        Ensemble::open(&args.device.of(args.threads.of(args.memory.session())?, args.quiet)?, &args.run)?;
    output::warn(&ensemble.warnings());
    if args.scores && ensemble.members().len() > 1 {
        return Err(wrong("--scores is for one run: several seeds have averaged probabilities or values"));
    }
    let (_, whole) = load_all(&args.data, &args.input)?;
    if args.pairs {
        return pairs::run(args, &ensemble.members()[0], &whole);
    }
    let Asked { dataset, positions, parts, baseline } = Asked::of(args, &ensemble, whole)?;
    output::warn(&Vec::from_iter(ensemble.settings().reference_warning(&dataset)));
    let start = Instant::now();
    let given = match args.scores {
        true => Given::Scores(ensemble.members()[0].scores(&dataset)?),
        false => Given::Predictions(ensemble.predict(&dataset)?),
    };
    let seconds = start.elapsed().as_secs_f64();
    let settings = ensemble.settings();
    let truth = &Truth::of(settings, &dataset)?;
    let (data, parts) = (&dataset, parts.as_deref());
    let rows = Rows { settings, dataset: data, truth, positions: &positions, parts, given: &given };
    match &args.out {
        Some(path) => {
            write_whole(path, rows.text(format).as_bytes())?;
        }
        None if !args.json => output::print(&rows.text(format))?,
        None => {}
    }
    let quality = Quality::of(truth, dataset.len(), &given, baseline.as_deref());
    let items = match settings.network.level {
        Level::Graph => None,
        Level::Node => Some(("nodes", truth.items().len())),
        Level::Pair => Some(("pairs", truth.items().len())),
    };
    if args.json {
        let mut object = json!({
            "run": output::path(&args.run),
            "data": dataset.name(),
            "graphs": dataset.len(),
            "out": args.out.as_deref().map(output::path),
            "seconds": seconds,
        });
        if let Some((name, count)) = items {
            object[name] = count.into();
        }
        if let Some(part) = args.part {
            object["part"] = part.name().into();
        }
        if let Some(quality) = &quality {
            quality.write(settings, &mut object);
        }
        output::json(&object)?;
    } else if !args.quiet {
        let wrote =
            args.out.as_ref().map(|path| format!(", written to {}", path.display())).unwrap_or_default();
        let said = quality.as_ref().map(|quality| quality.sentence(settings)).unwrap_or_default();
        let of = items.map(|(name, count)| format!(", {count} {name}")).unwrap_or_default();
        eprintln!("{}{of}{wrote}{said} ({seconds:.2} s)", counted(dataset.len(), "graph", "graphs"));
        if let Some(quality) = &quality {
            eprint!("{}", quality.table(settings));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The graphs to predict, their positions in the data and, where the data is the run's, their sets.
struct Asked {
    dataset: Dataset,
    positions: Vec<u32>,
    parts: Option<Vec<Option<&'static str>>>,
    /// What the baseline predicts for every graph, where it is known.
    baseline: Option<Vec<f64>>,
}

impl Asked {
    fn of(args: &Args, ensemble: &Ensemble, whole: Dataset) -> Result<Self> {
        let own = ensemble.training_data(&whole)?;
        let learned = |(data, split): &(Dataset, Split)| {
            Truth::of(ensemble.settings(), data).map(|truth| truth.baseline(&split.train))
        };
        let learned = own.as_ref().map(learned).transpose()?;
        let baseline = learned.or_else(|| ensemble.baseline().map(<[f64]>::to_vec));
        let Some(part) = args.part else {
            // A run on some of the graphs says nothing about the others.
            let own = own.filter(|(data, _)| data.len() == whole.len());
            let parts = own.map(|(_, split)| part_names(&split, whole.len()));
            return Ok(Asked {
                positions: (0..whole.len() as u32).collect(),
                dataset: whole,
                parts,
                baseline,
            });
        };
        let Some((data, split)) = own else {
            return Err(wrong(format!(
                "--part {}: {} was not trained on {}, or that has changed since; without --part all its graphs are predicted",
                part.name(),
                args.run.display(),
                args.data
            )));
        };
        let positions = part.of(&split).to_vec();
        if positions.is_empty() {
            return Err(wrong(format!("--part {}: {} has no such set", part.name(), args.run.display())));
        }
        let parts = Some(vec![Some(part.name()); positions.len()]);
        Ok(Asked { dataset: data.subset(&positions)?, positions, parts, baseline })
    }
}

/// How good the predictions are, where the data knows better.
struct Quality {
    metrics: Part,
    confusion: Vec<Vec<u64>>,
    baseline: Option<Part>,
}

impl Quality {
    fn of(truth: &Truth<'_>, graphs: usize, given: &Given, row: Option<&[f64]>) -> Option<Self> {
        let Given::Predictions(predictions) = given else { return None };
        let graphs: Vec<u32> = (0..graphs as u32).collect();
        let (metrics, confusion) = truth.figures(&graphs, |item| predictions[item].numbers())?;
        let baseline = row.and_then(|row| truth.baseline_figures(&graphs, row));
        Some(Quality { metrics, confusion, baseline })
    }

    fn write(&self, settings: &Settings, object: &mut Value) {
        match &settings.goal {
            Goal::Classes(_) | Goal::Labels(_) => object["accuracy"] = json!(self.metrics.accuracy),
            Goal::Targets(targets) => {
                let names: Vec<String> = targets.iter().map(|t| t.name.clone()).collect();
                object["mae"] = by_target(&names, &self.metrics.mae);
            }
        }
        object["metrics"] = json!(self.metrics);
        object["baseline"] = json!(self.baseline);
        if !self.confusion.is_empty() {
            object["confusion"] = json!(self.confusion);
        }
    }

    fn sentence(&self, settings: &Settings) -> String {
        match (&settings.goal, self.metrics.accuracy) {
            (Goal::Classes(_) | Goal::Labels(_), Some(accuracy)) => format!(", accuracy {accuracy}"),
            (Goal::Targets(targets), _) => {
                let names: Vec<String> = targets.iter().map(|t| t.name.clone()).collect();
                format!(", mae {}", by_target(&names, &self.metrics.mae))
            }
            _ => String::new(),
        }
    }

    fn table(&self, settings: &Settings) -> String {
        let nothing = Part::default();
        let baseline = self.baseline.as_ref().unwrap_or(&nothing);
        match &settings.goal {
            Goal::Classes(_) | Goal::Labels(_) => metrics::of_classes(&self.metrics, baseline),
            Goal::Targets(targets) => metrics::of_targets(targets, &self.metrics, baseline),
        }
    }
}
