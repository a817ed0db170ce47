//! What words stand for, with a data folder of the tests' own and with the real one.

use crate::support::shared;
use ppgn_graph::Remedy;
use ppgn_graph::locate::{Locator, What};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A data folder with these files (a name that ends in `/` is a folder).
fn data(files: &[&str]) -> (TempDir, Locator) {
    let folder = tempfile::tempdir().unwrap();
    for name in files {
        let path = folder.path().join(name);
        match name.ends_with('/') {
            true => std::fs::create_dir_all(&path).unwrap(),
            false => {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, name.as_bytes()).unwrap();
            }
        }
    }
    let locator = Locator { data_dir: Some(folder.path().to_path_buf()), ..Locator::default() };
    (folder, locator)
}

/// Where a word leads in a data folder, as a path within it.
#[track_caller]
fn leads(locator: &Locator, word: &str) -> (PathBuf, Option<usize>) {
    let located = locator.resolve(word).unwrap();
    let path = located.path().unwrap_or_else(|| panic!("{word} is no file: {located:?}"));
    (path.strip_prefix(locator.data_dir()).unwrap_or(path).to_path_buf(), located.index)
}

#[test]
fn names_are_looked_up_in_order_and_case_ignored() {
    let everything = [
        "tu/NAME.zip",
        "tu/NAME/NAME_A.txt",
        "NAME.zip",
        "NAME/NAME.txt",
        "NAME.jsonl",
        "coll/NAME.g6",
        "coll/other.g6",
    ];
    let places = ["tu/NAME.zip", "tu/NAME", "NAME.zip", "NAME", "NAME.jsonl", "coll/NAME.g6"];
    for first in 0..places.len() {
        let (_folder, locator) = data(&everything[first..]);
        for word in ["NAME", "name", "Name"] {
            assert_eq!(leads(&locator, word), (places[first].into(), None), "{word} from {first}");
        }
        assert_eq!(leads(&locator, "nAmE:3"), (places[first].into(), Some(3)));
    }
    assert!(data(&everything[6..]).1.resolve("NAME").unwrap_err().is_call());
}

#[test]
fn qm9_has_places_of_its_own() {
    let places = ["qm9/a.npz", "qm9/qm9.zip", "qm9/sdf/gdb9.sdf", "qm9/raw/gdb9.sdf", "qm9/gdb9.sdf"];
    for first in 0..places.len() {
        let mut files = places[first..].to_vec();
        files.extend(["qm9/uncharacterized.txt", "qm9/gdb9.sdf.csv"]);
        let (_folder, locator) = data(&files);
        assert_eq!(leads(&locator, "qm9:0"), (places[first].into(), Some(0)), "{first}");
    }
}

#[test]
fn of_names_that_differ_in_case_the_one_spelt_as_asked_counts() {
    let (folder, locator) = data(&["tu/Abc.zip", "tu/abC.zip"]);
    if std::fs::read_dir(folder.path().join("tu")).unwrap().count() < 2 {
        eprintln!("skipped: this file system ignores case");
        return;
    }
    for word in ["Abc", "abC"] {
        assert_eq!(leads(&locator, word).0, Path::new("tu").join(format!("{word}.zip")));
    }
    assert!(locator.resolve("ABC").is_ok());
}

#[test]
fn a_name_in_two_collections_is_ambiguous() {
    let (_folder, locator) = data(&["a/x.g6", "a/y.g6", "b/x.jsonl", "b/z.g6"]);
    let error = locator.resolve("x").unwrap_err();
    assert!(error.is_call());
    let text = error.to_string().replace('\\', "/");
    assert!(text.contains("a/x.g6") && text.contains("b/x.jsonl"), "{text}");
    assert_eq!(leads(&locator, "y").0, Path::new("a/y.g6"));
    let (_folder, two) = data(&["x.g6", "x.csv"]);
    assert!(two.resolve("x").unwrap_err().to_string().contains("x.csv"));
    assert_eq!(two.list().len(), 2);
    // A collection has a name so that reading it can list what is in it.
    assert_eq!(leads(&locator, "a").0, Path::new("a"));
    let (_folder, locator) = data(&["MUTAG/raw/MUTAG_A.txt"]);
    assert_eq!(leads(&locator, "mutag").0, Path::new("MUTAG"));
}

