//! `ppgn train`: one network on one division of a dataset, into a run folder that can always be resumed.

pub(crate) mod ending;
mod progress;
pub(crate) mod settings;

use super::data::DATA_HELP;
use super::input::InputArgs;
use super::interrupt::{INTERRUPTED, on_ctrl_c};
use super::output;
use super::threads::ThreadsArgs;
use anyhow::{Context, Result};
use ppgn::graph::{Dataset, Error};
use ppgn::train::{Division, Outcome, Overview, Run, Settings, limited};
use progress::Progress;
use settings::{Chosen, SettingsArgs, load_to_train};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `ppgn train`.
#[derive(Debug, clap::Args)]
#[command(after_help = DATA_HELP)]
pub(crate) struct Args {
    /// The dataset [default: csl; with --resume, the run's]
    data: Option<String>,
    #[command(flatten)]
    division: DivisionArgs,
    /// The run folder [default: runs/DATASET-PRESET-SEED, with a number after it if that is there]
    #[arg(long, value_name = "RUN", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Go on with a run, by its own settings, where its last checkpoint stands
    #[arg(long, value_name = "RUN")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    threads: ThreadsArgs,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: InputArgs,
    // Last, for the heading above its options in the help would go on below it.
    #[command(flatten)]
    settings: SettingsArgs,
}

/// How the data is divided.
#[derive(Debug, Clone, clap::Args)]
#[group(multiple = false)]
struct DivisionArgs {
    /// Train and test on this one of the folds that the data brings along, counted from 1
    #[arg(long, value_name = "K")]
    fold: Option<usize>,
    /// Hold out this share of the graphs to test on, such as 0.1, the classes spread evenly
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    holdout: Option<f64>,
    /// Training, validation and test parts in percent, the classes spread evenly [default: 80/10/10]
    #[arg(long, value_name = "A/B/C", value_parser = parsed_shares)]
    split: Option<Shares>,
}

/// Three shares that sum to 1.
#[derive(Debug, Clone, Copy)]
struct Shares([f64; 3]);

fn parsed_shares(text: &str) -> Result<Shares, String> {
    settings::shares(text).map(Shares)
}

impl DivisionArgs {
    fn division(&self) -> Option<Division> {
        let fold = self.fold.map(Division::Fold);
        fold.or(self.holdout.map(Division::Holdout)).or(self.split.map(|s| Division::Shares(s.0)))
    }
}

/// Runs `ppgn train`.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    args.threads.apply();
    match &args.resume {
        Some(path) => resume(&args, path),
        None => start(&args),
    }
}

fn start(args: &Args) -> Result<ExitCode> {
    let chosen = args.settings.chosen()?;
    let division = args.division.division().or(chosen.division);
    let division = division.unwrap_or(Division::Shares([0.8, 0.1, 0.1]));
    if chosen.limit.is_some() && matches!(division, Division::Fold(_)) {
        return Err(Error::call("--limit does not go with --fold: a fold is one of the whole dataset").into());
    }
    if let Some(out) = args.out.as_ref().filter(|out| out.exists()) {
        // Run::create says so too, but only after the data was read.
        let out = out.display();
        return Err(Error::call(format!(
            "{out} is there already; `ppgn train --resume {out}` goes on with it"
        ))
        .into());
    }
    let data = chosen.load(args.data.as_deref().unwrap_or("csl"), &args.input)?;
    let Chosen { preset, overrides, targets, limit, .. } = &chosen;
    let settings =
        Settings::resolve(&data.spec, &data.dataset, *limit, preset, overrides, division, targets)?;
    let encoder = settings.encoding.encoder(&settings.schema)?;
    if !args.quiet && !encoder.ignored().is_empty() {
        let (name, left) = (settings.encoding.kind.name(), encoder.ignored().join(", "));
        eprintln!("note: the encoding `{name}` leaves out {left} of the data");
    }
    let out = args.out.clone().unwrap_or_else(|| default_folder(&settings));
    let run = Run::create(out, settings)?;
    work(args, &run, &data.dataset)
}

fn resume(args: &Args, path: &Path) -> Result<ExitCode> {
    if !args.settings.is_silent() || args.division.division().is_some() {
        let what = "--resume goes on with a run by its own settings; other settings make another run (--out)";
        return Err(Error::call(what).into());
    }
    let run = Run::open(path)?;
    if run.settings().is_imported() {
        return Err(Error::call(format!(
            "{} was imported: there is nothing to resume in it",
            path.display()
        ))
        .into());
    }
    if let Some(summary) = Run::summary(path)? {
        eprintln!("{} is finished already", path.display());
        return ending::finished(&run, &summary, args.json);
    }
    let settings = run.settings();
    let spec = args.data.as_deref().unwrap_or(&settings.data);
    let loaded = load_to_train(spec, &args.input).with_context(|| {
        let path = path.display();
        format!("the data of {path} cannot be read (`ppgn train DATA --resume {path}` says where it is now)")
    });
    let dataset = limited(&loaded?.1, settings.limit, settings.training.seed)?;
    if !args.quiet {
        eprintln!("going on after epoch {}", Overview::of(path)?.epochs);
    }
    work(args, &run, &dataset)
}

/// Trains, tells how it goes, and ends with the result, or with how to go on.
fn work(args: &Args, run: &Run, dataset: &Dataset) -> Result<ExitCode> {
    let interrupt = on_ctrl_c();
    let mut progress = Progress::new(run, dataset.len(), args.quiet);
    let outcome = ppgn::train::train(run, dataset, &mut |event| {
        progress.tell(&event);
        interrupt.check().is_ok()
    });
    progress.end();
    match outcome? {
        Outcome::Finished(summary) => ending::finished(run, &summary, args.json),
        Outcome::Stopped { epochs } => {
            let path = run.path().display();
            eprintln!(
                "stopped with {epochs} of {} epochs done; `ppgn train --resume {path}` goes on",
                run.settings().training.epochs
            );
            if args.json {
                output::json(&serde_json::json!({ "run": run.path(), "epochs": epochs, "finished": false }))?;
            }
            Ok(ExitCode::from(INTERRUPTED))
        }
    }
}

/// The folder of a run that was given none: the first of `runs/csl-small-0`, `runs/csl-small-0-2` ... that is not there.
fn default_folder(settings: &Settings) -> PathBuf {
    free_folder(&format!("{}-{}-{}", settings.dataset, settings.preset, settings.training.seed))
}

/// A folder of this name in `runs`, numbered where it must be; what could not be in a folder's name is left out.
pub(crate) fn free_folder(name: &str) -> PathBuf {
    let fit = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = name.trim_start_matches('.').chars().map(fit).take(100).collect();
    let numbered = (2..).map(|n: u64| format!("{name}-{n}"));
    let mut folders = std::iter::once(name.clone()).chain(numbered).map(|name| Path::new("runs").join(name));
    folders.find(|folder| !folder.exists()).unwrap_or_else(|| Path::new("runs").join(name))
}
