//! The Bemis-Murcko framework of a molecule: its rings, what links them, and the atoms double-bonded to either (Bemis and
//! Murcko, The Properties of Known Drugs, J. Med. Chem. 39, 1996), as RDKit's `MurckoScaffold.GetScaffoldForMol` has it.
//!
//! Where a side chain is cut off, hydrogens take its place: one at an aromatic atom other than carbon, else as many as the valence asks
//! for. So anisole and toluene have the framework benzene, and N-methylpyrrole that of pyrrole.
//!
//! RDKit differs from itself in one case: at an atom outside rings that was written in brackets, as in
//! `C[N+](C)=C1CCCC1`, it adds hydrogens if the molecule comes from a mol block and none if it comes from SMILES. They
//! are added here. And of a chelate ring, which dative bonds close and which is no ring to RDKit, between two rings it keeps
//! one shortest path; here all of it stays.

use super::Molecule;
use super::elements::HYDROGEN;
use super::isomorphism::Labelled;
use super::rings::peel;
use super::valence::{add_hydrogens, assign_radicals};

/// The type of the bonds that hold an atom to the framework.
const DOUBLE: u8 = 2;

/// The framework of a molecule whose hydrogens are all stated and whose aromatic atoms are marked (`lowercase`); without atoms if there is no
/// ring. Atoms are labelled by element, charge, aromaticity and hydrogens, bonds by type. O(n + m).
pub(crate) fn framework(molecule: &mut Molecule) -> Labelled {
    molecule.connect();
    molecule.find_rings();
    assign_radicals(molecule);
    let kept = kept(molecule);
    let mut numbers = vec![u32::MAX; kept.len()];
    let mut found = Molecule::default();
    for a in (0..kept.len()).filter(|&a| kept[a]) {
        numbers[a] = found.atoms.len() as u32;
        let (element, aromatic) = (molecule.atoms[a], molecule.lowercase[a]);
        let gone = |h: bool| {
            let links = molecule.links(a).iter().filter(|l| !kept[l.atom as usize]);
            links.filter(|&&l| (molecule.element(l) == HYDROGEN) == h).count()
        };
        let cut = gone(false) > 0;
        let hetero = cut && aromatic && element != 6;
        let hydrogens = match (hetero, cut) {
            (true, _) => 1,
            (false, true) => 0,
            (false, false) => molecule.hydrogens[a].saturating_add(gone(true).min(255) as u8),
        };
        found.atoms.push(element);
        found.charges.push(molecule.charges[a]);
        found.radicals.push(molecule.radicals[a]);
        found.lowercase.push(aromatic);
        found.hydrogens.push(hydrogens);
        found.stated.push(hetero || !cut);
    }
    for bond in &molecule.bonds {
        let (a, b) = (numbers[bond.a as usize], numbers[bond.b as usize]);
        if a != u32::MAX && b != u32::MAX {
            found.bonds.push(super::molecule::Bond { a, b, ..*bond });
        }
    }
    found.connect();
    add_hydrogens(&mut found);
    let label = |a: usize| {
        let aromatic = i32::from(found.lowercase[a]);
        [i32::from(found.atoms[a]), found.charges[a], aromatic, i32::from(found.hydrogens[a])]
    };
    let links = |a: usize| found.links(a).iter().map(|l| (l.atom, l.kind)).collect();
    let n = found.atoms.len();
    Labelled::new((0..n).map(label).collect(), (0..n).map(links).collect())
}

