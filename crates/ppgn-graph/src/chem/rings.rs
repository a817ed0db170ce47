//! The rings of a molecule: which bonds are in one, and the *relevant* cycles, those that are not sums of shorter ones.
//!
//! A bond is in a ring if its atoms stay connected without it. Dative bonds do not close rings, as in RDKit. The relevant
//! cycles are the union of all smallest sets of smallest rings, so unlike one such set they do not depend on how atoms
//! are numbered. A relevant cycle is isometric (two of its atoms are as far apart on it as in the molecule), which
//! makes them cheap to list: walk away from the lowest atom along shortest paths and back along shortest paths.

use super::molecule::{DATIVE, Link, Molecule};

/// The largest ring that is looked for: the size up to which fused rings can be aromatic in RDKit's model.
const LARGEST: usize = 24;
/// Limits on atoms in rings, independent rings, and steps of the walk: beyond them a molecule's rings are not listed. C60 has
/// 60 atoms and 31 independent rings.
const MOST_ATOMS: usize = 1024;
const MOST_RINGS: usize = 64;
const MOST_STEPS: usize = 200_000;

/// A ring: its atoms and its bonds, both in order along it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ring {
    pub(super) atoms: Vec<u32>,
    pub(super) bonds: Vec<u32>,
}

impl Molecule {
    /// Finds out which bonds are in rings: all but bridges. O(n + m).
    pub(crate) fn find_rings(&mut self) {
        let n = self.atoms.len();
        self.cyclic.clear();
        self.cyclic.resize(self.bonds.len(), false);
        // When an atom was first seen, and the first seen atom that can be reached from those below it.
        let (mut seen, mut low) = (vec![0u32; n], vec![0u32; n]);
        let mut count = 0;
        let mut path: Vec<(usize, u32, usize)> = Vec::new();
        for root in 0..n {
            if seen[root] == 0 {
                path.push((root, u32::MAX, 0));
            }
            while let Some((atom, by, next)) = path.last_mut() {
                let (atom, by) = (*atom, *by);
                if *next == 0 {
                    count += 1;
                    (seen[atom], low[atom]) = (count, count);
                }
                if let Some(&link) = self.links(atom).get(*next) {
                    *next += 1;
                    let to = link.atom as usize;
                    if link.kind == DATIVE || link.bond == by {
                        continue;
                    }
                    if seen[to] == 0 {
                        path.push((to, link.bond, 0));
                    } else {
                        low[atom] = low[atom].min(seen[to]);
                        self.cyclic[link.bond as usize] = true;
                    }
                } else {
                    if *next == 0 {
                        *next = 1;
                    }
                    path.pop();
                    if let Some((above, _, _)) = path.last() {
                        low[*above] = low[*above].min(low[atom]);
                        self.cyclic[by as usize] = low[atom] <= seen[*above];
                    }
                }
            }
        }
    }
}

/// The relevant cycles of up to 24 atoms, shorter ones first, or `None` for a molecule with too many.
///
/// O(n m) for the distances between the n atoms in rings; the steps of the walk are bounded.
pub(super) fn relevant_cycles(molecule: &Molecule) -> Option<Vec<Ring>> {
    let core = Core::new(molecule);
    if core.rank == 0 {
        return Some(Vec::new());
    }
    if core.rank > MOST_RINGS || core.atoms.len() > MOST_ATOMS {
        return None;
    }
    let distances = distances(molecule, &core);
    let mut walk = Walk { molecule, core: &core, distances, steps: 0, path: Vec::new(), found: Vec::new() };
    let mut basis = Basis::default();
    let mut rings = Vec::new();
    for length in 3..=LARGEST {
        for root in 0..core.atoms.len() {
            walk.go_round(root, length)?;
        }
        // Of one length, all that the shorter ones do not span are relevant, also if they span one another.
        let shorter = basis.clone();
        for ring in walk.found.drain(..) {
            if !shorter.reduce(core.vector(&ring)).is_empty() {
                basis.insert(core.vector(&ring));
                rings.push(ring);
            }
        }
        if basis.rows.len() == core.rank {
            break;
        }
    }
    Some(rings)
}

/// The atoms and bonds that are in rings.
struct Core {
    atoms: Vec<u32>,
    /// The place of an atom among them.
    places: Vec<Option<u32>>,
    /// The number of a bond among those between them.
    numbers: Vec<Option<u32>>,
    bonds: usize,
    /// How many independent rings there are.
    rank: usize,
}

impl Core {
    fn new(molecule: &Molecule) -> Self {
        let n = molecule.atoms.len();
        let inside: Vec<bool> = (0..n).map(|a| molecule.is_cyclic(a)).collect();
        let mut places = vec![None; n];
        let atoms: Vec<u32> = (0..n as u32).filter(|&a| inside[a as usize]).collect();
        for (i, &a) in atoms.iter().enumerate() {
            places[a as usize] = Some(i as u32);
        }
        let mut bonds = 0;
        let mut number = |cyclic: &bool| {
            cyclic.then(|| {
                bonds += 1;
                bonds - 1
            })
        };
        let numbers = molecule.cyclic.iter().map(&mut number).collect();
        let rank = (bonds as usize + parts(molecule, &inside)).saturating_sub(atoms.len());
        Core { atoms, places, numbers, bonds: bonds as usize, rank }
    }

