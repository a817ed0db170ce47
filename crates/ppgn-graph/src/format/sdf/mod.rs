//! SDF: one mol block after another, V2000 or V3000, each with data tags (`> <logP>`) behind it.
//!
//! A record that is wrong ends at its `$$$$`, and the next one can be read. `v2000` and `v3000` read the two kinds of
//! blocks into the same [`Record`]. What the molecules become is up to the caller: QM9's files have features of their own
//! ([`qm9`](super::qm9)), all others go through [`molecules`](super::molecules).

mod v2000;
mod v3000;

use super::columns::Columns;
use super::lines::Lines;
use super::molecules::{Dimension, Molecules};
use super::{Entry, Format, ReadOptions, Report, Source};
use crate::chem::Molecule;
use crate::dataset::Dataset;
use crate::error::{Defect, Error, Result};
use std::io::BufRead;

/// Reads the records of an SDF: a graph per molecule, tags as targets and classes.
pub(crate) fn read(
    source: &Source,
    entry: &Entry,
    options: &ReadOptions,
    report: &mut Report,
) -> Result<Dataset> {
    let mut molecules = Molecules::new(source);
    let mut columns = Columns::new(options.class.as_deref(), source.limits());
    let mut records = Records::new(source.lines(entry)?);
    let mut record = Record::default();
    while let Some(read) = records.next(&mut record)? {
        let graph = records.count - 1;
        let result = read.and_then(|()| {
            let wrong = |message| Defect::new(records.lines.file(), message).line(records.first_line);
            let places =
                record.tags.iter().map(|tag| columns.place(&tag.name)).collect::<Result<Vec<_>, _>>();
            let places = places.map_err(wrong)?;
            molecules.see(record.stereo, record.isotopes);
            let dimension = record.dimension();
            let positions = Some((&record.positions[..], dimension));
            molecules.add(&mut record.molecule, positions, records.first_line).map_err(wrong)?;
            for (Tag { value, line, .. }, place) in record.tags.iter().zip(places) {
                columns.set(place, value, *line);
            }
            columns.end_row();
            Ok(String::from_utf8_lossy(&record.title).into_owned())
        });
        if let Some(title) = report.absorb(result.map_err(|defect| Error::Defect(defect.graph(graph))))? {
            molecules.name(title);
        }
        molecules.meter()?;
    }
    if records.count == 0 {
        report.defect(Defect::new(records.lines.file(), "no molecules in it"))?;
    }
    let learned = columns.finish().map_err(|message| Defect::new(records.lines.file(), message))?;
    molecules.finish(source, entry, Format::Sdf, learned, report)
}

/// A data tag.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tag {
    pub(crate) name: String,
    pub(crate) value: Vec<u8>,
    /// The line of its name.
    pub(crate) line: u64,
}

/// One molecule with what belongs to it; reused from record to record.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record {
    pub(crate) molecule: Molecule,
    /// Where its atoms are, in angstrom, or on paper.
    pub(crate) positions: Vec<[f64; 3]>,
    /// Its first line.
    pub(crate) title: Vec<u8>,
    pub(crate) tags: Vec<Tag>,
    /// Whether the second line says 2D or 3D.
    marked: Option<Dimension>,
    /// Whether it has stereo marks and isotopes.
    pub(crate) stereo: bool,
    pub(crate) isotopes: bool,
}

impl Record {
    fn clear(&mut self) {
        self.molecule.clear();
        self.positions.clear();
        self.title.clear();
        self.tags.clear();
        (self.marked, self.stereo, self.isotopes) = (None, false, false);
    }

    /// What the coordinates are. The depth of an atom counts for more than the mark, which many programs get wrong.
    pub(crate) fn dimension(&self) -> Dimension {
        let deep = self.positions.iter().any(|p| p[2] != 0.0);
        let all_zero = self.positions.iter().all(|p| *p == [0.0; 3]);
        match self.marked {
            _ if deep => Dimension::Space,
            _ if self.positions.len() == 1 => Dimension::Either,
            _ if all_zero => Dimension::Paper,
            Some(marked) => marked,
            None => Dimension::Either,
        }
    }
}

/// Why a record was not read.
enum Stop {
    /// It is wrong; the next one may be right.
    Record(String),
    /// Reading the file failed.
    File(Error),
}

impl From<String> for Stop {
    fn from(message: String) -> Self {
        Stop::Record(message)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::File(error)
    }
}

