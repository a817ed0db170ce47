//! QM9 as NumPy arrays: the atoms, bonds and targets of all molecules, each kind in one long array.
//!
//! `docs/formats.md` lists the arrays. They are read whole and then processed molecule by molecule.

use super::array::Array;
use super::beside::column_of;
use super::{Collector, TARGETS};
use crate::chem::elements::HEAVIEST;
use crate::chem::molecule::Bond;
use crate::dataset::Dataset;
use crate::error::{Defect, Error, Remedy, Result};
use crate::format::{Entry, Format, Report, Source};

/// The atoms and bonds that one molecule may have: no real one comes near, and sums over them cannot overflow.
const MOST: usize = 1 << 24;
/// Approximate memory of a graph, of an atom and of a bond, in bytes.
const BYTES: [u64; 3] = [600, 160, 40];

/// Reads the arrays of an archive or folder.
pub(crate) fn read(source: &Source, report: &mut Report) -> Result<Dataset> {
    let arrays = Arrays::read(source)?;
    let mut collector = Collector::default();
    let (mut atom, mut bond) = (0, 0);
    for (i, (&atoms, &bonds)) in arrays.atom_counts.iter().zip(&arrays.bond_counts).enumerate() {
        let result = arrays.molecule(&mut collector, i, atom..atom + atoms, bond..bond + bonds);
        report
            .absorb(result.map_err(|(file, message)| Error::Defect(Defect::new(file, message).graph(i))))?;
        atom += atoms;
        bond += bonds;
    }
    if arrays.atom_counts.is_empty() {
        report.defect(Defect::new(source.path().display().to_string(), "no molecules in it"))?;
    }
    collector.finish(source, Format::Npz, true)
}

/// The arrays, whose lengths agree.
struct Arrays {
    atom_counts: Vec<usize>,
    bond_counts: Vec<usize>,
    atoms: Vec<i32>,
    positions: Vec<f64>,
    bonds: Vec<i32>,
    targets: Vec<f64>,
    /// Where each target is in a row of `targets`, and how long a row is.
    columns: [usize; TARGETS.len()],
    width: usize,
    /// The file names of the arrays z, pos, bonds and targets, for messages.
    files: [String; 4],
}

impl Arrays {
    fn read(source: &Source) -> Result<Self> {
        let shown = source.path().display().to_string();
        let anchor = source.entries().iter().find(|e| e.name.ends_with(".npy"));
        let Some(anchor) = anchor else {
            return Err(Defect::new(shown, "not an .npz archive of NumPy arrays").into());
        };
        let find = |name: &str| source.beside(anchor, &format!("{name}.npy"));
        let open = |name: &str| match find(name) {
            Some(entry) => Array::open(source, &entry),
            None => Err(Defect::new(&*shown, format!("the array `{name}` is missing")).into()),
        };
        let names = find("target_names");
        let (columns, width) = target_columns(source, names.as_ref())?;

        let (n_atoms, n_bonds, targets) = (open("n_atoms")?, open("n_bonds")?, open("targets")?);
        let molecules = n_atoms.rows(1)?;
        for (array, rows) in [(&n_bonds, n_bonds.rows(1)?), (&targets, targets.rows(width)?)] {
            if rows != molecules {
                let message = format!("{rows} molecules, but `n_atoms` has {molecules}");
                return Err(array.defect(message).into());
            }
        }
        let (z, pos, bonds) = (open("z")?, open("pos")?, open("bonds")?);
        let (z_rows, pos_rows, bond_rows) = (z.rows(1)?, pos.rows(3)?, bonds.rows(3)?);
        limit(source, molecules, z_rows, bond_rows)?;
        let files = [&z, &pos, &bonds, &targets].map(|a| a.file.clone());
        let atom_counts = counts(n_atoms, 1, &[("z", &z, z_rows), ("pos", &pos, pos_rows)])?;
        let bond_counts = counts(n_bonds, 0, &[("bonds", &bonds, bond_rows)])?;
        Ok(Arrays {
            atoms: z.integers()?,
            bonds: bonds.integers()?,
            targets: targets.reals()?,
            positions: pos.reals()?,
            atom_counts,
            bond_counts,
            columns,
            width,
            files,
        })
    }

