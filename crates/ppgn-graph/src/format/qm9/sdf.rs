//! QM9 as an SDF: one V2000 mol block after another, with the targets in a CSV beside it.
//!
//! A mol block has fixed columns, so numbers may touch one another; everything is cut out by column, never by blanks.
//! A record that is wrong ends at its `$$$$`, and the next one can be read.

use super::aromatic::perceive;
use super::beside::{TargetTable, uncharacterised};
use super::elements::atomic_number;
use super::molecule::{AROMATIC, Bond};
use super::{Collector, Molecule};
use crate::dataset::Dataset;
use crate::error::{Defect, Error, Result};
use crate::format::lines::{Lines, integer, real, show, tokens};
use crate::format::{Entry, Format, Report, Source};
use std::collections::HashSet;
use std::io::BufRead;

/// Reads the records of an SDF and the files beside it.
pub(crate) fn read(source: &Source, entry: &Entry, report: &mut Report) -> Result<Dataset> {
    let table = source.beside(entry, &format!("{}.csv", entry.file_name()));
    let mut table = table.map(|e| TargetTable::read(source, &e, report)).transpose()?;
    let excluded = source.beside(entry, "uncharacterized.txt");
    let excluded = excluded.map(|e| uncharacterised(source, &e)).transpose()?.unwrap_or_default();

    let mut collector = Collector::default();
    let mut records = Records::new(source.lines(entry)?);
    let mut skipped = 0;
    let mut unperceived = 0;
    while let Some(result) = records.next(&mut collector)? {
        let graph = records.count - 1;
        if is_excluded(&excluded, &records.title, graph) {
            // Its row of the table is used up all the same.
            let _ = table.as_mut().map(|t| t.targets(graph, &records.title));
            skipped += 1;
            continue;
        }
        let result = result.and_then(|()| {
            unperceived += usize::from(!finish(&mut collector.molecule));
            let row = table.as_mut().map(|t| t.targets(graph, &records.title)).transpose();
            let add = |row: Option<[f64; 12]>| collector.add(row.as_ref().map_or(&[], |r| r));
            row.and_then(add)
                .map_err(|message| Defect::new(records.lines.file(), message).line(records.first_line))
        });
        report.absorb(result.map_err(|defect| Error::Defect(defect.graph(graph))))?;
    }
    if records.count == 0 {
        report.defect(Defect::new(records.lines.file(), "no molecules in it"))?;
    }
    if let Some(table) = &table {
        report.absorb(table.check_count(records.count))?;
    }
    if skipped > 0 {
        collector.note(format!("{skipped} molecules of uncharacterized.txt left out"), report);
    }
    if unperceived > 0 {
        let note = format!("{unperceived} molecules with too many rings to perceive aromaticity");
        collector.note(note, report);
    }
    collector.finish(source, Format::Sdf, table.is_some())
}

/// Whether a molecule is on the list: by the number in a title `gdb_7`, else by its place in the file.
fn is_excluded(excluded: &HashSet<u64>, title: &[u8], record: usize) -> bool {
    let number = title.strip_prefix(b"gdb_").and_then(integer).and_then(|n| u64::try_from(n).ok());
    excluded.contains(&number.unwrap_or(record as u64 + 1))
}

/// Connects a molecule and writes it as RDKit would, with its aromatic bonds; false if those could not be determined.
fn finish(molecule: &mut Molecule) -> bool {
    molecule.connect();
    molecule.charge_nitro_groups();
    perceive(molecule)
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
struct Records<R> {
    lines: Lines<R>,
    /// The first line of the record that was read last.
    title: Vec<u8>,
    /// The number of that line.
    first_line: u64,
    /// The number of records read or begun.
    count: usize,
    /// Whether the record that was read last has come to its end, and whether that was the end of the file.
    ended: bool,
    at_end_of_file: bool,
}

impl<R: BufRead> Records<R> {
    fn new(lines: Lines<R>) -> Self {
        Records { lines, title: Vec::new(), first_line: 0, count: 0, ended: true, at_end_of_file: false }
    }

    /// Reads the next record's molecule into the collector: `None` at the end of the file, and in it a defect if the
    /// record is wrong. An error means that reading the file failed.
    fn next(&mut self, collector: &mut Collector) -> Result<Option<Result<(), Defect>>> {
        collector.clear();
        self.ended = false;
        let read = match self.heading() {
            Ok(None) => return Ok(None),
            Ok(Some((atoms, bonds))) => self.block(collector, atoms, bonds),
            Err(stop) => Err(stop),
        };
        self.count += 1;
        // Where reading stopped is where the record is wrong; what follows is looked through for its end.
        let result = match read {
            Ok(()) => Ok(()),
            Err(Stop::Record(message)) => Err(self.lines.defect(message)),
            Err(Stop::File(error)) => return Err(error),
        };
        while !self.ended && self.line()?.is_some() {}
        Ok(Some(result))
    }

    /// The next line, if neither the record nor the file ends before it.
    fn line(&mut self) -> Result<Option<&[u8]>> {
        let Some(line) = self.lines.next()? else {
            (self.ended, self.at_end_of_file) = (true, true);
            return Ok(None);
        };
        self.ended = line.starts_with(b"$$$$");
        Ok(Some(line).filter(|_| !self.ended))
    }

    /// Three lines, the first of them the title, and the one with the numbers of atoms and bonds, which it gives. `None`
    /// if nothing but blank lines is left.
    fn heading(&mut self) -> Result<Option<(usize, usize)>, Stop> {
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
                let title = line.trim_ascii().to_vec();
                self.title = title;
                self.first_line = self.lines.number();
            } else if i >= 3 && !blank {
                // The three lines may be blank, the fourth may not: then they were not the head of a record.
                return Ok(Some(counts(line)?));
            }
        }
        Ok(None)
    }

    /// The atoms, bonds and properties.
    fn block(&mut self, collector: &mut Collector, atoms: usize, bonds: usize) -> Result<(), Stop> {
        let molecule = &mut collector.molecule;
        for i in 0..atoms {
            let Some(line) = self.line()? else {
                return Err(format!("the record ends after {i} of its {atoms} atoms").into());
            };
            let (element, position, charge) = atom(line)?;
            molecule.atoms.push(element);
            collector.positions.push(position);
            molecule.stated.extend((charge != 0).then_some((i as u32, charge)));
        }
        for i in 0..bonds {
            let Some(line) = self.line()? else {
                return Err(format!("the record ends after {i} of its {bonds} bonds").into());
            };
            molecule.bonds.push(bond(line, atoms)?);
        }
        self.properties(molecule)
    }

    /// The lines up to `M  END`. Old files have none: then the record's end is good enough, but not the file's.
    fn properties(&mut self, molecule: &mut Molecule) -> Result<(), Stop> {
        let mut first = true;
        while let Some(line) = self.line()? {
            if line.starts_with(b"M  END") {
                return Ok(());
            }
            if let Some(list) = line.strip_prefix(b"M  CHG") {
                // Such a line takes the place of all charges in the atoms' own lines.
                if std::mem::take(&mut first) {
                    molecule.stated.clear();
                }
                charges(list, molecule)?;
            }
        }
        match self.at_end_of_file {
            true => Err(Stop::Record("the file ends within a record".into())),
            false => Ok(()),
        }
    }
}

