//! ppgn's own JSON Lines.

use crate::graph6::{file, report_of};
use crate::random_datasets::anything;
use ppgn_graph::format::{Limits, ReadOptions, Records, Report, WriteOptions, open, read, write};
use ppgn_graph::{Dataset, Error, Fold, Graph, LabelColumn, Result, Schema, Target, Task};
use proptest::prelude::*;

fn dataset(contents: &str) -> Result<Dataset> {
    let (_folder, path) = file("hand.jsonl", contents);
    read(&path, &ReadOptions::default())
}

fn defects(contents: &str) -> Vec<String> {
    report_of("x.jsonl", contents).0
}

#[test]
fn a_file_as_a_person_writes_it() {
    let d = dataset(concat!(
        "{\"ppgn\": 1}\n",
        "{\"n\": 3, \"edges\": [[0, 1], [2, 1]], \"node_labels\": [6, 6, 8], \"label\": 1}\n",
        "\n",
        "{\"n\": 0, \"label\": -1}\r\n",
        "{\"n\": 1, \"node_labels\": [7], \"label\": 1}",
    ))
    .unwrap();
    assert_eq!((d.name(), d.len()), ("hand", 3));
    assert_eq!(d.task(), Task::Classification { classes: &[-1, 1] });
    let schema = Schema { node_labels: vec![LabelColumn::new("label0", [6, 7, 8])], ..Schema::default() };
    assert_eq!(d.schema(), &schema);
    assert_eq!(d.graph(0).neighbours(1), [0, 2]);
    assert_eq!(d.header().provenance.format, "jsonl");
    assert!(d.header().provenance.source.ends_with("hand.jsonl"));
}

/// The example of the documentation, which is what ppgn writes.
#[test]
fn the_documented_file() {
    let text = r#"{"ppgn":1,"name":"two","graphs":2,"schema":{"directed":false,"node_labels":[{"name":"atom","values":[6,8]}],"node_attributes":[],"edge_labels":[{"name":"bond","values":[1,2]}],"edge_attributes":[],"positions":false},"classes":[-1,1],"folds":[{"train":[0],"test":[1]}],"provenance":{"source":"by hand","format":"jsonl","notes":[]}}
{"n":3,"label":1,"edges":[[0,1],[1,2]],"node_labels":[6,6,8],"edge_labels":[1,2]}
{"n":1,"label":-1,"edges":[],"node_labels":[8],"edge_labels":[]}
"#;
    let d = dataset(text).unwrap();
    assert_eq!((d.name(), d.len(), d.class(0), d.folds()[0].test[0]), ("two", 2, Some(1), 1));
    assert_eq!(d.graph(0).edge_labels(d.graph(0).arc(2, 1).unwrap()), [2]);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.jsonl");
    write(Records::of(&d), &out, WriteOptions::default()).unwrap();
    assert_eq!(std::fs::read_to_string(&out).unwrap(), text);
}

#[test]
fn what_a_short_header_leaves_out_is_found() {
    let d = dataset(concat!(
        "{\"ppgn\":1,\"directed\":true,\"name\":\"n\",\"targets\":[{\"name\":\"mu\",\"unit\":\"D\"}]}\n",
        "{\"n\":0,\"targets\":[1.5]}\n",
        "{\"n\":2,\"edges\":[[1,0]],\"edge_labels\":[[1,2]],\"edge_attributes\":[[0.5]],\"targets\":[2],",
        "\"node_attributes\":[[1,2],[3,4]],\"positions\":[[0,0,0],[1,1,1]]}\n",
    ))
    .unwrap();
    let schema = Schema {
        directed: true,
        node_labels: vec![],
        node_attributes: vec!["attribute0".into(), "attribute1".into()],
        edge_labels: vec![LabelColumn::new("label0", [1]), LabelColumn::new("label1", [2])],
        edge_attributes: vec!["attribute0".into()],
        positions: true,
    };
    assert_eq!(d.schema(), &schema);
    assert_eq!(d.header().targets, [Target { name: "mu".into(), unit: "D".into() }]);
    assert_eq!((d.targets(0), d.targets(1)), (&[1.5][..], &[2.0][..]));
    // A schema without the number of graphs.
    let d = dataset("{\"ppgn\":1,\"schema\":{\"directed\":false}}\n{\"n\":1}\n{\"n\":2}\n").unwrap();
    assert_eq!(d.len(), 2);
}

