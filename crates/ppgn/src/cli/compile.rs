//! `ppgn compile`: a theorem of the paper as weights, for given graphs, in a run folder like any other.

use super::data::DATA_HELP;
use super::folder::made;
use super::input::{InputArgs, size};
use super::interrupt::on_ctrl_c;
use super::load::load_all;
use super::output::{self, counted};
use super::wl::{default_memory, test};
use super::wrong::wrong;
use anyhow::Result;
use ppgn::graph::Dataset;
use ppgn::nn::compile::{self, Compiled, Multiset, Options};
use ppgn::nn::{Model, Precision};
use ppgn::train::{Run, Session, Settings, check_prediction};
use ppgn::wl::{Features, Test, refine};
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// `ppgn compile`.
#[derive(Debug, clap::Args)]
#[command(after_help = DATA_HELP)]
pub(crate) struct Args {
    /// The graphs. The network's scores for two of them differ exactly if the test distinguishes the two
    data: String,
    /// The test: 2-fwl (Theorem 2), k-fwl (the generalised product of Section 6) or k-wl (Theorem 1), such as 3-fwl
    #[arg(long, value_name = "TEST", default_value = "2-fwl")]
    test: String,
    /// The k of k-wl and k-fwl
    #[arg(long, value_name = "K")]
    order: Option<usize>,
    /// Number of rounds of the test [default: as few as distinguish the same graphs as the stable colouring]
    #[arg(long, value_name = "R")]
    rounds: Option<usize>,
    /// How multisets of colours are encoded as vectors: projections, power-sums (the paper's) or counts
    #[arg(long, value_name = "HOW", default_value = "projections", value_parser = multiset)]
    multiset: Multiset,
    /// Ignore the labels of nodes and edges
    #[arg(long)]
    ignore_labels: bool,
    /// Explain what each block does
    #[arg(long)]
    explain: bool,
    /// The run folder [default: runs/DATA-TEST, with a number appended if that exists]
    #[arg(long, value_name = "NET")]
    out: Option<PathBuf>,
    /// Memory limit of the test, such as 2GiB [default: 80 % of the free memory]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_memory: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: InputArgs,
}

fn multiset(name: &str) -> Result<Multiset, String> {
    name.parse().map_err(|e: ppgn::nn::Error| e.to_string())
}

