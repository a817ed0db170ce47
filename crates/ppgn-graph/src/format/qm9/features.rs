//! The 13 atom features that networks on QM9 use, from atoms and bonds alone.
//!
//! They originate as calls of RDKit in code for message passing networks: acceptors and donors of hydrogen bonds,
//! hybridisation, hydrogens. `docs/formats.md` describes the rules and how far they agree with RDKit.

use crate::chem::Molecule;
use crate::chem::elements::{CARBON, FLUORINE, HYDROGEN, NITROGEN, OXYGEN};
use crate::chem::hybridisation::hybridisation;
use crate::chem::hydrogen_bonds::Atom;

/// The number of features of an atom.
pub(super) const COUNT: usize = super::FEATURES.len();

/// The features of all atoms, [`COUNT`] each, in the order of [`FEATURES`](super::FEATURES). O(n + m) for molecules
/// whose atoms have few bonds.
///
/// The charges of the molecule must be known, those of aromatic atoms too.
pub(super) fn features(molecule: &Molecule) -> Vec<f64> {
    let mut features = vec![0.0; molecule.atoms.len() * COUNT];
    let orbitals = hybridisation(molecule);
    for (atom, row) in features.chunks_exact_mut(COUNT).enumerate() {
        let element = molecule.atoms[atom];
        if let Some(place) = [HYDROGEN, CARBON, NITROGEN, OXYGEN, FLUORINE].iter().position(|&e| e == element)
        {
            row[place] = 1.0;
        }
        row[5] = f64::from(element);
        row[12] = molecule.hydrogens(atom) as f64;
        if element == HYDROGEN && molecule.degree(atom) == 1 {
            continue;
        }
        let view = Atom::new(molecule, atom);
        row[6] = f64::from(u8::from(view.is_acceptor()));
        row[7] = f64::from(u8::from(view.is_donor()));
        row[8] = f64::from(u8::from(molecule.is_aromatic(atom)));
        if let count @ 2..=4 = orbitals[atom] {
            row[7 + usize::from(count)] = 1.0;
        }
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chem::assign_radicals;
    use crate::chem::molecule::tests::molecule;
    use crate::chem::resonance::imply_charges;

    /// Acceptor, donor, aromatic, sp, sp2, sp3, hydrogens of an atom.
    fn row(atoms: &[u8], bonds: &[(u32, u32, u8)], atom: usize) -> [u8; 7] {
        let mut m = molecule(atoms, bonds);
        imply_charges(&mut m);
        m.stated.fill(true);
        assign_radicals(&mut m);
        let all = features(&m);
        std::array::from_fn(|i| all[COUNT * atom + 6 + i] as u8)
    }

    #[test]
    fn hybridisation() {
        let cyanide = [(0, 1, 3), (0, 2, 1)];
        assert_eq!(row(&[6, 7, 1], &cyanide, 0), [0, 0, 0, 1, 0, 0, 1]);
        assert_eq!(row(&[6, 7, 1], &cyanide, 1), [0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(row(&[6, 7, 1], &cyanide, 2), [0, 0, 0, 0, 0, 0, 0]);
        // Formamide: its nitrogen is conjugated. Methylamine: it is not.
        let formamide = [(0, 1, 2), (0, 2, 1), (0, 3, 1), (2, 4, 1), (2, 5, 1)];
        assert_eq!(row(&[6, 8, 7, 1, 1, 1], &formamide, 1), [1, 0, 0, 0, 1, 0, 0]);
        assert_eq!(row(&[6, 8, 7, 1, 1, 1], &formamide, 2), [0, 1, 0, 0, 1, 0, 2]);
        let methylamine = [(0, 1, 1), (0, 2, 1), (0, 3, 1), (0, 4, 1), (1, 5, 1), (1, 6, 1)];
        assert_eq!(row(&[6, 7, 1, 1, 1, 1, 1], &methylamine, 1), [0, 1, 0, 0, 0, 1, 2]);
        // An atom without bonds, as four molecules of QM9 have them, and a metal.
        assert_eq!(row(&[6], &[], 0), [0, 0, 0, 0, 0, 1, 0]);
        assert_eq!(row(&[26], &[], 0), [0, 0, 0, 0, 0, 1, 0]);
    }
}