    /// The place of the atom at a bond's other end, if the bond is in a ring.
    fn next(&self, link: &Link) -> Option<u32> {
        self.numbers[link.bond as usize].and(self.places[link.atom as usize])
    }

    /// A ring as a vector over GF(2), one bit per bond.
    fn vector(&self, ring: &Ring) -> Vec<u64> {
        let mut bits = vec![0; self.bonds.div_ceil(64)];
        for number in ring.bonds.iter().filter_map(|&b| self.numbers[b as usize]) {
            bits[number as usize / 64] |= 1 << (number % 64);
        }
        bits
    }
}

/// Of these atoms, those that are left after atoms with fewer than two bonds among them are removed until there are
/// none: the rings and what joins them. O(n + m).
pub(super) fn peel(molecule: &Molecule, mut inside: Vec<bool>) -> Vec<bool> {
    let bonds = |a: usize| molecule.links(a).iter().filter(|l| inside[l.atom as usize]).count();
    let mut degrees: Vec<usize> = (0..inside.len()).map(bonds).collect();
    let mut ends: Vec<usize> = (0..inside.len()).filter(|&a| inside[a] && degrees[a] < 2).collect();
    while let Some(a) = ends.pop() {
        inside[a] = false;
        for b in molecule.links(a).iter().map(|l| l.atom as usize) {
            degrees[b] -= 1;
            // Those with fewer are gone or on the list.
            if inside[b] && degrees[b] == 1 {
                ends.push(b);
            }
        }
    }
    inside
}

/// The number of connected components of these atoms, along bonds in rings.
fn parts(molecule: &Molecule, inside: &[bool]) -> usize {
    let mut seen: Vec<bool> = inside.iter().map(|&i| !i).collect();
    let mut parts = 0;
    let mut waiting = Vec::new();
    for root in 0..inside.len() {
        parts += usize::from(!seen[root]);
        waiting.push(root);
        while let Some(a) = waiting.pop() {
            if !std::mem::replace(&mut seen[a], true) {
                let cyclic = molecule.links(a).iter().filter(|l| molecule.cyclic[l.bond as usize]);
                waiting.extend(cyclic.map(|l| l.atom as usize).filter(|&b| !seen[b]));
            }
        }
    }
    parts
}

/// The distances between the atoms of the core, row after row; 255 where they are further than rings need.
fn distances(molecule: &Molecule, core: &Core) -> Vec<u8> {
    let n = core.atoms.len();
    let mut distances = vec![u8::MAX; n * n];
    let mut queue = Vec::with_capacity(n);
    for root in 0..n {
        let row = &mut distances[root * n..(root + 1) * n];
        row[root] = 0;
        queue.clear();
        queue.push(root);
        let mut next = 0;
        while let Some(&a) = queue.get(next) {
            next += 1;
            if usize::from(row[a]) == LARGEST / 2 {
                break;
            }
            for link in molecule.links(core.atoms[a] as usize) {
                let Some(b) = core.next(link) else { continue };
                if row[b as usize] == u8::MAX {
                    row[b as usize] = row[a] + 1;
                    queue.push(b as usize);
                }
            }
        }
    }
    distances
}

/// The walk along shortest paths from an atom and back.
struct Walk<'a> {
    molecule: &'a Molecule,
    core: &'a Core,
    distances: Vec<u8>,
    steps: usize,
    /// Atoms by place in the core, each with the bond that led to it.
    path: Vec<(u32, u32)>,
    found: Vec<Ring>,
}

impl Walk<'_> {
    /// Finds the isometric cycles of this length through `root` and atoms after it. `None` if it takes too long.
    fn go_round(&mut self, root: usize, length: usize) -> Option<()> {
        self.path.clear();
        self.path.push((root as u32, u32::MAX));
        self.go_on(root, length)
    }

    fn go_on(&mut self, root: usize, length: usize) -> Option<()> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return None;
        }
        let gone = self.path.len();
        let here = self.core.atoms[self.path[gone - 1].0 as usize] as usize;
        let molecule = self.molecule;
        for link in molecule.links(here) {
            let Some(next) = self.core.next(link) else { continue };
            if gone == length {
                // Each cycle is walked both ways round; one of them counts.
                if next as usize == root && self.path[1].0 < self.path[gone - 1].0 {
                    self.keep(link.bond);
                }
                continue;
            }
            let distance = usize::from(self.distances[root * self.core.atoms.len() + next as usize]);
            if next as usize > root
                && distance == gone.min(length - gone)
                && self.path.iter().all(|&(a, _)| a != next)
            {
                self.path.push((next, link.bond));
                self.go_on(root, length)?;
                self.path.pop();
            }
        }
        Some(())
    }

    fn keep(&mut self, last: u32) {
        let atoms = self.path.iter().map(|&(a, _)| self.core.atoms[a as usize]).collect();
        let bonds = self.path[1..].iter().map(|&(_, b)| b).chain([last]).collect();
        self.found.push(Ring { atoms, bonds });
    }
}

