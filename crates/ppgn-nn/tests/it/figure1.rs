//! The paper's first figure: graphs that 1-WL does not distinguish, distinguished by weights set by hand.
//!
//! Two blocks compute tr(A^3), six times the number of triangles: A, then (A, A^2), then A^3, whose diagonal is summed.
//! Only small integers are added and multiplied, so the scores are exact.

use crate::shared::numbers;
use ppgn_graph::encode::{Encoding, Kind};
use ppgn_graph::{Graph, Schema};
use ppgn_nn::{Batch, BlockConfig, Layout, Pooling, Ppgn, PpgnConfig, Precision, Values};

/// The network, from its nonzero weights: (name, row, column).
fn network(precision: Precision) -> Ppgn {
    let block = |width, product| BlockConfig { width, product: Some(product), hidden: Some(vec![1]) };
    let config =
        PpgnConfig { blocks: vec![block(2, 1), block(1, 1)], pooling: Pooling::Sum, ..PpgnConfig::new(1, 1) };
    let ones = [
        ("reg_blocks.0.mlp1.convs.0.weight", 0, 0), // m1(A) = A
        ("reg_blocks.0.mlp1.convs.1.weight", 0, 0),
        ("reg_blocks.0.mlp2.convs.0.weight", 0, 0), // m2(A) = A, so W = A^2
        ("reg_blocks.0.mlp2.convs.1.weight", 0, 0),
        ("reg_blocks.0.skip.conv.weight", 0, 0), // (A, A^2)
        ("reg_blocks.0.skip.conv.weight", 1, 1),
        ("reg_blocks.1.mlp1.convs.0.weight", 0, 0), // m1 = A
        ("reg_blocks.1.mlp1.convs.1.weight", 0, 0),
        ("reg_blocks.1.mlp2.convs.0.weight", 0, 1), // m2 = A^2, so W = A^3
        ("reg_blocks.1.mlp2.convs.1.weight", 0, 0),
        ("reg_blocks.1.skip.conv.weight", 0, 2), // W alone
        ("fc_layers.1.fc.weight", 0, 0),         // its diagonal
    ];
    let layout = Layout::new(&config);
    let mut flat: Vec<Vec<f64>> = layout.arrays().iter().map(|a| vec![0.0; a.len()]).collect();
    for (name, row, column) in ones {
        let (a, part) = layout.parts().find(|(_, part)| part.name == name).unwrap();
        flat[a][part.offset + row * part.shape[1] + column] = 1.0;
    }
    let parameters = flat.iter().map(|v| Values::from_f64(precision, v)).collect();
    Ppgn::new(config, parameters).unwrap()
}

fn check(without: &[(u32, u32)], with: &[(u32, u32)]) {
    let graphs = [without, with].map(|edges| Graph::undirected(6, edges.iter().copied()).unwrap());
    let encoder = Encoding::from(Kind::Paper).encoder(&Schema::of(&graphs).unwrap()).unwrap();
    for precision in [Precision::F32, Precision::F64] {
        let batch = Batch::encode(&encoder, &[&graphs[0], &graphs[1]], precision).unwrap();
        assert_eq!(numbers(network(precision).forward(&batch).unwrap()), [0.0, 12.0]);
    }
}

#[test]
fn a_hexagon_and_two_triangles() {
    check(
        &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)],
        &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)],
    );
}

#[test]
fn a_hexagon_with_a_long_chord_and_two_triangles_joined_by_an_edge() {
    check(
        &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3)],
        &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3)],
    );
}
