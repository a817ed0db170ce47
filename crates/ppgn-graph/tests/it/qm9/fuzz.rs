//! Files made to break the readers: any bytes, damaged files, and tangles of bonds.

use super::*;
use ppgn_graph::random::Stream;

/// The golden molecules with charges at one of several equivalent atoms: ions of rings, and nitro groups.
const CHARGED: [u32; 7] = [7699, 11141, 21479, 22007, 28402, 131977, 132000];

/// Reads a file that may be anything: no panic, and what strict reading refuses, checking finds.
fn survives(path: &Path, format: Format) -> Result<(), TestCaseError> {
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    let mut report = Report::collecting();
    let checked = check(path, &options, &mut report);
    match read(path, &options) {
        Ok(dataset) => {
            prop_assert!(checked.is_ok() && report.count() == 0, "{:?}", report.defects());
            prop_assert!(!dataset.is_empty());
        }
        Err(Error::Defect(defect)) => {
            prop_assert!(checked.is_ok() && report.count() > 0);
            prop_assert!(report.defects().contains(&defect), "{defect}");
        }
        Err(Error::Io { .. }) => prop_assert!(checked.is_err()),
        // Such as an archive in which a changed name makes two datasets of one.
        Err(other) if other.is_call() => prop_assert!(checked.is_err(), "{other}"),
        Err(other) => return Err(TestCaseError::fail(other.to_string())),
    }
    Ok(())
}

fn survives_as_sdf(bytes: &[u8]) -> Result<(), TestCaseError> {
    let folder = folder(&[("gdb9.sdf", bytes)]);
    survives(&folder.path().join("gdb9.sdf"), Format::Sdf)
}

/// Some of QM9's records, or the golden molecules where QM9 is not there.
fn records() -> Vec<u8> {
    let text = shared("qm9/sdf/gdb9.sdf").and_then(|path| std::fs::read_to_string(path).ok());
    let text = text.unwrap_or_else(|| golden().iter().map(|g| g.2.sdf("x")).collect());
    let records: Vec<&str> = text.split_inclusive("$$$$\n").skip(8).step_by(10).take(4).collect();
    records.concat().into_bytes()
}

/// A change of some bytes: (place, kind, value).
type Change = (prop::sample::Index, u8, u8);

fn mutate(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for (place, kind, value) in changes {
        if bytes.is_empty() {
            break;
        }
        let i = place.index(bytes.len());
        match kind % 6 {
            0 => bytes[i] = *value,
            1 => bytes[i] ^= 1 << (value % 8),
            2 => drop(bytes.remove(i)),
            3 => bytes.insert(i, *value),
            4 => bytes.truncate(i),
            _ => bytes[i] = b"0123456789 -.\n$MCHV"[usize::from(*value) % 19],
        }
    }
    bytes
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec(any::<Change>(), 1..6)
}