/// The atoms of the framework.
fn kept(molecule: &Molecule) -> Vec<bool> {
    let n = molecule.atoms.len();
    let core = peel(molecule, vec![true; n]);
    // What is left has rings, but those that dative bonds close do not count.
    let mut inside = vec![false; n];
    let mut reached: Vec<usize> = (0..n).filter(|&a| core[a] && molecule.is_cyclic(a)).collect();
    reached.iter().for_each(|&a| inside[a] = true);
    while let Some(a) = reached.pop() {
        for b in molecule.links(a).iter().map(|l| l.atom as usize) {
            if core[b] && !inside[b] {
                inside[b] = true;
                reached.push(b);
            }
        }
    }
    let held = |a: usize| molecule.links(a).iter().any(|l| l.kind == DOUBLE && inside[l.atom as usize]);
    (0..n).map(|a| inside[a] || held(a)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chem::{derive, smiles};

    fn of(text: &str) -> Labelled {
        let mut m = Molecule::default();
        smiles::parse(text.as_bytes(), &mut m).unwrap();
        derive(&mut m).unwrap();
        m.stated.fill(true);
        m.lowercase = (0..m.atoms.len()).map(|a| m.is_aromatic(a)).collect();
        framework(&mut m)
    }

    /// The pairs are molecules and RDKit's frameworks of them, from mol blocks.
    #[test]
    fn frameworks_of_rdkit() {
        for (molecule, framework) in [
            ("CC1=CC(=CC=C1)F", "c1ccccc1"),
            ("[H]c1ccccc1", "c1ccccc1"),
            ("COc1ccccc1C#N", "c1ccccc1"),
            ("C[N+](C)=C1C=CC(c2ccccc2)C=C1", "[NH2+]=C1C=CC(c2ccccc2)C=C1"),
            ("C[N+]1(C)CCCCC1", "C1CC[NH2+]CC1"),
            ("C[C]1CCCCC1", "[CH]1CCCCC1"),
            ("O=S(=O)(c1ccccc1)c1ccccc1", "O=S(=O)(c1ccccc1)c1ccccc1"),
            ("c1ccccc1.C1CC1C.CCO", "C1CC1.c1ccccc1"),
            ("OP(=O)(c1ccccc1)c1ccccc1", "O=[PH](c1ccccc1)c1ccccc1"),
            ("Cn1cccc1", "c1cc[nH]c1"),
            ("[O-][n+]1ccccc1", "c1cc[nH+]cc1"),
            ("CN=C1CCCC1", "N=C1CCCC1"),
            ("FS1(F)CCCC1", "C1CCSC1"),
            ("C[n+]1cccn1C", "c1c[nH][nH+]c1"),
            ("CP(C)(C)=C1CC1", "P=C1CC1"),
            ("C[Si]1(C)CCCC1", "C1CC[SiH2]C1"),
            ("[O-][S+](c1ccccc1)c1ccccc1", "c1ccc([SH+]c2ccccc2)cc1"),
            ("O=[N+]([O-])C=C1CC1", "C=C1CC1"),
            ("C[B-]1(C)CCCC1", "[BH2-]1CCCC1"),
            ("FI1(F)OCc2ccccc21", "c1ccc2c(c1)CO[IH]2"),
            ("C[C@H](c1ccccc1)c1ccccc1", "c1ccc(Cc2ccccc2)cc1"),
            ("CC(=O)C(=O)C1CC1C(=O)C1CC1", "C1CC1C(=O)C1CC1"),
        ] {
            let (found, wanted) = (of(molecule), of(framework));
            assert_eq!(found.is_isomorphic(&wanted), Ok(true), "{molecule}: {found:?} is not {wanted:?}");
        }
        let nothing = Labelled::new(Vec::new(), Vec::new());
        for chain in ["CCO", "[Na+].CC(=O)[O-]", "C=C=C"] {
            assert_eq!(of(chain).is_isomorphic(&nothing), Ok(true), "{chain}");
        }
        for [a, b] in [
            ["c1ccccc1", "C1CCCCC1"],
            ["c1ccncc1", "c1cc[nH+]cc1"],
            ["C1CC[CH]C1", "C1CCCC1"],
            ["C=C1CC1", "C1CC1"],
            // RDKit's [c-]1cccc1 and [cH-]1cccc1: no hydrogen fits into the valence of an aromatic anion.
            ["C[C-]1C=CC=C1", "[CH-]1C=CC=C1"],
            ["O=C1CC1", "S=C1CC1"],
            ["C1CCCC1C1CCCC1", "C1CCC2CCCCC2C1"],
        ] {
            assert_eq!(of(a).is_isomorphic(&of(b)), Ok(false), "{a} {b}");
        }
    }
}
