//! What is learned of graphs that come with a table: columns of numbers are targets, and one column can be the class.
//!
//! The same rules hold for the columns of a CSV and the data tags of an SDF. A column whose filled cells are all numbers is a target; empty
//! cells, `NA` and `NaN` are missing values, which a dataset keeps as `f64::NAN`. The class is a column that the caller
//! names: integers stay the labels that they are, words are numbered in their order. Values are kept sparsely until
//! all columns are known, because every record of an SDF may have other tags.

use super::lines::{integer, real, show};
use super::source::Limits;
use crate::dataset::{DatasetBuilder, Target};
use std::collections::HashMap;

/// The most columns: datasets have hundreds.
const MOST_COLUMNS: usize = 1 << 14;

/// A table as it is read, row by row.
pub(crate) struct Columns {
    names: HashMap<String, usize>,
    columns: Vec<Column>,
    /// The column of classes: its name, and its place once it is known.
    class: Option<(String, Option<usize>)>,
    rows: usize,
    /// The number of filled or explicitly empty cells.
    described: u64,
    limits: Limits,
    words: Words,
}

struct Column {
    name: String,
    /// Rows and values of the filled cells.
    numbers: Vec<(u32, f64)>,
    /// The first cell that is not a number.
    wrong: Option<String>,
}

/// The words of the class column, each once, and which of them the rows have.
#[derive(Default)]
struct Words {
    known: HashMap<Box<[u8]>, u32>,
    of_rows: Vec<(u32, u32)>,
}

/// What is to be learned of each row.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Learned {
    /// The columns of numbers.
    pub(crate) targets: Vec<Target>,
    /// Their values, row after row; NaN where there is none.
    pub(crate) values: Vec<f64>,
    /// The class of each row, where a column of classes was named.
    pub(crate) classes: Option<Classes>,
    /// What the reader should tell the user.
    pub(crate) notes: Vec<String>,
}

/// The class of every row; `None` where its cell is empty.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Classes {
    Numbers(Vec<Option<i64>>),
    Words(Vec<Option<String>>),
}

impl Learned {
    /// Gives targets and classes to a dataset whose graphs are in the order of the rows.
    pub(crate) fn apply(self, builder: DatasetBuilder) -> DatasetBuilder {
        let builder = builder.targets(self.targets, self.values);
        match self.classes {
            None => builder,
            Some(Classes::Numbers(labels)) => builder.known_labels(labels),
            Some(Classes::Words(words)) => builder.named_labels(words),
        }
    }
}

impl Columns {
    /// No columns yet; `class` is the name of the one that holds the classes.
    pub(crate) fn new(class: Option<&str>, limits: Limits) -> Self {
        Columns {
            names: HashMap::new(),
            columns: Vec::new(),
            class: class.map(|name| (name.to_string(), None)),
            rows: 0,
            described: 0,
            limits,
            words: Words::default(),
        }
    }

    /// The place of the column of this name, new if there was none. The error says that there are too many.
    pub(crate) fn place(&mut self, name: &str) -> Result<usize, String> {
        if let Some(&place) = self.names.get(name) {
            return Ok(place);
        }
        let place = self.columns.len();
        if place == MOST_COLUMNS {
            return Err(format!("more than {MOST_COLUMNS} columns or data tags of different names"));
        }
        if let Some((wanted, found @ None)) = &mut self.class
            && wanted.eq_ignore_ascii_case(name)
        {
            *found = Some(place);
        }
        self.names.insert(name.to_string(), place);
        self.columns.push(Column { name: name.to_string(), numbers: Vec::new(), wrong: None });
        Ok(place)
    }

    /// Fills a cell of the row that comes next; `line` is for messages.
    pub(crate) fn set(&mut self, place: usize, cell: &[u8], line: u64) {
        self.described += 1;
        let row = self.rows as u32;
        if is_missing(cell) {
            return;
        }
        if self.class.as_ref().is_some_and(|(_, class)| *class == Some(place)) {
            let next = self.words.known.len() as u32;
            let word = *self.words.known.entry(cell.into()).or_insert(next);
            self.words.of_rows.push((row, word));
            return;
        }
        let column = &mut self.columns[place];
        if column.wrong.is_some() {
            return;
        }
        match real(cell) {
            Some(number) => column.numbers.push((row, number)),
            None => {
                column.wrong = Some(format!("{} in line {line}", show(cell)));
                column.numbers = Vec::new();
            }
        }
    }

    /// Completes the row: the graph that it belongs to was read.
    pub(crate) fn end_row(&mut self) {
        self.rows += 1;
    }

