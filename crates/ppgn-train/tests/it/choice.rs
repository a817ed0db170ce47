//! Which space a dataset is trained on.

use ppgn_graph::encode::{Encoding, Kind};
use ppgn_graph::generate::generate;
use ppgn_graph::random::Stream;
use ppgn_graph::{Dataset, Graph, GraphBuilder};
use ppgn_nn::{BlockConfig, Model, PpgnConfig, Precision, SpaceChoice};
use ppgn_train::{Choosing, Chosen, Result, Session};

fn network() -> PpgnConfig {
    PpgnConfig { blocks: vec![BlockConfig::new(32); 3], ..PpgnConfig::new(1, 2) }
}

fn choose(choice: SpaceChoice, dataset: &Dataset, memory: Option<u64>) -> Result<Chosen> {
    choose_for(network(), choice, dataset, memory)
}

fn choose_for(
    network: PpgnConfig,
    choice: SpaceChoice,
    dataset: &Dataset,
    memory: Option<u64>,
) -> Result<Chosen> {
    let encoder = Encoding::from(Kind::Paper).encoder(dataset.schema()).unwrap();
    let config = PpgnConfig { inputs: encoder.channels().len(), ..network };
    let session = Session::default().with_max_memory(memory);
    #[rustfmt::skip]
    let choosing = Choosing {
        choice, config: &config, encoder: &encoder, dataset, digest: &dataset.digest(), precision: Precision::F32,
        session: &session,
    };
    choosing.choose()
}

/// Graphs whose edges have lengths of their own.
fn real_valued(count: usize) -> Dataset {
    let mut random = Stream::new(4, "lengths", &[]);
    let mut graph = |_| {
        let mut builder = GraphBuilder::new(8, false);
        builder.edge_attribute_columns(1);
        for i in 0..8 {
            for k in 0..i {
                builder.edge_with(i, k, &[], &[random.uniform(0.0, 1.0)]);
            }
        }
        builder.build().unwrap()
    };
    let graphs: Vec<Graph> = (0..count).map(&mut graph).collect();
    Dataset::builder("real").graphs(graphs).build().unwrap()
}

#[test]
fn auto_takes_the_quotient_where_pairs_merge() {
    let rooks = generate("regular:n=12,d=4,count=80").unwrap();
    let chosen = choose(SpaceChoice::Auto, &rooks, None).unwrap();
    let cost = chosen.cost.unwrap();
    assert_eq!(chosen.colours.unwrap().graphs(), 80);
    assert!(chosen.why.starts_with("quotient space: an epoch costs about ") && cost.share() < 0.9);
    assert_eq!((cost.pairs, cost.rows.len(), cost.rows[0]), (80 * 144, 4, 160));

    for count in [5, 100] {
        let chosen = choose(SpaceChoice::Auto, &real_valued(count), None).unwrap();
        assert!(chosen.colours.is_none() && chosen.why.starts_with("dense space: "), "{}", chosen.why);
        // Few graphs are coloured; of many only a sample.
        assert_eq!(chosen.cost.is_some(), count == 5);
        assert_eq!(chosen.why.contains("sample of 32 graphs"), count == 100, "{}", chosen.why);
    }
}

#[test]
fn what_is_requested_is_taken() {
    let dense = choose(SpaceChoice::Dense, &generate("petersen").unwrap(), None).unwrap();
    assert_eq!((dense.colours.is_none(), dense.why.as_str()), (true, "dense space, as requested"));
    let quotient = choose(SpaceChoice::Quotient, &real_valued(3), None).unwrap();
    assert!(
        quotient.colours.is_some()
            && quotient.why.starts_with("quotient space, as requested: an epoch costs about ")
    );
}

#[test]
fn models_that_look_at_whole_rows_need_all_pairs() {
    let graphs = generate("regular:n=12,d=4,count=10").unwrap();
    for &model in Model::ALL {
        let config = PpgnConfig { model, ..network() };
        let [auto, quotient] =
            [SpaceChoice::Auto, SpaceChoice::Quotient].map(|c| choose_for(config.clone(), c, &graphs, None));
        let auto = auto.unwrap();
        if config.needs_pairs().is_none() {
            assert!(auto.colours.is_some() && quotient.unwrap().colours.is_some(), "{}", auto.why);
            continue;
        }
        assert!(auto.colours.is_none() && auto.why.contains("linear equivariant layers"), "{}", auto.why);
        let error = quotient.unwrap_err();
        assert!(error.is_call() && error.to_string().contains("whole rows and columns"), "{error}");
    }
}

#[test]
fn memory_is_bounded() {
    let graphs = generate("regular:n=12,d=4,count=10").unwrap();
    let auto = choose(SpaceChoice::Auto, &graphs, Some(1 << 10)).unwrap();
    assert!(auto.colours.is_none() && auto.why.contains("MiB"), "{}", auto.why);
    // Asked for, it is an error.
    assert!(choose(SpaceChoice::Quotient, &graphs, Some(1 << 10)).is_err());
}
