//! Colours on disk, and which space a dataset is given.

use ppgn_graph::encode::{Encoder, Encoding, Kind};
use ppgn_graph::generate::generate;
use ppgn_graph::random::Stream;
use ppgn_graph::{Dataset, Graph, GraphBuilder};
use ppgn_nn::{
    Batch, BlockConfig, Choosing, Chosen, Colours, Cost, Model, Origin, PpgnConfig, Precision, SpaceChoice,
};
use std::path::{Path, PathBuf};

fn encoder(dataset: &Dataset) -> Encoder {
    Encoding::from(Kind::Paper).encoder(dataset.schema()).unwrap()
}

fn of_depth(depth: usize) -> PpgnConfig {
    PpgnConfig { blocks: vec![BlockConfig::new(2); depth], ..PpgnConfig::new(1, 2) }
}

fn cached(folder: &Path, dataset: &Dataset, precision: Precision, depth: usize) -> (Colours, Origin) {
    let options = Default::default();
    Colours::cached(folder, &of_depth(depth), &encoder(dataset), dataset, precision, &options).unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder.join("colours")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn colours_are_kept_by_what_they_depend_on() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (generate("gnp:n=6,count=5").unwrap(), generate("gnp:n=6,count=5,seed=1").unwrap());
    for (dataset, precision, depth) in
        [(&a, Precision::F32, 2), (&a, Precision::F64, 2), (&a, Precision::F32, 3), (&b, Precision::F32, 2)]
    {
        let known = files_or_none(folder.path());
        let (found, origin) = cached(folder.path(), dataset, precision, depth);
        assert!(matches!(origin, Origin::Found { instead: None, kept: Ok(_) }), "{origin}");
        assert_eq!(files(folder.path()).len(), known + 1);
        let (read, origin) = cached(folder.path(), dataset, precision, depth);
        assert!(matches!(&origin, Origin::Read(_)), "{origin}");
        assert_eq!((found.precision(), found.depth()), (precision, depth));
        assert!(read == found);
    }
    // Another encoding of the same graphs.
    let identity = Encoding { identity: true, ..Encoding::from(Kind::Paper) }.encoder(a.schema()).unwrap();
    let options = Default::default();
    let (_, origin) =
        Colours::cached(folder.path(), &of_depth(2), &identity, &a, Precision::F32, &options).unwrap();
    assert!(matches!(origin, Origin::Found { .. }));
    // Triples of the same graphs.
    let triples = PpgnConfig { order: 3, ..of_depth(2) };
    let of_triples =
        || Colours::cached(folder.path(), &triples, &encoder(&a), &a, Precision::F32, &options).unwrap();
    let ((found, origin), (read, again)) = (of_triples(), of_triples());
    assert!(matches!((origin, again), (Origin::Found { .. }, Origin::Read(_))) && found == read);
    assert_eq!((found.order(), found.pairs(), found.channels()), (3, 5 * 216, 18));
}

fn files_or_none(folder: &Path) -> usize {
    if folder.join("colours").exists() { files(folder).len() } else { 0 }
}

#[test]
fn a_damaged_file_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = generate("gnp:n=6,count=3").unwrap();
    let (found, _) = cached(folder.path(), &dataset, Precision::F32, 2);
    let file = files(folder.path()).remove(0);
    let whole = std::fs::read(&file).unwrap();
    let mut random = Stream::new(2, "damage", &[]);
    for round in 0..60 {
        let mut damaged = whole.clone();
        match round % 3 {
            0 => damaged.truncate(random.below(whole.len())),
            1 => {
                let at = random.below(whole.len());
                damaged[at] ^= 1 << random.below(8);
            }
            // Of another version.
            _ => damaged[13] = b'0' + (2 + random.below(8)) as u8,
        }
        std::fs::write(&file, &damaged).unwrap();
        let (again, origin) = cached(folder.path(), &dataset, Precision::F32, 2);
        assert!(
            matches!(&origin, Origin::Found { instead: Some(why), kept: Ok(_) } if why.contains("damaged"))
        );
        assert!(again == found && std::fs::read(&file).unwrap() == whole);
    }
    // A file of another dataset under this one's name.
    let other = generate("gnp:n=6,count=3,seed=9").unwrap();
    cached(folder.path(), &other, Precision::F32, 2);
    let foreign = files(folder.path()).into_iter().find(|path| *path != file).unwrap();
    std::fs::copy(foreign, &file).unwrap();
    assert!(cached(folder.path(), &dataset, Precision::F32, 2).0 == found);
}

