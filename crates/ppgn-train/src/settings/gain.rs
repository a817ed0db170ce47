//! The gain of initial weights as a setting: a number, or `none` for the usual weights where a preset has a gain.

use serde::{Deserialize, Serialize};

/// A number in files and on the command line, or the word `none`.
///
/// ```
/// use ppgn_train::Overrides;
/// let gain = |text| Overrides::from_toml(text, "mine.toml").map(|o| o.init_gain.map(Option::<f64>::from));
/// assert_eq!(gain("init_gain = 3")?, Some(Some(3.0)));
/// assert_eq!(gain("init_gain = \"none\"")?, Some(None));
/// assert!(gain("init_gain = \"much\"").is_err());
/// # Ok::<(), ppgn_train::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "the gain is a number, or none")]
pub enum Gain {
    /// Weights are normal, with variance gain^2 / fan-in.
    Normal(f64),
    /// Weights are Xavier uniform: the word `none`.
    #[serde(with = "none")]
    Xavier,
}

mod none {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str("none")
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<(), D::Error> {
        match String::deserialize(from)?.as_str() {
            "none" => Ok(()),
            _ => Err(D::Error::custom("not none")),
        }
    }
}

impl From<Gain> for Option<f64> {
    fn from(gain: Gain) -> Self {
        match gain {
            Gain::Normal(gain) => Some(gain),
            Gain::Xavier => None,
        }
    }
}

impl std::str::FromStr for Gain {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Gain::Xavier),
            _ => text.parse().map(Gain::Normal).map_err(|_| format!("`{text}` is neither a number nor none")),
        }
    }
}
