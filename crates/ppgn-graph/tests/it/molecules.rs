//! Molecules as SDF and SMILES: against RDKit's goldens, against each other, and what is wrong with bad files.

mod fuzz;
mod scaffolds;

use crate::support::{defects, folder, read_as};
use ppgn_graph::encode::{Encoding, Kind};
use ppgn_graph::format::{Format, ReadOptions, Records, WriteOptions, read, write};
use ppgn_graph::{Dataset, Graph, Task};

/// What RDKit makes of a molecule: SMILES, then the labels of atoms (element, charge, hydrogens, ring, aromatic, orbitals) and of bonds
/// (atoms, type, ring).
struct Golden {
    smiles: &'static str,
    atoms: Vec<Vec<i64>>,
    bonds: Vec<Vec<i64>>,
}

fn goldens() -> Vec<Golden> {
    let numbers = |text: &str| -> Vec<Vec<i64>> {
        let list = text.split(';').filter(|t| *t != "-");
        list.map(|t| t.split(',').map(|x| x.parse().unwrap()).collect()).collect()
    };
    let lines = include_str!("goldens/molecules.txt").lines().filter(|l| !l.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split(' ');
            let mut next = || words.next().unwrap();
            Golden { smiles: next(), atoms: numbers(next()), bonds: numbers(next()) }
        })
        .collect()
}

/// The labels of atoms in the order of the goldens.
fn atoms(g: &Graph) -> Vec<Vec<i64>> {
    let row = |u| {
        let l: &[i64] = g.node_labels(u);
        vec![l[0], l[1], l[3], l[5], l[2], l[4]]
    };
    (0..g.nodes()).map(row).collect()
}

fn bonds(g: &Graph) -> Vec<Vec<i64>> {
    let mut bonds: Vec<Vec<i64>> = g
        .edge_list()
        .map(|(u, v, a)| vec![u as i64, v as i64, g.edge_labels(a)[0], g.edge_labels(a)[1]])
        .collect();
    bonds.sort_unstable();
    bonds
}

fn sorted(bonds: &[Vec<i64>]) -> Vec<Vec<i64>> {
    let mut bonds: Vec<Vec<i64>> =
        bonds.iter().map(|b| vec![b[0].min(b[1]), b[0].max(b[1]), b[2], b[3]]).collect();
    bonds.sort_unstable();
    bonds
}

fn smi(lines: &str) -> Dataset {
    read_as(Format::Smiles, "m.smi", lines.as_bytes()).unwrap()
}

#[test]
fn smiles_are_read_as_by_rdkit() {
    let goldens = goldens();
    assert!(goldens.len() > 500, "{}", goldens.len());
    let text: Vec<&str> = goldens.iter().map(|g| g.smiles).collect();
    let d = smi(&text.join("\n"));
    for (g, golden) in d.graphs().iter().zip(&goldens) {
        assert_eq!(atoms(g), golden.atoms, "{}", golden.smiles);
        assert_eq!(bonds(g), sorted(&golden.bonds), "{}", golden.smiles);
    }
    assert_eq!(d.len(), goldens.len());
}

#[test]
fn mol_blocks_of_both_versions_are_read_as_their_smiles() {
    let d = read_as(Format::Sdf, "drawn.sdf", include_bytes!("goldens/molecules.sdf")).unwrap();
    assert_eq!((d.name(), d.schema().positions), ("drawn", false));
    let titles: Vec<&str> = (0..d.len()).map(|i| d.id(i).unwrap()).collect();
    let same = smi(&titles.join("\n"));
    assert!(d.len() > 100);
    for (i, smiles) in titles.iter().enumerate() {
        assert_eq!(atoms(d.graph(i)), atoms(same.graph(i)), "{smiles}");
        assert_eq!(bonds(d.graph(i)), bonds(same.graph(i)), "{smiles}");
        let targets = d.targets(i);
        assert_eq!(targets[0], d.graph(i).nodes() as f64);
        assert!(targets[1].is_nan() == (i == 0) || i > 0);
    }
    let names: Vec<&str> = d.header().targets.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["atoms", "third"], "the tag SMILES has no numbers");
    assert!(d.header().provenance.notes.iter().any(|n| n.contains("SMILES")), "{:?}", d.header().provenance);
    assert!(
        (0..d.len()).any(|i| d.targets(i)[1].is_nan()) && (0..d.len()).any(|i| !d.targets(i)[1].is_nan())
    );
}

const TABLE: &str = "smiles,solubility,\"log, P\",kind,id\n\
    CCO,-0.77,-0.31,alcohol,m1\n\
    c1ccccc1,,2.13,ring,m2\n\
    \"CC(=O)[O-].[Na+]\",1.2,NA,salt,m3\n\
    C[C@@H](N)C(=O)O,0.1,-2.85,,m4\n";

