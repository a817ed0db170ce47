//! `ppgn.Graph`: the library's graph, with arrays in and out.

use crate::arrays::{columns, integers, labels, reals, view};
use crate::bytes;
use crate::error::OrRaise;
use numpy::ndarray::{Ix1, Ix2};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use ppgn_graph::format::graph6;
use ppgn_graph::{GraphBuilder, GraphError};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::hash::{DefaultHasher, Hash, Hasher};

/// An immutable graph with optional labels, attributes and positions.
///
/// Parameters
/// ----------
/// nodes : int
///     The number of nodes, numbered from 0.
/// edges : array of int, shape (m, 2) or (2, m), optional
///     The edges. An undirected edge is given once; given twice, it counts once. A square array of shape (2, 2) is
///     read as two rows of (u, v).
/// directed : bool, default False
///     Whether edges have a direction.
/// node_labels, edge_labels : array of int or str, shape (n,) or (n, columns), optional
///     Categories. Text is kept as a number that is the same everywhere.
/// node_attributes, edge_attributes : array of float, shape (n,) or (n, columns), optional
///     Finite numbers.
/// positions : array of float, shape (nodes, 3) or (nodes, 2), optional
///     Places in space.
///
/// Examples
/// --------
/// >>> import ppgn
/// >>> square = ppgn.Graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
/// >>> square
/// Graph(nodes=4, edges=4)
/// >>> square.neighbours(0)
/// array([1, 3], dtype=uint32)
#[pyclass(frozen, module = "ppgn", name = "Graph")]
#[derive(Debug)]
pub(crate) struct Graph(pub(crate) ppgn_graph::Graph);

