//! The cost model of the two spaces, and the models that require the dense space.

use ppgn_graph::encode::{Encoding, Kind};
use ppgn_graph::generate::generate;
use ppgn_nn::{Batch, BlockConfig, Colours, Cost, Model, PpgnConfig, Precision, SpaceChoice};

#[test]
fn models_with_equivariant_layers_require_the_dense_space() {
    let graphs = generate("regular:n=12,d=4,count=10").unwrap();
    let encoder = Encoding::from(Kind::Paper).encoder(graphs.schema()).unwrap();
    let colours = Colours::encode(&encoder, graphs.graphs(), Precision::F32, 3, &Default::default()).unwrap();
    for model in [Model::MpLin, Model::Lin] {
        let blocks = vec![BlockConfig::new(32); 3];
        let config = PpgnConfig { model, blocks, ..PpgnConfig::new(1, 2) };
        let error = config.runs_on(SpaceChoice::Quotient).unwrap_err();
        assert!(error.is_call() && error.to_string().contains("whole rows and columns"), "{error}");
        let batch = Batch::quotient(&colours, &[0, 1]).unwrap();
        let network = config.init(0, Precision::F32).unwrap();
        let error = network.forward(&batch).unwrap_err();
        assert!(error.is_call() && error.to_string().contains("requires the dense space"), "{error}");
    }
}

#[test]
fn the_dense_cost_counts_its_operations() {
    // One graph of 4 nodes, one block of width 3 with one layer, 2 channels: 16 rows.
    let config = PpgnConfig { blocks: vec![BlockConfig::new(3)], depth: 1, ..PpgnConfig::new(2, 2) };
    let colours = Colours::new(&[4], 2, 1, &Default::default(), |_| {
        Ok((0..32).map(|x| x as f32).collect::<Vec<f32>>())
    })
    .unwrap();
    let cost = Cost::new(&config, &colours);
    let (mlps, join, product) = (2 * 2 * 3, (2 + 3) * 3, 4 * 3);
    let forward = 2 * 16 * (mlps + join) + 2 * 16 * product * Cost::PRODUCT as usize;
    assert_eq!(cost.dense, 3.0 * forward as f64);
    // The other models: the linear basis processes all pairs twice; `mlp` has a single MLP and no product.
    let dense = |model| {
        let cost = Cost::new(&PpgnConfig { model, ..config.clone() }, &colours);
        cost.dense / (3.0 * 2.0 * 16.0)
    };
    assert_eq!(dense(Model::Lin), 2.0 * 6.0);
    assert_eq!(dense(Model::Mlp), (6 + 15) as f64);
    assert_eq!(dense(Model::MpLin), (12 + 2 * 6 + (2 + 3 + 3) * 3) as f64 + 12.0 * Cost::PRODUCT);
    // Isomorphism types have 12 channels, 13 with the identity, and m1 sees them twice.
    assert_eq!(dense(Model::PpgnPlus), (26 * 3 + 13 * 3 + (13 + 3) * 3) as f64 + 12.0 * Cost::PRODUCT);
    // No two pairs are alike.
    assert_eq!((cost.share(), &cost.rows[..]), (1.0, &[16, 16][..]));
}
