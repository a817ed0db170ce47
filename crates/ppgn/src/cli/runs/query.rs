//! `--filter` and `--sort`: conditions on the fields of runs, and their order.

use crate::cli::wrong::wrong;
use anyhow::Result;
use ppgn::graph::text::natural;
use ppgn::train::listing::{Entry, plain};
use serde_json::Value;
use std::cmp::Ordering;
use std::str::FromStr;

/// What a list is sorted by besides fields: the best result first.
const RESULT: &str = "result";

/// A condition: `KEY=VALUE`, `KEY!=VALUE`, `KEY~TEXT`, or `KEY<NUMBER` and the like.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    key: String,
    relation: Relation,
    value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Equal,
    NotEqual,
    Contains,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// Longer ones first: `<=` begins with `<`.
const RELATIONS: [(&str, Relation); 7] = [
    ("!=", Relation::NotEqual),
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("=", Relation::Equal),
    ("~", Relation::Contains),
    ("<", Relation::Less),
    (">", Relation::More),
];

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a condition: write KEY=VALUE, KEY!=VALUE, KEY~TEXT (contains), KEY<NUMBER, <=, > or >="
            )
        };
        let start = text.find(['=', '!', '<', '>', '~']).filter(|at| *at > 0).ok_or_else(wrong)?;
        let (key, rest) = text.split_at(start);
        let found = RELATIONS.iter().find_map(|(sign, r)| Some((*r, rest.strip_prefix(sign)?)));
        let (relation, value) = found.ok_or_else(wrong)?;
        let (key, value) = (key.trim().to_string(), value.trim().to_string());
        let ordered = !matches!(relation, Relation::Equal | Relation::NotEqual | Relation::Contains);
        if ordered && value.parse::<f64>().is_err() {
            return Err(format!("`{value}` is not a number, so nothing is below or above it"));
        }
        Ok(Condition { key, relation, value })
    }
}

impl Condition {
    fn holds(&self, entry: &Entry) -> bool {
        let Some(found) = entry.get(&self.key).filter(|value| !value.is_null()) else {
            return self.relation == Relation::NotEqual;
        };
        let text = plain(found);
        let numbers = found.as_f64().zip(self.value.parse::<f64>().ok());
        let order = numbers.and_then(|(a, b)| a.partial_cmp(&b));
        let equal = order.map_or_else(|| text.eq_ignore_ascii_case(&self.value), Ordering::is_eq);
        match self.relation {
            Relation::Equal => equal,
            Relation::NotEqual => !equal,
            Relation::Contains => text.to_lowercase().contains(&self.value.to_lowercase()),
            Relation::Less => order.is_some_and(Ordering::is_lt),
            Relation::AtMost => order.is_some_and(Ordering::is_le),
            Relation::More => order.is_some_and(Ordering::is_gt),
            Relation::AtLeast => order.is_some_and(Ordering::is_ge),
        }
    }
}

/// The entries that meet all conditions, sorted by a key (`-KEY` for descending); in their order without one.
pub(super) fn chosen(
    mut entries: Vec<Entry>,
    conditions: &[Condition],
    sort: Option<&str>,
) -> Result<Vec<Entry>> {
    let sorted_by = sort.map(|key| key.strip_prefix('-').map_or((key, false), |key| (key, true)));
    let sort_key = sorted_by.map(|(key, _)| key).filter(|key| *key != RESULT);
    for key in conditions.iter().map(|c| c.key.as_str()).chain(sort_key) {
        known(&entries, key)?;
    }
    entries.retain(|entry| conditions.iter().all(|condition| condition.holds(entry)));
    let Some((key, descending)) = sorted_by else { return Ok(entries) };
    entries.sort_by(|a, b| match key {
        RESULT => in_order(a.rank, b.rank, f64::total_cmp, descending),
        key => in_order(value(a, key), value(b, key), |a, b| by_value(a, b), descending),
    });
    Ok(entries)
}

fn value<'a>(entry: &'a Entry, key: &str) -> Option<&'a Value> {
    entry.get(key).filter(|value| !value.is_null())
}

/// What has no value comes last, ascending or descending.
fn in_order<T>(a: Option<T>, b: Option<T>, by: impl Fn(&T, &T) -> Ordering, descending: bool) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if descending => by(&b, &a),
        (Some(a), Some(b)) => by(&a, &b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

fn by_value(a: &Value, b: &Value) -> Ordering {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => natural(&plain(a), &plain(b)),
    }
}

/// An error where no entry has such a field.
fn known(entries: &[Entry], key: &str) -> Result<()> {
    if entries.is_empty() || entries.iter().any(|entry| entry.get(key).is_some()) {
        return Ok(());
    }
    let mut names: Vec<&String> = entries
        .iter()
        .filter_map(|entry| entry.fields.as_object())
        .flat_map(|fields| fields.keys())
        .collect();
    names.sort();
    names.dedup();
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    Err(wrong(format!(
        "no run has `{key}`: there are {}, and the settings of config.toml, such as training.rate",
        names.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let read = |text: &str| text.parse::<Condition>();
        let condition =
            |key: &str, relation, value: &str| Condition { key: key.into(), relation, value: value.into() };
        assert_eq!(read("seed=3").unwrap(), condition("seed", Relation::Equal, "3"));
        assert_eq!(read("state != finished").unwrap(), condition("state", Relation::NotEqual, "finished"));
        assert_eq!(
            read("training.rate<=1e-3").unwrap(),
            condition("training.rate", Relation::AtMost, "1e-3")
        );
        assert_eq!(read("run~fold-1").unwrap(), condition("run", Relation::Contains, "fold-1"));
        for wrong in ["seed", "=3", "!x", "rate<fast", ""] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_has_no_value_comes_last() {
        let order = |a, b, descending| in_order(a, b, f64::total_cmp, descending);
        assert_eq!(order(Some(1.0), Some(2.0), false), Ordering::Less);
        assert_eq!(order(Some(1.0), Some(2.0), true), Ordering::Greater);
        assert_eq!(order(None, Some(2.0), false), Ordering::Greater);
        assert_eq!(order(None, Some(2.0), true), Ordering::Greater);
        assert_eq!(order(None, None, true), Ordering::Equal);
    }
}
