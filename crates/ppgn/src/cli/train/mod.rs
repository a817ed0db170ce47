//! `ppgn train`: trains one network on one split of a dataset, in a run folder that can always be resumed.

mod ending;
mod progress;

use super::data::DATA_HELP;
use super::device::DeviceArgs;
use super::division::DivisionArgs;
use super::folder::{folder, made};
use super::input::InputArgs;
use super::interrupt::interrupted;
use super::load::{Data, load_to_train};
use super::log::LogArgs;
use super::output;
use super::protocol::seeds::{self, How};
use super::ranks::cores;
use super::say;
use super::session::MemoryArgs;
use super::settings::SettingsArgs;
use super::threads::ThreadsArgs;
use super::wrong::wrong;
use anyhow::{Context, Result};
use ppgn::graph::Dataset;
use ppgn::train::protocol::{Workers, seed_numbers};
use ppgn::train::{
    Error, Event, Outcome, Overview, Request, Run, Schedule, Session, Settings, Trained, check_memory,
    limited,
};
pub(crate) use progress::LINE_EVERY;
use progress::Progress;
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
    /// The run folder [default: runs/DATASET-PRESET-SEED, with a number appended if that exists]
    #[arg(long, value_name = "RUN", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Train with each of these seeds, such as 0-4, on the split of the first: mean and deviation of every metric, and
    /// averaged predictions. The same command resumes [default folder: runs/DATASET-PRESET-seeds-SEEDS]
    #[arg(long, value_name = "SEEDS", conflicts_with_all = ["resume", "seed", "limit"])]
    seeds: Option<String>,
    /// Resume a run from its last checkpoint, with its own settings; a larger --epochs extends it
    #[arg(long, value_name = "RUN")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    log: LogArgs,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: InputArgs,
    // Last, because the help heading of its options would apply to what follows.
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs `ppgn train`.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let session = args.device.of(args.threads.of(args.memory.session())?, args.quiet)?;
    match &args.resume {
        Some(path) => resume(&args, &session, path),
        None => start(&args, &session),
    }
}

fn start(args: &Args, session: &Session) -> Result<ExitCode> {
    let chosen = args.settings.chosen()?;
    let asked = args.division.asked().or_else(|| chosen.division.clone()).unwrap_or_default();
    asked.check(chosen.limit.is_some())?;
    let seeds = args.seeds.as_deref().map(seed_numbers).transpose()?;
    if seeds.is_some() && (chosen.limit.is_some() || chosen.overrides.seed.is_some()) {
        return Err(wrong("--seeds cannot be used with a limit or a seed in the file"));
    }
    if let Some(out) = args.out.as_ref().filter(|out| session.leads() && seeds.is_none() && out.exists()) {
        // Run::create checks this too, but only after the data was read.
        return Err(Error::Exists { path: out.clone() }.into());
    }
    let data = chosen.load(session, args.data.as_deref().unwrap_or("csl"), &args.input)?;
    let first = seeds.as_ref().and_then(|seeds| seeds.first().copied());
    let seed = first.map_or_else(|| chosen.seed(data.dataset.name()), Ok)?;
    let division = asked.division(&data.spec, &data.dataset, seed)?;
    if let (Some(seeds), Some(text)) = (&seeds, &args.seeds) {
        let request = Request { division, ..chosen.request(&data) };
        let words = [data.dataset.name(), request.preset, "seeds", text.trim()];
        let out = args.out.clone().unwrap_or_else(|| folder(&words));
        let workers = Workers::on(cores(), None, args.threads.threads.map(usize::from));
        return seeds::run(
            &request,
            &data,
            seeds,
            &out,
            &How { workers, quiet: args.quiet, json: args.json, log: args.log },
        );
    }
    if !session.leads() {
        return followed(&data.session, &data.dataset);
    }
    let settings = Settings::resolve(&Request { division, ..chosen.request(&data) })?;
    let encoder = settings.encoding.encoder(&settings.schema)?;
    if !args.quiet && !encoder.ignored().is_empty() {
        let (name, left) = (settings.encoding.kind.name(), encoder.ignored().join(", "));
        say::note(&format!("the encoding `{name}` leaves out {left} of the data"));
    }
    // A run that cannot start leaves no folder.
    check_memory(&data.session, &settings, &data.dataset)?;
    let name = format!("{}-{}-{}", settings.dataset, settings.preset(), settings.training.seed);
    let run = made(args.out.as_deref(), &name, |out| Run::create(out, settings.clone()))?;
    work(args, &run, &data)
}

