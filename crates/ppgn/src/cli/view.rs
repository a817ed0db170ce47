//! `ppgn view`: the local page.

use super::interrupt::{interrupted, on_ctrl_c};
use super::wrong::wrong;
use super::{output, say};
use anyhow::Result;
use ppgn::graph::locate::default_data_dir;
use ppgn_view::{View, serve};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// `ppgn view`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ppgn view                          the runs in `runs`, in a browser at http://127.0.0.1:7766
  ppgn view experiments --open       those in another folder; opens the browser
  ppgn view --export site            the same as files, to put on a web server
  ppgn view --host 0.0.0.0           for other machines, with a token in the address that is printed

The page is read-only, works without a network, and shows nothing outside DIR and the data folder.")]
pub(crate) struct Args {
    /// The folder of the runs
    #[arg(default_value = "runs", value_name = "DIR")]
    dir: PathBuf,
    /// The port [default: 7766 or, if that is taken, any that is free]
    #[arg(long, value_name = "P")]
    port: Option<u16>,
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
    /// Listen at this address instead of 127.0.0.1; other machines need the token that is printed
    #[arg(long, value_name = "ADDRESS")]
    host: Option<String>,
    /// Write the page with the runs as they are now to this folder, to put on a web server, and end
    #[arg(long, value_name = "DIR", conflicts_with_all = ["port", "open", "host"])]
    export: Option<PathBuf>,
    /// The data folder, where datasets are looked up [default: $PPGN_DATA, else the platform's]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print one JSON object when the page is there
    #[arg(long)]
    json: bool,
}

/// Runs `ppgn view`.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let there = args.dir.is_dir();
    // `runs` appears with the first training; any other name is a mistake.
    if !there && (args.dir.exists() || args.dir.as_os_str() != "runs") {
        return Err(wrong(format!("{} is not a folder", args.dir.display())));
    }
    let data = args.data_dir.clone().unwrap_or_else(default_data_dir);
    let view = View { host: args.host.clone(), port: args.port, ..View::new(&args.dir, data) };
    if let Some(out) = &args.export {
        return export(&view, out, args.json);
    }
    let mut printed = Ok(());
    serve(&view, &on_ctrl_c(), |served| {
        printed = match args.json {
            true => output::json(&json!({ "url": served.url, "port": served.address.port() })),
            false => output::print(&format!(
                "{}\nshows the runs in {}; Ctrl-C ends it\n",
                served.url,
                args.dir.display()
            )),
        };
        if args.open {
            open(&served.url);
        }
    })?;
    printed.map(|()| ExitCode::from(interrupted()))
}

/// Writes the page as files.
fn export(view: &View, out: &Path, json: bool) -> Result<ExitCode> {
    let bar = output::styled(indicatif::ProgressBar::new_spinner(), "{pos} files  {elapsed} elapsed");
    if json {
        bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
    }
    let written = ppgn_view::export(view, out, &on_ctrl_c(), |files| bar.set_position(files as u64));
    bar.finish_and_clear();
    let written = match written {
        Err(ppgn_view::Error::Interrupted) => return Ok(ExitCode::from(interrupted())),
        Err(error @ ppgn_view::Error::NotEmpty { .. }) => return Err(wrong(error.to_string())),
        written => written?,
    };
    let (files, bytes) = (written.files, output::bytes(written.bytes));
    match json {
        true => output::json(&json!({ "out": output::path(out), "files": files, "bytes": written.bytes }))?,
        false => output::print(&format!(
            "{files} files ({bytes}) in {0}; a web server shows them: python3 -m http.server -d {0}\n",
            out.display()
        ))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens an address in the user's browser. If there is none, the address was printed.
fn open(url: &str) {
    let (program, words): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(words).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        // It ends by itself; whoever started it must look, or it stays as a zombie.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(error) => say::note(&format!("no browser was opened: {program}: {error}")),
    }
}
