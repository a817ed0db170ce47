//! Classes and targets of nodes and of pairs: in JSON Lines, in tables beside the graphs, from columns of TU data.

use crate::graph6::{file, report_of};
use ppgn_graph::format::{ReadOptions, Records, WriteOptions, read, write};
use ppgn_graph::generate::generate;
use ppgn_graph::random::Stream;
use ppgn_graph::{Dataset, Error, Item, Known, Learnable, Result, Target};

fn dataset(contents: &str) -> Result<Dataset> {
    let (_folder, path) = file("hand.jsonl", contents);
    read(&path, &ReadOptions::default())
}

/// The class of every row of graph g, by place.
fn labels(d: &Dataset, item: Item, g: usize) -> Vec<(u64, Option<i64>)> {
    let known = d.known(item, g);
    (0..known.len()).map(|row| (known.places()[row], known.label(row))).collect()
}

fn targets(names: &[&str]) -> Vec<Target> {
    names.iter().map(|name| Target { name: name.to_string(), unit: "eV".into() }).collect()
}

/// Random graphs with random classes and targets of some nodes and pairs.
fn random(seed: u64) -> Dataset {
    let mut random = Stream::new(seed, "items", &[]);
    let directed = random.below(2);
    let plain = generate(&format!("gnp:n={},count=4,directed={directed},seed={seed}", 1 + random.below(7)));
    let plain = plain.unwrap();
    let mut builder = Dataset::builder("random").graphs(plain.graphs().to_vec());
    for item in [Item::Node, Item::Pair] {
        let (words, width) = (random.below(2) == 1, random.below(3));
        let has_classes = width == 0 || random.below(2) == 1;
        let learnable = Learnable {
            classes: has_classes.then(|| if words { vec![0, 1, 2] } else { vec![-7, 0, i64::MAX] }),
            class_names: match has_classes && words {
                true => ["\"far\"", "near", "\u{e9}"].map(String::from).to_vec(),
                false => Vec::new(),
            },
            targets: targets(&["a", "b"][..width]),
        };
        let known = plain.graphs().iter().map(|graph| {
            let places: Vec<u64> = (0..item.places(graph.nodes())).filter(|_| random.below(3) == 0).collect();
            let class = |random: &mut Stream| match random.below(4) {
                3 => None,
                c => Some(learnable.classes.as_ref().unwrap()[c]),
            };
            let labels = places.iter().filter(|_| has_classes).map(|_| class(&mut random)).collect();
            let value = |random: &mut Stream| match random.below(4) {
                3 => f64::NAN,
                _ => random.uniform(-1.0, 1.0),
            };
            let values = (0..places.len() * width).map(|_| value(&mut random)).collect();
            Known::new(places, labels, values).unwrap()
        });
        let known = known.collect();
        builder = builder.items(item, learnable, known);
    }
    builder.build().unwrap()
}

#[test]
fn json_lines_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut pairs = 0;
    for seed in 0..200 {
        let d = random(seed);
        let path = folder.path().join(format!("{seed}.jsonl"));
        write(Records::of(&d), &path, WriteOptions::default()).unwrap();
        let again = read(&path, &ReadOptions::default()).unwrap();
        assert_eq!(again, d, "seed {seed}");
        assert_eq!(again.digest(), d.digest());
        pairs += (0..d.len()).map(|g| d.known(Item::Pair, g).len()).sum::<usize>();
    }
    assert!(pairs > 1000, "{pairs}");
}

#[test]
fn other_formats_say_what_they_lose() {
    let d = generate("distances:count=2").unwrap();
    let folder = tempfile::tempdir().unwrap();
    for out in ["a.g6", "tu"] {
        let out = folder.path().join(out);
        let error = write(Records::of(&d), &out, WriteOptions::default()).unwrap_err();
        assert!(error.to_string().contains("classes or targets of pairs"), "{error}");
        assert!(write(Records::of(&d), &out, WriteOptions { lossy: true }).is_ok());
    }
}

