//! `config.toml`: what earlier versions wrote is read, and its keys stay.

use ppgn_graph::Schema;
use ppgn_graph::encode::{Encoding, Kind};
use ppgn_graph::generate::generate;
use ppgn_nn::{PpgnConfig, Precision};
use ppgn_train::{Goal, Imported, Origin, Request, Settings};

fn imported() -> Settings {
    Settings::imported(Imported {
        dataset: "checkpoint".into(),
        precision: Precision::F32,
        encoding: Encoding::from(Kind::Paper),
        network: PpgnConfig::new(1, 2),
        goal: Goal::Classes(vec![0, 1]),
        schema: Schema::default(),
        scaling: Vec::new(),
    })
    .unwrap()
}

#[test]
fn the_keys_of_a_trained_run() {
    let data = generate("csl").unwrap();
    let settings = Settings::resolve(&Request { limit: Some(150), ..Request::new("csl", &data) }).unwrap();
    let text = settings.to_toml().unwrap();
    let table: toml::Table = text.parse().unwrap();
    for key in ["data", "dataset", "digest", "limit", "preset", "division", "training", "encoding", "network"]
    {
        assert!(table.contains_key(key), "{key} in {text}");
    }
    assert_eq!(toml::from_str::<Settings>(&text).unwrap(), settings);
    assert_eq!(settings.trained().unwrap().data, "csl");
}

#[test]
fn an_imported_run_as_version_0_1_wrote_it() {
    let settings = imported();
    let text = settings.to_toml().unwrap();
    let table: toml::Table = text.parse().unwrap();
    assert_eq!((table["preset"].as_str(), table["data"].as_str()), (Some("import"), Some("")));
    assert_eq!(toml::from_str::<Settings>(&text).unwrap().origin, Origin::Imported);
    // A run that was trained from a preset of this name would have data.
    let trained = text.replacen("data = \"\"", "data = \"csl\"", 1);
    assert!(toml::from_str::<Settings>(&trained).unwrap().trained().is_some());
    assert!(toml::from_str::<Settings>(&text.replacen("data =", "date =", 1)).is_err());
}
