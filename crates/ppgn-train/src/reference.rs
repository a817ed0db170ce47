//! Reference energies: the part of a molecule's energy that its elements explain, target by target.
//!
//! An energy such as U0 is, but for a few thousandths, a sum over atoms: carbon adds about -38 hartree wherever it is. A
//! network that has to learn this spends its precision on counting. So `atoms` fits one number per element by least squares
//! on the training set, `y = sum over e of count[e] * energy[e]`, and networks learn what is left, standardised. Predictions
//! have the sum added again.

use crate::data::Goal;
use crate::error::{Error, Result};
use crate::labelling::{Labelling, noun};
use crate::run::Warning;
use crate::settings::{SampleWeights, Settings};
use ppgn_graph::{Dataset, Graph, Schema};
use ppgn_nn::Level;
use serde::{Deserialize, Serialize};

/// The column of node labels that has the elements.
const COLUMN: &str = "atom";

/// A column is a combination of others if this share of its norm, squared, is left without them.
const DEPENDENT: f64 = 1e-10;

/// What is subtracted from targets before they are standardised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum References {
    /// Nothing.
    #[default]
    None,
    /// Reference energies of the elements.
    Atoms,
}

impl References {
    pub(crate) fn is_none(&self) -> bool {
        *self == References::None
    }
}

/// The reference energies of a run; without elements there are none.
///
/// An element that no training graph has is not among them: it counts as 0.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The elements that training graphs have, by their raw labels, ascending.
    pub elements: Vec<i64>,
    /// Per target, the energy of every element.
    pub energies: Vec<Vec<f64>>,
}

impl Reference {
    /// Whether there are none.
    pub fn is_none(&self) -> bool {
        self.elements.is_empty()
    }

    /// The least squares fit on these graphs, each as much as it counts and where it has a value. Where counts of elements
    /// depend on each other, so that many energies fit alike, elements that follow from others get 0.
    ///
    /// # Complexity
    /// O(atoms + graphs * elements^2) per target.
    pub(crate) fn fit(
        dataset: &Dataset,
        goal: &Goal,
        labelling: &Labelling,
        graphs: &[u32],
        weights: &SampleWeights,
    ) -> Result<Self> {
        let Goal::Targets(targets) = goal else {
            return Err(Error::settings(
                "reference energies are for regression; classes and labels have none",
            ));
        };
        if labelling.level != Level::Graph {
            return Err(Error::settings(format!(
                "reference energies are sums over a graph's atoms; a {} has none",
                noun(labelling.level)
            )));
        }
        let Some(column) = column(dataset.schema()) else {
            return Err(Error::settings(format!(
                "{} has no node labels called `{COLUMN}`: reference energies are for molecules, whose elements they are",
                dataset.name()
            )));
        };
        let graph = |&g: &u32| dataset.graph(g as usize);
        let mut elements: Vec<i64> = graphs
            .iter()
            .map(graph)
            .flat_map(|g| (0..g.nodes()).map(move |u| g.node_labels(u)[column]))
            .collect();
        elements.sort_unstable();
        elements.dedup();
        let counts: Vec<Vec<f64>> = graphs.iter().map(|g| counts(graph(g), column, &elements)).collect();
        let energies = (0..targets.len()).map(|t| {
            let known = graphs.iter().zip(&counts).flat_map(|(&g, counts)| {
                labelling.rows(g).map(move |row| (weights.of(g), &counts[..], labelling.values(row)[t]))
            });
            least_squares(known.filter(|(_, _, y)| !y.is_nan()), elements.len())
        });
        Ok(Reference { energies: energies.collect(), elements })
    }

    /// The reference of every target for every graph of a dataset with this schema, graph after graph; nothing where there are
    /// no energies.
    pub(crate) fn of(&self, dataset: &Dataset) -> Vec<Vec<f64>> {
        let Some(column) = column(dataset.schema()).filter(|_| !self.is_none()) else { return Vec::new() };
        let sum = |graph: &Graph| {
            let counts = counts(graph, column, &self.elements);
            self.energies.iter().map(|energies| dot(&counts, energies)).collect()
        };
        dataset.graphs().iter().map(sum).collect()
    }

