//! Tables of what is to be learned, beside graphs in any format.

use crate::support::folder;
use ppgn_graph::format::{self, ReadOptions};
use ppgn_graph::{Dataset, Error, Remedy, Task};
use proptest::prelude::*;
use std::path::Path;

/// Three graphs as graph6, and a table beside them.
fn labelled(table: &str, class: Option<&str>) -> Result<Dataset, Error> {
    with("x.g6", "A_\nBw\nC~\n", table, class)
}

fn with(name: &str, graphs: &str, table: &str, class: Option<&str>) -> Result<Dataset, Error> {
    let place = folder(&[(name, graphs.as_bytes()), ("labels.csv", table.as_bytes())]);
    read(&place.path().join(name), &place.path().join("labels.csv"), class)
}

fn read(graphs: &Path, labels: &Path, class: Option<&str>) -> Result<Dataset, Error> {
    let (labels, class) = (Some(labels.to_path_buf()), class.map(String::from));
    format::read(graphs, &ReadOptions { labels, class, ..ReadOptions::default() })
}

fn classes(d: &Dataset) -> Vec<Option<String>> {
    d.classes().map(|class| class.map(|c| d.header().class_name(c))).collect()
}

fn words(list: [Option<&str>; 3]) -> Vec<Option<String>> {
    list.map(|word| word.map(String::from)).to_vec()
}

#[test]
fn rows_by_position() {
    let d = labelled("class,y,z\ntoxic,1.5,\nharmless,,2\n,3,-1e3\n", None).unwrap();
    assert_eq!(classes(&d), words([Some("toxic"), Some("harmless"), None]));
    assert_eq!(d.header().class_names, ["harmless", "toxic"]);
    let names: Vec<&str> = d.header().targets.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["y", "z"]);
    assert_eq!((d.targets(0)[0], d.targets(1)[1], d.targets(2)), (1.5, 2.0, &[3.0, -1000.0][..]));
    assert!(d.targets(0)[1].is_nan() && d.targets(1)[0].is_nan());
    // Positions may be named, in any order and not all.
    let d = labelled("index;y\n2;0.5\n0;1\n", None).unwrap();
    assert_eq!((d.targets(0), d.targets(2)), (&[1.0][..], &[0.5][..]));
    assert!(d.targets(1)[0].is_nan());
    assert!(matches!(d.task(), Task::Regression { .. }));
}

#[test]
fn classes_by_number_and_by_name() {
    let d = labelled("label\n7\n-1\n7\n", None).unwrap();
    assert_eq!(d.task(), Task::Classification { classes: &[-1, 7] });
    let d = labelled("a,b\n1,0\n2,1\n3,0\n", Some("b")).unwrap();
    assert_eq!((classes(&d), d.header().targets.len()), (words([Some("0"), Some("1"), Some("0")]), 1));
    let d = labelled("kind,y\nx,0\ny,1\nx,0\n", None).unwrap();
    assert_eq!(classes(&d), words([Some("x"), Some("y"), Some("x")]));
    let error = labelled("kind,other\nx,a\ny,b\nx,c\n", None).unwrap_err();
    assert!(error.to_string().contains("several columns have words, kind, other"), "{error}");
    assert_eq!(error.remedy(), Some(Remedy::NameClass));
    assert!(labelled("kind,other\nx,a\ny,b\nx,c\n", Some("kind")).is_ok());
    let error = labelled("y\n1\n2\n3\n", Some("kind")).unwrap_err();
    assert!(error.to_string().contains("is called `kind`; there are y"), "{error}");
}

#[test]
fn rows_by_id_and_by_file() {
    let jsonl = "{\"ppgn\":1}\n{\"n\":1,\"id\":\"a\",\"label\":3}\n{\"n\":2,\"id\":\"b\",\"label\":3}\n{\"n\":3,\"id\":\"c\",\"label\":4}\n";
    let d = with("x.jsonl", jsonl, "id,class\nc,no\na,yes\nzz,no\n", None).unwrap();
    assert_eq!(classes(&d), words([Some("yes"), None, Some("no")]));
    let notes = d.header().provenance.notes.join("\n");
    assert!(notes.contains("1 rows name no graph of x: `zz`"), "{notes}");
    assert!(notes.contains("no row for 1 of 3 graphs"), "{notes}");
    // A first column without a telling name, whose cells are ids.
    let d = with("x.jsonl", jsonl, "who,class\nc,no\na,yes\nb,no\n", None).unwrap();
    assert_eq!(classes(&d), words([Some("yes"), Some("no"), Some("no")]));
    let error = with("x.jsonl", jsonl, "id,class\nd,no\ne,no\n", None).unwrap_err().to_string();
    assert!(
        error.contains("2 rows name no graph of x: `d`, `e`; the graphs are called `a`, `b`, `c`"),
        "{error}"
    );
    let error = with("x.jsonl", jsonl, "id,class\na,no\nb,no\na,no\n", None).unwrap_err().to_string();
    assert!(error.ends_with("labels.csv:4: a second row for `a`, which line 2 is about already"), "{error}");

    let place = folder(&[
        ("graphs/g1.edges", b"0 1\n"),
        ("graphs/g2.edges", b"0 1\n1 2\n"),
        ("graphs/g10.edges", b"0 1\n1 2\n2 0\n"),
        ("labels.csv", b"file,class\ngraphs/g10.edges,ring\ng2.edges,path\ng1,path\n"),
    ]);
    let d = read(&place.path().join("graphs"), &place.path().join("labels.csv"), None).unwrap();
    assert_eq!(classes(&d), words([Some("path"), Some("path"), Some("ring")]));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    for (table, message) in [
        ("class\na\nb\n", "labels.csv: 2 rows for 3 graphs, and no column"),
        ("index,y\n3,1\n", "labels.csv:2: no graph 3: there are 3, numbered from 0"),
        ("index,y\n-1,1\n", "labels.csv:2: no graph -1"),
        ("index,y\n1\n", "labels.csv:2: 1 cells, but the first line names 2 columns"),
        ("", "labels.csv: an empty file"),
        ("class\n", "labels.csv: a table without rows"),
        ("y,y\n1,2\n", "labels.csv:1: two columns are called `y`"),
    ] {
        let error = labelled(table, None).unwrap_err().to_string();
        assert!(error.contains(message), "{table:?}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Damaged tables are refused or read, and reading and checking agree.
    #[test]
    fn damaged_tables(bytes in prop::collection::vec(prop::sample::select(b"index,classy\n\n\r;\t\"0123.-ex ".to_vec()), 0..120)) {
        let place = folder(&[("x.g6", b"A_\nBw\nC~\n"), ("l.csv", &bytes)]);
        let options =
            ReadOptions { labels: Some(place.path().join("l.csv")), ..ReadOptions::default() };
        let read = format::read(place.path().join("x.g6"), &options);
        let mut report = format::Report::collecting();
        let checked = format::check(place.path().join("x.g6"), &options, &mut report);
        prop_assert_eq!(read.is_ok(), checked.is_ok() && report.count() == 0);
    }
}
