//! Hydrogens that a file leaves out, and unpaired electrons: what valences say about an atom.
//!
//! An ion makes the bonds of the element with as many electrons: N+ as carbon, O- as fluorine. Phosphorus, sulphur,
//! arsenic and selenium keep their own higher valences where the charge would make them a halogen or a noble gas.

use super::Molecule;
use super::elements::{ANY, HEAVIEST, HYDROGEN, default_valence, outer_electrons, valences};
use super::molecule::AROMATIC;

/// Adds implicit hydrogens to the atoms whose hydrogens the file does not state. True if an atom makes more bonds than its
/// element can; it gets none. O(n + m).
///
/// Whether aromatic bonds are single or double is not decided yet: each counts one and a half.
pub(super) fn add_hydrogens(molecule: &mut Molecule) -> bool {
    let mut beyond = false;
    for atom in 0..molecule.atoms.len() {
        if molecule.stated[atom] {
            continue;
        }
        if let Some(valence) = molecule.valences[atom] {
            molecule.hydrogens[atom] = (i32::from(valence) - bond_sum(molecule, atom)).max(0) as u8;
            molecule.stated[atom] = true;
            continue;
        }
        let counted = implicit_hydrogens(molecule, atom);
        beyond |= counted.is_none();
        molecule.hydrogens[atom] = counted.unwrap_or(0).clamp(0, 8) as u8;
    }
    beyond
}

/// The bonds of an atom as RDKit sums them before double bonds are placed, aromatic ones as one and a half. For an aromatic atom
/// beyond its valence by up to one and a half, the valence: pyrrole's nitrogen, and atoms where rings meet.
pub(super) fn bond_sum(molecule: &Molecule, atom: usize) -> i32 {
    let halves = |kind: u8, order: u8| if kind == AROMATIC { 3 } else { 2 * i32::from(order) };
    let sum: i32 = molecule.links(atom).iter().map(|l| halves(l.kind, l.order)).sum();
    let sum = sum + 2 * i32::from(molecule.hydrogens[atom]);
    let aromatic = molecule.lowercase[atom] || molecule.is_aromatic(atom);
    let effective = effective(molecule, atom);
    if let Some(default) = default_valence(effective).filter(|&d| aromatic && sum > 2 * d) {
        let below = valences(effective).iter().map(|&v| i32::from(v)).take_while(|&v| v >= 0 && 2 * v <= sum);
        let nearest = below.last().unwrap_or(default);
        if sum - 2 * nearest <= 3 {
            return nearest;
        }
    }
    (sum + 1) / 2
}

/// The element whose valences an atom has: the one with its electrons, where the element has any.
fn effective(molecule: &Molecule, atom: usize) -> u8 {
    let element = molecule.atoms[atom];
    match default_valence(element) {
        Some(_) => (i32::from(element) - molecule.charges[atom]).clamp(0, i32::from(HEAVIEST)) as u8,
        None => element,
    }
}

/// How many hydrogens an atom lacks; `None` if it makes more bonds than it can.
fn implicit_hydrogens(molecule: &Molecule, atom: usize) -> Option<i32> {
    let element = molecule.atoms[atom];
    let sum = bond_sum(molecule, atom);
    let (charge, radicals) = (molecule.charges[atom], i32::from(molecule.radicals[atom]));
    if element == HYDROGEN && sum == 0 && radicals == 0 {
        return Some(i32::from(charge == 0));
    }
    let mut effective = effective(molecule, atom);
    if element == ANY || effective == ANY {
        return Some(0);
    }
    let Some(default) = default_valence(effective) else { return Some(0) };
    let mut used = sum + radicals;
    let hypervalent =
        (effective > 16 && matches!(element, 15 | 16)) || (effective > 34 && matches!(element, 33 | 34));
    if hypervalent {
        effective = element;
        used -= charge;
    }
    if molecule.lowercase[atom] || molecule.is_aromatic(atom) {
        return Some((default - used).max(0));
    }
    let list = valences(effective);
    let fits = list.iter().map(|&v| i32::from(v)).take_while(|&v| v >= 0).find(|&v| used <= v);
    match fits {
        Some(valence) => Some(valence - used),
        None => (list.last() == Some(&-1)).then_some(0),
    }
}

