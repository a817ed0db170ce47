//! The Weisfeiler-Leman tests on graphs that are in memory.

use crate::arrays::shaped;
use crate::compute::on_pool;
use crate::error::OrRaise;
use crate::graph::Graph;
use numpy::{PyArray1, PyArrayDyn};
use ppgn_wl::certificate::{Meaning, Named};
use ppgn_wl::{Error, Features, Options, Test};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::HashMap;
use std::sync::Arc;

/// What counts as a colour, for how long, in how much memory.
#[derive(Debug, Clone, FromPyObject)]
pub(crate) struct Asked {
    #[pyo3(item)]
    labels: bool,
    #[pyo3(item)]
    attributes: bool,
    #[pyo3(item)]
    rounds: Option<usize>,
    #[pyo3(item)]
    max_memory: Option<u64>,
}

impl Asked {
    /// The options of the library. Without a limit, four fifths of the available memory, as on the command line.
    pub(crate) fn options(&self, interrupt: &ppgn_wl::Interrupt) -> Options {
        let available = || ppgn_graph::memory::available().map(|bytes| bytes / 5 * 4);
        Options {
            features: Features { labels: self.labels, attributes: self.attributes },
            rounds: self.rounds,
            max_memory: self.max_memory.or_else(available),
            interrupt: interrupt.clone(),
        }
    }
}

/// The graphs of a list.
pub(crate) fn graphs(list: &[Bound<'_, Graph>]) -> Vec<ppgn_graph::Graph> {
    list.iter().map(|graph| graph.get().0.clone()).collect()
}

/// The colours of a set of graphs, round by round. A colour means the same in all graphs of the set.
///
/// Attributes: `test`, `rounds` (rounds that changed something), `stable`, `graphs` (how many), `n_colours` (after every
/// round).
#[pyclass(frozen, module = "ppgn.wl", name = "Refinement")]
#[derive(Debug)]
pub(crate) struct Refinement {
    inner: Arc<ppgn_wl::Refinement>,
    nodes: Vec<usize>,
}

#[pymethods]
impl Refinement {
    /// The test, such as "2-fwl".
    #[getter]
    fn test(&self) -> String {
        self.inner.test().to_string()
    }

    /// The number of rounds that changed the partition.
    #[getter]
    fn rounds(&self) -> usize {
        self.inner.rounds()
    }

    /// Whether another round would change nothing. If not, graphs with equal colours may still be distinguished.
    #[getter]
    fn stable(&self) -> bool {
        self.inner.is_stable()
    }

    /// The number of graphs.
    #[getter]
    fn graphs(&self) -> usize {
        self.inner.graphs()
    }

    /// The number of colours after round 0, 1, ..., `rounds`.
    #[getter]
    fn n_colours<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let counts = (0..=self.inner.rounds()).map(|r| self.inner.colours_after(r) as i64);
        PyArray1::from_vec(py, counts.collect())
    }

    /// The colours of a graph after a round (default: the last): shape (nodes,) for 1-WL, (nodes, nodes) for pairs, one
    /// axis per node of the tuple in general.
    #[pyo3(signature = (graph=0, round=None))]
    fn colours<'py>(
        &self,
        py: Python<'py>,
        graph: usize,
        round: Option<usize>,
    ) -> PyResult<Bound<'py, PyArrayDyn<u32>>> {
        self.check(graph)?;
        let colours = py.detach(|| match round {
            Some(round) => self.inner.colours_at(graph, round),
            None => self.inner.colours(graph).to_vec(),
        });
        shaped(py, colours, &vec![self.nodes[graph]; self.inner.test().k()])
    }

    /// How many nodes (or tuples) of a graph have each colour after a round (default: the last): a dict.
    #[pyo3(signature = (graph=0, round=None))]
    fn histogram(&self, graph: usize, round: Option<usize>) -> PyResult<HashMap<u32, u64>> {
        self.check(graph)?;
        let round = round.unwrap_or_else(|| self.inner.rounds());
        Ok(self.inner.histogram_at(graph, round).into_iter().collect())
    }

    /// The round after which two graphs differ, or None. None is a verdict only if the refinement is stable.
    fn distinguishing_round(&self, py: Python<'_>, a: usize, b: usize) -> PyResult<Option<usize>> {
        self.check(a)?;
        self.check(b)?;
        Ok(py.detach(|| self.inner.distinguishing_round(a, b)))
    }

    /// One number per graph, equal for graphs with equal colours; numbered in the order of the graphs.
    fn classes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let classes = py.detach(|| {
            let mut known: HashMap<Vec<(u32, u64)>, i64> = HashMap::new();
            let mut class = |g| {
                let next = known.len() as i64;
                *known.entry(self.inner.histogram(g)).or_insert(next)
            };
            (0..self.inner.graphs()).map(&mut class).collect()
        });
        PyArray1::from_vec(py, classes)
    }

    fn __repr__(&self) -> String {
        let (test, graphs, rounds) = (self.inner.test(), self.inner.graphs(), self.inner.rounds());
        let colours = self.inner.colours_after(rounds);
        let stable = if self.inner.is_stable() { "" } else { ", not stable" };
        format!("Refinement({test}, graphs={graphs}, rounds={rounds}, colours={colours}{stable})")
    }
}

