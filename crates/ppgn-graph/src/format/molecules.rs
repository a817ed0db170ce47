//! Molecules of any origin as a dataset: what SDF and SMILES have in common.
//!
//! A node per atom of the file, with the labels [`NODE_LABELS`]; an edge per bond with [`EDGE_LABELS`]. All are small
//! integers, so that encodings give each value a channel and colours are exact. Hydrogens stay as the file has them, atoms
//! of their own or not; the label `hydrogens` counts both. Coordinates are positions only where they are in space: those of
//! a drawing are not distances.

use super::columns::Learned;
use super::source::Source;
use super::{Entry, Format, Report, provenance};
use crate::chem::elements::HEAVIEST;
use crate::chem::hybridisation::hybridisation;
use crate::chem::hydrogen_bonds::Atom;
use crate::chem::{Molecule, derive};
use crate::dataset::{Dataset, LabelColumn, Schema};
use crate::error::Result;
use crate::format::budget::Meter;
use crate::graph::{Graph, GraphBuilder};
use std::collections::BTreeSet;

/// What is known of an atom: atomic number (0 for any), formal charge, whether it is aromatic, hydrogens bonded to it, the orbitals
/// it mixes (1 s, 2 sp, 3 sp2, 4 sp3, 5 sp3d, 6 sp3d2, 0 unknown), and whether it is in a ring, accepts and gives hydrogen
/// bonds. Each with the values that its column lists even if they do not occur, so that a network
/// trained on few molecules takes others.
const NODE_LABELS: [(&str, &[i64]); 8] = [
    ("atom", &[]),
    ("charge", &[-1, 0, 1]),
    ("aromatic", &[0, 1]),
    ("hydrogens", &[0, 1, 2, 3]),
    ("hybridisation", &[2, 3, 4]),
    ("ring", &[0, 1]),
    ("acceptor", &[0, 1]),
    ("donor", &[0, 1]),
];

/// What is known of a bond: its type (1, 2, 3, or 4 for aromatic; 5 of order 4, 6 dative), and whether it is in a ring.
const EDGE_LABELS: [(&str, &[i64]); 2] = [("bond", &[1, 2, 3, 4]), ("ring", &[0, 1])];

/// The most bonds of one atom: real ones have 8 at most, and what is derived for an atom looks at its neighbours' bonds
/// too.
const MOST_BONDS: usize = 64;

/// What coordinates are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dimension {
    /// A drawing.
    Paper,
    /// Places in space.
    Space,
    /// It could be either: a flat molecule without a mark.
    Either,
}

/// Turns molecules into graphs, one after another, and those into a dataset.
pub(crate) struct Molecules {
    graphs: Vec<Graph>,
    names: Vec<Option<String>>,
    positions: Vec<Vec<[f64; 3]>>,
    /// How many molecules have coordinates of each kind.
    paper: usize,
    space: usize,
    values: Values,
    stereo: usize,
    isotopes: usize,
    beyond_valence: Tally,
    too_many_rings: Tally,
    meter: Meter,
    metered: usize,
    max_nodes: u64,
}

/// A count, and the first line.
#[derive(Default)]
struct Tally {
    count: usize,
    first: u64,
}

impl Tally {
    fn add(&mut self, found: bool, line: u64) {
        if found {
            self.first = if self.count == 0 { line } else { self.first };
            self.count += 1;
        }
    }
}

impl Molecules {
    pub(crate) fn new(source: &Source) -> Self {
        Molecules {
            graphs: Vec::new(),
            names: Vec::new(),
            positions: Vec::new(),
            paper: 0,
            space: 0,
            values: Values::default(),
            stereo: 0,
            isotopes: 0,
            beyond_valence: Tally::default(),
            too_many_rings: Tally::default(),
            meter: source.meter(),
            metered: 0,
            max_nodes: source.limits().max_nodes,
        }
    }

