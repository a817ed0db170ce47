//! The TU format: ENZYMES, the dialects that are read, what is told of files that are wrong, and the writer.

use crate::strategies::{Options, datasets};
use crate::support::{defects_at, folder, scratch, shared, zip};
use ppgn_graph::format::{self, Format, Limits, ReadOptions, Records, Report, WriteOptions};
use ppgn_graph::{Dataset, Error, Fold, Graph, GraphBuilder, LabelColumn, Remedy, Schema, Target, Task};
use proptest::prelude::*;
use std::path::Path;

/// Two graphs: a labelled edge, and a node with a loop.
const SMALL: [(&str, &[u8]); 5] = [
    ("S/S_A.txt", b"1, 2\n2, 1\n3, 3\n"),
    ("S/S_graph_indicator.txt", b"1\n1\n2\n"),
    ("S/S_graph_labels.txt", b"-1\n7\n"),
    ("S/S_node_labels.txt", b"5\n-3\n5\n"),
    ("S/S_edge_labels.txt", b"9\n9\n2\n"),
];

fn with<'a>(extra: &[(&'a str, &'a [u8])]) -> Vec<(&'a str, &'a [u8])> {
    let mut files: Vec<(&str, &[u8])> = SMALL.to_vec();
    for &(name, bytes) in extra {
        files.retain(|(other, _)| *other != name);
        files.push((name, bytes));
    }
    files
}

fn read_folder(path: &Path) -> Result<Dataset, Error> {
    format::read(path, &ReadOptions::default())
}

fn read(extra: &[(&str, &[u8])]) -> Dataset {
    read_folder(&folder(&with(extra)).path().join("S")).unwrap()
}

/// The defects of the small dataset with other files, which strict reading must refuse too.
fn wrong(extra: &[(&str, &[u8])]) -> Vec<String> {
    let folder = folder(&with(extra));
    let found = defects_at(&folder.path().join("S"), &ReadOptions::default());
    let strict = read_folder(&folder.path().join("S")).map(|d| d.len());
    assert_eq!(strict.is_err(), !found.is_empty());
    found.into_iter().map(|d| d.strip_prefix("S/").map(String::from).unwrap_or(d)).collect()
}

#[test]
fn a_small_dataset() {
    let d = read(&[]);
    assert_eq!((d.name(), d.len(), d.schema().directed), ("S", 2, false));
    assert_eq!(d.task(), Task::Classification { classes: &[-1, 7] });
    assert_eq!(d.schema().node_labels, [LabelColumn::new("label0", [-3, 5])]);
    assert_eq!(d.graph(0).node_labels(1), [-3]);
    assert_eq!((d.graph(0).edges(), d.graph(1).self_loops()), (1, 1));
    assert_eq!(d.graph(1).edge_labels(0), [2]);
    assert_eq!(d.header().provenance.notes, Vec::<String>::new());
}

#[test]
fn folder_archive_and_any_one_file_are_the_same() {
    let folder = folder(&with(&[("S/README.txt", b"1\n"), ("S/S_label_readme.txt", b"1 2\n")]));
    let d = read_folder(&folder.path().join("S")).unwrap();
    for (name, _) in SMALL {
        assert_eq!(read_folder(&folder.path().join(name)).unwrap(), d, "{name}");
        let tu = ReadOptions { format: Some(Format::Tu), ..ReadOptions::default() };
        assert_eq!(format::read(folder.path().join(name), &tu).unwrap(), d, "{name}");
    }
    let archive = zip(folder.path(), "x.zip", &with(&[("S/.DS_Store", b"x")]));
    assert_eq!(read_folder(&archive).unwrap(), d);
    let tu = ReadOptions { format: Some(Format::Tu), ..ReadOptions::default() };
    let error = format::read(folder.path().join("S/README.txt"), &tu).unwrap_err();
    assert!(error.is_call(), "{error}");
}

