//! Splits as tables: one row per graph, with its part. People bring such files, and every run leaves one.

use super::Split;
use crate::dataset::Dataset;
use crate::error::{Defect, Result};
use crate::file::open_regular;
use crate::format::csv::Csv;
use crate::format::lines::Lines;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The names of the column that has the parts.
const PART: [&str; 3] = ["part", "split", "set"];

/// The names of the column that has the graphs' numbers, counted from 0. `ppgn predict` calls it `index`.
const POSITION: [&str; 2] = ["position", "index"];

/// A column of a table about the graphs of a dataset: one word per graph.
#[derive(Debug, Clone)]
pub struct Listed {
    file: String,
    column: String,
    /// The word of every graph, and its line.
    words: Vec<(String, u64)>,
}

impl Listed {
    /// Reads a column of a CSV file; without a name, the first that is called `part`, `split` or `set`.
    ///
    /// Rows belong to graphs by `id`, where the file has such a column and the dataset has ids, else by `position`, counted
    /// from 0. A file with neither has one row per graph, in order. Every graph must have one row.
    pub fn read(path: &Path, dataset: &Dataset, column: Option<&str>) -> Result<Self> {
        let file = open_regular(path)?;
        Listed::from_reader(BufReader::new(file), &path.display().to_string(), dataset, column)
    }

    fn from_reader(
        reader: impl BufRead,
        file: &str,
        dataset: &Dataset,
        column: Option<&str>,
    ) -> Result<Self> {
        let mut csv = Csv::open(Lines::new(reader, file))?;
        let names = csv.names().to_vec();
        let place = |wanted: &[&str]| {
            wanted.iter().find_map(|name| names.iter().position(|n| n.eq_ignore_ascii_case(name)))
        };
        let found = match column {
            Some(name) => names.iter().position(|n| n == name),
            None => place(&PART),
        };
        let Some(found) = found else {
            let wanted = column.unwrap_or("part");
            let names = names.join(", ");
            return Err(Defect::new(file, format!("no column `{wanted}`; it has {names}")).into());
        };
        let keys = Keys::new(dataset, place(&["id"]), place(&POSITION));
        let mut words: Vec<Option<(String, u64)>> = vec![None; dataset.len()];
        let mut rows = 0;
        while csv.advance()? {
            csv.check_width()?;
            let graph = keys.graph(&csv, rows).map_err(|message| csv.defect(message))?;
            if let Some((_, line)) = &words[graph] {
                let message = format!("{} is also in line {line}", called(dataset, graph));
                return Err(csv.defect(message).into());
            }
            let word = String::from_utf8_lossy(csv.cell(found)).into_owned();
            words[graph] = Some((word, csv.line()));
            rows += 1;
        }
        if let Some(graph) = words.iter().position(Option::is_none) {
            let lost = words.iter().filter(|word| word.is_none()).count();
            let (what, others) = (called(dataset, graph), lost - 1);
            let others = if others > 0 { format!(" (nor have {others} others)") } else { String::new() };
            return Err(Defect::new(
                file,
                format!(
                    "{what} of {} has no row{others}; the part `none` leaves a graph out",
                    dataset.name()
                ),
            )
            .into());
        }
        let words = words.into_iter().flatten().collect();
        Ok(Listed { file: file.to_string(), column: names[found].clone(), words })
    }

    /// The words as parts: `train`, `validation` (`valid`, `val`, `dev`), `test`, and `none` or nothing for a graph that is
    /// left out. Capital letters do not matter.
    pub fn parts(&self) -> Result<Split> {
        let mut split = Split::default();
        for (graph, (word, line)) in self.words.iter().enumerate() {
            match part(word) {
                Some(Part::Train) => split.train.push(graph as u32),
                Some(Part::Validation) => split.validation.push(graph as u32),
                Some(Part::Test) => split.test.push(graph as u32),
                Some(Part::None) => {}
                None => {
                    let message = format!(
                        "`{word}` in column `{}` is not a part; there are train, validation, test and none",
                        self.column
                    );
                    return Err(Defect::new(&self.file, message).line(*line).into());
                }
            }
        }
        Ok(split)
    }

    /// Whether every word is the name of a part.
    pub fn has_parts(&self) -> bool {
        self.words.iter().all(|(word, _)| part(word).is_some())
    }

    /// The words, graph by graph.
    pub fn words(&self) -> impl ExactSizeIterator<Item = &str> {
        self.words.iter().map(|(word, _)| word.as_str())
    }
}