    /// Counts what the file says and graphs do not keep.
    pub(crate) fn see(&mut self, stereo: bool, isotopes: bool) {
        self.stereo += usize::from(stereo);
        self.isotopes += usize::from(isotopes);
    }

    /// Derives everything from a molecule as it was read, and makes a graph of it. The error says what is wrong with it;
    /// `line` is where it begins.
    pub(crate) fn add(
        &mut self,
        molecule: &mut Molecule,
        positions: Option<(&[[f64; 3]], Dimension)>,
        line: u64,
    ) -> Result<(), String> {
        check(molecule, self.max_nodes)?;
        let found = derive(molecule)?;
        let graph = graph(molecule)?;
        self.beyond_valence.add(found.beyond_valence, line);
        self.too_many_rings.add(found.too_many_rings, line);
        self.values.see(&graph);
        self.graphs.push(graph);
        self.names.push(None);
        if let Some((positions, dimension)) = positions {
            self.paper += usize::from(dimension == Dimension::Paper);
            self.space += usize::from(dimension == Dimension::Space);
            self.positions.push(positions.to_vec());
        }
        Ok(())
    }

    /// Names the molecule that was added last.
    pub(crate) fn name(&mut self, name: String) {
        if let Some(last) = self.names.last_mut().filter(|_| !name.is_empty()) {
            *last = Some(name);
        }
    }

    /// Counts the memory of graphs that come out of an archive.
    pub(crate) fn meter(&mut self) -> Result<()> {
        for graph in &self.graphs[self.metered..] {
            self.meter.add(graph)?;
        }
        self.metered = self.graphs.len();
        Ok(())
    }

    /// The dataset of all molecules, with what is to be learned of them.
    pub(crate) fn finish(
        mut self,
        source: &Source,
        entry: &Entry,
        format: Format,
        learned: Learned,
        report: &mut Report,
    ) -> Result<Dataset> {
        self.notes(report);
        learned.notes.iter().for_each(|note| report.note(note.clone()));
        let in_space = self.space > 0 && self.paper == 0;
        if in_space {
            let places = std::mem::take(&mut self.positions);
            let graphs = std::mem::take(&mut self.graphs);
            self.graphs = graphs.into_iter().zip(places).map(|(graph, p)| graph.with_positions(p)).collect();
        }
        let builder = Dataset::builder(entry.stem())
            .graphs(self.graphs)
            .schema(self.values.schema(in_space))
            .provenance(provenance(source, format, report));
        let named = self.names.iter().any(Option::is_some);
        let builder = if named { builder.ids(self.names) } else { builder };
        learned.apply(builder).build()
    }

    fn notes(&self, report: &mut Report) {
        if self.stereo > 0 {
            report
                .note(format!("stereo marks of {} molecules are no features and were left out", self.stereo));
        }
        if self.isotopes > 0 {
            report.note(format!("isotopes in {} molecules are no features and were left out", self.isotopes));
        }
        let Tally { count, first } = self.beyond_valence;
        if count > 0 {
            report.note(format!(
                "{count} molecules have an atom with more bonds than its element makes, the first in line {first}; it \
                 got no hydrogens"
            ));
        }
        let Tally { count, first } = self.too_many_rings;
        if count > 0 {
            report.note(format!(
                "{count} molecules have too many rings to perceive aromaticity, the first in line {first}"
            ));
        }
        if self.paper > 0 && self.space > 0 {
            report.note(format!(
                "coordinates were left out: {} molecules have them on paper, {} in space",
                self.paper, self.space
            ));
        }
    }
}

/// The values that labels of molecules have, column by column: those that a column always lists, and those that occurred.
pub(crate) struct Values {
    nodes: Vec<BTreeSet<i64>>,
    edges: Vec<BTreeSet<i64>>,
}

