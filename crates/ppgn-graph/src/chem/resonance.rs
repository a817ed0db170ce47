//! Formal charges where a file states none.
//!
//! Outside aromatic rings the number of bonds implies the charge.
//!
//! An aromatic bond says that electrons are shared, not how; the charge of an atom shows only in a structure with
//! single and double bonds. A carbon that makes three bonds in an aromatic ring wants a double bond, and so does a
//! nitrogen that makes two; a nitrogen with three (pyrrole) or an oxygen (furan) does without. Where all who want one
//! can be paired along aromatic bonds, no atom is charged. Where not, some atom stays without one (-1) or takes one
//! beyond its valence (+1): this finds the pairing with the fewest charges that leaves the molecule neutral as a
//! whole, on nitrogen rather than carbon. Where several do (imidazolium's two nitrogens), any is as good; the first by
//! atom numbers is taken.

use super::elements::{CARBON, NITROGEN, OXYGEN, SULPHUR, default_valence};
use super::molecule::{AROMATIC, Link, Molecule};

/// Limits on aromatic atoms, charges, and steps of the search: beyond them rings are taken to be neutral; QM9's molecules
/// need 9, 3 and about 20.
const MOST_ATOMS: usize = 96;
const MOST_CHARGES: i32 = 4;
const MOST_STEPS: u32 = 20_000;

/// What an aromatic atom does about a double bond in the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Has one fewer bond than its valence: wants one.
    Wants,
    /// Has a lone pair that it could give up for one.
    Could,
    /// Can have none.
    Never,
    /// Has one.
    Paired,
}

/// The search for a pairing; kept between molecules for its memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resonance {
    ring: Vec<u32>,
    roles: Vec<Role>,
    charges: Vec<i32>,
    /// Whether carbons may be charged.
    carbons: bool,
    steps: u32,
}

impl Resonance {
    /// Works out the charges of aromatic atoms and sets them in `molecule.charges`; `whole` is the charge of the molecule.
    /// O(n + m) but for the search, which is bounded.
    pub(crate) fn charge(&mut self, molecule: &mut Molecule, whole: i32) {
        let n = molecule.atoms.len();
        self.ring.clear();
        self.ring.extend((0..n as u32).filter(|&a| molecule.is_aromatic(a as usize)));
        // Nothing that is derived from a molecule asks for the charge of an aromatic carbon.
        let asked = |a: &u32| matches!(molecule.atoms[*a as usize], NITROGEN | OXYGEN);
        if self.ring.len() > MOST_ATOMS || !self.ring.iter().any(asked) {
            return;
        }
        self.roles.clear();
        self.roles.resize(n, Role::Never);
        for &a in &self.ring {
            self.roles[a as usize] = role(molecule, a as usize);
        }
        self.charges.clear();
        self.charges.resize(n, 0);
        self.steps = 0;
        let in_ring = |a: usize| molecule.is_aromatic(a);
        let outside: i32 = (0..n).filter(|&a| !in_ring(a)).map(|a| molecule.charges[a]).sum();
        let found = [Some(whole.saturating_sub(outside)), None].into_iter().any(|wanted| {
            (0..=MOST_CHARGES).any(|count| {
                [false, true].into_iter().any(|carbons| {
                    self.carbons = carbons;
                    self.pair(molecule, 0, count, wanted)
                })
            })
        });
        if found {
            for &a in &self.ring {
                molecule.charges[a as usize] = self.charges[a as usize];
            }
        }
    }

    /// Pairs the atoms from the `next`th of the ring on, with exactly `left` more charges, which together with those
    /// given so far make up `wanted`, if that is given.
    fn pair(&mut self, molecule: &Molecule, next: usize, left: i32, wanted: Option<i32>) -> bool {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return false;
        }
        let waiting = self.ring[next..].iter().position(|&a| self.roles[a as usize] == Role::Wants);
        let Some(waiting) = waiting else {
            return left == 0 && wanted.is_none_or(|w| w == 0);
        };
        let next = next + waiting;
        let a = self.ring[next] as usize;
        self.roles[a] = Role::Paired;
        for (role, charge) in [(Role::Wants, 0), (Role::Could, 1)] {
            if charge > left {
                continue;
            }
            for i in 0..molecule.links(a).len() {
                let link = molecule.links(a)[i];
                let b = link.atom as usize;
                if link.kind != AROMATIC || self.roles[b] != role {
                    continue;
                }
                self.roles[b] = Role::Paired;
                self.charges[b] = charge;
                if self.pair(molecule, next + 1, left - charge, wanted.map(|w| w - charge)) {
                    return true;
                }
                self.roles[b] = role;
                self.charges[b] = 0;
            }
        }
        if left > 0 && (self.carbons || molecule.atoms[a] != CARBON) {
            self.charges[a] = -1;
            if self.pair(molecule, next + 1, left - 1, wanted.map(|w| w + 1)) {
                return true;
            }
            self.charges[a] = 0;
        }
        self.roles[a] = Role::Wants;
        false
    }
}

