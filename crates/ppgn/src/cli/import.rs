//! `ppgn import`: a PyTorch checkpoint of the paper's authors as a run, for `predict` and `embed`.
//!
//! A checkpoint holds weights and nothing about the data. With `--data`, features and classes are those of a dataset,
//! which must fit. Without it, they are the simplest that fit: node labels 0, 1, ... for the input channels, classes
//! 0, 1, ... for the outputs.

use super::data::DATA_HELP;
use super::folder::made;
use super::input::InputArgs;
use super::load::load_all;
use super::output;
use super::say;
use anyhow::Result;
use ppgn::graph::encode::{Encoding, Kind};
use ppgn::graph::format::qm9::FEATURES;
use ppgn::graph::{Dataset, Error, LabelColumn, Schema, Target};
use ppgn::nn::{PpgnConfig, SuffixKind, import};
use ppgn::train::text::{encoding, named};
use ppgn::train::{Goal, Imported, Run, SampleWeights, Scaling, Settings};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// `ppgn import`.
#[derive(Debug, clap::Args)]
#[command(after_help = DATA_HELP)]
pub(crate) struct Args {
    /// The checkpoint: a .tar or .pt with the authors' names under `model_state_dict`
    file: PathBuf,
    /// Input encoding of the network: authors, paper, qm9, paper+identity, authors+degree and so on, as in training
    #[arg(long, value_name = "ENCODING", default_value = "authors", value_parser = encoding)]
    encoding: Encoding,
    /// The run folder [default: runs/NAME of the file, with a number appended if that exists]
    #[arg(long, value_name = "RUN")]
    out: Option<PathBuf>,
    /// The dataset that it was trained on, which determines node labels and classes
    #[arg(long, value_name = "DATA")]
    data: Option<String>,
    /// For regression, the targets of --data by name, in the order of the outputs [default: all]
    #[arg(long = "target", value_name = "NAME", value_delimiter = ',', requires = "data")]
    targets: Vec<String>,
    /// Suffix after the blocks, i or ii, if the shapes fit both
    #[arg(long, value_name = "KIND", value_parser = named::<SuffixKind>)]
    suffix: Option<SuffixKind>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: InputArgs,
}

