//! Input encodings: from a sparse [`Graph`] to the rows that a network takes.
//!
//! A graph with n nodes becomes n*n rows, one per ordered pair of nodes: `[n*n, channels]`, row-major,
//! pair (i, j) at row i*n + j. Three encodings are known: `paper` (Section 6: node features on the diagonal, the
//! adjacency matrix last), `authors` (what the paper's authors' code does, quirks included) and `qm9` (their input for
//! molecules). An [`Encoding`] is what a user asks for; with a dataset's [`Schema`] it becomes an [`Encoder`] with a
//! fixed list of channels, which encodes any graph of that schema and names what it does not know. [`Structure`] adds
//! channels beyond the paper to any of them.

mod authors;
mod overflow;
mod paper;
mod qm9;
mod structure;

pub use structure::Structure;

use crate::dataset::Schema;
use crate::error::{Error, Result};
use crate::float::Float;
use crate::graph::Graph;
use serde::{Deserialize, Serialize};

// ppgn-nn still uses this name: delete it when it follows.
#[doc(hidden)]
pub use crate::float::Float as Real;

/// The encodings by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Section 6 of the paper.
    #[default]
    Paper,
    /// The authors' code for classification.
    Authors,
    /// The authors' code for QM9.
    Qm9,
}

impl Kind {
    /// All encodings.
    pub const ALL: [Kind; 3] = [Kind::Paper, Kind::Authors, Kind::Qm9];

    /// Its name, as in `--encoding paper`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Paper => "paper",
            Kind::Authors => "authors",
            Kind::Qm9 => "qm9",
        }
    }
}

impl std::str::FromStr for Kind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Kind::ALL.into_iter().find(|k| k.name() == name).ok_or_else(|| {
            Error::call(format!("`{name}` is not an encoding; there are paper, authors and qm9"))
        })
    }
}

/// An encoding by name, with its options.
///
/// ```
/// use ppgn_graph::encode::{Encoding, Kind};
/// use ppgn_graph::{Graph, Schema};
/// let path = Graph::undirected(3, [(0, 1), (1, 2)])?;
/// let encoder = Encoding { identity: true, ..Encoding::from(Kind::Paper) }.encoder(&Schema::of(&[path.clone()])?)?;
/// assert_eq!(encoder.channels(), ["identity", "adjacency"]);
/// let rows: Vec<f32> = encoder.rows(&path)?;                  // [9, 2]
/// assert_eq!(rows[..6], [1., 0., 0., 1., 0., 0.]);            // pairs (0,0), (0,1), (0,2)
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoding {
    /// Which encoding.
    pub kind: Kind,
    /// `paper` only: the identity matrix as a further channel.
    #[serde(default)]
    pub identity: bool,
    /// `paper` only: the transposed adjacency as a further channel (for directed graphs).
    #[serde(default)]
    pub transposed: bool,
    /// `paper` only: the distances between all nodes as a further channel (for graphs with positions).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub distances: bool,
    /// Further channels of any encoding, behind its own.
    #[serde(default, skip_serializing_if = "Structure::is_empty")]
    pub structure: Structure,
}

impl From<Kind> for Encoding {
    fn from(kind: Kind) -> Self {
        Encoding { kind, ..Encoding::default() }
    }
}

impl Encoding {
    /// The encoder of this encoding for graphs with these features.
    pub fn encoder(self, schema: &Schema) -> Result<Encoder> {
        if self.kind != Kind::Paper && (self.identity || self.transposed || self.distances) {
            return Err(Error::call(format!(
                "the encoding `{}` has a fixed list of channels: the identity, the transposed adjacency and distances go \
                 with `paper`",
                self.kind.name()
            )));
        }
        let plan = match self.kind {
            Kind::Paper => Plan::Paper(paper::Paper::new(schema, self)?),
            Kind::Authors => Plan::Authors(authors::Authors::new(schema)?),
            Kind::Qm9 => Plan::Qm9(qm9::Qm9::new(schema)?),
        };
        let (mut channels, ignored) = match &plan {
            Plan::Paper(p) => (p.channels(schema), p.ignored(schema)),
            Plan::Authors(a) => (a.channels(), authors::ignored(schema)),
            Plan::Qm9(_) => (qm9::channels(), Vec::new()),
        };
        let own = channels.len();
        channels.extend(self.structure.channels());
        Ok(Encoder { encoding: self, schema: schema.clone(), plan, own, channels, ignored })
    }
}

