//! Groups that programs write in several ways, brought to the one that RDKit uses.
//!
//! A nitro group is N(=O)=O or N+(=O)O-, an azide N=N#N or N=N+=N-, perchlorate Cl(=O)(=O)(=O)O or with charges;
//! nitrogen and chlorine have no five orbitals, so the charged form is taken. A ligand of a metal that makes one
//! bond too many gives the metal both electrons: that bond is dative.

use super::Molecule;
use super::elements::{CARBON, NITROGEN, OXYGEN, PHOSPHORUS, is_metal, valences};
use super::molecule::{DATIVE, Link};
use super::valence::bond_sum;

/// Rewrites the groups in atom order. O(n + m).
pub(crate) fn normalise(molecule: &mut Molecule) {
    for atom in 0..molecule.atoms.len() {
        if molecule.charges[atom] == 0 {
            match molecule.atoms[atom] {
                NITROGEN => charge_nitrogen(molecule, atom),
                PHOSPHORUS => charge_phosphorus(molecule, atom),
                17 | 35 | 53 => charge_halogen(molecule, atom),
                _ => {}
            }
        }
    }
    if molecule.atoms.iter().any(|&element| is_metal(element)) {
        (0..molecule.atoms.len()).for_each(|atom| make_dative(molecule, atom));
    }
}

/// Whether a bond of this type leads to a neutral atom of this element.
fn leads_to(molecule: &Molecule, link: Link, kind: u8, element: u8) -> bool {
    link.kind == kind && molecule.element(link) == element && molecule.charges[link.atom as usize] == 0
}

/// Takes one off the order of a bond, for a charge at either end.
fn split(molecule: &mut Molecule, atom: usize, link: Link) {
    molecule.set_bond(link.bond, link.kind - 1, link.order - 1);
    molecule.charges[atom] += 1;
    molecule.charges[link.atom as usize] = -1;
}

fn charge_nitrogen(molecule: &mut Molecule, atom: usize) {
    let sum: i32 =
        molecule.links(atom).iter().map(|l| if l.kind == 4 { 3 } else { 2 * i32::from(l.order) }).sum();
    if (sum + 1) / 2 + i32::from(molecule.hydrogens[atom]) != 5 {
        return;
    }
    let group = |l: &&Link| leads_to(molecule, **l, 2, OXYGEN) || leads_to(molecule, **l, 3, NITROGEN);
    if let Some(&link) = molecule.links(atom).iter().find(group) {
        split(molecule, atom, link);
    }
}

/// C=P(=O)X, where phosphorus would have two double bonds.
fn charge_phosphorus(molecule: &mut Molecule, atom: usize) {
    let links = molecule.links(atom);
    if links.len() != 3 || bond_sum(molecule, atom) != 5 {
        return;
    }
    let ylide = |l: &Link| {
        l.kind == 2
            && matches!(molecule.element(*l), CARBON | NITROGEN)
            && molecule.links(l.atom as usize).len() >= 2
    };
    let oxide = links.iter().rfind(|l| leads_to(molecule, **l, 2, OXYGEN)).copied();
    if let Some(link) = oxide.filter(|_| links.iter().any(ylide)) {
        split(molecule, atom, link);
    }
}

fn charge_halogen(molecule: &mut Molecule, atom: usize) {
    let links = molecule.links(atom).to_vec();
    let oxygens = links.iter().all(|&l| molecule.element(l) == OXYGEN);
    if oxygens && matches!(bond_sum(molecule, atom), 3 | 5 | 7) {
        links.into_iter().filter(|l| l.kind == 2).for_each(|l| split(molecule, atom, l));
    }
}

/// Where an atom that is no metal makes more bonds than it can, its single bond to the metal with the fewest dative bonds
/// becomes dative.
fn make_dative(molecule: &mut Molecule, atom: usize) {
    let element = molecule.atoms[atom];
    let effective = i32::from(element) - molecule.charges[atom];
    if is_metal(element) || matches!(element, 0 | 1 | 2 | 9 | 10) || effective <= 0 {
        return;
    }
    let most = valences(effective.min(118) as u8).last().copied().unwrap_or(-1);
    let sum = bond_sum(molecule, atom);
    if most <= 0 || sum <= i32::from(most) || sum > 4 {
        return;
    }
    let datives = |l: &Link| molecule.links(l.atom as usize).iter().filter(|m| m.kind == DATIVE).count();
    let metals = molecule.links(atom).iter().filter(|l| l.kind == 1 && is_metal(molecule.element(**l)));
    if let Some(&link) = metals.min_by_key(|l| datives(l)) {
        let bond = &mut molecule.bonds[link.bond as usize];
        (bond.a, bond.b) = (atom as u32, link.atom);
        molecule.set_bond(link.bond, DATIVE, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::molecule::tests::molecule;
    use super::*;

    fn normal(atoms: &[u8], bonds: &[(u32, u32, u8)]) -> (Vec<u8>, Vec<i32>) {
        let mut m = molecule(atoms, bonds);
        normalise(&mut m);
        (m.bonds.iter().map(|b| b.kind).collect(), m.charges)
    }

    #[test]
    fn groups_get_charges() {
        // Nitric acid, HO-N(=O)=O.
        let nitric = [(0, 1, 1), (2, 0, 2), (0, 3, 2), (1, 4, 1)];
        assert_eq!(normal(&[7, 8, 8, 8, 1], &nitric), (vec![1, 1, 2, 1], vec![1, 0, -1, 0, 0]));
        // Methyl azide, C-N=N#N, and chlorate.
        let azide = [(0, 1, 1), (1, 2, 2), (2, 3, 3)];
        assert_eq!(normal(&[6, 7, 7, 7], &azide), (vec![1, 2, 2], vec![0, 0, 1, -1]));
        let chlorate = [(0, 1, 2), (0, 2, 2), (0, 3, 1)];
        assert_eq!(normal(&[17, 8, 8, 8], &chlorate), (vec![1, 1, 1], vec![2, -1, -1, 0]));
    }

    #[test]
    fn bonds_to_metals_may_be_dative() {
        // Trimethylamine on iron, and methyl lithium.
        let amine = [(0, 1, 1), (0, 2, 1), (0, 3, 1), (4, 0, 1)];
        assert_eq!(normal(&[7, 6, 6, 6, 26], &amine).0, [1, 1, 1, DATIVE]);
        assert_eq!(normal(&[6, 3], &[(0, 1, 1)]).0, [1]);
    }
}
