//! `ppgn.Dataset`, and `ppgn.load`: the same readers as the command line's.

use crate::arrays::{integers, reals, shaped};
use crate::bytes;
use crate::compute::on_pool;
use crate::error::OrRaise;
use crate::graph::Graph;
use numpy::{PyArray1, PyUntypedArrayMethods};
use ppgn_graph::format::{self, Format, ReadOptions, Records, WriteOptions};
use ppgn_graph::locate::Locator;
use ppgn_graph::{Fold, Header, Item, Known, LabelColumn, Learnable, Record, Schema, Target, Task};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PySlice, PyTuple};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

/// Graphs with what is to be learned of them: an immutable sequence of `Graph`.
///
/// An index gives a `Graph`; a slice, or an array of indices or booleans, gives a `Dataset` of these graphs.
///
/// Parameters
/// ----------
/// graphs : sequence of graphs
///     Of any kind that `ppgn.as_graph` takes.
/// y : array, optional
///     Class labels (integers, shape (n,)) or targets (real numbers, shape (n,) or (n, targets)). By default the `y` of PyG
///     graphs.
/// name : str, default "data"
/// targets : sequence of str, optional
///     The names of the targets.
/// folds : sequence of (train, test), optional
///     Indices of graphs.
/// **options
///     `node_label`, `edge_label`, `node_attrs`, `edge_attrs`, `strings`: see `ppgn.as_graph`.
///
/// Examples
/// --------
/// >>> import ppgn
/// >>> path, triangle = ppgn.Graph(3, [(0, 1), (1, 2)]), ppgn.Graph(3, [(0, 1), (1, 2), (2, 0)])
/// >>> data = ppgn.Dataset([path, triangle], y=[0, 1], name="two")
/// >>> data, data[1], data[:1].y
/// (Dataset("two", graphs=2, classes=2), Graph(nodes=3, edges=3), array([0]))
#[pyclass(frozen, sequence, module = "ppgn", name = "Dataset")]
#[derive(Debug)]
pub(crate) struct Dataset(pub(crate) ppgn_graph::Dataset);

/// What is to be learned, as Python gives it: classes as integers, or targets as numbers.
#[derive(FromPyObject)]
pub(crate) struct Labels<'py> {
    #[pyo3(item)]
    classes: Option<Bound<'py, PyAny>>,
    #[pyo3(item)]
    words: Option<Vec<Option<String>>>,
    #[pyo3(item)]
    targets: Option<Bound<'py, PyAny>>,
    #[pyo3(item)]
    names: Vec<String>,
}

/// Training and test positions of a fold, as anything that holds integers.
type Positions<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

#[pymethods]
impl Dataset {
    #[new]
    #[pyo3(signature = (graphs, y=None, *, name="data".to_string(), targets=None, folds=None, **options))]
    fn new(
        graphs: &Bound<'_, PyAny>,
        y: Option<&Bound<'_, PyAny>>,
        name: String,
        targets: Option<&Bound<'_, PyAny>>,
        folds: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let py = graphs.py();
        let options = options.cloned().unwrap_or_else(|| PyDict::new(py));
        let prepared =
            py.import("ppgn._data")?.call_method1("prepare", (graphs, y, targets, folds, options))?;
        let (graphs, labels, folds, molecules): (
            Vec<Bound<'_, Graph>>,
            Labels<'_>,
            Vec<Positions<'_>>,
            bool,
        ) = prepared.extract()?;
        let schema = if molecules { schema_of_molecules(&graphs) } else { None };
        Self::made(&graphs, labels, name, &folds, schema)
    }

    /// Graphs with other labels, and with the schema of this dataset: the data of a training.
    fn _relabelled(
        &self,
        graphs: Vec<Bound<'_, Graph>>,
        labels: Labels<'_>,
        folds: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>,
    ) -> PyResult<Self> {
        Self::made(&graphs, labels, self.0.name().into(), &folds, Some(self.0.schema().clone()))
    }