#[test]
fn what_a_header_gives_stands() {
    let header = "{\"ppgn\":1,\"schema\":{\"directed\":false},\"classes\":[3,5]}\n";
    let d = dataset(&format!("{header}{{\"n\":1,\"label\":5}}\n")).unwrap();
    assert_eq!(d.class(0), Some(1));
    assert_eq!(
        defects(&format!(
            "{header}{{\"n\":1,\"label\":4}}\n{{\"n\":1}}\n{{\"n\":1,\"node_labels\":[2],\"label\":3}}\n"
        )),
        [
            "F:2: graph 0: the class label 4 is not among the dataset's [3, 5]",
            "F:4: graph 2: 1 node label columns, but the dataset has 0",
        ]
    );
    let column =
        "{\"ppgn\":1,\"schema\":{\"directed\":false,\"node_labels\":[{\"name\":\"atom\",\"values\":[6]}]}}\n";
    assert_eq!(
        defects(&format!("{column}{{\"n\":1,\"node_labels\":[7]}}\n{{\"n\":1}}\n")),
        [
            "F:2: graph 0: node 0 has the label 7, which column `atom` does not list",
            "F:3: graph 1: 0 node label columns, but the dataset has 1",
        ]
    );
}

#[test]
fn ids_words_and_what_is_not_known() {
    let d = dataset(concat!(
        "{\"ppgn\":1}\n",
        "{\"n\":1,\"id\":\"a\",\"label\":\"toxic\",\"targets\":[1,null],\"node_labels\":[\"C\"]}\n",
        "{\"n\":1,\"id\":12,\"label\":null,\"node_labels\":[\"O\"]}\n",
        "{\"n\":1,\"label\":\"harmless\",\"targets\":[null,2.5],\"node_labels\":[\"C\"]}\n",
    ))
    .unwrap();
    assert_eq!((d.id(0), d.id(1), d.id(2)), (Some("a"), Some("12"), None));
    assert_eq!(d.header().class_names, ["harmless", "toxic"]);
    assert_eq!(d.classes().collect::<Vec<_>>(), [Some(1), None, Some(0)]);
    assert_eq!(d.schema().node_labels[0].words(), ["C", "O"]);
    let known: Vec<Vec<bool>> = (0..3).map(|i| d.targets(i).iter().map(|y| !y.is_nan()).collect()).collect();
    assert_eq!(known, [[true, false], [false, false], [false, true]]);
    // A header with names of classes gives their order.
    let d = dataset("{\"ppgn\":1,\"classes\":[\"low\",\"high\"]}\n{\"n\":1,\"label\":\"high\"}\n").unwrap();
    assert_eq!((d.header().class_names.join(" "), d.class(0)), ("low high".into(), Some(1)));
    assert_eq!(
        defects("{\"ppgn\":1}\n{\"n\":1,\"label\":1}\n{\"n\":1,\"label\":\"x\"}\n{\"n\":1,\"label\":[]}\n"),
        [
            "F:3: graph 1: the label is the string `x`, but the classes are integers",
            "F:4: graph 2: `label`: the label must be an integer or a string, not a list (column 17)",
        ]
    );
    assert_eq!(
        defects("{\"ppgn\":1,\"classes\":[\"a\",\"a\"]}\n{\"n\":1}\n"),
        ["F:1: two classes are called `a`"]
    );
}

