//! SMILES, as OpenSMILES 1.0 defines it: one pass over the characters, into a [`Molecule`].
//!
//! All of the notation is read: the organic subset, brackets with isotope, hydrogens, charge and class, every bond symbol, branches, ring
//! closures with one digit or `%` and two, and parts separated by dots. Stereo marks (`/`, `\`, `@` and its kin), isotopes
//! and classes are checked and left out: a mark says on which side neighbours are in the order of the text, which is
//! no property of an atom alone. RDKit's dative bonds `->` and `<-` are read too. What follows the first blank is a
//! comment, as in `.smi` files.
//!
//! The crate `purr` reads the same syntax, and only that: valences, hydrogens, Kekulé structures and aromaticity
//! would still be ours, its tree would have to be walked once more, and its last release is of 2021. The grammar
//! is small; here it is read without recursion, so that no input overflows the stack.

use super::Molecule;
use super::elements::{ANY, atomic_number};
use super::molecule::{AROMATIC, Bond, DATIVE, QUADRUPLE};
use crate::format::lines::show;
use std::collections::HashMap;

/// The largest charge, as OpenSMILES has it.
const MOST_CHARGE: i32 = 15;

/// What was written before the next atom or ring closure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Symbol {
    /// Nothing: single, or aromatic between aromatic atoms in a ring.
    None,
    /// A type of bond.
    Bond(u8),
    /// `->`, dative from the atom before it, and `<-`, dative to it.
    Gives,
    Takes,
    /// `/` or `\`: single, with a direction that is left out.
    Direction,
    /// `.`: no bond.
    Dot,
}

/// A ring closure that waits for its other end.
struct Open {
    atom: u32,
    symbol: Symbol,
    place: usize,
}

/// What the text had that a graph does not keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LeftOut {
    /// Stereo marks.
    pub(crate) stereo: bool,
    /// Isotopes.
    pub(crate) isotopes: bool,
}

/// Reads a SMILES into an empty molecule: atoms, bonds, charges, stated hydrogens. The error says what is wrong at which
/// character, counted from 1. O(length).
pub(crate) fn parse(text: &[u8], molecule: &mut Molecule) -> Result<LeftOut, String> {
    let text = text.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()).unwrap_or_default();
    if text.is_empty() {
        return Err("an empty SMILES".into());
    }
    let mut parser = Parser {
        text,
        at: 0,
        molecule,
        last: None,
        symbol: Symbol::None,
        branches: Vec::new(),
        open: HashMap::new(),
        implicit: Vec::new(),
        left_out: LeftOut::default(),
    };
    match parser.run() {
        Ok(()) => {
            let left_out = parser.left_out;
            let implicit = std::mem::take(&mut parser.implicit);
            settle(molecule, &implicit);
            Ok(left_out)
        }
        Err(message) => {
            Err(format!("{message}, character {} of {}", parser.at.min(text.len()) + 1, show(text)))
        }
    }
}