enum Part {
    Train,
    Validation,
    Test,
    None,
}

fn part(word: &str) -> Option<Part> {
    match word.to_ascii_lowercase().as_str() {
        "train" | "training" => Some(Part::Train),
        "validation" | "valid" | "val" | "dev" => Some(Part::Validation),
        "test" | "testing" => Some(Part::Test),
        "none" | "" => Some(Part::None),
        _ => None,
    }
}

/// A graph in messages.
fn called(dataset: &Dataset, graph: usize) -> String {
    match dataset.id(graph) {
        Some(id) => format!("graph {graph} (`{id}`)"),
        None => format!("graph {graph}"),
    }
}

/// How the rows of a table belong to graphs.
struct Keys<'a> {
    dataset: &'a Dataset,
    id: Option<usize>,
    position: Option<usize>,
    /// The graphs by id; `None` for an id that several have.
    graphs: HashMap<&'a str, Option<usize>>,
}

impl<'a> Keys<'a> {
    fn new(dataset: &'a Dataset, id: Option<usize>, position: Option<usize>) -> Self {
        let id = id.filter(|_| dataset.has_ids());
        let mut graphs = HashMap::new();
        if id.is_some() {
            for graph in 0..dataset.len() {
                if let Some(id) = dataset.id(graph) {
                    graphs.entry(id.trim()).and_modify(|graph| *graph = None).or_insert(Some(graph));
                }
            }
        }
        Keys { dataset, id, position, graphs }
    }

    /// The graph of the row that was read last, the `row`-th.
    fn graph<R: BufRead>(&self, csv: &Csv<R>, row: usize) -> Result<usize, String> {
        let (name, graphs) = (self.dataset.name(), self.dataset.len());
        if let Some(column) = self.id {
            let id = String::from_utf8_lossy(csv.cell(column));
            match self.graphs.get(id.trim()) {
                Some(Some(graph)) => return Ok(*graph),
                // The position decides.
                _ if self.position.is_some() && (id.is_empty() || self.graphs.contains_key(id.trim())) => {}
                Some(None) => return Err(format!("several graphs of {name} have the id `{id}`")),
                None => return Err(format!("{name} has no graph with the id `{id}`")),
            }
        }
        let Some(column) = self.position else {
            // Rows in the order of the graphs.
            return match row < graphs {
                true => Ok(row),
                false => Err(format!("more rows than the {graphs} graphs of {name}")),
            };
        };
        let cell = String::from_utf8_lossy(csv.cell(column));
        match cell.parse::<usize>() {
            Ok(graph) if graph < graphs => Ok(graph),
            Ok(graph) => Err(format!("no graph {graph} in {name}, which has {graphs} (numbered from 0)")),
            Err(_) => Err(format!("`{cell}` is not a position: a number, counted from 0")),
        }
    }
}

/// A split as a CSV table with the columns `position`, `id` (where graphs have ids) and `part`: what [`Listed`] reads.
///
/// ```
/// use ppgn_graph::split::{Split, to_csv};
/// use ppgn_graph::{Dataset, Graph};
/// let d = Dataset::builder("d").graphs(vec![Graph::undirected(1, [])?; 3]).build()?;
/// let split = Split { train: vec![0, 2], validation: vec![], test: vec![1] };
/// assert_eq!(to_csv(&split, &d), "position,part\n0,train\n1,test\n2,train\n");
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn to_csv(split: &Split, dataset: &Dataset) -> String {
    let parts = part_names(split, dataset.len());
    let ids = dataset.has_ids();
    let mut text = String::from(if ids { "position,id,part\n" } else { "position,part\n" });
    for (graph, part) in parts.iter().enumerate() {
        let part = part.unwrap_or("none");
        let _ = match ids {
            true => writeln!(text, "{graph},{},{part}", quoted(dataset.id(graph).unwrap_or_default())),
            false => writeln!(text, "{graph},{part}"),
        };
    }
    text
}

/// The part of every graph: `train`, `validation`, `test`, or nothing where it is in none.
pub fn part_names(split: &Split, graphs: usize) -> Vec<Option<&'static str>> {
    let mut parts = vec![None; graphs];
    for (list, name) in [(&split.train, "train"), (&split.validation, "validation"), (&split.test, "test")] {
        list.iter().filter(|&&g| (g as usize) < graphs).for_each(|&g| parts[g as usize] = Some(name));
    }
    parts
}

