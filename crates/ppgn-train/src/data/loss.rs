//! The loss of a run: scores against what is known of each graph, node or pair.

use super::{Goal, Prepared};
use ppgn_nn::{Evaluated, Level, Loss, Matrix, Terms};

/// A loss in which every graph counts as much as its weight, if there are weights.
fn counted<'a>(loss: Loss<'a>, weights: &'a Option<Vec<f64>>) -> Loss<'a> {
    match weights {
        Some(weights) => loss.graph_weights(weights),
        None => loss,
    }
}

/// What a loss compares scores with, row by row.
pub(crate) struct KnownRows {
    /// The classes, where they are known; nothing for targets.
    classes: Vec<Option<usize>>,
    /// The targets or labels, NaN where one is not known; nothing for classes.
    values: Vec<f64>,
    /// How much each row counts, where that differs.
    samples: Option<Vec<f64>>,
}

impl KnownRows {
    /// The same among `items` rows, row i at `places[i]`; nothing is known of the others.
    fn among(self, places: &[usize], items: usize, width: usize) -> Self {
        let mut classes = vec![None; if width == 0 { items } else { 0 }];
        places.iter().zip(self.classes).for_each(|(&place, class)| classes[place] = class);
        let mut values = vec![f64::NAN; items * width];
        for (&place, row) in places.iter().zip(self.values.chunks_exact(width.max(1))) {
            values[place * width..][..width].copy_from_slice(row);
        }
        let spread = |weights: Vec<f64>| {
            let mut all = vec![1.0; items];
            places.iter().zip(weights).for_each(|(&place, weight)| all[place] = weight);
            all
        };
        KnownRows { classes, values, samples: self.samples.map(spread) }
    }
}

impl Prepared {
    /// What is known of these graphs, row by row.
    pub(crate) fn known(&self, graphs: &[u32]) -> KnownRows {
        let weights = || self.labelling.weighted(graphs, &self.sample_weights).map(|(w, _)| w).collect();
        KnownRows {
            classes: self.classes(graphs),
            values: self.standardised(graphs),
            samples: (!self.sample_weights.is_none()).then(weights),
        }
    }

    /// The loss of scores for these graphs, or for all their nodes or pairs, summed over what is known of them.
    pub(crate) fn loss(&self, scores: &Matrix, graphs: &[u32]) -> ppgn_nn::Result<Evaluated> {
        self.loss_of(scores, self.placed(graphs, scores.rows()))
    }

    /// The same, and the scores of what is known, row by row.
    pub(crate) fn measured(&self, scores: &Matrix, graphs: &[u32]) -> ppgn_nn::Result<(f64, Vec<f64>)> {
        Ok((self.loss(scores, graphs)?.value, self.of_rows(graphs, scores.to_f64())))
    }

    /// The loss of these graphs as plain matrices, for a device.
    pub(crate) fn terms(&self, graphs: &[u32]) -> ppgn_nn::Result<Terms> {
        let nodes = |&graph: &u32| self.dataset.graph(graph as usize).nodes();
        let items: usize = graphs.iter().map(|graph| self.network.level.items(nodes(graph))).sum();
        self.with_loss(self.placed(graphs, items), |loss| loss.terms(items, self.network.outputs))
    }

    /// What is known of these graphs, among all of their items.
    fn placed(&self, graphs: &[u32], items: usize) -> KnownRows {
        let known = self.known(graphs);
        if self.network.level == Level::Graph {
            return known;
        }
        // What is known stands among what is not.
        let places = self.labelling.places_in(&self.dataset, graphs);
        let width = if let Goal::Classes(_) = &self.goal { 0 } else { self.goal.outputs() };
        known.among(&places, items, width)
    }

    /// The loss of scores against what is known of each row.
    pub(crate) fn loss_of(&self, scores: &Matrix, known: KnownRows) -> ppgn_nn::Result<Evaluated> {
        self.with_loss(known, |loss| loss.of(scores))
    }

