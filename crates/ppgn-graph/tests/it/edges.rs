//! Edge lists: the dialects that are read, how nodes are numbered, and what is told of files that are wrong.

use crate::support::{defects, folder, read_as, zip};
use ppgn_graph::format::{self, Format, Limits, ReadOptions};
use ppgn_graph::{Dataset, Graph, Task};

fn read(text: &str) -> Dataset {
    read_as(Format::Edges, "list.txt", text.as_bytes()).unwrap()
}

fn wrong(text: &str) -> Vec<String> {
    assert!(read_as(Format::Edges, "list.txt", text.as_bytes()).is_err());
    defects(Format::Edges, "list.txt", text.as_bytes())
}

fn path(nodes: u32) -> Graph {
    Graph::undirected(nodes as usize, (1..nodes).map(|v| (v - 1, v))).unwrap()
}

#[test]
fn separators_comments_and_headers() {
    let expected = path(3);
    for text in [
        "0 1\n1 2\n",
        "0\t1\r\n1\t2",
        "0,1\n1,2\n",
        "0, 1\n1 ; 2 \n",
        "0;1\n1;2;\n",
        "# a\n% b\n\n 0 1 # the first\n1 2\n",
        "source,target\n0,1\n1,2\n",
        "Source Target\n0 1\n1 2\n",
        "a,b\n0,1\n1,2\n",
        "\u{feff}from;to\n0;1\n1;2\n",
        "0 1 {}\n1 2 {}\n",
        "\"0\",\"1\"\n\"1\",\"2\"\n",
        "+0 01\n1 0002\n",
    ] {
        let d = read(text);
        assert_eq!((d.name(), d.len(), d.task()), ("list", 1, Task::None), "{text:?}");
        assert_eq!(d.graph(0), &expected, "{text:?}");
    }
    let notes = read("source,target\n0,1\n").header().provenance.notes.clone();
    assert_eq!(notes, ["the first line, `source,target`, was read as a header"]);
}

#[test]
fn formats_are_told_by_ending_and_content() {
    let files: [(&str, &[u8]); 6] = [
        ("a.edges", b"x y\n"),
        ("b.csv", b"x,y\n"),
        ("c.txt", b"% c\n1 2\n"),
        ("d.dat", b"u;v;w\n1;2;3\n"),
        ("e", b"# e\n1 2 0.5\n"),
        ("f.tsv", b"x\ty\n"),
    ];
    let folder = folder(&files);
    for (name, bytes) in files {
        let d = format::read(folder.path().join(name), &ReadOptions::default()).unwrap();
        assert_eq!(d.header().provenance.format, "edges", "{name}");
        assert_eq!((d.name(), d.graph(0).edges()), (&name[..1], 1));
        let archive = zip(folder.path(), "one.zip", &[(&format!("in/{name}"), bytes)]);
        assert_eq!(format::read(archive, &ReadOptions::default()).unwrap(), d, "{name}");
    }
}

#[test]
fn nodes_are_numbered_in_order() {
    let numbers = read("10 9\n-5 10\n");
    assert_eq!(numbers.graph(0), &Graph::undirected(3, [(2, 1), (0, 2)]).unwrap());
    // One name among the numbers, and all are names: `10` comes before `9`.
    let names = read("10 9\nx 10\n");
    assert_eq!(names.graph(0), &Graph::undirected(3, [(0, 1), (2, 0)]).unwrap());
    let quoted = read("\"New York\",Boston\nAustin,\"New York\"\n");
    assert_eq!(quoted.graph(0), &Graph::undirected(3, [(2, 1), (0, 2)]).unwrap());
}

#[test]
fn labels_are_integers_or_weights() {
    let d = read("a b 3\nb c -1\n");
    assert_eq!(d.schema().edge_labels[0].values(), [-1, 3]);
    assert_eq!(d.graph(0).edge_labels(d.graph(0).arc(1, 0).unwrap()), [3]);
    let d = read("source,target,label\n1,2,3\n2,3,0.5\n");
    assert_eq!(
        (d.schema().edge_labels.len(), &d.schema().edge_attributes[..]),
        (0, &["weight".to_string()][..])
    );
    assert_eq!(d.graph(0).edge_attributes(d.graph(0).arc(0, 1).unwrap()), [3.0]);
    assert_eq!(d.graph(0).edge_attributes(d.graph(0).arc(2, 1).unwrap()), [0.5]);
}

#[test]
fn direction_duplicates_and_loops() {
    let text = "1 2 5\n2 1 5\n1 1 6\n2 1 7\n";
    let d = read(text);
    assert_eq!((d.graph(0).edges(), d.graph(0).self_loops()), (2, 1));
    assert_eq!(d.graph(0).edge_labels(d.graph(0).arc(0, 1).unwrap()), [5]);
    assert_eq!(
        d.header().provenance.notes,
        [
            "2 edges were given more than once and merged",
            "1 of them had different labels or attributes; the first was kept"
        ]
    );
    let folder = folder(&[("l.edges", text.as_bytes())]);
    let options = ReadOptions { directed: true, ..ReadOptions::default() };
    let d = format::read(folder.path(), &options).unwrap();
    assert_eq!((d.schema().directed, d.graph(0).edges()), (true, 3));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    for (text, expected) in [
        ("", "list.txt: no edges in it"),
        ("# nothing\n\n", "list.txt: no edges in it"),
        ("source,target\n", "list.txt: no edges in it"),
        ("1 2\n3\n", "list.txt:2: expected an edge `u v [label]`, found `3`"),
        ("1,2\n3,\n", "list.txt:2: expected an edge `u v [label]`, found `3,`"),
        ("1,2\n3,,4\n", "list.txt:2: an empty field before `,4`"),
        ("1 2\n3 4 5 6\n", "list.txt:2: more than the three fields `u v label`: `3 4 5 6`"),
        ("1 2\n3 4 5\n", "list.txt:2: a label, but the edges before have none"),
        ("1 2 3\n3 4\n", "list.txt:2: no label, but the edges before have one"),
        ("1 2 3\n3 4 x\n", "list.txt:2: the label `x` is not a finite number"),
        ("1 2 nan\n", "list.txt:1: the label `nan` is not a finite number"),
        ("a b nan\n", "list.txt:1: the label `nan` is not a finite number"),
        ("1 \"2\n", "list.txt:1: no closing quote in `\\\"2`"),
    ] {
        assert_eq!(wrong(text), [expected], "{text:?}");
    }
    let found = defects(Format::Edges, "list.txt", b"1 2\n\xff 2\n1 \xfe\n");
    assert_eq!(
        found,
        [
            "list.txt:2: the node's name `\\xff` is not UTF-8 text",
            "list.txt:3: the node's name `\\xfe` is not UTF-8 text"
        ]
    );
}

#[test]
fn the_limit_on_nodes_is_obeyed() {
    let folder = folder(&[("l.edges", b"1 2\n3 4\n5 6\n")]);
    let options =
        ReadOptions { limits: Limits { max_nodes: 3, ..Limits::default() }, ..ReadOptions::default() };
    let error = format::read(folder.path(), &options).unwrap_err().to_string();
    assert!(error.ends_with("l.edges:2: more than the 3 nodes that a graph may have"), "{error}");
}
