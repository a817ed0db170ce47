//! The paper's text format: the real datasets, the dialects that are read, and what is told of files that are wrong.

use crate::support::{defects, defects_at, folder, read_as, shared, zip};
use ppgn_graph::format::{self, Format, Limits, ReadOptions, Report};
use ppgn_graph::{Dataset, Task};

const SMALL: &str = "2\n3 -1\n0 2 1 2\n4 1 0\n4 1 0\n1 1\n0 0\n";

fn read(text: &str) -> Dataset {
    read_as(Format::Text, "small.txt", text.as_bytes()).unwrap()
}

fn wrong(text: &str) -> Vec<String> {
    defects(Format::Text, "small.txt", text.as_bytes())
}

#[test]
fn a_small_file() {
    let d = read(SMALL);
    assert_eq!((d.name(), d.len(), d.header().provenance.format.as_str()), ("small", 2, "text"));
    assert_eq!(d.task(), Task::Classification { classes: &[-1, 1] });
    assert_eq!((d.graph(0).neighbours(0), d.graph(0).edges()), (&[1, 2][..], 2));
    assert_eq!((d.graph(0).node_labels(1), d.graph(1).node_labels(0)), (&[4][..], &[0][..]));
    assert_eq!(d.schema().node_labels[0].values(), [0, 4]);
    assert!(!d.schema().directed);
}

#[test]
fn dialects_of_line_ends_blanks_and_numbers() {
    let crlf = SMALL.replace('\n', "\r\n");
    let trailing = SMALL.replace('\n', "  \t\n");
    let tabs = SMALL.replace(' ', "\t");
    let wide = SMALL.replace(' ', "   ");
    let signed = SMALL.replace("0 2 1 2", "+0 0002 +1 0000000000002");
    let indented = format!("  {}", SMALL.replace('\n', "\n "));
    let open_ended = SMALL.trim_end().to_string();
    let blank_lines = SMALL.replace('\n', "\n\n \n");
    for text in [crlf, trailing, tabs, wide, signed, indented, open_ended, blank_lines] {
        assert_eq!(read(&text), read(SMALL), "{text:?}");
    }
}

#[test]
fn constant_labels_are_no_labels() {
    let d = read("2\n1 0\n7 0\n2 1\n7 1 1\n7 1 0\n");
    assert!(d.schema().node_labels.is_empty());
    assert_eq!(d.header().provenance.notes, ["all node labels are 7; they were left out"]);
}

#[test]
fn trailing_numbers_are_attributes() {
    // The first graph has no nodes, so it does not show how many attributes there are.
    let d = read("3\n0 5\n2 0\n1 1 1 0.5 -1e3\n2 1 0 2 3\n1 1\n1 0 .5 5.\n");
    assert_eq!(d.schema().node_attributes, ["attribute0", "attribute1"]);
    assert_eq!(d.graph(1).node_attributes(0), [0.5, -1000.0]);
    assert_eq!(d.graph(2).node_attributes(0), [0.5, 5.0]);
    assert_eq!(d.graph(0).nodes(), 0);
    assert_eq!(
        wrong("1\n2 0\n1 1 1 0.5\n2 1 0\n"),
        [
            "small.txt:4: graph 0: 0 numbers after the neighbours, where rows before have 1; is the degree right?"
        ]
    );
    assert_eq!(
        wrong("1\n1 0\n1 0 NaN\n"),
        ["small.txt:3: graph 0: the attribute `NaN` is not a finite number"]
    );
}

#[test]
fn one_arc_without_its_reverse_makes_the_dataset_directed() {
    let d = read("2\n2 0\n0 1 1\n1 1 0\n2 0\n0 1 1\n1 0\n");
    assert!(d.schema().directed && d.graph(0).is_directed());
    assert_eq!((d.graph(0).edges(), d.graph(1).edges()), (2, 1));
    let note = "directed: in graph 1 node 0 lists node 1 as a neighbour, but not the other way round";
    assert_eq!(d.header().provenance.notes, [note]);
}