    /// Targets and classes. The error says that the column of classes is not there, or that there is too much to hold.
    pub(crate) fn finish(self) -> Result<Learned, String> {
        let mut learned = Learned::default();
        if let Some((wanted, None)) = &self.class {
            let names: Vec<&str> = self.columns.iter().map(|c| c.name.as_str()).take(20).collect();
            let there = if names.is_empty() {
                "there is none".into()
            } else {
                format!("there are {}", names.join(", "))
            };
            return Err(format!("no column or data tag is called `{wanted}`; {there}"));
        }
        let class = self.class.as_ref().and_then(|(_, place)| *place);
        let (mut left_out, mut empty) = (Vec::new(), Vec::new());
        let mut kept = Vec::new();
        for (_, column) in self.columns.into_iter().enumerate().filter(|(i, _)| Some(*i) != class) {
            match &column.wrong {
                Some(wrong) => left_out.push(format!("{} ({wrong})", column.name)),
                None if column.numbers.is_empty() => empty.push(column.name),
                None => kept.push(column),
            }
        }
        let cells = kept.len() as u64 * self.rows as u64;
        let claimed = cells.saturating_sub(self.described.saturating_mul(8));
        if claimed > self.limits.max_claimed {
            return Err(format!(
                "{} targets for {} graphs, but most graphs have few of them: at most {} missing values are kept",
                kept.len(),
                self.rows,
                self.limits.max_claimed
            ));
        }
        learned.values = vec![f64::NAN; cells as usize];
        let width = kept.len();
        for (i, column) in kept.into_iter().enumerate() {
            for (row, value) in column.numbers {
                learned.values[row as usize * width + i] = value;
            }
            learned.targets.push(Target { name: column.name, unit: String::new() });
        }
        if !left_out.is_empty() {
            learned
                .notes
                .push(format!("not targets, because not all their values are numbers: {}", few(&left_out)));
        }
        if !empty.is_empty() {
            learned.notes.push(format!("columns without any value: {}", few(&empty)));
        }
        if class.is_some() {
            learned.classes = Some(self.words.classes(self.rows));
        }
        Ok(learned)
    }
}

impl Words {
    /// The class of every row: numbers where all words are integers.
    fn classes(self, rows: usize) -> Classes {
        let mut words: Vec<(Box<[u8]>, u32)> = self.known.into_iter().collect();
        words.sort_unstable_by_key(|(_, number)| *number);
        let mut of_rows = vec![None; rows];
        for (row, word) in self.of_rows {
            if let Some(place) = of_rows.get_mut(row as usize) {
                *place = Some(word as usize);
            }
        }
        let integers: Option<Vec<i64>> = words.iter().map(|(word, _)| whole(word)).collect();
        match integers {
            Some(labels) => Classes::Numbers(of_rows.iter().map(|w| w.map(|w| labels[w])).collect()),
            None => {
                let names: Vec<String> =
                    words.iter().map(|(word, _)| String::from_utf8_lossy(word).into_owned()).collect();
                Classes::Words(of_rows.iter().map(|w| w.map(|w| names[w].clone())).collect())
            }
        }
    }
}

/// An integer, also if it is written as 1.0.
fn whole(word: &[u8]) -> Option<i64> {
    let exact = |x: f64| (x.fract() == 0.0 && x.abs() < 9e15).then_some(x as i64);
    integer(word).or_else(|| real(word).and_then(exact))
}

/// Whether a cell says that there is no value: nothing, or what spreadsheets, R and pandas write for it.
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    let words: [&[u8]; 5] = [b"na", b"n/a", b"nan", b"null", b"#n/a"];
    cell.is_empty() || words.iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// The first few of a list, in one line.
fn few(list: &[String]) -> String {
    let mut text = list.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
    if list.len() > 8 {
        text += &format!(" and {} more", list.len() - 8);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(class: Option<&str>, names: &[&str], rows: &[&[&str]]) -> Result<Learned, String> {
        let mut columns = Columns::new(class, Limits::default());
        for (i, row) in rows.iter().enumerate() {
            for (name, cell) in names.iter().zip(*row) {
                let place = columns.place(name)?;
                columns.set(place, cell.as_bytes(), i as u64 + 2);
            }
            columns.end_row();
        }
        columns.finish()
    }

    #[test]
    fn numbers_are_targets_and_empty_cells_are_missing() {
        let rows: [&[&str]; 3] =
            [&["1.5", "", "aspirin", ""], &["NA", "2", "7", ""], &["-3e2", "nan", "", "n/a"]];
        let l = learned(None, &["a", "b", "name", "none"], &rows).unwrap();
        assert_eq!(l.targets.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        let shown: Vec<String> = l.values.iter().map(f64::to_string).collect();
        assert_eq!(shown, ["1.5", "NaN", "NaN", "2", "-300", "NaN"]);
        assert_eq!(
            l.notes,
            [
                "not targets, because not all their values are numbers: name (`aspirin` in line 2)",
                "columns without any value: none"
            ]
        );
        assert_eq!(l.classes, None);
    }

    #[test]
    fn classes_are_integers_or_words() {
        let rows: [&[&str]; 4] = [&["toxic", "1"], &["", "0.0"], &["mild", "1"], &["toxic", ""]];
        let l = learned(Some("Kind"), &["kind", "x"], &rows).unwrap();
        let words = [Some("toxic"), None, Some("mild"), Some("toxic")].map(|w| w.map(String::from));
        assert_eq!(l.classes, Some(Classes::Words(words.to_vec())));
        assert_eq!(l.targets.len(), 1);
        let l = learned(Some("x"), &["kind", "x"], &rows).unwrap();
        assert_eq!(l.classes, Some(Classes::Numbers(vec![Some(1), Some(0), Some(1), None])));
        let error = learned(Some("y"), &["kind", "x"], &rows).unwrap_err();
        assert_eq!(error, "no column or data tag is called `y`; there are kind, x");
    }

    #[test]
    fn tags_that_no_record_shares_are_not_multiplied_out() {
        let mut columns = Columns::new(None, Limits { max_claimed: 1000, ..Limits::default() });
        for i in 0..100 {
            let place = columns.place(&format!("tag{i}")).unwrap();
            columns.set(place, b"1", 1);
            columns.end_row();
        }
        assert!(columns.finish().unwrap_err().contains("100 targets for 100 graphs"));
        let mut columns = Columns::new(None, Limits::default());
        let wrong = (0..=MOST_COLUMNS).find_map(|i| columns.place(&format!("tag{i}")).err());
        assert!(wrong.is_some_and(|message| message.contains("16384")));
    }
}
