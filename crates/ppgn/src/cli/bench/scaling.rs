//! `ppgn bench scaling`.

use crate::cli::interrupt::{interrupted, on_ctrl_c};
use crate::cli::output;
use anyhow::{Context, Result, bail};
use ppgn::train::bench::{CostFigures, Growth, Subject, sizes, write_scaling};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

/// `ppgn bench scaling`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each size is measured by `ppgn bench cost` in a process of its own, so that memory is measured separately. In theory a block on k-tuples takes time n^(k+1) and space n^k, a linear equivariant layer on k-tensors n^k and n^k. Few features show it best: the MLPs cost n^k, and the product dominates them only if n is well above the number of features."
)]
pub(super) struct Args {
    /// What to measure: block-K or layer-K [default: block-2 block-3 layer-2 layer-3]
    subjects: Vec<Subject>,
    /// Maximum number of tuples of a graph: n^K
    #[arg(long, value_name = "N", default_value_t = 1 << 20)]
    tuples: usize,
    /// Number of input and output channels
    #[arg(long, value_name = "F", default_value_t = 4)]
    features: usize,
    /// Number of measured passes, after one warm-up pass; the median counts
    #[arg(long, value_name = "N", default_value_t = 5)]
    repeats: usize,
    /// Number of threads
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Write scaling.csv and scaling.svg to this folder
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs `ppgn bench scaling`.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let interrupt = on_ctrl_c();
    let subjects = if args.subjects.is_empty() { &Subject::ALL[..] } else { &args.subjects };
    let sizes: Vec<Vec<usize>> = subjects.iter().map(|&subject| sizes(subject, args.tuples)).collect();
    let bar = output::progress(sizes.iter().map(Vec::len).sum(), "sizes", args.quiet);
    let mut growths = Vec::new();
    for (&subject, sizes) in subjects.iter().zip(sizes) {
        let mut points = Vec::new();
        for nodes in sizes {
            bar.set_message(format!("sizes, {subject} with {nodes} nodes"));
            let point = measure(args, subject, nodes);
            if interrupt.check().is_err() {
                bar.finish_and_clear();
                eprintln!("stopped");
                return Ok(ExitCode::from(interrupted()));
            }
            points.push(point?);
            bar.inc(1);
        }
        growths.push(Growth::new(points).with_context(|| format!("{subject}: `--tuples` is too small"))?);
    }
    bar.finish_and_clear();
    if let Some(folder) = &args.out {
        write_scaling(&growths, folder)?;
    }
    match args.json {
        true => output::json(&serde_json::json!({ "subjects": growths }))?,
        false => output::print(&to_text(&growths))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// One size, in a process of its own.
fn measure(args: &Args, subject: Subject, nodes: usize) -> Result<CostFigures> {
    let program = std::env::current_exe().context("the path of the running program is unknown")?;
    let mut command = Command::new(program);
    command.args(["bench", "cost", &subject.to_string(), "--json"]);
    for (name, value) in [
        ("--nodes", nodes),
        ("--features", args.features),
        ("--repeats", args.repeats),
        ("--threads", args.threads.into()),
    ] {
        command.args([name, &value.to_string()]);
    }
    let output = command.stdin(Stdio::null()).output().context("`ppgn bench cost` cannot be started")?;
    if !output.status.success() {
        bail!("{subject} with {nodes} nodes: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn to_text(growths: &[Growth]) -> String {
    let mut text = String::new();
    for growth in growths {
        let row = |name: &str, of: &dyn Fn(&CostFigures) -> String| {
            std::iter::once(name.to_string()).chain(growth.points.iter().map(of)).collect::<Vec<String>>()
        };
        text += &output::table(&[
            row(&growth.subject.to_string(), &|p| format!("n = {}", p.nodes)),
            row("time, ms", &|p| format!("{:.3}", p.forward_ms)),
            row("space, MiB", &|p| p.space_mb.map_or("-".into(), |x| format!("{x:.1}"))),
        ]);
        text += &format!(
            "  time as n^{:.2}, in the last doubling n^{:.2}; in theory n^{}\n",
            growth.time_fit, growth.time_last, growth.time_claim
        );
        if let (Some(fit), Some(last)) = (growth.space_fit, growth.space_last) {
            text += &format!(
                "  space as n^{fit:.2}, in the last doubling n^{last:.2}; in theory n^{}\n",
                growth.space_claim
            );
        }
        text.push('\n');
    }
    text
}
