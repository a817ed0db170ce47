//! [`Molecule`]: atoms and bonds as a reader finds them, before they become a graph.
//!
//! One molecule is reused while a file is read, so that a hundred thousand of them need no more allocations than one.

use super::elements::{CARBON, NITROGEN, OXYGEN, SULPHUR, usual_valence};

/// The type of a bond, as files number them: 1, 2 and 3 are single, double and triple.
pub(super) const AROMATIC: u8 = 4;

/// A bond between two different atoms, of type 1 to 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bond {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) kind: u8,
}

/// One end of a bond, seen from the atom at its other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Link {
    pub(super) atom: u32,
    pub(super) bond: u32,
    pub(super) kind: u8,
}

/// Atoms and bonds. [`connect`](Molecule::connect) has to be called when they are complete, and again when the
/// types of bonds have changed; everything else is about the molecule as it was then.
#[derive(Debug, Clone, Default)]
pub(super) struct Molecule {
    /// The atomic number of every atom.
    pub(super) atoms: Vec<u8>,
    pub(super) bonds: Vec<Bond>,
    /// Formal charges that the file states, as (atom, charge). A file that states one states them all.
    pub(super) stated: Vec<(u32, i32)>,
    /// The formal charge of every atom.
    pub(super) charges: Vec<i32>,
    starts: Vec<u32>,
    links: Vec<Link>,
}

impl Molecule {
    /// Clears the molecule and keeps its memory.
    pub(super) fn clear(&mut self) {
        self.atoms.clear();
        self.bonds.clear();
        self.stated.clear();
    }

    /// Lists every atom's bonds and sets the formal charges: those stated, or where there are none, those implied, with
    /// 0 for aromatic atoms. O(n + m).
    ///
    /// The ends of all bonds and the atoms of all charges must be atoms.
    pub(super) fn connect(&mut self) {
        let n = self.atoms.len();
        self.starts.clear();
        self.starts.resize(n + 2, 0);
        for bond in &self.bonds {
            self.starts[bond.a as usize + 2] += 1;
            self.starts[bond.b as usize + 2] += 1;
        }
        for i in 2..n + 2 {
            self.starts[i] += self.starts[i - 1];
        }
        self.links.clear();
        self.links.resize(2 * self.bonds.len(), Link::default());
        for (i, &Bond { a, b, kind }) in self.bonds.iter().enumerate() {
            for (from, to) in [(a, b), (b, a)] {
                // The start of the next atom serves as the place of this one's next link, and ends up right.
                let place = &mut self.starts[from as usize + 1];
                self.links[*place as usize] = Link { atom: to, bond: i as u32, kind };
                *place += 1;
            }
        }
        self.charges.clear();
        if self.stated.is_empty() {
            for a in 0..n {
                let neutral = self.is_aromatic(a);
                let charge = if neutral { 0 } else { implied_charge(self.atoms[a], self.valence(a)) };
                self.charges.push(charge);
            }
        } else {
            self.charges.resize(n, 0);
            for &(atom, charge) in &self.stated {
                self.charges[atom as usize] = charge;
            }
        }
    }

    /// Writes nitro groups with charges, -N(=O)=O as -N+(=O)-O-: of a nitrogen with five bonds, the first double bond to
    /// an oxygen becomes a single one. Files have either; nitrogen has no five orbitals. O(n + m).
    pub(super) fn charge_nitro_groups(&mut self) {
        let mut changed = false;
        for atom in 0..self.atoms.len() {
            if self.atoms[atom] == NITROGEN && self.charges[atom] == 0 && self.valence(atom) == 5 {
                let to_oxygen = |l: &&Link| l.kind == 2 && self.element(**l) == OXYGEN;
                if let Some(&link) = self.links(atom).iter().find(to_oxygen) {
                    self.bonds[link.bond as usize].kind = 1;
                    if !self.stated.is_empty() {
                        self.stated.extend([(atom as u32, 1), (link.atom, -1)]);
                    }
                    changed = true;
                }
            }
        }
        if changed {
            self.connect();
        }
    }

    /// The bonds of an atom.
    pub(super) fn links(&self, atom: usize) -> &[Link] {
        &self.links[self.starts[atom] as usize..self.starts[atom + 1] as usize]
    }

    /// The number of atoms that an atom is bonded to.
    pub(super) fn degree(&self, atom: usize) -> i32 {
        self.links(atom).len() as i32
    }

