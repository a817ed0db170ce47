//! The files that lie beside an SDF of QM9: a CSV of targets, and the list of molecules that QM9's authors exclude.

use super::TARGETS;
use crate::error::{Defect, Result};
use crate::format::csv::Csv;
use crate::format::lines::{integer, real, show, tokens};
use crate::format::{Entry, Report, Source};
use std::collections::{HashMap, HashSet};
use std::io::BufRead;

/// The place of a target among the names of columns: by its own name, or as `u298`, `h298`, `g298`; case ignored.
pub(super) fn column_of<'a>(target: &str, mut names: impl Iterator<Item = &'a [u8]>) -> Option<usize> {
    names.position(|name| {
        let name = match name.strip_suffix(b"298") {
            Some(short) if matches!(target, "u" | "h" | "g") => short,
            _ => name,
        };
        name.eq_ignore_ascii_case(target.as_bytes())
    })
}

/// The rows of the CSV. They are assigned to the molecules by the column `mol_id` if the title of the first molecule
/// is in it, else in order.
pub(super) struct TargetTable {
    file: String,
    rows: Vec<[f64; TARGETS.len()]>,
    ids: HashMap<Box<[u8]>, usize>,
    by_title: Option<bool>,
    used: Vec<bool>,
}

impl TargetTable {
    /// Reads the table. In a row with a defect that the report collects, the missing numbers are 0.
    pub(super) fn read(source: &Source, entry: &Entry, report: &mut Report) -> Result<Self> {
        let mut csv = Csv::open(source.lines(entry)?)?;
        let names = || csv.names().iter().map(String::as_bytes);
        let mut columns = [0; TARGETS.len()];
        for (column, (target, _)) in columns.iter_mut().zip(TARGETS) {
            *column = column_of(target, names()).ok_or_else(|| {
                csv.defect(format!("no column for the target `{target}` in the first line"))
            })?;
        }
        let id = names().position(|name| name.eq_ignore_ascii_case(b"mol_id"));
        let file = csv.file().to_string();
        let mut table =
            TargetTable { file, rows: Vec::new(), ids: HashMap::new(), by_title: None, used: Vec::new() };
        while csv.advance()? {
            let parsed = row(&csv, &columns);
            let id = id.map(|i| csv.cell(i)).map(Box::from);
            let place = table.rows.len();
            let repeated = id.is_some_and(|id: Box<[u8]>| table.ids.insert(id, place).is_some());
            let checked = match parsed {
                Ok(_) if repeated => Err(csv.defect("the mol_id of an earlier row")),
                other => other,
            };
            let values = report.absorb(checked.map_err(|defect| defect.graph(place).into()))?;
            table.rows.push(values.unwrap_or_default());
        }
        table.used = vec![false; table.rows.len()];
        Ok(table)
    }

    /// The targets of molecule `i` of this title. The error says why there are none.
    pub(super) fn targets(&mut self, i: usize, title: &[u8]) -> Result<[f64; TARGETS.len()], String> {
        let named = self.ids.get(title).copied();
        let by_title = *self.by_title.get_or_insert(named.is_some());
        let row = match (by_title, named) {
            (true, None) => return Err(format!("no row of {} has the mol_id {}", self.file, show(title))),
            (true, Some(row)) => row,
            // Taking rows in order is a guess; a title that contradicts it must not pass.
            (false, Some(row)) if row != i => {
                return Err(format!(
                    "{} is not in the order of the molecules: row {row} has its mol_id",
                    self.file
                ));
            }
            (false, _) => i,
        };
        match self.used.get_mut(row) {
            None => Err(format!("{} has {} rows only", self.file, self.rows.len())),
            Some(true) => Err(format!("a second molecule of the title {}", show(title))),
            Some(used) => {
                *used = true;
                Ok(self.rows[row])
            }
        }
    }

    /// A defect unless there is one row per molecule.
    pub(super) fn check_count(&self, molecules: usize) -> Result<()> {
        match self.rows.len() == molecules {
            true => Ok(()),
            false => {
                let message =
                    format!("{} rows of targets, but the SDF has {molecules} molecules", self.rows.len());
                Err(Defect::new(&*self.file, message).into())
            }
        }
    }
}

/// The targets in the row that was read last.
fn row<R: BufRead>(csv: &Csv<R>, columns: &[usize]) -> Result<[f64; TARGETS.len()], Defect> {
    csv.check_width()?;
    let mut values = [0.0; TARGETS.len()];
    for (value, &column) in values.iter_mut().zip(columns) {
        let cell = csv.cell(column);
        *value = real(cell).ok_or_else(|| csv.defect(format!("{} is not a finite number", show(cell))))?;
    }
    Ok(values)
}

/// The numbers of the molecules in `uncharacterized.txt`, from 1: what lines begin with, before a SMILES. Its heading
/// has none, or continues with text.
pub(super) fn uncharacterised(source: &Source, entry: &Entry) -> Result<HashSet<u64>> {
    let mut numbers = HashSet::new();
    let mut lines = source.lines(entry)?;
    while let Some(line) = lines.next_filled()? {
        let mut tokens = tokens(line);
        let number = tokens.next().and_then(integer).and_then(|n| u64::try_from(n).ok());
        let is_word = |t: &[u8]| t.iter().any(|b| b.is_ascii_lowercase() && !b"cno".contains(b));
        numbers.extend(number.filter(|&n| n > 0 && !tokens.next().is_some_and(is_word)));
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_by_name() {
        let find = |target| {
            column_of(target, ["mol_id", "A", "U0", "u298", "H", "cv"].map(str::as_bytes).into_iter())
        };
        assert_eq!(
            [find("u0"), find("u"), find("h"), find("g"), find("cv")],
            [Some(2), Some(3), Some(4), None, Some(5)]
        );
    }
}
