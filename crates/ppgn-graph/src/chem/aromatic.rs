//! Aromaticity perception from single and double bonds, after RDKit's model: the published arrays of QM9 were labelled by
//! it, and so are most molecules that networks learn from.
//!
//! Every atom of a ring contributes 0, 1 or 2 electrons to the ring or cannot take part ([`donation`]). A ring, or up to six
//! rings fused by common bonds, is aromatic if all atoms take part and the sum is 4k + 2 (Hückel's rule). Of fused
//! rings that are aromatic only together, the bonds around them are aromatic, not those between them.

use super::elements::{ANY, CARBON, OXYGEN, SULPHUR, default_valence, more_electronegative};
use super::molecule::{AROMATIC, Molecule};
use super::rings::{Ring, peel, relevant_cycles};
use std::collections::BTreeSet;

/// The maximum number of fused rings considered together.
const MOST_FUSED: u32 = 6;
/// Where there are more sets of fused rings of one size, larger ones are not considered: a bound on time that real
/// molecules do not reach.
const MOST_SETS: usize = 5_000;

/// Turns the bonds of aromatic rings into aromatic bonds. False if the molecule has too many rings.
///
/// The rings must be known. A molecule that has aromatic bonds already is left as it is.
pub(crate) fn perceive(molecule: &mut Molecule) -> bool {
    if !may_be_aromatic(molecule) {
        return true;
    }
    let Some(rings) = relevant_cycles(molecule) else { return false };
    let donations: Vec<Option<Electrons>> =
        (0..molecule.atoms.len()).map(|a| donation(molecule, a)).collect();
    let rings: Vec<Ring> = rings.into_iter().filter(|r| takes_part(molecule, r, &donations)).collect();
    let Some(aromatic) = aromatic_bonds(&rings, &donations) else { return false };
    for bond in aromatic {
        let kind = molecule.bonds[bond as usize].kind;
        if kind < 3 {
            molecule.set_bond(bond, AROMATIC, kind);
        }
    }
    true
}

/// Whether any ring could be aromatic: a cheap test that settles most molecules.
fn may_be_aromatic(molecule: &Molecule) -> bool {
    let has = |kind| molecule.bonds.iter().any(|b| b.kind == kind);
    if has(AROMATIC) || !has(2) {
        return false;
    }
    let able = (0..molecule.atoms.len()).map(|a| is_able(molecule, a)).collect();
    peel(molecule, able).contains(&true)
}

/// Whether an atom may take part in an aromatic ring at all: electrons to share, no bonds beyond its valence, at most one
/// multiple bond, and no unpaired electron unless it is carbon.
fn is_able(molecule: &Molecule, atom: usize) -> bool {
    let element = molecule.atoms[atom];
    if element == ANY {
        return true;
    }
    let light = element <= 18 || element == 34 || element == 52;
    if !light || molecule.pi_electrons(atom).is_none() {
        return false;
    }
    // An ion makes the same number of bonds as the element with its electrons: N+ as C, O+ as N.
    let same_electrons = u8::try_from(i32::from(element) - molecule.charges[atom]).unwrap_or(ANY);
    if default_valence(same_electrons).is_none_or(|most| molecule.valence(atom) > most) {
        return false;
    }
    if molecule.radicals[atom] > 0 && element != CARBON {
        return false;
    }
    molecule.links(atom).iter().filter(|l| l.order > 1).count() <= 1
}

/// The fewest and the most electrons that an atom gives; they differ only for an atom that stands for any.
type Electrons = (u32, u32);

/// The electrons that an atom gives to the aromatic rings it is in, or `None` if it cannot be in one.
///
/// An atom with a double bond in the ring gives one. A double bond that leaves the ring takes that electron along if
/// it leads to a more electronegative atom (C=O), else it stays (C=C). A lone pair gives two: pyrrole's nitrogen,
/// furan's oxygen, a carbanion. An empty orbital (a cation) gives none and does not interrupt the ring.
fn donation(molecule: &Molecule, atom: usize) -> Option<Electrons> {
    if molecule.atoms[atom] == ANY {
        return Some((0, 2));
    }
    if !is_able(molecule, atom) {
        return None;
    }
    let electrons = molecule.pi_electrons(atom)?;
    let multiple = molecule.links(atom).iter().find(|l| l.order > 1);
    let leaving = multiple.filter(|l| !molecule.cyclic[l.bond as usize]);
    let taken = leaving.is_some_and(|&l| more_electronegative(molecule.element(l), molecule.atoms[atom]));
    let given = match (electrons, multiple, leaving) {
        (0, _, Some(_)) => 0,
        (0, Some(_), None) => 1,
        (1, _, Some(_)) => u32::from(!taken),
        (1, Some(_), None) => 1,
        (1, None, None) if molecule.charges[atom] == 1 => 0,
        (2.., _, _) => {
            if (electrons - i32::from(taken)) % 2 == 1 {
                1
            } else {
                2
            }
        }
        _ => return None,
    };
    Some((given, given))
}

