//! `ppgn.nn.Network`: scores and gradients for training loops that are not ours.

use crate::arrays::{reals, shaped};
use crate::compute::on_pool;
use crate::dataset::Dataset;
use crate::error::OrRaise;
use crate::graph::Graph;
use crate::settings::overrides;
use crate::wl::graphs;
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use ppgn_graph::encode::Encoder;
use ppgn_nn::{Batch, Evaluated, Matrix, Ppgn, PpgnConfig, Precision, Values};
use ppgn_train::Preset;
use ppgn_wl::Interrupt;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

/// A network and the encoding of its graphs. Calls from several threads are safe: each computes with the parameters that
/// are set when it starts.
#[pyclass(frozen, module = "ppgn._ppgn", name = "Network")]
#[derive(Debug)]
pub(crate) struct Network {
    network: RwLock<Arc<Ppgn>>,
    encoder: Encoder,
}

impl Network {
    pub(crate) fn of(network: Ppgn, encoder: Encoder) -> Self {
        Network { network: RwLock::new(Arc::new(network)), encoder }
    }

    fn current(&self) -> Arc<Ppgn> {
        self.network.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Runs something on a batch of these graphs, on the pool.
    fn on_batch<T: Send>(
        &self,
        py: Python<'_>,
        list: &[Bound<'_, Graph>],
        compute: impl FnOnce(&Ppgn, &Batch) -> ppgn_nn::Result<T> + Send,
    ) -> PyResult<T> {
        let (graphs, network) = (graphs(list), self.current());
        let schema = self.encoder.schema();
        for (number, graph) in graphs.iter().enumerate() {
            schema.check(graph).map_err(|why| PyValueError::new_err(format!("graph {number}: {why}")))?;
        }
        let dataset = ppgn_graph::Dataset::builder("graphs").graphs(graphs).schema(schema.clone());
        let dataset = dataset.build().or_raise()?;
        on_pool(py, |interrupt: &Interrupt| {
            let session = ppgn_train::Session::default();
            let (config, precision) = (network.config(), network.precision());
            ppgn_train::check_prediction(&session, config, precision, &dataset, dataset.len().max(1))?;
            let graphs: Vec<&ppgn_graph::Graph> = dataset.graphs().iter().collect();
            let batch = Batch::of(config, &self.encoder, &graphs, precision)?;
            let stopped = ppgn_nn::Workspace::default().stopped_by(interrupt.flag());
            Ok::<T, ppgn_train::Error>(compute(&(*network).clone().with_workspace(stopped), &batch)?)
        })
    }
}

#[pymethods]
impl Network {
    /// A network for graphs with the features of this dataset: preset and settings as for training.
    #[staticmethod]
    fn _new(
        dataset: &Bound<'_, Dataset>,
        outputs: usize,
        preset: &str,
        settings: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let dataset = &dataset.get().0;
        let preset = Preset::fitted(preset, dataset.name(), dataset.schema()).or_raise()?;
        let Preset { encoding, network, training } = overrides(&settings)?.apply(preset);
        let encoder = encoding.encoder(dataset.schema()).or_raise()?;
        let config = PpgnConfig { inputs: encoder.channels().len(), outputs, ..network };
        let network = config.init(training.seed, training.precision).or_raise()?;
        Ok(Network::of(network, encoder))
    }

    /// The configuration: (network, encoding, schema, precision, channels), as JSON.
    fn _config(&self) -> PyResult<String> {
        let network = self.current();
        let config = serde_json::json!({
            "network": network.config(),
            "encoding": self.encoder.encoding(),
            "schema": self.encoder.schema(),
            "precision": network.precision(),
            "channels": self.encoder.channels(),
        });
        Ok(config.to_string())
    }

    /// The scores, shape (graphs, outputs).
    fn forward<'py>(&self, py: Python<'py>, list: Vec<Bound<'py, Graph>>) -> PyResult<Bound<'py, PyAny>> {
        let scores = self.on_batch(py, &list, |network, batch| network.forward(batch))?;
        matrix(py, scores)
    }

    /// The pooled features, shape (graphs, features).
    fn embed<'py>(&self, py: Python<'py>, list: Vec<Bound<'py, Graph>>) -> PyResult<Bound<'py, PyAny>> {
        let features = self.on_batch(py, &list, |network, batch| network.embed(batch))?;
        matrix(py, features)
    }

    /// The gradient of a loss with respect to every parameter, given its gradient with respect to the scores, shape
    /// (graphs, outputs): (scores, dict).
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        list: Vec<Bound<'py, Graph>>,
        loss_gradient: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyDict>)> {
        let network = self.current();
        let (rows, columns) = (list.len(), network.config().outputs);
        let given = reals(loss_gradient, "loss_gradient")?;
        if given.shape() != [rows, columns] {
            let shape = given.shape();
            return Err(PyValueError::new_err(format!(
                "loss_gradient: an array of shape {shape:?}, but the scores have the shape [{rows}, {columns}]"
            )));
        }
        let slope = Values::from_f64(network.precision(), given.as_slice()?);
        let step = self.on_batch(py, &list, |network, batch| {
            let gradient = Matrix::new(rows, columns, slope)?;
            network.backward(batch, |_| Ok(Evaluated { value: 0.0, gradient }))
        })?;
        Ok((matrix(py, step.scores)?, named(py, &network, &step.gradients)?))
    }

    /// The parameters by name: a dict of new arrays.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let network = self.current();
        let arrays: Vec<Values> =
            network.parameters().or_raise()?.into_iter().map(|(_, values)| values).collect();
        named(py, &network, &arrays)
    }

