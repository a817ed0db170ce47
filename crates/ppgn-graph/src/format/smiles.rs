//! Molecules as SMILES: a table with a column of them, or one per line.
//!
//! The table is chemprop's layout: a column `smiles`, the others targets, an empty cell a missing one. A `.smi` file has a
//! SMILES per line, and behind a blank what the molecule is called.

use super::columns::Columns;
use super::csv::Csv;
use super::molecules::Molecules;
use super::{Entry, Format, Limits, ReadOptions, Report, Source};
use crate::chem::{Molecule, smiles};
use crate::dataset::Dataset;
use crate::error::{Defect, Error, Result};
use crate::format::columns::Learned;
use crate::format::lines::{show, tokens};

/// Whether a text begins like a table with a column of SMILES.
pub(crate) fn is_table(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let first = start.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty());
    first.is_some_and(|line| {
        line.split(|b| b",;\t".contains(b)).any(|name| is_smiles(&String::from_utf8_lossy(name)))
    })
}

/// Whether a column of this name holds SMILES.
fn is_smiles(name: &str) -> bool {
    let name = name.trim_matches(|c: char| c == '"' || c.is_ascii_whitespace()).to_ascii_lowercase();
    matches!(
        name.as_str(),
        "smiles" | "canonical_smiles" | "isomeric_smiles" | "smiles_string" | "mol_smiles"
    )
}

/// Whether a column of this name says what molecules are called.
fn is_name(name: &str) -> bool {
    matches!(
        name.to_ascii_lowercase().as_str(),
        "id" | "name" | "mol_id" | "compound_id" | "molecule_chembl_id"
    )
}

/// Reads a table, or a file of one SMILES per line.
pub(crate) fn read(
    source: &Source,
    entry: &Entry,
    options: &ReadOptions,
    report: &mut Report,
) -> Result<Dataset> {
    match is_table(&source.peek(entry, 4096)?) {
        true => read_table(source, entry, options, report),
        false => read_lines(source, entry, options, report),
    }
}

fn read_table(source: &Source, entry: &Entry, options: &ReadOptions, report: &mut Report) -> Result<Dataset> {
    let mut csv = Csv::open(source.lines(entry)?)?;
    let names = csv.names().to_vec();
    let Some(structure) = names.iter().position(|name| is_smiles(name)) else {
        return Err(csv.defect("no column is called `smiles`").into());
    };
    let name = names.iter().position(|name| is_name(name));
    let mut columns = Columns::new(options.class.as_deref(), source.limits());
    let mut places = Vec::new();
    for (i, title) in names.iter().enumerate().filter(|(i, _)| *i != structure) {
        let wanted = options.class.as_ref().is_some_and(|class| class.eq_ignore_ascii_case(title));
        if wanted || Some(i) != name {
            let place = columns.place(title).map_err(|message| csv.defect(message))?;
            places.push((i, place));
        }
    }
    let mut molecules = Molecules::new(source);
    let mut molecule = Molecule::default();
    let mut row = 0;
    while csv.advance()? {
        let result = csv.check_width().and_then(|()| {
            add(&mut molecules, &mut molecule, csv.cell(structure), csv.line()).map_err(|m| csv.defect(m))
        });
        if report.absorb(result.map_err(|defect| Error::Defect(defect.graph(row))))?.is_some() {
            if let Some(name) = name {
                molecules.name(String::from_utf8_lossy(csv.cell(name)).into_owned());
            }
            for &(i, place) in &places {
                columns.set(place, csv.cell(i), csv.line());
            }
            columns.end_row();
        }
        molecules.meter()?;
        row += 1;
    }
    if row == 0 {
        report.defect(Defect::new(csv.file(), "no molecules in it"))?;
    }
    let learned = columns.finish().map_err(|message| Defect::new(csv.file(), message))?;
    molecules.finish(source, entry, Format::Smiles, learned, report)
}

fn read_lines(source: &Source, entry: &Entry, options: &ReadOptions, report: &mut Report) -> Result<Dataset> {
    let mut lines = source.lines(entry)?;
    if let Some(class) = &options.class {
        let message = format!(
            "a file of one SMILES per line has no column `{class}`; a table has, with a line of names"
        );
        return Err(Defect::new(lines.file(), message).into());
    }
    let mut molecules = Molecules::new(source);
    let mut molecule = Molecule::default();
    let mut row = 0;
    let mut text = Vec::new();
    while let Some(line) = lines.next_filled()? {
        text.clear();
        text.extend_from_slice(line.strip_prefix(b"\xef\xbb\xbf").filter(|_| row == 0).unwrap_or(line));
        let number = lines.number();
        let mut words = tokens(&text);
        let structure = words.next().unwrap_or_default();
        // Some programs write names of columns, and all know comments.
        if structure.starts_with(b"#") || (row == 0 && structure.eq_ignore_ascii_case(b"smiles")) {
            continue;
        }
        let result = add(&mut molecules, &mut molecule, structure, number).map_err(|m| lines.defect(m));
        if report.absorb(result.map_err(|defect| Error::Defect(defect.graph(row))))?.is_some() {
            let name: Vec<&[u8]> = words.collect();
            molecules.name(String::from_utf8_lossy(&name.join(&b' ')).into_owned());
        }
        molecules.meter()?;
        row += 1;
    }
    if row == 0 {
        report.defect(Defect::new(lines.file(), "no molecules in it"))?;
    }
    molecules.finish(source, entry, Format::Smiles, Learned::default(), report)
}

/// The molecule of one SMILES, as a dataset of one graph, under the default [`Limits`]. O(n + m) but for its rings.
///
/// ```
/// use ppgn_graph::format::molecule;
/// let benzene = molecule("c1ccccc1")?;
/// assert_eq!((benzene.graph(0).nodes(), benzene.graph(0).edges()), (6, 6));
/// assert!(molecule("c1ccccc").unwrap_err().to_string().contains("ring"));
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn molecule(text: &str) -> Result<Dataset> {
    let (name, text) = ("SMILES", text.trim());
    let source = Source::of_bytes(name, text.as_bytes().to_vec(), Limits::default());
    let entry = source.entries()[0].clone();
    let mut molecules = Molecules::new(&source);
    add(&mut molecules, &mut Molecule::default(), text.as_bytes(), 1)
        .map_err(|message| Error::unfit(format!("{}: {message}", show(text.as_bytes()))))?;
    molecules.finish(&source, &entry, Format::Smiles, Learned::default(), &mut Report::strict())
}

fn add(molecules: &mut Molecules, molecule: &mut Molecule, text: &[u8], line: u64) -> Result<(), String> {
    molecule.clear();
    let left_out = smiles::parse(text, molecule)?;
    molecules.see(left_out.stereo, left_out.isotopes);
    molecules.add(molecule, None, line)
}