    /// The dataset with something to learn of all its nodes (`level` is "node") or pairs ("pair"), in their order, graph after
    /// graph: classes where `known`, or targets, which are NaN where they are not known.
    fn _with_items(
        &self,
        level: &str,
        classes: Option<&Bound<'_, PyAny>>,
        known: Option<&Bound<'_, PyAny>>,
        targets: Option<&Bound<'_, PyAny>>,
        names: Vec<String>,
    ) -> PyResult<Self> {
        let item = match level {
            "node" => Item::Node,
            "pair" => Item::Pair,
            _ => {
                return Err(PyValueError::new_err(format!("level={level:?}: graph, node or pair is needed")));
            }
        };
        let labels = classes.map(|classes| integers(classes, "y")).transpose()?;
        let labels: Vec<i64> =
            labels.map(|l| l.as_slice().map(<[i64]>::to_vec)).transpose()?.unwrap_or_default();
        let flags = known.map(|known| integers(known, "y")).transpose()?;
        let flags: Vec<i64> =
            flags.map(|l| l.as_slice().map(<[i64]>::to_vec)).transpose()?.unwrap_or_default();
        let values = targets.map(|targets| reals(targets, "y")).transpose()?;
        let values: Vec<f64> =
            values.map(|v| v.as_slice().map(<[f64]>::to_vec)).transpose()?.unwrap_or_default();
        let width = names.len();
        let items = self.0.graphs().iter().map(|graph| item.places(graph.nodes()) as usize);
        let total: usize = items.clone().sum();
        let fits = |length: usize, each: usize| length == if each == 0 { 0 } else { total * each };
        let has_classes = usize::from(classes.is_some());
        if !fits(labels.len(), has_classes) || !fits(flags.len(), has_classes) || !fits(values.len(), width) {
            return Err(PyValueError::new_err(format!("y: {total} {level}s need a value each")));
        }
        let mut start = 0;
        let mut all = Vec::new();
        for count in items {
            let rows = start..start + count;
            let own = if has_classes > 0 { rows.clone() } else { 0..0 };
            let label = |row: usize| (flags[row] != 0).then_some(labels[row]);
            let places = (0..count as u64).collect();
            let known = Known::new(
                places,
                own.map(label).collect(),
                values[rows.start * width..rows.end * width].to_vec(),
            );
            all.push(known.map_err(PyValueError::new_err)?);
            start += count;
        }
        let occurring = labels.iter().zip(&flags).filter(|(_, known)| **known != 0).map(|(label, _)| *label);
        let learnable = Learnable {
            classes: classes.is_some().then(|| LabelColumn::new("", occurring).values().to_vec()),
            class_names: Vec::new(),
            targets: names.into_iter().map(|name| Target { name, unit: String::new() }).collect(),
        };
        let header = self.0.header();
        let builder = ppgn_graph::Dataset::builder(self.0.name())
            .graphs(self.0.graphs().to_vec())
            .schema(header.schema.clone())
            .folds(header.folds.clone());
        Ok(Dataset(builder.items(item, learnable, all).build().or_raise()?))
    }

    /// Molecules: a dataset with the schema of files of them.
    #[staticmethod]
    fn _of_molecules(graphs: Vec<Bound<'_, Graph>>) -> PyResult<Self> {
        let labels = Labels { classes: None, words: None, targets: None, names: Vec::new() };
        Self::made(&graphs, labels, "data".into(), &[], schema_of_molecules(&graphs))
    }

    /// The shape of a one-dimensional array of graphs, so that scikit-learn takes parts of a dataset as datasets.
    #[getter]
    fn shape(&self) -> (usize,) {
        (self.0.len(),)
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// What is to be learned: "classification", "regression" or "none".
    #[getter]
    fn task(&self) -> &'static str {
        self.0.task().name()
    }