#[test]
fn a_table_has_targets_and_classes() {
    let folder = folder(&[("my.csv", TABLE.as_bytes())]);
    let path = folder.path().join("my.csv");
    let d = read(&path, &ReadOptions::default()).unwrap();
    assert_eq!((d.name(), d.len(), d.id(2)), ("my", 4, Some("m3")));
    let names: Vec<&str> = d.header().targets.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["solubility", "log, P"]);
    assert_eq!(
        (d.targets(0), d.targets(1)[0].is_nan(), d.targets(2)[1].is_nan()),
        (&[-0.77, -0.31][..], true, true)
    );
    assert!(matches!(d.task(), Task::Regression { .. }));
    let notes = &d.header().provenance.notes;
    assert_eq!(notes[0], "stereo marks of 1 molecules are no features and were left out");
    assert_eq!(notes[1], "not targets, because not all their values are numbers: kind (`alcohol` in line 2)");

    let d = read(&path, &ReadOptions { class: Some("Kind".into()), ..ReadOptions::default() }).unwrap();
    assert_eq!(d.header().class_names, ["alcohol", "ring", "salt"]);
    assert_eq!(d.classes().collect::<Vec<_>>(), [Some(0), Some(1), Some(2), None]);
    let error =
        read(&path, &ReadOptions { class: Some("colour".into()), ..ReadOptions::default() }).unwrap_err();
    assert!(error.to_string().contains("`colour`; there are solubility, log, P, kind"), "{error}");

    // What is missing stays missing in JSON Lines.
    let out = folder.path().join("my.jsonl");
    write(Records::of(&d), &out, WriteOptions::default()).unwrap();
    assert_eq!(read(&out, &ReadOptions::default()).unwrap(), d);
}

#[test]
fn labels_become_channels() {
    let d = smi("CCO\nc1ccccc1[O-]");
    let encoder = Encoding::from(Kind::Paper).encoder(d.schema()).unwrap();
    let channels = encoder.channels();
    for wanted in
        ["node atom=6", "node charge=-1", "node aromatic=1", "node hydrogens=3", "node hybridisation=3"]
    {
        assert!(channels.iter().any(|c| c == wanted), "{wanted} is not in {channels:?}");
    }
    for wanted in ["node ring=1", "node donor=1", "edge bond=4", "edge ring=0", "adjacency"] {
        assert!(channels.iter().any(|c| c == wanted), "{wanted} is not in {channels:?}");
    }
    assert!(encoder.ignored().is_empty());
    // A molecule with other charges and bonds, of the same elements, fits a network that was trained on these.
    assert!(encoder.rows::<f32>(smi("C#CC=O").graph(0)).is_ok());
    assert!(encoder.rows::<f32>(smi("CCl").graph(0)).is_err());
}

/// Ethanol, with hydrogens or without, on paper or in space, from a program that writes no mark.
fn ethanol(hydrogens: bool, depth: f64, mark: &str) -> String {
    let mut atoms = vec!["C", "C", "O"];
    let mut bonds = vec![(1, 2), (2, 3)];
    if hydrogens {
        for at in [1, 1, 1, 2, 2, 3] {
            atoms.push("H");
            bonds.push((at, atoms.len()));
        }
    }
    let mut text = format!("ethanol\n  SomeProg0101010101{mark}\n\n");
    text += &format!("{:3}{:3}  0  0  0  0  0  0  0  0999 V2000\n", atoms.len(), bonds.len());
    for (i, symbol) in atoms.iter().enumerate() {
        text += &format!("{:10.4}{:10.4}{:10.4} {symbol:3} 0  0\n", i as f64, 0.5, depth * i as f64);
    }
    for (a, b) in bonds {
        text += &format!("{a:3}{b:3}  1  0\n");
    }
    text + "M  END\n> <logP>\n-0.31\n\n> <comment>\ntwo\nlines\n\n$$$$\n"
}

fn sdf(text: &str) -> Dataset {
    read_as(Format::Sdf, "e.sdf", text.as_bytes()).unwrap()
}

#[test]
fn hydrogens_may_be_implicit() {
    let [with, without] = [true, false].map(|h| sdf(&ethanol(h, 0.0, "2D")));
    for u in 0..3 {
        assert_eq!(with.graph(0).node_labels(u), without.graph(0).node_labels(u), "atom {u}");
    }
    let oxygen = without.graph(0).node_labels(2);
    assert_eq!(oxygen, [8, 0, 0, 1, 4, 0, 1, 1], "an acceptor and a donor");
    assert_eq!(
        (with.targets(0), with.header().targets.len(), with.id(0)),
        (&[-0.31][..], 1, Some("ethanol"))
    );
}