#[test]
fn headers_that_are_none() {
    for (header, message) in [
        ("", "F: an empty file; the first line must be a header such as {\"ppgn\":1}"),
        ("[1]\n", "F:1: not a header such as {\"ppgn\":1}"),
        ("{\"n\":1}\n", "F:1: not a header such as {\"ppgn\":1}: the key `ppgn` is missing (column 7)"),
        (
            "{\"ppgn\":2,\"new\":{}}\n",
            "F:1: version 2 of the format, this ppgn reads version 1: a newer ppgn wrote the file",
        ),
        ("{\"ppgn\":0}\n", "F:1: version 0 of the format, this ppgn reads version 1"),
        (
            "{\"ppgn\":1,\"naem\":\"x\"}\n",
            "F:1: the key `naem` is not known; there are `ppgn`, `name`, `graphs`, `directed`, `schema`, `classes`, `targets`, `nodes`, `pairs`, `folds`, `provenance` (column 16)",
        ),
        (
            "{\"ppgn\":1,\"directed\":true,\"schema\":{\"directed\":false}}",
            "F:1: `directed` contradicts `schema`; a header with a schema needs only the latter",
        ),
        (
            "{\"ppgn\":1",
            "F:1: the line ends in the middle of a value: the file is cut short, or the line is broken in two",
        ),
        ("{\"ppgn\":1}\n", "F:1: no graphs in it"),
        ("{\"ppgn\":1,\"graphs\":3,\"schema\":{\"directed\":false}}\n", "F:1: no graphs in it"),
    ] {
        assert_eq!(defects(header), [message], "{header}");
    }
}

#[test]
fn header_and_graphs_must_agree() {
    let file = |header: &str| format!("{{\"ppgn\":1,{header}}}\n{{\"n\":1}}\n{{\"n\":1}}\n");
    assert_eq!(
        defects(&file("\"graphs\":3")),
        [
            "F:3: the header announces 3 graphs, but there are 2: the file is cut short, or the header is wrong"
        ]
    );
    assert_eq!(
        defects(&file("\"graphs\":1")),
        ["F:3: graph 1: more graphs than the 1 that the header announces"]
    );
    assert_eq!(
        defects(&file("\"folds\":[{\"train\":[0],\"test\":[7]}],\"classes\":[2,1]")),
        [
            "F:1: `classes` must ascend, each value once",
            "F:1: fold 1: test graph 7 is out of range, there are 2 graphs",
        ]
    );
    let huge = "\"graphs\":18446744073709551615,\"folds\":[{\"train\":[4294967295],\"test\":[]}]";
    assert_eq!(defects(&file(huge)).len(), 1);
    let column = "\"schema\":{\"directed\":true,\"edge_labels\":[{\"name\":\"bond\",\"values\":[2,1]}]}";
    assert_eq!(defects(&file(column)), ["F:1: the values of column `bond` must ascend, each once"]);
}

#[test]
fn bad_lines_are_told_and_passed_over() {
    let (defects, notes) = report_of(
        "x.jsonl",
        b"{\"ppgn\":1}\n{\"n\":2,\"edges\":[[0,1],[1,0]]}\n{\"n\":2,\"edges\":[[0,2]]}\n\xff\xfe\n{\"n\":1,\"x\":1}\n{\"n\":1,\"ed",
    );
    assert_eq!(
        defects,
        [
            "F:3: graph 1: node 2 is out of range, the graph has 2 nodes (numbered from 0)",
            "F:4: graph 2: not a graph such as {\"n\":2,\"edges\":[[0,1]]}",
            "F:5: graph 3: the key `x` is not known; there are `n`, `id`, `label`, `targets`, `edges`, `node_labels`, `node_attributes`, `edge_labels`, `edge_attributes`, `positions`, `node_classes`, `node_targets`, `pair_classes`, `pair_targets` (column 10)",
            "F:6: graph 4: the line ends in the middle of a value: the file is cut short, or the line is broken in two",
        ]
    );
    assert_eq!(notes, ["F: 1 repeated edges in 1 graphs were merged, the first in line 2"]);
}