    /// The elements of a dataset that have no energy, by their symbols or labels, and how many graphs have some.
    fn unknown(&self, dataset: &Dataset) -> (Vec<String>, usize) {
        let Some(column) = column(dataset.schema()).filter(|_| !self.is_none()) else {
            return (Vec::new(), 0);
        };
        let (mut elements, mut graphs) = (Vec::new(), 0);
        for graph in dataset.graphs() {
            let labels = (0..graph.nodes()).map(|u| graph.node_labels(u)[column]);
            let before: Vec<i64> =
                labels.filter(|label| self.elements.binary_search(label).is_err()).collect();
            graphs += usize::from(!before.is_empty());
            elements.extend(before);
        }
        elements.sort_unstable();
        elements.dedup();
        let column = &dataset.schema().node_labels[column];
        (elements.into_iter().map(|label| column.spelt(label)).collect(), graphs)
    }
}

impl Settings {
    /// The reference of every target for every graph of any data; nothing where the run has none.
    pub(crate) fn references(&self, dataset: &Dataset) -> Result<Vec<Vec<f64>>> {
        match self.reference.is_none() {
            true => Ok(Vec::new()),
            // Labels that are words mean what they mean to the run.
            false => Ok(self.reference.of(&self.taken(dataset)?.aligned(&self.schema)?)),
        }
    }

    /// A warning where a dataset has elements that the run has no reference energy of.
    pub fn reference_warning(&self, dataset: &Dataset) -> Option<Warning> {
        let taken = self.taken(dataset).ok().filter(|_| !self.reference.is_none())?;
        let (elements, graphs) = self.reference.unknown(&taken.aligned(&self.schema).ok()?);
        (graphs > 0).then(|| Warning::NoReference { dataset: dataset.name().to_string(), elements, graphs })
    }
}

/// Where the elements are among the node labels.
fn column(schema: &Schema) -> Option<usize> {
    schema.node_labels.iter().position(|column| column.name() == COLUMN)
}