impl Refinement {
    fn check(&self, graph: usize) -> PyResult<()> {
        match graph < self.inner.graphs() {
            true => Ok(()),
            false => Err(PyIndexError::new_err(format!("no graph {graph} of {}", self.inner.graphs()))),
        }
    }
}

pub(crate) fn named(test: &str) -> PyResult<Test> {
    test.parse::<Test>().or_raise()
}

/// Colours graphs together.
#[pyfunction]
pub(crate) fn refine(
    py: Python<'_>,
    list: Vec<Bound<'_, Graph>>,
    test: &str,
    asked: Asked,
) -> PyResult<Refinement> {
    let (graphs, test) = (graphs(&list), named(test)?);
    let nodes = graphs.iter().map(ppgn_graph::Graph::nodes).collect();
    let inner =
        on_pool(py, |interrupt| ppgn_wl::refine(&graphs, test, &asked.options(interrupt)).map(Arc::new))?;
    Ok(Refinement { inner, nodes })
}

/// The digest of every graph.
#[pyfunction]
pub(crate) fn digests(
    py: Python<'_>,
    list: Vec<Bound<'_, Graph>>,
    test: &str,
    asked: Asked,
) -> PyResult<Vec<String>> {
    let (graphs, test) = (graphs(&list), named(test)?);
    on_pool(py, |interrupt| {
        let options = asked.options(interrupt);
        graphs
            .iter()
            .map(|graph| Ok::<_, Error>(ppgn_wl::digest(graph, test, &options)?.to_string()))
            .collect()
    })
}

/// Why two graphs of a refinement are distinguished: (text, data), or None.
#[pyfunction]
pub(crate) fn certificate<'py>(
    py: Python<'py>,
    list: Vec<Bound<'py, Graph>>,
    refinement: &Refinement,
    pair: (usize, usize),
    asked: Asked,
) -> PyResult<Option<(String, Bound<'py, PyDict>)>> {
    let graphs = graphs(&list);
    if graphs.len() != refinement.inner.graphs() {
        return Err(PyValueError::new_err("these are not the graphs of the refinement"));
    }
    refinement.check(pair.0)?;
    refinement.check(pair.1)?;
    let inner = refinement.inner.clone();
    let found = on_pool(py, |interrupt| {
        ppgn_wl::certificate(&graphs, &inner, pair.0, pair.1, &asked.options(interrupt))
    })?;
    found.map(|found| Ok((found.to_string(), to_dict(py, &found)?))).transpose()
}

/// A certificate as the JSON of the command line has it.
fn to_dict<'py>(py: Python<'py>, c: &ppgn_wl::Certificate) -> PyResult<Bound<'py, PyDict>> {
    let name = |n: &Named| format!("{}@{}", n.colour, n.round);
    let legend = PyList::empty(py);
    for definition in &c.legend {
        let entry = PyDict::new(py);
        entry.set_item("colour", name(&definition.name))?;
        match &definition.meaning {
            Meaning::Type(words) => entry.set_item("type", words)?,
            Meaning::Refined { parent, neighbours } => {
                entry.set_item("parent", name(parent))?;
                let list = PyList::empty(py);
                for n in neighbours {
                    let alike = PyDict::new(py);
                    alike.set_item("position", n.position)?;
                    alike.set_item("relation", n.relation.as_deref())?;
                    alike.set_item("colours", n.colours.iter().map(name).collect::<Vec<_>>())?;
                    alike.set_item("count", n.count)?;
                    list.append(alike)?;
                }
                entry.set_item("neighbours", list)?;
            }
        }
        legend.append(entry)?;
    }
    let whole = PyDict::new(py);
    whole.set_item("round", c.round)?;
    whole.set_item("colour", name(&c.colour))?;
    whole.set_item("counts", c.counts)?;
    whole.set_item("examples", c.examples.to_vec())?;
    whole.set_item("legend", legend)?;
    Ok(whole)
}
