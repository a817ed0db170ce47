//! QM9 through both readers.

mod fuzz;
mod npz;
mod real;
mod sdf;

use crate::support::shared;
use ppgn_graph::format::qm9::{FEATURES, TARGETS};
use ppgn_graph::format::{Format, Limits, ReadOptions, Report, check, read};
use ppgn_graph::{Dataset, Defect, Error, Graph, Remedy, Task};
use proptest::prelude::*;
use std::io::Write;
use std::path::Path;

fn load(path: impl AsRef<Path>) -> Dataset {
    // By reference: a temporary file lives as long as what is passed here.
    read(path.as_ref(), &ReadOptions::default()).unwrap()
}

/// Everything that is wrong with a file.
fn defects(path: impl AsRef<Path>) -> Vec<Defect> {
    let mut report = Report::collecting();
    check(path, &ReadOptions::default(), &mut report).unwrap();
    report.defects().to_vec()
}

/// The bonds of a molecule, each once: (atom, atom, type).
fn bonds(g: &Graph) -> Vec<(usize, usize, i64)> {
    g.edge_list().map(|(u, v, a)| (u, v, g.edge_labels(a)[0])).collect()
}

/// The features of an atom beyond its element: acceptor, donor, aromatic, sp, sp2, sp3, hydrogens.
fn digits(g: &Graph, atom: usize) -> String {
    g.node_attributes(atom)[6..].iter().map(|x| x.to_string()).collect()
}

/// A molecule to be written in either format.
#[derive(Debug, Clone, Default)]
struct Sample {
    atoms: Vec<u8>,
    bonds: Vec<(usize, usize, u8)>,
}

impl Sample {
    fn sdf(&self, title: &str) -> String {
        let mut text = format!(
            "{title}\n  test\n\n{:3}{:3}  0  0  0  0  0  0  0  0999 V2000\n",
            self.atoms.len(),
            self.bonds.len()
        );
        for (i, &z) in self.atoms.iter().enumerate() {
            let symbol = ["H", "", "", "", "", "C", "N", "O", "F"][usize::from(z) - 1];
            text += &format!("{:10.4}{:10.4}{:10.4} {symbol:3} 0  0\n", i as f64, 0.5, -1.25);
        }
        for (i, j, kind) in &self.bonds {
            text += &format!("{:3}{:3}{kind:3}  0\n", i + 1, j + 1);
        }
        text + "M  END\n$$$$\n"
    }
}

/// The arrays of an `.npz`, to be changed before they are written.
#[derive(Debug, Clone, Default)]
struct Arrays {
    n_atoms: Vec<i16>,
    n_bonds: Vec<i16>,
    z: Vec<u8>,
    pos: Vec<f32>,
    bonds: Vec<i16>,
    targets: Vec<f64>,
}

fn npy<T: npyz::AutoSerialize>(shape: &[u64], values: impl IntoIterator<Item = T>) -> Vec<u8> {
    use npyz::WriterBuilder;
    let mut bytes = Vec::new();
    let mut writer =
        npyz::WriteOptions::new().default_dtype().shape(shape).writer(&mut bytes).begin_nd().unwrap();
    writer.extend(values).unwrap();
    writer.finish().unwrap();
    bytes
}

impl Arrays {
    fn of(samples: &[Sample]) -> Self {
        let mut arrays = Arrays::default();
        for (i, sample) in samples.iter().enumerate() {
            arrays.n_atoms.push(sample.atoms.len() as i16);
            arrays.n_bonds.push(sample.bonds.len() as i16);
            arrays.z.extend(&sample.atoms);
            arrays.pos.extend((0..sample.atoms.len()).flat_map(|a| [a as f32, 0.5, -1.25]));
            arrays
                .bonds
                .extend(sample.bonds.iter().flat_map(|&(i, j, t)| [i as i16, j as i16, i16::from(t)]));
            arrays.targets.extend((0..12).map(|t| (12 * i + t) as f64));
        }
        arrays
    }

