//! `ppgn devices`: where this machine can compute, and what this build of ppgn can use.

use super::device::{INSTALL, SUPPORTED};
use super::output;
use anyhow::Result;
use serde_json::{Value, json};
use std::process::ExitCode;

/// `ppgn devices`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "`--device gpu:1` of train, cv, predict and others is number 1, `--device gpu` the first that is not software; with mpirun, the ranks of a machine take them in turn. Software (lavapipe) is taken by `gpu` if there is nothing else, and by `auto` never."
)]
pub(crate) struct Args {
    /// Compare every GPU with the CPU engine: features, scores and gradients of all kinds of networks, and the losses of
    /// 20 steps of training; takes minutes
    #[arg(long)]
    check: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs `ppgn devices`.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let gpus = gpus(args)?;
    if args.json {
        let (apis, gpus) = (apis(), gpus.iter().map(|(json, _)| json.clone()).collect::<Vec<_>>());
        output::json(&json!({ "cpu": { "cores": cores }, "built_with": apis, "gpus": gpus }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!("cpu     the CPU engine, {}\n", output::counted(cores, "core", "cores"));
    gpus.iter().for_each(|(_, lines)| text += lines);
    text += &match (SUPPORTED, gpus.is_empty()) {
        (false, _) => format!("This build of ppgn has no GPU support; {INSTALL}\n"),
        (true, true) => format!("This build can use {}, and found no GPU.\n", apis().join(", ")),
        (true, false) => format!("This build can use {}.\n", apis().join(", ")),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(not(feature = "gpu"))]
fn apis() -> Vec<&'static str> {
    Vec::new()
}

#[cfg(not(feature = "gpu"))]
fn gpus(_: &Args) -> Result<Vec<(Value, String)>> {
    Ok(Vec::new())
}

#[cfg(feature = "gpu")]
use ppgn::burn::apis;

/// Every GPU as JSON, and as lines of text.
#[cfg(feature = "gpu")]
fn gpus(args: &Args) -> Result<Vec<(Value, String)>> {
    use ppgn::nn::device::Accelerator;
    let one = |(number, gpu): (usize, ppgn::burn::Gpu)| {
        let largest = gpu.largest().map(|bytes| bytes >> 20);
        let mut about = json!({
            "device": format!("gpu:{number}"), "name": gpu.device_name(), "api": gpu.api(),
            "hardware": gpu.is_hardware(), "f64": gpu.has_f64(), "largest_tensor_mib": largest,
        });
        let limit = largest.map_or(String::new(), |mib| format!(", tensors up to {mib} MiB"));
        let kind = if gpu.is_hardware() { "" } else { ", software" };
        let precision = if gpu.has_f64() { "f32 and f64" } else { "f32" };
        let mut text = format!("gpu:{number:<3} {}{kind}, {precision}{limit}\n", gpu.name());
        if args.check {
            let (table, lines) = parity(&gpu, args.json)?;
            about["parity"] = table;
            text += &lines;
        }
        Ok((about, text))
    };
    ppgn::burn::devices().into_iter().enumerate().map(one).collect()
}

/// The parity table of a GPU.
#[cfg(feature = "gpu")]
fn parity(gpu: &ppgn::burn::Gpu, quiet: bool) -> Result<(Value, String)> {
    use ppgn::burn::parity::{Parity, parity};
    let line = |p: &Parity| {
        let Parity { name, space, features, scores, gradient, losses } = p;
        format!("  {name:<36} {space:<9} {features:>9.1e} {scores:>9.1e} {gradient:>9.1e} {losses:>9.1e}\n")
    };
    let head = format!(
        "  {:<36} {:<9} {:>9} {:>9} {:>9} {:>9}\n",
        "network", "space", "features", "scores", "gradient", "losses"
    );
    let bar = output::progress(0, "networks", quiet);
    let all = parity(gpu, ppgn::nn::Precision::F32, &mut |_| bar.inc(1));
    bar.finish_and_clear();
    let all = all?;
    let rows = all.iter().map(|p| {
        json!({
            "network": p.name, "space": p.space, "features": p.features, "scores": p.scores,
            "gradient": p.gradient, "losses": p.losses,
        })
    });
    let rows: Vec<Value> = rows.collect();
    let lines: String = all.iter().map(line).collect();
    Ok((json!(rows), head + &lines))
}