#[test]
fn commas_blanks_and_line_ends() {
    let plain = read(&[]);
    for edges in [&b"1,2\r\n2,1\r\n3,3\r\n"[..], b" 1 ,\t2 \n\n2 , 1\n3,3", b"1 2\n2 1\n3  3\n\n"] {
        assert_eq!(read(&[("S/S_A.txt", edges)]), plain);
    }
    assert_eq!(read(&[("S/S_graph_labels.txt", b"-1.0\n 7.\n")]), plain);
    assert_eq!(read(&[("S/S_node_labels.txt", b"5.00\r\n-3\r\n5")]), plain);
}

#[test]
fn several_columns_of_everything() {
    let d = read(&[
        ("S/S_node_labels.txt", b"5, 1\n-3, 2\n5,3\n"),
        ("S/S_edge_labels.txt", b"9,0\n9,0\n2,1\n"),
        ("S/S_node_attributes.txt", b"0.5, 1e3\n-.5,0\n 1,2\n"),
        ("S/S_edge_attributes.txt", b"1.5\n1.5\n2\n"),
        ("S/S_graph_attributes.txt", b"0.25, 3\n-1, 4\n"),
    ]);
    assert_eq!(d.schema().node_labels[1].values(), [1, 2, 3]);
    assert_eq!(d.schema().edge_labels.len(), 2);
    assert_eq!(d.graph(0).node_attributes(1), [-0.5, 0.0]);
    assert_eq!(d.graph(1).edge_attributes(0), [2.0]);
    assert_eq!((d.targets(0), d.class(0)), (&[0.25, 3.0][..], Some(0)));
    assert_eq!(d.header().targets[1].name, "attribute1");
}

#[test]
fn nodes_of_a_graph_need_not_stand_together() {
    let d = read(&[
        ("S/S_graph_indicator.txt", b"2\n1\n2\n1\n"),
        ("S/S_node_labels.txt", b"10\n20\n30\n40\n"),
        ("S/S_A.txt", b"1, 3\n2, 4\n3, 1\n4, 2\n4, 4\n"),
        ("S/S_edge_labels.txt", b"1\n2\n1\n2\n3\n"),
    ]);
    assert_eq!((d.graph(0).node_labels(0), d.graph(0).node_labels(1)), (&[20][..], &[40][..]));
    assert_eq!((d.graph(0).neighbours(1), d.graph(1).neighbours(1)), (&[0, 1][..], &[0][..]));
    assert_eq!(d.graph(0).edge_labels(d.graph(0).arc(1, 1).unwrap()), [3]);
}

#[test]
fn duplicates_merge_and_the_first_stands() {
    let d = read(&[
        ("S/S_A.txt", b"1, 2\n2, 1\n3, 3\n1, 2\n3, 3\n"),
        ("S/S_edge_labels.txt", b"9\n9\n2\n9\n4\n"),
    ]);
    assert_eq!((d.graph(0).edges(), d.graph(1).edge_labels(0)), (1, &[2][..]));
    assert_eq!(
        d.header().provenance.notes,
        [
            "2 edges were given more than once and merged",
            "1 of them had different labels or attributes; the first was kept"
        ]
    );
}

#[test]
fn a_reverse_arc_must_be_equal() {
    let one_way = read(&[("S/S_A.txt", b"1, 2\n3, 3\n"), ("S/S_edge_labels.txt", b"1\n1\n")]);
    assert!(one_way.schema().directed);
    assert_eq!(
        one_way.header().provenance.notes,
        ["directed: graph 0 has the edge 0 1 and no equal edge 1 0"]
    );
    assert!(read(&[("S/S_edge_labels.txt", b"9\n8\n2\n")]).schema().directed);
}