/// The content of these columns, counted from 0, without surrounding blanks.
fn cut(line: &[u8], columns: std::ops::Range<usize>) -> &[u8] {
    let end = columns.end.min(line.len());
    line.get(columns.start..end).unwrap_or_default().trim_ascii()
}

fn number(line: &[u8], columns: std::ops::Range<usize>, what: &str) -> Result<i64, String> {
    let text = cut(line, columns.clone());
    integer(text).ok_or_else(|| {
        format!("{what}, columns {} to {}: {} is not an integer", columns.start + 1, columns.end, show(text))
    })
}

/// The numbers of atoms and bonds.
fn counts(line: &[u8]) -> Result<(usize, usize), String> {
    if line.windows(5).any(|w| w == b"V3000") {
        return Err(
            "a mol block of version V3000; ppgn reads V2000, to which Open Babel and RDKit convert it".into(),
        );
    }
    let count = |columns, what| {
        let count = number(line, columns, what)?;
        usize::try_from(count).map_err(|_| format!("{what}: {count} is negative"))
    };
    Ok((count(0..3, "the number of atoms")?, count(3..6, "the number of bonds")?))
}

/// An atom's element, position and charge.
fn atom(line: &[u8]) -> Result<(u8, [f64; 3], i32), String> {
    let mut position = [0.0; 3];
    for (i, x) in position.iter_mut().enumerate() {
        let text = cut(line, 10 * i..10 * i + 10);
        *x = real(text).ok_or_else(|| {
            let columns = format!("columns {} to {}", 10 * i + 1, 10 * i + 10);
            format!("a coordinate, {columns}: {} is not a finite number", show(text))
        })?;
    }
    let symbol = cut(line, 31..34);
    let element = atomic_number(symbol).ok_or_else(|| format!("{} is not an element", show(symbol)))?;
    let charge = match cut(line, 36..39) {
        b"" | b"0" | b"4" => 0, // 4 is a radical
        code => match integer(code) {
            Some(code @ 1..=7) => 4 - code as i32,
            _ => return Err(format!("{} is not a code of a charge, which is 0 to 7", show(code))),
        },
    };
    Ok((element, position, charge))
}

fn bond(line: &[u8], atoms: usize) -> Result<Bond, String> {
    let end = |columns| match number(line, columns, "an atom of a bond")? {
        a if a >= 1 && a <= atoms as i64 => Ok(a as u32 - 1),
        a => Err(format!("atom {a} is out of range, the molecule has {atoms} atoms (numbered from 1)")),
    };
    let (a, b) = (end(0..3)?, end(3..6)?);
    if a == b {
        return Err(format!("a bond from atom {} to itself", a + 1));
    }
    match number(line, 6..9, "the type of a bond")? {
        kind if (1..=i64::from(AROMATIC)).contains(&kind) => Ok(Bond { a, b, kind: kind as u8 }),
        kind => Err(format!("type {kind}, but a bond is of type 1, 2, 3 or 4 (aromatic)")),
    }
}

/// The charges of a property line: how many, then atom and charge of each.
fn charges(list: &[u8], molecule: &mut Molecule) -> Result<(), String> {
    let values: Option<Vec<i64>> = tokens(list).map(integer).collect();
    let wrong = || format!("the charges {} are not a count and pairs of atom and charge", show(list));
    let values = values.ok_or_else(wrong)?;
    let (count, pairs) = values.split_first().ok_or_else(wrong)?;
    if pairs.len() as i64 % 2 != 0 || pairs.len() as i64 / 2 != *count {
        return Err(wrong());
    }
    for pair in pairs.chunks_exact(2) {
        let atoms = molecule.atoms.len();
        if pair[0] < 1 || pair[0] > atoms as i64 {
            return Err(format!(
                "charge of atom {}, but the molecule has {atoms} (numbered from 1)",
                pair[0]
            ));
        }
        if !(-15..=15).contains(&pair[1]) {
            return Err(format!("atom {} has the charge {}, beyond 15", pair[0], pair[1]));
        }
        if pair[1] != 0 {
            molecule.stated.push((pair[0] as u32 - 1, pair[1] as i32));
        }
    }
    Ok(())
}