#[test]
fn a_file_as_a_person_writes_it() {
    let d = dataset(concat!(
        "{\"ppgn\": 1}\n",
        "{\"n\": 3, \"edges\": [[0, 1]], \"node_classes\": [\"b\", null, \"a\"], \"node_targets\": [[1, 0.5], [2, null], [null, null]]}\n",
        "{\"n\": 2, \"pair_classes\": [[0, 1, 4]], \"pair_targets\": [[1, 1, 0.25], [1, 0, null]]}\n",
        "{\"n\": 2, \"pair_classes\": [[0, 1, 4], [1, 0, null]]}\n",
    ))
    .unwrap();
    let nodes = d.learnable(Item::Node);
    assert_eq!((&nodes.classes, nodes.class_names.join(" ")), (&Some(vec![0, 1]), "a b".to_string()));
    assert_eq!(nodes.targets.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["target0", "target1"]);
    // Of node 1 only a target is known.
    assert_eq!(labels(&d, Item::Node, 0), [(0, Some(1)), (1, None), (2, Some(0))]);
    assert_eq!(d.known(Item::Node, 0).values(1)[0], 2.0);
    assert_eq!(
        (d.learnable(Item::Pair).classes.clone(), d.learnable(Item::Pair).targets.len()),
        (Some(vec![4]), 1)
    );
    // The edges have no direction: one order stands for both, unless the other is listed too.
    assert_eq!(labels(&d, Item::Pair, 1), [(1, Some(4)), (3, None)]);
    assert_eq!(labels(&d, Item::Pair, 2), [(1, Some(4))]);
    let directed =
        dataset("{\"ppgn\":1,\"directed\":true}\n{\"n\":2,\"pair_targets\":[[0,1,0.5]]}\n").unwrap();
    assert_eq!(directed.known(Item::Pair, 0).places(), [1]);
    let both = dataset("{\"ppgn\":1}\n{\"n\":2,\"pair_targets\":[[0,1,0.5]]}\n").unwrap();
    assert_eq!(both.known(Item::Pair, 0).places(), [1, 2]);
}

