//! `ppgn express counting`: networks that learn to count substructures, beside published errors.

use super::{Args, chosen_for};
use crate::cli::folder::folder;
use crate::cli::interrupt::interrupted;
use crate::cli::load::load_to_train;
use crate::cli::output::{self, progress};
use crate::cli::ranks::cores;
use crate::cli::wrong::wrong;
use anyhow::Result;
use ppgn::graph::substructures::SUBSTRUCTURES;
use ppgn::nn::{Level, Pooling};
use ppgn::train::Event;
use ppgn::train::express::{Counted, PUBLISHED, counting, counting_jobs};
use ppgn::train::protocol::{Notice, Workers};
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

/// Whether a word names the counting tasks: `counting`, or the generator with settings.
pub(super) fn is_counting(word: &str) -> bool {
    word.split(':').next().is_some_and(|name| name.eq_ignore_ascii_case("counting"))
}

/// Runs `ppgn express counting`.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let start = Instant::now();
    let mut chosen = chosen_for(args, "small")?;
    if chosen.limit.is_some() {
        return Err(wrong("--limit does not go with this command: counting:count=500 has fewer graphs"));
    }
    // A count is a sum over the graph.
    chosen.overrides.pooling.get_or_insert(Pooling::Sum);
    let level = chosen.overrides.level.unwrap_or_default();
    if level == Level::Pair {
        return Err(wrong("substructures are counted per graph or per node, not per pair"));
    }
    let session = args.memory.session();
    let data = load_to_train(&session, &args.suite, &args.input)?;
    let seed = chosen.seed("")?;
    let words = ["counting", &chosen.preset, &seed.to_string()];
    let out = args.out.clone().unwrap_or_else(|| folder(&words));
    let jobs = counting_jobs(&chosen.request(&data), &out)?;
    let workers = Workers::on(cores(), args.jobs.map(usize::from), Some(1));
    let epochs: usize = jobs.iter().map(|job| job.settings.training.epochs).sum();
    let bar = progress(epochs, "epochs", args.quiet || args.json);
    let watch = |_: &_, notice: Notice<'_>| {
        match notice {
            Notice::Training(Event::Epoch { .. }) => bar.inc(1),
            Notice::Began(done) => bar.inc(done as u64),
            _ => {}
        }
        session.check().is_ok()
    };
    let counted = counting(&data.session, &jobs, &data.dataset, workers, &watch)?;
    bar.finish_and_clear();
    let Some(counted) = counted else {
        eprintln!("stopped; finished epochs are in {}. The same command resumes", out.display());
        return Ok(ExitCode::from(interrupted()));
    };
    let settings = &jobs[0].settings;
    let seconds = start.elapsed().as_secs_f64();
    if args.json {
        let published = PUBLISHED.map(|(name, errors)| json!({ "name": name, "errors": errors }));
        output::json(&json!({
            "suite": "counting",
            "level": level,
            "graphs": data.dataset.len(),
            "substructures": counted,
            "published_per_node": { "order": SUBSTRUCTURES, "rows": published },
            "settings": settings,
            "seconds": seconds,
            "out": output::path(&out),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let (item, published) = match level {
        Level::Node => ("node", "Published errors (Huang et al. 2023) are per node too"),
        _ => ("graph", "Published errors (Huang et al. 2023) are per node, these per graph"),
    };
    let text = format!(
        "counting per {item} on {} graphs, {} (order {}, {} epochs), one network per substructure: \
         mean absolute error / deviation\n{}{published}; {seconds:.0} s; the runs are in {}\n",
        data.dataset.len(),
        chosen.preset,
        settings.network.order,
        settings.training.epochs,
        output::table(&table(&counted)),
        out.display()
    );
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn table(counted: &[Counted]) -> Vec<Vec<String>> {
    let mut head: Vec<String> = ["substructure", "error", "baseline", "epoch"].map(String::from).to_vec();
    head.extend(PUBLISHED.map(|(name, _)| name.to_string()));
    let mut rows = vec![head];
    for one in counted {
        let mut row = vec![
            one.name.clone(),
            format!("{:.4}", one.error),
            format!("{:.4}", one.baseline),
            one.best_epoch.to_string(),
        ];
        let place = SUBSTRUCTURES.iter().position(|name| *name == one.name);
        row.extend(
            PUBLISHED.map(|(_, errors)| place.map_or("-".into(), |place| format!("{:.4}", errors[place]))),
        );
        rows.push(row);
    }
    rows
}
