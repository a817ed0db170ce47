//! The 13 atom features that networks on QM9 use, from atoms and bonds alone.
//!
//! They originate as calls of RDKit in code for message passing networks: acceptors and donors of hydrogen bonds as
//! RDKit understands its `BaseFeatures.fdef`, hybridisation by its count of orbitals. Here the same rules are stated in
//! terms of a [`Molecule`]. `docs/formats.md` describes the rules and how far they agree with RDKit.

use super::elements::{
    CARBON, FLUORINE, HYDROGEN, NITROGEN, OXYGEN, SULPHUR, is_halogen, outer_electrons, usual_valence,
};
use super::molecule::{AROMATIC, Link, Molecule};

/// The number of features of an atom.
pub(super) const COUNT: usize = super::FEATURES.len();

/// The features of all atoms, [`COUNT`] each, in the order of [`FEATURES`](super::FEATURES). O(n + m) for molecules
/// whose atoms have few bonds.
///
/// The charges of the molecule must be known, those of aromatic atoms too.
pub(super) fn features(molecule: &Molecule) -> Vec<f64> {
    let mut features = vec![0.0; molecule.atoms.len() * COUNT];
    for (atom, row) in features.chunks_exact_mut(COUNT).enumerate() {
        let element = molecule.atoms[atom];
        if let Some(place) = [HYDROGEN, CARBON, NITROGEN, OXYGEN, FLUORINE].iter().position(|&e| e == element)
        {
            row[place] = 1.0;
        }
        row[5] = f64::from(element);
        if element == HYDROGEN && molecule.degree(atom) == 1 {
            row[12] = molecule.hydrogens(atom) as f64;
            continue;
        }
        let view = Atom { molecule, atom, element, aromatic: molecule.is_aromatic(atom) };
        row[6] = f64::from(u8::from(view.is_acceptor()));
        row[7] = f64::from(u8::from(view.is_donor()));
        row[8] = f64::from(u8::from(view.aromatic));
        match view.orbitals() {
            Some(2) => row[9] = 1.0,
            Some(3) => row[10] = 1.0,
            Some(4) => row[11] = 1.0,
            _ => {}
        }
        row[12] = view.hydrogens() as f64;
    }
    features
}

/// An atom in its molecule.
#[derive(Clone, Copy)]
struct Atom<'a> {
    molecule: &'a Molecule,
    atom: usize,
    element: u8,
    aromatic: bool,
}

impl<'a> Atom<'a> {
    fn links(self) -> &'a [Link] {
        self.molecule.links(self.atom)
    }

    /// The atom at a bond's other end.
    fn at(self, link: Link) -> Self {
        let atom = link.atom as usize;
        let molecule = self.molecule;
        Atom { molecule, atom, element: molecule.atoms[atom], aromatic: molecule.is_aromatic(atom) }
    }

    /// Whether this is an atom of `element` in an aromatic ring, or outside of one.
    fn is(self, element: u8, aromatic: bool) -> bool {
        self.element == element && self.aromatic == aromatic
    }

    /// Whether a bond of one of these types leads to an atom that is as `wanted` says.
    fn has(self, kinds: &[u8], wanted: impl Fn(Self) -> bool) -> bool {
        self.links().iter().any(|&link| kinds.contains(&link.kind) && wanted(self.at(link)))
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
    fn is_donor(self) -> bool {
        match (self.element, self.aromatic) {
            (NITROGEN, false) => {
                let with_hydrogen = self.hydrogens() > 0;
                let carbons = || {
                    let carbon = |l: &&Link| l.kind == 1 && self.at(**l).is(CARBON, false);
                    self.links().iter().filter(carbon).count()
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
    fn is_acceptor(self) -> bool {
        match (self.element, self.aromatic) {
            (NITROGEN, true) => self.charge() == 0 && self.links().len() != 3,
            (OXYGEN, false) if self.valence() == 2 => match self.hydrogens() {
                0 => !self.has(&[2], |n| n.is(NITROGEN, false) && n.has(&[1], |_| true)),
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

    /// How many orbitals the atom's bonds and lone pairs mix: 2 is sp, 3 is sp2, 4 is sp3.
    ///
    /// Four of them become three where a lone pair is conjugated with a double bond beside it (the nitrogen of an
    /// amide), and in an aromatic ring.
    fn orbitals(self) -> Option<i32> {
        let outer = outer_electrons(self.element)?;
        let degree = self.links().len() as i32;
        if self.element == HYDROGEN {
            return Some(degree);
        }
        if self.aromatic && degree <= 3 {
            return Some(3);
        }
        let (valence, charge) = (self.valence(), self.charge());
        let free = outer - valence - charge;
        // What an atom without an octet has too few of, it has unpaired, each in an orbital of its own.
        let unpaired = (8 - outer - valence + charge).min(free).max(0);
        let orbitals = degree + (free - unpaired) / 2 + unpaired;
        let conjugated = orbitals == 4 && degree <= 3 && self.is_conjugated();
        Some(if conjugated { 3 } else { orbitals })
    }

    /// Whether electrons of the atom can move into a double or aromatic bond of a neighbour.
    fn is_conjugated(self) -> bool {
        self.can_conjugate()
            && self.has(&[1], |other| {
                let carries = matches!(other.links().len(), 2 | 3) && other.can_conjugate();
                carries && other.has(&[2, 3, AROMATIC], |third| third.can_conjugate())
            })
    }

    fn can_conjugate(self) -> bool {
        let outer = outer_electrons(self.element);
        let row = self.element <= 10
            || !matches!(outer, Some(5 | 6))
            || (outer == Some(6) && self.links().len() < 2);
        row && usual_valence(self.element).is_some()
            && self.molecule.pi_electrons(self.atom).is_some_and(|electrons| electrons > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::molecule::tests::molecule;
    use super::*;

    /// Acceptor, donor, aromatic, sp, sp2, sp3, hydrogens of an atom.
    fn row(atoms: &[u8], bonds: &[(u32, u32, u8)], atom: usize) -> [u8; 7] {
        let all = features(&molecule(atoms, bonds));
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
        // An atom without bonds, as four molecules of QM9 have them, and an element that has no rules.
        assert_eq!(row(&[6], &[], 0), [0, 0, 0, 0, 0, 1, 0]);
        assert_eq!(row(&[26], &[], 0), [0; 7]);
    }

    #[test]
    fn hydrogen_bonds() {
        assert_eq!(row(&[8, 1, 1], &[(0, 1, 1), (0, 2, 1)], 0)[..2], [0, 0], "water has two, a hydroxyl one");
        assert_eq!(row(&[8, 1, 6], &[(0, 1, 1), (0, 2, 1)], 0)[..2], [1, 1]);
        assert_eq!(row(&[9, 6], &[(0, 1, 1)], 0)[..2], [1, 0]);
        assert_eq!(row(&[9, 6, 9], &[(0, 1, 1), (1, 2, 1)], 0)[..2], [0, 0], "two fluorines at one carbon");
        assert_eq!(row(&[8, 7, 6], &[(0, 1, 2), (1, 2, 1)], 0)[..2], [0, 0], "nitroso");
        // Imidazole: the nitrogen without a hydrogen could take over the other's.
        let ring: Vec<(u32, u32, u8)> =
            (0..5).map(|i| (i, (i + 1) % 5, AROMATIC)).chain([(0, 5, 1)]).collect();
        assert_eq!(row(&[7, 6, 7, 6, 6, 1], &ring, 0)[..3], [0, 1, 1]);
        assert_eq!(row(&[7, 6, 7, 6, 6, 1], &ring, 2)[..3], [1, 1, 1]);
    }
}