#[test]
fn graphs_without_nodes_and_without_edges() {
    let d = read(&[("S/S_graph_labels.txt", b"1\n2\n3\n")]);
    assert_eq!((d.len(), d.graph(2).nodes(), d.class(2)), (3, 0, Some(2)));
    let d = read(&[("S/S_A.txt", b""), ("S/S_edge_labels.txt", b"")]);
    assert_eq!((d.graph(0).edges(), d.schema().edge_labels.len()), (0, 0));
    let plain = folder(&[("P_A.txt", b""), ("P_graph_indicator.txt", b"2\n1\n3\n")]);
    let d = read_folder(plain.path()).unwrap();
    assert_eq!((d.len(), d.task()), (3, Task::None));
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let check = |file: &'static str, bytes: &'static [u8], expected: &[&str]| {
        assert_eq!(wrong(&[(&format!("S/S_{file}.txt"), bytes)]), expected, "{file} {bytes:?}");
    };
    check("A", b"1, 2\n2, 1\n1, 3\n", &["S_A.txt:3: graph 0: the edge leads to another graph, 1"]);
    check("A", b"1, 2\n2, 1\n3, 4\n", &["S_A.txt:3: node `4` is out of range, there are 3 nodes (from 1)"]);
    check("A", b"1, 2\n2, 1\n0, 3\n", &["S_A.txt:3: node `0` is out of range, there are 3 nodes (from 1)"]);
    check("A", b"1, 2\n2, 1\n3\n", &["S_A.txt:3: expected an edge `u, v`, found `3`"]);
    check("A", b"1, 2\n2, 1\n3, 3, 3\n", &["S_A.txt:3: expected an edge `u, v`, found `3, 3, 3`"]);
    check("A", b"1, 2\n2, 1\n,3\n", &["S_A.txt:3: `` is not the number of a node"]);
    check("A", b"1, 2\n2, 1\n3, \xff\n", &["S_A.txt:3: `\\xff` is not the number of a node"]);
    check("A", b"1, 2\n2, 1\n", &["S_edge_labels.txt: 3 lines, but there are 2 edges"]);
    check(
        "graph_indicator",
        b"1\n1\n3\n",
        &[
            "S_graph_indicator.txt:3: graph number 3 is out of range, 1 to 2",
            "S_A.txt:3: graph 0: the edge leads to another graph, 1",
        ][..1],
    );
    check(
        "graph_indicator",
        b"1\n1\nx\n",
        &["S_graph_indicator.txt:3: `x` is not the number of a graph, counted from 1"],
    );
    check(
        "graph_labels",
        b"1\n0.5\n",
        &[
            "S_graph_labels.txt:2: the class `0.5` is not an integer; real numbers to be predicted belong in a file \
         _graph_attributes.txt: rename this one",
        ],
    );
    check("graph_labels", b"1\nred\n", &["S_graph_labels.txt:2: the class `red` is not an integer"]);
    check("graph_labels", b"1, 2\n1, 2\n", &["S_graph_labels.txt: 2 columns, but a graph has one class"]);
    check("node_labels", b"5\n-3\n", &["S_node_labels.txt: 2 lines, but there are 3 nodes"]);
    check("node_labels", b"5\n-3.5\n5", &["S_node_labels.txt:2: the label `-3.5` is not an integer"]);
    check("node_labels", b"5\n1,2\n5", &["S_node_labels.txt:2: 2 values, but the first line has 1"]);
    check(
        "node_attributes",
        b"5\nnan\n5",
        &["S_node_attributes.txt:2: the attribute `nan` is not a finite number"],
    );
    check(
        "edge_attributes",
        b"1\n1e999\n5",
        &["S_edge_attributes.txt:2: the attribute `1e999` is not a finite number"],
    );
    check("graph_attributes", b"1\n1\n1\n", &["S_graph_attributes.txt: 3 lines, but there are 2 classes"]);
}

