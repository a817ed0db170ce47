//! QM9: molecules of up to nine atoms of carbon, nitrogen, oxygen and fluorine with their hydrogens, and twelve numbers
//! of quantum chemistry for each.
//!
//! Two readers give the same dataset: `sdf` reads the SDF and CSV files that are published, `npz` an archive of NumPy
//! arrays. Both fill a `Molecule` of [`chem`](crate::chem), which perceives aromatic bonds where the file has none and finds the
//! charges of aromatic atoms; `features` derives the 13 numbers of every atom. `Collector` makes graphs of that: a node per atom with the label `atom` (its atomic number) and the attributes [`FEATURES`], an
//! edge per bond with the label `bond` (1, 2, 3, or 4 for aromatic), positions in angstrom, and the targets [`TARGETS`].

mod array;
mod beside;
mod features;
pub(crate) mod npz;
pub(crate) mod sdf;

use super::{Format, Report, Source};
use crate::chem::resonance::{Resonance, imply_charges};
use crate::chem::{Molecule, assign_radicals, elements};
use crate::dataset::{Dataset, LabelColumn, Provenance, Schema, Target};
use crate::error::Result;
use crate::graph::{Graph, GraphBuilder};

/// The features of an atom, in order: which of QM9's elements it is, its atomic number, whether it accepts and gives
/// hydrogen bonds, whether it is aromatic, its hybridisation, and how many hydrogens it has.
///
/// ```
/// use ppgn_graph::format::qm9::FEATURES;
/// assert_eq!(FEATURES.len(), 13);
/// assert_eq!(FEATURES.iter().position(|f| *f == "donor"), Some(7));
/// ```
pub const FEATURES: [&str; 13] = [
    "h",
    "c",
    "n",
    "o",
    "f",
    "atomic_number",
    "acceptor",
    "donor",
    "aromatic",
    "sp",
    "sp2",
    "sp3",
    "hydrogens",
];

/// The targets and their units, in the order of the paper's Table 2: D is debye, a0 the Bohr radius, Ha hartree.
///
/// ```
/// use ppgn_graph::format::qm9::TARGETS;
/// assert_eq!(TARGETS[0], ("mu", "D"));
/// assert_eq!(TARGETS[7], ("u0", "Ha"));
/// ```
pub const TARGETS: [(&str, &str); 12] = [
    ("mu", "D"),
    ("alpha", "a0^3"),
    ("homo", "Ha"),
    ("lumo", "Ha"),
    ("gap", "Ha"),
    ("r2", "a0^2"),
    ("zpve", "Ha"),
    ("u0", "Ha"),
    ("u", "Ha"),
    ("h", "Ha"),
    ("g", "Ha"),
    ("cv", "cal/(mol K)"),
];

/// The most bonds of one atom: real ones have 8 at most, and what is derived for an atom looks at its neighbours'
/// bonds too.
const MOST_BONDS: usize = 64;

/// Turns molecules into graphs, one after another, and those into a dataset.
#[derive(Default)]
struct Collector {
    /// The molecule that is being read.
    molecule: Molecule,
    /// Where its atoms are, in angstrom.
    positions: Vec<[f64; 3]>,
    /// Whether its file states charges; one that states one states them all.
    stated: bool,
    resonance: Resonance,
    graphs: Vec<Graph>,
    targets: Vec<f64>,
    /// Which elements and bond types occurred.
    atoms: Vec<bool>,
    bonds: [bool; 5],
    notes: Vec<String>,
}

impl Collector {
    /// Forgets the molecule that was being read.
    fn clear(&mut self) {
        self.molecule.clear();
        self.positions.clear();
        self.stated = false;
    }

    /// Sets the charges that bonds imply, where none are stated.
    fn charge(&mut self) {
        if !self.stated {
            imply_charges(&mut self.molecule);
        }
    }

    /// Makes a graph of the molecule, whose atoms, bonds, positions and charges are complete and
    /// [connected](Molecule::connect). The error says what is wrong with it.
    fn add(&mut self, targets: &[f64]) -> Result<(), String> {
        let n = self.molecule.atoms.len();
        if n == 0 {
            return Err("a molecule without atoms".into());
        }
        if let Some(atom) = (0..n).find(|&a| self.molecule.links(a).len() > MOST_BONDS) {
            return Err(format!("an atom with {} bonds", self.molecule.links(atom).len()));
        }
        self.charge();
        let whole = if self.stated { self.molecule.charges.iter().sum() } else { 0 };
        self.resonance.charge(&mut self.molecule, whole);
        // No hydrogen is implicit, so what is missing to an octet is unpaired.
        self.molecule.stated.fill(true);
        assign_radicals(&mut self.molecule);
        let molecule = &self.molecule;
        let mut builder = GraphBuilder::undirected(molecule.atoms.len());
        builder.node_labels(1, molecule.atoms.iter().map(|&z| i64::from(z)).collect());
        builder.node_attributes(features::COUNT, features::features(molecule));
        builder.positions(self.positions.clone());
        builder.edge_label_columns(1);
        for bond in &molecule.bonds {
            builder.edge_with(bond.a, bond.b, &[i64::from(bond.kind)], &[]);
        }
        let (graph, merged) = builder.build_merging().map_err(|e| e.to_string())?;
        if merged.duplicates > 0 {
            return Err(format!("{} bonds between atoms that are bonded already", merged.duplicates));
        }
        self.atoms.resize(usize::from(elements::HEAVIEST) + 1, false);
        molecule.atoms.iter().for_each(|&z| self.atoms[usize::from(z)] = true);
        molecule.bonds.iter().for_each(|b| self.bonds[usize::from(b.kind)] = true);
        self.graphs.push(graph);
        self.targets.extend_from_slice(targets);
        Ok(())
    }

    /// Notes something for the report and the dataset.
    fn note(&mut self, note: String, report: &mut Report) {
        report.note(note.clone());
        self.notes.push(note);
    }

    /// The dataset of all molecules, with targets if `targets` says that they came with some.
    fn finish(self, source: &Source, format: Format, targets: bool) -> Result<Dataset> {
        let seen = |flags: &[bool]| {
            (0..).zip(flags).filter(|(_, seen)| **seen).map(|(i, _)| i).collect::<Vec<i64>>()
        };
        let schema = Schema {
            directed: false,
            node_labels: vec![LabelColumn::new("atom", seen(&self.atoms))],
            node_attributes: FEATURES.map(String::from).to_vec(),
            edge_labels: vec![LabelColumn::new("bond", seen(&self.bonds))],
            edge_attributes: Vec::new(),
            positions: true,
        };
        let names = TARGETS.map(|(name, unit)| Target { name: name.into(), unit: unit.into() });
        Dataset::builder("QM9")
            .graphs(self.graphs)
            .schema(schema)
            .targets(if targets { names.to_vec() } else { Vec::new() }, self.targets)
            .provenance(Provenance {
                source: source.path().display().to_string(),
                format: format.name().into(),
                notes: self.notes,
            })
            .build()
    }
}
