//! Single and double bonds for atoms that a file calls aromatic.
//!
//! Every aromatic atom that lacks one bond to its valence needs a double bond along an aromatic bond: a perfect matching
//! of these atoms, found by augmenting paths with contraction of odd cycles (Edmonds 1965). O(a * b) per atom for a
//! atoms and b bonds in aromatic rings; no search that could run away.

use super::Molecule;
use super::elements::{ANY, default_valence, symbol, valences};
use super::molecule::{AROMATIC, Bond};
use super::valence::bond_sum;

/// The most aromatic atoms of a molecule: no real one comes near, and the time stays bounded.
const MOST_ATOMS: usize = 4096;

/// Replaces aromatic bonds by single and double ones. The error says which atom cannot get the double bond that it
/// needs. O(a^2 * b) for a aromatic atoms with b bonds, O(n + m) otherwise.
pub(super) fn kekulise(molecule: &mut Molecule) -> Result<(), String> {
    let alone = |a: &usize| molecule.lowercase[*a] && !molecule.is_aromatic(*a);
    if let Some(atom) = (0..molecule.atoms.len()).find(alone) {
        let name = symbol(molecule.atoms[atom]);
        return Err(format!(
            "atom {} ({name}) is written as aromatic, but is in no ring of aromatic atoms",
            atom + 1
        ));
    }
    let is_open = |a: &usize| molecule.is_aromatic(*a);
    let atoms: Vec<usize> = (0..molecule.atoms.len()).filter(is_open).collect();
    if atoms.is_empty() {
        return Ok(());
    }
    if atoms.len() > MOST_ATOMS {
        return Err(format!(
            "{} aromatic atoms in one molecule; ppgn reads at most {MOST_ATOMS}",
            atoms.len()
        ));
    }
    let mut places = vec![u32::MAX; molecule.atoms.len()];
    atoms.iter().zip(0..).for_each(|(&a, place)| places[a] = place);
    let needs: Vec<Need> = atoms.iter().map(|&a| need(molecule, a)).collect();
    let open = |place: u32| needs[place as usize] != Need::None;
    let neighbours = atoms.iter().zip(0..).map(|(&a, place)| {
        let aromatic = molecule.links(a).iter().filter(|l| l.kind == AROMATIC && open(place));
        aromatic.map(|l| places[l.atom as usize]).filter(|&b| open(b)).collect()
    });
    let mut matching = Matching::new(neighbours.collect());
    for place in (0..atoms.len()).filter(|&place| needs[place] == Need::One) {
        if matching.mates[place].is_none() && !matching.augment(place as u32) {
            let (atom, name) = (atoms[place] + 1, symbol(molecule.atoms[atoms[place]]));
            return Err(format!(
                "no double bonds fit its aromatic atoms: atom {atom} ({name}) stays without one; an aromatic nitrogen \
                 with a hydrogen is written [nH]"
            ));
        }
    }
    for bond in 0..molecule.bonds.len() as u32 {
        let Bond { a, b, kind, .. } = molecule.bonds[bond as usize];
        if kind == AROMATIC {
            let double = matching.mates[places[a as usize] as usize] == Some(places[b as usize]);
            let order = if double { 2 } else { 1 };
            molecule.set_bond(bond, order, order);
        }
    }
    Ok(())
}

/// Whether an atom needs a double bond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    None,
    /// It may have one: an atom that stands for any.
    Perhaps,
    One,
}

fn need(molecule: &Molecule, atom: usize) -> Need {
    let element = molecule.atoms[atom];
    if !molecule.is_aromatic(atom) {
        return Need::None;
    }
    if element == ANY {
        return Need::Perhaps;
    }
    let Some(default) = default_valence(element) else { return Need::None };
    // To the left of carbon a charge takes a bond, to the right it adds one; a carbon with any charge makes three.
    let mut charge = molecule.charges[atom];
    if matches!(element, 3..=5 | 11..=13 | 31 | 32 | 49..=51 | 81..=83) {
        charge = -charge;
    } else if element == 6 {
        charge = -charge.abs();
    }
    let total = bond_sum(molecule, atom);
    let mut wanted = default + charge;
    for &valence in valences(element).iter().skip(1).filter(|&&v| v > 0) {
        if total > wanted {
            wanted = i32::from(valence) + charge;
        }
    }
    let radicals = i32::from(molecule.radicals[atom]);
    if molecule.degree(atom) + radicals >= wanted {
        return Need::None;
    }
    // Every aromatic bond counts as single here.
    let single = molecule.valence(atom);
    let one = wanted == single + 1 + radicals;
    let with_radical = radicals == 0 && molecule.stated[atom] && wanted == single + 2;
    if one || with_radical { Need::One } else { Need::None }
}

/// A matching of a graph, grown path by path.
struct Matching {
    neighbours: Vec<Vec<u32>>,
    mates: Vec<Option<u32>>,
    /// During a search: where an outer node was reached from, and the base of the odd cycle a node was contracted into.
    parents: Vec<Option<u32>>,
    bases: Vec<u32>,
}

