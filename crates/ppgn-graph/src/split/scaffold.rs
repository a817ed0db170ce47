//! Molecules by scaffold: a test set of frameworks that training has not seen asks for more than one drawn at random.

use crate::chem::elements::{HEAVIEST, HYDROGEN, is_metal};
use crate::chem::isomorphism::Labelled;
use crate::chem::molecule::{Bond, DATIVE, Molecule};
use crate::chem::scaffold::framework;
use crate::dataset::{Dataset, LabelColumn};
use crate::error::{Error, Result};
use crate::graph::Graph;
use std::collections::HashMap;

/// The columns of labels that a framework is made of.
const ATOM: [&str; 4] = ["atom", "charge", "aromatic", "hydrogens"];
const BOND: &str = "bond";

/// For every graph of a dataset of molecules, the number of its scaffold: its Bemis-Murcko framework, which is what is left of
/// rings, links between them and atoms double-bonded to either when side chains are cut off.
///
/// Two graphs have the same number if and only if their frameworks are the same in elements, charges, aromaticity, hydrogens
/// and bonds: as with RDKit's `MurckoScaffoldSmiles`, but compared as graphs. Molecules without a ring have one scaffold,
/// the empty one. Numbers are by first appearance. The graphs need the labels that SMILES and SDF give them: `atom`, `charge`, `aromatic`
/// and `hydrogens` of nodes, and `bond` of edges.
///
/// # Complexity
///
/// O(n + m) per molecule, and O(f²) for a framework of f atoms.
///
/// ```
/// use ppgn_graph::format::{ReadOptions, read};
/// use ppgn_graph::split::scaffolds;
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("m.smi");
/// // Toluene, ethanol, pyridine, phenol, hexane.
/// std::fs::write(&file, "Cc1ccccc1\nCCO\nc1ccncc1\nOc1ccccc1\nCCCCCC\n")?;
/// let numbers = scaffolds(&read(&file, &ReadOptions::default())?)?;
/// assert_eq!(numbers, [0, 1, 2, 0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn scaffolds(dataset: &Dataset) -> Result<Vec<u32>> {
    let columns = Columns::of(dataset)?;
    let mut numbers = Vec::with_capacity(dataset.len());
    // One framework of every scaffold with the number of its first graph, and where those of a digest are.
    let mut found: Vec<(Labelled, usize)> = Vec::new();
    let mut places: HashMap<u64, Vec<u32>> = HashMap::new();
    for (i, graph) in dataset.graphs().iter().enumerate() {
        let mut molecule =
            columns.molecule(graph).map_err(|what| Error::unfit(format!("graph {i}: {what}")))?;
        let framework = framework(&mut molecule);
        let alike = places.entry(framework.digest()).or_default();
        let mut number = None;
        for &place in alike.iter() {
            let (other, first) = &found[place as usize];
            let same = framework.is_isomorphic(other).map_err(|_| {
                Error::unfit(format!(
                    "graph {i}: its scaffold is too symmetric to be compared with that of graph {first}"
                ))
            })?;
            if same {
                number = Some(place);
                break;
            }
        }
        numbers.push(number.unwrap_or_else(|| {
            let place = found.len() as u32;
            alike.push(place);
            found.push((framework, i));
            place
        }));
    }
    Ok(numbers)
}

/// Where the labels of a molecule are.
struct Columns {
    atom: [usize; 4],
    bond: usize,
}

impl Columns {
    fn of(dataset: &Dataset) -> Result<Self> {
        let schema = dataset.schema();
        let place = |columns: &[LabelColumn], name: &str, of: &str| {
            let place = columns.iter().position(|c| c.name() == name && c.words().is_empty());
            place.ok_or_else(|| {
                Error::unfit(format!(
                    "{} has no scaffolds: they are of molecules, and its {of} have no numbers `{name}`; molecules from SMILES and \
                     SDF have the labels {} and {BOND}",
                    dataset.name(),
                    ATOM.join(", ")
                ))
            })
        };
        if schema.directed {
            return Err(Error::unfit(format!(
                "{} has no scaffolds: they are of molecules, and its edges have a direction",
                dataset.name()
            )));
        }
        let mut atom = [0; 4];
        for (at, name) in atom.iter_mut().zip(ATOM) {
            *at = place(&schema.node_labels, name, "nodes")?;
        }
        Ok(Columns { atom, bond: place(&schema.edge_labels, BOND, "edges")? })
    }

    /// The molecule of a graph, with all hydrogens stated.
    fn molecule(&self, graph: &Graph) -> Result<Molecule, String> {
        let n = graph.nodes();
        let mut molecule = Molecule::default();
        molecule.stated.resize(n, true);
        for u in 0..n {
            let labels = graph.node_labels(u);
            let within = |column: usize, low: i64, high: i64| match labels[self.atom[column]] {
                value if (low..=high).contains(&value) => Ok(value),
                value => Err(format!("node {u} is no atom: its label `{}` is {value}", ATOM[column])),
            };
            molecule.atoms.push(within(0, 0, i64::from(HEAVIEST))? as u8);
            molecule.charges.push(within(1, -128, 127)? as i32);
            molecule.lowercase.push(within(2, 0, 1)? == 1);
            molecule.hydrogens.push(within(3, 0, 255)? as u8);
        }
        for (u, v, arc) in graph.edge_list() {
            let kind = graph.edge_labels(arc)[self.bond];
            if u == v || !(1..=i64::from(DATIVE)).contains(&kind) {
                return Err(format!("the edge {u} {v} is no bond: its label `{BOND}` is {kind}"));
            }
            // An edge has no direction, but the electrons of a dative bond go to the metal.
            let swapped = kind == i64::from(DATIVE) && is_metal(molecule.atoms[u]);
            let (a, b) = if swapped { (v, u) } else { (u, v) };
            molecule.bonds.push(Bond::new(a as u32, b as u32, kind as u8));
            // The label counts hydrogens that are atoms too.
            for (atom, other) in [(u, v), (v, u)] {
                if molecule.atoms[other] == HYDROGEN {
                    let rest = molecule.hydrogens[atom].checked_sub(1);
                    molecule.hydrogens[atom] =
                        rest.ok_or_else(|| format!("node {atom} has more hydrogens than its label says"))?;
                }
            }
        }
        Ok(molecule)
    }
}
