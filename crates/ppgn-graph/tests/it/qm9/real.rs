//! The data itself: all of QM9 as arrays, its SDF beside them, and both beside RDKit.

use super::*;

#[test]
fn all_molecules_of_the_arrays() {
    let Some(path) = shared("qm9/qm9_130831.npz") else { return };
    let d = load(path);
    assert_eq!((d.len(), d.name()), (130_831, "QM9"));
    let schema = d.schema();
    assert!(!schema.directed && schema.positions);
    assert_eq!(schema.node_labels[0].values(), [1, 6, 7, 8, 9]);
    assert_eq!(schema.edge_labels[0].values(), [1, 2, 3, 4]);
    assert_eq!(schema.node_attributes, FEATURES);
    let Task::Regression { targets } = d.task() else { panic!("no targets") };
    assert_eq!(targets.iter().map(|t| (&*t.name, &*t.unit)).collect::<Vec<_>>(), TARGETS);
    let nodes: usize = d.graphs().iter().map(Graph::nodes).sum();
    let edges: usize = d.graphs().iter().map(Graph::edges).sum();
    assert_eq!((nodes, edges), (2_359_210, 2_440_309));
    // Methane, the first molecule.
    let g = d.graph(0);
    assert_eq!(bonds(g), [(0, 1, 1), (0, 2, 1), (0, 3, 1), (0, 4, 1)]);
    assert_eq!(g.node_attributes(0), [0., 1., 0., 0., 0., 6., 0., 0., 0., 0., 0., 1., 4.]);
    assert_eq!(g.node_attributes(1), [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 0., 0., 0.]);
    assert_eq!(d.targets(0)[..2], [0.0, 13.21]);
    assert_eq!(d.targets(0)[7], -40.47893);
}

/// The SDF has single and double bonds, the arrays RDKit's aromatic ones: perception has to close the gap.
fn same_molecules(sdf: &Path, numbers: &[usize], arrays: &Dataset) {
    let d = load(sdf);
    assert_eq!(d.len(), numbers.len());
    let mut different = Vec::new();
    for (i, &j) in numbers.iter().enumerate() {
        let (a, b) = (d.graph(i), arrays.graph(j));
        assert_eq!(a.nodes(), b.nodes(), "molecule {i}");
        let close = |(p, q): (&[f64; 3], &[f64; 3])| (0..3).all(|k| (p[k] - q[k]).abs() < 0.5001e-4);
        let near = a.positions().unwrap().iter().zip(b.positions().unwrap()).all(close);
        let same_atoms = (0..a.nodes())
            .all(|u| a.node_labels(u) == b.node_labels(u) && a.node_attributes(u) == b.node_attributes(u));
        let same_targets = d.header().targets.is_empty() || d.targets(i) == arrays.targets(j);
        if !near || !same_atoms || bonds(a) != bonds(b) || !same_targets {
            different.push(j);
        }
    }
    assert!(different.is_empty(), "{} of {} differ: {different:?}", different.len(), numbers.len());
}

/// The numbers that QM9 gives the molecules of the arrays.
fn index(npz: &Path) -> Vec<u64> {
    let mut zip = zip::ZipArchive::new(std::fs::File::open(npz).unwrap()).unwrap();
    let array = npyz::NpyFile::new(std::io::BufReader::new(zip.by_name("index.npy").unwrap())).unwrap();
    array.into_vec::<i32>().unwrap().into_iter().map(|i| i as u64).collect()
}

#[test]
fn sdf_and_arrays_agree() {
    let (Some(sdf), Some(npz)) = (shared("qm9/sdf/gdb9.sdf"), shared("qm9/qm9_130831.npz")) else { return };
    let index = index(&npz);
    let text = std::fs::read_to_string(&sdf).unwrap();
    let titles = text.lines().filter_map(|l| l.strip_prefix("gdb_"));
    let numbers: Vec<usize> = titles.map(|t| index.binary_search(&t.parse().unwrap()).unwrap()).collect();
    assert_eq!(numbers.len(), 997);
    let arrays = load(&npz);
    same_molecules(&sdf, &numbers, &arrays);
    assert_eq!(load(sdf.parent().unwrap()).header().targets.len(), 12);

    match std::env::var_os("PPGN_QM9_SDF") {
        Some(sdf) => same_molecules(Path::new(&sdf), &(0..arrays.len()).collect::<Vec<_>>(), &arrays),
        None => {
            eprintln!("SKIPPED: all of QM9 as SDF; goldens/qm9_features.py makes it, PPGN_QM9_SDF names it")
        }
    }
}

#[test]
fn agreement_with_rdkit() {
    let Some(rdkit) = std::env::var_os("PPGN_QM9_RDKIT") else {
        eprintln!("SKIPPED: RDKit on all of QM9; goldens/qm9_features.py makes it, PPGN_QM9_RDKIT names it");
        return;
    };
    let Some(npz) = shared("qm9/qm9_130831.npz") else { return };
    let d = load(npz);
    let (mut atoms, mut molecules) = (0, 0);
    let mut wrong = [0; 7];
    for (i, line) in std::fs::read_to_string(rdkit).unwrap().lines().enumerate() {
        let (number, theirs) = line.split_once(',').unwrap();
        if theirs == "-" {
            continue;
        }
        molecules += 1;
        let g = d.graph(i);
        let mut same = true;
        for (u, theirs) in theirs.split(' ').enumerate() {
            atoms += 1;
            let ours = digits(g, u);
            for (k, (a, b)) in ours.bytes().zip(theirs.bytes()).enumerate() {
                wrong[k] += usize::from(a != b);
                same &= a == b;
            }
        }
        if !same {
            println!("molecule {number} differs");
        }
    }
    println!("{molecules} molecules, {atoms} atoms");
    for (k, wrong) in wrong.iter().enumerate() {
        let share = 100.0 * (1.0 - *wrong as f64 / atoms as f64);
        println!("{:10} {share:.5} % ({wrong} differ)", FEATURES[6 + k]);
    }
    assert!(wrong.iter().all(|&w| (w as f64) < 2e-5 * atoms as f64), "{wrong:?}");
}
