//! Single molecules as graphs, for callers without a file: a SMILES, or atoms and bonds that other software has perceived. Both
//! have the labels of the files (`docs/formats.md`), so a network that was trained on one takes the others.

use crate::chem::elements::HEAVIEST;
use crate::chem::molecule::{AROMATIC, Bond, DATIVE, QUADRUPLE};
use crate::chem::{Molecule, derive, smiles};
use crate::dataset::Schema;
use crate::error::{Error, Result};
use crate::format::Limits;
use crate::format::molecules::{Values, check, graph};
use crate::graph::Graph;

/// The molecule of a SMILES. O(length) but for the searches among rings, which are bounded.
///
/// ```
/// use ppgn_graph::molecule::from_smiles;
/// let phenol = from_smiles("Oc1ccccc1")?;
/// // The atom, charge, aromatic, hydrogens, hybridisation, ring, acceptor, donor.
/// assert_eq!((phenol.nodes(), phenol.node_labels(0)), (7, &[8, 0, 0, 1, 3, 0, 1, 1][..]));
/// assert_eq!(from_smiles("C1CC").unwrap_err().to_string(), "ring closure 1 that is not closed, character 2 of `C1CC`");
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn from_smiles(text: &str) -> Result<Graph> {
    let read = || {
        let mut molecule = Molecule::default();
        smiles::parse(text.as_bytes(), &mut molecule)?;
        check(&mut molecule, Limits::default().max_nodes)?;
        derive(&mut molecule)?;
        graph(&molecule)
    };
    read().map_err(Error::unfit)
}

/// A bond as other software has perceived it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PerceivedBond {
    /// The atoms, by number. A dative bond goes from the first to the second.
    pub atoms: (u32, u32),
    /// 1, 2, 3 for single, double, triple, 4 for aromatic, 5 for order 4, 6 for dative.
    pub kind: u8,
    /// Of an aromatic bond, its order in a structure of single and double bonds; of others it follows from the kind.
    pub order: u8,
}

/// A molecule as other software has perceived it: which bonds are aromatic, how many hydrogens an atom has. One entry per atom.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Perceived {
    /// The atomic numbers, 0 for any.
    pub atoms: Vec<u8>,
    /// The formal charges.
    pub charges: Vec<i32>,
    /// The hydrogens that are not atoms of their own.
    pub hydrogens: Vec<u8>,
    /// The unpaired electrons.
    pub radicals: Vec<u8>,
    /// The bonds.
    pub bonds: Vec<PerceivedBond>,
    /// The places of the atoms in space, if they are known.
    pub positions: Option<Vec<[f64; 3]>>,
}

impl Perceived {
    /// The graph, with everything that was not perceived derived from what was: rings, hybridisation, donors and acceptors.
    pub fn graph(self) -> Result<Graph> {
        let n = self.atoms.len();
        let wrong = |text: String| Err(Error::unfit(text));
        if [self.charges.len(), self.hydrogens.len(), self.radicals.len()] != [n; 3] {
            return wrong(format!(
                "one charge, number of hydrogens and of radicals is needed for each of {n} atoms"
            ));
        }
        if let Some(atom) = self.atoms.iter().position(|&z| z > HEAVIEST) {
            return wrong(format!(
                "atom {atom} has the atomic number {}, beyond {HEAVIEST}",
                self.atoms[atom]
            ));
        }
        let mut bonds = Vec::with_capacity(self.bonds.len());
        for bond in &self.bonds {
            let (a, b) = bond.atoms;
            if a == b || a.max(b) as usize >= n {
                return wrong(format!("a bond between atoms {a} and {b} of {n}"));
            }
            if !(matches!(bond.kind, 1..=3 | AROMATIC | QUADRUPLE | DATIVE)) {
                return wrong(format!("a bond of type {}: there are 1 to 6", bond.kind));
            }
            let made = Bond::new(a, b, bond.kind);
            let order = if bond.kind == AROMATIC { bond.order.clamp(1, 3) } else { made.order };
            bonds.push(Bond { order, ..made });
        }
        let mut molecule = Molecule::default();
        (molecule.atoms, molecule.bonds, molecule.charges) = (self.atoms, bonds, self.charges);
        (molecule.hydrogens, molecule.radicals) = (self.hydrogens, self.radicals);
        molecule.stated = vec![true; n];
        check(&mut molecule, Limits::default().max_nodes).map_err(Error::unfit)?;
        molecule.find_rings();
        let graph = graph(&molecule).map_err(Error::unfit)?;
        match self.positions {
            None => Ok(graph),
            Some(places) if places.len() == n && places.as_flattened().iter().all(|x| x.is_finite()) => {
                Ok(graph.with_positions(places))
            }
            Some(_) => wrong(format!("one finite position is needed for each of {n} atoms")),
        }
    }
}

/// The features of a dataset of these molecules: the names of the labels, and the values that occur or that molecules commonly
/// have, so that a network trained on few of them takes others. Nothing where a graph has other columns.
///
/// ```
/// use ppgn_graph::molecule::{from_smiles, schema};
/// let schema = schema(&[from_smiles("CCO")?]).unwrap();
/// assert_eq!((schema.node_labels[0].name(), schema.node_labels[1].values()), ("atom", &[-1, 0, 1][..]));
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn schema(graphs: &[Graph]) -> Option<Schema> {
    let mut values = Values::default();
    let in_space = graphs.iter().filter(|g| g.positions().is_some()).count();
    if !graphs.iter().all(|g| values.fit(g)) || ![0, graphs.len()].contains(&in_space) {
        return None;
    }
    graphs.iter().for_each(|g| values.see(g));
    Some(values.schema(in_space > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A SMILES, and the same molecule by its atoms and bonds.
    #[test]
    fn perceived_molecules_are_those_of_smiles() {
        let bond = |a, b, kind, order| PerceivedBond { atoms: (a, b), kind, order };
        let ring = (1..7u32).map(|i| bond(i, i % 6 + 1, 4, if i % 2 == 0 { 2 } else { 1 }));
        let phenol = Perceived {
            atoms: vec![8, 6, 6, 6, 6, 6, 6],
            charges: vec![0; 7],
            hydrogens: vec![1, 0, 1, 1, 1, 1, 1],
            radicals: vec![0; 7],
            bonds: std::iter::once(bond(0, 1, 1, 1)).chain(ring).collect(),
            positions: None,
        };
        assert_eq!(phenol.clone().graph().unwrap(), from_smiles("Oc1ccccc1").unwrap());
        let mut wrong = phenol.clone();
        wrong.bonds[0] = bond(0, 7, 1, 1);
        assert!(wrong.graph().unwrap_err().to_string().contains("between atoms 0 and 7 of 7"));
        let mut wrong = phenol.clone();
        wrong.bonds[0].kind = 9;
        assert!(wrong.graph().unwrap_err().to_string().contains("a bond of type 9"));
        let placed = Perceived { positions: Some(vec![[0.5; 3]; 7]), ..phenol.clone() };
        assert_eq!(placed.graph().unwrap().positions(), Some(&[[0.5; 3]; 7][..]));
        assert!(Perceived { positions: Some(vec![[f64::NAN; 3]; 7]), ..phenol.clone() }.graph().is_err());
        assert!(Perceived { charges: vec![], ..phenol }.graph().is_err());
        assert!(Perceived::default().graph().unwrap_err().to_string().contains("without atoms"));
    }

    #[test]
    fn other_graphs_have_no_schema_of_molecules() {
        let pair = Graph::undirected(2, [(0, 1)]).unwrap();
        assert!(schema(&[from_smiles("C").unwrap(), pair]).is_none());
    }
}
