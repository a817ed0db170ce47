//! The setting that selects a space, and which spaces a network can run on.

use crate::config::PpgnConfig;
use crate::error::{Error, Result};
use crate::model::Description;
use serde::{Deserialize, Serialize};

/// The requested space.
///
/// ```
/// use ppgn_nn::SpaceChoice;
/// assert_eq!("quotient".parse::<SpaceChoice>()?, SpaceChoice::Quotient);
/// assert!("sparse".parse::<SpaceChoice>().unwrap_err().is_call());
/// # Ok::<(), ppgn_nn::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpaceChoice {
    /// Whichever is cheaper.
    #[default]
    Auto,
    /// One row per pair.
    Dense,
    /// One row per colour of pairs.
    Quotient,
}

impl SpaceChoice {
    /// Its name in settings, such as `auto`.
    pub fn name(self) -> &'static str {
        match self {
            SpaceChoice::Auto => "auto",
            SpaceChoice::Dense => "dense",
            SpaceChoice::Quotient => "quotient",
        }
    }
}

impl std::str::FromStr for SpaceChoice {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "auto" => Ok(SpaceChoice::Auto),
            "dense" => Ok(SpaceChoice::Dense),
            "quotient" => Ok(SpaceChoice::Quotient),
            _ => Err(Error::call(format!("`{name}` is not a space; choose auto, dense or quotient"))),
        }
    }
}

impl PpgnConfig {
    /// The reason it requires the dense space, if it does ([`Description::needs_pairs`]).
    ///
    /// ```
    /// use ppgn_nn::{Model, PpgnConfig};
    /// let paper = PpgnConfig::new(8, 2);
    /// assert!(paper.needs_pairs().is_none());
    /// assert!(PpgnConfig { model: Model::Lin, ..paper }.needs_pairs().is_some());
    /// ```
    pub fn needs_pairs(&self) -> Option<&'static str> {
        self.descriptions().iter().find_map(Description::needs_pairs)
    }

    /// Checks that it can run on the requested space; the error explains why not.
    pub fn runs_on(&self, choice: SpaceChoice) -> Result<()> {
        match (choice, self.needs_pairs()) {
            (SpaceChoice::Quotient, Some(why)) => Err(Error::call(format!(
                "the model `{}` cannot run on the quotient space: {why}. Use the space `auto` or `dense`",
                self.model.name()
            ))),
            _ => Ok(()),
        }
    }
}
