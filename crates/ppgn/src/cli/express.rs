//! `ppgn express`: how many pairs of graphs a network tells apart, beside the test that bounds it.

mod counting;

use super::input::InputArgs;
use super::interrupt::interrupted;
use super::output::{self, counted, progress};
use super::ranks::cores;
use super::say;
use super::session::MemoryArgs;
use super::settings::{Chosen, SettingsArgs};
use super::wrong::wrong;
use anyhow::Result;
use ppgn::graph::text::escaped;
use ppgn::nn::Norm;
use ppgn::train::express::{self, Lab, Network, Protocol, Reason, Report, SUITES, Suite, bound_of};
use ppgn::train::protocol::{Workers, seed_numbers};
use ppgn::train::text::named;
use ppgn::train::{Error, PRESETS, Session};
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
Suites:
  brec      the BREC benchmark, its categories from brec/*.g6 in the data folder: basic, regular, str, extension, cfi,
            4vtx, dr (two lines per pair); what is not there is named
  csl       circular skip links: the 45 pairs of its ten classes
  exp cexp  planar SAT pairs (Abboud et al. 2021): their GRAPHSAT.txt as exp/GRAPHSAT.txt in the data folder
  sr        strongly regular graphs: all pairs of every family sr/*.g6 in the data folder, and classes found
  cfi       Cai-Fuerer-Immerman pairs by the treewidth of their base: treewidth-2, treewidth-3 (generated)
  graph8c   all 11117 connected graphs on 8 nodes (generated): pairs left undistinguished
  counting  no pairs: networks learn to count triangles, tailed triangles, chordal 4-cycles, 4-, 5- and 6-cycles and
            4-cliques of random graphs, one network each; errors beside published ones. counting:count=500 has fewer
            graphs than 5000; --level node counts per node; --target, --epochs, --seed and --order apply
SUITE:CATEGORY takes one category. Any other word is data, such as a file: its graphs 2p and 2p+1 are pair p.

Protocols:
  rpc       BREC's reliable paired comparisons: a network is trained for every pair on 32 relabelled copies of either
            graph, and Hotelling's T2 decides. The outputs are batch-normalised, which makes the loss 0 after an epoch: rpc
            barely trains, so untrained weights are printed beside it
  random    untrained weights, in f32 and f64: outputs must differ by more than 10 times what relabelled copies do
  exact     the Weisfeiler-Leman test that bounds the network; no network is run

A missed pair is one that the bounding test distinguishes and the network does not: for depth, if the test takes more rounds
than the network has blocks, else for numerics.
Order 1 has no norm unless one is given (--norm rms): it takes the number of equal neighbours out of a sum.

Try: ppgn express csl --protocol random       no training: 45 of 45 pairs in seconds
     ppgn express brec --seeds 0-2 --out lab  BREC, three seeds; the same command resumes
     ppgn express sr --order 3                strongly regular graphs, which no network of order 2 tells apart
     ppgn express my.g6 --protocol exact      what the test says about your own pairs";

/// `ppgn express`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// A suite, one category of it (brec:basic), or data whose consecutive graphs are pairs
    suite: String,
    /// When a pair counts as distinguished: rpc, random or exact
    #[arg(long, value_name = "PROTOCOL", default_value = "rpc", value_parser = named::<Protocol>)]
    protocol: Protocol,
    /// Seeds of weights and copies, such as 0-2; a pair counts if it does with every one
    #[arg(long, value_name = "SEEDS", default_value = "0")]
    seeds: String,
    /// Folder for results, pair by pair, and a picture; the same command resumes
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Number of pairs side by side, one thread each [default: number of cores]
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Runs `ppgn express`.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if counting::is_counting(&args.suite) {
        return counting::run(args);
    }
    let seeds = seed_numbers(&args.seeds)?;
    let chosen = chosen(args)?;
    let suite = load(args)?;
    for missing in &suite.missing {
        say::note(&escaped(missing));
    }
    let session = args.memory.session();
    let jobs = Workers::on(cores(), args.jobs.map(usize::from), Some(1)).jobs;
    let network = Network::new(&chosen.preset, &chosen.overrides, &suite)?;
    let bound = bound_of(network.config())?;
    if args.protocol != Protocol::Exact {
        network.admit(&session, &suite, args.protocol == Protocol::Rpc, jobs.min(suite.pairs()))?;
    }
    let lab = Lab {
        subject: Some(&network),
        seeds,
        settings: settings(args.protocol, &chosen, &network),
        jobs,
        out: args.out.clone(),
        ..Lab::new(&suite, args.protocol, bound)
    };
    let report = match measured(&lab, &session, args.quiet || args.json) {
        Err(error) if matches!(error.downcast_ref(), Some(Error::Interrupted)) => return Ok(stopped(args)),
        report => report?,
    };
    match args.json {
        true => output::json(&serde_json::to_value(&report)?)?,
        false => output::print(&to_text(args, &chosen, &network, &report))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The settings; the preset is the expressive one of the order where none is named.
fn chosen(args: &Args) -> Result<Chosen> {
    let order = args.settings.chosen()?.overrides.order;
    let mut chosen =
        chosen_for(args, if order.is_some_and(|order| order > 2) { "expressive-3" } else { "expressive" })?;
    if !chosen.targets.is_empty() || chosen.limit.is_some() {
        return Err(wrong("--target and --limit do not go with pairs of graphs"));
    }
    if chosen.overrides.seed.is_some() {
        return Err(wrong("--seed does not go with this command: give --seeds"));
    }
    if order == Some(1) {
        // Divided by its root mean square, a sum over equal neighbours no longer says how many there are.
        chosen.overrides.norm.get_or_insert(Norm::None);
    }
    Ok(chosen)
}

/// The settings, with this preset where none is named.
fn chosen_for(args: &Args, preset: &str) -> Result<Chosen> {
    let mut chosen = args.settings.chosen()?;
    if !args.settings.names_preset()? {
        chosen.preset = if PRESETS.contains(&preset) { preset } else { "small" }.into();
    }
    Ok(chosen)
}

fn load(args: &Args) -> Result<Suite> {
    Suite::load(&args.suite, &args.input.locator()?).map_err(|error| match error {
        Error::Graph(ppgn::graph::Error::NoData { message, remedy }) => {
            let message = format!("`{}` is not a suite ({}): {message}", args.suite, SUITES.join(", "));
            ppgn::graph::Error::NoData { message, remedy }.into()
        }
        other => other.into(),
    })
}

fn measured(lab: &Lab<'_>, session: &Session, quiet: bool) -> Result<Report> {
    let pairs: usize = lab.suite.categories.iter().map(|c| c.pairs().len()).sum();
    let bar = progress(pairs, "pairs", quiet);
    let report = lab.run(session, &|progress| bar.set_position(progress.done as u64));
    bar.finish_and_clear();
    Ok(report?)
}

/// Says how to go on after Ctrl-C.
fn stopped(args: &Args) -> ExitCode {
    match &args.out {
        Some(out) => {
            eprintln!("stopped; what was finished is in {}. The same command resumes", out.display())
        }
        None => eprintln!("stopped; with --out DIR the results are kept, and the same command resumes"),
    }
    ExitCode::from(interrupted())
}

fn settings(protocol: Protocol, chosen: &Chosen, network: &Network) -> serde_json::Value {
    let config = network.config();
    let mut settings = json!({
        "preset": chosen.preset,
        "order": config.order,
        "model": config.model.name(),
        "network": config,
        "encoding": network.encoding(),
        "precision": network.precision().name(),
        "space": network.space().name(),
        "random": { "copies": express::NOISE_COPIES, "multiple": express::MULTIPLE },
    });
    if protocol == Protocol::Rpc {
        settings["rpc"] = json!({
            "copies": express::COPIES,
            "batch": express::BATCH,
            "outputs": express::OUTPUTS,
            "threshold": express::THRESHOLD,
            "epochs": express::EPOCHS,
            "loss": express::LOSS,
            "rate": express::RATE,
            "weight_decay": 1e-4,
            "plateau_factor": express::FACTOR,
            "plateau_patience": express::PATIENCE,
            "batch_norm": "outputs, without parameters",
        });
    }
    settings
}

fn to_text(args: &Args, chosen: &Chosen, network: &Network, report: &Report) -> String {
    let exact = args.protocol == Protocol::Exact;
    let mut text = match exact {
        true => format!(
            "{}: {} distinguishes {} of {} pairs\n",
            report.suite, report.test, report.bound, report.pairs
        ),
        false => format!(
            "{} by {}, {} (order {}, {}, {}): {} of {} pairs distinguished{}; {} distinguishes {}\n",
            report.suite,
            report.protocol,
            chosen.preset,
            network.config().order,
            network.precision().name(),
            network.space().name(),
            report.distinguished,
            report.pairs,
            if report.seeds.len() > 1 {
                format!(" with each of {} seeds", report.seeds.len())
            } else {
                String::new()
            },
            report.test,
            report.bound
        ),
    };
    text += &output::table(&table(report, exact));
    text += &notes(report, exact);
    let _ = write!(text, "{:.1} s", report.seconds);
    if let Some(out) = &args.out {
        let _ = write!(text, "; report.json, report.svg and one file per pair are in {}", out.display());
    }
    text + "\n"
}

fn table(report: &Report, exact: bool) -> Vec<Vec<String>> {
    let variants: Vec<&String> = report.random.keys().collect();
    let mut head = vec!["category".to_string(), "pairs".into(), report.test.clone()];
    let trained = report.protocol == "rpc";
    if !exact {
        head.extend(trained.then(|| "rpc".to_string()));
        head.extend(variants.iter().map(|v| format!("random {v}")));
        head.extend(["missed: depth", "numerics", "beyond"].map(String::from));
        head.extend(trained.then(|| "unreliable".to_string()));
        head.push("seconds".into());
    } else {
        head.push("rounds".into());
    }
    let classes = report.categories.iter().any(|c| c.bound_classes.is_some());
    head.extend(classes.then(|| "classes".to_string()));
    let mut rows = vec![head];
    for category in &report.categories {
        let mut row = vec![category.name.clone(), category.pairs.to_string(), category.bound.to_string()];
        if exact {
            row.push(match category.rounds_max {
                0 => "-".into(),
                rounds => format!("up to {rounds}"),
            });
        } else {
            row.extend(trained.then(|| category.distinguished.to_string()));
            row.extend(variants.iter().map(|v| category.random.get(*v).map_or("-".into(), usize::to_string)));
            let numerics = category.missed - category.missed_for_depth;
            row.extend([category.missed_for_depth, numerics, category.beyond].map(|n| n.to_string()));
            row.extend(trained.then(|| category.reliability_failures.to_string()));
            row.push(format!("{:.1}", category.seconds));
        }
        if classes {
            row.push(match (category.classes, category.bound_classes) {
                (Some(found), Some(bound)) if !exact => format!("{found} of {bound}"),
                (_, bound) => bound.map_or("-".into(), |bound| bound.to_string()),
            });
        }
        rows.push(row);
    }
    rows
}

/// The pairs shown of a list.
const SHOWN: usize = 12;

fn notes(report: &Report, exact: bool) -> String {
    let mut text = String::new();
    for category in &report.categories {
        let Some(found) = &category.collection else { continue };
        let _ = writeln!(
            text,
            "  {}: {} leaves {} pairs undistinguished",
            category.name, report.test, found.bound_left
        );
        for left in &found.left {
            let _ = writeln!(
                text,
                "  {}: seed {}, {}: {} pairs left, {} of them distinguished by {}; noise {:.1e}",
                category.name, left.seed, left.variant, left.pairs, left.missed, report.test, left.noise
            );
        }
    }
    for (why, reason) in [(Reason::Depth, "more rounds than blocks"), (Reason::Numerics, "blocks enough")] {
        let missed: Vec<String> = report
            .missed
            .iter()
            .filter(|m| m.why == why)
            .map(|m| format!("{} {} ({})", m.category, m.pair, counted(m.rounds, "round", "rounds")))
            .collect();
        if !missed.is_empty() {
            let name = if why == Reason::Depth { "depth" } else { "numerics" };
            let _ = writeln!(text, "  missed for {name}, {reason}: {}", shown(&missed));
        }
    }
    if !report.beyond.is_empty() {
        let beyond: Vec<String> =
            report.beyond.iter().map(|b| format!("{} {}", b.category, b.pair)).collect();
        let _ = writeln!(
            text,
            "  beyond {}, so noise was taken for a difference: {}",
            report.test,
            shown(&beyond)
        );
    }
    if report.protocol == "rpc" {
        let scores: Vec<String> = report.scores.iter().map(i64::to_string).collect();
        let _ = writeln!(
            text,
            "  score (counted minus unreliable) by seed: {}; {} of {} trials ended after one epoch, so rpc barely trains",
            scores.join(", "),
            report.one_epoch,
            report.pairs * report.seeds.len()
        );
    }
    if report.regularised > 0 && !exact {
        let trials = counted(report.regularised, "trial", "trials");
        let _ = writeln!(
            text,
            "  marked: copies agreed to the bit in {trials}, where S + 1e-7 I took the place of S"
        );
    }
    text
}

fn shown(items: &[String]) -> String {
    let dots = if items.len() > SHOWN { format!(" and {} more", items.len() - SHOWN) } else { String::new() };
    items.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ") + &dots
}