    fn files(&self) -> Vec<(&'static str, Vec<u8>)> {
        let flat = |n: usize| [n as u64];
        let rows = |n: usize, columns: usize| [(n / columns) as u64, columns as u64];
        vec![
            ("n_atoms.npy", npy(&flat(self.n_atoms.len()), self.n_atoms.clone())),
            ("n_bonds.npy", npy(&flat(self.n_bonds.len()), self.n_bonds.clone())),
            ("z.npy", npy(&flat(self.z.len()), self.z.clone())),
            ("pos.npy", npy(&rows(self.pos.len(), 3), self.pos.clone())),
            ("bonds.npy", npy(&rows(self.bonds.len(), 3), self.bonds.clone())),
            ("targets.npy", npy(&rows(self.targets.len(), 12), self.targets.clone())),
        ]
    }

    fn write(&self) -> tempfile::NamedTempFile {
        archive(&self.files())
    }
}

fn archive(files: &[(&str, Vec<u8>)]) -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".npz").tempfile().unwrap();
    let mut zip = zip::ZipWriter::new(file.as_file_mut());
    for (name, bytes) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
    file
}

/// A folder with an SDF and files beside it.
fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// The molecules of the golden file: (number, sample with aromatic bonds, the same without, digits of every atom).
fn golden() -> Vec<(u32, Sample, Sample, Vec<String>)> {
    let numbers = |text: &str| -> Vec<u8> { text.split(' ').map(|x| x.parse().unwrap()).collect() };
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let atoms = numbers(fields[2]);
        let bond = |text: &str| {
            let parts: Vec<usize> = text.split('-').map(|x| x.parse().unwrap()).collect();
            (parts[0], parts[1], parts[2] as u8)
        };
        let bonds: Vec<_> = fields[3].split(' ').map(bond).collect();
        let kekule = bonds.iter().zip(numbers(fields[4])).map(|(&(i, j, _), t)| (i, j, t)).collect();
        let digits = fields[5].split(' ').map(String::from).collect();
        let plain = Sample { atoms: atoms.clone(), bonds: kekule };
        (fields[0].parse().unwrap(), Sample { atoms, bonds }, plain, digits)
    };
    include_str!("goldens/qm9_features.csv").lines().skip(1).map(line).collect()
}

/// Methane, water and pyrrole.
fn small() -> Vec<Sample> {
    golden().into_iter().filter(|g| [1, 3, 50].contains(&g.0)).map(|g| g.1).collect()
}

#[test]
fn features_are_those_of_rdkit() {
    let golden = golden();
    assert!(golden.len() >= 40);
    let arrays = load(Arrays::of(&golden.iter().map(|g| g.1.clone()).collect::<Vec<_>>()).write());
    let text: String = golden.iter().map(|g| g.2.sdf(&format!("gdb_{}", g.0))).collect();
    let sdf = load(folder(&[("gdb9.sdf", text.as_bytes())]).path());
    for (i, (number, aromatic, _, rows)) in golden.iter().enumerate() {
        let mut wanted: Vec<_> =
            aromatic.bonds.iter().map(|&(u, v, t)| (u.min(v), u.max(v), i64::from(t))).collect();
        wanted.sort_unstable();
        for g in [arrays.graph(i), sdf.graph(i)] {
            assert_eq!(bonds(g), wanted, "gdb_{number}");
            for (u, row) in rows.iter().enumerate() {
                let z = aromatic.atoms[u];
                assert_eq!(&digits(g, u), row, "gdb_{number}, atom {u}, element {z}");
                assert_eq!(g.node_labels(u), [i64::from(z)]);
                assert_eq!(g.node_attributes(u)[5], f64::from(z));
                let one_hot = [1, 6, 7, 8, 9].map(|e| f64::from(u8::from(e == z)));
                assert_eq!(g.node_attributes(u)[..5], one_hot);
            }
        }
    }
}
