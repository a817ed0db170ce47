//! Parsing a spec: `key=value,...` into values that are checked where they are used.
//!
//! Every error says what would have been accepted.

use super::{Generator, Parameter};
use crate::error::{Error, Result};
use crate::format::lines::show;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A generator with a value for each of its parameters.
pub(super) struct Arguments {
    generator: &'static Generator,
    values: Vec<String>,
}

impl Arguments {
    /// The arguments that `settings` (what follows the colon, if there is one) gives; defaults for the rest.
    pub(super) fn parse(generator: &'static Generator, settings: Option<&str>) -> Result<Self> {
        let parameters = generator.parameters;
        let mut given: Vec<Option<String>> = vec![None; parameters.len()];
        for setting in settings.into_iter().flat_map(|s| s.split(',')) {
            let Some((key, value)) = setting.split_once('=') else {
                let shown = show(setting.trim().as_bytes());
                return Err(Error::call(format!("{shown} is not key=value. {}", there_are(parameters))));
            };
            let key = key.trim();
            let Some(i) = parameters.iter().position(|p| p.name.eq_ignore_ascii_case(key)) else {
                let shown = show(key.as_bytes());
                let hint = hint(key, parameters.iter().map(|p| p.name));
                let list = there_are(parameters);
                return Err(Error::call(format!("there is no parameter {shown}{hint} {list}")));
            };
            if given[i].replace(value.trim().to_string()).is_some() {
                return Err(Error::call(format!("{} is given twice", parameters[i].name)));
            }
        }
        let values = given.into_iter().zip(parameters).map(|(value, p)| match (value, p.default) {
            (Some(value), _) => Ok(value),
            (None, "") => Err(Error::call(format!("{} must be given: {}", p.name, p.about))),
            (None, default) => Ok(default.to_string()),
        });
        Ok(Arguments { generator, values: values.collect::<Result<_>>()? })
    }

    /// The name of the generator.
    pub(super) fn generator(&self) -> &'static Generator {
        self.generator
    }

    /// The spec with every parameter written out.
    pub(super) fn spec(&self) -> String {
        let settings: Vec<_> = self.generator.parameters.iter().zip(&self.values).collect();
        let settings: Vec<_> = settings.iter().map(|(p, value)| format!("{}={value}", p.name)).collect();
        match settings.is_empty() {
            true => self.generator.name.to_string(),
            false => format!("{}:{}", self.generator.name, settings.join(",")),
        }
    }

    /// The value of a parameter that the generator declares, as it was typed.
    pub(super) fn text(&self, key: &str) -> &str {
        let declared = self.generator.parameters.iter().position(|p| p.name == key);
        &self.values[declared.expect("a generator asks for its own parameters only")]
    }

    /// A whole number in this range.
    pub(super) fn number(&self, key: &str, range: RangeInclusive<u32>) -> Result<u32> {
        within(self.text(key), &range).ok_or_else(|| self.wrong(key, "a whole number", &range))
    }

    /// A real number in this range.
    pub(super) fn real(&self, key: &str, range: RangeInclusive<f64>) -> Result<f64> {
        within(self.text(key), &range).ok_or_else(|| self.wrong(key, "a number", &range))
    }

    /// The seed.
    pub(super) fn seed(&self) -> Result<u64> {
        let range = 0..=u64::MAX;
        within(self.text("seed"), &range).ok_or_else(|| self.wrong("seed", "a whole number", &range))
    }

    /// Yes or no, as 1 or 0.
    pub(super) fn flag(&self, key: &str) -> Result<bool> {
        match self.text(key) {
            "0" => Ok(false),
            "1" => Ok(true),
            other => Err(Error::call(format!("{key} is 0 or 1, not {}", show(other.as_bytes())))),
        }
    }

    /// Whole numbers in this range, joined by `+`.
    pub(super) fn list(&self, key: &str, range: RangeInclusive<u32>) -> Result<Vec<u32>> {
        let items = self.text(key).split('+').map(|item| within(item.trim(), &range));
        items
            .collect::<Option<_>>()
            .ok_or_else(|| self.wrong(key, "a list, joined by +, of whole numbers", &range))
    }

    fn wrong<T: Display>(&self, key: &str, what: &str, range: &RangeInclusive<T>) -> Error {
        let shown = show(self.text(key).as_bytes());
        Error::call(format!("{key} is {what} from {} to {}, not {shown}", range.start(), range.end()))
    }
}

fn within<T: FromStr + PartialOrd>(text: &str, range: &RangeInclusive<T>) -> Option<T> {
    text.parse().ok().filter(|value| range.contains(value))
}

fn there_are(parameters: &[Parameter]) -> String {
    let list: Vec<_> = parameters.iter().map(|p| format!("{}={}", p.name, p.default)).collect();
    if list.is_empty() { "There are none".into() } else { format!("There are {}", list.join(", ")) }
}

/// The end of a message about an unknown name: a suggestion where a known name is close, else a full stop.
pub(super) fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    crate::nearest::nearest(name, known).map_or(".".into(), |k| format!(", did you mean `{k}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_offered() {
        let known = ["cycles", "csl", "hypercube", "path"];
        let hint = |name: &str| hint(name, known);
        assert_eq!(hint("cycle"), ", did you mean `cycles`?");
        assert_eq!(hint("CLS"), ", did you mean `csl`?");
        assert_eq!(hint("cube"), ", did you mean `hypercube`?");
        assert_eq!(hint("pathgraph"), ", did you mean `path`?");
        assert_eq!(hint("xy"), ".");
        assert_eq!(hint(""), ".");
        assert_eq!(hint(&"c".repeat(100_000)), ".");
    }
}
