//! Between NumPy arrays and slices. Arguments are whatever `numpy.asarray` takes; arrays of the right type and layout are
//! read in place. Results of a graph are views of its memory, read-only, and keep the graph alive.

use numpy::ndarray::{ArrayView, Dimension, ShapeBuilder};
use numpy::{
    Element, PyArray, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

fn numpy<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyModule>> {
    py.import(intern!(py, "numpy"))
}

fn asarray<'py>(object: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = object.py();
    let array = numpy(py)?
        .call_method1(intern!(py, "asarray"), (object,))
        .map_err(|error| PyValueError::new_err(format!("{what}: not an array: {}", error.value(py))))?;
    Ok(array.cast_into()?)
}

/// The letter of the array's type: `i`, `u`, `f`, `b`, `U`, `O`...
pub(crate) fn kind(array: &Bound<'_, PyUntypedArray>) -> char {
    char::from(array.dtype().kind())
}

fn contiguous<'py, T: Element>(array: &Bound<'py, PyUntypedArray>) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    let py = array.py();
    let array = numpy(py)?.call_method1(intern!(py, "ascontiguousarray"), (array, T::get_dtype(py)))?;
    // `ascontiguousarray` makes a number an array of one.
    array.cast_into::<PyArrayDyn<T>>()?.try_readonly().map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// An array of integers; a `ValueError` for other numbers, and for integers beyond 64 bits.
pub(crate) fn integers<'py>(
    object: &Bound<'py, PyAny>,
    what: &str,
) -> PyResult<PyReadonlyArrayDyn<'py, i64>> {
    let array = asarray(object, what)?;
    let fits = match kind(&array) {
        'i' | 'b' => true,
        'u' => {
            array.dtype().itemsize() < 8
                || array.is_empty()
                || array.call_method0("max")?.extract::<u64>()? <= i64::MAX as u64
        }
        _ => array.is_empty(),
    };
    match fits {
        true => contiguous(&array),
        false => Err(PyValueError::new_err(format!("{what}: integers are needed, not {}", array.dtype()))),
    }
}

/// Labels: integers, or text by its code (`ppgn._labels`).
pub(crate) fn labels<'py>(object: &Bound<'py, PyAny>, what: &str) -> PyResult<PyReadonlyArrayDyn<'py, i64>> {
    let py = object.py();
    let array = asarray(object, what)?;
    match kind(&array) {
        'i' | 'b' | 'u' => integers(&array, what),
        _ if array.is_empty() => contiguous(&array),
        _ => {
            let codes = py.import(intern!(py, "ppgn._labels"))?;
            integers(&codes.call_method1(intern!(py, "codes"), (array, what))?, what)
        }
    }
}

/// An array of real numbers.
pub(crate) fn reals<'py>(object: &Bound<'py, PyAny>, what: &str) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    let array = asarray(object, what)?;
    match kind(&array) {
        'i' | 'u' | 'b' | 'f' => contiguous(&array),
        _ if array.is_empty() => contiguous(&array),
        _ => Err(PyValueError::new_err(format!("{what}: numbers are needed, not {}", array.dtype()))),
    }
}

/// The number of columns of a table with one row per item, a vector being one column.
pub(crate) fn columns(shape: &[usize], rows: usize, what: &str, of: &str) -> PyResult<usize> {
    match shape {
        [n] if *n == rows => Ok(1),
        [n, columns] if *n == rows => Ok(*columns),
        _ => Err(PyValueError::new_err(format!(
            "{what}: an array of shape {shape:?}, but there are {rows} {of}: one row per {} is needed",
            of.trim_end_matches('s')
        ))),
    }
}

/// A view of memory that `owner` holds and never changes, as a read-only array.
///
/// # Safety
/// `slice` must stay where it is, unchanged, as long as `owner` lives.
pub(crate) unsafe fn view<'py, T: Element, D: Dimension>(
    slice: &[T],
    shape: impl ShapeBuilder<Dim = D>,
    owner: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray<T, D>>> {
    let wrong = |e: String| PyRuntimeError::new_err(e);
    let shaped =
        ArrayView::from_shape(shape.into_shape_with_order(), slice).map_err(|e| wrong(e.to_string()))?;
    // SAFETY: the owner is the array's base, so the memory outlives it; nobody writes to it, because it is made read-only.
    let array = unsafe { PyArray::borrow_from_array(&shaped, owner) };
    let readonly = array.try_readwrite().map_err(|e| wrong(e.to_string()))?.make_nonwriteable();
    drop(readonly);
    Ok(array)
}

/// A result as an array of this shape.
pub(crate) fn shaped<'py, T: Element>(
    py: Python<'py>,
    values: Vec<T>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let array = numpy::ndarray::ArrayD::from_shape_vec(shape, values);
    let array = array.map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
    Ok(PyArray::from_owned_array(py, array))
}