/// Bonds that are not written are aromatic between aromatic atoms (and atoms that stand for any beside them), if they are in
/// a ring.
fn settle(molecule: &mut Molecule, implicit: &[u32]) {
    molecule.connect();
    if !molecule.lowercase.contains(&true) {
        return;
    }
    molecule.find_rings();
    for &bond in implicit {
        let Bond { a, b, .. } = molecule.bonds[bond as usize];
        let able = |a: u32| molecule.lowercase[a as usize] || molecule.atoms[a as usize] == ANY;
        let one = molecule.lowercase[a as usize] || molecule.lowercase[b as usize];
        if one && able(a) && able(b) && molecule.cyclic[bond as usize] {
            molecule.set_bond(bond, AROMATIC, 1);
        }
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    molecule: &'a mut Molecule,
    /// The atom that the next one is bonded to.
    last: Option<u32>,
    symbol: Symbol,
    /// The atoms that branches return to, with the places of their brackets.
    branches: Vec<(u32, usize)>,
    open: HashMap<u32, Open>,
    /// The bonds that are not written.
    implicit: Vec<u32>,
    left_out: LeftOut,
}

impl Parser<'_> {
    fn run(&mut self) -> Result<(), String> {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'[' => self.bracket()?,
                b'(' => {
                    let last = self.last.filter(|_| self.symbol == Symbol::None);
                    let last = last.ok_or("a branch that begins at no atom")?;
                    if self.text.get(self.at + 1) == Some(&b')') {
                        return Err("an empty branch".into());
                    }
                    self.branches.push((last, self.at));
                    self.at += 1;
                }
                b')' => {
                    self.no_symbol("before the end of a branch")?;
                    let (atom, _) = self.branches.pop().ok_or("a branch ends that did not begin")?;
                    self.last = Some(atom);
                    self.at += 1;
                }
                b'0'..=b'9' | b'%' => self.ring_closure()?,
                b'-' | b'=' | b'#' | b'$' | b':' | b'/' | b'\\' | b'.' | b'<' => {
                    if self.symbol != Symbol::None {
                        return Err("two bond symbols in a row".into());
                    }
                    if self.last.is_none() {
                        return Err("a bond symbol before the first atom".into());
                    }
                    let next = self.text.get(self.at + 1);
                    self.symbol = match byte {
                        b'-' if next == Some(&b'>') => Symbol::Gives,
                        b'<' if next == Some(&b'-') => Symbol::Takes,
                        b'<' => return Err("`<` that does not begin `<-`".into()),
                        b'-' => Symbol::Bond(1),
                        b'=' => Symbol::Bond(2),
                        b'#' => Symbol::Bond(3),
                        b'$' => Symbol::Bond(QUADRUPLE),
                        b':' => Symbol::Bond(AROMATIC),
                        b'.' => Symbol::Dot,
                        _ => Symbol::Direction,
                    };
                    self.left_out.stereo |= self.symbol == Symbol::Direction;
                    self.at += if matches!(self.symbol, Symbol::Gives | Symbol::Takes) { 2 } else { 1 };
                }
                _ => self.organic(byte)?,
            }
        }
        self.no_symbol("at the end")?;
        if let Some((_, place)) = self.branches.last() {
            self.at = *place;
            return Err("a branch that does not end".into());
        }
        // The one that comes first in the text.
        if let Some((number, open)) = self.open.iter().min_by_key(|(_, open)| open.place) {
            let message = format!("ring closure {number} that is not closed");
            self.at = open.place;
            return Err(message);
        }
        Ok(())
    }

    fn no_symbol(&self, place: &str) -> Result<(), String> {
        match self.symbol {
            Symbol::None => Ok(()),
            _ => Err(format!("a bond symbol {place}")),
        }
    }

    /// An atom of the organic subset, written without brackets.
    fn organic(&mut self, byte: u8) -> Result<(), String> {
        let next = self.text.get(self.at + 1).copied();
        let (element, length, lowercase) = match (byte, next) {
            (b'C', Some(b'l')) => (17, 2, false),
            (b'B', Some(b'r')) => (35, 2, false),
            (b'B', _) => (5, 1, false),
            (b'C', _) => (6, 1, false),
            (b'N', _) => (7, 1, false),
            (b'O', _) => (8, 1, false),
            (b'P', _) => (15, 1, false),
            (b'S', _) => (16, 1, false),
            (b'F', _) => (9, 1, false),
            (b'I', _) => (53, 1, false),
            (b'*', _) => (ANY, 1, false),
            (b'b', _) => (5, 1, true),
            (b'c', _) => (6, 1, true),
            (b'n', _) => (7, 1, true),
            (b'o', _) => (8, 1, true),
            (b'p', _) => (15, 1, true),
            (b's', _) => (16, 1, true),
            _ => return Err(format!("{} is neither an atom nor a bond", show(&[byte]))),
        };
        self.atom(element, lowercase)?;
        self.at += length;
        Ok(())
    }

    /// Adds an atom, bonded to the one before it.
    fn atom(&mut self, element: u8, lowercase: bool) -> Result<(), String> {
        let new = self.molecule.atoms.len() as u32;
        let molecule = &mut self.molecule;
        molecule.atoms.push(element);
        molecule.charges.push(0);
        molecule.hydrogens.push(0);
        molecule.stated.push(false);
        molecule.lowercase.push(lowercase);
        let symbol = std::mem::replace(&mut self.symbol, Symbol::None);
        if let Some(last) = self.last.filter(|_| symbol != Symbol::Dot) {
            self.bond(last, new, symbol);
        }
        self.last = Some(new);
        Ok(())
    }

    fn bond(&mut self, a: u32, b: u32, symbol: Symbol) {
        if symbol == Symbol::None {
            self.implicit.push(self.molecule.bonds.len() as u32);
        }
        self.molecule.bonds.push(match symbol {
            Symbol::Bond(kind) => Bond::new(a, b, kind),
            Symbol::Gives => Bond::new(a, b, DATIVE),
            Symbol::Takes => Bond::new(b, a, DATIVE),
            _ => Bond::new(a, b, 1),
        });
    }

    fn digits(&mut self, most: usize) -> Option<u32> {
        let digits = self.text[self.at..].iter().take(most).take_while(|b| b.is_ascii_digit()).count();
        let text = std::str::from_utf8(&self.text[self.at..self.at + digits]).ok()?;
        self.at += digits;
        text.parse().ok()
    }

    fn ring_closure(&mut self) -> Result<(), String> {
        let place = self.at;
        let number = if self.text[self.at] == b'%' {
            self.at += 1;
            let two = self.text.get(self.at..self.at + 2).is_some_and(|d| d.iter().all(u8::is_ascii_digit));
            self.digits(2).filter(|_| two).ok_or("% needs two digits")?
        } else {
            self.digits(1).unwrap_or(0)
        };
        let symbol = std::mem::replace(&mut self.symbol, Symbol::None);
        let here =
            self.last.filter(|_| symbol != Symbol::Dot).ok_or("a ring closure that follows no atom")?;
        let Some(open) = self.open.remove(&number) else {
            self.open.insert(number, Open { atom: here, symbol, place });
            return Ok(());
        };
        // An arrow at this end is seen from here.
        let symbol = match symbol {
            Symbol::Gives => Symbol::Takes,
            Symbol::Takes => Symbol::Gives,
            other => other,
        };
        let symbol = match (open.symbol, symbol) {
            (Symbol::None | Symbol::Direction, other) if other != Symbol::None => other,
            (one, Symbol::None | Symbol::Direction) => one,
            (one, other) if one == other => one,
            _ => return Err(format!("the two ends of ring closure {number} have different bonds")),
        };
        if open.atom == here {
            return Err(format!("ring closure {number} bonds an atom to itself"));
        }
        self.bond(open.atom, here, symbol);
        Ok(())
    }

    /// `[isotope symbol chirality hydrogens charge :class]`.
    fn bracket(&mut self) -> Result<(), String> {
        let start = self.at;
        self.at += 1;
        if self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.digits(3);
            self.left_out.isotopes = true;
        }
        let (element, lowercase) = self.symbol()?;
        self.atom(element, lowercase)?;
        let atom = self.molecule.atoms.len() - 1;
        self.chirality()?;
        if self.eat(b'H') {
            let count = self.digits(1).unwrap_or(1);
            if element == 1 && count > 0 {
                return Err("a hydrogen with hydrogens".into());
            }
            self.molecule.hydrogens[atom] = count as u8;
        }
        self.molecule.charges[atom] = self.charge()?;
        if self.eat(b':') && self.digits(9).is_none() {
            return Err("an atom's class is a number".into());
        }
        if !self.eat(b']') {
            let end = self.at;
            self.at = if end < self.text.len() { end } else { start };
            return Err("a bracket that does not end with ]".into());
        }
        self.molecule.stated[atom] = true;
        Ok(())
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    /// An element in brackets, with whether it is written as aromatic.
    fn symbol(&mut self) -> Result<(u8, bool), String> {
        if self.eat(b'*') {
            return Ok((ANY, false));
        }
        let rest = &self.text[self.at..];
        for aromatic in [&b"se"[..], b"as", b"te", b"si", b"b", b"c", b"n", b"o", b"p", b"s"] {
            if rest.starts_with(aromatic) {
                self.at += aromatic.len();
                return Ok((atomic_number(aromatic).unwrap_or(ANY), true));
            }
        }
        let upper = rest.first().is_some_and(u8::is_ascii_uppercase);
        let lower = rest.get(1).is_some_and(u8::is_ascii_lowercase);
        let lengths = if lower { [2, 1] } else { [1, 1] };
        for length in lengths.into_iter().filter(|_| upper) {
            let symbol = &rest[..length];
            // Deuterium and tritium are isotopes, [2H] and [3H].
            if let Some(element) = atomic_number(symbol).filter(|_| !matches!(symbol, b"D" | b"T")) {
                self.at += length;
                return Ok((element, false));
            }
        }
        Err(format!("{} is not an element", show(&rest[..rest.len().min(1 + usize::from(lower))])))
    }

    /// `@`, `@@`, or `@` with a class and a number: `@TH1`, `@SP3`, `@OH26`.
    fn chirality(&mut self) -> Result<(), String> {
        if !self.eat(b'@') {
            return Ok(());
        }
        self.left_out.stereo = true;
        if self.eat(b'@') {
            return Ok(());
        }
        for (class, most) in [(&b"TH"[..], 2), (b"AL", 2), (b"SP", 3), (b"TB", 20), (b"OH", 30)] {
            if self.text[self.at..].starts_with(class) {
                self.at += class.len();
                return match self.digits(2) {
                    Some(number) if (1..=most).contains(&number) => Ok(()),
                    _ => Err(format!("the number of this stereo class is 1 to {most}")),
                };
            }
        }
        Ok(())
    }

    /// `+`, `-`, repeated or with a number.
    fn charge(&mut self) -> Result<i32, String> {
        let Some(&sign @ (b'+' | b'-')) = self.text.get(self.at) else { return Ok(0) };
        let mut charge = 0;
        while self.eat(sign) {
            charge += 1;
        }
        if charge == 1 && self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            charge = self.digits(3).map_or(i32::MAX, |c| c as i32);
        }
        match charge <= MOST_CHARGE {
            true => Ok(if sign == b'-' { -charge } else { charge }),
            false => Err(format!("a charge beyond {MOST_CHARGE}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chem::derive;

    fn read(text: &str) -> Result<Molecule, String> {
        let mut m = Molecule::default();
        parse(text.as_bytes(), &mut m)?;
        Ok(m)
    }

    /// Atoms as symbols with hydrogens and charge, and bond types, derived.
    fn derived(text: &str) -> (Vec<(u8, u8, i32)>, Vec<u8>) {
        let mut m = read(text).unwrap();
        derive(&mut m).unwrap();
        let atoms = (0..m.atoms.len()).map(|a| (m.atoms[a], m.hydrogens[a], m.charges[a])).collect();
        (atoms, m.bonds.iter().map(|b| b.kind).collect())
    }

    #[test]
    fn atoms_and_bonds() {
        let (atoms, bonds) = derived("CC(=O)[O-].[Na+]");
        assert_eq!(atoms, [(6, 3, 0), (6, 0, 0), (8, 0, 0), (8, 0, -1), (11, 0, 1)]);
        assert_eq!(bonds, [1, 2, 1]);
        let (atoms, bonds) = derived("[13CH3][C@@H](/F)C%12=CCCC%12 ethyl and so on");
        assert_eq!(atoms[..2], [(6, 3, 0), (6, 1, 0)]);
        assert_eq!(bonds.len(), 8);
        assert_eq!(derived("[NH4+]").0, [(7, 4, 1)]);
        assert_eq!(derived("[O--]").0, [(8, 0, -2)]);
        assert_eq!(derived("[Fe+3].[OH2:7]").0, [(26, 0, 3), (8, 2, 0)]);
        assert_eq!(derived("C$C").1, [QUADRUPLE]);
        let ends = |text| read(text).unwrap().bonds.iter().map(|b| (b.a, b.b, b.kind)).collect::<Vec<_>>();
        assert_eq!(ends("N->[Fe]"), [(0, 1, DATIVE)]);
        assert_eq!(ends("[Fe]<-N"), [(1, 0, DATIVE)]);
        assert_eq!(ends("N1C[Fe]<-1"), [(0, 1, 1), (1, 2, 1), (0, 2, DATIVE)]);
    }

    #[test]
    fn aromatic_input_is_perceived_anew() {
        for benzene in ["c1ccccc1", "C1=CC=CC=C1", "c:1:c:c:c:c:c1"] {
            let (atoms, bonds) = derived(benzene);
            assert_eq!((atoms, bonds), (vec![(6, 1, 0); 6], vec![AROMATIC; 6]), "{benzene}");
        }
        assert_eq!(derived("c1cc[nH]c1").0[3], (7, 1, 0));
        assert_eq!(derived("c1ccccc1c1ccccc1").1.iter().filter(|&&k| k == 1).count(), 1);
        // Written as aromatic, but four electrons are none.
        assert_eq!(derived("c1ccc1").1.iter().filter(|&&k| k == AROMATIC).count(), 0);
        let mut m = read("c1cccn1").unwrap();
        assert!(derive(&mut m).unwrap_err().contains("[nH]"));
        assert!(derive(&mut read("cc").unwrap()).unwrap_err().contains("no ring"));
    }

    #[test]
    fn what_is_wrong() {
        for (text, message, place) in [
            ("", "an empty SMILES", 0),
            ("C(", "a branch that does not end", 2),
            ("C)", "a branch ends that did not begin", 2),
            ("(C)", "a branch that begins at no atom", 1),
            ("C()C", "an empty branch", 2),
            ("C1CC", "ring closure 1 that is not closed", 2),
            ("C11", "ring closure 1 bonds an atom to itself", 4),
            ("C=1CC-1", "the two ends of ring closure 1 have different bonds", 8),
            ("C%1C", "% needs two digits", 4),
            ("C==C", "two bond symbols in a row", 3),
            ("=C", "a bond symbol before the first atom", 1),
            ("C=", "a bond symbol at the end", 3),
            ("CXC", "`X` is neither an atom nor a bond", 2),
            ("[Xx]", "`Xx` is not an element", 2),
            ("[D]", "`D` is not an element", 2),
            ("[CH3", "a bracket that does not end with ]", 1),
            ("[C+99]", "a charge beyond 15", 6),
            ("[C@SP4]", "the number of this stereo class is 1 to 3", 7),
            ("[C:x]", "an atom's class is a number", 4),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(message), "{text}: {error}");
            let shown = place == 0 || error.contains(&format!("character {place} of"));
            assert!(shown, "{text}: {error}");
        }
    }

    #[test]
    fn what_is_left_out_is_known() {
        let mut m = Molecule::default();
        assert_eq!(parse(b"F/C=C/F", &mut m).map(|l| (l.stereo, l.isotopes)), Ok((true, false)));
        m.clear();
        assert_eq!(parse(b"[2H]C", &mut m).map(|l| (l.stereo, l.isotopes)), Ok((false, true)));
    }

    #[test]
    fn depth_does_not_matter() {
        let deep = format!("C{}{}", "(C".repeat(100_000), ")".repeat(100_000));
        assert_eq!(read(&deep).unwrap().atoms.len(), 100_001);
    }
}
