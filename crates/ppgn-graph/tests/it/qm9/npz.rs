//! Arrays: variants, what is wrong with bad ones, and headers that claim too much.

use super::*;

fn arrays() -> Arrays {
    Arrays::of(&small())
}

/// The defects after a change of the arrays.
fn after(change: impl FnOnce(&mut Arrays)) -> Vec<Defect> {
    let mut arrays = arrays();
    change(&mut arrays);
    let file = arrays.write();
    let found = defects(file.path());
    let first = read(file.path(), &ReadOptions::default()).err();
    assert_eq!(
        first.map(|e| e.to_string()),
        found.first().map(|d| d.to_string()),
        "strict and collecting agree"
    );
    found
}

/// The defects after a change of the files in the archive.
fn with_files(change: impl FnOnce(&mut Vec<(&'static str, Vec<u8>)>)) -> Vec<Defect> {
    let mut files = arrays().files();
    change(&mut files);
    defects(archive(&files).path())
}

fn replaced(name: &'static str, bytes: Vec<u8>) -> Vec<Defect> {
    with_files(|files| files.iter_mut().find(|f| f.0 == name).unwrap().1 = bytes)
}

#[test]
fn a_small_archive_or_folder() {
    let d = load(arrays().write());
    assert_eq!((d.len(), d.targets(1)[0], d.targets(2)[11]), (3, 12.0, 35.0));
    assert_eq!(d.schema().edge_labels[0].values(), [1, 4]);
    assert_eq!(d.graph(0).positions().unwrap()[3], [3.0, 0.5, -1.25]);
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in arrays().files() {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    assert_eq!(load(folder.path()), d);
    assert_eq!(load(folder.path().join("z.npy")), d);
}

#[test]
fn other_number_types_and_names_of_targets() {
    let plain = load(arrays().write());
    let a = arrays();
    let same = |name: &'static str, bytes: Vec<u8>| {
        let mut files = a.files();
        files.retain(|f| f.0 != name);
        files.push((name, bytes));
        assert_eq!(load(archive(&files).path()).graphs(), plain.graphs(), "{name}");
    };
    same("n_atoms.npy", npy(&[3], a.n_atoms.iter().map(|&x| i64::from(x))));
    same("n_bonds.npy", npy(&[3], a.n_bonds.iter().map(|&x| x as u32)));
    same("z.npy", npy(&[a.z.len() as u64], a.z.iter().map(|&x| i32::from(x))));
    same("pos.npy", npy(&[a.z.len() as u64, 3], a.pos.iter().map(|&x| f64::from(x))));
    same("bonds.npy", npy(&[a.bonds.len() as u64 / 3, 3], a.bonds.iter().map(|&x| x as u8)));
    same("targets.npy", npy(&[3, 12], a.targets.iter().map(|&x| x as f32)));
    // Named targets may stand in any order, beside others.
    let mut names: Vec<&str> = TARGETS.iter().map(|t| t.0).rev().collect();
    names.insert(0, "A");
    names[4] = "u298";
    let mut files = a.files();
    let rows = (0..3).flat_map(|i| (0..13).map(move |t| f64::from(100 * i + t)));
    files.retain(|f| f.0 != "targets.npy");
    files.push(("targets.npy", npy(&[3, 13], rows)));
    files.push(("target_names.npy", strings(&names)));
    let d = load(archive(&files).path());
    assert_eq!(d.targets(1), [112., 111., 110., 109., 108., 107., 106., 105., 104., 103., 102., 101.]);
    names[1] = "what";
    files.last_mut().unwrap().1 = strings(&names);
    let found = defects(archive(&files).path());
    assert_eq!(found[0].message, "the target `cv` is not among the names");
}

fn strings(values: &[&str]) -> Vec<u8> {
    use npyz::WriterBuilder;
    let mut bytes = Vec::new();
    let dtype = npyz::DType::new_scalar("<U8".parse().unwrap());
    let options = npyz::WriteOptions::<str>::new().dtype(dtype).shape(&[values.len() as u64]);
    let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
    values.iter().for_each(|v| writer.push(*v).unwrap());
    writer.finish().unwrap();
    bytes
}

#[test]
fn arrays_that_do_not_fit_together() {
    let message = |change: fn(&mut Arrays)| {
        let found = after(change);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].message.clone()
    };
    assert!(message(|a| a.z.truncate(17)).contains("`z` has 17 rows, but"));
    assert!(message(|a| a.pos.extend([0.0; 3])).contains("`pos` has 19 rows, but"));
    assert!(message(|a| a.bonds.truncate(3)).contains("`bonds` has 1 rows, but"));
    assert_eq!(message(|a| a.targets.truncate(24)), "2 molecules, but `n_atoms` has 3");
    assert_eq!(message(|a| a.n_bonds.push(0)), "4 molecules, but `n_atoms` has 3");
    assert_eq!(message(|a| *a = Arrays::default()), "no molecules in it");
    let found = after(|a| a.n_atoms[1] = -3);
    assert_eq!((found[0].graph, &*found[0].message), (Some(1), "a count of -3, it must be at least 1"));
    let found = after(|a| a.n_bonds[2] = -1);
    assert_eq!((found[0].graph, &*found[0].message), (Some(2), "a count of -1, it must be at least 0"));
    let found = after(|a| a.n_atoms[0] = 0);
    assert_eq!(found[0].graph, Some(0));
}

#[test]
fn molecules_that_are_wrong_do_not_hide_others() {
    let found = after(|a| {
        a.z[0] = 0;
        a.z[5] = 119;
        a.bonds[3 * 10 + 2] = 0;
    });
    let graphs: Vec<_> = found.iter().map(|d| d.graph).collect();
    assert_eq!(graphs, [Some(0), Some(1), Some(2)]);
    assert_eq!(found[0].message, "atom 0 has the atomic number 0, which no element has");
    assert!(found[0].file.ends_with("z.npy") && found[2].file.ends_with("bonds.npy"));
    let message = |change: fn(&mut Arrays)| after(change)[0].message.clone();
    assert_eq!(message(|a| a.pos[4] = f32::NAN), "the position of atom 1 is not finite");
    assert_eq!(message(|a| a.targets[3] = f64::INFINITY), "the target `lumo` is not a finite number");
    let out = "bond 0: atom 5 is out of range, the molecule has 5 atoms (numbered from 0)";
    assert_eq!(message(|a| a.bonds[1] = 5), out);
    assert!(message(|a| a.bonds[0] = -1).starts_with("bond 0: atom -1 is out of range"));
    assert_eq!(message(|a| a.bonds[1] = 0), "bond 0: leads from atom 0 to itself");
    assert_eq!(message(|a| a.bonds[2] = 5), "bond 0: type 5, but a bond is of type 1, 2, 3 or 4 (aromatic)");
    assert_eq!(message(|a| a.bonds[4] = 1), "1 bonds between atoms that are bonded already");
}

#[test]
fn arrays_that_are_missing_or_no_arrays() {
    for name in ["n_atoms", "n_bonds", "z", "pos", "bonds", "targets"] {
        let found = with_files(|files| files.retain(|f| f.0 != format!("{name}.npy")));
        assert_eq!(found[0].message, format!("the array `{name}` is missing"));
    }
    let a = arrays();
    assert_eq!(
        replaced("z.npy", npy(&[1, 18], a.z.clone()))[0].message,
        "an array of shape (1, 18), but (N,) is needed"
    );
    assert_eq!(
        replaced("pos.npy", npy(&[54], a.pos.clone()))[0].message,
        "an array of shape (54,), but (N, 3) is needed"
    );
    assert_eq!(
        replaced("z.npy", npy(&[18], a.pos[..18].to_vec()))[0].message,
        "an array of type '<f4', but integers are needed"
    );
    assert_eq!(
        replaced("n_atoms.npy", npy(&[3], [5i64, 1 << 40, 3]))[0].message,
        "number 1 of the array is out of range"
    );
    let whole = npy(&[18], a.z.clone());
    let cut = replaced("z.npy", whole[..whole.len() - 2].to_vec());
    assert_eq!(cut[0].message, "ends after 16 of the 18 numbers that its header announces");
    let longer = replaced("z.npy", [&whole[..], &[0]].concat());
    assert_eq!(longer[0].message, "continues after the numbers that its header announces");
    for length in [0, 5, 9, 30] {
        let found = replaced("z.npy", whole[..length].to_vec());
        assert_eq!(found[0].message, "not a NumPy array: it ends within its header");
    }
    assert_eq!(replaced("z.npy", vec![7; 99])[0].message, "not a NumPy array: it does not begin as one");
    let folder = folder(&[("x.npz", b"no zip")]);
    let options = ReadOptions { format: Some(Format::Npz), ..ReadOptions::default() };
    let error = read(folder.path().join("x.npz"), &options).unwrap_err();
    assert!(error.to_string().contains("not an .npz archive of NumPy arrays"), "{error}");
}

/// An array with this header and no data.
fn claim(header: &str, version: u8) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes
}

