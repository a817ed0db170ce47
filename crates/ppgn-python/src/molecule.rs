//! Molecules: SMILES by the library's own reader, and what RDKit has perceived.

use crate::arrays::{integers, reals};
use crate::error::OrRaise;
use crate::graph::Graph;
use ppgn_graph::molecule::{self, Perceived, PerceivedBond};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The molecule of a SMILES.
#[pyfunction]
pub(crate) fn parse_smiles(text: &str) -> PyResult<Graph> {
    Ok(Graph(molecule::from_smiles(text).or_raise()?))
}

/// A molecule as RDKit has perceived it: rows of (element, charge, hydrogens that are no atoms, radicals), and of (atom, atom,
/// type, order), and the places of the atoms.
#[pyfunction]
pub(crate) fn perceived(
    atoms: &Bound<'_, PyAny>,
    bonds: &Bound<'_, PyAny>,
    positions: Option<&Bound<'_, PyAny>>,
) -> PyResult<Graph> {
    let (atoms, bonds) = (integers(atoms, "atoms")?, integers(bonds, "bonds")?);
    let (atoms, bonds) = (atoms.as_slice()?.as_chunks::<4>().0, bonds.as_slice()?.as_chunks::<4>().0);
    let mut molecule = Perceived::default();
    for &[element, charge, hydrogens, radicals] in atoms {
        molecule.atoms.push(fits(element)?);
        molecule.charges.push(fits(charge)?);
        molecule.hydrogens.push(fits(hydrogens)?);
        molecule.radicals.push(fits(radicals)?);
    }
    for &[a, b, kind, order] in bonds {
        let atoms = (fits(a)?, fits(b)?);
        molecule.bonds.push(PerceivedBond { atoms, kind: fits(kind)?, order: fits(order)? });
    }
    if let Some(positions) = positions {
        let positions = reals(positions, "positions")?;
        molecule.positions = Some(positions.as_slice()?.as_chunks::<3>().0.to_vec());
    }
    Ok(Graph(molecule.graph().or_raise()?))
}

fn fits<T: TryFrom<i64>>(number: i64) -> PyResult<T> {
    T::try_from(number).map_err(|_| PyValueError::new_err(format!("{number} is not a number of a molecule")))
}