/// Vectors over GF(2) in echelon form: each begins at another bit.
#[derive(Debug, Clone, Default)]
struct Basis {
    rows: Vec<Vec<u64>>,
}

impl Basis {
    /// The vector less what the basis spans; empty if nothing is left.
    fn reduce(&self, mut vector: Vec<u64>) -> Vec<u64> {
        for row in &self.rows {
            if let Some((word, bit)) = leading(row)
                && vector[word] >> bit & 1 == 1
            {
                vector.iter_mut().zip(row).for_each(|(v, r)| *v ^= r);
            }
        }
        if leading(&vector).is_none() {
            vector.clear();
        }
        vector
    }

    /// Adds a vector, unless the basis spans it.
    fn insert(&mut self, vector: Vec<u64>) {
        let rest = self.reduce(vector);
        if !rest.is_empty() {
            self.rows.push(rest);
        }
    }
}

/// The place of the first bit that is set.
fn leading(vector: &[u64]) -> Option<(usize, u32)> {
    vector.iter().position(|&w| w != 0).map(|i| (i, vector[i].trailing_zeros()))
}

#[cfg(test)]
mod tests {
    use super::super::molecule::tests::molecule;
    use super::*;

    fn sizes(n: usize, bonds: &[(u32, u32)]) -> Vec<usize> {
        let bonds: Vec<_> = bonds.iter().map(|&(a, b)| (a, b, 1)).collect();
        let mut m = molecule(&vec![6; n], &bonds);
        m.find_rings();
        relevant_cycles(&m).unwrap().iter().map(|r| r.atoms.len()).collect()
    }

    #[test]
    fn small_rings() {
        assert_eq!(sizes(3, &[(0, 1), (1, 2)]), [0usize; 0]);
        assert_eq!(sizes(4, &[(0, 1), (1, 2), (2, 0), (2, 3)]), [3]);
        // Two fused six-rings: the ten-ring around them is their sum.
        let naphthalene =
            [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8), (8, 9), (9, 0), (4, 9)];
        assert_eq!(sizes(10, &naphthalene), [6, 6]);
    }

    #[test]
    fn symmetric_cages_give_all_their_faces() {
        let cube: Vec<(u32, u32)> =
            (0..8u32).flat_map(|a| [1, 2, 4].map(|bit| (a, a ^ bit))).filter(|&(a, b)| a < b).collect();
        assert_eq!(sizes(8, &cube), [4; 6]);
        let tetrahedron = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        assert_eq!(sizes(4, &tetrahedron), [3; 4]);
        // Norbornane: both five-rings, and not the six-ring, which is their sum... but as short as none of them.
        let norbornane = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 6), (6, 3)];
        assert_eq!(sizes(7, &norbornane), [5, 5]);
        // Bicyclo[2.2.2]octane: three six-rings, each the sum of the other two.
        let bicyclo = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 6), (6, 7), (7, 3)];
        assert_eq!(sizes(8, &bicyclo), [6, 6, 6]);
    }

    #[test]
    fn bridges_are_not_in_rings() {
        // Two triangles joined by a chain, and a dative bond that would close a ring.
        let bonds = [
            (0, 1, 1),
            (1, 2, 1),
            (2, 0, 1),
            (2, 3, 1),
            (3, 4, 1),
            (4, 5, 1),
            (5, 6, 1),
            (6, 4, 1),
            (0, 3, DATIVE),
        ];
        let mut m = molecule(&[6; 8], &bonds);
        m.find_rings();
        assert_eq!(m.cyclic, [true, true, true, false, false, true, true, true, false]);
        assert!(m.is_cyclic(2) && !m.is_cyclic(3) && m.is_cyclic(4) && !m.is_cyclic(7));
    }

    #[test]
    fn bonds_follow_the_atoms() {
        let mut m = molecule(&[6; 4], &[(2, 1, 1), (0, 1, 1), (2, 3, 1), (0, 3, 1)]);
        m.find_rings();
        let rings = relevant_cycles(&m).unwrap();
        assert_eq!(rings, [Ring { atoms: vec![0, 1, 2, 3], bonds: vec![1, 0, 2, 3] }]);
    }

    #[test]
    fn too_many_rings_are_not_listed() {
        let complete: Vec<(u32, u32, u8)> = (0..20).flat_map(|a| (0..a).map(move |b| (a, b, 1))).collect();
        let mut m = molecule(&[6; 20], &complete);
        m.find_rings();
        assert_eq!(relevant_cycles(&m), None);
    }
}
