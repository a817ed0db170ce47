//! `ppgn wl refine`: the partition after every round, as coloured lists, as files, as a drawing.

use super::TestArgs;
use super::svg::{self, MOST_PAIR_NODES};
use crate::cli::output::{self, Paint, counted};
use anyhow::Result;
use ppgn::graph::file::{write_atomically, write_whole};
use ppgn::graph::text::escaped;
use ppgn::graph::{Dataset, Error};
use ppgn::wl::{Interrupt, Refinement, Test};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

pub(super) struct Files {
    pub(super) colours: Option<PathBuf>,
    pub(super) svg: Option<PathBuf>,
}

/// Beyond this many nodes a terminal shows class sizes, not lists of nodes.
const LISTED: usize = 64;
/// The number of rounds shown in a terminal: the first ones and the last.
const SHOWN_ROUNDS: usize = 12;
/// The number of graphs shown in a terminal.
const SHOWN_GRAPHS: usize = 8;

pub(super) fn run(spec: &str, test: Test, files: Files, args: &TestArgs) -> Result<ExitCode> {
    check_files(&files, test)?;
    let dataset = args.load(spec)?;
    if files.svg.is_some() && test.k() == 2 && dataset.graphs().iter().any(|g| g.nodes() > MOST_PAIR_NODES) {
        return Err(
            Error::call(format!("--svg draws pairs of graphs with at most {MOST_PAIR_NODES} nodes")).into()
        );
    }
    let options = args.options()?;
    let start = Instant::now();
    let refinement = ppgn::wl::refine(dataset.graphs(), test, &options)?;
    let seconds = start.elapsed().as_secs_f64();
    if let Some(path) = &files.colours {
        write_colours(path, &dataset, &refinement, &options.interrupt)?;
    }
    if let Some(path) = &files.svg {
        let names: Vec<String> = (0..dataset.len()).map(|g| format!("{}:{g}", dataset.name())).collect();
        let picture = svg::draw(dataset.graphs(), &names, &refinement);
        write_whole(path, picture.as_bytes())?;
    }
    match args.json {
        true => output::json(&to_json(&dataset, &refinement, seconds))?,
        false => output::print(&to_text(&dataset, &refinement, seconds))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn check_files(files: &Files, test: Test) -> Result<()> {
    if let Some(path) = &files.colours {
        colour_format(path)?;
    }
    if files.svg.is_some() && test.k() > 2 {
        return Err(Error::call(format!(
            "--svg draws nodes (1-wl) or pairs (2-wl, 2-fwl), not the tuples of {test}"
        ))
        .into());
    }
    Ok(())
}

fn to_json(dataset: &Dataset, r: &Refinement, seconds: f64) -> serde_json::Value {
    json!({
        "data": dataset.name(),
        "graphs": dataset.len(),
        "test": r.test().to_string(),
        "rounds": r.rounds(),
        "stable": r.is_stable(),
        "colours_by_round": (0..=r.rounds()).map(|round| r.colours_after(round)).collect::<Vec<_>>(),
        "colours": r.colours_after(r.rounds()),
        "classes": (0..r.graphs()).map(|g| r.histogram(g).len()).collect::<Vec<_>>(),
        "seconds": seconds,
    })
}

fn to_text(dataset: &Dataset, r: &Refinement, seconds: f64) -> String {
    let paint = Paint::stdout();
    let mut text = String::new();
    let state = if r.is_stable() { "stable" } else { "not yet stable" };
    let _ = writeln!(
        text,
        "{} of {}: {state} after {}, {} ({seconds:.2} s)",
        r.test(),
        counted(dataset.len(), "graph", "graphs"),
        counted(r.rounds(), "round", "rounds"),
        counted(r.colours_after(r.rounds()), "colour", "colours"),
    );
    let rounds: Vec<usize> = match r.rounds() < SHOWN_ROUNDS {
        true => (0..=r.rounds()).collect(),
        false => (0..SHOWN_ROUNDS - 2).chain([r.rounds()]).collect(),
    };
    for g in 0..dataset.len().min(SHOWN_GRAPHS) {
        let n = dataset.graph(g).nodes();
        let _ = writeln!(text, "\n{}:{g}, {}", escaped(dataset.name()), counted(n, "node", "nodes"));
        for &round in &rounds {
            let classes = classes(&r.colours_at(g, round));
            let _ = write!(text, "  round {round:<3} {:>6}  ", counted(classes.len(), "class", "classes"));
            let shown = match r.test().k() == 1 && n <= LISTED {
                true => node_lists(&classes, paint),
                false => class_sizes(&classes, paint),
            };
            let _ = writeln!(text, "{shown}");
        }
    }
    if dataset.len() > SHOWN_GRAPHS {
        let _ = writeln!(text, "\n... and {} more graphs (--json, --colours)", dataset.len() - SHOWN_GRAPHS);
    }
    text
}

/// The tuples of each colour, by colour.
fn classes(colours: &[u32]) -> Vec<(u32, Vec<usize>)> {
    let mut order: Vec<usize> = (0..colours.len()).collect();
    order.sort_by_key(|&t| colours[t]);
    let mut classes: Vec<(u32, Vec<usize>)> = Vec::new();
    for t in order {
        match classes.last_mut() {
            Some((colour, members)) if *colour == colours[t] => members.push(t),
            _ => classes.push((colours[t], vec![t])),
        }
    }
    classes
}

fn node_lists(classes: &[(u32, Vec<usize>)], paint: Paint) -> String {
    let list = |nodes: &[usize]| nodes.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    let shown: Vec<String> =
        classes.iter().map(|(c, nodes)| paint.class(*c, &format!("{{{}}}", list(nodes)))).collect();
    shown.join(" ")
}

/// Class sizes, largest first, equal ones together: `5 x 12, 3 x 1`.
fn class_sizes(classes: &[(u32, Vec<usize>)], paint: Paint) -> String {
    let mut sizes: Vec<(usize, u32)> = classes.iter().map(|(c, members)| (members.len(), *c)).collect();
    sizes.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut shown = Vec::new();
    let mut i = 0;
    while i < sizes.len() && shown.len() < 8 {
        let (size, colour) = sizes[i];
        let run = sizes[i..].iter().take_while(|s| s.0 == size).count();
        shown.push(paint.class(colour, &if run == 1 { size.to_string() } else { format!("{run} x {size}") }));
        i += run;
    }
    if i < sizes.len() {
        shown.push("...".into());
    }
    shown.join(", ")
}

enum ColourFormat {
    Csv,
    Jsonl,
}

fn colour_format(path: &Path) -> Result<ColourFormat> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => Ok(ColourFormat::Csv),
        Some("jsonl") => Ok(ColourFormat::Jsonl),
        _ => Err(Error::call(format!("{}: --colours writes .csv or .jsonl", path.display())).into()),
    }
}