/// Whether a ring can be aromatic, alone or fused: all atoms can, and none of a ring of more than eight is an ether or
/// a thioether, whose lone pair carries no ring current so far around.
fn takes_part(molecule: &Molecule, ring: &Ring, donations: &[Option<Electrons>]) -> bool {
    let is_ether = |a: usize| {
        matches!(molecule.atoms[a], OXYGEN | SULPHUR) && molecule.charges[a] == 0 && molecule.valence(a) == 2
    };
    ring.atoms.iter().all(|&a| donations[a as usize].is_some())
        && ring.atoms.iter().any(|&a| molecule.atoms[a as usize] != ANY)
        && (ring.atoms.len() <= 8 || !ring.atoms.iter().any(|&a| is_ether(a as usize)))
}

/// The bonds of those of the rings that are aromatic by themselves or fused with others; `None` if there are more rings
/// than a word has bits.
fn aromatic_bonds(rings: &[Ring], donations: &[Option<Electrons>]) -> Option<BTreeSet<u32>> {
    if rings.len() > u64::BITS as usize {
        return None;
    }
    let shares = |a: &Ring, b: &Ring| a.bonds.iter().any(|bond| b.bonds.contains(bond));
    let fused: Vec<u64> = rings
        .iter()
        .map(|a| rings.iter().enumerate().filter(|(_, b)| shares(a, b)).fold(0, |mask, (i, _)| mask | 1 << i))
        .collect();
    let mut aromatic = BTreeSet::new();
    let mut done = 0u64;
    for first in 0..rings.len() {
        if done >> first & 1 == 0 {
            let system = closure(&fused, 1 << first);
            done |= system;
            mark_system(rings, donations, &fused, system, &mut aromatic);
        }
    }
    Some(aromatic)
}

/// Adds the aromatic bonds of one system of fused rings: of single rings, then of two fused ones, and so on until no
/// bond is left over. Sets of rings are bits of a word; those of a size grow from those one smaller.
fn mark_system(
    rings: &[Ring],
    donations: &[Option<Electrons>],
    fused: &[u64],
    system: u64,
    aromatic: &mut BTreeSet<u32>,
) {
    let mut sets: BTreeSet<u64> = members(system).map(|i| 1 << i).collect();
    for _ in 0..MOST_FUSED {
        for &set in &sets {
            if is_aromatic(rings, donations, set) {
                aromatic.extend(around(rings, set));
            }
        }
        let mut bonds = members(system).flat_map(|i| &rings[i].bonds);
        if bonds.all(|b| aromatic.contains(b)) {
            break;
        }
        let mut larger = BTreeSet::new();
        for &set in &sets {
            let beside = members(set).fold(0, |mask, i| mask | fused[i]) & !set;
            larger.extend(members(beside).map(|i| set | 1 << i));
            if larger.len() > MOST_SETS {
                return;
            }
        }
        sets = larger;
    }
}

/// Hückel's rule for a set of rings taken together. An atom inside, where three of them meet, does not count.
fn is_aromatic(rings: &[Ring], donations: &[Option<Electrons>], set: u64) -> bool {
    let mut atoms: Vec<u32> = members(set).flat_map(|i| rings[i].atoms.iter().copied()).collect();
    atoms.sort_unstable();
    let outside = atoms.chunk_by(|a, b| a == b).filter(|same| same.len() < 3);
    let given = outside.filter_map(|same| donations[same[0] as usize]);
    let (fewest, most) = given.fold((0, 0), |(low, high), (l, h)| (low + l, high + h));
    most == 2 || (most >= 6 && (fewest..=most).any(|electrons| electrons % 4 == 2))
}

/// The bonds that are in one of these rings only.
fn around(rings: &[Ring], set: u64) -> Vec<u32> {
    let mut bonds: Vec<u32> = members(set).flat_map(|i| rings[i].bonds.iter().copied()).collect();
    bonds.sort_unstable();
    bonds.chunk_by(|a, b| a == b).filter(|same| same.len() == 1).map(|same| same[0]).collect()
}

/// The bits that are set.
fn members(set: u64) -> impl Iterator<Item = usize> {
    (0..u64::BITS as usize).filter(move |i| set >> i & 1 == 1)
}

