//! [`Molecule`]: atoms and bonds as a reader finds them, before they become a graph.
//!
//! One molecule is reused while a file is read, so that a hundred thousand of them need no more allocations than one.

use super::elements::{HYDROGEN, default_valence, outer_electrons};

/// The type of a bond, as files number them: 1, 2 and 3 are single, double and triple.
pub(crate) const AROMATIC: u8 = 4;
/// A bond of order 4.
pub(crate) const QUADRUPLE: u8 = 5;
/// A bond whose electrons come from its first atom alone, which it does not count for.
pub(crate) const DATIVE: u8 = 6;

/// A bond between two different atoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bond {
    pub(crate) a: u32,
    pub(crate) b: u32,
    /// Its type: 1 to 3, [`AROMATIC`], [`QUADRUPLE`] or [`DATIVE`].
    pub(crate) kind: u8,
    /// Its order in a structure of single and double bonds; an aromatic bond that has none yet counts as single.
    pub(crate) order: u8,
}

impl Bond {
    pub(crate) fn new(a: u32, b: u32, kind: u8) -> Self {
        let order = match kind {
            AROMATIC | DATIVE => 1,
            QUADRUPLE => 4,
            kind => kind,
        };
        Bond { a, b, kind, order }
    }
}

/// One end of a bond, seen from the atom at its other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Link {
    pub(crate) atom: u32,
    pub(crate) bond: u32,
    pub(crate) kind: u8,
    /// What the bond adds to the valence of the atom that is looked from.
    pub(crate) order: u8,
}

/// Atoms and bonds. [`connect`](Molecule::connect) has to be called when they are complete, and again when bonds have
/// changed; everything else is about the molecule as it was then.
#[derive(Debug, Clone, Default)]
pub(crate) struct Molecule {
    /// The atomic number of every atom, 0 for any.
    pub(crate) atoms: Vec<u8>,
    pub(crate) bonds: Vec<Bond>,
    // What follows has one entry per atom; those that a reader leaves out are filled up by `connect`.
    /// The formal charge.
    pub(crate) charges: Vec<i32>,
    /// The hydrogens that are not atoms of their own: implicit, or counted in brackets.
    pub(crate) hydrogens: Vec<u8>,
    /// Whether the file states the hydrogens, so that none are added.
    pub(crate) stated: Vec<bool>,
    /// The valence that the file states, hydrogens included.
    pub(crate) valences: Vec<Option<u8>>,
    /// Whether the file calls the atom aromatic.
    pub(crate) lowercase: Vec<bool>,
    /// Unpaired electrons.
    pub(crate) radicals: Vec<u8>,
    /// For every bond, whether it is in a ring; known after [`find_rings`](Molecule::find_rings).
    pub(crate) cyclic: Vec<bool>,
    starts: Vec<u32>,
    links: Vec<Link>,
}

