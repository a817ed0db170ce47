//! The expressiveness lab on anything that Python can call: the protocols run in a thread of their own and ask the caller,
//! who holds the interpreter, for outputs and steps of training.

use crate::compute::{Message, apart, beside};
use crate::error::OrRaise;
use crate::graph::Graph;
use ppgn_graph::locate::Locator;
use ppgn_train::express::{Category, Instance, Lab, Protocol, Report, Subject, Suite};
use ppgn_train::{Error, Session};
use ppgn_wl::{Interrupt, Test};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

/// What the working thread asks of the caller, and where the answer goes; no answer means that it failed.
enum Ask {
    Fresh(u64, Sender<()>),
    Outputs(Vec<ppgn_graph::Graph>, Sender<Vec<f64>>),
    Step(Vec<ppgn_graph::Graph>, f64, Sender<f64>),
}

type Channel = Sender<Message<Ask, ppgn_train::Result<Report>>>;

/// A callable of Python, seen from the working thread.
struct Callable {
    ask: Mutex<Channel>,
    depth: Option<usize>,
}

impl Callable {
    fn answer<T>(&self, question: impl FnOnce(Sender<T>) -> Ask) -> ppgn_train::Result<T> {
        let (sender, receiver) = channel();
        let ask = self.ask.lock().unwrap_or_else(|e| e.into_inner());
        // The caller raises what went wrong; here the work ends.
        ask.send(Message::Event(question(sender))).map_err(|_| Error::Interrupted)?;
        receiver.recv().map_err(|_| Error::Interrupted)
    }
}

impl Subject for Callable {
    fn variants(&self) -> Vec<String> {
        vec!["given".into()]
    }

    fn fresh<'a>(&'a self, _: &Session, seed: u64, _: usize) -> ppgn_train::Result<Box<dyn Instance + 'a>> {
        self.answer(|sender| Ask::Fresh(seed, sender))?;
        Ok(Box::new(Running(self)))
    }

    fn depth(&self) -> Option<usize> {
        self.depth
    }
}

struct Running<'a>(&'a Callable);

impl Instance for Running<'_> {
    fn outputs(&mut self, graphs: &[ppgn_graph::Graph]) -> ppgn_train::Result<Vec<f64>> {
        self.0.answer(|sender| Ask::Outputs(graphs.to_vec(), sender))
    }

    fn step(&mut self, graphs: &[ppgn_graph::Graph], rate: f64) -> ppgn_train::Result<f64> {
        self.0.answer(|sender| Ask::Step(graphs.to_vec(), rate, sender))
    }
}

fn list<'py>(py: Python<'py>, graphs: Vec<ppgn_graph::Graph>) -> PyResult<Bound<'py, PyList>> {
    let graphs = graphs.into_iter().map(|graph| Py::new(py, Graph(graph)));
    PyList::new(py, graphs.collect::<PyResult<Vec<_>>>()?)
}

/// Runs a protocol on a callable; the report as JSON.
///
/// `outputs(graphs)` returns a flat list of numbers, `fresh(seed)` draws new weights, `step(graphs, rate)` takes a step of
/// training and returns the loss. `pairs` are graphs 2p and 2p+1, in place of the name of a suite.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn express(
    py: Python<'_>,
    outputs: &Bound<'_, PyAny>,
    fresh: &Bound<'_, PyAny>,
    step: &Bound<'_, PyAny>,
    suite: &str,
    pairs: Option<Vec<Bound<'_, Graph>>>,
    protocol: &str,
    test: &str,
    seeds: Vec<u64>,
    depth: Option<usize>,
    data_dir: Option<PathBuf>,
    out: Option<PathBuf>,
) -> PyResult<String> {
    let protocol: Protocol = protocol.parse().map_err(|e: Error| PyValueError::new_err(e.to_string()))?;
    let test: Test = test.parse::<Test>().or_raise()?;
    let pairs = pairs.map(|pairs| crate::wl::graphs(&pairs));
    let locator = Locator { data_dir, ..Locator::default() };
    let (pool, interrupt) = (apart()?, Interrupt::default());
    let session = Session::default().with_interrupt(interrupt.clone());
    let work = |ask: &Channel| {
        let subject = Callable { ask: Mutex::new(ask.clone()), depth };
        pool.install(|| {
            let suite = match pairs {
                None => Suite::load(suite, &locator)?,
                Some(graphs) => {
                    let categories = vec![Category::consecutive(suite, graphs)?];
                    Suite { name: suite.into(), categories, missing: Vec::new() }
                }
            };
            let subject = (protocol != Protocol::Exact).then_some(&subject as &dyn Subject);
            // One pair after another: there is one interpreter.
            let lab = Lab { subject, seeds, jobs: 1, out, ..Lab::new(&suite, protocol, test) };
            lab.run(&session, &|_| {})
        })
    };
    let hear = |ask: Ask| -> PyResult<()> {
        match ask {
            Ask::Fresh(seed, answer) => {
                fresh.call1((seed,))?;
                let _ = answer.send(());
            }
            Ask::Outputs(graphs, answer) => {
                let found = outputs.call1((list(py, graphs)?,))?.extract()?;
                let _ = answer.send(found);
            }
            Ask::Step(graphs, rate, answer) => {
                let loss = step.call1((list(py, graphs)?, rate))?.extract()?;
                let _ = answer.send(loss);
            }
        }
        Ok(())
    };
    let report = beside(py, &interrupt, work, hear)?.or_raise()?;
    serde_json::to_string(&report).map_err(|e| PyValueError::new_err(e.to_string()))
}
