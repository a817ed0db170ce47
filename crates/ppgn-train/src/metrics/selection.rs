//! What the best epoch of a run is selected by.

use super::Metric;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What the best epoch is selected by: a metric, and whether it must be measured on a validation set.
///
/// Its text is a metric (`roc-auc`), the word `validation`, or both with a comma between them.
///
/// ```
/// use ppgn_train::metrics::{Metric, Selection};
/// let both: Selection = "validation,roc-auc".parse()?;
/// assert_eq!(both, Selection { metric: Metric::RocAuc, validation: true });
/// assert_eq!("validation".parse::<Selection>()?.metric, Metric::Auto);
/// assert!("auc".parse::<Selection>().unwrap_err().contains("roc-auc"));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Selection {
    /// The metric.
    pub metric: Metric,
    /// Whether only a validation set will do. Otherwise it is the validation set, else the test set, else the training set.
    pub validation: bool,
}

const VALIDATION: &str = "validation";

impl Selection {
    /// Whether it is the default: accuracy, or the loss of a regression, on whatever set there is.
    pub fn is_default(&self) -> bool {
        *self == Selection::default()
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.validation, self.metric) {
            (false, metric) => f.write_str(metric.name()),
            (true, Metric::Auto) => f.write_str(VALIDATION),
            (true, metric) => write!(f, "{VALIDATION},{}", metric.name()),
        }
    }
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut selection = Selection::default();
        for word in text.split(',').map(str::trim) {
            match Metric::ALL.iter().find(|metric| metric.name() == word) {
                Some(&metric) if selection.metric == Metric::Auto => selection.metric = metric,
                None if word == VALIDATION && !selection.validation => selection.validation = true,
                Some(_) => return Err(format!("`{text}` names more than one metric")),
                None => {
                    let names: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
                    return Err(format!(
                        "`{word}` is not a metric; there are {}; and `{VALIDATION}` stands for the validation set",
                        names.join(", ")
                    ));
                }
            }
        }
        Ok(selection)
    }
}

impl From<Selection> for String {
    fn from(selection: Selection) -> Self {
        selection.to_string()
    }
}

impl TryFrom<String> for Selection {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        for &metric in &Metric::ALL {
            for validation in [false, true] {
                let selection = Selection { metric, validation };
                assert_eq!(selection.to_string().parse(), Ok(selection));
            }
        }
        for wrong in ["", "test", "validation,validation", "loss,brier", "ROC-AUC"] {
            assert!(wrong.parse::<Selection>().is_err(), "{wrong}");
        }
    }
}
