//! The metrics by name: what an epoch is selected by.

use super::epoch::Part;
use crate::data::Goal;

/// A metric by its name in files and options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Metric {
    /// The accuracy for classes, the loss for regression.
    #[default]
    Auto,
    /// The mean loss per graph that is trained on.
    Loss,
    /// Accuracy.
    Accuracy,
    /// Balanced accuracy.
    BalancedAccuracy,
    /// Macro F1.
    MacroF1,
    /// ROC AUC.
    RocAuc,
    /// Average precision.
    AveragePrecision,
    /// Log loss.
    LogLoss,
    /// Brier score.
    Brier,
    /// Mean absolute error; of several targets the mean over them.
    Mae,
    /// Root mean squared error; of several targets the mean over them.
    Rmse,
    /// Coefficient of determination; of several targets the mean over them.
    R2,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Metric; 12] = [
        Metric::Auto,
        Metric::Accuracy,
        Metric::BalancedAccuracy,
        Metric::MacroF1,
        Metric::RocAuc,
        Metric::AveragePrecision,
        Metric::LogLoss,
        Metric::Brier,
        Metric::Mae,
        Metric::Rmse,
        Metric::R2,
        Metric::Loss,
    ];

    /// The metrics of classes, in the order of tables.
    pub const CLASSES: [Metric; 7] = [
        Metric::Accuracy,
        Metric::BalancedAccuracy,
        Metric::MacroF1,
        Metric::RocAuc,
        Metric::AveragePrecision,
        Metric::LogLoss,
        Metric::Brier,
    ];

    /// The metrics of regression, in the order of tables.
    pub const VALUES: [Metric; 3] = [Metric::Mae, Metric::Rmse, Metric::R2];

    /// Its field in files.
    pub fn field(self) -> &'static str {
        match self {
            Metric::Auto => "auto",
            Metric::Loss => "loss",
            Metric::Accuracy => "accuracy",
            Metric::BalancedAccuracy => "balanced_accuracy",
            Metric::MacroF1 => "macro_f1",
            Metric::RocAuc => "roc_auc",
            Metric::AveragePrecision => "average_precision",
            Metric::LogLoss => "log_loss",
            Metric::Brier => "brier",
            Metric::Mae => "mae",
            Metric::Rmse => "rmse",
            Metric::R2 => "r2",
        }
    }

    /// Its name as an option.
    pub fn name(self) -> &'static str {
        match self {
            Metric::BalancedAccuracy => "balanced-accuracy",
            Metric::MacroF1 => "macro-f1",
            Metric::RocAuc => "roc-auc",
            Metric::AveragePrecision => "average-precision",
            Metric::LogLoss => "log-loss",
            metric => metric.field(),
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Metric::Auto => "accuracy or loss",
            Metric::Loss => "loss",
            Metric::Accuracy => "accuracy",
            Metric::BalancedAccuracy => "balanced accuracy",
            Metric::MacroF1 => "macro F1",
            Metric::RocAuc => "ROC AUC",
            Metric::AveragePrecision => "average precision",
            Metric::LogLoss => "log loss",
            Metric::Brier => "Brier score",
            Metric::Mae => "mean absolute error",
            Metric::Rmse => "root mean squared error",
            Metric::R2 => "R2",
        }
    }

    /// Whether it is shown in percent.
    pub fn is_share(self) -> bool {
        matches!(self, Metric::Accuracy | Metric::BalancedAccuracy)
    }

    /// Whether higher is better.
    pub fn is_gain(self) -> bool {
        !matches!(self, Metric::Loss | Metric::LogLoss | Metric::Brier | Metric::Mae | Metric::Rmse)
    }

    /// The metric that [`Auto`](Metric::Auto) stands for; any other is itself.
    pub fn resolved(self, goal: &Goal) -> Metric {
        match (self, goal) {
            (Metric::Auto, Goal::Classes(_) | Goal::Labels(_)) => Metric::Accuracy,
            (Metric::Auto, Goal::Targets(_)) => Metric::Loss,
            (metric, _) => metric,
        }
    }

    /// The metrics that a goal has, besides the loss.
    pub fn of(goal: &Goal) -> &'static [Metric] {
        match goal {
            Goal::Classes(_) | Goal::Labels(_) => &Metric::CLASSES,
            Goal::Targets(_) => &Metric::VALUES,
        }
    }

    /// Its value for a set of graphs; `None` where it is undefined there, or where the run does not have it.
    pub fn value(self, part: &Part) -> Option<f64> {
        // Nothing where one of the targets has no value.
        let over_targets = |values: &[Option<f64>]| super::mean(values.iter().copied());
        match self {
            Metric::Auto => part.accuracy.or(Some(-part.loss)),
            Metric::Loss => Some(part.loss),
            Metric::Accuracy => part.accuracy,
            Metric::BalancedAccuracy => part.balanced_accuracy,
            Metric::MacroF1 => part.macro_f1,
            Metric::RocAuc => part.roc_auc.flatten(),
            Metric::AveragePrecision => part.average_precision.flatten(),
            Metric::LogLoss => part.log_loss,
            Metric::Brier => part.brier,
            Metric::Mae => super::mean(part.mae.iter().map(|&e| Some(e).filter(|e| !e.is_nan()))),
            Metric::Rmse => over_targets(&part.rmse),
            Metric::R2 => over_targets(&part.r2),
        }
    }

    /// Its value with the sign that makes higher better.
    pub fn score(self, part: &Part) -> Option<f64> {
        let value = self.value(part)?;
        Some(if self.is_gain() { value } else { -value })
    }
}