#[pymethods]
impl Graph {
    #[new]
    #[pyo3(signature = (nodes, edges=None, *, directed=false, node_labels=None, node_attributes=None,
        edge_labels=None, edge_attributes=None, positions=None))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        nodes: usize,
        edges: Option<&Bound<'_, PyAny>>,
        directed: bool,
        node_labels: Option<&Bound<'_, PyAny>>,
        node_attributes: Option<&Bound<'_, PyAny>>,
        edge_labels: Option<&Bound<'_, PyAny>>,
        edge_attributes: Option<&Bound<'_, PyAny>>,
        positions: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut builder = GraphBuilder::new(nodes, directed);
        let pairs = edges.map_or(Ok(Vec::new()), |edges| pairs(edges, nodes))?;
        let m = pairs.len();
        // One edge after another with its features: the builder checks the rest.
        let edge_labels = edge_labels.map(|given| labels(given, "edge_labels")).transpose()?;
        let edge_attributes = edge_attributes.map(|given| reals(given, "edge_attributes")).transpose()?;
        let label_columns = edge_labels.as_ref().map(|a| columns(a.shape(), m, "edge_labels", "edges"));
        let label_columns = label_columns.transpose()?.unwrap_or(0);
        let attribute_columns =
            edge_attributes.as_ref().map(|a| columns(a.shape(), m, "edge_attributes", "edges"));
        let attribute_columns = attribute_columns.transpose()?.unwrap_or(0);
        match label_columns + attribute_columns {
            0 => {
                builder.extend(pairs);
            }
            _ => {
                builder.edge_label_columns(label_columns).edge_attribute_columns(attribute_columns);
                let labels = edge_labels.as_ref().map_or(Ok(&[][..]), |a| a.as_slice())?;
                let attributes = edge_attributes.as_ref().map_or(Ok(&[][..]), |a| a.as_slice())?;
                for (i, (u, v)) in pairs.into_iter().enumerate() {
                    let labels = &labels[i * label_columns..(i + 1) * label_columns];
                    let attributes = &attributes[i * attribute_columns..(i + 1) * attribute_columns];
                    builder.edge_with(u, v, labels, attributes);
                }
            }
        }
        if let Some(given) = node_labels {
            let array = labels(given, "node_labels")?;
            let columns = columns(array.shape(), nodes, "node_labels", "nodes")?;
            builder.node_labels(columns, array.as_slice()?.to_vec());
        }
        if let Some(given) = node_attributes {
            let array = reals(given, "node_attributes")?;
            let columns = columns(array.shape(), nodes, "node_attributes", "nodes")?;
            builder.node_attributes(columns, array.as_slice()?.to_vec());
        }
        if let Some(given) = positions {
            let array = reals(given, "positions")?;
            let width = columns(array.shape(), nodes, "positions", "nodes")?;
            if array.shape().len() != 2 || !(2..=3).contains(&width) {
                let shape = array.shape();
                return Err(PyValueError::new_err(format!("positions: shape {shape:?}, not ({nodes}, 3)")));
            }
            let rows = array.as_slice()?.chunks_exact(width);
            builder.positions(rows.map(|p| [p[0], p[1], p.get(2).copied().unwrap_or(0.0)]).collect());
        }
        Ok(Graph(builder.build().or_raise()?))
    }

    /// The number of nodes.
    #[getter]
    fn nodes(&self) -> usize {
        self.0.nodes()
    }

    /// The number of edges; an undirected edge counts once.
    #[getter]
    fn edges(&self) -> usize {
        self.0.edges()
    }

    /// Whether edges have a direction.
    #[getter]
    fn directed(&self) -> bool {
        self.0.is_directed()
    }

    /// The edges, each once: array of shape (2, edges), u <= v where the graph is undirected.
    #[getter]
    fn edge_index<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let edges: Vec<(usize, usize)> = self.0.edge_list().map(|(u, v, _)| (u, v)).collect();
        let values = edges.iter().map(|e| e.0 as i64).chain(edges.iter().map(|e| e.1 as i64)).collect();
        PyArray1::from_vec(py, values).reshape([2, edges.len()])
    }

    /// Where each node's neighbours begin in `indices`, as in a SciPy CSR matrix: shape (nodes + 1,). A read-only view.
    #[getter]
    fn indptr<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let slice = slf.get().0.offsets();
        // SAFETY: graphs are immutable and shared; `slf` holds this one.
        unsafe { view::<_, Ix1>(slice, [slice.len()], slf.as_any().clone()) }
    }

    /// The neighbours of all nodes, row after row; an undirected edge is there in both directions. A read-only view.
    #[getter]
    fn indices<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let slice = slf.get().0.targets();
        // SAFETY: as for `indptr`.
        unsafe { view::<_, Ix1>(slice, [slice.len()], slf.as_any().clone()) }
    }

    /// The nodes that a node's edges lead to, ascending. A read-only view.
    fn neighbours<'py>(slf: &Bound<'py, Self>, node: usize) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let graph = &slf.get().0;
        if node >= graph.nodes() {
            return Err(GraphError::NodeOutOfRange { node: node as u64, nodes: graph.nodes() }).or_raise();
        }
        let slice = graph.neighbours(node);
        // SAFETY: as for `indptr`.
        unsafe { view::<_, Ix1>(slice, [slice.len()], slf.as_any().clone()) }
    }

    /// The node labels, shape (nodes, columns), or None. A read-only view.
    #[getter]
    fn node_labels<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyArray2<i64>>>> {
        let g = &slf.get().0;
        table(slf, g.all_node_labels(), g.nodes(), g.node_label_columns())
    }

    /// The node attributes, shape (nodes, columns), or None. A read-only view.
    #[getter]
    fn node_attributes<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let g = &slf.get().0;
        table(slf, g.all_node_attributes(), g.nodes(), g.node_attribute_columns())
    }

    /// The edge labels in the order of `edge_index`, shape (edges, columns), or None.
    #[getter]
    fn edge_labels<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<i64>>>> {
        let g = &self.0;
        if g.edge_label_columns() == 0 {
            return Ok(None);
        }
        let values: Vec<i64> = g.edge_list().flat_map(|(_, _, a)| g.edge_labels(a).iter().copied()).collect();
        Ok(Some(PyArray1::from_vec(py, values).reshape([g.edges(), g.edge_label_columns()])?))
    }

    /// The edge attributes in the order of `edge_index`, shape (edges, columns), or None.
    #[getter]
    fn edge_attributes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let g = &self.0;
        if g.edge_attribute_columns() == 0 {
            return Ok(None);
        }
        let values: Vec<f64> =
            g.edge_list().flat_map(|(_, _, a)| g.edge_attributes(a).iter().copied()).collect();
        Ok(Some(PyArray1::from_vec(py, values).reshape([g.edges(), g.edge_attribute_columns()])?))
    }

    /// The places of the nodes, shape (nodes, 3), or None. A read-only view.
    #[getter]
    fn positions<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let g = &slf.get().0;
        g.positions().map_or(Ok(None), |places| table(slf, places.as_flattened(), g.nodes(), 3))
    }

    /// The adjacency matrix, shape (nodes, nodes), entries 0 and 1.
    fn adjacency<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let n = self.0.nodes();
        let cells = n.checked_mul(n).filter(|cells| *cells < (isize::MAX as usize) / 8);
        let cells = cells.filter(|&cells| {
            ppgn_graph::memory::available()
                .is_none_or(|available| (cells as u64).saturating_mul(8) < available)
        });
        let cells = cells.ok_or_else(|| {
            PyOverflowError::new_err(format!("the adjacency matrix of {n} nodes does not fit into memory"))
        })?;
        let mut values = vec![0.0; cells];
        self.0.arc_list().for_each(|(u, v, _)| values[u * n + v] = 1.0);
        PyArray1::from_vec(py, values).reshape([n, n])
    }

    /// The same graph with other numbers for its nodes: node i becomes node `permutation[i]`.
    fn permute(&self, permutation: &Bound<'_, PyAny>) -> PyResult<Self> {
        let array = integers(permutation, "permutation")?;
        let wrong = || GraphError::NotPermutation { nodes: self.0.nodes() };
        let to = array.as_slice()?.iter().map(|&i| u32::try_from(i).map_err(|_| wrong()));
        Ok(Graph(self.0.permute(&to.collect::<Result<Vec<u32>, _>>().or_raise()?).or_raise()?))
    }

    /// The graph as an undirected one if it is symmetric, features included, else as it is.
    fn _simplest(&self) -> Self {
        Graph(self.0.clone().to_undirected().unwrap_or_else(|_| self.0.clone()))
    }

    /// The graph as a directed one: an undirected edge becomes two.
    fn _both_ways(&self) -> Self {
        Graph(self.0.clone().to_directed())
    }

    /// The line of graph6 (sparse6 with loops, digraph6 if directed). Features have no place there: with any, a
    /// ValueError unless `lossy`.
    #[pyo3(signature = (*, lossy=false))]
    fn to_graph6(&self, lossy: bool) -> PyResult<String> {
        let g = &self.0;
        let features = g.node_label_columns()
            + g.node_attribute_columns()
            + g.edge_label_columns()
            + g.edge_attribute_columns();
        if !lossy && (features > 0 || g.positions().is_some()) {
            return Err(PyValueError::new_err(
                "graph6 cannot hold labels, attributes or positions: lossy=True leaves them out",
            ));
        }
        graph6::line(g).or_raise()
    }

    /// The graph as a `networkx.Graph` or `networkx.DiGraph`: see `ppgn.to_networkx`.
    #[pyo3(signature = (**options))]
    fn to_networkx<'py>(
        slf: &Bound<'py, Self>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        convert(slf, "to_networkx", options)
    }

    /// The graph as a `torch_geometric.data.Data`: see `ppgn.to_pyg`.
    #[pyo3(signature = (**options))]
    fn to_pyg<'py>(
        slf: &Bound<'py, Self>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        convert(slf, "to_pyg", options)
    }

    fn __len__(&self) -> usize {
        self.0.nodes()
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(&self) -> String {
        let g = &self.0;
        let mut text = format!("Graph(nodes={}, edges={}", g.nodes(), g.edges());
        if g.is_directed() {
            text += ", directed";
        }
        for (name, columns) in [
            ("node_labels", g.node_label_columns()),
            ("node_attributes", g.node_attribute_columns()),
            ("edge_labels", g.edge_label_columns()),
            ("edge_attributes", g.edge_attribute_columns()),
            ("positions", g.positions().map_or(0, |_| 3)),
        ] {
            if columns > 0 {
                text += &format!(", {name}={columns}");
            }
        }
        text + ")"
    }

    fn _repr_svg_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        py.import(intern!(py, "ppgn._svg"))?.call_method1(intern!(py, "draw"), (slf,))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> Option<bool> {
        other.cast::<Graph>().ok().map(|other| self.0 == other.get().0)
    }

    fn __hash__(&self) -> u64 {
        // Real numbers are left out: 0.0 and -0.0 are equal and have different bits.
        let mut hasher = DefaultHasher::new();
        let g = &self.0;
        (g.is_directed(), g.offsets(), g.targets(), g.all_node_labels(), g.all_edge_labels())
            .hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let mut out = Vec::new();
        bytes::write(&slf.get().0, &mut out);
        let make = slf.get_type().getattr(intern!(py, "_from_bytes"))?;
        Ok((make, PyTuple::new(py, [PyBytes::new(py, &out)])?))
    }

    /// A graph from its pickle.
    #[staticmethod]
    fn _from_bytes(data: &[u8]) -> PyResult<Self> {
        let mut reader = bytes::Reader(data);
        let graph = reader.graph().filter(|_| reader.0.is_empty());
        graph
            .map(Graph)
            .ok_or_else(|| PyValueError::new_err("not the pickle of a graph of this version of ppgn"))
    }
}

