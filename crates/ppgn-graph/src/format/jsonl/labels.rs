//! Labels in JSON: integers or words, `6` or `"C"`, for a graph's class and in the tables of nodes and edges.
//!
//! Each column of a table has one or the other. Words are replaced by numbers as they are read, so that a table takes
//! eight bytes per label, and get their raw values from the header ([`Vocabulary`]) once the line is complete.

use super::columns::Columns;
use crate::dataset::LabelColumn;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeSeq, Serializer};
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// A label as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Label {
    Number(i64),
    Word(String),
}

impl<'de> Deserialize<'de> for Label {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneLabel;
        impl Visitor<'_> for OneLabel {
            type Value = Label;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("the label must be an integer or a string")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Label, E> {
                Ok(Label::Number(value))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Label, E> {
                integer(value).map(Label::Number)
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Label, E> {
                Ok(Label::Word(value.into()))
            }
        }
        deserializer.deserialize_any(OneLabel)
    }
}

fn integer<E: Error>(value: u64) -> Result<i64, E> {
    i64::try_from(value)
        .map_err(|_| E::custom(format!("the label {value} is too large: labels have 64 bits")))
}

/// The classes in a header: all integers, or all words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Labels {
    Numbers(Vec<i64>),
    Words(Vec<String>),
}

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let labels = Vec::<Label>::deserialize(deserializer)?;
        let numbers: Vec<i64> =
            labels.iter().filter_map(|l| if let Label::Number(x) = l { Some(*x) } else { None }).collect();
        let words: Vec<String> =
            labels.into_iter().filter_map(|l| if let Label::Word(w) = l { Some(w) } else { None }).collect();
        match (numbers.is_empty(), words.is_empty()) {
            (_, true) => Ok(Labels::Numbers(numbers)),
            (true, false) => Ok(Labels::Words(words)),
            (false, false) => Err(D::Error::custom("the classes must be all integers or all strings")),
        }
    }
}

/// A table of labels as it was read: words are numbered in the order of their appearance in the line.
#[derive(Debug, Default)]
pub(super) struct LabelTable {
    table: Columns<i64>,
    /// Per column, whether its labels are words.
    is_words: Vec<bool>,
    words: Vec<String>,
    numbers: HashMap<String, i64>,
}

impl LabelTable {
    /// The number of columns.
    pub(super) fn width(&self) -> usize {
        self.table.width
    }

    /// The labels of column c: what they are, not where.
    pub(super) fn note(&self, c: usize, seen: &mut Seen) {
        let column = self.table.values.iter().skip(c).step_by(self.table.width.max(1));
        match self.is_words[c] {
            false => seen.numbers.extend(column),
            true => {
                let mut used = vec![false; self.words.len()];
                column.for_each(|&i| used[i as usize] = true);
                let words = self.words.iter().zip(used).filter(|(_, used)| *used).map(|(word, _)| word);
                words.for_each(|word| _ = !seen.words.contains(word) && seen.words.insert(word.clone()));
            }
        }
    }

    /// The table with the raw values of the header in place of words.
    pub(super) fn resolve(mut self, vocabulary: &Vocabulary) -> Result<Columns<i64>, String> {
        let width = self.table.width;
        // A table of another width is refused by the graph's check against the header.
        if width != vocabulary.0.len() {
            return Ok(self.table);
        }
        for (c, column) in vocabulary.0.iter().enumerate() {
            let is_words = self.is_words.get(c).copied().unwrap_or(column.raw.is_some());
            match (is_words, &column.raw) {
                (false, None) => {}
                (true, None) => return Err(format!("column `{}` has integers, not strings", column.name)),
                (false, Some(_)) => {
                    return Err(format!("column `{}` has strings, not integers", column.name));
                }
                (true, Some(raw)) => {
                    for label in self.table.values.iter_mut().skip(c).step_by(width) {
                        let word = &self.words[*label as usize];
                        *label = *raw.get(word).ok_or_else(|| unlisted(word, &column.name))?;
                    }
                }
            }
        }
        Ok(self.table)
    }

    fn number(&mut self, value: i64, column: usize) -> Result<(), String> {
        self.kind(column, false)?;
        self.table.values.push(value);
        Ok(())
    }

    fn word(&mut self, word: &str, column: usize) -> Result<(), String> {
        self.kind(column, true)?;
        let number = match self.numbers.get(word) {
            Some(&number) => number,
            None => {
                let number = self.words.len() as i64;
                self.words.push(word.into());
                self.numbers.insert(word.into(), number);
                number
            }
        };
        self.table.values.push(number);
        Ok(())
    }

    fn kind(&mut self, column: usize, word: bool) -> Result<(), String> {
        if column == self.is_words.len() && self.table.rows == 0 {
            self.is_words.push(word);
        }
        match self.is_words.get(column) {
            Some(&known) if known != word => {
                Err("the labels of a column must be all integers or all strings".into())
            }
            _ => Ok(()),
        }
    }
}

fn unlisted(word: &str, column: &str) -> String {
    let shown: String = word.chars().take(40).collect();
    format!("the label `{shown}` is not among those that the header lists for column `{column}`")
}

impl<'de> Deserialize<'de> for LabelTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Table;
        impl<'de> Visitor<'de> for Table {
            type Value = LabelTable;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("labels must be a list of values, or of rows of values")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<LabelTable, A::Error> {
                let mut table = LabelTable::default();
                while list.next_element_seed(Cell { table: &mut table, column: None })?.is_some() {}
                Ok(table)
            }
        }
        deserializer.deserialize_seq(Table)
    }
}

