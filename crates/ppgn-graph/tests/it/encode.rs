//! Input encodings, against golden values and against their definitions written out on dense matrices.

use crate::support::{golden, shared};
use ppgn_graph::encode::{Encoding, Kind};
use ppgn_graph::{Dataset, Graph, GraphBuilder, Schema, format};
use safetensors::SafeTensors;

fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn the_authors_encoding_equals_the_goldens() {
    for name in ["paper1_mutag", "paper2_mutag", "paper3_imdbbinary"] {
        let Some(path) = golden(&format!("{name}.safetensors")) else { return };
        let bytes = std::fs::read(path).unwrap();
        let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let metadata = metadata.metadata().clone().unwrap();
        let dataset = metadata["data"].trim_matches('"').to_string();
        let graphs: Vec<usize> = serde_json::from_str(&metadata["graphs"]).unwrap();
        let Some(zip) = shared(&format!("tu/{dataset}.zip")) else { return };
        let d = format::read(zip, &Default::default()).unwrap();
        let encoder = Encoding::from(Kind::Authors).encoder(d.schema()).unwrap();
        for (i, &g) in graphs.iter().enumerate() {
            let tensor = tensors.tensor(&format!("input.{i}")).unwrap();
            let [channels, n] = [tensor.shape()[0], tensor.shape()[1]];
            assert_eq!((encoder.channels().len(), d.graph(g).nodes()), (channels, n));
            let expected = f32s(tensor.data());
            let rows: Vec<f32> = encoder.rows(d.graph(g)).unwrap();
            for pair in 0..n * n {
                for c in 0..channels {
                    let (got, wanted) = (rows[pair * channels + c], expected[c * n * n + pair]);
                    assert!(
                        (got - wanted).abs() < 1e-6,
                        "{name} graph {g} pair {pair} channel {c}: {got} {wanted}"
                    );
                }
            }
        }
        let targets = tensors.tensor("target").unwrap();
        let targets: Vec<i64> =
            targets.data().chunks_exact(8).map(|b| i64::from_le_bytes(b.try_into().unwrap())).collect();
        let classes: Vec<i64> = graphs.iter().map(|&g| d.class(g).unwrap() as i64).collect();
        assert_eq!(classes, targets, "{name}");
    }
}

#[test]
fn the_authors_encoding_counts_raw_labels() {
    let Some(zip) = shared("tu/PTC.zip") else { return };
    let d = format::read(zip, &Default::default()).unwrap();
    assert_eq!(d.schema().node_labels[0].values().len(), 19);
    assert_eq!(Encoding::from(Kind::Authors).encoder(d.schema()).unwrap().channels().len(), 23);
}

/// A directed graph with everything: 0 -> 1 (labels 5, weight 0.5), 1 -> 2, 2 -> 1, a loop at 2.
fn everything() -> Graph {
    let mut b = GraphBuilder::directed(3);
    b.edge_label_columns(1).edge_attribute_columns(1);
    b.edge_with(0, 1, &[5], &[0.5]).edge_with(1, 2, &[4], &[1.5]);
    b.edge_with(2, 1, &[5], &[2.5]).edge_with(2, 2, &[4], &[3.5]);
    b.node_labels(2, vec![7, 0, 9, 1, 7, 1]).node_attributes(1, vec![0.1, 0.2, 0.3]);
    b.build().unwrap()
}

