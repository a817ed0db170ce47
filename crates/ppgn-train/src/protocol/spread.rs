//! Figures of several runs: mean and deviation of every metric.

use crate::data::Goal;
use crate::metrics::{Metric, Part};
use serde::Serialize;
use std::collections::BTreeMap;

/// Mean and deviation of some numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation (n - 1); `None` for a single number.
    pub std: Option<f64>,
}

impl Spread {
    /// Mean and deviation of these numbers; nothing of none, or where one of them is undefined.
    ///
    /// ```
    /// use ppgn_train::protocol::Spread;
    /// assert_eq!(Spread::of([Some(1.0), Some(2.0), Some(3.0)]), Some(Spread { mean: 2.0, std: Some(1.0) }));
    /// assert_eq!(Spread::of([Some(1.0), None]), None);
    /// ```
    pub fn of(numbers: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        let numbers: Vec<f64> = numbers.into_iter().collect::<Option<_>>()?;
        let n = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / n;
        let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
        (n > 0.0).then(|| Spread { mean, std: (n > 1.0).then(|| (squares / (n - 1.0)).sqrt()) })
    }
}

/// The errors of a target over several runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetSpreads {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// The mean absolute error.
    pub mae: Option<Spread>,
    /// The root mean squared error.
    pub rmse: Option<Spread>,
    /// The coefficient of determination.
    pub r2: Option<Spread>,
}

/// The metrics of one set over several runs; `None` for one that is undefined in a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spreads {
    /// The metrics, by their fields: for classes all of them, for regression the means over the targets; and the loss.
    pub metrics: BTreeMap<&'static str, Option<Spread>>,
    /// For regression, every target.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetSpreads>,
}

impl Spreads {
    /// The spreads of one set per run.
    pub fn of(goal: &Goal, parts: &[&Part]) -> Self {
        let over = |value: &dyn Fn(&Part) -> Option<f64>| Spread::of(parts.iter().map(|part| value(part)));
        let metrics = Metric::of(goal).iter().chain(&[Metric::Loss]);
        let metrics = metrics.map(|&m| (m.field(), over(&|part| m.value(part)))).collect();
        let targets = match goal {
            Goal::Targets(targets) => targets.as_slice(),
            _ => &[],
        };
        let target = |(t, target): (usize, &ppgn_graph::Target)| TargetSpreads {
            name: target.name.clone(),
            unit: target.unit.clone(),
            mae: over(&|part| part.mae.get(t).copied().filter(|e| !e.is_nan())),
            rmse: over(&|part| part.rmse.get(t).copied().flatten()),
            r2: over(&|part| part.r2.get(t).copied().flatten()),
        };
        Spreads { metrics, targets: targets.iter().enumerate().map(target).collect() }
    }

    /// The spread of a metric; `None` where it is undefined.
    pub fn get(&self, metric: Metric) -> Option<Spread> {
        self.metrics.get(metric.field()).copied().flatten()
    }
}