impl Matching {
    /// A matching that is found without looking back: most nodes of most molecules.
    fn new(neighbours: Vec<Vec<u32>>) -> Self {
        let n = neighbours.len();
        let mut mates = vec![None; n];
        for a in 0..n {
            if mates[a].is_none()
                && let Some(&b) = neighbours[a].iter().find(|&&b| mates[b as usize].is_none())
            {
                mates[a] = Some(b);
                mates[b as usize] = Some(a as u32);
            }
        }
        Matching { neighbours, mates, parents: vec![None; n], bases: (0..n as u32).collect() }
    }

    /// Matches `root` too, by an alternating path to another free node; false if there is none.
    fn augment(&mut self, root: u32) -> bool {
        let n = self.mates.len();
        self.parents.fill(None);
        self.bases = (0..n as u32).collect();
        let mut outer = vec![false; n];
        outer[root as usize] = true;
        let mut queue = vec![root];
        let mut next = 0;
        while let Some(&v) = queue.get(next) {
            next += 1;
            for i in 0..self.neighbours[v as usize].len() {
                let to = self.neighbours[v as usize][i];
                if self.bases[v as usize] == self.bases[to as usize] || self.mates[v as usize] == Some(to) {
                    continue;
                }
                let odd =
                    to == root || self.mates[to as usize].is_some_and(|m| self.parents[m as usize].is_some());
                if odd {
                    self.contract(v, to, &mut outer, &mut queue);
                } else if self.parents[to as usize].is_none() {
                    self.parents[to as usize] = Some(v);
                    match self.mates[to as usize] {
                        None => {
                            self.flip(to);
                            return true;
                        }
                        Some(mate) => {
                            outer[mate as usize] = true;
                            queue.push(mate);
                        }
                    }
                }
            }
        }
        false
    }

    /// Contracts the odd cycle that the edge between two outer nodes closes.
    fn contract(&mut self, v: u32, to: u32, outer: &mut [bool], queue: &mut Vec<u32>) {
        let base = self.common_base(v, to);
        let mut inside = vec![false; self.mates.len()];
        for (end, other) in [(v, to), (to, v)] {
            let (mut node, mut child) = (end, other);
            while self.bases[node as usize] != base {
                let Some(mate) = self.mates[node as usize] else { break };
                inside[self.bases[node as usize] as usize] = true;
                inside[self.bases[mate as usize] as usize] = true;
                self.parents[node as usize] = Some(child);
                child = mate;
                let Some(parent) = self.parents[mate as usize] else { break };
                node = parent;
            }
        }
        for i in 0..self.mates.len() {
            if inside[self.bases[i] as usize] {
                self.bases[i] = base;
                if !std::mem::replace(&mut outer[i], true) {
                    queue.push(i as u32);
                }
            }
        }
    }

    /// The first base that the ways from two outer nodes to the root have in common.
    fn common_base(&self, a: u32, b: u32) -> u32 {
        let mut seen = vec![false; self.mates.len()];
        let mut node = self.bases[a as usize];
        loop {
            seen[node as usize] = true;
            let Some(parent) = self.mates[node as usize].and_then(|m| self.parents[m as usize]) else {
                break;
            };
            node = self.bases[parent as usize];
        }
        let mut node = self.bases[b as usize];
        while !seen[node as usize] {
            let Some(parent) = self.mates[node as usize].and_then(|m| self.parents[m as usize]) else {
                break;
            };
            node = self.bases[parent as usize];
        }
        node
    }

    /// Exchanges matched and unmatched edges on the path that ends in `node`.
    fn flip(&mut self, node: u32) {
        let mut node = Some(node);
        while let Some(v) = node {
            let Some(parent) = self.parents[v as usize] else { break };
            let next = self.mates[parent as usize];
            self.mates[v as usize] = Some(parent);
            self.mates[parent as usize] = Some(v);
            node = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// The most nodes that any matching covers, by trying all.
    fn most(neighbours: &[Vec<u32>], used: u32, from: usize) -> u32 {
        let Some(a) = (from..neighbours.len()).find(|a| used >> a & 1 == 0) else { return 0 };
        let without = most(neighbours, used | 1 << a, a + 1);
        let with = neighbours[a].iter().filter(|&&b| used >> b & 1 == 0);
        with.map(|&b| 2 + most(neighbours, used | 1 << a | 1 << b, a + 1)).max().unwrap_or(0).max(without)
    }

    #[test]
    fn matchings_are_as_large_as_can_be() {
        for seed in 0..300 {
            let mut random = Stream::new(seed, "matching", &[]);
            let n = 3 + random.below(9);
            let mut neighbours = vec![Vec::new(); n];
            for a in 0..n {
                for b in 0..a {
                    if random.below(4) == 0 {
                        neighbours[a].push(b as u32);
                        neighbours[b].push(a as u32);
                    }
                }
            }
            let largest = most(&neighbours, 0, 0);
            let mut m = Matching::new(neighbours.clone());
            for a in 0..n {
                if m.mates[a].is_none() {
                    m.augment(a as u32);
                }
            }
            let covered = m.mates.iter().filter(|m| m.is_some()).count();
            assert_eq!(covered as u32, largest, "seed {seed}: {neighbours:?}");
            for (a, mate) in m.mates.iter().enumerate() {
                if let Some(b) = mate {
                    assert!(m.mates[*b as usize] == Some(a as u32) && neighbours[a].contains(b));
                }
            }
        }
    }
}
