//! QM9 as an SDF, with the targets in a CSV beside it.
//!
//! The records are read as of any SDF; what differs is what becomes of them: 13 features per atom, positions, and twelve
//! targets from the CSV. All hydrogens are atoms, and charges are implied by bonds where the file states none.

use super::Collector;
use super::beside::{TargetTable, uncharacterised};
use crate::chem::{normalise, perceive};
use crate::dataset::Dataset;
use crate::error::{Defect, Error, Result};
use crate::format::lines::integer;
use crate::format::sdf::{Record, Records};
use crate::format::{Entry, Format, Report, Source};
use std::collections::HashSet;

/// Whether an SDF is the set called QM9: by its name, as its authors and its copies have it.
pub(crate) fn is_qm9(entry: &Entry) -> bool {
    let name = entry.file_name().to_ascii_lowercase();
    name.contains("gdb9") || name.contains("qm9")
}

/// Reads the records of an SDF and the files beside it.
pub(crate) fn read(source: &Source, entry: &Entry, report: &mut Report) -> Result<Dataset> {
    let table = source.beside(entry, &format!("{}.csv", entry.file_name()));
    let mut table = table.map(|e| TargetTable::read(source, &e, report)).transpose()?;
    let excluded = source.beside(entry, "uncharacterized.txt");
    let excluded = excluded.map(|e| uncharacterised(source, &e)).transpose()?.unwrap_or_default();

    let mut collector = Collector::default();
    let mut records = Records::new(source.lines(entry)?);
    let mut record = Record::default();
    let mut skipped = 0;
    let mut unperceived = 0;
    while let Some(result) = records.next(&mut record)? {
        let graph = records.count - 1;
        if is_excluded(&excluded, &record.title, graph) {
            // Its row of the table is used up all the same.
            let _ = table.as_mut().map(|t| t.targets(graph, &record.title));
            skipped += 1;
            continue;
        }
        let result = result.and_then(|()| {
            std::mem::swap(&mut collector.molecule, &mut record.molecule);
            std::mem::swap(&mut collector.positions, &mut record.positions);
            unperceived += usize::from(!finish(&mut collector));
            let row = table.as_mut().map(|t| t.targets(graph, &record.title)).transpose();
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
fn finish(collector: &mut Collector) -> bool {
    let molecule = &mut collector.molecule;
    collector.stated = molecule.charges.iter().any(|&charge| charge != 0);
    molecule.connect();
    collector.charge();
    normalise(&mut collector.molecule);
    collector.charge();
    collector.molecule.find_rings();
    perceive(&mut collector.molecule)
}