fn resume(args: &Args, session: &Session, path: &Path) -> Result<ExitCode> {
    let Some(more) = args.settings.epochs_alone().filter(|_| args.division.asked().is_none()) else {
        return Err(wrong(
            "--resume uses the run's own settings, all but --epochs; other settings make another run (--out)",
        ));
    };
    if !session.leads() {
        // Rank 0 has the run.
        let (data, dataset) = data_of(args, session, path, &Run::settings_of(path)?)?;
        return followed(&data.session, &dataset);
    }
    let mut run = Run::open(path)?;
    if let Some(epochs) = more {
        extend(&mut run, epochs)?;
    }
    trained_on(run.settings())?;
    if let Some(summary) = Run::summary(path)? {
        output::warn(&run.verify()?);
        eprintln!("{} is already finished", path.display());
        return ending::finished(&run, &summary, args.json);
    }
    let (data, dataset) = data_of(args, session, path, run.settings())?;
    if !args.quiet {
        eprintln!("resuming after epoch {}", Overview::of(path)?.epochs);
    }
    work(args, &run, &Data { dataset, ..data })
}

/// Takes part in the training of rank 0.
fn followed(session: &Session, dataset: &Dataset) -> Result<ExitCode> {
    ppgn::train::follow(session, dataset)?;
    Ok(ExitCode::SUCCESS)
}

/// What a run was trained on; an error if it was not trained.
fn trained_on(settings: &Settings) -> Result<&Trained> {
    let how = if settings.compilation().is_some() { "compiled" } else { "imported" };
    Ok(settings.trained().ok_or(Error::NothingToTrain { how })?)
}

/// The data of a run, and the part of it that was used.
fn data_of(args: &Args, session: &Session, path: &Path, settings: &Settings) -> Result<(Data, Dataset)> {
    let trained = trained_on(settings)?;
    let spec = args.data.as_deref().unwrap_or(&trained.data);
    let input = args.input.or_recorded(&trained.read);
    let loaded = load_to_train(session, spec, &input).with_context(|| {
        let path = path.display();
        format!(
            "the data of {path} cannot be read (`ppgn train DATA --resume {path}` gives its new location)"
        )
    });
    let data = loaded?;
    let dataset = limited(&data.dataset, trained.limit, settings.training.seed)?;
    Ok((data, dataset))
}

/// Plans more epochs for a run, unless more would change nothing.
fn extend(run: &mut Run, epochs: usize) -> Result<()> {
    if run.settings().trained().is_none() {
        return Ok(());
    }
    if Run::summary(run.path())?.is_some_and(|summary| summary.stopped_early) {
        say::note("the run was stopped early; more epochs would not change that");
        return Ok(());
    }
    let before = run.settings().training.epochs;
    output::warn(&run.verify()?);
    run.extend(epochs)?;
    if epochs > before && run.settings().training.schedule == Schedule::Cosine {
        say::note(&format!("the epochs that are left follow a cosine over {epochs} epochs"));
    }
    Ok(())
}

/// Trains with progress, and ends with the result or with the command that resumes.
fn work(args: &Args, run: &Run, data: &Data) -> Result<ExitCode> {
    let logs = args.log.logs();
    logs.begin(run.path())?;
    let mut progress = Progress::new(run, data.dataset.len(), args.quiet);
    let outcome = ppgn::train::train(&data.session, run, &data.dataset, &mut |event| {
        if let Event::Epoch { epoch, .. } = event {
            logs.add(run.path(), epoch);
        }
        match event {
            Event::Warning(warning) => output::warn(std::slice::from_ref(warning)),
            event => progress.show(&event),
        }
        true
    });
    progress.end();
    match outcome? {
        Outcome::Finished(summary) => ending::finished(run, &summary, args.json),
        Outcome::Stopped { epochs } => {
            let path = run.path().display();
            eprintln!(
                "stopped after {epochs} of {}; `ppgn train --resume {path}` resumes it",
                output::counted(run.settings().training.epochs, "epoch", "epochs")
            );
            if args.json {
                let run = output::path(run.path());
                output::json(&serde_json::json!({ "run": run, "epochs": epochs, "finished": false }))?;
            }
            Ok(ExitCode::from(interrupted()))
        }
    }
}
