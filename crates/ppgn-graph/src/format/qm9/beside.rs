//! The files that lie beside an SDF of QM9: a CSV of targets, and the list of molecules that QM9's authors exclude.

use super::TARGETS;
use crate::error::{Defect, Result};
use crate::format::lines::{integer, real, show, tokens};
use crate::format::{Entry, Report, Source};
use std::collections::{HashMap, HashSet};

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
        let mut lines = source.lines(entry)?;
        let file = lines.file().to_string();
        let Some(header) = lines.next_filled()? else {
            return Err(Defect::new(file, "an empty file, but targets are needed").into());
        };
        let header = header.strip_prefix(b"\xef\xbb\xbf").unwrap_or(header);
        let names: Vec<Vec<u8>> = fields(header).map(<[u8]>::to_vec).collect();
        let names = || names.iter().map(Vec::as_slice);
        let width = names().count();
        let mut columns = [0; TARGETS.len()];
        for (column, (target, _)) in columns.iter_mut().zip(TARGETS) {
            *column = column_of(target, names()).ok_or_else(|| {
                lines.defect(format!("no column for the target `{target}` in the first line"))
            })?;
        }
        let id = names().position(|name| name.eq_ignore_ascii_case(b"mol_id"));
        let mut table =
            TargetTable { file, rows: Vec::new(), ids: HashMap::new(), by_title: None, used: Vec::new() };
        while let Some(line) = lines.next_filled()? {
            let parsed = row(line, width, &columns);
            let id = id.and_then(|i| fields(line).nth(i)).map(Box::from);
            let place = table.rows.len();
            let repeated = id.is_some_and(|id: Box<[u8]>| table.ids.insert(id, place).is_some());
            let checked = match parsed {
                Ok(_) if repeated => Err("the mol_id of an earlier row".into()),
                other => other,
            };
            let defect = |message: String| lines.defect(message).graph(place).into();
            let values = report.absorb(checked.map_err(defect))?;
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

/// The numbers of a line that has `width` fields.
fn row(line: &[u8], width: usize, columns: &[usize]) -> Result<[f64; TARGETS.len()], String> {
    let count = fields(line).count();
    if count != width {
        return Err(format!("{count} fields, but the first line names {width}"));
    }
    let mut values = [0.0; TARGETS.len()];
    for (i, field) in fields(line).enumerate() {
        for (value, _) in values.iter_mut().zip(columns).filter(|(_, column)| **column == i) {
            *value = real(field).ok_or_else(|| format!("{} is not a finite number", show(field)))?;
        }
    }
    Ok(values)
}

/// The fields of a line of CSV, without blanks and quotation marks around them. A comma within quotation marks does
/// not end a field.
fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    let fields = line.split(move |&b| {
        quoted ^= b == b'"';
        b == b',' && !quoted
    });
    fields.map(|field| {
        let field = field.trim_ascii();
        field.strip_prefix(b"\"").and_then(|f| f.strip_suffix(b"\"")).unwrap_or(field)
    })
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
    fn fields_of_csv() {
        let all = |line: &'static str| -> Vec<&[u8]> { fields(line.as_bytes()).collect() };
        assert_eq!(all("a, b ,,\"c\",\"d,e\""), [&b"a"[..], b"b", b"", b"c", b"d,e"]);
        assert_eq!(all("\"open,x"), [&b"\"open,x"[..]]);
        assert_eq!(all(""), [b""]);
    }

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