impl Molecule {
    /// Clears the molecule and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.atoms.clear();
        self.bonds.clear();
        self.charges.clear();
        self.hydrogens.clear();
        self.stated.clear();
        self.lowercase.clear();
        self.valences.clear();
        self.radicals.clear();
        self.cyclic.clear();
    }

    /// Lists every atom's bonds. O(n + m).
    ///
    /// The ends of all bonds must be atoms.
    pub(crate) fn connect(&mut self) {
        let n = self.atoms.len();
        self.charges.resize(n, 0);
        self.hydrogens.resize(n, 0);
        self.stated.resize(n, false);
        self.lowercase.resize(n, false);
        self.valences.resize(n, None);
        self.radicals.resize(n, 0);
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
        for (i, &Bond { a, b, kind, order }) in self.bonds.iter().enumerate() {
            let given = if kind == DATIVE { 0 } else { order };
            for (from, to, order) in [(a, b, given), (b, a, order)] {
                // The start of the next atom serves as the place of this one's next link, and ends up right.
                let place = &mut self.starts[from as usize + 1];
                self.links[*place as usize] = Link { atom: to, bond: i as u32, kind, order };
                *place += 1;
            }
        }
    }

    /// Changes the type of a bond, also where it is listed with its atoms.
    pub(crate) fn set_bond(&mut self, bond: u32, kind: u8, order: u8) {
        let Bond { a, b, .. } = self.bonds[bond as usize];
        self.bonds[bond as usize] = Bond { a, b, kind, order };
        for atom in [a, b] {
            let range = self.starts[atom as usize] as usize..self.starts[atom as usize + 1] as usize;
            for link in self.links[range].iter_mut().filter(|l| l.bond == bond) {
                (link.kind, link.order) = (kind, if kind == DATIVE && atom == a { 0 } else { order });
            }
        }
    }

    /// The bonds of an atom.
    pub(crate) fn links(&self, atom: usize) -> &[Link] {
        &self.links[self.starts[atom] as usize..self.starts[atom + 1] as usize]
    }

    /// The number of atoms that an atom is bonded to, hydrogens that are not atoms of their own included.
    pub(crate) fn degree(&self, atom: usize) -> i32 {
        self.links(atom).len() as i32 + i32::from(self.hydrogens[atom])
    }

    /// The element of the atom at a bond's other end.
    pub(crate) fn element(&self, link: Link) -> u8 {
        self.atoms[link.atom as usize]
    }

    /// The sum of the orders of an atom's bonds, without hydrogens that are not atoms of their own.
    pub(crate) fn orders(&self, atom: usize) -> i32 {
        self.links(atom).iter().map(|l| i32::from(l.order)).sum()
    }

    /// The sum of the orders of an atom's bonds, hydrogens included.
    pub(crate) fn valence(&self, atom: usize) -> i32 {
        self.orders(atom) + i32::from(self.hydrogens[atom])
    }

    /// Whether an atom has an aromatic bond.
    pub(crate) fn is_aromatic(&self, atom: usize) -> bool {
        self.links(atom).iter().any(|l| l.kind == AROMATIC)
    }

    /// Whether an atom is in a ring.
    pub(crate) fn is_cyclic(&self, atom: usize) -> bool {
        self.links(atom).iter().any(|l| self.cyclic[l.bond as usize])
    }

    /// The number of hydrogens bonded to an atom, be they atoms of their own or not.
    pub(crate) fn hydrogens(&self, atom: usize) -> usize {
        let atoms = self.links(atom).iter().filter(|&&l| self.element(l) == HYDROGEN).count();
        atoms + usize::from(self.hydrogens[atom])
    }

    /// The electrons that an atom can give to a system of double bonds: those of its outer shell that single bonds
    /// do not use, but one where it has a triple bond (or two double bonds), whose second pi bond stands across.
    /// `None` for atoms that cannot take part.
    pub(crate) fn pi_electrons(&self, atom: usize) -> Option<i32> {
        let element = self.atoms[atom];
        let valence = default_valence(element).filter(|&v| v > 1)?;
        let degree = self.degree(atom);
        if degree > 3 {
            return None;
        }
        let lone = (outer_electrons(element) - valence - self.charges[atom]).max(0);
        let electrons = valence - degree + lone - i32::from(self.radicals[atom]);
        let across = electrons > 1 && self.orders(atom) - self.links(atom).len() as i32 > 1;
        Some(if across { 1 } else { electrons }).filter(|&e| e >= 0)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn molecule(atoms: &[u8], bonds: &[(u32, u32, u8)]) -> Molecule {
        let bonds = bonds.iter().map(|&(a, b, kind)| Bond::new(a, b, kind)).collect();
        let mut molecule = Molecule { atoms: atoms.to_vec(), bonds, ..Molecule::default() };
        molecule.connect();
        molecule
    }

    #[test]
    fn links_and_counts() {
        // Formaldehyde.
        let m = molecule(&[6, 8, 1, 1], &[(0, 1, 2), (0, 2, 1), (3, 0, 1)]);
        assert_eq!(m.links(0).iter().map(|l| (l.atom, l.bond)).collect::<Vec<_>>(), [(1, 0), (2, 1), (3, 2)]);
        assert_eq!(m.links(1), [Link { atom: 0, bond: 0, kind: 2, order: 2 }]);
        assert_eq!((m.degree(0), m.valence(0), m.hydrogens(0), m.hydrogens(1)), (3, 4, 2, 0));
        assert_eq!((m.pi_electrons(0), m.pi_electrons(1), m.pi_electrons(2)), (Some(1), Some(5), None));
    }

    #[test]
    fn implicit_hydrogens_count_like_atoms() {
        let mut m = molecule(&[6, 8], &[(0, 1, 2)]);
        m.hydrogens[0] = 2;
        assert_eq!((m.degree(0), m.valence(0), m.hydrogens(0), m.pi_electrons(0)), (3, 4, 2, Some(1)));
    }

    #[test]
    fn a_dative_bond_counts_for_its_second_atom() {
        let mut m = molecule(&[7, 26], &[(0, 1, 1)]);
        m.set_bond(0, DATIVE, 1);
        assert_eq!((m.valence(0), m.valence(1), m.links(1)[0].kind), (0, 1, DATIVE));
        m.connect();
        assert_eq!((m.valence(0), m.valence(1)), (0, 1));
    }
}