#[test]
fn coordinates_of_a_drawing_are_not_distances() {
    for (depth, mark, positions) in [
        (0.0, "2D", false),
        (0.0, "", false),
        (0.5, "3D", true),
        (0.5, "2D", true),
        (0.5, "", true),
        (0.0, "3D", true),
    ] {
        let d = sdf(&ethanol(true, depth, mark));
        assert_eq!(d.schema().positions, positions, "{depth} {mark}");
    }
    // Together with a drawing they are none; a flat molecule without a mark is as the others.
    let mixed = sdf(&(ethanol(true, 0.5, "3D") + &ethanol(true, 0.0, "2D")));
    assert!(
        !mixed.schema().positions
            && mixed.header().provenance.notes[0].starts_with("coordinates were left out")
    );
    assert!(sdf(&(ethanol(true, 0.5, "") + &ethanol(true, 0.0, ""))).schema().positions);
}

#[test]
fn charges_radicals_and_valences() {
    let block = |atom: &str, more: &str| {
        let text = format!(
            "x\n\n\n  1  0  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 {atom}\n{more}M  END\n$$$$\n"
        );
        let d = sdf(&text);
        let l = d.graph(0).node_labels(0);
        (l[0], l[1], l[3])
    };
    assert_eq!(block("N   0  3", ""), (7, 1, 4), "the code 3 is a charge of 1");
    assert_eq!(block("N   0  3", "M  CHG  1   1  -1\n"), (7, -1, 2), "a property line counts for more");
    assert_eq!(block("C   0  4", ""), (6, 0, 3), "a radical");
    assert_eq!(block("C   0  0", "M  RAD  1   1   3\n"), (6, 0, 2));
    assert_eq!(block("C   0  0  0  0  0  2", ""), (6, 0, 2), "a stated valence");
    assert_eq!(block("C   0  0  0  0  0 15", ""), (6, 0, 0));
    assert_eq!(block("D   0  0", "M  ISO  1   1   2\n"), (1, 0, 1));
    let v3000 = |options: &str| {
        let text = format!(
            "x\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 COUNTS 2 1 0 0 0\nM  V30 BEGIN ATOM\n\
             M  V30 7 N 0 0 0 0 -\nM  V30  {options}\nM  V30 3 C 1 0 0 0\nM  V30 END ATOM\nM  V30 BEGIN BOND\n\
             M  V30 1 1 3 7\nM  V30 END BOND\nM  V30 BEGIN SGROUP\nM  V30 1 DAT 0 ATOMS=(1 7)\nM  V30 END SGROUP\n\
             M  V30 END CTAB\nM  END\n$$$$\n"
        );
        let d = sdf(&text);
        let l = d.graph(0).node_labels(0);
        (d.graph(0).edges(), l[0], l[1], l[3])
    };
    assert_eq!(v3000("CHG=1"), (1, 7, 1, 3));
    assert_eq!(v3000("RAD=2 MASS=15"), (1, 7, 0, 1));
    assert_eq!(v3000("VAL=1 CFG=1"), (1, 7, 0, 0));
}

#[test]
fn defects_have_lines() {
    let table = |text: &str| defects(Format::Smiles, "m.csv", text.as_bytes());
    assert_eq!(
        table("smiles,y\nCC,1\nC(C,2\nCCX,3\nC\n"),
        [
            "m.csv:3: graph 1: a branch that does not end, character 2 of `C(C`",
            "m.csv:4: graph 2: `X` is neither an atom nor a bond, character 3 of `CCX`",
            "m.csv:5: graph 3: 1 cells, but the first line names 2 columns",
        ]
    );
    assert_eq!(table("smiles,y\n"), ["m.csv: no molecules in it"]);
    assert_eq!(table("smiles,y\n,2\n"), ["m.csv:2: graph 0: an empty SMILES"]);
    let wrong = table("smiles\nc1cccn1\n");
    assert!(wrong[0].contains("is written [nH]"), "{wrong:?}");
    let sdf =
        defects(Format::Sdf, "m.sdf", ethanol(false, 0.0, "").replace("  1  2  1", "  1  2  8").as_bytes());
    assert_eq!(sdf, ["m.sdf:8: graph 0: type 8, but a bond is of type 1, 2, 3, 4 (aromatic) or 9 (dative)"]);
    let notes = smi("C(C)(C)(C)(C)C\nC").header().provenance.notes.clone();
    assert!(
        notes[0].starts_with(
            "1 molecules have an atom with more bonds than its element makes, the first in line 1"
        )
    );
}

#[test]
fn tables_are_told_from_edges() {
    let files: [(&str, &[u8], &str); 4] = [
        ("a.csv", b"SMILES;y\nCC;1\n", "smiles"),
        ("b.csv", b"source,target\n1,2\n", "edges"),
        ("c.tsv", b"id\tsmiles\n1\tCC\n", "smiles"),
        ("d.smi", b"CC ethane\n# comment\nCCC\n", "smiles"),
    ];
    for (name, text, format) in files {
        let folder = folder(&[(name, text)]);
        let d = read(folder.path().join(name), &ReadOptions::default()).unwrap();
        assert_eq!(d.header().provenance.format, format, "{name}");
    }
}