    /// Replaces parameters by name; those that are not named stay.
    fn set_parameters(&self, given: &Bound<'_, PyDict>) -> PyResult<()> {
        let mut network = (*self.current()).clone();
        let mut arrays: Vec<Vec<f64>> =
            network.parameters().or_raise()?.into_iter().map(|(_, values)| values.to_f64()).collect();
        for (name, values) in given {
            let name: String = name.extract()?;
            let found = network.layout().parts().find(|(_, part)| part.name == name);
            let (array, part) =
                found.ok_or_else(|| PyKeyError::new_err(format!("the network has no parameter `{name}`")))?;
            let values = reals(&values, &name)?;
            if values.len() != part.len() {
                let (shape, wanted) = (values.shape(), &part.shape);
                return Err(PyValueError::new_err(format!("{name}: shape {shape:?}, not {wanted:?}")));
            }
            arrays[array][part.range()].copy_from_slice(values.as_slice()?);
        }
        let precision = network.precision();
        let values = arrays.iter().map(|array| Values::from_f64(precision, array)).collect();
        network.set_parameters(values).or_raise()?;
        *self.network.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(network);
        Ok(())
    }

    /// Writes the network to a safetensors file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let network = self.current();
        on_pool(py, |_| network.save(&path))
    }

    /// The pickle: configuration and parameters as bytes of 64-bit numbers, which hold both precisions exactly.
    fn _state<'py>(&self, py: Python<'py>) -> PyResult<(String, Bound<'py, PyBytes>)> {
        let arrays = self.current().parameters().or_raise()?;
        let numbers = arrays.iter().flat_map(|(_, values)| values.to_f64());
        let bytes: Vec<u8> = numbers.flat_map(f64::to_le_bytes).collect();
        Ok((self._config()?, PyBytes::new(py, &bytes)))
    }

    /// A network from its pickle.
    #[staticmethod]
    fn _from_state(config: &str, bytes: &[u8]) -> PyResult<Self> {
        #[derive(serde::Deserialize)]
        struct Config {
            network: PpgnConfig,
            encoding: ppgn_graph::encode::Encoding,
            schema: ppgn_graph::Schema,
            precision: Precision,
        }
        let wrong = |e: String| PyValueError::new_err(format!("not the pickle of a network: {e}"));
        let Config { network, encoding, schema, precision } =
            serde_json::from_str(config).map_err(|e| wrong(e.to_string()))?;
        network.validate().or_raise()?;
        let encoder = encoding.encoder(&schema).or_raise()?;
        let mut numbers = bytes.as_chunks::<8>().0.iter().map(|&x| f64::from_le_bytes(x));
        let layout = ppgn_nn::Layout::new(&network);
        let mut take = |length| numbers.by_ref().take(length).collect::<Vec<f64>>();
        let arrays = layout.arrays().iter().map(|a| Values::from_f64(precision, &take(a.len()))).collect();
        Ok(Network::of(Ppgn::new(network, arrays).or_raise()?, encoder))
    }
}

fn matrix<'py>(py: Python<'py>, matrix: Matrix) -> PyResult<Bound<'py, PyAny>> {
    let shape = [matrix.rows(), matrix.columns()];
    Ok(match matrix.into_values() {
        Values::F32(values) => shaped(py, values, &shape)?.into_any(),
        Values::F64(values) => shaped(py, values, &shape)?.into_any(),
    })
}

/// Arrays of a network's layout as a dict, by the names of its weight files.
fn named<'py>(py: Python<'py>, network: &Ppgn, arrays: &[Values]) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for (array, part) in network.layout().parts() {
        let value = match &arrays[array] {
            Values::F32(values) => part_of(py, &values[part.range()], &part.shape)?.into_any(),
            Values::F64(values) => part_of(py, &values[part.range()], &part.shape)?.into_any(),
        };
        out.set_item(&part.name, value)?;
    }
    Ok(out)
}

fn part_of<'py, T: numpy::Element + Copy>(
    py: Python<'py>,
    values: &[T],
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    PyArray1::from_slice(py, values).reshape(shape)
}