impl Default for Values {
    fn default() -> Self {
        let sets = |labels: &[(&str, &[i64])]| {
            labels.iter().map(|(_, values)| values.iter().copied().collect()).collect()
        };
        Values { nodes: sets(&NODE_LABELS), edges: sets(&EDGE_LABELS) }
    }
}

impl Values {
    /// Whether a graph has the columns of a molecule, and nothing else.
    pub(crate) fn fit(&self, graph: &Graph) -> bool {
        !graph.is_directed()
            && graph.node_label_columns() == self.nodes.len()
            && graph.edge_label_columns() == self.edges.len()
            && graph.node_attribute_columns() + graph.edge_attribute_columns() == 0
    }

    /// Counts in the labels of a molecule.
    pub(crate) fn see(&mut self, graph: &Graph) {
        for u in 0..graph.nodes() {
            note(&mut self.nodes, graph.node_labels(u));
        }
        for (_, _, arc) in graph.edge_list() {
            note(&mut self.edges, graph.edge_labels(arc));
        }
    }

    /// The features of molecules with these values.
    pub(crate) fn schema(self, positions: bool) -> Schema {
        let columns = |labels: &[(&str, &[i64])], values: Vec<BTreeSet<i64>>| {
            labels.iter().zip(values).map(|((name, _), set)| LabelColumn::new(*name, set)).collect()
        };
        Schema {
            directed: false,
            node_labels: columns(&NODE_LABELS, self.nodes),
            node_attributes: Vec::new(),
            edge_labels: columns(&EDGE_LABELS, self.edges),
            edge_attributes: Vec::new(),
            positions,
        }
    }
}

/// Lists the bonds of a molecule as it was read; the error says what no molecule has.
pub(crate) fn check(molecule: &mut Molecule, max_nodes: u64) -> Result<(), String> {
    let n = molecule.atoms.len();
    if n == 0 {
        return Err("a molecule without atoms".into());
    }
    if n as u64 > max_nodes {
        return Err(format!("{n} atoms, more than the limit of {max_nodes}"));
    }
    molecule.connect();
    match (0..n).find(|&a| molecule.links(a).len() > MOST_BONDS) {
        Some(atom) => Err(format!("an atom with {} bonds", molecule.links(atom).len())),
        None => Ok(()),
    }
}

/// The graph of a molecule from which everything was derived.
pub(crate) fn graph(molecule: &Molecule) -> Result<Graph, String> {
    let n = molecule.atoms.len();
    debug_assert!(molecule.atoms.iter().all(|&z| z <= HEAVIEST));
    let orbitals = hybridisation(molecule);
    let mut labels = Vec::with_capacity(n * NODE_LABELS.len());
    for (a, &mixed) in orbitals.iter().enumerate() {
        let atom = Atom::new(molecule, a);
        labels.extend([
            i64::from(molecule.atoms[a]),
            i64::from(molecule.charges[a]),
            i64::from(molecule.is_aromatic(a)),
            molecule.hydrogens(a) as i64,
            i64::from(mixed),
            i64::from(molecule.is_cyclic(a)),
            i64::from(atom.is_acceptor()),
            i64::from(atom.is_donor()),
        ]);
    }
    let mut builder = GraphBuilder::undirected(n);
    builder.node_labels(NODE_LABELS.len(), labels);
    builder.edge_label_columns(EDGE_LABELS.len());
    for (bond, &cyclic) in molecule.bonds.iter().zip(&molecule.cyclic) {
        builder.edge_with(bond.a, bond.b, &[i64::from(bond.kind), i64::from(cyclic)], &[]);
    }
    let (graph, merged) = builder.build_merging().map_err(|e| e.to_string())?;
    match merged.duplicates {
        0 => Ok(graph),
        count => Err(format!("{count} bonds between atoms that are bonded already")),
    }
}

fn note(sets: &mut [BTreeSet<i64>], labels: &[i64]) {
    for (set, &label) in sets.iter_mut().zip(labels) {
        if !set.contains(&label) {
            set.insert(label);
        }
    }
}