    /// What is to be learned: class labels (shape (n,); integers, or text where classes have names), targets (float64,
    /// shape (n,) for one and (n, targets) for several; NaN where one is not known), or None. Classes that are not known
    /// are NaN, or None among names.
    #[getter]
    fn y<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let n = self.0.len();
        Ok(match self.0.task() {
            Task::None => None,
            Task::Classification { classes } => Some(self.class_labels(py, classes)?),
            Task::Regression { targets } => {
                let values = (0..n).flat_map(|i| self.0.targets(i).iter().copied()).collect();
                let shape = if targets.len() == 1 { vec![n] } else { vec![n, targets.len()] };
                Some(shaped(py, values, &shape)?.into_any())
            }
        })
    }

    /// What every graph is called in its file, or None where no graph has a name.
    #[getter]
    fn ids(&self) -> Option<Vec<Option<&str>>> {
        self.0.has_ids().then(|| (0..self.0.len()).map(|i| self.0.id(i)).collect())
    }

    /// The names of the targets.
    #[getter]
    fn targets(&self) -> Vec<&str> {
        self.0.header().targets.iter().map(|t| t.name.as_str()).collect()
    }

    /// The folds that come with the data: a list of (train, test), each an array of indices.
    #[getter]
    fn folds<'py>(&self, py: Python<'py>) -> Vec<[Bound<'py, PyArray1<i64>>; 2]> {
        let list = |indices: &[u32]| PyArray1::from_vec(py, indices.iter().map(|&i| i64::from(i)).collect());
        self.0.folds().iter().map(|fold| [list(&fold.train), list(&fold.test)]).collect()
    }

    /// Everything known of the dataset but its graphs, as JSON: `schema` reads it.
    fn _header(&self) -> PyResult<String> {
        serde_json::to_string(self.0.header()).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    /// What features the graphs have: a dict.
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text =
            serde_json::to_string(self.0.schema()).map_err(|e| PyValueError::new_err(e.to_string()))?;
        py.import(intern!(py, "json"))?.call_method1(intern!(py, "loads"), (text,))
    }

    /// SHA-256 over the content: equal for equal data, wherever it was read from.
    fn digest(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.digest())
    }

    /// Writes the dataset: `.jsonl` (lossless), `.g6`, or a folder in the TU format.
    #[pyo3(signature = (path, *, lossy=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, lossy: bool) -> PyResult<()> {
        on_pool(py, |_| format::write(Records::of(&self.0), &path, WriteOptions { lossy }).map(|_| ()))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let n = self.0.len();
        if let Ok(slice) = index.cast::<PySlice>() {
            let part = slice.indices(n as isize)?;
            let chosen: Vec<u32> =
                (0..part.slicelength as isize).map(|i| (part.start + i * part.step) as u32).collect();
            return Ok(Bound::new(py, Dataset(self.0.subset(&chosen).or_raise()?))?.into_any());
        }
        if let Ok(i) = index.extract::<isize>() {
            let place = if i < 0 { i + n as isize } else { i };
            let place = usize::try_from(place).ok().filter(|&place| place < n);
            let place = place.ok_or_else(|| PyIndexError::new_err(format!("no graph {i} of {n}")))?;
            return Ok(Bound::new(py, Graph(self.0.graph(place).clone()))?.into_any());
        }
        // As scikit-learn indexes arrays: `data[indices, ...]`.
        if let Ok(parts) = index.cast::<PyTuple>() {
            let rest = parts.iter().skip(1).all(|part| part.is(py.Ellipsis()));
            return match parts.get_item(0) {
                Ok(first) if rest => self.__getitem__(py, &first),
                _ => Err(PyIndexError::new_err("a dataset has one dimension")),
            };
        }
        if index.cast::<pyo3::types::PyString>().is_ok() {
            return Err(PyTypeError::new_err("an index, a slice or an array of indices is needed"));
        }
        let chosen = positions(index, n)?;
        Ok(Bound::new(py, Dataset(self.0.subset(&chosen).or_raise()?))?.into_any())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self._graphs(py)?.try_iter()?.into_any())
    }

    /// All graphs as a list.
    fn _graphs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let graphs: PyResult<Vec<_>> =
            self.0.graphs().iter().map(|g| Bound::new(py, Graph(g.clone()))).collect();
        PyList::new(py, graphs?)
    }

    fn __repr__(&self) -> String {
        let graphs = self.0.len();
        let learned = match self.0.task() {
            Task::None => String::new(),
            Task::Classification { classes } => format!(", classes={}", classes.len()),
            Task::Regression { targets } => format!(", targets={}", targets.len()),
        };
        let folds = match self.0.folds().len() {
            0 => String::new(),
            n => format!(", folds={n}"),
        };
        format!("Dataset({:?}, graphs={graphs}{learned}{folds})", self.0.name())
    }

    fn _repr_svg_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        py.import(intern!(py, "ppgn._svg"))?.call_method1(intern!(py, "draw_all"), (slf,))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> Option<bool> {
        other.cast::<Dataset>().ok().map(|other| self.0 == other.get().0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.0.name(), self.0.classes().collect::<Vec<_>>()).hash(&mut hasher);
        self.0
            .graphs()
            .iter()
            .for_each(|g| (g.offsets(), g.targets(), g.all_node_labels()).hash(&mut hasher));
        hasher.finish()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let dataset = &slf.get().0;
        let mut out = Vec::new();
        for (i, graph) in dataset.graphs().iter().enumerate() {
            bytes::write(graph, &mut out);
            dataset.targets(i).iter().for_each(|x| out.extend(x.to_le_bytes()));
            for item in
                [Item::Node, Item::Pair].into_iter().filter(|&item| !dataset.learnable(item).is_empty())
            {
                bytes::write_known(&dataset.known(item, i), &mut out);
            }
        }
        let header = slf.get()._header()?;
        let classes = dataset.classes().flat_map(|c| c.map_or(u32::MAX, |c| c as u32).to_le_bytes());
        let classes = PyBytes::new(py, &classes.collect::<Vec<u8>>());
        let ids = slf.get().ids();
        let make = slf.get_type().getattr(intern!(py, "_from_bytes"))?;
        Ok((make, (header, classes, ids, PyBytes::new(py, &out)).into_pyobject(py)?))
    }

    /// A dataset from its pickle.
    #[staticmethod]
    fn _from_bytes(
        header: &str,
        classes: &[u8],
        ids: Option<Vec<Option<String>>>,
        data: &[u8],
    ) -> PyResult<Self> {
        let wrong = || PyValueError::new_err("not the pickle of a dataset of this version of ppgn");
        let header: Header = serde_json::from_str(header).map_err(|_| wrong())?;
        let classes: Vec<u32> = classes.as_chunks::<4>().0.iter().map(|&c| u32::from_le_bytes(c)).collect();
        let mut reader = bytes::Reader(data);
        let mut records = Vec::new();
        while !reader.0.is_empty() {
            let graph = reader.graph().ok_or_else(wrong)?;
            let label = header.classes.as_ref().zip(classes.get(records.len()).filter(|&&c| c != u32::MAX));
            let id = ids.as_ref().and_then(|ids| ids.get(records.len())?.clone());
            let label =
                label.map(|(names, &c)| names.get(c as usize).copied().ok_or_else(wrong)).transpose()?;
            let targets = header.targets.iter().map(|_| reader.real()).collect::<Option<Vec<f64>>>();
            let mut known = |item: Item| match header.learnable(item) {
                learnable if learnable.is_empty() => Ok(Known::default()),
                learnable => reader.known(learnable.targets.len()).ok_or_else(wrong),
            };
            let (nodes, pairs) = (known(Item::Node)?, known(Item::Pair)?);
            records.push(Record { graph, id, label, targets: targets.ok_or_else(wrong)?, nodes, pairs });
        }
        Ok(Dataset(ppgn_graph::Dataset::collect(header, records.into_iter().map(Ok)).or_raise()?))
    }
}