/// Bonds at random: rings, cages and nonsense, for what is derived from them.
fn tangle() -> impl Strategy<Value = Sample> {
    let atom = prop::sample::select(vec![1u8, 6, 6, 6, 7, 7, 8, 9]);
    (
        prop::collection::vec(atom, 2..40),
        prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1u8..5), 0..80),
    )
        .prop_map(|(atoms, pairs)| {
            let n = atoms.len();
            let mut bonds: Vec<(usize, usize, u8)> = Vec::new();
            for (a, b, kind) in pairs {
                let (a, b) = (a.index(n), b.index(n));
                if a != b && !bonds.iter().any(|x| (x.0, x.1) == (a, b) || (x.0, x.1) == (b, a)) {
                    bonds.push((a, b, kind));
                }
            }
            Sample { atoms, bonds }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn any_bytes_as_sdf(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        survives_as_sdf(&bytes)?;
    }

    #[test]
    fn damaged_records(changes in changes()) {
        survives_as_sdf(&mutate(records(), &changes))?;
    }

    #[test]
    fn damaged_targets(changes in changes()) {
        let mut csv = String::from("mol_id,mu,alpha,homo,lumo,gap,r2,zpve,u0,u,h,g,cv\n");
        csv += "gdb_1,1,2,3,4,5,6,7,8,9,10,11,12\n";
        let sdf = small()[0].sdf("gdb_1");
        let list = mutate(b"head\n  2 C\n 1 X\n".to_vec(), &changes);
        let files = [("gdb9.sdf", sdf.as_bytes()), ("gdb9.sdf.csv", &mutate(csv.into_bytes(), &changes))];
        let folder = folder(&files);
        survives(&folder.path().join("gdb9.sdf"), Format::Sdf)?;
        std::fs::write(folder.path().join("uncharacterized.txt"), list).unwrap();
        let _ = read(folder.path().join("gdb9.sdf"), &ReadOptions::default());
    }

    #[test]
    fn any_bytes_as_array(bytes in prop::collection::vec(any::<u8>(), 0..200), which in 0usize..6) {
        let mut files = Arrays::of(&small()).files();
        files[which].1 = bytes;
        survives(archive(&files).path(), Format::Npz)?;
    }

    #[test]
    fn any_header(text in "[{}()\\[\\]',: <>|iufUOS0-9descrfortanhpTFl\\\\_xe.-]{0,80}", which in 0usize..6) {
        let mut files = Arrays::of(&small()).files();
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        files[which].1 = bytes;
        survives(archive(&files).path(), Format::Npz)?;
    }

    #[test]
    fn damaged_arrays(changes in changes(), which in 0usize..6) {
        let mut files = Arrays::of(&small()).files();
        files[which].1 = mutate(std::mem::take(&mut files[which].1), &changes);
        survives(archive(&files).path(), Format::Npz)?;
    }

    #[test]
    fn damaged_archive(changes in changes()) {
        let file = Arrays::of(&small()).write();
        let bytes = mutate(std::fs::read(file.path()).unwrap(), &changes);
        std::fs::write(file.path(), bytes).unwrap();
        survives(file.path(), Format::Npz)?;
    }

    #[test]
    fn tangles_of_bonds(sample in tangle()) {
        // Whatever the molecule: both readers give the same, but for aromatic bonds that only the SDF perceives.
        let arrays = load(Arrays::of(std::slice::from_ref(&sample)).write());
        let sdf = load(folder(&[("gdb9.sdf", sample.sdf("x").as_bytes())]).path());
        prop_assert_eq!(sdf.graph(0).targets(), arrays.graph(0).targets());
        for row in (0..sample.atoms.len()).flat_map(|u| [&sdf, &arrays].map(|d| d.graph(0).node_attributes(u).to_vec())) {
            prop_assert!(row[9] + row[10] + row[11] <= 1.0);
            prop_assert_eq!(row[..5].iter().sum::<f64>(), 1.0);
        }
    }

    #[test]
    fn numbering_does_not_matter(which in any::<prop::sample::Index>(), seed in any::<u64>()) {
        // But in charged rings, where the charge goes to the first of several atoms.
        let golden: Vec<_> = golden().into_iter().filter(|g| !CHARGED.contains(&g.0)).collect();
        let (number, aromatic, plain, rows) = &golden[which.index(golden.len())];
        let mut random = Stream::new(seed, "numbering", &[]);
        let order = random.permutation(plain.atoms.len());
        let place = |u: usize| order[u] as usize;
        let mut moved = Sample { atoms: vec![0; plain.atoms.len()], bonds: Vec::new() };
        plain.atoms.iter().enumerate().for_each(|(u, &z)| moved.atoms[place(u)] = z);
        moved.bonds = plain.bonds.iter().map(|&(u, v, t)| (place(v), place(u), t)).collect();
        random.shuffle(&mut moved.bonds);
        let d = load(folder(&[("gdb9.sdf", moved.sdf("x").as_bytes())]).path());
        let g = d.graph(0);
        for &(u, v, t) in &aromatic.bonds {
            prop_assert_eq!(g.edge_labels(g.arc(place(u), place(v)).unwrap()), [i64::from(t)], "gdb_{}", number);
        }
        for (u, row) in rows.iter().enumerate() {
            prop_assert_eq!(&digits(g, place(u)), row, "gdb_{} atom {}", number, u);
        }
    }
}