    /// Adds molecule `i`, which has these atoms and bonds. The error says in which file and what is wrong.
    fn molecule(
        &self,
        collector: &mut Collector,
        i: usize,
        atoms: std::ops::Range<usize>,
        bonds: std::ops::Range<usize>,
    ) -> Result<(), (&str, String)> {
        let [z_file, pos_file, bonds_file, targets_file] = self.files.each_ref().map(String::as_str);
        let n = atoms.len();
        if n > MOST || bonds.len() > MOST {
            let message = format!("{n} atoms and {} bonds, more than {MOST} are not read", bonds.len());
            return Err((z_file, message));
        }
        collector.clear();
        for (a, &z) in self.atoms[atoms.clone()].iter().enumerate() {
            match u8::try_from(z) {
                Ok(element) if (1..=HEAVIEST).contains(&element) => collector.molecule.atoms.push(element),
                _ => {
                    return Err((
                        z_file,
                        format!("atom {a} has the atomic number {z}, which no element has"),
                    ));
                }
            }
        }
        for (a, p) in self.positions[3 * atoms.start..3 * atoms.end].chunks_exact(3).enumerate() {
            if p.iter().any(|x| !x.is_finite()) {
                return Err((pos_file, format!("the position of atom {a} is not finite")));
            }
            collector.positions.push([p[0], p[1], p[2]]);
        }
        for (k, b) in self.bonds[3 * bonds.start..3 * bonds.end].chunks_exact(3).enumerate() {
            let bond = bond(n, b).map_err(|message| (bonds_file, format!("bond {k}: {message}")))?;
            collector.molecule.bonds.push(bond);
        }
        let row = &self.targets[i * self.width..(i + 1) * self.width];
        let targets = self.columns.map(|c| row[c]);
        if let Some(t) = targets.iter().position(|x| !x.is_finite()) {
            return Err((targets_file, format!("the target `{}` is not a finite number", TARGETS[t].0)));
        }
        collector.molecule.connect();
        collector.add(&targets).map_err(|message| (bonds_file, message))
    }
}

/// Graphs take several times the memory of the arrays, which a small archive can fill with zeros: molecules that would
/// need more than the limit for unpacking are refused before they are read.
fn limit(source: &Source, molecules: usize, atoms: usize, bonds: usize) -> Result<()> {
    let most = source.limits().max_unpacked;
    let cost = |(n, bytes): (usize, u64)| (n as u64).saturating_mul(bytes);
    let terms = [molecules, atoms, bonds].into_iter().zip(BYTES).map(cost);
    let bytes = terms.fold(0u64, u64::saturating_add);
    if bytes > most {
        let message = format!(
            "{molecules} molecules with {atoms} atoms and {bonds} bonds need about {bytes} bytes, more than the {most} allowed"
        );
        let defect = Defect::new(source.path().display().to_string(), message);
        return Err(defect.remedy(Remedy::RaiseUnpackedLimit).into());
    }
    Ok(())
}

fn bond(atoms: usize, row: &[i32]) -> Result<Bond, String> {
    let end = |x: i32| match usize::try_from(x) {
        Ok(a) if a < atoms => Ok(a as u32),
        _ => Err(format!("atom {x} is out of range, the molecule has {atoms} atoms (numbered from 0)")),
    };
    let (a, b) = (end(row[0])?, end(row[1])?);
    if a == b {
        return Err(format!("leads from atom {a} to itself"));
    }
    match u8::try_from(row[2]) {
        Ok(kind @ 1..=4) => Ok(Bond::new(a, b, kind)),
        _ => Err(format!("type {}, but a bond is of type 1, 2, 3 or 4 (aromatic)", row[2])),
    }
}

/// The numbers of atoms or bonds of the molecules, none below `least`. They must add up to the rows of these arrays.
fn counts(array: Array, least: i32, others: &[(&str, &Array, usize)]) -> Result<Vec<usize>> {
    let file = array.file.clone();
    let values = array.integers()?;
    if let Some(i) = values.iter().position(|&count| count < least) {
        let message = format!("a count of {}, it must be at least {least}", values[i]);
        return Err(Defect::new(file, message).graph(i).into());
    }
    let sum: u64 = values.iter().map(|&count| count as u64).sum();
    for (name, other, rows) in others {
        if sum != *rows as u64 {
            return Err(other
                .defect(format!("`{name}` has {rows} rows, but {file} adds up to {sum}"))
                .into());
        }
    }
    Ok(values.into_iter().map(|count| count as usize).collect())
}

/// Where the targets are in a row: as the array of their names says, else in the order of [`TARGETS`].
fn target_columns(source: &Source, names: Option<&Entry>) -> Result<([usize; TARGETS.len()], usize)> {
    let Some(names) = names else { return Ok((std::array::from_fn(|i| i), TARGETS.len())) };
    let array = Array::open(source, names)?;
    array.rows(1)?;
    let file = array.file.clone();
    let names = array.strings()?;
    let mut columns = [0; TARGETS.len()];
    for (column, (target, _)) in columns.iter_mut().zip(TARGETS) {
        *column = column_of(target, names.iter().map(|n| n.as_bytes()))
            .ok_or_else(|| Defect::new(&*file, format!("the target `{target}` is not among the names")))?;
    }
    Ok((columns, names.len()))
}