#[test]
fn headers_are_claims() {
    let header = |descr: &str, order: &str, shape: &str| {
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n")
    };
    let message = |bytes: Vec<u8>| {
        let found = replaced("bonds.npy", bytes);
        assert_eq!(found.len(), 1);
        found[0].message.clone()
    };
    let plain = header("<i2", "False", "(999999, 3)");
    for version in [1, 2, 3] {
        assert!(message(claim(&plain, version)).contains("`bonds` has 999999 rows, but"));
    }
    let huge = message(claim(&header("<i2", "False", "(999999999, 3)"), 1));
    assert!(huge.contains("999999999 bonds need about"), "{huge}");
    let not_plain = "not a NumPy array: its header is not that of a plain array";
    assert_eq!(message(claim(&header("<i2", "False", "(4294967296, 4294967296, 9)"), 1)), not_plain);
    assert_eq!(message(claim(&"(".repeat(4000), 1)), not_plain);
    assert_eq!(message(claim(&"[".repeat(60_000), 1)), "not a NumPy array: a header of 60000 bytes");
    let mut endless = claim(&plain, 2);
    endless[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(message(endless), "not a NumPy array: a header of 4294967295 bytes");
    assert!(message(claim(&header("<i2", "True", "(13, 3)"), 1)).contains("in Fortran order"));
    assert!(message(claim(&header("|O", "False", "(16, 3)"), 1)).contains("of type '|O'"));
    assert!(message(claim("{}", 1)).starts_with("not a NumPy array: dict is missing key"));
    assert!(message(claim(&plain, 9)).starts_with("not a NumPy array: unsupported version"));
}

#[test]
fn memory_is_limited() {
    let a = arrays();
    let limits = Limits { max_unpacked: 3000, ..Limits::default() };
    let error = read(a.write().path(), &ReadOptions { limits, ..ReadOptions::default() }).unwrap_err();
    assert_eq!(error.remedy(), Some(Remedy::RaiseUnpackedLimit), "{error}");
}