#[derive(Debug, Clone)]
enum Plan {
    Paper(paper::Paper),
    Authors(authors::Authors),
    Qm9(qm9::Qm9),
}

/// Turns graphs of one schema into rows.
#[derive(Debug, Clone)]
pub struct Encoder {
    encoding: Encoding,
    schema: Schema,
    plan: Plan,
    /// How many channels come before the structural ones.
    own: usize,
    channels: Vec<String>,
    ignored: Vec<String>,
}

impl Encoder {
    /// The encoding.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The features of the graphs that it takes.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What each channel holds.
    pub fn channels(&self) -> &[String] {
        &self.channels
    }

    /// Features of the data that this encoding leaves out.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// How many numbers [`rows`](Encoder::rows) gives for a graph with n nodes; an error where n*n*channels cannot be.
    pub fn length(&self, nodes: usize) -> Result<usize> {
        let length = nodes.checked_mul(nodes).and_then(|pairs| pairs.checked_mul(self.channels.len()));
        length.filter(|&l| l <= isize::MAX as usize / 8).ok_or_else(|| {
            Error::unfit(format!(
                "a graph with {nodes} nodes has {nodes} * {nodes} pairs with {} channels each: too large to encode",
                self.channels.len()
            ))
        })
    }

    /// The rows of a graph, `[n*n, channels]`. O(n^2 * channels) for the zeros, O(n + m) for the rest
    /// (`qm9`: O(n^2), distances are everywhere; shortest paths O(n * m), walks O(n * m) each).
    ///
    /// A graph with a label or feature that the schema lacks is an error that names it, and so is a number that is not finite
    /// as a `T` ([`Error::Overflow`]).
    pub fn rows<T: Float>(&self, graph: &Graph) -> Result<Vec<T>> {
        let mut rows = vec![T::default(); self.length(graph.nodes())?];
        self.fill(graph, &mut rows)?;
        Ok(rows)
    }

    /// The same into a slice of zeros of the right length.
    pub fn fill<T: Float>(&self, graph: &Graph, rows: &mut [T]) -> Result<()> {
        let length = self.length(graph.nodes())?;
        if rows.len() != length {
            return Err(Error::call(format!("{} places for {length} numbers", rows.len())));
        }
        self.schema.check(graph).map_err(Error::unfit)?;
        self.fits_in::<T>(graph, None)?;
        let (own, all) = (self.own, self.channels.len());
        let mut grid = Grid { rows, nodes: graph.nodes(), stride: all, channels: 0..own };
        match &self.plan {
            Plan::Paper(p) => p.fill(&self.schema, graph, &mut grid),
            Plan::Authors(a) => a.fill(graph, &mut grid),
            Plan::Qm9(q) => q.fill(graph, &mut grid),
        }
        grid.channels = own..all;
        self.encoding.structure.fill(graph, &mut grid);
        Ok(())
    }
}

/// The rows being filled, addressed by pair and channel.
struct Grid<'a, T> {
    rows: &'a mut [T],
    nodes: usize,
    /// All channels of a row.
    stride: usize,
    /// Those that are being filled.
    channels: std::ops::Range<usize>,
}

impl<T: Float> Grid<'_, T> {
    /// The channels of pair (i, j) that are being filled.
    fn pair(&mut self, i: usize, j: usize) -> &mut [T] {
        let start = (i * self.nodes + j) * self.stride;
        &mut self.rows[start + self.channels.start..start + self.channels.end]
    }
}