/// How often a graph has each of these elements.
fn counts(graph: &Graph, column: usize, elements: &[i64]) -> Vec<f64> {
    let mut counts = vec![0.0; elements.len()];
    for node in 0..graph.nodes() {
        if let Ok(place) = elements.binary_search(&graph.node_labels(node)[column]) {
            counts[place] += 1.0;
        }
    }
    counts
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The x that minimises the sum of `w (y - c . x)^2` over rows (w, c, y), with 0 for columns that depend on others: by a
/// Cholesky decomposition of the normalised equations with pivots.
fn least_squares<'a>(rows: impl Iterator<Item = (f64, &'a [f64], f64)>, columns: usize) -> Vec<f64> {
    let (mut gram, mut right) = (vec![vec![0.0; columns]; columns], vec![0.0; columns]);
    for (w, c, y) in rows {
        for i in (0..columns).filter(|&i| c[i] != 0.0) {
            right[i] += w * c[i] * y;
            gram[i].iter_mut().zip(c).for_each(|(g, c_j)| *g += w * c[i] * c_j);
        }
    }
    let norms: Vec<f64> = (0..columns).map(|i| gram[i][i].sqrt()).collect();
    let mut open: Vec<usize> = (0..columns).filter(|&i| norms[i] > 0.0).collect();
    let entry = |i: usize, j: usize| gram[i][j] / (norms[i] * norms[j]);
    let mut left = vec![1.0_f64; columns];
    // One row per column of L, over all columns; and the pivots in order.
    let (mut lower, mut pivots): (Vec<Vec<f64>>, Vec<usize>) = (Vec::new(), Vec::new());
    while let Some(&pivot) = open.iter().max_by(|&&a, &&b| left[a].total_cmp(&left[b]).then(b.cmp(&a))) {
        if left[pivot] <= DEPENDENT {
            break;
        }
        open.retain(|&i| i != pivot);
        let root = left[pivot].sqrt();
        let mut row = vec![0.0; columns];
        row[pivot] = root;
        for &i in &open {
            let done: f64 = lower.iter().map(|l: &Vec<f64>| l[i] * l[pivot]).sum();
            row[i] = (entry(pivot, i) - done) / root;
            left[i] -= row[i] * row[i];
        }
        lower.push(row);
        pivots.push(pivot);
    }
    let mut y = vec![0.0; pivots.len()];
    for (k, &p) in pivots.iter().enumerate() {
        let done: f64 = (0..k).map(|m| lower[m][p] * y[m]).sum();
        y[k] = (right[p] / norms[p] - done) / lower[k][p];
    }
    let mut x = vec![0.0; columns];
    for (k, &p) in pivots.iter().enumerate().rev() {
        let done: f64 = pivots[k + 1..].iter().map(|&q| lower[k][q] * x[q]).sum();
        x[p] = (y[k] - done) / lower[k][p];
    }
    pivots.iter().for_each(|&p| x[p] /= norms[p]);
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn_graph::random::Stream;

    /// Rows of a known solution, and what comes out for them.
    fn fitted(rows: &[Vec<f64>], energies: &[f64]) -> Vec<f64> {
        let rows = rows.iter().map(|c| (1.0, &c[..], dot(c, energies)));
        least_squares(rows, energies.len())
    }

    #[test]
    fn a_known_solution_is_found() {
        let mut random = Stream::new(1, "counts", &[]);
        let rows: Vec<Vec<f64>> =
            (0..40).map(|_| (0..4).map(|_| random.below(12) as f64).collect()).collect();
        let energies = [-0.6, -38.1, -54.8, -75.2];
        for (found, energy) in fitted(&rows, &energies).iter().zip(energies) {
            assert!((found - energy).abs() < 1e-10, "{found} {energy}");
        }
    }

    /// Residuals are orthogonal to the counts, which makes the fit the best one; weights are repetitions.
    #[test]
    fn noise_leaves_residuals_orthogonal_to_counts() {
        let mut random = Stream::new(2, "counts", &[]);
        let rows: Vec<(f64, Vec<f64>, f64)> = (0..30)
            .map(|_| {
                let c: Vec<f64> = (0..3).map(|_| random.below(9) as f64).collect();
                (1.0 + random.below(3) as f64, c, random.uniform(-5.0, 5.0))
            })
            .collect();
        let x = least_squares(rows.iter().map(|(w, c, y)| (*w, &c[..], *y)), 3);
        for i in 0..3 {
            let product: f64 = rows.iter().map(|(w, c, y)| w * c[i] * (y - dot(c, &x))).sum();
            assert!(product.abs() < 1e-9, "{product}");
        }
        let repeated: Vec<_> = rows.iter().flat_map(|r| std::iter::repeat_n(r, r.0 as usize)).collect();
        let again = least_squares(repeated.iter().map(|(_, c, y)| (1.0, &c[..], *y)), 3);
        x.iter().zip(&again).for_each(|(a, b)| assert!((a - b).abs() < 1e-10, "{a} {b}"));
    }

    /// A column that is never there, one that is twice another, one that is the sum of two: 0 for what follows from others, and
    /// the same sums.
    #[test]
    fn dependent_columns_are_zero() {
        let mut random = Stream::new(3, "counts", &[]);
        let rows: Vec<Vec<f64>> = (0..25)
            .map(|_| {
                let (a, b) = (random.below(9) as f64, random.below(9) as f64);
                vec![a, 0.0, 2.0 * a, b, a + b]
            })
            .collect();
        let energies = [1.0, 7.0, 3.0, -2.0, 0.5];
        let x = fitted(&rows, &energies);
        assert_eq!(x.iter().filter(|&&x| x == 0.0).count(), 3, "{x:?}");
        for row in &rows {
            assert!((dot(row, &x) - dot(row, &energies)).abs() < 1e-9);
        }
        assert_eq!(least_squares([].into_iter(), 2), [0.0, 0.0]);
    }
}
