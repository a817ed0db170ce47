//! Weisfeiler-Leman on two graphs: all rounds at once, so that the page steps through them by itself.
//!
//! The answer has the last colour of every tuple and the parent of every colour, from which the colours of any round follow
//! (see [`ppgn_wl::Refinement`]), and the certificate as `ppgn wl compare` prints it.

use crate::answer::Source;
use crate::drawn::{MOST_NODES, drawing, legend};
use crate::error::{Answer, Failure};
use crate::query::Query;
use ppgn_graph::format::{graph6, molecule};
use ppgn_graph::locate::split_index;
use ppgn_graph::{Dataset, Graph, Schema};
use ppgn_wl::{Certificate, Features, Interrupt, Options, Test, certificate, refine};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The tuples of both graphs together, at most: each is a number in the answer.
const MOST_TUPLES: u64 = 400_000;
/// The memory of a refinement.
const MOST_MEMORY: u64 = 512 << 20;
/// The longest text of a graph in a request.
const LONGEST: usize = 20_000;

/// A graph with its name.
struct Side {
    name: String,
    graph: Graph,
    schema: Schema,
}

/// `wl?a=GRAPH&b=GRAPH&test=2-fwl&labels=0`: both graphs, their colours, and why they differ. A graph is a name as in every
/// command (`cfi:base=k4:0`, `MUTAG:7`), `g6:...` or `smiles:...`; without `b`, a dataset of two is both.
pub(crate) fn answer(source: &Source, query: &Query, interrupt: &Interrupt) -> Answer {
    let test: Test = query.get("test").unwrap_or("1-wl").parse()?;
    let sides = pair(source, query)?;
    let tuples = |side: &Side| (side.graph.nodes() as u64).checked_pow(test.k() as u32).unwrap_or(u64::MAX);
    let all = sides.iter().map(tuples).fold(0u64, u64::saturating_add);
    if test.k() > 3 || all > MOST_TUPLES {
        return Err(Failure::too_much(format!(
            "{test} of these graphs colours more tuples than this page shows ({MOST_TUPLES}, of at most 3 nodes); \
             `ppgn wl compare` has no such limit"
        )));
    }
    let labels = query.get("labels") != Some("0");
    let options = Options {
        features: Features { labels, attributes: false },
        rounds: None,
        max_memory: Some(MOST_MEMORY),
        interrupt: interrupt.clone(),
    };
    let graphs = [sides[0].graph.clone(), sides[1].graph.clone()];
    let refinement = refine(&graphs, test, &options)?;
    let reason = certificate(&graphs, &refinement, 0, 1, &options)?;
    let rounds = refinement.rounds();
    let last = refinement.colours_after(rounds) as u32;
    let parents: Vec<u32> = (0..last).map(|c| refinement.parent(c).unwrap_or(c)).collect();
    let shown = |side: &Side| {
        let graph6 = graph6::line(&side.graph).ok().filter(|line| line.len() <= LONGEST);
        json!({
            "name": side.name,
            "drawing": drawing(&side.graph, &side.schema),
            "legend": legend(&side.schema),
            "graph6": graph6,
        })
    };
    Ok(json!({
        "test": test.to_string(),
        "k": test.k(),
        "folklore": test.k() > 1 && test.family() == ppgn_wl::Family::Fwl,
        "graphs": [shown(&sides[0]), shown(&sides[1])],
        "stable": refinement.is_stable(),
        "rounds": rounds,
        "counts": (0..=rounds).map(|r| refinement.colours_after(r)).collect::<Vec<_>>(),
        "parents": parents,
        "colours": [refinement.colours(0), refinement.colours(1)],
        "round": refinement.distinguishing_round(0, 1),
        "certificate": reason.as_ref().map(in_words),
    }))
}

/// The certificate: the text of `ppgn wl compare`, and the parts that the page marks.
fn in_words(c: &Certificate) -> Value {
    json!({
        "text": c.to_string(),
        "round": c.round,
        "colour": c.colour.colour,
        "name": c.colour.to_string(),
        "counts": c.counts,
        "examples": c.examples,
        "legend": c.legend.iter().map(|d| json!({
            "colour": d.name.colour,
            "round": d.name.round,
            "text": d.to_string(),
        })).collect::<Vec<_>>(),
    })
}

fn pair(source: &Source, query: &Query) -> Answer<[Side; 2]> {
    let a = query.need("a")?;
    if let Some(b) = query.get("b") {
        return Ok([side(source, a)?, side(source, b)?]);
    }
    let dataset = source.datasets().get(a, &BTreeMap::new())?;
    match dataset.len() {
        2 => Ok([of(&dataset, 0, format!("{a}:0"))?, of(&dataset, 1, format!("{a}:1"))?]),
        n => Err(Failure::wrong(format!("`{a}` has {n} graphs: choose two, such as `{a}:0`"))),
    }
}

fn side(source: &Source, word: &str) -> Answer<Side> {
    if word.len() > LONGEST {
        return Err(Failure::too_much("a graph with a longer name than this page reads"));
    }
    if let Some(line) = word.strip_prefix("g6:") {
        let graph = small(graph6::parse(line)?)?;
        let schema = Schema { directed: graph.is_directed(), ..Schema::default() };
        return Ok(Side { name: word.into(), graph, schema });
    }
    if let Some(text) = word.strip_prefix("smiles:") {
        return of(&molecule(text)?, 0, word.into());
    }
    let get = |name: &str| source.datasets().get(name, &BTreeMap::new());
    let (name, index) = split_index(word);
    let (dataset, index) = match index {
        // A file's own name may end in a colon and digits.
        Some(index) => match (get(name), name.contains('/')) {
            (Err(failure), true) => (get(word).map_err(|_| failure)?, 0),
            (found, _) => (found?, index),
        },
        None => (get(word)?, 0),
    };
    if word == name && dataset.len() != 1 {
        let n = dataset.len();
        return Err(Failure::wrong(format!("`{word}` has {n} graphs: choose one, such as `{word}:0`")));
    }
    of(&dataset, index, word.into())
}

/// A graph of a dataset.
fn of(dataset: &Dataset, index: usize, name: String) -> Answer<Side> {
    if index >= dataset.len() {
        let n = dataset.len();
        return Err(Failure::wrong(format!("`{name}`: there are {n} graphs, numbered from 0")));
    }
    Ok(Side { name, graph: small(dataset.graph(index).clone())?, schema: dataset.schema().clone() })
}

fn small(graph: Graph) -> Answer<Graph> {
    match graph.nodes() {
        0 => Err(Failure::wrong("a graph without nodes: there is nothing to colour")),
        n if n > MOST_NODES => {
            Err(Failure::too_much(format!("a graph of {n} nodes; this page shows up to {MOST_NODES}")))
        }
        _ => Ok(graph),
    }
}
