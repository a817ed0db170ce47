//! Hybridisation, by RDKit's rules: how many orbitals the bonds and lone pairs of an atom mix, and where a lone pair is
//! conjugated with a double bond beside it.

use super::Molecule;
use super::elements::{ANY, BORON, HYDROGEN, default_valence, outer_electrons};
use super::molecule::{AROMATIC, DATIVE};

/// For every atom the orbitals that it mixes: 1 is s, 2 sp, 3 sp2, 4 sp3, 5 sp3d, 6 sp3d2; 0 where there is no rule.
///
/// Four of them become three where a lone pair is conjugated with a double bond beside it (the nitrogen of an amide),
/// and in an aromatic ring. O(n + m) for molecules whose atoms have few bonds. Charges, hydrogens and radicals
/// must be known.
pub(crate) fn hybridisation(molecule: &Molecule) -> Vec<u8> {
    let conjugated = conjugated(molecule);
    let of = |atom| match orbitals(molecule, atom, &conjugated) {
        count @ 0..=6 => count as u8,
        _ => 0,
    };
    (0..molecule.atoms.len()).map(of).collect()
}

fn orbitals(molecule: &Molecule, atom: usize, conjugated: &[bool]) -> i32 {
    let element = molecule.atoms[atom];
    let degree = molecule.degree(atom);
    let given = molecule.links(atom).iter().filter(|l| l.kind == DATIVE && l.order == 0).count() as i32;
    match element {
        ANY => return 0,
        HYDROGEN => return (degree - given).max(1),
        89.. => return degree.max(1),
        // But for boron without a hydrogen, which has no electron left; also where no double bonds are known.
        _ if degree <= 3 && element != BORON && molecule.is_aromatic(atom) => return 3,
        _ => {}
    }
    let (outer, valence, charge) = (outer_electrons(element), molecule.valence(atom), molecule.charges[atom]);
    let free = outer - valence - charge;
    // What an atom without an octet has unpaired, it has in orbitals of their own.
    let unpaired = if valence + outer - charge < 8 { i32::from(molecule.radicals[atom]) } else { 0 };
    let orbitals = degree - given + (free - unpaired) / 2 + unpaired;
    let beside = || molecule.links(atom).iter().any(|l| conjugated[l.bond as usize]);
    match orbitals {
        0 => 1,
        4 if degree <= 3 && beside() => 3,
        other => other,
    }
}

/// The bonds over which electrons move: aromatic ones, and both a multiple bond and the bond beside it, if all three atoms can
/// take part.
fn conjugated(molecule: &Molecule) -> Vec<bool> {
    let can: Vec<bool> = (0..molecule.atoms.len()).map(|a| can_conjugate(molecule, a)).collect();
    let mut found: Vec<bool> = molecule.bonds.iter().map(|b| b.kind == AROMATIC).collect();
    for atom in (0..can.len()).filter(|&a| can[a] && matches!(molecule.degree(a), 2 | 3)) {
        for multiple in molecule.links(atom).iter().filter(|l| l.kind == AROMATIC || l.order > 1) {
            if !can[multiple.atom as usize] {
                continue;
            }
            for beside in molecule.links(atom).iter().filter(|l| l.bond != multiple.bond) {
                if molecule.degree(beside.atom as usize) <= 3 && can[beside.atom as usize] {
                    found[multiple.bond as usize] = true;
                    found[beside.bond as usize] = true;
                }
            }
        }
    }
    found
}

/// Whether an atom can take part in conjugation: it has electrons for it, is not beyond its first valence, and is not
/// phosphorus, sulphur or one below them.
fn can_conjugate(molecule: &Molecule, atom: usize) -> bool {
    let element = molecule.atoms[atom];
    let outer = outer_electrons(element);
    let beyond =
        molecule.charges[atom] == 0 && default_valence(element).is_some_and(|v| molecule.valence(atom) > v);
    let row = element <= 10 || !matches!(outer, 5 | 6) || (outer == 6 && molecule.degree(atom) < 2);
    row && !beyond && molecule.pi_electrons(atom).is_some_and(|electrons| electrons > 0)
}

#[cfg(test)]
mod tests {
    use super::super::molecule::tests::molecule;
    use super::*;

    fn of(atoms: &[u8], bonds: &[(u32, u32, u8)]) -> Vec<u8> {
        hybridisation(&molecule(atoms, bonds))
    }

    #[test]
    fn orbitals_of_small_molecules() {
        assert_eq!(of(&[6, 7, 1], &[(0, 1, 3), (0, 2, 1)]), [2, 2, 1], "hydrogen cyanide");
        // Formamide: its nitrogen is conjugated. Methylamine: it is not.
        let formamide = [(0, 1, 2), (0, 2, 1), (0, 3, 1), (2, 4, 1), (2, 5, 1)];
        assert_eq!(of(&[6, 8, 7, 1, 1, 1], &formamide)[..3], [3, 3, 3]);
        let methylamine = [(0, 1, 1), (0, 2, 1), (0, 3, 1), (0, 4, 1), (1, 5, 1), (1, 6, 1)];
        assert_eq!(of(&[6, 7, 1, 1, 1, 1, 1], &methylamine)[..2], [4, 4]);
        let sulphur_hexafluoride: Vec<(u32, u32, u8)> = (1..7).map(|i| (0, i, 1)).collect();
        assert_eq!(of(&[16, 9, 9, 9, 9, 9, 9], &sulphur_hexafluoride)[0], 6);
    }

    #[test]
    fn atoms_by_themselves() {
        assert_eq!(
            (of(&[26], &[]), of(&[0], &[]), of(&[1], &[]), of(&[92], &[])),
            (vec![4], vec![0], vec![1], vec![1])
        );
    }
}