#[test]
fn missing_files_and_missing_graphs() {
    let missing = |files: &[(&str, &[u8])]| {
        let folder = folder(files);
        let found = defects_at(folder.path(), &ReadOptions::default());
        assert!(read_folder(folder.path()).is_err());
        found.into_iter().map(|d| d.split_once(": ").unwrap().1.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        missing(&[("M_A.txt", b"")]),
        ["the file M_graph_indicator.txt is missing, but every TU dataset has one"]
    );
    assert_eq!(
        missing(&[("M_graph_indicator.txt", b"1\n")]),
        ["the file M_A.txt is missing, but every TU dataset has one"]
    );
    assert_eq!(missing(&[("M_A.txt", b""), ("M_graph_indicator.txt", b"")]), ["no graphs in it"]);
    for indicator in [&b"1\n3\n"[..], b"1\n4294967295\n"] {
        let found = missing(&[("M_A.txt", b""), ("M_graph_indicator.txt", indicator)]);
        assert!(found[0].starts_with("no node belongs to graph number 2, though"), "{found:?}");
    }
    // Files that are only named alike are no TU dataset.
    let alike = folder(&[("M_node_labels.txt", b"what is this\n")]);
    assert!(read_folder(alike.path()).unwrap_err().to_string().contains("no dataset that ppgn recognises"));
}

#[test]
fn the_limit_on_nodes_is_obeyed() {
    let folder = folder(&SMALL);
    let options =
        ReadOptions { limits: Limits { max_nodes: 1, ..Limits::default() }, ..ReadOptions::default() };
    let error = format::read(folder.path(), &options).unwrap_err().to_string();
    assert!(error.ends_with("graph 0: more nodes than the limit of 1 per graph"), "{error}");
}

#[test]
fn enzymes() {
    let Some(path) = shared("tu/ENZYMES") else { return };
    let d = read_folder(&path).unwrap();
    assert_eq!((d.name(), d.len(), d.schema().directed), ("ENZYMES", 600, false));
    assert_eq!(d.task(), Task::Classification { classes: &[1, 2, 3, 4, 5, 6] });
    assert_eq!(d.schema().node_labels[0].values(), [1, 2, 3]);
    assert_eq!((d.schema().node_attributes.len(), d.schema().edge_labels.len()), (18, 0));
    let sum = |f: fn(&Graph) -> usize| d.graphs().iter().map(f).sum::<usize>();
    assert_eq!((sum(Graph::nodes), sum(Graph::arcs), sum(Graph::self_loops)), (19_580, 74_564, 0));
    assert_eq!(d.graph(0).node_attributes(0)[..3], [11.0, 15.887014, 37.78]);
    let mut report = Report::collecting();
    format::check(&path, &ReadOptions::default(), &mut report).unwrap();
    assert_eq!(report.count(), 0);

    let out = scratch();
    let out = out.path().join("ENZYMES");
    let written = format::write(Records::of(&d), &out, WriteOptions::default()).unwrap();
    assert_eq!((written.format, written.graphs, written.dropped.len()), (Format::Tu, 600, 0));
    assert_eq!(read_folder(&out).unwrap(), d);
}

#[test]
fn what_is_written() {
    let d = read(&[("S/S_node_attributes.txt", b"0.1\n1e300\n-0\n")]);
    let folder = scratch();
    let out = folder.path().join("T");
    std::fs::create_dir(&out).unwrap(); // an empty folder makes way
    format::write(Records::of(&d), &out, WriteOptions::default()).unwrap();
    let text = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(text("T_A.txt"), "1, 2\n2, 1\n3, 3\n");
    assert_eq!(text("T_graph_indicator.txt"), "1\n1\n2\n");
    assert_eq!(text("T_graph_labels.txt"), "-1\n7\n");
    assert_eq!(text("T_node_labels.txt"), "5\n-3\n5\n");
    assert_eq!(text("T_node_attributes.txt"), "0.1\n1e300\n-0.0\n");
    assert_eq!(text("T_edge_labels.txt"), "9\n9\n2\n");
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 6);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary folder stays");
    assert_eq!(read_folder(&out).unwrap().name(), "T");
}