    /// The element of the atom at a bond's other end.
    pub(super) fn element(&self, link: Link) -> u8 {
        self.atoms[link.atom as usize]
    }

    /// The sum of the orders of an atom's bonds, an aromatic bond counted as a single one.
    pub(super) fn valence(&self, atom: usize) -> i32 {
        self.links(atom).iter().map(|l| if l.kind == AROMATIC { 1 } else { i32::from(l.kind) }).sum()
    }

    /// Whether an atom has an aromatic bond.
    pub(super) fn is_aromatic(&self, atom: usize) -> bool {
        self.links(atom).iter().any(|l| l.kind == AROMATIC)
    }

    /// The number of hydrogens bonded to an atom.
    pub(super) fn hydrogens(&self, atom: usize) -> usize {
        self.links(atom).iter().filter(|&&l| self.element(l) == 1).count()
    }
}

/// The formal charge that an atom of this element must have if it makes this many bonds, hydrogens included, and all
/// electrons are paired. A carbon with three bonds is taken for an anion: QM9 has such and no cations.
fn implied_charge(element: u8, valence: i32) -> i32 {
    match (element, valence) {
        (CARBON, 3) => -1,
        (NITROGEN, 2) => -1,
        (NITROGEN | 15, 4) => 1,
        (OXYGEN | SULPHUR, 1) => -1,
        (OXYGEN | SULPHUR, 3) => 1,
        (5, 4) => -1,
        _ => 0,
    }
}

impl Molecule {
    /// The electrons that an atom can give to a system of double bonds: those of its outer shell that single bonds
    /// do not use, but one where it has a triple bond (or two double bonds), whose second pi bond stands across.
    /// `None` for atoms that cannot take part.
    pub(super) fn pi_electrons(&self, atom: usize) -> Option<i32> {
        let element = self.atoms[atom];
        let valence = usual_valence(element).filter(|&v| v > 1)?;
        let degree = self.degree(atom);
        if degree > 3 {
            return None;
        }
        let outer = super::elements::outer_electrons(element)?;
        let lone = (outer - valence - self.charges[atom]).max(0);
        let electrons = valence - degree + lone;
        Some(if electrons > 1 && self.valence(atom) - degree > 1 { 1 } else { electrons })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn molecule(atoms: &[u8], bonds: &[(u32, u32, u8)]) -> Molecule {
        let bonds = bonds.iter().map(|&(a, b, kind)| Bond { a, b, kind }).collect();
        let mut molecule = Molecule { atoms: atoms.to_vec(), bonds, ..Molecule::default() };
        molecule.connect();
        molecule
    }

    #[test]
    fn links_and_counts() {
        // Formaldehyde.
        let m = molecule(&[6, 8, 1, 1], &[(0, 1, 2), (0, 2, 1), (3, 0, 1)]);
        assert_eq!(m.links(0).iter().map(|l| (l.atom, l.bond)).collect::<Vec<_>>(), [(1, 0), (2, 1), (3, 2)]);
        assert_eq!(m.links(1), [Link { atom: 0, bond: 0, kind: 2 }]);
        assert_eq!((m.degree(0), m.valence(0), m.hydrogens(0), m.hydrogens(1)), (3, 4, 2, 0));
        assert_eq!(m.charges, [0; 4]);
        assert_eq!((m.pi_electrons(0), m.pi_electrons(1), m.pi_electrons(2)), (Some(1), Some(5), None));
    }

    #[test]
    fn nitro_groups_are_written_with_charges() {
        // Nitric acid, HO-N(=O)=O.
        let mut m = molecule(&[7, 8, 8, 8, 1], &[(0, 1, 1), (2, 0, 2), (0, 3, 2), (1, 4, 1)]);
        m.charge_nitro_groups();
        assert_eq!(m.bonds.iter().map(|b| b.kind).collect::<Vec<_>>(), [1, 1, 2, 1]);
        assert_eq!(m.charges, [1, 0, -1, 0, 0]);
    }

    #[test]
    fn charges_are_implied_or_stated() {
        // The zwitterion of ammonia oxide, H3N+-O-.
        let mut m = molecule(&[7, 8, 1, 1, 1], &[(0, 1, 1), (0, 2, 1), (0, 3, 1), (0, 4, 1)]);
        assert_eq!(m.charges, [1, -1, 0, 0, 0]);
        m.stated = vec![(0, 2)];
        m.connect();
        assert_eq!(m.charges, [2, 0, 0, 0, 0]);
    }
}