fn table<'py, T: numpy::Element>(
    owner: &Bound<'py, Graph>,
    values: &[T],
    rows: usize,
    columns: usize,
) -> PyResult<Option<Bound<'py, PyArray2<T>>>> {
    if columns == 0 {
        return Ok(None);
    }
    // SAFETY: graphs are immutable and shared; the owner holds this one.
    unsafe { view::<_, Ix2>(values, [rows, columns], owner.as_any().clone()) }.map(Some)
}

fn convert<'py>(
    graph: &Bound<'py, Graph>,
    function: &str,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    graph.py().import("ppgn._convert")?.call_method(function, (graph,), options)
}

/// The edges of an array of shape (m, 2) or (2, m).
fn pairs(edges: &Bound<'_, PyAny>, nodes: usize) -> PyResult<Vec<(u32, u32)>> {
    let array = integers(edges, "edges")?;
    let values = array.as_slice()?;
    let node = |x: i64| {
        let wrong = || GraphError::NodeOutOfRange { node: x.unsigned_abs(), nodes };
        match x < 0 {
            true => Err(PyValueError::new_err(format!("edges: node {x} is negative"))),
            false => u32::try_from(x).map_err(|_| wrong()).or_raise(),
        }
    };
    match array.shape() {
        [_, 2] => values.as_chunks::<2>().0.iter().map(|&[u, v]| Ok((node(u)?, node(v)?))).collect(),
        &[2, m] => (0..m).map(|i| Ok((node(values[i])?, node(values[m + i])?))).collect(),
        _ if values.is_empty() => Ok(Vec::new()),
        shape => {
            Err(PyValueError::new_err(format!("edges: an array of shape {shape:?}, not (m, 2) or (2, m)")))
        }
    }
}

/// The graph of a line of graph6, sparse6 or digraph6.
#[pyfunction]
pub(crate) fn parse_graph6(line: &str) -> PyResult<Graph> {
    Ok(Graph(graph6::parse(line).or_raise()?))
}