impl Dataset {
    fn made(
        graphs: &[Bound<'_, Graph>],
        labels: Labels<'_>,
        name: String,
        folds: &[(Bound<'_, PyAny>, Bound<'_, PyAny>)],
        schema: Option<Schema>,
    ) -> PyResult<Self> {
        let graphs: Vec<ppgn_graph::Graph> = graphs.iter().map(|g| g.get().0.clone()).collect();
        let number = graphs.len();
        let mut builder = ppgn_graph::Dataset::builder(name).graphs(graphs);
        if let Some(schema) = schema {
            builder = builder.schema(schema);
        }
        if let Some(classes) = labels.classes {
            builder = builder.labels(integers(&classes, "y")?.as_slice()?.to_vec());
        }
        if let Some(words) = labels.words {
            builder = builder.named_labels(words);
        }
        if let Some(targets) = labels.targets {
            let values = reals(&targets, "y")?;
            if values.len() != number * labels.names.len() {
                return Err(PyValueError::new_err(
                    "y: one row per graph and one column per target are needed",
                ));
            }
            let targets = labels.names.into_iter().map(|name| Target { name, unit: String::new() });
            builder = builder.targets(targets.collect(), values.as_slice()?.to_vec());
        }
        let list = |indices: &Bound<'_, PyAny>| positions(indices, number);
        let fold = |(train, test): &(Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            PyResult::Ok(Fold { train: list(train)?, test: list(test)? })
        };
        let folds: Vec<Fold> = folds.iter().map(fold).collect::<PyResult<_>>()?;
        Ok(Dataset(builder.folds(folds).build().or_raise()?))
    }

    /// The class of every graph, as the data has it.
    fn class_labels<'py>(&self, py: Python<'py>, classes: &[i64]) -> PyResult<Bound<'py, PyAny>> {
        let names = &self.0.header().class_names;
        if !names.is_empty() {
            let known: Vec<Option<&str>> = self.0.classes().map(|c| Some(names[c?].as_str())).collect();
            let all = known.iter().all(Option::is_some);
            let list = PyList::new(py, known)?;
            let numpy = py.import(intern!(py, "numpy"))?;
            return match all {
                true => numpy.call_method1(intern!(py, "array"), (list,)),
                false => numpy.call_method1(intern!(py, "array"), (list, "object")),
            };
        }
        Ok(match self.0.classes().map(|c| c.map(|c| classes[c])).collect::<Option<Vec<i64>>>() {
            Some(labels) => PyArray1::from_vec(py, labels).into_any(),
            None => {
                let label = |c: Option<usize>| c.map_or(f64::NAN, |c| classes[c] as f64);
                PyArray1::from_vec(py, self.0.classes().map(label).collect()).into_any()
            }
        })
    }
}

