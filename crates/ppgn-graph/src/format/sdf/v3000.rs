//! V3000 mol blocks: lines `M  V30 ...` of words, blocks between `BEGIN` and `END`, a `-` at the end of a line that goes on.

use super::v2000::{bond_of, charge_of, radicals_of};
use super::{Record, Records, Stop};
use crate::chem::elements::atomic_number;
use crate::format::lines::{LONGEST, integer, real, show, tokens};
use std::collections::HashMap;
use std::io::BufRead;

/// Where in the block a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    Atoms,
    Bonds,
    /// Groups, collections and the like, which are not read.
    Other,
}

impl<R: BufRead> Records<R> {
    /// The lines up to `M  END`.
    pub(super) fn v3000(&mut self, record: &mut Record) -> Result<(), Stop> {
        let mut place = Place::Outside;
        // The blocks that are open inside of one that is not read.
        let mut depth = 0;
        let mut numbers: HashMap<i64, i64> = HashMap::new();
        let mut text = Vec::new();
        loop {
            text.clear();
            if !self.v30_line(&mut text)? {
                break;
            }
            let words: Vec<&[u8]> = tokens(&text).collect();
            match (place, words.as_slice()) {
                (Place::Other, [b"BEGIN", ..]) => depth += 1,
                (Place::Other, [b"END", ..]) => {
                    depth -= 1;
                    if depth == 0 {
                        place = Place::Outside;
                    }
                }
                (Place::Other, _) => {}
                (_, [b"BEGIN", b"CTAB", ..] | [b"END", b"CTAB", ..]) => place = Place::Outside,
                (Place::Outside, [b"BEGIN", b"ATOM", ..]) => place = Place::Atoms,
                (Place::Outside, [b"BEGIN", b"BOND", ..]) => place = Place::Bonds,
                (Place::Outside, [b"BEGIN", ..]) => (place, depth) = (Place::Other, 1),
                (_, [b"END", ..]) => place = Place::Outside,
                (Place::Atoms, words) => atom(words, &mut numbers, record)?,
                (Place::Bonds, words) => bond(words, &numbers, record)?,
                (Place::Outside, _) => {}
            }
        }
        match self.at_end_of_file {
            true => Err(Stop::Record("the file ends within a record".into())),
            false => Ok(()),
        }
    }

    /// Appends the next line of the block, joined with those that it goes on in; false at its end.
    fn v30_line(&mut self, text: &mut Vec<u8>) -> Result<bool, Stop> {
        loop {
            let Some(line) = self.line()? else { return Ok(false) };
            if line.starts_with(b"M  END") {
                return Ok(false);
            }
            let Some(rest) = line.strip_prefix(b"M  V30") else {
                match text.is_empty() {
                    // What programs put between the lines of the block.
                    true => continue,
                    false => {
                        return Err(Stop::Record("a line that goes on is followed by another one".into()));
                    }
                }
            };
            let goes_on = rest.last() == Some(&b'-');
            text.extend_from_slice(if goes_on { &rest[..rest.len() - 1] } else { rest });
            if text.len() > LONGEST {
                return Err(Stop::Record(format!("a line longer than {LONGEST} bytes")));
            }
            if !goes_on {
                return Ok(true);
            }
        }
    }
}

/// `number symbol x y z class [CHG=..] [RAD=..] [VAL=..] [MASS=..] [CFG=..]`.
fn atom(words: &[&[u8]], numbers: &mut HashMap<i64, i64>, record: &mut Record) -> Result<(), String> {
    let [number, symbol, x, y, z, options @ ..] = words else {
        return Err("an atom has a number, a symbol and three coordinates".into());
    };
    let number = integer(number).ok_or_else(|| format!("{} is not the number of an atom", show(number)))?;
    let atom = record.molecule.atoms.len();
    if numbers.insert(number, atom as i64 + 1).is_some() {
        return Err(format!("a second atom {number}"));
    }
    let element = atomic_number(symbol).ok_or_else(|| format!("{} is not an element", show(symbol)))?;
    let mut position = [0.0; 3];
    for (place, text) in position.iter_mut().zip([x, y, z]) {
        *place = real(text).ok_or_else(|| format!("a coordinate: {} is not a finite number", show(text)))?;
    }
    record.isotopes |= matches!(*symbol, b"D" | b"T");
    let molecule = &mut record.molecule;
    molecule.atoms.push(element);
    molecule.charges.push(0);
    molecule.radicals.push(0);
    molecule.valences.push(None);
    record.positions.push(position);
    for option in options {
        let Some(split) = option.iter().position(|&b| b == b'=') else { continue };
        let (key, text) = (&option[..split], &option[split + 1..]);
        let value = || integer(text).ok_or_else(|| format!("{} is not an integer", show(option)));
        match key {
            b"CHG" => molecule.charges[atom] = charge_of(atom, value()?)?,
            b"RAD" => molecule.radicals[atom] = radicals_of(value()?)?,
            b"VAL" => {
                molecule.valences[atom] = match value()? {
                    0 => None,
                    -1 => Some(0),
                    valence @ 1..=14 => Some(valence as u8),
                    other => return Err(format!("{other} is not a valence, which is -1 to 14")),
                }
            }
            b"MASS" => record.isotopes = true,
            b"CFG" => record.stereo |= value()? != 0,
            _ => {}
        }
    }
    Ok(())
}

/// `number type atom atom [CFG=..]`.
fn bond(words: &[&[u8]], numbers: &HashMap<i64, i64>, record: &mut Record) -> Result<(), String> {
    let [_, kind, a, b, options @ ..] = words else {
        return Err("a bond has a number, a type and two atoms".into());
    };
    let number = |text: &[u8]| integer(text).ok_or_else(|| format!("{} is not an integer", show(text)));
    let end = |text: &[u8]| {
        let atom = number(text)?;
        numbers.get(&atom).copied().ok_or_else(|| format!("atom {atom} is not among the molecule's"))
    };
    let bond = bond_of(end(a)?, end(b)?, number(kind)?, record.molecule.atoms.len())?;
    record.molecule.bonds.push(bond);
    record.stereo |= options.iter().any(|o| o.starts_with(b"CFG=") && *o != b"CFG=0");
    Ok(())
}