/// The records of the file, one after another.
pub(crate) struct Records<R> {
    pub(crate) lines: Lines<R>,
    /// The number of the first line of the record that was read last.
    pub(crate) first_line: u64,
    /// The number of records read or begun.
    pub(crate) count: usize,
    /// Whether the record that was read last has come to its end, and whether that was the end of the file.
    ended: bool,
    at_end_of_file: bool,
}

/// The sizes that the fourth line of a record gives.
enum Counts {
    V2000 { atoms: usize, bonds: usize },
    V3000,
}

impl<R: BufRead> Records<R> {
    pub(crate) fn new(lines: Lines<R>) -> Self {
        Records { lines, first_line: 0, count: 0, ended: true, at_end_of_file: false }
    }

    /// Reads the next record: `None` at the end of the file, and in it a defect if the record is wrong. An error means
    /// that reading the file failed.
    pub(crate) fn next(&mut self, record: &mut Record) -> Result<Option<Result<(), Defect>>> {
        record.clear();
        self.ended = false;
        let read = match self.heading(record) {
            Ok(None) => return Ok(None),
            Ok(Some(Counts::V2000 { atoms, bonds })) => self.v2000(record, atoms, bonds),
            Ok(Some(Counts::V3000)) => self.v3000(record),
            Err(stop) => Err(stop),
        };
        self.count += 1;
        // Where reading stopped is where the record is wrong; what follows is looked through for its end.
        let result = match read.and_then(|()| self.tags(record)) {
            Ok(()) => Ok(()),
            Err(Stop::Record(message)) => Err(self.lines.defect(message)),
            Err(Stop::File(error)) => return Err(error),
        };
        while !self.ended && self.line()?.is_some() {}
        Ok(Some(result))
    }

    /// The next line, if neither the record nor the file ends before it.
    fn line(&mut self) -> Result<Option<&[u8]>> {
        if self.ended {
            return Ok(None);
        }
        let Some(line) = self.lines.next()? else {
            (self.ended, self.at_end_of_file) = (true, true);
            return Ok(None);
        };
        self.ended = line.starts_with(b"$$$$");
        Ok(Some(line).filter(|_| !self.ended))
    }

    /// Three lines, the first of them the title, and the one with the numbers of atoms and bonds, which it gives. `None`
    /// if nothing but blank lines is left.
    fn heading(&mut self, record: &mut Record) -> Result<Option<Counts>, Stop> {
        let mut blank = true;
        for i in 0u64.. {
            let Some(line) = self.line()? else {
                let what = if self.at_end_of_file { "the file" } else { "a record" };
                return match blank && self.at_end_of_file {
                    true => Ok(None),
                    false => Err(format!("{what} ends before the numbers of atoms and bonds").into()),
                };
            };
            blank &= line.is_empty();
            if i == 0 {
                record.title.extend_from_slice(line.trim_ascii());
                self.first_line = self.lines.number();
            } else if i == 1 {
                // Two initials, eight characters of a program, ten of a date, then this.
                record.marked = match line.get(20..22) {
                    Some(b"2D") => Some(Dimension::Paper),
                    Some(b"3D") => Some(Dimension::Space),
                    _ => None,
                };
            } else if i >= 3 && !blank {
                // The three lines may be blank, the fourth may not: then they were not the head of a record.
                return Ok(Some(v2000::counts(line)?));
            }
        }
        Ok(None)
    }

    /// The data tags behind the mol block: a line `> <name>`, then lines of its value up to a blank one.
    fn tags(&mut self, record: &mut Record) -> Result<(), Stop> {
        let mut open: Option<Tag> = None;
        while let Some(line) = self.line()? {
            if let Some(tag) = &mut open
                && !line.is_empty()
            {
                if !tag.value.is_empty() {
                    tag.value.push(b' ');
                }
                tag.value.extend_from_slice(line.trim_ascii());
                continue;
            }
            record.tags.extend(open.take());
            if let Some(name) = tag_name(line) {
                let name = String::from_utf8_lossy(name).into_owned();
                open = Some(Tag { name, value: Vec::new(), line: self.lines.number() });
            }
        }
        record.tags.extend(open);
        Ok(())
    }
}

/// The name in the line of a data tag: between the first `<` and the last `>`.
fn tag_name(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b">")?;
    let start = rest.iter().position(|&b| b == b'<')? + 1;
    let end = rest.iter().rposition(|&b| b == b'>').filter(|&end| end > start)?;
    Some(rest[start..end].trim_ascii())
}