/// The schema of files of molecules; nothing where these graphs have other features.
fn schema_of_molecules(graphs: &[Bound<'_, Graph>]) -> Option<Schema> {
    let graphs: Vec<ppgn_graph::Graph> = graphs.iter().map(|g| g.get().0.clone()).collect();
    ppgn_graph::molecule::schema(&graphs)
}

/// Indices of graphs: integers (negative ones from the end), or one boolean per graph.
fn positions(indices: &Bound<'_, PyAny>, n: usize) -> PyResult<Vec<u32>> {
    let py = indices.py();
    let array = py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "asarray"), (indices,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let array = match kind.as_str() {
        "b" => {
            if array.len()? != n {
                let length = array.len()?;
                return Err(PyIndexError::new_err(format!("{length} booleans for {n} graphs")));
            }
            array.call_method0("nonzero")?.get_item(0)?
        }
        _ => array,
    };
    let place = |&i: &i64| {
        let place = if i < 0 { i + n as i64 } else { i };
        let place = u32::try_from(place).ok().filter(|&place| (place as usize) < n);
        place.ok_or_else(|| PyIndexError::new_err(format!("no graph {i} of {n}")))
    };
    integers(&array, "indices")?.as_slice()?.iter().map(place).collect()
}

/// The dataset of a name (`MUTAG`), a path (`./my.g6`) or a generator (`csl:n=11`).
#[pyfunction]
#[pyo3(signature = (name, data_dir, download, format, directed))]
pub(crate) fn load(
    py: Python<'_>,
    name: String,
    data_dir: Option<PathBuf>,
    download: bool,
    format: Option<String>,
    directed: bool,
) -> PyResult<Dataset> {
    let named = |name: String| {
        let found = Format::ALL.into_iter().find(|f| f.name() == name);
        let known = Format::ALL.map(Format::name).join(", ");
        found.ok_or_else(|| PyValueError::new_err(format!("`{name}` is not a format; there are {known}")))
    };
    let read = ReadOptions { format: format.map(named).transpose()?, directed, ..ReadOptions::default() };
    let locator = Locator { data_dir, read, download, ..Locator::default() };
    on_pool(py, |_| locator.load(&name).map(Dataset))
}

/// The names of everything that `load` finds without a path: (generators, datasets that can be downloaded, data folder).
#[pyfunction]
pub(crate) fn names(data_dir: Option<PathBuf>) -> (Vec<String>, Vec<String>, Vec<String>) {
    let locator = Locator { data_dir, ..Locator::default() };
    (
        ppgn_graph::generate::generators().iter().map(|g| g.name.to_string()).collect(),
        ppgn_graph::fetch::known().iter().map(|k| k.name.clone()).collect(),
        locator.list().into_iter().map(|f| f.name).collect(),
    )
}