#[test]
fn depth_and_size_cost_nothing() {
    let deep = format!("{{\"ppgn\":1}}\n{{\"n\":1,\"node_labels\":{}\n", "[".repeat(1_000_000));
    assert_eq!(defects(&deep).len(), 1);
    let header = format!("{{\"ppgn\":1,\"x\":{}", "{\"a\":".repeat(1_000_000));
    assert_eq!(defects(&header).len(), 1);
    assert!(
        defects(&format!("{{\"ppgn\":1}}\n{{\"n\":1,\"{}\":1}}\n", "k".repeat(1_000_000)))[0].len() < 500
    );
    let (_folder, path) = file("x.jsonl", "{\"ppgn\":1}\n{\"n\":11}\n");
    let limits = Limits { max_nodes: 10, ..Limits::default() };
    let error = read(&path, &ReadOptions { limits, ..ReadOptions::default() }).unwrap_err();
    assert!(
        error.to_string().ends_with("x.jsonl:2: graph 0: 11 nodes, more than the limit of 10"),
        "{error}"
    );
}

#[test]
fn what_could_not_be_read_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("d.jsonl");
    let graph = Graph::undirected(1, []).unwrap();
    let d = Dataset::builder("d").graphs(vec![graph.clone(), graph]).labels(vec![1, 2]).build().unwrap();
    let error = |change: fn(&mut Records)| {
        let mut records = Records::of(&d);
        change(&mut records);
        let error = write(records, &out, WriteOptions::default()).unwrap_err();
        assert!(matches!(error, Error::Unfit(_)));
        assert!(!out.exists());
        error.to_string()
    };
    assert_eq!(error(|r| r.header.graphs = 3), "3 graphs were announced, 2 came");
    assert_eq!(error(|r| r.header.graphs = 1), "more graphs than the 1 announced");
    assert_eq!(error(|r| r.header.classes = None), "graph 0: a class label, but the dataset has no classes");
    assert_eq!(error(|r| r.header.classes = Some(vec![2, 1])), "`classes` must ascend, each value once");
    assert_eq!(
        error(|r| r.header.folds = vec![Fold { train: vec![0, 0], test: vec![] }]),
        "fold 1: graph 0 is twice in its list"
    );
}

#[test]
fn a_stream_gives_graphs_before_it_has_seen_the_file() {
    let (_folder, path) =
        file("x.jsonl", "{\"ppgn\":1,\"graphs\":2,\"schema\":{\"directed\":false}}\n{\"n\":1}\n{\"n\"\n");
    let mut report = Report::strict();
    let mut stream = open(&path, &ReadOptions::default(), &mut report).unwrap();
    assert!(stream.records.next().unwrap().is_ok());
    assert!(stream.records.next().unwrap().is_err());
    assert!(stream.records.next().is_none());
}

/// All real numbers of a dataset, by their bits: 0 and -0 are equal numbers, but not the same.
fn bits(d: &Dataset) -> Vec<u64> {
    let mut all = Vec::new();
    for (i, g) in d.graphs().iter().enumerate() {
        all.extend(d.targets(i));
        (0..g.nodes()).for_each(|u| all.extend(g.node_attributes(u)));
        (0..g.arcs()).for_each(|a| all.extend(g.edge_attributes(a)));
        all.extend(g.positions().into_iter().flatten().flatten());
    }
    all.into_iter().map(f64::to_bits).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_written_is_read(d in anything()) {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.jsonl");
        write(Records::of(&d), &out, WriteOptions::default()).unwrap();
        let mut report = Report::strict();
        let back = open(&out, &ReadOptions::default(), &mut report).unwrap().collect().unwrap();
        prop_assert_eq!(&back, &d);
        prop_assert_eq!(&back.header().provenance, &d.header().provenance);
        prop_assert_eq!(bits(&back), bits(&d));
        prop_assert!(report.notes().is_empty());
        // The same again from what was read: the same bytes.
        let again = folder.path().join("again.jsonl");
        write(Records::of(&back), &again, WriteOptions::default()).unwrap();
        prop_assert_eq!(std::fs::read(&out).unwrap(), std::fs::read(&again).unwrap());
    }
}
