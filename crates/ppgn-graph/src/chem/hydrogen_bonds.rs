//! Donors and acceptors of hydrogen bonds, as RDKit understands its `BaseFeatures.fdef`: the rules of the atom features
//! that networks on QM9 use. `docs/formats.md` describes them and how far they agree with RDKit.

use super::Molecule;
use super::elements::{CARBON, FLUORINE, NITROGEN, OXYGEN, SULPHUR, is_halogen};
use super::molecule::{AROMATIC, Link};

/// An atom in its molecule, whose charges and hydrogens are known.
#[derive(Clone, Copy)]
pub(crate) struct Atom<'a> {
    molecule: &'a Molecule,
    atom: usize,
    element: u8,
    aromatic: bool,
}

impl<'a> Atom<'a> {
    pub(crate) fn new(molecule: &'a Molecule, atom: usize) -> Self {
        Atom { molecule, atom, element: molecule.atoms[atom], aromatic: molecule.is_aromatic(atom) }
    }

    /// The atom at a bond's other end.
    fn at(self, link: Link) -> Self {
        Atom::new(self.molecule, link.atom as usize)
    }

    /// Whether this is an atom of `element` in an aromatic ring, or outside of one.
    fn is(self, element: u8, aromatic: bool) -> bool {
        self.element == element && self.aromatic == aromatic
    }

    /// Whether a bond of one of these types leads to an atom that is as `wanted` says.
    fn has(self, kinds: &[u8], wanted: impl Fn(Self) -> bool) -> bool {
        self.molecule.links(self.atom).iter().any(|&link| kinds.contains(&link.kind) && wanted(self.at(link)))
    }

    fn hydrogens(self) -> usize {
        self.molecule.hydrogens(self.atom)
    }

    fn charge(self) -> i32 {
        self.molecule.charges[self.atom]
    }

    /// The sum of the bond orders; only for atoms without aromatic bonds.
    fn valence(self) -> i32 {
        self.molecule.valence(self.atom)
    }

    /// Whether the atom gives a hydrogen to hydrogen bonds.
    pub(crate) fn is_donor(self) -> bool {
        match (self.element, self.aromatic) {
            (NITROGEN, false) => {
                let with_hydrogen = self.hydrogens() > 0;
                let carbons = || {
                    let carbon = |l: &&Link| l.kind == 1 && self.at(**l).is(CARBON, false);
                    self.molecule.links(self.atom).iter().filter(carbon).count()
                };
                (with_hydrogen && (self.valence() == 3 || (self.valence() == 4 && self.charge() == 1)))
                    || (self.valence() == 3 && carbons() >= 3)
            }
            (NITROGEN, true) => (self.hydrogens() == 1 && self.charge() == 0) || self.shares_hydrogen(),
            (OXYGEN | SULPHUR, false) => self.hydrogens() == 1 && self.charge() == 0,
            _ => false,
        }
    }

    /// Whether an aromatic nitrogen could take over the hydrogen of another one, beside it or across one carbon.
    fn shares_hydrogen(self) -> bool {
        let joined = [1, AROMATIC];
        let with_hydrogen =
            |other: Self| other.is(NITROGEN, true) && other.atom != self.atom && other.hydrogens() == 1;
        self.has(&joined, with_hydrogen)
            || self.has(&joined, |carbon| carbon.is(CARBON, true) && carbon.has(&joined, with_hydrogen))
    }

    /// Whether the atom takes a hydrogen in hydrogen bonds.
    ///
    /// `BaseFeatures.fdef` also means nitriles, furan's oxygen, anions and amines at aromatic rings. But it gives them in
    /// further definitions of the same name, which RDKit joins in a way that adds nothing, and all features of QM9 in
    /// use were made by RDKit.
    pub(crate) fn is_acceptor(self) -> bool {
        match (self.element, self.aromatic) {
            (NITROGEN, true) => self.charge() == 0 && self.molecule.degree(self.atom) != 3,
            (OXYGEN, false) if self.valence() == 2 => match self.hydrogens() {
                0 => !self.has(&[2], |n| {
                    n.is(NITROGEN, false) && (n.molecule.hydrogens[n.atom] > 0 || n.has(&[1], |_| true))
                }),
                1 => true,
                _ => false,
            },
            (FLUORINE, _) => {
                let crowded = |c: Self| {
                    let halogen = |x: Self| is_halogen(x.element) && x.atom != self.atom;
                    c.is(CARBON, false) && c.has(&[1], halogen)
                };
                self.has(&[1], |c| c.element == CARBON) && !self.has(&[1], crowded)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::molecule::tests::molecule;
    use super::*;

    /// Whether an atom is an acceptor and a donor.
    fn of(atoms: &[u8], bonds: &[(u32, u32, u8)], atom: usize) -> (bool, bool) {
        let m = molecule(atoms, bonds);
        (Atom::new(&m, atom).is_acceptor(), Atom::new(&m, atom).is_donor())
    }

    #[test]
    fn hydrogen_bonds() {
        assert_eq!(
            of(&[8, 1, 1], &[(0, 1, 1), (0, 2, 1)], 0),
            (false, false),
            "water has two, a hydroxyl one"
        );
        assert_eq!(of(&[8, 1, 6], &[(0, 1, 1), (0, 2, 1)], 0), (true, true));
        assert_eq!(of(&[9, 6], &[(0, 1, 1)], 0), (true, false));
        assert_eq!(of(&[9, 6, 9], &[(0, 1, 1), (1, 2, 1)], 0), (false, false), "two fluorines at one carbon");
        assert_eq!(of(&[8, 7, 6], &[(0, 1, 2), (1, 2, 1)], 0), (false, false), "nitroso");
        // Imidazole: the nitrogen without a hydrogen could take over the other's.
        let ring: Vec<(u32, u32, u8)> =
            (0..5).map(|i| (i, (i + 1) % 5, AROMATIC)).chain([(0, 5, 1)]).collect();
        assert_eq!(of(&[7, 6, 7, 6, 6, 1], &ring, 0), (false, true));
        assert_eq!(of(&[7, 6, 7, 6, 6, 1], &ring, 2), (true, true));
    }

    #[test]
    fn implicit_hydrogens_are_given_too() {
        let mut ethanol = molecule(&[6, 6, 8], &[(0, 1, 1), (1, 2, 1)]);
        ethanol.hydrogens = vec![3, 2, 1];
        assert!(Atom::new(&ethanol, 2).is_donor() && Atom::new(&ethanol, 2).is_acceptor());
    }
}