/// Runs `ppgn compile`.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let test = test(&args.test, args.order)?;
    if test.k() < 2 {
        return Err(wrong(format!(
            "{test} cannot be compiled: it colours nodes, and networks compute on pairs and longer tuples; 2-wl distinguishes \
             the same graphs"
        )));
    }
    if let Some(out) = args.out.as_ref().filter(|out| out.exists()) {
        return Err(ppgn::train::Error::Exists { path: out.clone() }.into());
    }
    let (_, dataset) = load_all(&args.data, &args.input)?;
    let start = Instant::now();
    let compiled = compile(args, test, &dataset)?;
    // Only a network that was verified on all graphs is written.
    fits_memory(args, &dataset, &compiled)?;
    compiled.verify_until(dataset.graphs(), dataset.schema(), &on_ctrl_c())?;
    let settings = Settings::compiled(&test.to_string(), &dataset, &compiled)?;
    let network = compiled.network()?;
    let name = format!("{}-{test}", dataset.name());
    let run = made(args.out.as_deref(), &name, |out| Run::import(out, settings.clone(), &network))?;
    let seconds = start.elapsed().as_secs_f64();
    match args.json {
        true => output::json(&to_json(test, &run, &dataset, &compiled, seconds))?,
        false => output::print(&to_text(args, test, &run, &dataset, &compiled, seconds))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn compile(args: &Args, test: Test, dataset: &Dataset) -> Result<Compiled> {
    let labels = !args.ignore_labels;
    let options = ppgn::wl::Options {
        features: Features { labels, attributes: false },
        // The stable colouring shows how many rounds are enough; a given number of rounds needs no more.
        rounds: args.rounds,
        max_memory: args.max_memory.or_else(default_memory),
        interrupt: on_ctrl_c(),
    };
    let colours = refine(dataset.graphs(), test, &options)?;
    let options = Options { rounds: args.rounds, multiset: args.multiset, labels, interrupt: on_ctrl_c() };
    Ok(compile::compile(dataset.graphs(), dataset.schema(), &colours, &options)?)
}

/// Refuses to run a network that needs more memory than there is.
fn fits_memory(args: &Args, dataset: &Dataset, compiled: &Compiled) -> Result<()> {
    let session = Session::default().with_max_memory(args.max_memory);
    let nodes = dataset.graphs().iter().map(|graph| graph.nodes()).max().unwrap_or(0);
    check_prediction(&session, &compiled.config, Precision::F64, dataset, compiled.batch(nodes))?;
    Ok(())
}

/// The MLPs of a block, by name.
fn mlps(compiled: &Compiled) -> String {
    match (compiled.config.model, compiled.config.order) {
        (Model::Sums, _) => "m1".into(),
        (_, 2) => "m1, m2".into(),
        (_, k) => format!("m1 to m{k}"),
    }
}

/// How many different rows of scores there are.
fn classes(compiled: &Compiled) -> usize {
    let mut rows: Vec<Vec<u64>> =
        compiled.scores.iter().map(|row| row.iter().map(|s| s.to_bits()).collect()).collect();
    rows.sort_unstable();
    rows.dedup();
    rows.len()
}

fn to_json(test: Test, run: &Run, dataset: &Dataset, compiled: &Compiled, seconds: f64) -> serde_json::Value {
    json!({
        "data": dataset.name(),
        "test": test.to_string(),
        "order": compiled.config.order,
        "run": output::path(run.path()),
        "graphs": dataset.len(),
        "classes": classes(compiled),
        "rounds": compiled.rounds,
        "blocks": compiled.config.blocks.len(),
        "parameters": parameters(compiled),
        "multiset": compiled.multiset.name(),
        "margin": compiled.margin,
        "threshold": compiled.threshold(),
        "largest_sum": compiled.largest,
        "steps": compiled.steps,
        "seconds": seconds,
    })
}

fn parameters(compiled: &Compiled) -> usize {
    compiled.parameters.iter().map(ppgn::nn::Values::len).sum()
}

fn to_text(
    args: &Args,
    test: Test,
    run: &Run,
    dataset: &Dataset,
    compiled: &Compiled,
    seconds: f64,
) -> String {
    let mut text = format!(
        "{}: {} in {}, as {} distinguishes them after {}; {} with {} parameters ({seconds:.1} s)\n",
        dataset.name(),
        counted(dataset.len(), "graph", "graphs"),
        counted(classes(compiled), "class", "classes"),
        test,
        counted(compiled.rounds, "round", "rounds"),
        counted(compiled.config.blocks.len(), "block", "blocks"),
        parameters(compiled),
    );
    if args.explain {
        for (l, (step, block)) in compiled.steps.iter().zip(&compiled.config.blocks).enumerate() {
            let hidden =
                block.hidden.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "  block {}: {step}", l + 1);
            let _ = writeln!(
                text,
                "           {}: hidden {hidden}, then {}; m4: {}",
                mlps(compiled),
                counted(block.product(), "channel", "channels"),
                counted(block.width, "channel", "channels")
            );
        }
        let tuples = if test.k() == 2 { "pairs".into() } else { format!("{}-tuples", test.k()) };
        let _ = writeln!(
            text,
            "  suffix ii: the sums of the last block over all {tuples}; the other maps are zero"
        );
    }
    let apart = match classes(compiled) {
        1 => "It distinguishes none of them".to_string(),
        _ => format!("Scores of graphs that it distinguishes differ by {} or more", compiled.margin),
    };
    let largest = compiled.largest.max(1.0).log2();
    let _ = writeln!(text, "{apart}; no sum exceeds 2^{largest:.1}, so f64 is exact in any order.");
    let path = run.path().display();
    let _ = writeln!(text, "The run is in {path}: `ppgn predict {path} {} --pairs` uses it.", args.data);
    text
}