/// Counts unpaired electrons of the atoms whose hydrogens the file states: what is missing to an octet, or left of the outer
/// shell. O(n + m).
pub(crate) fn assign_radicals(molecule: &mut Molecule) {
    for atom in 0..molecule.atoms.len() {
        let element = molecule.atoms[atom];
        // Of aromatic bonds without a Kekulé structure nothing can be concluded.
        if !molecule.stated[atom] || element == ANY || molecule.is_aromatic(atom) {
            continue;
        }
        let (outer, charge) = (outer_electrons(element), molecule.charges[atom]);
        let list = valences(element);
        let radicals = if list == [-1] {
            let alone = molecule.links(atom).is_empty();
            if alone { (outer - charge).max(0) % 2 } else { 0 }
        } else {
            let valence = molecule.valence(atom);
            let full = if element <= 2 { 2 } else { 8 };
            let mut missing = full - outer - valence + charge;
            if missing < 0 {
                let higher = list.iter().filter(|_| list.len() > 1).map(|&v| i32::from(v) - valence + charge);
                missing = higher.clone().find(|&left| left >= 0).unwrap_or(0);
            }
            let free = outer - valence - charge;
            if free >= 0 { missing.min(free) } else { missing }
        };
        molecule.radicals[atom] = radicals.clamp(0, 8) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::super::molecule::tests::molecule;
    use super::*;

    /// The hydrogens of a single atom with bonds of these orders to carbons.
    fn hydrogens(element: u8, charge: i32, orders: &[u8]) -> Option<i32> {
        let atoms: Vec<u8> = std::iter::once(element).chain(orders.iter().map(|_| 6)).collect();
        let bonds: Vec<(u32, u32, u8)> = orders.iter().zip(1..).map(|(&o, i)| (0, i, o)).collect();
        let mut m = molecule(&atoms, &bonds);
        m.charges[0] = charge;
        implicit_hydrogens(&m, 0)
    }

    #[test]
    fn hydrogens_fill_valences() {
        for (element, charge, orders, count) in [
            (6, 0, &[][..], 4),
            (6, -1, &[1, 1], 1),
            (6, 1, &[1, 1], 1),
            (7, 0, &[1, 1], 1),
            (7, 1, &[1, 1, 1], 1),
            (8, -1, &[1], 0),
            (8, 1, &[2], 1),
            (16, 0, &[1, 1], 0),
            (16, 0, &[1, 1, 1], 1),
            (16, 0, &[1, 1, 2, 2], 0),
            (15, 0, &[1, 1, 2], 1),
            (15, -1, &[1, 1, 1, 1, 1, 1], 0),
            (5, -1, &[1, 1], 2),
            (17, 0, &[], 1),
            (1, 0, &[], 1),
            (1, 1, &[], 0),
            (26, 0, &[1], 0),
            (11, 0, &[1, 1], 0),
            (0, 0, &[1], 0),
        ] {
            assert_eq!(hydrogens(element, charge, orders), Some(count), "{element} {charge} {orders:?}");
        }
        assert_eq!(hydrogens(6, 0, &[1, 2, 2]), None);
        assert_eq!(hydrogens(8, 0, &[1, 1, 1]), None);
    }

    #[test]
    fn unpaired_electrons() {
        let radicals = |element: u8, charge: i32, stated: u8| {
            let mut m = molecule(&[element], &[]);
            (m.charges[0], m.hydrogens[0], m.stated[0]) = (charge, stated, true);
            assign_radicals(&mut m);
            m.radicals[0]
        };
        assert_eq!(
            (radicals(6, 0, 3), radicals(6, 0, 2), radicals(6, 1, 3), radicals(6, -1, 3)),
            (1, 2, 0, 0)
        );
        assert_eq!(
            (radicals(11, 1, 0), radicals(11, 0, 0), radicals(29, 0, 0), radicals(30, 0, 0)),
            (0, 1, 1, 0)
        );
        assert_eq!((radicals(8, 0, 1), radicals(16, 0, 3), radicals(1, 0, 0)), (1, 1, 1));
    }
}
