//! Attributes as other programs write them: a name and a value for each node or edge, `color = red`, `weight = 4.5`.
//!
//! They become the features of a [`Graph`](crate::Graph) by one rule for all formats: words and integers are categorical
//! labels, real numbers are attributes, `true` and `false` are the labels 1 and 0, and `weight` is a real attribute also
//! where all weights are integers. Every node (or edge) of a dataset must have the same attributes: a hole would have to be
//! filled by a guess.

use crate::dataset::{LabelColumn, Schema};
use std::collections::{BTreeSet, HashMap};

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Integer(i64),
    Real(f64),
    Word(String),
}

impl Value {
    fn kind(&self) -> &'static str {
        match self {
            Value::Integer(_) | Value::Real(_) => "a number",
            Value::Word(_) => "a string",
        }
    }
}

/// The values of one attribute, one per row.
#[derive(Debug, Clone, PartialEq)]
enum Cells {
    Integers(Vec<i64>),
    Reals(Vec<f64>),
    /// Places in the table's list of words.
    Words(Vec<u32>),
}

#[derive(Debug, Clone, PartialEq)]
struct Column {
    name: String,
    cells: Cells,
}

/// The attributes of the nodes, or of the edges, of one graph: a row for each.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    rows: usize,
    columns: Vec<Column>,
    words: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Table {
    /// Adds a row. The first one says which attributes there are.
    pub(super) fn add(&mut self, row: Vec<(String, Value)>) -> Result<(), String> {
        if self.rows == 0 {
            for (i, (name, _)) in row.iter().enumerate() {
                if row[..i].iter().any(|(other, _)| other == name) {
                    return Err(format!("the attribute `{name}` is given twice"));
                }
            }
            self.columns = row.iter().map(|(name, value)| Column::new(name, value)).collect();
        }
        if let Some((name, _)) = row.iter().find(|(name, _)| !self.columns.iter().any(|c| c.name == *name)) {
            return Err(format!("the attribute `{name}`, which those before do not have"));
        }
        if let Some(c) = self.columns.iter().find(|c| !row.iter().any(|(name, _)| *name == c.name)) {
            return Err(format!("no attribute `{}`, which those before have", c.name));
        }
        if row.len() != self.columns.len() {
            return Err("an attribute is given twice".into());
        }
        for (name, value) in &row {
            if let Value::Real(x) = value
                && !x.is_finite()
            {
                return Err(format!("the attribute `{name}` is not a finite number"));
            }
            let column = self.columns.iter().find(|c| c.name == *name).expect("compared above");
            if matches!(column.cells, Cells::Words(_)) != matches!(value, Value::Word(_)) {
                let (now, before) =
                    (value.kind(), if value.kind() == "a number" { "a string" } else { "a number" });
                return Err(format!("the attribute `{name}` is {now}, but {before} in those before"));
            }
        }
        for (name, value) in row {
            let word = match &value {
                Value::Word(word) => self.number(word),
                _ => 0,
            };
            let column = self.columns.iter_mut().find(|c| c.name == name).expect("compared above");
            column.push(value, word);
        }
        self.rows += 1;
        Ok(())
    }

    fn number(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.numbers.get(word) {
            return number;
        }
        // Fewer than 2^32: a row has eight bytes at least.
        let number = self.words.len() as u32;
        self.words.push(word.into());
        self.numbers.insert(word.into(), number);
        number
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Whether rows have attributes.
    pub(super) fn has_columns(&self) -> bool {
        !self.columns.is_empty()
    }

    /// Whether two rows are equal.
    pub(super) fn same(&self, a: usize, b: usize) -> bool {
        self.columns.iter().all(|column| match &column.cells {
            Cells::Integers(list) => list[a] == list[b],
            Cells::Reals(list) => list[a] == list[b],
            Cells::Words(list) => list[a] == list[b],
        })
    }

    /// Keeps these rows, in this order.
    pub(super) fn keep(&mut self, rows: &[u32]) {
        fn chosen<T: Copy>(list: &mut Vec<T>, rows: &[u32]) {
            *list = rows.iter().map(|&i| list[i as usize]).collect();
        }
        for column in &mut self.columns {
            match &mut column.cells {
                Cells::Integers(list) => chosen(list, rows),
                Cells::Reals(list) => chosen(list, rows),
                Cells::Words(list) => chosen(list, rows),
            }
        }
        self.rows = rows.len();
    }
}

impl Column {
    fn new(name: &str, value: &Value) -> Self {
        let cells = match value {
            Value::Integer(_) => Cells::Integers(Vec::new()),
            Value::Real(_) => Cells::Reals(Vec::new()),
            Value::Word(_) => Cells::Words(Vec::new()),
        };
        Column { name: name.into(), cells }
    }

    fn push(&mut self, value: Value, word: u32) {
        if let (Cells::Integers(list), Value::Real(_)) = (&self.cells, &value) {
            self.cells = Cells::Reals(list.iter().map(|&x| x as f64).collect());
        }
        match (&mut self.cells, value) {
            (Cells::Integers(list), Value::Integer(x)) => list.push(x),
            (Cells::Reals(list), Value::Integer(x)) => list.push(x as f64),
            (Cells::Reals(list), Value::Real(x)) => list.push(x),
            (Cells::Words(list), _) => list.push(word),
            (Cells::Integers(_), _) | (Cells::Reals(_), _) => unreachable!("kinds were compared"),
        }
    }
}

/// What an attribute of a dataset is.
#[derive(Debug)]
enum Kind {
    Integers(BTreeSet<i64>),
    Reals,
    Words(BTreeSet<String>),
}

/// The attributes of the nodes, or of the edges, of a whole dataset.
#[derive(Debug, Default)]
pub(super) struct Columns {
    known: Option<Vec<(String, Kind)>>,
}

/// The name of an attribute without one: the third column of an edge list. Labels and weights get the names that they
/// have had in ppgn from the beginning.
pub(super) const UNNAMED: &str = "";

impl Columns {
    /// Takes the table of another graph into account: it must have the same attributes as those before.
    pub(super) fn see(&mut self, table: &Table) -> Result<(), String> {
        if table.rows == 0 {
            return Ok(());
        }
        let known = self.known.get_or_insert_with(|| {
            let kind = |c: &Column| match c.cells {
                Cells::Integers(_) if c.name != "weight" => Kind::Integers(BTreeSet::new()),
                Cells::Integers(_) | Cells::Reals(_) => Kind::Reals,
                Cells::Words(_) => Kind::Words(BTreeSet::new()),
            };
            table.columns.iter().map(|c| (c.name.clone(), kind(c))).collect()
        });
        let shown =
            |name: &str| if name == UNNAMED { "a label".into() } else { format!("the attribute `{name}`") };
        if let Some(c) = table.columns.iter().find(|c| !known.iter().any(|(name, _)| *name == c.name)) {
            return Err(format!("{}, which the graphs before do not have", shown(&c.name)));
        }
        for (name, kind) in known.iter_mut() {
            let Some(column) = table.columns.iter().find(|c| c.name == *name) else {
                return Err(format!("without {}, which the graphs before have", shown(name)));
            };
            match (&mut *kind, &column.cells) {
                (Kind::Integers(seen), Cells::Integers(list)) => seen.extend(list),
                (Kind::Words(seen), Cells::Words(_)) => seen.extend(table.words_of(column)),
                (Kind::Words(_), _) | (_, Cells::Words(_)) => {
                    return Err(format!("{} is a string in one graph and a number in another", shown(name)));
                }
                _ => *kind = Kind::Reals,
            }
        }
        Ok(())
    }

    /// The columns of labels and the names of attributes.
    pub(super) fn features(self) -> Features {
        let (mut labels, mut attributes) = (Vec::new(), Vec::new());
        for (name, kind) in self.known.unwrap_or_default() {
            let title = |default: &str| if name == UNNAMED { default.to_string() } else { name.clone() };
            match kind {
                Kind::Integers(values) => {
                    labels.push((name.clone(), LabelColumn::new(title("label0"), values)))
                }
                Kind::Words(words) => {
                    labels.push((name.clone(), LabelColumn::of_words(title("label0"), words)))
                }
                Kind::Reals => attributes.push((name.clone(), title("weight"))),
            }
        }
        Features { labels, attributes }
    }
}

/// The features that the attributes of a dataset become, each with the name of its attribute.
#[derive(Debug)]
pub(super) struct Features {
    labels: Vec<(String, LabelColumn)>,
    attributes: Vec<(String, String)>,
}

impl Features {
    /// The schema with these features of nodes and edges.
    pub(super) fn schema(directed: bool, nodes: &Features, edges: &Features) -> Schema {
        let labels = |f: &Features| f.labels.iter().map(|(_, column)| column.clone()).collect();
        let attributes = |f: &Features| f.attributes.iter().map(|(_, title)| title.clone()).collect();
        Schema {
            directed,
            node_labels: labels(nodes),
            node_attributes: attributes(nodes),
            edge_labels: labels(edges),
            edge_attributes: attributes(edges),
            positions: false,
        }
    }

    /// The number of label columns and of attributes.
    pub(super) fn widths(&self) -> (usize, usize) {
        (self.labels.len(), self.attributes.len())
    }

    /// A table as rows of labels and rows of attributes.
    pub(super) fn rows(&self, table: &Table) -> (Vec<i64>, Vec<f64>) {
        let column = |name: &str| table.columns.iter().find(|c| c.name == name);
        let mut labels = vec![0; table.rows * self.labels.len()];
        for (i, (name, known)) in self.labels.iter().enumerate() {
            let places = labels.iter_mut().skip(i).step_by(self.labels.len());
            match column(name).map(|c| &c.cells) {
                Some(Cells::Integers(list)) => places.zip(list).for_each(|(place, &x)| *place = x),
                Some(Cells::Words(list)) => {
                    let raw: HashMap<&str, i64> = known
                        .words()
                        .iter()
                        .map(String::as_str)
                        .zip(known.values().iter().copied())
                        .collect();
                    let raw: Vec<i64> =
                        table.words.iter().map(|w| raw.get(w.as_str()).copied().unwrap_or(-1)).collect();
                    places.zip(list).for_each(|(place, &word)| *place = raw[word as usize]);
                }
                Some(Cells::Reals(_)) | None => {}
            }
        }
        let mut attributes = vec![0.0; table.rows * self.attributes.len()];
        for (i, (name, _)) in self.attributes.iter().enumerate() {
            let places = attributes.iter_mut().skip(i).step_by(self.attributes.len());
            match column(name).map(|c| &c.cells) {
                Some(Cells::Integers(list)) => places.zip(list).for_each(|(place, &x)| *place = x as f64),
                Some(Cells::Reals(list)) => places.zip(list).for_each(|(place, &x)| *place = x),
                Some(Cells::Words(_)) | None => {}
            }
        }
        (labels, attributes)
    }
}

impl Table {
    fn words_of<'a>(&'a self, column: &'a Column) -> impl Iterator<Item = String> + 'a {
        let mut used = vec![false; self.words.len()];
        if let Cells::Words(list) = &column.cells {
            list.iter().for_each(|&word| used[word as usize] = true);
        }
        self.words.iter().zip(used).filter(|(_, used)| *used).map(|(word, _)| word.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[(&str, Value)]) -> Vec<(String, Value)> {
        values.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
    }

    #[test]
    fn integers_and_words_are_labels_and_reals_attributes() {
        use Value::{Integer, Real, Word};
        let mut table = Table::default();
        table.add(row(&[("c", Word("red".into())), ("k", Integer(3)), ("x", Integer(1))])).unwrap();
        table.add(row(&[("x", Real(0.5)), ("c", Word("blue".into())), ("k", Integer(2))])).unwrap();
        let wrong = |values: &[(&str, Value)]| table.clone().add(row(values)).unwrap_err();
        assert_eq!(
            wrong(&[("c", Word("red".into())), ("k", Integer(1))]),
            "no attribute `x`, which those before have"
        );
        assert_eq!(wrong(&[("y", Integer(1))]), "the attribute `y`, which those before do not have");
        let text = wrong(&[("c", Integer(1)), ("k", Integer(1)), ("x", Integer(1))]);
        assert_eq!(text, "the attribute `c` is a number, but a string in those before");
        let text = wrong(&[("c", Word("red".into())), ("k", Integer(1)), ("x", Real(f64::NAN))]);
        assert_eq!(text, "the attribute `x` is not a finite number");

        let mut columns = Columns::default();
        columns.see(&Table::default()).unwrap();
        columns.see(&table).unwrap();
        let features = columns.features();
        assert_eq!(features.widths(), (2, 1));
        assert_eq!(features.rows(&table), (vec![1, 3, 0, 2], vec![1.0, 0.5]));
        let schema = Features::schema(false, &features, &Columns::default().features());
        assert_eq!(schema.node_labels[0].words(), ["blue", "red"]);
        assert_eq!(
            (schema.node_labels[1].values(), schema.node_attributes),
            (&[2, 3][..], vec!["x".to_string()])
        );
    }
}