#[test]
fn litter_has_no_name() {
    let (_folder, locator) = data(&[
        "tu/A.zip.part",
        "tu/A.zip.part.json",
        ".hidden.g6",
        "README.txt",
        "notes.md",
        "qm9/uncharacterized.txt",
        "qm9/gdb9.sdf.csv",
        "qm9/qm9.zip.part",
        "qm9/sdf/",
        "tu/empty/",
        "nothing/",
        "words/readme.txt",
    ]);
    for word in [
        "QM9",
        "empty",
        "nothing",
        "words",
        "A",
        ".hidden",
        "README",
        "notes",
        "uncharacterized",
        "gdb9.sdf",
        "tu",
    ] {
        assert!(locator.resolve(word).unwrap_err().is_call(), "{word}");
    }
    assert!(locator.list().is_empty(), "{:?}", locator.list());
}

#[test]
fn the_list_names_each_dataset_once() {
    let (_folder, locator) = data(&[
        "tu/MUTAG.zip",
        "tu/MUTAG/MUTAG_A.txt",
        "tu/ENZYMES/ENZYMES_A.txt",
        "tu/ENZYMES/ENZYMES_graph_labels.txt",
        "qm9/qm9_1.npz",
        "qm9/sdf/gdb9.sdf",
        "brec/basic.g6",
        "brec/regular.g6",
        "mine/graphs.jsonl",
        "folds/folds.txt",
        "folds/10fold_idx/test_idx-1.txt",
        "loose.el",
        "README.md",
    ]);
    let list = locator.list();
    // `regular` is a generator, so the file of that name goes by its path.
    let regular = locator.data_dir().join("brec/regular.g6").display().to_string();
    let shown: Vec<_> =
        list.iter().map(|f| (f.name.as_str(), f.path.strip_prefix(locator.data_dir()).unwrap())).collect();
    let wanted = [
        ("basic", "brec/basic.g6"),
        ("ENZYMES", "tu/ENZYMES"),
        ("folds", "folds"),
        ("loose", "loose.el"),
        ("mine", "mine"),
        ("MUTAG", "tu/MUTAG.zip"),
        ("QM9", "qm9/qm9_1.npz"),
        (regular.as_str(), "brec/regular.g6"),
    ];
    assert_eq!(shown, wanted.map(|(name, path)| (name, Path::new(path))));
    // Every file holds its own name here.
    let bytes = "tu/ENZYMES/ENZYMES_A.txt".len() + "tu/ENZYMES/ENZYMES_graph_labels.txt".len();
    assert_eq!((list[1].bytes, list[3].bytes), (bytes as u64, 8));
    for found in &list {
        assert_eq!(leads(&locator, &found.name).0, found.path.strip_prefix(locator.data_dir()).unwrap());
    }
}

#[test]
fn an_absent_data_folder_is_an_empty_one() {
    let locator = Locator { data_dir: Some("no/such/folder".into()), ..Locator::default() };
    assert!(locator.list().is_empty());
    assert!(locator.resolve("MUTAG").unwrap_err().is_call());
}

#[test]
fn paths_are_files_and_a_literal_name_wins_over_an_index() {
    let (folder, locator) = data(&["a.g6", "b.g6:7", "b.g6", "plain", "dir/x.txt"]);
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    for (word, path, index) in [
        (at("a.g6"), at("a.g6"), None),
        (at("a.g6:7"), at("a.g6"), Some(7)),
        (at("b.g6:7"), at("b.g6:7"), None),
        (at("b.g6:7:8"), at("b.g6:7"), Some(8)),
        (at("plain:0"), at("plain"), Some(0)),
        (at("dir/:1"), at("dir/"), Some(1)),
        (at("dir"), at("dir"), None),
    ] {
        let located = locator.resolve(&word).unwrap();
        assert_eq!((located.what, located.index), (What::File(path.into()), index), "{word}");
    }
    for missing in ["missing.g6", "missing.g6:3", "missing", "a.g6/inside", "missing/"] {
        let error = locator.resolve(&at(missing)).unwrap_err();
        assert!(error.is_call(), "{error:?}");
        assert!(error.to_string().contains(&at(missing.trim_end_matches(":3"))), "{error}");
    }
    for odd in ["a\0b.g6", &format!("{}.g6", "x".repeat(5000)), "http://h/MUTAG.zip"] {
        assert!(locator.resolve(odd).unwrap_err().is_call());
    }
}