/// A cell of a CSV table, in quotation marks where it needs them.
///
/// ```
/// use ppgn_graph::split::quoted;
/// assert_eq!(quoted("1,2-\"trans\""), "\"1,2-\"\"trans\"\"\"");
/// ```
pub fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r', ';', '\t']) || cell.trim() != cell {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;

    fn dataset(ids: Option<&[&str]>) -> Dataset {
        let graphs = vec![Graph::undirected(1, []).unwrap(); 4];
        let builder = Dataset::builder("d").graphs(graphs);
        match ids {
            None => builder.build().unwrap(),
            Some(ids) => {
                let ids = ids.iter().map(|id| (!id.is_empty()).then(|| id.to_string())).collect();
                builder.ids(ids).build().unwrap()
            }
        }
    }

    fn read(text: &str, ids: Option<&[&str]>) -> Result<Split> {
        Listed::from_reader(text.as_bytes(), "s.csv", &dataset(ids), None)?.parts()
    }

    #[test]
    fn by_position_by_id_and_in_order() {
        let expected = Split { train: vec![0, 3], validation: vec![1], test: vec![2] };
        let ids: Option<&[&str]> = Some(&["a", "b", "c,d", "e"]);
        assert_eq!(read("position,part\n3,train\n2,Test\n1,val\n0,training\n", None).unwrap(), expected);
        assert_eq!(read("id,split\ne,train\n\"c,d\",test\nb,dev\na,train\n", ids).unwrap(), expected);
        assert_eq!(read("x,set\n1,train\n2,valid\n3,test\n4,train\n", None).unwrap(), expected);
        // Without ids in the data, the positions of the same file are used.
        assert_eq!(
            read("id,part,index\nz,train,0\ny,validation,1\nx,test,2\nw,train,3\n", None).unwrap(),
            expected
        );
        // An id that several graphs have, or none, needs a position.
        let twice: Option<&[&str]> = Some(&["a", "", "c", "a"]);
        let text = "position,id,part\n3,a,train\n0,a,train\n1,,validation\n2,c,test\n";
        assert_eq!(read(text, twice).unwrap(), expected);
        assert_eq!(
            read("id,part\na,train\n", twice).unwrap_err().to_string(),
            "s.csv:2: several graphs of d have the id `a`"
        );
        assert_eq!(
            read("position,part\n0,none\n1,\n2,test\n3,train", None).unwrap(),
            Split { train: vec![3], validation: vec![], test: vec![2] }
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |text: &str| read(text, None).unwrap_err().to_string();
        assert_eq!(wrong("position,x\n"), "s.csv: no column `part`; it has position, x");
        assert_eq!(
            wrong("position,part\n0,train\n1,train\n2,tset\n3,test\n"),
            "s.csv:4: `tset` in column `part` is not a part; there are train, validation, test and none"
        );
        assert_eq!(wrong("position,part\n0,train\n0,test\n"), "s.csv:3: graph 0 is also in line 2");
        assert_eq!(
            wrong("position,part\n4,train\n"),
            "s.csv:2: no graph 4 in d, which has 4 (numbered from 0)"
        );
        assert_eq!(
            wrong("position,part\n-1,train\n"),
            "s.csv:2: `-1` is not a position: a number, counted from 0"
        );
        assert_eq!(
            wrong("position,part\n0,train\n2,test\n"),
            "s.csv: graph 1 of d has no row (nor have 1 others); the part `none` leaves a graph out"
        );
        assert_eq!(wrong("part\n1\n2\n3\n4\n5\n"), "s.csv:6: more rows than the 4 graphs of d");
        let unknown = read("id,part\nq,train\n", Some(&["a", "b", "c", "d"])).unwrap_err();
        assert_eq!(unknown.to_string(), "s.csv:2: d has no graph with the id `q`");
        assert!(Listed::read(Path::new("/nowhere/s.csv"), &dataset(None), None).is_err());
    }

    #[test]
    fn what_is_written_is_read() {
        let split = Split { train: vec![1], validation: vec![3], test: vec![0] };
        for ids in [None, Some(&["a", "b \"x\", y", " c", "d"][..]), Some(&["a", "", "a", "b"][..])] {
            let text = to_csv(&split, &dataset(ids));
            assert_eq!(read(&text, ids).unwrap(), split, "{text}");
        }
    }
}
