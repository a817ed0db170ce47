//! Weight files: they are read back bit for bit, and errors name the problem.

use crate::shared::{Rows, arrays, batch, biased, numbers};
use ppgn_graph::random::Stream;
use ppgn_nn::Error;
use ppgn_nn::weights::{self, Named};
use ppgn_nn::{BlockConfig, Loss, M3, Ppgn, PpgnConfig, Precision, SuffixKind, Values};
use std::path::Path;

fn config() -> PpgnConfig {
    PpgnConfig {
        blocks: vec![BlockConfig::new(3), BlockConfig { width: 2, product: Some(4), hidden: Some(vec![5]) }],
        m3: M3::Mlp(vec![3]),
        suffix: SuffixKind::I,
        suffix_hidden: vec![4],
        ..PpgnConfig::new(2, 2)
    }
}

#[test]
fn a_network_is_read_back_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    for precision in [Precision::F32, Precision::F64] {
        let path = folder.path().join("weights.safetensors");
        let network = biased(&config(), 4, precision);
        network.save(&path).unwrap();
        let again = Ppgn::load(&path).unwrap();
        assert_eq!((again.config(), again.precision()), (network.config(), precision));
        assert_eq!(arrays(&again), arrays(&network));
        let graph = Rows::random(4, 2, &mut Stream::new(0, "files", &[]));
        let batch = batch(2, &[&graph], precision);
        assert_eq!(numbers(again.forward(&batch).unwrap()), numbers(network.forward(&batch).unwrap()));
        // The same bytes every time, and no other file.
        let first = std::fs::read(&path).unwrap();
        again.save(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), first);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn files_use_the_authors_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.safetensors");
    biased(&config(), 4, Precision::F32).save(&path).unwrap();
    let tensors = weights::read(&path).unwrap();
    assert_eq!(tensors.metadata.keys().collect::<Vec<_>>(), ["ppgn"]);
    assert_eq!(tensors.tensors["reg_blocks.1.mlp2.convs.1.weight"].0, [4, 5, 1, 1]);
    assert_eq!(tensors.tensors["reg_blocks.0.skip.conv.bias"].0, [3]);
    assert_eq!(tensors.tensors["fc_layers.1.fc.weight"].0, [2, 4]);
}

#[test]
fn several_sets_of_arrays_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.safetensors");
    let network = biased(&config(), 4, Precision::F64);
    let (layout, parameters) = (network.layout(), arrays(&network));
    let moments = layout.initial(9, Precision::F64);
    let mut tensors = layout.named("", &parameters).unwrap();
    tensors.extend(layout.named("adam.first.", &moments).unwrap());
    weights::write(&path, &tensors, None).unwrap();
    let read = weights::read(&path).unwrap();
    assert_eq!(layout.collect("adam.first.", &read).unwrap(), moments);
    assert!(layout.named("", &moments[1..]).unwrap_err().is_call());
}

/// The error message from loading a valid file after `change`.
fn refused(change: impl FnOnce(&mut Vec<Named>)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.safetensors");
    let network = biased(&config(), 4, Precision::F32);
    let mut tensors = network.layout().named("", &arrays(&network)).unwrap();
    change(&mut tensors);
    let json = serde_json::to_string(network.config()).unwrap();
    weights::write(&path, &tensors, Some(("ppgn", &json))).unwrap();
    let error = Ppgn::load(&path).unwrap_err();
    assert!(matches!(error, Error::File(_)), "{error}");
    error.to_string()
}

#[test]
fn mismatches_are_named() {
    let missing = refused(|tensors| tensors.retain(|t| !t.name.contains("skip")));
    assert!(
        missing.contains("missing: reg_blocks.0.skip.conv.bias, reg_blocks.0.skip.conv.weight, reg_blocks.1")
    );
    fn first(tensors: &mut [Named]) -> &mut Named {
        tensors.iter_mut().find(|t| t.name == "reg_blocks.0.mlp1.convs.0.weight").unwrap()
    }
    let extra = refused(|tensors| first(tensors).name = "other".into());
    assert!(extra.contains("missing: reg_blocks.0.mlp1.convs.0.weight; unexpected: other"), "{extra}");
    let shape = refused(|tensors| first(tensors).shape = vec![2, 3, 1, 1]);
    assert!(
        shape.contains("`reg_blocks.0.mlp1.convs.0.weight` has the shape [2, 3, 1, 1], not [3, 2, 1, 1]"),
        "{shape}"
    );
    let mixed = refused(|tensors| tensors[1].values = Values::F64(tensors[1].values.to_f64()));
    assert!(mixed.contains("is in f64, others are in f32"), "{mixed}");
}

