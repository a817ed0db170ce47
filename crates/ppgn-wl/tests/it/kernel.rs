//! The subtree kernel against GraKeL's numbers, and its files as NumPy reads them.

use crate::{data, naive};
use ppgn_graph::Graph;
use ppgn_wl::{Options, Test, subtree_kernel};
use sha2::{Digest, Sha256};
use std::io::Read;

/// The SHA-256 of the Gram matrix as little-endian int64, by GraKeL 0.1.11: `WeisfeilerLehman(n_iter=5,
/// base_graph_kernel=VertexHistogram).fit_transform` of `benches/peers/wl_kernel.py`.
const GRAKEL: [(&str, &str); 2] = [
    ("MUTAG", "53acb6b82bc746ea6ffd79fdf934dc8311cac81646801e6f83975e7f19faac7d"),
    ("NCI1", "53d6b4bf65e1a348fc0c67107a209d2911dfe3cf3a7c5c257c0d5e3e7490e330"),
];

#[test]
fn the_same_numbers_as_grakel() {
    for (name, expected) in GRAKEL {
        let Some(graphs) = data::graphs(&format!("tu/{name}.zip")) else { continue };
        let gram =
            subtree_kernel(&graphs, 5, &Options::default()).unwrap().gram(&Options::default()).unwrap();
        let mut hash = Sha256::new();
        gram.values().iter().for_each(|x| hash.update(x.to_le_bytes()));
        let found: String = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(found, expected, "{name}");
    }
}

fn small() -> Vec<Graph> {
    let path = Graph::undirected(4, [(0, 1), (1, 2), (2, 3)]).unwrap();
    let star = Graph::undirected(4, [(0, 1), (0, 2), (0, 3)]).unwrap();
    vec![path, star, Graph::undirected(1, []).unwrap()]
}

#[test]
fn rounds_beyond_the_last_count_again() {
    let graphs = small();
    let rounds = naive::rounds(&graphs, Test::COLOUR_REFINEMENT);
    for iterations in 0..6 {
        let gram = subtree_kernel(&graphs, iterations, &Options::default()).unwrap();
        let gram = gram.gram(&Options::default()).unwrap();
        for i in 0..graphs.len() {
            for j in 0..graphs.len() {
                // Pairs of nodes with the same colour, over all rounds: the kernel by its other definition.
                let equal = |r: usize| {
                    let colours = &rounds[r.min(rounds.len() - 1)];
                    let pairs = colours[i].iter().flat_map(|a| colours[j].iter().map(move |b| a == b));
                    pairs.filter(|&equal| equal).count() as u64
                };
                assert_eq!(gram.get(i, j), (0..=iterations).map(equal).sum::<u64>());
            }
        }
    }
}

/// An array of integers, with its shape.
fn integers(bytes: &[u8]) -> (Vec<u64>, Vec<i64>) {
    let file = npyz::NpyFile::new(bytes).unwrap();
    let shape = file.shape().to_vec();
    let values = match file.dtype().descr().as_str() {
        "'<i4'" => file.into_vec::<i32>().unwrap().into_iter().map(i64::from).collect(),
        _ => file.into_vec::<i64>().unwrap(),
    };
    (shape, values)
}

#[test]
fn files_hold_what_numpy_reads() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = subtree_kernel(&small(), 2, &Options::default()).unwrap();
    let rows = kernel.features(&Options::default()).unwrap();
    let path = folder.path().join("features.npz");
    rows.write_npz(&path).unwrap();
    let mut zip = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
    let mut read = |name: &str| {
        let mut bytes = Vec::new();
        zip.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    };
    let signed = |values: &[u64]| values.iter().map(|&x| x as i64).collect::<Vec<_>>();
    assert_eq!(integers(&read("shape.npy")), (vec![2], vec![3, rows.columns as i64]));
    assert_eq!(integers(&read("indptr.npy")), (vec![4], signed(&rows.indptr)));
    assert_eq!(integers(&read("indices.npy")).1, signed(&rows.indices));
    assert_eq!(integers(&read("data.npy")).1, signed(&rows.values));
    let format = read("format.npy");
    assert!(format.ends_with(b"csr") && npyz::NpyFile::new(&format[..]).unwrap().shape().is_empty());

    let first = std::fs::read(&path).unwrap();
    rows.write_npz(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), first);

    let gram = kernel.gram(&Options::default()).unwrap();
    let path = folder.path().join("gram.npy");
    gram.write(&path).unwrap();
    assert_eq!(integers(&std::fs::read(&path).unwrap()), (vec![3, 3], signed(gram.values())));
    let path = folder.path().join("gram.npz");
    gram.write(&path).unwrap();
    let mut zip = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
    let mut bytes = Vec::new();
    zip.by_name("gram.npy").unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(integers(&bytes), (vec![3, 3], signed(gram.values())));

    assert!(gram.write(folder.path().join("gram.txt")).unwrap_err().is_call());
    assert!(gram.write(folder.path().join("nowhere/gram.npy")).is_err());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3);
}