#[test]
fn the_paper_encoding_channel_by_channel() {
    let g = everything();
    let encoding = Encoding { identity: true, transposed: true, ..Encoding::from(Kind::Paper) };
    let encoder = encoding.encoder(&Schema::of(std::slice::from_ref(&g)).unwrap()).unwrap();
    assert_eq!(
        encoder.channels(),
        [
            "node label0=7",
            "node label0=9",
            "node label1=0",
            "node label1=1",
            "node attribute0",
            "edge label0=4",
            "edge label0=5",
            "edge attribute0",
            "identity",
            "transposed adjacency",
            "adjacency"
        ]
    );
    let rows: Vec<f64> = encoder.rows(&g).unwrap();
    let channel = |c: usize| (0..9).map(|p| rows[p * 11 + c]).collect::<Vec<_>>();
    assert_eq!(channel(0), [1., 0., 0., 0., 0., 0., 0., 0., 1.]);
    assert_eq!(channel(1), [0., 0., 0., 0., 1., 0., 0., 0., 0.]);
    assert_eq!(channel(2), [1., 0., 0., 0., 0., 0., 0., 0., 0.]);
    assert_eq!(channel(3), [0., 0., 0., 0., 1., 0., 0., 0., 1.]);
    assert_eq!(channel(4), [0.1, 0., 0., 0., 0.2, 0., 0., 0., 0.3]);
    assert_eq!(channel(5), [0., 0., 0., 0., 0., 1., 0., 0., 1.]);
    assert_eq!(channel(6), [0., 1., 0., 0., 0., 0., 0., 1., 0.]);
    assert_eq!(channel(7), [0., 0.5, 0., 0., 0., 1.5, 0., 2.5, 3.5]);
    assert_eq!(channel(8), [1., 0., 0., 0., 1., 0., 0., 0., 1.]);
    assert_eq!(channel(10), [0., 1., 0., 0., 0., 1., 0., 1., 1.]);
    assert_eq!(channel(9), [0., 0., 0., 1., 0., 1., 0., 1., 1.]);
}

#[test]
fn the_authors_encoding_on_a_directed_graph_with_a_loop() {
    // Written out on matrices: N = D^-1/2 A D^-1/2, D = diag(column sums), as the peer program does.
    let mut b = GraphBuilder::directed(3);
    b.extend([(0, 1), (1, 2), (2, 1), (2, 2)]).node_labels(1, vec![2, 0, 2]);
    let g = b.build().unwrap();
    let encoder =
        Encoding::from(Kind::Authors).encoder(&Schema::of(std::slice::from_ref(&g)).unwrap()).unwrap();
    assert_eq!(encoder.channels().len(), 4);
    let rows: Vec<f64> = encoder.rows(&g).unwrap();
    let a = [[0., 1., 0.], [0., 0., 1.], [0., 1., 1.]];
    let degree: Vec<f64> = (0..3).map(|j| (0..3).map(|i| a[i][j]).sum()).collect();
    for i in 0..3 {
        for j in 0..3 {
            let n = if degree[i] * degree[j] > 0.0 { a[i][j] / (degree[i] * degree[j]).sqrt() } else { 0.0 };
            for c in 0..4 {
                let one = (i == j && c == 1 + [2, 0, 2][i]) as u8 as f64;
                let got = rows[(i * 3 + j) * 4 + c];
                assert!((got - n - one).abs() < 1e-12, "({i},{j}) {c}: {got}");
            }
        }
    }
}

#[test]
fn the_qm9_encoding() {
    let mut b = GraphBuilder::undirected(2);
    b.edge_label_columns(1).edge_with(0, 1, &[4], &[]);
    b.node_attributes(13, (0..26).map(f64::from).collect()).positions(vec![[0., 0., 0.], [3., 4., 0.]]);
    let g = b.build().unwrap();
    let encoder = Encoding::from(Kind::Qm9).encoder(&Schema::of(std::slice::from_ref(&g)).unwrap()).unwrap();
    assert_eq!(encoder.channels().len(), 19);
    let rows: Vec<f32> = encoder.rows(&g).unwrap();
    assert_eq!(rows[..13], (0..13).map(|x| x as f32).collect::<Vec<_>>());
    assert_eq!(rows[13..19], [0.; 6]);
    let mut off = vec![0.; 13];
    off.extend([5., 1., 0., 0., 0., 1.]);
    assert_eq!(rows[19..38], off);
    assert_eq!(rows[38..57], off);
    assert_eq!(rows[57..70], (13..26).map(|x| x as f32).collect::<Vec<_>>());
}

