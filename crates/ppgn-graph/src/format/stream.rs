//! What the formats with one graph per line share: turning a step function into a stream of records, and writing such
//! a stream line by line.
//!
//! Both directions hold one record at a time, so a dataset larger than memory passes through.

use super::lines::LONGEST;
use crate::dataset::Record;
use crate::error::{Error, Result};
use crate::file::write_atomically;
use std::io::Write;
use std::path::Path;

/// The records that `step` gives, until it gives none or fails. After an error the stream is over.
pub(crate) fn records<'a>(
    mut step: impl FnMut() -> Result<Option<Record>> + 'a,
) -> Box<dyn Iterator<Item = Result<Record>> + 'a> {
    let mut over = false;
    Box::new(std::iter::from_fn(move || {
        if over {
            return None;
        }
        let item = step().transpose();
        over = !matches!(item, Some(Ok(_)));
        item
    }))
}

/// Counts something that deserves a single note at the end, however often it occurs.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Tally {
    /// The number of occurrences.
    pub(crate) count: usize,
    /// The number of graphs with one.
    pub(crate) graphs: usize,
    /// The first line with one.
    pub(crate) first: u64,
}

impl Tally {
    /// Counts what was seen in the graph of a line.
    pub(crate) fn add(&mut self, count: usize, line: u64) {
        if count > 0 {
            self.first = if self.graphs == 0 { line } else { self.first };
            self.count += count;
            self.graphs += 1;
        }
    }

    /// The note on edges that were given more than once, if there were any.
    pub(crate) fn merged_edges(&self, file: &str) -> Option<String> {
        let Tally { count, graphs, first } = self;
        (*count > 0).then(|| {
            format!(
                "{file}: {count} repeated edges in {graphs} graphs were merged, the first in line {first}"
            )
        })
    }
}

/// Writes `first`, then one line per record, as `encode` appends it to the buffer.
///
/// Fails, and leaves no file, if the records are not `expected` many, as their header says, or if a line would be
/// longer than ppgn reads.
pub(crate) fn write_lines(
    expected: usize,
    records: impl Iterator<Item = Result<Record>>,
    out: &Path,
    first: &[u8],
    mut encode: impl FnMut(&Record, &mut Vec<u8>) -> Result<(), String>,
) -> Result<()> {
    if expected == 0 {
        return Err(Error::unfit(format!("no graphs to write to {}", out.display())));
    }
    write_atomically(out, |file| {
        let mut written = 0;
        file.write_all(first).map_err(|e| Error::io(out, e))?;
        let mut line = Vec::new();
        for record in records {
            let record = record?;
            let unfit = |message: String| Error::unfit(format!("graph {written}: {message}"));
            if written == expected {
                return Err(Error::unfit(format!("more graphs than the {expected} announced")));
            }
            line.clear();
            encode(&record, &mut line).map_err(unfit)?;
            line.push(b'\n');
            if line.len() > LONGEST {
                return Err(unfit(too_long(line.len() as u128)));
            }
            file.write_all(&line).map_err(|e| Error::io(out, e))?;
            written += 1;
        }
        match written == expected {
            true => Ok(()),
            false => Err(Error::unfit(format!("{expected} graphs were announced, {written} came"))),
        }
    })
}

/// The message for a line that is too long to be read again.
pub(crate) fn too_long(bytes: u128) -> String {
    format!("its line would have {bytes} bytes, but ppgn reads at most {LONGEST}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;

    #[test]
    fn what_is_announced_is_written_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("x");
        let write = |graphs, given| {
            let graph = Graph::undirected(1, []).unwrap();
            let records = (0..given).map(|_| Ok(graph.clone().into()));
            write_lines(graphs, records, &out, b"first\n", |_, line| {
                line.extend(b"g");
                Ok(())
            })
        };
        for (graphs, given, message) in [
            (0, 0, format!("no graphs to write to {}", out.display())),
            (2, 1, "2 graphs were announced, 1 came".to_string()),
            (2, 3, "more graphs than the 2 announced".to_string()),
        ] {
            assert_eq!(write(graphs, given).unwrap_err().to_string(), message);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
        }
        write(2, 2).unwrap();
        assert_eq!(std::fs::read(&out).unwrap(), b"first\ng\ng\n");
    }

    #[test]
    fn an_error_ends_the_stream_and_no_file_appears() {
        let mut steps = vec![Err(Error::unfit("broken")), Ok(Some(Graph::undirected(1, []).unwrap().into()))];
        let mut stream = records(move || steps.pop().unwrap());
        assert!(stream.next().unwrap().is_ok());
        assert!(stream.next().unwrap().is_err());
        assert!(stream.next().is_none());

        let folder = tempfile::tempdir().unwrap();
        let broken = records(|| Err(Error::unfit("broken")));
        let error = write_lines(2, broken, &folder.path().join("x"), b"", |_, _| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "broken");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