    /// Does something with the loss against what is known of each row.
    fn with_loss<T>(&self, known: KnownRows, work: impl FnOnce(Loss<'_>) -> T) -> T {
        let KnownRows { classes, values, samples } = known;
        if let Goal::Classes(_) = &self.goal {
            let present: Vec<bool> = classes.iter().map(Option::is_some).collect();
            let classes: Vec<usize> = classes.into_iter().map(Option::unwrap_or_default).collect();
            let loss = counted(Loss::cross_entropy(&classes), &samples).present(&present);
            return match self.weights.is_empty() {
                true => work(loss),
                false => work(loss.column_weights(&self.weights)),
            };
        }
        let present: Vec<bool> = values.iter().map(|y| !y.is_nan()).collect();
        match &self.goal {
            Goal::Labels(_) => {
                let loss = counted(Loss::binary_cross_entropy(&values), &samples).present(&present);
                match self.weights.is_empty() {
                    true => work(loss),
                    false => work(loss.positive_weights(&self.weights)),
                }
            }
            _ => work(counted(Loss::absolute_error(&values), &samples).present(&present)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;
    use crate::settings::{Division, Overrides, Request, Settings};
    use ppgn_graph::generate::generate;
    use ppgn_graph::random::Stream;
    use ppgn_nn::{BlockConfig, Precision, SpaceChoice, Values};

    /// The whole path at the level of nodes and of pairs: what is known is found among the scores, and the gradient of the loss
    /// with respect to parameters is that of finite differences, on both spaces.
    #[test]
    fn gradients_per_node_and_pair_match_finite_differences() {
        for (spec, level) in
            [("short-cycles:n=6,count=12", Level::Node), ("distances:n=5,count=12", Level::Pair)]
        {
            let data = generate(spec).unwrap();
            for space in [SpaceChoice::Dense, SpaceChoice::Quotient] {
                let overrides = Overrides {
                    level: Some(level),
                    space: Some(space),
                    precision: Some(Precision::F64),
                    blocks: Some(vec![BlockConfig::new(4); 2]),
                    ..Overrides::default()
                };
                let request =
                    Request { overrides, division: Division::Holdout(0.5), ..Request::new("d", &data) };
                let settings = Settings::resolve(&request).unwrap();
                let prepared = Prepared::new(&Session::default(), &settings, &data).unwrap();
                let mut network = settings.network.init(3, Precision::F64).unwrap();
                let chosen = [7, 2, 5];
                let batch = prepared.batch(&chosen).unwrap();
                // Biases of 0 would put rows of zeros on the kink of a ReLU.
                let mut random = Stream::new(1, "places", &[]);
                let arrays = network.parameters().unwrap().into_iter().map(|(_, values)| {
                    Values::F64(values.to_f64().iter().map(|x| x + random.uniform(-0.2, 0.2)).collect())
                });
                let arrays: Vec<Values> = arrays.collect();
                network.set_parameters(arrays.clone()).unwrap();
                let loss = |scores: &Matrix| prepared.loss(scores, &chosen);
                let step = network.backward(&batch, loss).unwrap();
                for _ in 0..40 {
                    let a = random.below(arrays.len());
                    let at = random.below(arrays[a].to_f64().len());
                    let analytic = step.gradients[a].to_f64()[at];
                    let mut moved = |by: f64| {
                        let mut arrays = arrays.clone();
                        if let Values::F64(v) = &mut arrays[a] {
                            v[at] += by;
                        }
                        network.set_parameters(arrays).unwrap();
                        loss(&network.forward(&batch).unwrap()).unwrap().value
                    };
                    // A step may cross a kink of a ReLU, or of the absolute error; the best match has not.
                    let off =
                        [1e-5, 1e-6, 1e-7].map(|h| ((moved(h) - moved(-h)) / (2.0 * h) - analytic).abs());
                    let close = |off: &f64| *off < 1e-5 * analytic.abs().max(1.0);
                    assert!(off.iter().any(close), "{spec} {space:?} {a}[{at}]: {analytic} {off:?}");
                }
            }
        }
    }
}
