//! Training into a run folder, and run folders at work. The same calls as the command line's, and so the same bits.

use crate::arrays::{reals, shaped};
use crate::compute::{Message, beside, on_pool, threads};
use crate::dataset::Dataset;
use crate::device::device;
use crate::error::OrRaise;
use crate::network::Network;
use crate::settings::overrides;
use numpy::PyArrayDyn;
use ppgn_train::{
    Division, Event, Outcome, Prediction, Request, Run, SampleWeights, Session, Settings, check_memory,
    check_prediction, train,
};
use ppgn_wl::Interrupt;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, sync_channel};

/// A requested training, as Python describes it.
#[derive(FromPyObject)]
pub(crate) struct Asked {
    #[pyo3(item)]
    data: String,
    #[pyo3(item)]
    preset: String,
    #[pyo3(item)]
    settings: Vec<(String, String)>,
    /// As in `config.toml`, in JSON.
    #[pyo3(item)]
    division: String,
    #[pyo3(item)]
    sample_weights: Option<Py<PyAny>>,
    #[pyo3(item)]
    targets: Vec<String>,
    #[pyo3(item)]
    run: PathBuf,
    /// The number of epochs in all of a run that is there already.
    #[pyo3(item)]
    extend: Option<usize>,
    #[pyo3(item)]
    device: String,
    #[pyo3(item)]
    threads: Option<usize>,
    #[pyo3(item)]
    max_memory: Option<u64>,
}

/// What Python hears of while it waits.
enum Heard {
    /// A step: the epoch, and how many graphs of how many.
    Step(usize, usize, usize),
    /// An epoch as a line of the metrics and its seconds; training waits until it is answered whether to go on.
    Epoch(String, f64, std::sync::mpsc::SyncSender<bool>),
    Note(String),
}

/// Trains a network in a new run folder, or goes on in one. `watch(kind, ...)` hears of what happens; a true value after an epoch stops.
/// Returns whether all epochs are done, and how many are.
#[pyfunction]
#[pyo3(signature = (dataset, asked, watch))]
pub(crate) fn fit(
    py: Python<'_>,
    dataset: &Bound<'_, Dataset>,
    asked: Asked,
    watch: Option<Bound<'_, PyAny>>,
) -> PyResult<(bool, usize)> {
    let dataset = dataset.get().0.clone();
    let division: Division = serde_json::from_str(&asked.division)
        .map_err(|e| PyValueError::new_err(format!("validation: {e}")))?;
    let overrides = overrides(&asked.settings)?;
    let sample_weights = match &asked.sample_weights {
        Some(given) => reals(given.bind(py), "sample_weight")?.as_slice()?.to_vec(),
        None => Vec::new(),
    };
    let sample_weights = SampleWeights::new(sample_weights).or_raise()?;
    let interrupt = Interrupt::default();
    let session = Session::default()
        .with_interrupt(interrupt.clone())
        .with_max_memory(asked.max_memory)
        .with_device(device(&asked.device)?)
        .with_threads(asked.threads.unwrap_or_else(threads))
        .or_raise()?;
    let watched = watch.is_some();
    let work = |sender: &Sender<Message<Heard, ppgn_train::Result<Outcome>>>| {
        let request = Request {
            preset: &asked.preset,
            overrides,
            division,
            sample_weights,
            targets: asked.targets,
            ..Request::new(&asked.data, &dataset)
        };
        let run = match asked.extend {
            Some(epochs) => {
                let mut run = Run::open(&asked.run)?;
                if run.settings().trained().is_some_and(|t| t.sample_weights != request.sample_weights) {
                    return Err(ppgn_train::Error::settings(
                        "a run goes on with the sample weights that it began with",
                    ));
                }
                run.extend(epochs)?;
                run
            }
            None => {
                let settings = Settings::resolve(&request)?;
                // A run that cannot start leaves no folder.
                check_memory(&session, &settings, &dataset)?;
                Run::create(&asked.run, settings)?
            }
        };
        // The caller listens until it has heard that the work is done.
        let say = |heard| sender.send(Message::Event(heard)).is_ok();
        train(&session, &run, &dataset, &mut |event| match event {
            Event::Step { epoch, graphs, of } => !watched || say(Heard::Step(epoch, graphs, of)),
            Event::Epoch { epoch, seconds, .. } => {
                let line = serde_json::to_string(epoch).unwrap_or_default();
                let (answer, answered) = sync_channel(1);
                say(Heard::Epoch(line, seconds, answer)) && answered.recv().unwrap_or(false)
            }
            Event::Warning(warning) => say(Heard::Note(warning.to_string())),
            _ => true,
        })
    };
    let outcome = beside(py, &interrupt, work, |heard| {
        let Some(watch) = &watch else {
            if let Heard::Epoch(_, _, answer) = heard {
                let _ = answer.send(true);
            }
            return Ok(());
        };
        match heard {
            Heard::Step(epoch, graphs, of) => watch.call1(("step", epoch, graphs, of)).map(|_| ()),
            Heard::Note(text) => watch.call1(("note", text)).map(|_| ()),
            Heard::Epoch(line, seconds, answer) => {
                let stop = watch.call1(("epoch", line, seconds))?.is_truthy()?;
                let _ = answer.send(!stop);
                Ok(())
            }
        }
    })?;
    match outcome.or_raise()? {
        Outcome::Finished(summary) => Ok((true, summary.epochs)),
        Outcome::Stopped { epochs } => Ok((false, epochs)),
    }
}