/// All rings that are fused with these, directly or through others.
fn closure(fused: &[u64], mut set: u64) -> u64 {
    loop {
        let larger = members(set).fold(set, |mask, i| mask | fused[i]);
        if larger == set {
            return set;
        }
        set = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::super::molecule::tests::molecule;
    use super::*;

    /// The numbers of the bonds that are aromatic, of a chain of atoms closed to a ring by its last bond, with further
    /// bonds behind that.
    fn aromatic(atoms: &[u8], bonds: &[(u32, u32, u8)]) -> Vec<usize> {
        let mut m = molecule(atoms, bonds);
        m.find_rings();
        assert!(perceive(&mut m));
        (0..bonds.len()).filter(|&i| m.bonds[i].kind == AROMATIC).collect()
    }

    #[test]
    fn hueckel() {
        let benzene = [(0, 1, 2), (1, 2, 1), (2, 3, 2), (3, 4, 1), (4, 5, 2), (5, 0, 1)];
        let hydrogens: Vec<(u32, u32, u8)> = (0..6).map(|i| (i, i + 6, 1)).collect();
        let atoms = [6, 6, 6, 6, 6, 6, 1, 1, 1, 1, 1, 1];
        assert_eq!(aromatic(&atoms, &[&benzene[..], &hydrogens].concat()), [0, 1, 2, 3, 4, 5]);
        let square = [(0, 1, 2), (1, 2, 1), (2, 3, 2), (3, 0, 1), (0, 4, 1), (1, 5, 1), (2, 6, 1), (3, 7, 1)];
        assert_eq!(aromatic(&[6, 6, 6, 6, 1, 1, 1, 1], &square), [0usize; 0]);
        let furan = [
            (0, 1, 1),
            (1, 2, 2),
            (2, 3, 1),
            (3, 4, 2),
            (4, 0, 1),
            (1, 5, 1),
            (2, 6, 1),
            (3, 7, 1),
            (4, 8, 1),
        ];
        assert_eq!(aromatic(&[8, 6, 6, 6, 6, 1, 1, 1, 1], &furan), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn large_rings_through_an_ether() {
        // Four double bonds and a lone pair, ten electrons: azonine is aromatic, oxonin is not.
        let ring: Vec<(u32, u32, u8)> =
            (0..9).map(|i| (i, (i + 1) % 9, if i % 2 == 1 { 2 } else { 1 })).collect();
        let hydrogens: Vec<(u32, u32, u8)> = (0..9).map(|i| (i, i + 9, 1)).collect();
        let atoms = |first| [vec![first], vec![6; 8], vec![1; 9]].concat();
        let bonds = [&ring[..], &hydrogens].concat();
        assert_eq!(aromatic(&atoms(7), &bonds), (0..9).collect::<Vec<_>>());
        let hydrogens: Vec<(u32, u32, u8)> = (1..9).map(|i| (i, i + 8, 1)).collect();
        assert_eq!(aromatic(&atoms(8)[..17], &[&ring[..], &hydrogens].concat()), [0usize; 0]);
    }

    #[test]
    fn double_bonds_that_leave_the_ring() {
        let ring = |other: u8, hydrogens: usize| {
            let mut atoms = vec![6, 6, 6, other, 1, 1];
            let mut bonds = vec![(0, 1, 1), (1, 2, 2), (2, 0, 1), (0, 3, 2), (1, 4, 1), (2, 5, 1)];
            for _ in 0..hydrogens {
                bonds.push((3, atoms.len() as u32, 1));
                atoms.push(1);
            }
            aromatic(&atoms, &bonds)
        };
        assert_eq!(ring(8, 0), [0, 1, 2], "cyclopropenone: oxygen takes the electron");
        assert_eq!(ring(6, 2), [0usize; 0], "methylenecyclopropene: carbon does not");
    }

    #[test]
    fn fused_rings_that_are_aromatic_together() {
        // Azulene: five and seven carbons, ten electrons around, none of the rings by itself.
        let around = (0..10).map(|i| (i, (i + 1) % 10, if i % 2 == 0 { 2 } else { 1 }));
        let mut bonds: Vec<(u32, u32, u8)> = around.chain([(2, 6, 1)]).collect();
        let mut atoms = vec![6; 10];
        for a in [0, 1, 3, 4, 5, 7, 8, 9] {
            bonds.push((a, atoms.len() as u32, 1));
            atoms.push(1);
        }
        assert_eq!(aromatic(&atoms, &bonds), (0..10).collect::<Vec<_>>());
    }
}