#[test]
fn what_an_encoding_cannot_take_is_named() {
    let labelled = |label: i64| {
        let mut b = GraphBuilder::undirected(1);
        b.node_labels(1, vec![label]);
        b.build().unwrap()
    };
    let schema = |g: &Graph| Schema::of(std::slice::from_ref(g)).unwrap();
    let error = |kind: Kind, g: &Graph| Encoding::from(kind).encoder(&schema(g)).unwrap_err().to_string();
    assert!(error(Kind::Authors, &labelled(-1)).contains("-1 is negative"));
    assert!(error(Kind::Authors, &labelled(1 << 40)).contains("the largest, 1099511627776"));
    assert!(error(Kind::Authors, &everything()).contains("knows one column"));
    assert!(error(Kind::Qm9, &labelled(1)).contains("13 node attributes"));
    // A label that the schema lacks.
    let encoder = Encoding::from(Kind::Paper).encoder(&schema(&labelled(3))).unwrap();
    let message = encoder.rows::<f32>(&labelled(4)).unwrap_err().to_string();
    assert_eq!(message, "node 0 has the label 4, which column `label0` does not list");
    // Pairs that cannot be numbered.
    let encoder = Encoding { identity: true, ..Kind::Paper.into() }.encoder(&schema(&labelled(3))).unwrap();
    let huge = encoder.length(usize::MAX / 2).unwrap_err().to_string();
    assert!(huge.contains("too large to encode"), "{huge}");
    assert!(
        Encoding { identity: true, ..Kind::Authors.into() }
            .encoder(&Schema::default())
            .unwrap_err()
            .is_call()
    );
    assert!(
        Encoding { transposed: true, ..Kind::Paper.into() }
            .encoder(&Schema::default())
            .unwrap_err()
            .is_call()
    );
}

#[test]
fn encodings_are_equivariant() {
    let g = everything();
    let schema = Schema::of(std::slice::from_ref(&g)).unwrap();
    let encoder = Encoding { identity: true, ..Kind::Paper.into() }.encoder(&schema).unwrap();
    let p = [2u32, 0, 1];
    let rows: Vec<f64> = encoder.rows(&g).unwrap();
    let moved: Vec<f64> = encoder.rows(&g.permute(&p).unwrap()).unwrap();
    let c = encoder.channels().len();
    for i in 0..3 {
        for j in 0..3 {
            let (from, to) = ((i * 3 + j) * c, (p[i] as usize * 3 + p[j] as usize) * c);
            assert_eq!(rows[from..from + c], moved[to..to + c]);
        }
    }
}

#[test]
fn ignored_features_are_told() {
    let mut b = GraphBuilder::undirected(1);
    b.node_attributes(2, vec![1.0, 2.0]);
    let d = Dataset::builder("d").graphs(vec![b.build().unwrap()]).build().unwrap();
    let encoder = Encoding::from(Kind::Authors).encoder(d.schema()).unwrap();
    assert_eq!(encoder.ignored(), ["2 node attributes"]);
}

#[test]
fn point_2_numbers_beyond_the_precision_are_refused() {
    use ppgn_graph::Error;
    let mut b = GraphBuilder::undirected(2);
    b.node_attributes(2, vec![0.5, 1.0, 2.0, -1e39]).edge_attribute_columns(1).edge_with(0, 1, &[], &[3e38]);
    let graph = b.build().unwrap();
    let encoder =
        Encoding::from(Kind::Paper).encoder(&Schema::of(std::slice::from_ref(&graph)).unwrap()).unwrap();
    let error = encoder.rows::<f32>(&graph).unwrap_err();
    assert_eq!(error.to_string(), "attribute1 of node 1 is -1e39, which f32 cannot hold");
    assert!(matches!(error, Error::Overflow { graph: None, .. }) && !error.is_call());
    assert!(encoder.rows::<f64>(&graph).unwrap().iter().all(|x| x.is_finite()));
    let mut b = GraphBuilder::undirected(2);
    b.edge_attribute_columns(1).edge_with(0, 1, &[], &[1e300]);
    let graph = b.build().unwrap();
    let encoder =
        Encoding::from(Kind::Paper).encoder(&Schema::of(std::slice::from_ref(&graph)).unwrap()).unwrap();
    let error = encoder.check::<f32>(&[graph]).unwrap_err();
    assert_eq!(error.to_string(), "graph 0: attribute0 of edge 0 1 is 1e300, which f32 cannot hold");
    // Distances, which overflow even where positions do not.
    let mut b = GraphBuilder::undirected(2);
    b.node_attributes(13, vec![0.0; 26]).positions(vec![[0.0; 3], [1e200, 0.0, 0.0]]);
    b.edge_label_columns(1).edge_with(0, 1, &[1], &[]);
    let graph = b.build().unwrap();
    let encoder =
        Encoding::from(Kind::Qm9).encoder(&Schema::of(std::slice::from_ref(&graph)).unwrap()).unwrap();
    let error = encoder.rows::<f64>(&graph).unwrap_err();
    assert_eq!(error.to_string(), "the distance of nodes 0 and 1 is inf, which f64 cannot hold");
}
