//! Scaffolds of a thousand molecules against RDKit's, and whatever file the molecules come from.

use super::smi;
use crate::support::read_as;
use ppgn_graph::format::{Format, ReadOptions, Records, WriteOptions, read, write};
use ppgn_graph::split::scaffolds;
use ppgn_graph::{Dataset, Graph, GraphBuilder, LabelColumn, Schema};

#[test]
fn groups_are_those_of_rdkit() {
    let golden: Vec<(&str, u32)> = include_str!("../goldens/scaffolds.txt")
        .lines()
        .filter(|line| !line.starts_with("# "))
        .map(|line| line.split_once(' ').map(|(smiles, group)| (smiles, group.parse().unwrap())).unwrap())
        .collect();
    let text: Vec<&str> = golden.iter().map(|g| g.0).collect();
    let d = smi(&text.join("\n"));
    let found = scaffolds(&d).unwrap();
    assert_eq!((found.len(), golden.len()), (1000, 1000));
    // Both are numbered by first appearance, so equal groups have equal numbers.
    for (i, ((smiles, group), number)) in golden.iter().zip(&found).enumerate() {
        assert_eq!(
            number,
            group,
            "molecule {i}, {smiles}; RDKit has it with {}",
            text[first(&golden, *group)]
        );
    }
    // The labels are enough: JSON Lines keeps them.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.jsonl");
    write(Records::of(&d), &file, WriteOptions::default()).unwrap();
    assert_eq!(scaffolds(&read(&file, &ReadOptions::default()).unwrap()).unwrap(), found);
}

fn first(golden: &[(&str, u32)], group: u32) -> usize {
    golden.iter().position(|g| g.1 == group).unwrap()
}

#[test]
fn mol_blocks_have_the_scaffolds_of_their_smiles() {
    let d = read_as(Format::Sdf, "drawn.sdf", include_bytes!("../goldens/molecules.sdf")).unwrap();
    let titles: Vec<&str> = (0..d.len()).map(|i| d.id(i).unwrap()).collect();
    let found = scaffolds(&d).unwrap();
    assert_eq!(found, scaffolds(&smi(&titles.join("\n"))).unwrap());
    assert!(found.iter().max().unwrap() > &20);
}

#[test]
fn hydrogens_may_be_atoms() {
    let d = smi("Cc1ccccc1\n[H]c1c([H])c([H])c(F)c([H])c1[H]\n[H]C1([H])CC1\nC1CC1\nC[C@H]1C[C@@H]1O");
    assert_eq!(scaffolds(&d).unwrap(), [0, 0, 1, 1, 1]);
}

#[test]
fn other_graphs_have_none() {
    let refused = |d: &Dataset| scaffolds(d).unwrap_err().to_string();
    let plain =
        Dataset::builder("ring").graphs(vec![Graph::undirected(3, [(0, 1), (1, 2), (2, 0)]).unwrap()]);
    let text = refused(&plain.build().unwrap());
    assert!(
        text.starts_with(
            "ring has no scaffolds: they are of molecules, and its nodes have no numbers `atom`"
        ),
        "{text}"
    );
    let record = |atom: i64, bond: i64| {
        let column = |name: &str, value: i64| LabelColumn::new(name, [value, 0, 3, 6]);
        let schema = Schema {
            node_labels: ["atom", "charge", "aromatic", "hydrogens"].map(|name| column(name, atom)).to_vec(),
            edge_labels: vec![column("bond", bond)],
            ..Schema::default()
        };
        let mut builder = GraphBuilder::undirected(2);
        builder.node_labels(4, vec![atom, 0, 0, 3, 6, 0, 0, 3]);
        builder.edge_label_columns(1);
        builder.edge_with(0, 1, &[bond], &[]);
        Dataset::builder("x").graphs(vec![builder.build().unwrap()]).schema(schema).build().unwrap()
    };
    assert_eq!(scaffolds(&record(6, 1)).unwrap(), [0]);
    assert_eq!(refused(&record(300, 1)), "graph 0: node 0 is no atom: its label `atom` is 300");
    assert_eq!(refused(&record(6, 9)), "graph 0: the edge 0 1 is no bond: its label `bond` is 9");
}
