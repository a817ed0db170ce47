//! `ppgn wl compare`: does a test distinguish two graphs, at which round, and why?

use super::TestArgs;
use crate::cli::hint::hint;
use crate::cli::output::{self, counted};
use anyhow::Result;
use ppgn::graph::{Error, Graph};
use ppgn::wl::certificate::{Meaning, Named};
use ppgn::wl::{Certificate, Options, Test, certificate, refine};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Instant;

/// The answer of one test.
struct Answer {
    test: Test,
    round: Option<usize>,
    /// Whether another round would change nothing; if not, a test that does not distinguish has not decided.
    stable: bool,
    rounds: usize,
    certificate: Option<Certificate>,
}

pub(super) fn run(a: &str, b: Option<&str>, test: Option<Test>, args: &TestArgs) -> Result<ExitCode> {
    let graphs = pair(a, b, args)?;
    let options = args.options()?;
    let start = Instant::now();
    let (answers, stopped) = match test {
        Some(test) => (vec![ask(&graphs, test, &options)?], None),
        None => climb(&graphs, &options)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    // Equal under a test with tuples as long as the graphs are large: such tuples list the whole graph, or what of it
    // counted.
    let ignored = args.ignored(&graphs);
    let identical = answers
        .iter()
        .any(|x| x.round.is_none() && x.stable && x.test.k() >= graphs[0].nodes() && x.test.k() > 1);
    let isomorphic = identical && ignored.is_empty();
    let last = answers.last().ok_or_else(|| Error::call(stopped.clone().unwrap_or_default()))?;
    let names = [a.to_string(), b.map_or_else(|| format!("{a}:1"), str::to_string)];
    if args.json {
        output::json(&json!({
            "a": if b.is_none() { format!("{a}:0") } else { names[0].clone() },
            "b": names[1],
            // `parted` is the word that scripts know.
            "verdict": match (last.round, last.stable) {
                (Some(_), _) => "parted",
                (None, true) => "equal",
                (None, false) => "undecided",
            },
            "stable": last.stable,
            "test": last.test.to_string(),
            "round": last.round,
            "isomorphic": isomorphic,
            "ignored": ignored,
            "tried": answers
                .iter()
                .map(|x| json!({"test": x.test.to_string(), "round": x.round, "stable": x.stable}))
                .collect::<Vec<_>>(),
            "stopped": stopped,
            "certificate": last.certificate.as_ref().map(to_json),
            "seconds": seconds,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for answer in &answers {
        text += &match answer.round {
            None if answer.stable => format!("{}: equal\n", answer.test),
            None => {
                let rounds = counted(answer.rounds, "round", "rounds");
                format!("{}: not distinguished after {rounds} (not stable)\n", answer.test)
            }
            Some(round) => format!("{}: distinguished at round {round}\n", answer.test),
        };
    }
    if let Some(stopped) = &stopped {
        text += &format!("not distinguished so far; {stopped}\n");
    }
    if isomorphic {
        text += "the graphs are isomorphic\n";
    } else if identical {
        text += &format!("the graphs are isomorphic if {} are ignored\n", ignored.join(", "));
    }
    if let Some(certificate) = &last.certificate {
        text += &format!("\n{certificate}\n");
    }
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// One graph of each word, or both of a dataset of two.
fn pair(a: &str, b: Option<&str>, args: &TestArgs) -> Result<[Graph; 2]> {
    let wrong = |spec: &str, count: usize, wanted: &str| {
        Error::call(format!("{spec} has {count} graphs, and compare takes {wanted}: {spec}:0 is its first"))
    };
    let first = args.load(a)?;
    let Some(b) = b else {
        return match first.graphs() {
            [x, y] => Ok([x.clone(), y.clone()]),
            graphs => {
                Err(wrong(a, graphs.len(), "two arguments, or one dataset of exactly two graphs").into())
            }
        };
    };
    let second = args.load(b)?;
    match (first.graphs(), second.graphs()) {
        ([x], [y]) => Ok([x.clone(), y.clone()]),
        ([_], more) => Err(wrong(b, more.len(), "one graph per argument").into()),
        (more, _) => Err(wrong(a, more.len(), "one graph per argument").into()),
    }
}

fn ask(graphs: &[Graph; 2], test: Test, options: &Options) -> Result<Answer> {
    let refinement = refine(graphs, test, options)?;
    let round = refinement.distinguishing_round(0, 1);
    let certificate = certificate(graphs, &refinement, 0, 1, options)?;
    Ok(Answer { test, round, stable: refinement.is_stable(), rounds: refinement.rounds(), certificate })
}

/// A round of more steps than this takes minutes, so it has to be requested.
const MOST_STEPS: f64 = 2e10;

/// 1-wl, 2-fwl, 3-fwl ... until the graphs are distinguished, tuples list whole graphs, or the next test is too
/// large.
///
/// 2-wl is as strong as 1-wl, and (k+1)-wl as k-fwl at a higher price, so they are left out.
fn climb(graphs: &[Graph; 2], options: &Options) -> Result<(Vec<Answer>, Option<String>)> {
    let mut answers = Vec::new();
    let largest = graphs[0].nodes().max(graphs[1].nodes()).max(2);
    for k in 1..=largest {
        let test = Test::fwl(k)?;
        let steps = 2.0 * k as f64 * (largest as f64).powi(k as i32 + 1);
        if k > 1 && steps > MOST_STEPS {
            return Ok((
                answers,
                Some(format!("a round of {test} takes {steps:.0e} steps: --test {test} runs it")),
            ));
        }
        match ask(graphs, test, options) {
            Ok(answer) => {
                let distinguished = answer.round.is_some();
                answers.push(answer);
                if distinguished {
                    return Ok((answers, None));
                }
            }
            Err(error) => {
                let too_large = matches!(
                    error.downcast_ref(),
                    Some(ppgn::wl::Error::Memory { .. } | ppgn::wl::Error::TooManyTuples { .. })
                );
                if too_large && !answers.is_empty() {
                    let hint = hint(&error).map_or(String::new(), |hint| format!("; {hint}"));
                    return Ok((answers, Some(format!("{error}{hint}"))));
                }
                return Err(error);
            }
        }
    }
    Ok((answers, None))
}

fn to_json(c: &Certificate) -> Value {
    let name = |n: &Named| format!("{}@{}", n.colour, n.round);
    let legend = c.legend.iter().map(|definition| match &definition.meaning {
        Meaning::Type(words) => json!({"colour": name(&definition.name), "type": words}),
        Meaning::Refined { parent, neighbours } => json!({
            "colour": name(&definition.name),
            "parent": name(parent),
            "neighbours": neighbours.iter().map(|n| json!({
                "position": n.position,
                "relation": n.relation,
                "colours": n.colours.iter().map(name).collect::<Vec<_>>(),
                "count": n.count,
            })).collect::<Vec<_>>(),
        }),
    });
    json!({
        "round": c.round,
        "colour": name(&c.colour),
        "counts": c.counts,
        "examples": c.examples,
        "legend": legend.collect::<Vec<_>>(),
    })
}