#[test]
fn generators_come_before_datasets_and_take_an_index() {
    let (_folder, locator) = data(&["csl.g6", "tu/csl.zip"]);
    for (word, spec, index) in [
        ("csl", "csl", None),
        ("csl:7", "csl", Some(7)),
        ("figure1:1", "figure1", Some(1)),
        ("cfi:base=k4", "cfi:base=k4", None),
        ("cfi:base=k4:0", "cfi:base=k4", Some(0)),
    ] {
        let located = locator.resolve(word).unwrap();
        assert_eq!((located.what, located.index), (What::Generator(spec.into()), index), "{word}");
    }
}

#[test]
fn one_graph_is_a_dataset_of_one_graph() {
    let locator = Locator::default();
    let both = locator.load("figure1").unwrap();
    let second = locator.load("figure1:1").unwrap();
    assert_eq!((both.len(), second.len(), second.name()), (2, 1, both.name()));
    assert_eq!(second.graph(0), both.graph(1));
    for beyond in ["figure1:2", "figure1:4294967297", "figure1:99999999999999999999999"] {
        let error = locator.load(beyond).unwrap_err();
        assert!(error.is_call() && error.to_string().contains("numbered from 0"), "{error}");
    }
}

#[test]
fn a_word_that_is_nothing_gets_a_hint() {
    let (folder, locator) = data(&["protein_folds.g6"]);
    let shown = folder.path().to_str().unwrap();
    for (word, hints) in [
        ("mutga", &["did you mean `MUTAG`?", "./mutga", shown][..]),
        ("figur1", &["did you mean `figure1`?"]),
        ("cfj:base=k4:0", &["`cfj`", "name:key=value", "did you mean `cfi`?"]),
        ("protein-folds", &["did you mean `protein_folds`?"]),
        ("imdb-multi", &["IMDBMULTI is not in the data folder", shown]),
        ("QM9:12", &["QM9 is not in the data folder"]),
        ("zzzzzzzz", &["not a generator, not a dataset in"]),
        ("", &["no data given"]),
        (":7", &["no data given"]),
        (
            "protein_folds.txt",
            &["no file or folder `protein_folds.txt`", "`protein_folds`, without an extension"],
        ),
        // The tests run in the crate's folder.
        ("src", &["write `./src`"]),
        ("Cargo.toml", &["write `./Cargo.toml`"]),
    ] {
        let error = locator.resolve(word).unwrap_err();
        assert!(error.is_call(), "{error:?}");
        for hint in hints {
            assert!(error.to_string().contains(hint), "{word}: no {hint:?} in: {error}");
        }
    }
    assert!(!locator.resolve("zzzzzzzz").unwrap_err().to_string().contains("did you mean"));
    let remedy = |word: &str| locator.resolve(word).unwrap_err().remedy();
    for word in ["mutga", "zzzzzzzz", ""] {
        assert_eq!(remedy(word), Some(Remedy::ListData), "{word}");
    }
    assert_eq!(remedy("QM9:12"), Some(Remedy::Download("QM9".into())));
    assert_eq!(remedy("https://example.org/x.zip"), Some(Remedy::NameMirror));
}

#[test]
fn the_real_data_is_found_by_name() {
    let Some(data) = shared("") else { return };
    let locator = Locator { data_dir: Some(data.clone()), ..Locator::default() };
    for (word, place) in [
        ("mutag", "tu/MUTAG.zip"),
        ("Enzymes", "tu/ENZYMES"),
        ("imdb-b", "tu/IMDBBINARY.zip"),
        ("qm9", "qm9/qm9_130831.npz"),
        ("basic", "brec/basic.g6"),
        ("sr16622", "sr/sr16622.g6"),
    ] {
        if shared(place).is_some() {
            assert_eq!(leads(&locator, word).0, Path::new(place));
        }
    }
}
