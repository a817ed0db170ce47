//! The WL subtree kernel for scikit-learn: Gram matrices, and features whose columns stay the same for later graphs.

use crate::compute::on_pool;
use crate::graph::Graph;
use crate::wl::{Asked, graphs};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use ppgn_wl::{Error, Options, Refinement, SparseRows, Test, refine, subtree_kernel};
use pyo3::prelude::*;

type Sparse<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, u64);

fn sparse(py: Python<'_>, rows: SparseRows) -> Sparse<'_> {
    let list = |values: Vec<u64>| PyArray1::from_vec(py, values.into_iter().map(|x| x as i64).collect());
    (list(rows.values), list(rows.indices), list(rows.indptr), rows.columns)
}

/// The features of graphs after rounds 0 to `iterations`: (values, indices, indptr, columns) of compressed rows.
#[pyfunction]
pub(crate) fn wl_features<'py>(
    py: Python<'py>,
    list: Vec<Bound<'py, Graph>>,
    iterations: usize,
    asked: Asked,
) -> PyResult<Sparse<'py>> {
    let graphs = graphs(&list);
    let rows = on_pool(py, |interrupt| {
        let options = asked.options(interrupt);
        subtree_kernel(&graphs, iterations, &options)?.features(&options)
    })?;
    Ok(sparse(py, rows))
}

/// The features of new graphs in the columns of the fitted ones; colours that no fitted graph has are left out.
#[pyfunction]
pub(crate) fn wl_seen<'py>(
    py: Python<'py>,
    fitted: Vec<Bound<'py, Graph>>,
    list: Vec<Bound<'py, Graph>>,
    iterations: usize,
    asked: Asked,
) -> PyResult<Sparse<'py>> {
    let (fitted, new) = (graphs(&fitted), graphs(&list));
    let rows = on_pool(py, |interrupt| seen(&fitted, &new, iterations, &asked.options(interrupt)))?;
    Ok(sparse(py, rows))
}

/// A Gram matrix, and the kernel of every row's graph with itself.
type GramAndDiagonal<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// The Gram matrix of graphs, or with `new` that of the new graphs (rows) with the fitted ones (columns); and the kernel
/// of every row's graph with itself.
#[pyfunction]
#[pyo3(signature = (fitted, new, iterations, asked))]
pub(crate) fn wl_gram<'py>(
    py: Python<'py>,
    fitted: Vec<Bound<'py, Graph>>,
    new: Option<Vec<Bound<'py, Graph>>>,
    iterations: usize,
    asked: Asked,
) -> PyResult<GramAndDiagonal<'py>> {
    let (n, fitted, new) = (fitted.len(), graphs(&fitted), new.map(|new| graphs(&new)));
    let (values, diagonal) = on_pool(py, |interrupt| {
        let options = asked.options(interrupt);
        let real = |x: u64| x as f64;
        match new {
            None => {
                let kernel = subtree_kernel(&fitted, iterations, &options)?;
                let gram: Vec<f64> = kernel.gram(&options)?.values().iter().map(|&x| real(x)).collect();
                Ok::<_, Error>((gram, kernel.diagonal().into_iter().map(real).collect::<Vec<f64>>()))
            }
            Some(new) => {
                let all = [fitted, new].concat();
                let kernel = subtree_kernel(&all, iterations, &options)?;
                let block = kernel.between(n..all.len(), 0..n, &options)?;
                let diagonal = kernel.diagonal().split_off(n);
                Ok((block.into_iter().map(real).collect(), diagonal.into_iter().map(real).collect()))
            }
        }
    })?;
    let rows = diagonal.len();
    Ok((PyArray1::from_vec(py, values).reshape([rows, n])?, PyArray1::from_vec(py, diagonal)))
}

/// The rows of `new` in the columns that `fitted` alone has.
///
/// Both are refined together. On the fitted nodes this is the same partition, round by round, as refining them alone, so
/// each joint colour that a fitted node has corresponds to one column. O(H * nodes of all graphs).
fn seen(
    fitted: &[ppgn_graph::Graph],
    new: &[ppgn_graph::Graph],
    iterations: usize,
    options: &Options,
) -> Result<SparseRows, Error> {
    let options = Options { rounds: Some(iterations), ..options.clone() };
    let alone = refine(fitted, Test::COLOUR_REFINEMENT, &options)?;
    let joint = refine(&[fitted, new].concat(), Test::COLOUR_REFINEMENT, &options)?;
    let mut rows: Vec<Vec<(u64, u64)>> = vec![Vec::new(); new.len()];
    let mut start = 0u64;
    for round in 0..=iterations {
        options.interrupt.check()?;
        let columns = columns(&alone, &joint, fitted.len(), round);
        for (row, g) in rows.iter_mut().zip(fitted.len()..) {
            let mut colours: Vec<u64> =
                joint.colours(g).iter().filter_map(|&c| columns[c as usize]).map(|c| start + c).collect();
            colours.sort_unstable();
            row.extend(colours.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64)));
        }
        start += alone.colours_after(round) as u64;
    }
    let mut indptr = vec![0];
    indptr.extend(rows.iter().scan(0, |end, row| {
        *end += row.len() as u64;
        Some(*end)
    }));
    let (indices, values) = rows.concat().into_iter().unzip();
    Ok(SparseRows { columns: start, indptr, indices, values })
}

/// For every last colour of the joint refinement, its colour after a round in that of the fitted graphs alone.
fn columns(alone: &Refinement, joint: &Refinement, fitted: usize, round: usize) -> Vec<Option<u64>> {
    let (before, after) = (alone.ancestors(round), joint.ancestors(round));
    let mut known = vec![None; joint.colours_after(round)];
    for g in 0..fitted {
        for (&old, &new) in alone.colours(g).iter().zip(joint.colours(g)) {
            known[after[new as usize] as usize] = Some(u64::from(before[old as usize]));
        }
    }
    after.iter().map(|&c| known[c as usize]).collect()
}