#[test]
fn every_flipped_bit_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.safetensors");
    let note = serde_json::json!({"epoch": 3});
    biased(&config(), 4, Precision::F32).save_with(&path, &note).unwrap();
    let sound = std::fs::read(&path).unwrap();
    let loaded = Ppgn::load_with(&path).unwrap();
    assert!(loaded.verified && loaded.note.as_deref() == Some("{\"epoch\":3}"));
    for at in 0..sound.len() {
        let mut damaged = sound.clone();
        damaged[at] ^= 1 << (at % 8);
        std::fs::write(&path, &damaged).unwrap();
        let error = Ppgn::load(&path).unwrap_err();
        assert!(
            matches!(error, Error::File(_)) && error.to_string().contains("w.safetensors: "),
            "byte {at}"
        );
    }
}

#[test]
fn a_digest_is_that_of_the_documentation() {
    use sha2::{Digest, Sha256};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.safetensors");
    let tensor = |name: &str, x| Named { name: name.into(), shape: vec![1], values: Values::F32(vec![x]) };
    weights::write(&path, &[tensor("b", 2.0), tensor("a", 1.0)], Some(("key", "{\"x\":1}"))).unwrap();
    let long = |x: u64| x.to_le_bytes().to_vec();
    let text = |t: &str| [long(t.len() as u64), t.as_bytes().to_vec()].concat();
    let of = |name: &str, x: f32| {
        [text(name), text("F32"), long(1), long(1), long(4), x.to_le_bytes().to_vec()].concat()
    };
    let all =
        [b"ppgn weights 1\n".to_vec(), text("key"), text("{\"x\":1}"), of("a", 1.0), of("b", 2.0)].concat();
    let digest: String = Sha256::digest(all).iter().map(|byte| format!("{byte:02x}")).collect();
    let file = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
    assert!(file.contains(&format!(",\\\"sha256\\\":\\\"{digest}\\\"}}")), "{file}");
    // Readers see what was written, and that it was verified.
    let read = weights::read(&path).unwrap();
    assert!(read.verified && read.metadata["key"] == "{\"x\":1}");
    assert!(weights::write(&path, &[], Some(("key", "text"))).unwrap_err().is_call());
}

#[test]
fn damaged_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.safetensors");
    biased(&config(), 4, Precision::F32).save(&path).unwrap();
    let sound = std::fs::read(&path).unwrap();
    let load = |path: &Path| Ppgn::load(path).unwrap_err();
    for length in [0, 7, 8, 100, sound.len() / 2, sound.len() - 1] {
        std::fs::write(&path, &sound[..length]).unwrap();
        assert!(load(&path).to_string().contains("not a sound safetensors file"), "{length} bytes");
    }
    let text = String::from_utf8_lossy(&sound);
    let at = text.find("inputs").unwrap();
    let mut damaged = sound.clone();
    damaged[at] = b'x';
    std::fs::write(&path, &damaged).unwrap();
    assert!(load(&path).to_string().contains("its checksum does not match its content"), "{}", load(&path));
    assert!(matches!(load(&folder.path().join("none")), Error::Graph(ppgn_graph::Error::Io { .. })));
    weights::write(&path, &[], None).unwrap();
    assert!(load(&path).to_string().contains("no key `ppgn`"));
    let wrong = [Named { name: "a".into(), shape: vec![3], values: Values::F32(vec![0.0]) }];
    assert!(weights::write(&path, &wrong, None).unwrap_err().is_call());
    let nowhere = folder.path().join("no/such/folder.safetensors");
    assert!(matches!(
        weights::write(nowhere, &[], None).unwrap_err(),
        Error::Graph(ppgn_graph::Error::Io { .. })
    ));
}

#[test]
fn invalid_arguments_are_errors() {
    let mut network = biased(&config(), 4, Precision::F32);
    let graph = Rows::random(2, 3, &mut Stream::new(0, "files", &[]));
    let message = |b| network.forward(&b).unwrap_err().to_string();
    assert!(message(batch(3, &[&graph], Precision::F32)).contains("takes 2 input channels, the batch has 3"));
    let graph = Rows::random(2, 2, &mut Stream::new(0, "files", &[]));
    assert!(message(batch(2, &[&graph], Precision::F64)).contains("in f32, the batch in f64"));
    let mut parameters = arrays(&network);
    assert!(network.set_parameters(parameters[1..].to_vec()).unwrap_err().is_call());
    parameters[0] = Values::F32(vec![0.0]);
    assert!(network.set_parameters(parameters).unwrap_err().to_string().contains("`blocks.0` has"));
    let b = batch(2, &[&graph], Precision::F32);
    let wrong = [vec![], vec![2]];
    for classes in wrong {
        assert!(network.backward(&b, |s| Loss::cross_entropy(&classes).of(s)).unwrap_err().is_call());
    }
    assert!(network.backward(&b, |s| Loss::absolute_error(&[1.0]).of(s)).unwrap_err().is_call());
    // An update that breaks the arrays is an error, and so is every later use.
    assert!(
        network
            .update(|parameters| {
                parameters[0] = Values::F32(vec![]);
                Ok(())
            })
            .unwrap_err()
            .is_call()
    );
    assert!(network.forward(&b).unwrap_err().is_call());
}
