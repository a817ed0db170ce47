//! V2000 mol blocks. They have fixed columns, so numbers may touch one another; everything is cut out by column, never by
//! blanks.

use super::{Counts, Record, Records, Stop};
use crate::chem::elements::atomic_number;
use crate::chem::molecule::{AROMATIC, Bond, DATIVE};
use crate::format::lines::{integer, real, show, tokens};
use std::io::BufRead;

impl<R: BufRead> Records<R> {
    /// The atoms, bonds and properties.
    pub(super) fn v2000(&mut self, record: &mut Record, atoms: usize, bonds: usize) -> Result<(), Stop> {
        for i in 0..atoms {
            let Some(line) = self.line()? else {
                return Err(format!("the record ends after {i} of its {atoms} atoms").into());
            };
            atom(line, record)?;
        }
        for i in 0..bonds {
            let Some(line) = self.line()? else {
                return Err(format!("the record ends after {i} of its {bonds} bonds").into());
            };
            let bond = bond(line, atoms)?;
            record.molecule.bonds.push(bond);
            record.stereo |= !matches!(cut(line, 9..12), b"" | b"0");
        }
        self.properties(record)
    }

    /// The lines up to `M  END`. Old files have none: then the record's end is good enough, but not the file's.
    fn properties(&mut self, record: &mut Record) -> Result<(), Stop> {
        let mut first = true;
        while let Some(line) = self.line()? {
            if line.starts_with(b"M  END") {
                return Ok(());
            }
            let kind = line.get(..6).unwrap_or_default();
            let list = line.get(6..).unwrap_or_default();
            match kind {
                b"M  CHG" | b"M  RAD" => {
                    // Such a line takes the place of all charges and radicals in the atoms' own lines.
                    if std::mem::take(&mut first) {
                        record.molecule.charges.fill(0);
                        record.molecule.radicals.fill(0);
                    }
                    match kind {
                        b"M  CHG" => charges(list, record)?,
                        _ => radicals(list, record)?,
                    }
                }
                b"M  ISO" => record.isotopes = true,
                _ => {}
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

/// The numbers of atoms and bonds, or that the block is of version V3000, which gives them later.
pub(super) fn counts(line: &[u8]) -> Result<Counts, String> {
    if line.windows(5).any(|w| w == b"V3000") {
        return Ok(Counts::V3000);
    }
    let count = |columns, what| {
        let count = number(line, columns, what)?;
        usize::try_from(count).map_err(|_| format!("{what}: {count} is negative"))
    };
    Ok(Counts::V2000 {
        atoms: count(0..3, "the number of atoms")?,
        bonds: count(3..6, "the number of bonds")?,
    })
}

/// An atom's element, position, charge or radical, and valence.
fn atom(line: &[u8], record: &mut Record) -> Result<(), String> {
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
    record.isotopes |= matches!(symbol, b"D" | b"T") || !matches!(cut(line, 34..36), b"" | b"0");
    let (charge, radicals) = match cut(line, 36..39) {
        b"" | b"0" => (0, 0),
        b"4" => (0, 1),
        code => match integer(code) {
            Some(code @ 1..=7) => (4 - code as i32, 0),
            _ => return Err(format!("{} is not a code of a charge, which is 0 to 7", show(code))),
        },
    };
    record.stereo |= !matches!(cut(line, 39..42), b"" | b"0");
    let molecule = &mut record.molecule;
    molecule.atoms.push(element);
    molecule.charges.push(charge);
    molecule.radicals.push(radicals);
    molecule.valences.push(match cut(line, 48..51) {
        b"" | b"0" => None,
        text => match integer(text) {
            Some(15) => Some(0),
            Some(valence @ 1..=14) => Some(valence as u8),
            _ => return Err(format!("{} is not a valence, which is 0 to 15", show(text))),
        },
    });
    record.positions.push(position);
    Ok(())
}

fn bond(line: &[u8], atoms: usize) -> Result<Bond, String> {
    let end = |columns| number(line, columns, "an atom of a bond");
    let (a, b) = (end(0..3)?, end(3..6)?);
    let kind = number(line, 6..9, "the type of a bond")?;
    bond_of(a, b, kind, atoms)
}

/// A bond of this type between two atoms that are numbered from 1.
pub(super) fn bond_of(a: i64, b: i64, kind: i64, atoms: usize) -> Result<Bond, String> {
    let end = |a: i64| match a >= 1 && a <= atoms as i64 {
        true => Ok(a as u32 - 1),
        false => Err(format!("atom {a} is out of range, the molecule has {atoms} atoms (numbered from 1)")),
    };
    let (a, b) = (end(a)?, end(b)?);
    if a == b {
        return Err(format!("a bond from atom {} to itself", a + 1));
    }
    match kind {
        1..=4 => Ok(Bond::new(a, b, kind as u8)),
        9 => Ok(Bond::new(a, b, DATIVE)),
        _ => Err(format!("type {kind}, but a bond is of type 1, 2, 3, {AROMATIC} (aromatic) or 9 (dative)")),
    }
}

/// The pairs of a property line: how many, then atom and value of each.
fn pairs(list: &[u8], what: &str, atoms: usize) -> Result<Vec<(usize, i64)>, String> {
    let values: Option<Vec<i64>> = tokens(list).map(integer).collect();
    let wrong = || format!("the {what}s {} are not a count and pairs of atom and {what}", show(list));
    let values = values.ok_or_else(wrong)?;
    let (count, pairs) = values.split_first().ok_or_else(wrong)?;
    if pairs.len() as i64 % 2 != 0 || pairs.len() as i64 / 2 != *count {
        return Err(wrong());
    }
    let pair = |pair: &[i64]| match pair[0] >= 1 && pair[0] <= atoms as i64 {
        true => Ok((pair[0] as usize - 1, pair[1])),
        false => Err(format!("{what} of atom {}, but the molecule has {atoms} (numbered from 1)", pair[0])),
    };
    pairs.chunks_exact(2).map(pair).collect()
}

fn charges(list: &[u8], record: &mut Record) -> Result<(), String> {
    for (atom, charge) in pairs(list, "charge", record.molecule.atoms.len())? {
        record.molecule.charges[atom] = charge_of(atom, charge)?;
    }
    Ok(())
}

fn radicals(list: &[u8], record: &mut Record) -> Result<(), String> {
    for (atom, code) in pairs(list, "radical", record.molecule.atoms.len())? {
        record.molecule.radicals[atom] = radicals_of(code)?;
    }
    Ok(())
}

/// A charge within bounds.
pub(super) fn charge_of(atom: usize, charge: i64) -> Result<i32, String> {
    match (-15..=15).contains(&charge) {
        true => Ok(charge as i32),
        false => Err(format!("atom {} has the charge {charge}, beyond 15", atom + 1)),
    }
}

/// The unpaired electrons of a radical's code: 1 is a singlet, 2 a doublet, 3 a triplet.
pub(super) fn radicals_of(code: i64) -> Result<u8, String> {
    match code {
        0 => Ok(0),
        2 => Ok(1),
        1 | 3 => Ok(2),
        _ => Err(format!("{code} is not a code of a radical, which is 0 to 3")),
    }
}
