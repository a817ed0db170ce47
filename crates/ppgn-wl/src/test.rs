//! The names of the tests: which family, which k.

use crate::Error;
use std::fmt;
use std::str::FromStr;

/// The two families of Section 3.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// k-WL: k multisets, one per position of the tuple.
    Wl,
    /// k-FWL, the folklore version: one multiset of k-tuples of colours.
    Fwl,
}

/// A test of the hierarchy: `1-wl`, `2-wl`, `2-fwl`, `3-wl`, ...
///
/// ```
/// use ppgn_wl::{Family, Test};
/// let test: Test = "2-fwl".parse()?;
/// assert_eq!((test.family(), test.k()), (Family::Fwl, 2));
/// assert_eq!(test.to_string(), "2-fwl");
/// assert_eq!("1-fwl".parse::<Test>()?, Test::COLOUR_REFINEMENT);   // for k = 1, both mean colour refinement
/// # Ok::<(), ppgn_wl::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Test {
    family: Family,
    k: usize,
}

impl Test {
    /// 1-WL.
    pub const COLOUR_REFINEMENT: Test = Test { family: Family::Wl, k: 1 };

    /// k-WL; k = 1 is colour refinement. `k` must not be 0.
    pub fn wl(k: usize) -> Result<Test, Error> {
        Test::new(Family::Wl, k)
    }

    /// k-FWL; k = 1 is colour refinement. `k` must not be 0.
    pub fn fwl(k: usize) -> Result<Test, Error> {
        Test::new(Family::Fwl, k)
    }

    fn new(family: Family, k: usize) -> Result<Test, Error> {
        match k {
            0 => Err(Error::UnknownTest(format!("0-{}", family.name()))),
            1 => Ok(Test::COLOUR_REFINEMENT),
            _ => Ok(Test { family, k }),
        }
    }

    /// The family.
    pub fn family(self) -> Family {
        self.family
    }

    /// The length of the tuples that are coloured.
    pub fn k(self) -> usize {
        self.k
    }
}

impl Family {
    /// `wl` or `fwl`.
    pub fn name(self) -> &'static str {
        match self {
            Family::Wl => "wl",
            Family::Fwl => "fwl",
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.k, self.family.name())
    }
}

impl FromStr for Test {
    type Err = Error;

    fn from_str(text: &str) -> Result<Test, Error> {
        let unknown = || Error::UnknownTest(text.to_string());
        let lower = text.to_ascii_lowercase();
        let (k, family) = lower.split_once('-').ok_or_else(unknown)?;
        let family = match family {
            "wl" => Family::Wl,
            "fwl" => Family::Fwl,
            _ => return Err(unknown()),
        };
        let digits = !k.is_empty() && k.bytes().all(|b| b.is_ascii_digit());
        match k.parse() {
            Ok(k) if digits && k > 0 => Test::new(family, k),
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["1-wl", "2-wl", "2-fwl", "17-fwl"] {
            assert_eq!(name.parse::<Test>().unwrap().to_string(), name);
        }
        for bad in ["", "wl", "0-wl", "2", "2-gwl", "-wl", "+2-wl", "2_fwl", "99999999999999999999-wl"] {
            assert!(bad.parse::<Test>().is_err(), "{bad}");
        }
        assert_eq!("3-FWL".parse::<Test>().unwrap(), Test::fwl(3).unwrap());
    }
}