/// Reads one label, or, where it is not yet inside of a row (no column), a row of them.
struct Cell<'a> {
    table: &'a mut LabelTable,
    column: Option<usize>,
}

impl Cell<'_> {
    fn end<E: Error>(self, start: usize) -> Result<(), E> {
        match self.column {
            Some(_) => Ok(()),
            None => self.table.table.end_row(start),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Cell<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Cell<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a label must be an integer or a string")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        let start = self.table.table.values.len();
        self.table.number(value, self.column.unwrap_or(0)).map_err(E::custom)?;
        self.end(start)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.visit_i64(integer(value)?)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        let start = self.table.table.values.len();
        self.table.word(value, self.column.unwrap_or(0)).map_err(E::custom)?;
        self.end(start)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut row: A) -> Result<(), A::Error> {
        if self.column.is_some() {
            return Err(A::Error::custom("a row of labels must not have lists in it"));
        }
        let start = self.table.table.values.len();
        let mut column = 0;
        while row.next_element_seed(Cell { table: &mut *self.table, column: Some(column) })?.is_some() {
            column += 1;
        }
        self.end(start)
    }
}

/// The labels of a column that occur in a file.
#[derive(Debug, Default, Clone)]
pub(super) struct Seen {
    pub(super) numbers: BTreeSet<i64>,
    pub(super) words: BTreeSet<String>,
}

impl Seen {
    /// The column with these labels. Where some graphs have integers and some have words, the latter are refused later.
    pub(super) fn column(self, name: String) -> LabelColumn {
        match self.numbers.is_empty() && !self.words.is_empty() {
            true => LabelColumn::of_words(name, self.words),
            false => LabelColumn::new(name, self.numbers),
        }
    }
}

/// The raw values of the words of each column.
#[derive(Debug, Default)]
pub(super) struct Vocabulary(Vec<Words>);

#[derive(Debug)]
struct Words {
    name: String,
    raw: Option<HashMap<String, i64>>,
}

impl Vocabulary {
    pub(super) fn of(columns: &[LabelColumn]) -> Self {
        let map = |column: &LabelColumn| {
            let words = column.words().iter().cloned().zip(column.values().iter().copied());
            (!column.words().is_empty()).then(|| words.collect())
        };
        let words = |column: &LabelColumn| Words { name: column.name().into(), raw: map(column) };
        Vocabulary(columns.iter().map(words).collect())
    }
}

/// The labels of a node or an edge to be written: words where the column has them.
pub(super) struct LabelRow<'a>(pub(super) &'a [LabelColumn], pub(super) &'a [i64]);

impl Serialize for LabelRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let LabelRow(columns, row) = self;
        if let ([column], [label]) = (columns, row) {
            return OneLabel(column, *label).serialize(serializer);
        }
        let mut list = serializer.serialize_seq(Some(row.len()))?;
        for (column, &label) in columns.iter().zip(*row) {
            list.serialize_element(&OneLabel(column, label))?;
        }
        list.end()
    }
}

struct OneLabel<'a>(&'a LabelColumn, i64);

impl Serialize for OneLabel<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let word = usize::try_from(self.1).ok().and_then(|i| self.0.words().get(i));
        match word {
            Some(word) => serializer.serialize_str(word),
            None => serializer.serialize_i64(self.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Result<LabelTable, String> {
        serde_json::from_str(text).map_err(|e| super::super::explain(&e, text.as_bytes()))
    }

    #[test]
    fn integers_and_words_in_columns() {
        let columns =
            [LabelColumn::of_words("atom", ["C", "N"].map(String::from)), LabelColumn::new("h", [3])];
        let vocabulary = Vocabulary::of(&columns);
        let rows = table(r#"[["N", 3], ["C", 3], ["N", 3]]"#).unwrap();
        let mut seen = Seen::default();
        rows.note(0, &mut seen);
        assert_eq!(seen.words.iter().collect::<Vec<_>>(), ["C", "N"]);
        assert_eq!(rows.resolve(&vocabulary).unwrap().values, [1, 3, 0, 3, 1, 3]);
        let wrong = |text: &str| table(text).and_then(|t| t.resolve(&vocabulary)).unwrap_err();
        assert_eq!(wrong(r#"[[1, 3]]"#), "column `atom` has strings, not integers");
        assert_eq!(wrong(r#"[["C", "x"]]"#), "column `h` has integers, not strings");
        let unknown = "the label `O` is not among those that the header lists for column `atom`";
        assert_eq!(wrong(r#"[["O", 3]]"#), unknown);
        assert!(wrong(r#"[["C", 3], [1, 3]]"#).starts_with("the labels of a column must be all integers"));
        assert!(wrong(r#"[["C", 3], ["C"]]"#).starts_with("row 1 of a table has 1 values, the first has 2"));
        assert!(wrong(r#"["C", true]"#).starts_with("a label must be an integer or a string, not true"));
        assert!(wrong(r#"["C", 1.5]"#).starts_with("a label must be an integer or a string, not 1.5"));
        assert!(wrong(r#"[[["C"]]]"#).starts_with("a row of labels must not have lists in it"));
        assert_eq!(serde_json::to_string(&LabelRow(&columns, &[1, 3])).unwrap(), r#"["N",3]"#);
        assert_eq!(serde_json::to_string(&LabelRow(&columns[..1], &[0])).unwrap(), r#""C""#);
    }
}