/// The best network of a run folder, with everything that it takes to use it.
#[pyclass(frozen, module = "ppgn._ppgn", name = "Predictor")]
#[derive(Debug)]
pub(crate) struct Predictor {
    inner: ppgn_train::Predictor,
}

type Table<'py> = Bound<'py, PyArrayDyn<f64>>;

#[pymethods]
impl Predictor {
    #[new]
    #[pyo3(signature = (run, max_memory=None, device="cpu"))]
    fn new(py: Python<'_>, run: PathBuf, max_memory: Option<u64>, device: &str) -> PyResult<Self> {
        let device = self::device(device)?;
        on_pool(py, |_| {
            let session = Session::default().with_max_memory(max_memory).with_device(device);
            let opened = ppgn_train::Predictor::open(&session, &run);
            opened.map(|inner| Predictor { inner: inner.for_all_pairs() })
        })
    }

    /// The settings of the run: the text of `config.toml`, as JSON.
    fn settings(&self) -> PyResult<String> {
        serde_json::to_string(self.inner.settings()).map_err(|e| PyRuntimeError::new_err(e.to_string()))
    }

    /// The network by itself.
    fn network(&self) -> Network {
        Network::of(self.inner.network().clone(), self.inner.encoder().clone())
    }

    /// What could not be verified about the run.
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings().iter().map(ToString::to_string).collect()
    }

    /// For classes, (class labels, probabilities); for targets, (None, values). One row per graph, node or ordered pair of
    /// nodes, graph after graph.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        dataset: &Bound<'py, Dataset>,
    ) -> PyResult<(Option<Vec<i64>>, Table<'py>)> {
        let predictions = self.computed(py, dataset, ppgn_train::Predictor::predict)?;
        let mut labels = Vec::new();
        let rows: Vec<Vec<f64>> = predictions
            .into_iter()
            .map(|prediction| match prediction {
                Prediction::Class { class, probabilities } => {
                    labels.push(class);
                    probabilities
                }
                Prediction::Values(values) | Prediction::Labels(values) => values,
            })
            .collect();
        let classes = !labels.is_empty();
        Ok((classes.then_some(labels), table(py, rows)?))
    }

    /// The raw outputs, shape (graphs, outputs), or one row per node or pair.
    fn scores<'py>(&self, py: Python<'py>, dataset: &Bound<'py, Dataset>) -> PyResult<Table<'py>> {
        table(py, self.computed(py, dataset, ppgn_train::Predictor::scores)?)
    }

    /// The pooled features, shape (graphs, features).
    fn embed<'py>(&self, py: Python<'py>, dataset: &Bound<'py, Dataset>) -> PyResult<Table<'py>> {
        table(py, self.computed(py, dataset, ppgn_train::Predictor::embed)?)
    }
}

impl Predictor {
    fn computed<T: Send>(
        &self,
        py: Python<'_>,
        dataset: &Bound<'_, Dataset>,
        compute: impl FnOnce(&ppgn_train::Predictor, &ppgn_graph::Dataset) -> ppgn_train::Result<T> + Send,
    ) -> PyResult<T> {
        let dataset = dataset.get().0.clone();
        on_pool(py, |interrupt| compute(&self.inner.stopped_by(interrupt), &dataset))
    }
}

fn table(py: Python<'_>, rows: Vec<Vec<f64>>) -> PyResult<Table<'_>> {
    let shape = [rows.len(), rows.first().map_or(0, Vec::len)];
    shaped(py, rows.concat(), &shape)
}

/// Compiles a test into a network on these graphs, verifies it on all of them, and writes its run folder.
#[pyfunction]
pub(crate) fn compile(
    py: Python<'_>,
    dataset: &Bound<'_, Dataset>,
    test: &str,
    rounds: Option<usize>,
    multiset: &str,
    labels: bool,
    run: PathBuf,
) -> PyResult<()> {
    use ppgn_nn::compile::{Options, compile};
    let dataset = dataset.get().0.clone();
    let test = crate::wl::named(test)?;
    if test.k() < 2 {
        return Err(PyValueError::new_err(format!(
            "{test} cannot be compiled: it colours nodes, and networks compute on pairs and longer tuples; 2-wl \
             distinguishes the same graphs"
        )));
    }
    let multiset: ppgn_nn::compile::Multiset = multiset.parse().or_raise()?;
    on_pool(py, |interrupt| {
        let features = ppgn_wl::Features { labels, attributes: false };
        let max_memory = ppgn_graph::memory::available().map(|bytes| bytes / 5 * 4);
        let options = ppgn_wl::Options { features, rounds, max_memory, interrupt: interrupt.clone() };
        let colours = ppgn_wl::refine(dataset.graphs(), test, &options)?;
        let options = Options { rounds, multiset, labels, interrupt: interrupt.clone() };
        let compiled = compile(dataset.graphs(), dataset.schema(), &colours, &options)?;
        let nodes = dataset.graphs().iter().map(ppgn_graph::Graph::nodes).max().unwrap_or(0);
        let session = Session::default();
        let precision = ppgn_nn::Precision::F64;
        check_prediction(&session, &compiled.config, precision, &dataset, compiled.batch(nodes))?;
        // Only a network that was verified on all graphs is written.
        compiled.verify_until(dataset.graphs(), dataset.schema(), interrupt)?;
        let settings = Settings::compiled(&test.to_string(), &dataset, &compiled)?;
        Run::import(&run, settings, &compiled.network()?)?;
        Ok::<(), ppgn_train::Error>(())
    })
}