/// Runs `ppgn import`.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let checkpoint = import::read(&args.file, args.suffix)?;
    let name = args.file.file_stem().and_then(|s| s.to_str()).unwrap_or("checkpoint");
    let config = checkpoint.config.clone();
    let fit = match &args.data {
        Some(spec) => Fit::of(&load_all(spec, &args.input)?.1, &args.targets, args.encoding, &config)?,
        None => Fit::simplest(args.encoding, &config)?,
    };
    let Fit { source, schema, goal, scaling, note } = fit;
    let settings = Settings::imported(Imported {
        dataset: source.unwrap_or_else(|| name.to_string()),
        precision: checkpoint.precision,
        encoding: args.encoding,
        network: config.clone(),
        goal,
        schema,
        scaling,
    })?;
    let network = checkpoint.network()?;
    let run = made(args.out.as_deref(), name, |out| Run::import(out, settings.clone(), &network))?;
    if let Some(note) = note {
        say::note(&note);
    }
    let widths: Vec<usize> = config.blocks.iter().map(|b| b.width).collect();
    match args.json {
        true => output::json(&json!({
            "file": output::path(&args.file),
            "run": output::path(run.path()),
            "encoding": args.encoding.kind.name(),
            "inputs": config.inputs,
            "outputs": config.outputs,
            "blocks": widths,
            "depth": config.depth,
            "suffix": config.suffix,
            "precision": run.settings().training.precision.name(),
        }))?,
        false => output::print(&format!(
            "{}: blocks {widths:?}, depth {}, {} inputs, {} outputs\nThe run is in {out}: `ppgn predict {out} DATA` uses it.\n",
            args.file.display(),
            config.depth,
            config.inputs,
            config.outputs,
            out = run.path().display()
        ))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What a run needs to know about the data, and a note for the user.
struct Fit {
    source: Option<String>,
    schema: Schema,
    goal: Goal,
    scaling: Vec<Scaling>,
    note: Option<String>,
}

impl Fit {
    /// From a dataset.
    fn of(dataset: &Dataset, targets: &[String], encoding: Encoding, config: &PpgnConfig) -> Result<Self> {
        let (name, goal) = (dataset.name(), Goal::of(dataset, targets)?);
        let channels = encoding.encoder(dataset.schema())?.channels().len();
        if channels != config.inputs {
            return Err(Error::unfit(format!(
                "the network takes {} input channels, but {name} has {channels} in the encoding `{}`",
                config.inputs,
                encoding.kind.name()
            ))
            .into());
        }
        if goal.outputs() != config.outputs {
            let (what, n) = match &goal {
                Goal::Classes(classes) => ("classes", classes.len()),
                Goal::Targets(targets) | Goal::Labels(targets) => ("targets", targets.len()),
            };
            return Err(Error::unfit(format!(
                "the network has {} outputs, but {name} has {n} {what}",
                config.outputs
            ))
            .into());
        }
        let all: Vec<u32> = (0..dataset.len() as u32).collect();
        let scaling = goal.scaling(dataset, &all, &SampleWeights::default())?;
        let note = (!scaling.is_empty()).then(|| {
            format!(
                "the outputs are interpreted as targets standardised by mean and deviation over all of {name}; a checkpoint \
                 does not say over which graphs (`predict --scores` shows the raw outputs)"
            )
        });
        Ok(Fit { source: Some(name.to_string()), schema: dataset.schema().clone(), goal, scaling, note })
    }

    /// The simplest data that fits.
    fn simplest(encoding: Encoding, config: &PpgnConfig) -> Result<Self> {
        if encoding.kind == Kind::Qm9 {
            let names =
                (0..config.outputs).map(|i| Target { name: format!("output{i}"), unit: String::new() });
            return Ok(Fit {
                source: None,
                schema: molecules(),
                goal: Goal::Targets(names.collect()),
                scaling: vec![Scaling { mean: 0.0, deviation: 1.0 }; config.outputs],
                note: Some("predictions are raw outputs; --data QM9 interprets them as its targets".into()),
            });
        }
        let directed = encoding.transposed;
        let plain = Schema { directed, ..Schema::default() };
        let fixed = encoding.encoder(&plain)?.channels().len();
        let labels = config.inputs.checked_sub(fixed).ok_or_else(|| {
            Error::unfit(format!(
                "the network takes {} input channels, fewer than the encoding `{}` has without any feature ({fixed})",
                config.inputs,
                encoding.kind.name()
            ))
        })?;
        let node_labels = match labels {
            0 => Vec::new(),
            n => vec![LabelColumn::new("label", 0..n as i64)],
        };
        let note = match labels {
            0 => format!(
                "inputs are interpreted as graphs without features, outputs as classes 0 to {}",
                config.outputs - 1
            ),
            n => format!(
                "inputs are interpreted as node labels 0 to {}, outputs as classes 0 to {}; --data DATA takes them from a dataset",
                n - 1,
                config.outputs - 1
            ),
        };
        Ok(Fit {
            source: None,
            schema: Schema { node_labels, ..plain },
            goal: Goal::Classes((0..config.outputs as i64).collect()),
            scaling: Vec::new(),
            note: Some(note),
        })
    }
}

/// The features of QM9's molecules.
fn molecules() -> Schema {
    Schema {
        directed: false,
        node_labels: vec![LabelColumn::new("atom", [1, 6, 7, 8, 9])],
        node_attributes: FEATURES.map(String::from).to_vec(),
        edge_labels: vec![LabelColumn::new("bond", 1..=4)],
        edge_attributes: Vec::new(),
        positions: true,
    }
}