#[test]
fn a_folder_that_cannot_be_written_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    // A file where the folder should be: so for every user, root included.
    std::fs::write(folder.path().join("colours"), b"").unwrap();
    let dataset = generate("petersen").unwrap();
    let (colours, origin) = cached(folder.path(), &dataset, Precision::F32, 3);
    assert_eq!(colours.graphs(), 1);
    assert!(matches!(&origin, Origin::Found { kept: Err(_), .. }), "{origin:?}");
    assert!(origin.to_string().contains("not kept"), "{origin}");
}

fn network() -> PpgnConfig {
    PpgnConfig { blocks: vec![BlockConfig::new(32); 3], ..PpgnConfig::new(1, 2) }
}

fn choose(choice: SpaceChoice, dataset: &Dataset, memory: Option<u64>) -> ppgn_nn::Result<Chosen> {
    choose_for(network(), choice, dataset, memory)
}

fn choose_for(
    network: PpgnConfig,
    choice: SpaceChoice,
    dataset: &Dataset,
    memory: Option<u64>,
) -> ppgn_nn::Result<Chosen> {
    let encoder = encoder(dataset);
    let config = PpgnConfig { inputs: encoder.channels().len(), ..network };
    let options = ppgn_wl::Options { max_memory: memory, ..Default::default() };
    #[rustfmt::skip]
    let choosing = Choosing {
        choice, config: &config, encoder: &encoder, dataset, precision: Precision::F32, data_dir: None,
        known: None, options,
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
    assert!(chosen.why.starts_with("quotient space: rows by level are ") && cost.share() < 0.9);
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
fn what_is_asked_for_is_taken() {
    let dense = choose(SpaceChoice::Dense, &generate("petersen").unwrap(), None).unwrap();
    assert_eq!((dense.colours.is_none(), dense.why.as_str()), (true, "dense space: as asked"));
    let quotient = choose(SpaceChoice::Quotient, &real_valued(3), None).unwrap();
    assert!(quotient.colours.is_some() && quotient.why.starts_with("quotient space: as asked"));
}

#[test]
fn models_that_look_at_whole_rows_need_all_pairs() {
    let graphs = generate("regular:n=12,d=4,count=10").unwrap();
    for &model in Model::ALL {
        let config = PpgnConfig { model, ..network() };
        let [auto, quotient] =
            [SpaceChoice::Auto, SpaceChoice::Quotient].map(|c| choose_for(config.clone(), c, &graphs, None));
        let auto = auto.unwrap();
        if !matches!(model, Model::MpLin | Model::Lin) {
            assert!(auto.colours.is_some() && quotient.unwrap().colours.is_some(), "{}", auto.why);
            continue;
        }
        assert!(auto.colours.is_none() && auto.why.contains("linear equivariant layers"), "{}", auto.why);
        let error = quotient.unwrap_err();
        assert!(error.is_call() && error.to_string().contains("whole rows and columns"), "{error}");
        // A batch of colours is refused by the network itself.
        let encoder = encoder(&graphs);
        let colours =
            Colours::encode(&encoder, graphs.graphs(), Precision::F32, 3, &Default::default()).unwrap();
        let batch = Batch::quotient(&colours, &[0, 1]).unwrap();
        let network = config.init(0, Precision::F32).unwrap();
        let error = network.forward(&batch).unwrap_err();
        assert!(error.is_call() && error.to_string().contains("colours as rows"), "{error}");
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

#[test]
fn the_dense_cost_is_the_count_of_its_operations() {
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
    // The other models: the basis touches all pairs twice, an MLP alone has one MLP and no product.
    let dense = |model| {
        let cost = Cost::new(&PpgnConfig { model, ..config.clone() }, &colours);
        cost.dense / (3.0 * 2.0 * 16.0)
    };
    assert_eq!(dense(Model::Lin), 2.0 * 6.0);
    assert_eq!(dense(Model::Mlp), (6 + 15) as f64);
    assert_eq!(dense(Model::MpLin), (12 + 2 * 6 + (2 + 3 + 3) * 3) as f64 + 12.0 * Cost::PRODUCT);
    // Nothing is alike.
    assert_eq!((cost.share(), &cost.rows[..]), (1.0, &[16, 16][..]));
}