#[test]
fn nothing_is_overwritten_and_nothing_half_written() {
    let d = read(&[]);
    let folder = folder(&[("full/file", b"x"), ("file", b"x")]);
    for (out, word) in
        [("full", "not an empty folder"), ("file", "not an empty folder"), ("..", "name"), ("._x", "name")]
    {
        let error =
            format::write(Records::of(&d), folder.path().join(out), WriteOptions::default()).unwrap_err();
        assert!(error.is_call() && error.to_string().contains(word), "{out}: {error}");
    }
    let broken = Records {
        header: d.header().clone(),
        records: Box::new([Ok(d.record(0)), Err(Error::unfit("it broke"))].into_iter()),
    };
    let error = format::write(broken, folder.path().join("new"), WriteOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "it broke");
    let error = format::write(Records::of(&d), folder.path().join("no/such/T"), WriteOptions::default());
    assert!(matches!(error, Err(Error::Io { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

fn plain(nodes: usize, edges: &[(u32, u32)]) -> Graph {
    Graph::undirected(nodes, edges.iter().copied()).unwrap()
}

/// What the writer says it cannot hold; with `lossy` it leaves that out, and what is left is read back.
fn losses(d: &Dataset) -> (Vec<String>, Dataset) {
    let folder = scratch();
    let out = folder.path().join(d.name());
    let refused = format::write(Records::of(d), &out, WriteOptions::default()).unwrap_err();
    assert_eq!(refused.remedy(), Some(Remedy::AllowLoss));
    assert!(!refused.is_call() && !out.exists());
    let written = format::write(Records::of(d), &out, WriteOptions { lossy: true }).unwrap();
    let first = refused.to_string();
    assert!(first.starts_with(&format!("the TU format cannot hold {}", written.dropped[0])), "{first}");
    (written.dropped, read_folder(&out).unwrap())
}

#[test]
fn names_folds_and_positions_are_lost() {
    let mut b = GraphBuilder::undirected(2);
    b.node_labels(1, vec![6, 8]).node_attributes(1, vec![0.5, 1.5]).positions(vec![[0.0; 3]; 2]);
    b.edge_label_columns(1).edge_attribute_columns(1).edge_with(0, 1, &[2], &[0.5]);
    let schema = Schema {
        node_labels: vec![LabelColumn::new("atom", [6, 7, 8])],
        node_attributes: vec!["charge".into()],
        edge_labels: vec![LabelColumn::new("bond", [1, 2])],
        edge_attributes: vec!["length".into()],
        positions: true,
        directed: false,
    };
    let d = Dataset::builder("molecules")
        .graphs(vec![b.build().unwrap()])
        .schema(schema)
        .targets(vec![Target { name: "mu".into(), unit: "D".into() }], vec![1.0])
        .folds(vec![Fold { train: vec![0], test: vec![] }])
        .build()
        .unwrap();
    let (lost, left) = losses(&d);
    assert_eq!(
        lost,
        [
            "the names of node labels (atom)",
            "the names of node attributes (charge)",
            "the names of edge labels (bond)",
            "the names of edge attributes (length)",
            "the names of targets (mu)",
            "the units of targets (D)",
            "positions",
            "the 1 given folds",
            "labels that no node has (7)",
            "labels that no edge has (1)"
        ]
    );
    assert_eq!((left.graph(0).node_labels(1), left.targets(0)), (&[8][..], &[1.0][..]));
}

#[test]
fn what_only_the_graphs_show_is_lost() {
    let two_way = plain(2, &[(0, 1)]).to_directed();
    let (lost, left) = losses(&Dataset::builder("d").graphs(vec![two_way]).build().unwrap());
    assert_eq!(lost, ["that edges have a direction, where each has its reverse"]);
    assert!(!left.schema().directed);

    let nulls = vec![plain(0, &[]), plain(2, &[(0, 1)]), plain(0, &[])];
    let (lost, left) = losses(&Dataset::builder("d").graphs(nulls.clone()).build().unwrap());
    assert_eq!((lost, left.len()), (vec!["2 graphs without nodes, classes and targets".to_string()], 1));
    let classes = Dataset::builder("d").graphs(nulls).labels(vec![0, 1, 2]).build().unwrap();
    let (lost, left) = losses(&classes.subset(&[0, 1]).unwrap());
    assert_eq!((lost, left.len()), (vec!["classes that no graph has (2)".to_string()], 2));

    let mut b = GraphBuilder::undirected(1);
    b.edge_label_columns(1).edge_attribute_columns(2);
    let (lost, _) = losses(&Dataset::builder("d").graphs(vec![b.build().unwrap()]).build().unwrap());
    assert_eq!(lost, ["features of edges, where no graph has an edge"]);

    let empty = Dataset::builder("d").build().unwrap();
    let folder = scratch();
    let error = format::write(Records::of(&empty), folder.path().join("d"), WriteOptions { lossy: true });
    assert!(matches!(error, Err(Error::Unfit(_))));
}

/// Whether TU can hold a random dataset, found in another way than the writer does.
fn fits(d: &Dataset) -> bool {
    let schema = d.schema();
    let learned = d.task() != Task::None;
    let edges = d.graphs().iter().any(|g| g.arcs() > 0);
    let nodes = d.graphs().iter().any(|g| g.nodes() > 0);
    (learned || d.graphs().iter().all(|g| g.nodes() > 0))
        && (edges || schema.edge_labels.len() + schema.edge_attributes.len() == 0)
        && (nodes || schema.node_labels.len() + schema.node_attributes.len() == 0)
        && (!schema.directed || d.graphs().iter().any(|g| g.clone().to_undirected().is_err()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn written_and_read_back_is_the_same(
        d in datasets(Options { positions: false, folds: false, names: false, ..Options::default() })
    ) {
        let folder = scratch();
        let out = folder.path().join("random");
        match format::write(Records::of(&d), &out, WriteOptions::default()) {
            Ok(written) => {
                prop_assert!(fits(&d));
                prop_assert_eq!((written.graphs, written.dropped), (d.len(), vec![]));
                prop_assert_eq!(read_folder(&out).unwrap(), d);
            }
            Err(error) => prop_assert!(!fits(&d), "{}", error),
        }
    }

    #[test]
    fn lossy_writing_keeps_graphs_and_classes(d in datasets(Options::default())) {
        let folder = scratch();
        let out = folder.path().join("random");
        let kept: Vec<_> =
            d.records().filter(|r| r.graph.nodes() > 0 || r.label.is_some() || !r.targets.is_empty()).collect();
        match format::write(Records::of(&d), &out, WriteOptions { lossy: true }) {
            Ok(written) => {
                let back = read_folder(&out).unwrap();
                prop_assert_eq!((written.graphs, back.len()), (kept.len(), kept.len()));
                for (a, b) in back.records().zip(kept) {
                    prop_assert_eq!((a.graph.offsets(), a.graph.targets()), (b.graph.offsets(), b.graph.targets()));
                    prop_assert_eq!((a.label, a.targets), (b.label, b.targets));
                    for u in 0..b.graph.nodes() {
                        prop_assert_eq!(a.graph.node_labels(u), b.graph.node_labels(u));
                        prop_assert_eq!(a.graph.node_attributes(u), b.graph.node_attributes(u));
                    }
                    for arc in 0..b.graph.arcs() {
                        prop_assert_eq!(a.graph.edge_labels(arc), b.graph.edge_labels(arc));
                        prop_assert_eq!(a.graph.edge_attributes(arc), b.graph.edge_attributes(arc));
                    }
                }
            }
            Err(error) => prop_assert!(kept.is_empty(), "{}", error),
        }
    }
}