/// One line per tuple (CSV) or per graph (JSON Lines). A request to stop ends it, and no file appears.
fn write_colours(path: &Path, dataset: &Dataset, r: &Refinement, interrupt: &Interrupt) -> Result<()> {
    let format = colour_format(path)?;
    let k = r.test().k();
    let written = write_atomically(path, |out| {
        let mut write = |text: String| match interrupt.check().is_err() {
            true => Err(Error::io(path, std::io::ErrorKind::Interrupted.into())),
            false => out.write_all(text.as_bytes()).map_err(|e| Error::io(path, e)),
        };
        if matches!(format, ColourFormat::Csv) {
            let columns = if k == 1 {
                "node".into()
            } else {
                (1..=k).map(|i| format!("i{i}")).collect::<Vec<_>>().join(",")
            };
            write(format!("graph,{columns},colour\n"))?;
        }
        for g in 0..dataset.len() {
            let n = dataset.graph(g).nodes();
            match format {
                ColourFormat::Jsonl => {
                    write(format!("{}\n", json!({"graph": g, "nodes": n, "colours": r.colours(g)})))?
                }
                ColourFormat::Csv => {
                    for (t, colour) in r.colours(g).iter().enumerate() {
                        write(format!("{g},{},{colour}\n", tuple(t, n, k)))?;
                    }
                }
            }
        }
        Ok(())
    });
    // First: a request to stop is why the write failed.
    interrupt.check()?;
    Ok(written?)
}

/// The nodes of tuple number t, joined by commas.
fn tuple(t: usize, n: usize, k: usize) -> String {
    let mut nodes = vec![0; k];
    let mut rest = t;
    for place in nodes.iter_mut().rev() {
        *place = rest % n;
        rest /= n;
    }
    nodes.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}