#[test]
fn neighbours_in_any_order_loops_and_repetitions() {
    let d = read("1\n3 0\n0 4 2 0 1 2\n1 1 0\n1 1 0\n");
    assert_eq!((d.graph(0).neighbours(0), d.graph(0).self_loops()), (&[0, 1, 2][..], 1));
    assert_eq!(d.header().provenance.notes, ["1 neighbours were listed twice for one node and merged"]);
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_graph() {
    let cases = [
        ("", "small.txt: empty: no graphs in it"),
        ("0\n", "small.txt:1: no graphs in it"),
        ("x\n", "small.txt:1: the first line must be the number of graphs, not `x`"),
        ("-3\n", "small.txt:1: the first line must be the number of graphs, not `-3`"),
        ("2\n1 0\n0 0\n", "small.txt:3: the file ends after 1 of 2 graphs"),
        ("1\n2 0\n0 0\n", "small.txt:3: graph 0: the file ends after 1 of 2 nodes"),
        ("1\n1 0\n0 0\n0 0\n", "small.txt:4: the file continues after graph 0, the last of 1"),
        (
            "1\n1 0\n0 1 1\n",
            "small.txt:3: graph 0: neighbour 1 is out of range, the graph has 1 nodes (from 0)",
        ),
        (
            "1\n1 0\n0 1 -1\n",
            "small.txt:3: graph 0: neighbour -1 is out of range, the graph has 1 nodes (from 0)",
        ),
        ("1\n1 0\n0 2 0\n", "small.txt:3: graph 0: the degree is 2, but 1 neighbours follow"),
        (
            "1\n1 0\n0 99999999999999999999 0\n",
            "small.txt:3: graph 0: the degree `99999999999999999999` is not a count",
        ),
        (
            "1\n1 0\n0 4294967295 0\n",
            "small.txt:3: graph 0: the degree is 4294967295, but 1 neighbours follow",
        ),
        ("1\n1 0\n0 -1\n", "small.txt:3: graph 0: the degree `-1` is not a count"),
        ("1\n1 0\n0\n", "small.txt:3: graph 0: the degree `` is not a count"),
        ("1\n1 0\nC 0\n", "small.txt:3: graph 0: the label `C` is not an integer"),
        ("1\n1 0\n0 1 0x0\n", "small.txt:3: graph 0: the neighbour `0x0` is not the number of a node"),
        ("1\n1 0.5\n0 0\n", "small.txt:2: graph 0: expected a line `nodes class`, found `1 0.5`"),
        ("1\n-1 0\n", "small.txt:2: graph 0: -1 nodes"),
        (
            "1\n999999999 0\n",
            "small.txt:2: graph 0: 999999999 nodes, more than the 134217728 that a graph may have",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(wrong(text), [expected], "{text:?}");
        let strict = read_as(Format::Text, "small.txt", text.as_bytes()).unwrap_err();
        assert!(strict.to_string().ends_with(expected), "{text:?}: {strict}");
    }
}

#[test]
fn checking_goes_on_with_the_next_graph() {
    let text = "4\n2 0\n0 1 9\n1 x\nbad\n2 1\n0 1 1\n0 1 0\n1 1\n0 1 5\n1 0\n0 0\n";
    assert_eq!(
        wrong(text),
        [
            "small.txt:3: graph 0: neighbour 9 is out of range, the graph has 2 nodes (from 0)",
            "small.txt:4: graph 0: the degree `x` is not a count",
            "small.txt:5: graph 1: expected a line `nodes class`, found `bad`",
            "small.txt:10: graph 2: neighbour 5 is out of range, the graph has 1 nodes (from 0)",
        ]
    );
}

#[test]
fn bytes_that_are_no_text() {
    let found = defects(Format::Text, "small.txt", b"1\n1 0\n\xff\xfe 0\n");
    assert_eq!(found, ["small.txt:3: graph 0: the label `\\xff\\xfe` is not an integer"]);
    assert!(read_as(Format::Text, "small.txt", &[0; 5000]).is_err());
}

#[test]
fn the_limit_on_nodes_is_obeyed() {
    let folder = folder(&[("s.txt", SMALL.as_bytes())]);
    let limits = Limits { max_nodes: 2, ..Limits::default() };
    let error = format::read(folder.path(), &ReadOptions { limits, ..ReadOptions::default() }).unwrap_err();
    assert!(error.to_string().ends_with("s.txt:2: graph 0: 3 nodes, more than the 2 that a graph may have"));
}

const FOLDS: [(&str, &[u8]); 3] = [
    ("s/s.txt", SMALL.as_bytes()),
    ("s/10fold_idx/train_idx-1.txt", b"0\r\n"),
    ("s/10fold_idx/test_idx-1.txt", b"1\n"),
];

#[test]
fn folds_are_found_beside_the_file_in_folders_and_archives() {
    let folder = folder(&FOLDS);
    let stray: [(&str, &[u8]); 3] =
        [("s/.DS_Store", b"\0\x01"), ("__MACOSX/s/._s.txt", b"2\n"), ("s/README.md", b"1 2\n")];
    let archive = zip(folder.path(), "s.zip", &[&FOLDS[..], &stray].concat());
    let whole = format::read(folder.path().join("s"), &ReadOptions::default()).unwrap();
    assert_eq!((&whole.folds()[0].train[..], &whole.folds()[0].test[..]), (&[0][..], &[1][..]));
    let single = format::read(folder.path().join("s/s.txt"), &ReadOptions::default()).unwrap();
    let packed = format::read(archive, &ReadOptions::default()).unwrap();
    assert_eq!((&single, &packed), (&whole, &whole));
}

#[test]
fn folds_that_are_wrong() {
    let with = |extra: &[(&str, &[u8])]| {
        let folder = folder(&[&FOLDS[..], extra].concat());
        defects_at(&folder.path().join("s"), &ReadOptions::default())
    };
    assert!(with(&[]).is_empty());
    let alone = with(&[("s/10fold_idx/train_idx-2.txt", b"0\n")]);
    assert_eq!(alone, ["s/s.txt: fold 2 of 2 lacks its file 10fold_idx/test_idx-2.txt"]);
    let gap = with(&[("s/10fold_idx/train_idx-3.txt", b"0\n"), ("s/10fold_idx/test_idx-3.txt", b"1")]);
    assert_eq!(gap.len(), 2, "{gap:?}");
    let bad: &[u8] = b"1\n2\nx\n-1\n1\n";
    let bad = with(&[("s/10fold_idx/train_idx-1.txt", bad)]);
    let file = "s/10fold_idx/train_idx-1.txt";
    assert_eq!(bad[0], format!("{file}:2: `2` is not the number of a graph, 0 to 1"));
    assert_eq!(bad[1], format!("{file}:3: `x` is not the number of a graph, 0 to 1"));
    assert_eq!(bad[2], format!("{file}:4: `-1` is not the number of a graph, 0 to 1"));
    assert_eq!(bad[3], format!("{file}:5: graph 1 is in this list twice"));
    assert_eq!(bad[4], "s/10fold_idx/test_idx-1.txt:1: graph 1 is in the fold's train list too");
    assert_eq!(bad.len(), 5);
}

#[test]
fn a_truncated_archive_is_told() {
    let folder = folder(&[]);
    let path = zip(folder.path(), "s.zip", &FOLDS);
    let bytes = std::fs::read(&path).unwrap();
    for cut in [10, bytes.len() / 2, bytes.len() - 5] {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let error = format::read(&path, &ReadOptions::default()).unwrap_err();
        assert!(!error.is_call() && error.to_string().contains("s.zip"), "{error}");
    }
}

/// Name, graphs, class counts, average nodes and edges, node labels, self-loops: counted by an independent script.
type Figures = (&'static str, usize, &'static [usize], f64, f64, usize, usize);
const FIGURES: [Figures; 8] = [
    ("MUTAG", 188, &[63, 125], 17.93, 19.79, 7, 0),
    ("PTC", 344, &[192, 152], 25.56, 25.96, 19, 0),
    ("PROTEINS", 1113, &[663, 450], 39.06, 72.82, 3, 0),
    ("NCI1", 4110, &[2053, 2057], 29.87, 32.30, 37, 0),
    ("NCI109", 4127, &[2048, 2079], 29.68, 32.13, 38, 0),
    ("IMDBBINARY", 1000, &[500, 500], 19.77, 96.53, 0, 0),
    ("IMDBMULTI", 1500, &[500, 500, 500], 13.00, 65.94, 0, 0),
    ("COLLAB", 5000, &[2600, 775, 1625], 74.49, 2457.78, 0, 2837),
];

#[test]
fn the_papers_datasets() {
    for (name, graphs, class_counts, nodes, edges, labels, loops) in FIGURES {
        let Some(path) = shared(&format!("tu/{name}.zip")) else { continue };
        let d = format::read(&path, &ReadOptions::default()).unwrap();
        assert_eq!((d.name(), d.len(), d.folds().len()), (name, graphs, 10));
        let mut counts = vec![0; class_counts.len()];
        d.classes().for_each(|c| counts[c.unwrap()] += 1);
        assert_eq!(counts, class_counts, "{name}");
        let average = |total: usize| (total as f64 / graphs as f64 * 100.0).round() / 100.0;
        assert_eq!(average(d.graphs().iter().map(|g| g.nodes()).sum()), nodes, "{name}");
        assert_eq!(average(d.graphs().iter().map(|g| g.edges()).sum()), edges, "{name}");
        assert_eq!(d.schema().node_labels.iter().map(|c| c.values().len()).sum::<usize>(), labels, "{name}");
        assert_eq!(d.graphs().iter().map(|g| g.self_loops()).sum::<usize>(), loops, "{name}");
        assert!(!d.schema().directed, "{name}");
        // No graph is tested on twice; what a tenth leaves over is never tested on.
        let mut tested = vec![0; graphs];
        d.folds().iter().flat_map(|f| &f.test).for_each(|&g| tested[g as usize] += 1);
        assert!(tested.iter().all(|&count| count <= 1), "{name}");
        assert!(d.folds().iter().all(|f| f.test.len() == graphs / 10), "{name}");
        assert!(d.folds().iter().all(|f| f.train.len() + f.test.len() == graphs), "{name}");
        if name == "PTC" {
            assert_eq!(d.schema().node_labels[0].values().last(), Some(&21));
        }
        if name == "COLLAB" {
            assert!(d.heap_bytes() < 200_000_000, "{}", d.heap_bytes());
        }
    }
}

#[test]
fn the_papers_datasets_have_no_defect() {
    for name in ["MUTAG", "IMDBMULTI"] {
        let Some(path) = shared(&format!("tu/{name}.zip")) else { continue };
        let mut report = Report::collecting();
        format::check(&path, &ReadOptions::default(), &mut report).unwrap();
        assert_eq!(report.count(), 0, "{:?}", report.defects());
    }
}