#[test]
fn what_is_wrong_in_a_line_is_told() {
    let head = r#"{"ppgn":1,"nodes":{"classes":[0,1]},"pairs":{"targets":[{"name":"d"}]}}"#;
    for (line, message) in [
        (r#"{"n":2,"node_classes":[0]}"#, "`node_classes` has 1 entries, but there are 2 nodes"),
        (r#"{"n":2,"node_classes":[0,2]}"#, "the class 2 of node 1 is not among the dataset's [0, 1]"),
        (
            r#"{"n":2,"node_classes":[0,"x"]}"#,
            "a node has the class `x`, a string, but the classes are integers",
        ),
        (r#"{"n":2,"node_targets":[0.5,0.5]}"#, "targets per node: 1 given, 0 in the dataset"),
        (r#"{"n":2,"pair_classes":[[0,1,1]]}"#, "a class of a pair, but the dataset has none"),
        (r#"{"n":2,"pair_targets":[[0,2,1]]}"#, "the pair 0 2 is out of range, there are 2 nodes"),
        (r#"{"n":2,"pair_targets":[[0.5,1,1]]}"#, "row 0 of `pair_targets` does not begin with two nodes"),
        (r#"{"n":2,"pair_targets":[[0,1]]}"#, "targets per pair: 0 given, 1 in the dataset"),
        (r#"{"n":2,"pair_targets":[[0,1,1],[0,1,2]]}"#, "the targets of a pair are there twice"),
        (r#"{"n":2,"pair_targets":[[0]]}"#, "a row of `pair_targets` has two nodes and a number per target"),
    ] {
        let (found, _) = report_of("x.jsonl", format!("{head}\n{{\"n\":1}}\n{line}\n"));
        assert_eq!(found.len(), 1, "{line}: {found:?}");
        assert!(found[0].starts_with("F:3: graph 1: "), "{}", found[0]);
        assert!(found[0].contains(message), "{line}: {}", found[0]);
    }
    let (found, _) = report_of("x.jsonl", "{\"ppgn\":1,\"nodes\":{\"classes\":[1,0]}}\n{\"n\":1}\n");
    assert!(found[0].contains("the classes of nodes must ascend"), "{found:?}");
}

/// Two graphs by name, with this table beside them.
fn beside(table: &str) -> Result<Dataset, Error> {
    let graphs = "{\"ppgn\":1}\n{\"n\":3,\"id\":\"a\",\"label\":1,\"edges\":[[0,1]]}\n{\"n\":2,\"id\":\"b\",\"label\":0}\n";
    let (_graphs, path) = file("graphs.jsonl", graphs);
    let (_table, labels) = file("t.csv", table);
    read(&path, &ReadOptions { labels: Some(labels), ..ReadOptions::default() })
}

#[test]
fn tables_of_nodes_and_pairs() {
    let d = beside("graph,node,kind,charge\nb,1,x,0.5\na,2,y,\na,0,,1.5\nc,0,x,1\n").unwrap();
    let nodes = d.learnable(Item::Node);
    assert_eq!((nodes.class_names.join(" "), nodes.targets[0].name.as_str()), ("x y".into(), "charge"));
    assert_eq!(labels(&d, Item::Node, 0), [(0, None), (2, Some(1))]);
    assert_eq!(d.known(Item::Node, 0).values(0), [1.5]);
    assert_eq!(labels(&d, Item::Node, 1), [(1, Some(0))]);
    // The graphs keep their classes, and the header says what was left out.
    assert_eq!(d.class(0), Some(1));
    assert!(d.header().provenance.notes.iter().any(|note| note.contains("1 rows name no graph")));

    let d = beside("id;u;v;class\na;0;2;7\na;1;2;8\nb;1;0;7\nb;0;1;8\n").unwrap();
    assert_eq!(d.learnable(Item::Pair).classes, Some(vec![7, 8]));
    assert_eq!(labels(&d, Item::Pair, 0), [(2, Some(7)), (5, Some(8)), (6, Some(7)), (7, Some(8))]);
    assert_eq!(labels(&d, Item::Pair, 1), [(1, Some(8)), (2, Some(7))]);
}

#[test]
fn what_is_wrong_in_a_table_is_told() {
    let message = |table: &str| beside(table).unwrap_err().to_string();
    assert!(
        message("graph,node,y\na,3,1\n").ends_with("t.csv:2: no node `3`: the graph has 3, numbered from 0")
    );
    assert!(
        message("graph,node,y\na,1,1\na,1,2\n").contains("a second row for node 1, which line 2 is about")
    );
    assert!(message("graph,u,v,y\na,0,1,1\nb,0,1,1\na,0,1,2\n").contains("a second row for pair (0, 1)"));
    assert!(message("node,y\n0,1\n").contains("says which of 2 graphs a row is about"));
    assert!(message("graph,node,y\nz,0,1\n").contains("no row is about a graph of graphs"));
    assert!(message("graph,node\na,0\n").contains("no column with classes or targets of nodes"));
    assert!(message("graph,node,x,y\na,0,p,q\n").contains("several columns have words, x, y"));
}

#[test]
fn columns_of_tu_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("T");
    std::fs::create_dir(&path).unwrap();
    for (name, text) in [
        ("A", "1, 2\n2, 1\n3, 4\n4, 3\n"),
        ("graph_indicator", "1\n1\n2\n2\n"),
        ("node_labels", "5, 0\n7, 1\n5, 1\n5, 0\n"),
        ("edge_labels", "2\n2\n3\n3\n"),
    ] {
        std::fs::write(path.join(format!("T_{name}.txt")), text).unwrap();
    }
    let d = read(&path, &ReadOptions::default()).unwrap();
    assert_eq!((d.columns(Item::Node), d.columns(Item::Pair)), (vec!["label0", "label1"], vec!["label0"]));
    let nodes = d.learning(Item::Node, &["label0"], false).unwrap();
    assert_eq!(labels(&nodes, Item::Node, 0), [(0, Some(5)), (1, Some(7))]);
    assert_eq!(nodes.graph(0).node_labels(1), [1]);
    let pairs = d.learning(Item::Pair, &["label0"], false).unwrap();
    assert_eq!(labels(&pairs, Item::Pair, 1), [(1, Some(3)), (2, Some(3))]);
    assert_eq!(pairs.schema().edge_labels.len(), 0);
}