/// Sets the charges that the numbers of bonds imply if all electrons are paired, 0 for aromatic atoms. O(n + m).
pub(crate) fn imply_charges(molecule: &mut Molecule) {
    for atom in 0..molecule.atoms.len() {
        let aromatic = molecule.is_aromatic(atom);
        let implied = implied_charge(molecule.atoms[atom], molecule.valence(atom));
        molecule.charges[atom] = if aromatic { 0 } else { implied };
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

fn role(molecule: &Molecule, atom: usize) -> Role {
    let element = molecule.atoms[atom];
    // Aromatic bonds count as single ones, whatever is known of them.
    let single = |l: &Link| if l.kind == AROMATIC { 1 } else { i32::from(l.order) };
    let bonds: i32 = molecule.links(atom).iter().map(single).sum();
    let missing = default_valence(element).map(|v| v - bonds - i32::from(molecule.hydrogens[atom]));
    match (element, missing) {
        (CARBON | NITROGEN, Some(1)) => Role::Wants,
        (NITROGEN | OXYGEN | SULPHUR, Some(0)) => Role::Could,
        _ => Role::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::super::molecule::tests::molecule;
    use super::*;

    /// The charges of a ring of these atoms, with a hydrogen at each of those in `hydrogens` and further atoms, bonded as
    /// given, behind the hydrogens.
    fn charges(ring: &[u8], hydrogens: &[u32], further: &[(u32, u8, u8)]) -> Vec<i32> {
        let n = ring.len() as u32;
        let mut atoms = ring.to_vec();
        let mut bonds: Vec<(u32, u32, u8)> = (0..n).map(|i| (i, (i + 1) % n, AROMATIC)).collect();
        for (at, element, kind) in hydrogens.iter().map(|&a| (a, 1, 1)).chain(further.iter().copied()) {
            bonds.push((at, atoms.len() as u32, kind));
            atoms.push(element);
        }
        let mut m = molecule(&atoms, &bonds);
        imply_charges(&mut m);
        Resonance::default().charge(&mut m, 0);
        m.charges
    }

    #[test]
    fn bonds_imply_charges() {
        // The zwitterion of ammonia oxide, H3N+-O-.
        let mut m = molecule(&[7, 8, 1, 1, 1], &[(0, 1, 1), (0, 2, 1), (0, 3, 1), (0, 4, 1)]);
        imply_charges(&mut m);
        assert_eq!(m.charges, [1, -1, 0, 0, 0]);
    }

    #[test]
    fn neutral_rings() {
        assert_eq!(charges(&[7, 6, 6, 6, 6, 6], &[1, 2, 3, 4, 5], &[]), [0; 11], "pyridine");
        assert_eq!(charges(&[7, 6, 6, 6, 6], &[0, 1, 2, 3, 4], &[]), [0; 10], "pyrrole");
        assert_eq!(charges(&[7, 6, 7, 6, 6], &[0, 1, 3, 4], &[]), [0; 9], "imidazole");
        assert_eq!(charges(&[8, 6, 6, 6, 6], &[1, 2, 3, 4], &[]), [0; 9], "furan");
    }

    #[test]
    fn charged_rings() {
        // Imidazole with a carboxylate at the first carbon: one of the two nitrogens, both with a hydrogen, is charged.
        let mut carboxylate = molecule(&[6, 8, 8], &[(0, 1, 2), (0, 2, 1)]);
        imply_charges(&mut carboxylate);
        assert_eq!(carboxylate.charges[2], -1);
        let whole = charges(&[7, 6, 7, 6, 6], &[0, 2, 3, 4], &[(1, 8, 1)]);
        assert_eq!(whole.iter().sum::<i32>(), 0);
        assert_eq!((whole[0] + whole[2], whole[9]), (1, -1));
        // Triazole less its hydrogen, with an ammonium: the ring has the negative charge on a nitrogen.
        let mut atoms = vec![7, 7, 7, 6, 6, 1, 7];
        let mut bonds: Vec<(u32, u32, u8)> = (0..5).map(|i| (i, (i + 1) % 5, AROMATIC)).collect();
        bonds.extend([(3, 5, 1), (4, 6, 1)]);
        for _ in 0..3 {
            bonds.push((6, atoms.len() as u32, 1));
            atoms.push(1);
        }
        let mut m = molecule(&atoms, &bonds);
        imply_charges(&mut m);
        Resonance::default().charge(&mut m, 0);
        assert_eq!(m.charges[6], 1);
        assert_eq!(m.charges[..3].iter().sum::<i32>(), -1);
        assert_eq!(m.charges[3..5], [0, 0]);
    }

    #[test]
    fn rings_that_cannot_be_paired_are_given_up() {
        // More aromatic atoms than are looked at, and a star that no pairing fits.
        let many: Vec<(u32, u32, u8)> = (0..200).map(|i| (i, (i + 1) % 200, AROMATIC)).collect();
        let mut m = molecule(&[7; 200], &many);
        Resonance::default().charge(&mut m, 0);
        assert_eq!(m.charges, [0; 200]);
        let star: Vec<(u32, u32, u8)> = (1..60).map(|i| (0, i, AROMATIC)).collect();
        let mut m = molecule(&[7; 60], &star);
        Resonance::default().charge(&mut m, 0);
        assert_eq!(m.charges, [0; 60]);
    }
}
