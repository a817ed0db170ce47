//! graph6, sparse6 and digraph6 files.

use crate::random_datasets::bare;
use ppgn_graph::format::{
    self, Format, Limits, ReadOptions, Records, Report, WriteOptions, check, open, read, write,
};
use ppgn_graph::{Dataset, Graph, GraphBuilder, Provenance, Remedy};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

/// A file in a folder of its own, which goes when it does.
pub(crate) fn file(name: &str, contents: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, contents).unwrap();
    (folder, path)
}

/// What is wrong with a file, without its path, and the notes.
pub(crate) fn report_of(name: &str, contents: impl AsRef<[u8]>) -> (Vec<String>, Vec<String>) {
    let (_folder, path) = file(name, contents);
    let mut report = Report::collecting();
    check(&path, &ReadOptions::default(), &mut report).unwrap();
    let short = |text: &String| text.replace(path.to_str().unwrap(), "F");
    let defects = report.defects().iter().map(|d| short(&d.to_string())).collect();
    (defects, report.notes().iter().map(short).collect())
}

fn graphs(contents: impl AsRef<[u8]>) -> Vec<Graph> {
    let (_folder, path) = file("x.g6", contents);
    read(&path, &ReadOptions::default()).unwrap().graphs().to_vec()
}

#[test]
fn the_lists_of_brec_and_of_strongly_regular_graphs() {
    let Some(data) = crate::support::shared("") else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, graphs, nodes) in [
        ("brec/basic.g6", 120, 10),
        ("brec/regular.g6", 100, 10),
        ("brec/extension.g6", 200, 19),
        ("sr/sr16622.g6", 2, 16),
        ("sr/sr251256.g6", 15, 25),
    ] {
        let path = data.join(name);
        let d = read(&path, &ReadOptions::default()).unwrap();
        assert_eq!(d.len(), graphs, "{name}");
        assert_eq!(d.graphs().iter().map(Graph::nodes).max(), Some(nodes), "{name}");
        let out = folder.path().join("out.g6");
        write(Records::of(&d), &out, WriteOptions::default()).unwrap();
        let trimmed = |p: &Path| std::fs::read_to_string(p).unwrap().trim_end().to_string();
        assert_eq!(trimmed(&out), trimmed(&path), "{name}");
    }
    let sr = read(data.join("sr/sr251256.g6"), &ReadOptions::default()).unwrap();
    assert_eq!(sr.name(), "sr251256");
    assert!(sr.graphs().iter().all(|g| (0..25).all(|u| g.neighbours(u).len() == 12)));
}

#[test]
fn headers_blank_lines_and_line_ends() {
    let triangle = Graph::undirected(3, [(0, 1), (1, 2), (0, 2)]).unwrap();
    let empty = Graph::undirected(0, []).unwrap();
    let both = [triangle, empty];
    for text in [
        "Bw\n?\n",
        "Bw\n?",
        ">>graph6<<Bw\n?\n",
        ">>graph6<<\nBw\n?\n",
        ">>graph6<<\r\nBw\r\n\r\n?\r\n",
        "\n\nBw  \n \n?\n\n",
        ">>sparse6<<:BcN\n:?\n",
        ">>graph6<<Bw\n>>sparse6<<:?\n",
    ] {
        assert_eq!(graphs(text), both, "{text:?}");
    }
    assert_eq!(graphs(">>digraph6<<&BT_\n"), [Graph::directed(3, [(0, 1), (1, 0), (1, 2), (2, 0)]).unwrap()]);
}

#[test]
fn one_directed_graph_makes_the_dataset_directed() {
    let (_folder, path) = file("mixed.g6", "Bw\n&B??\n:Bc\n;f\n");
    let d = read(&path, &ReadOptions::default()).unwrap();
    assert!(d.schema().directed && d.graphs().iter().all(Graph::is_directed));
    assert_eq!(d.graph(0).arcs(), 6);
    assert_eq!(d.graph(3), &Graph::directed(3, [(0, 2), (2, 0)]).unwrap());
    assert_eq!((d.name(), d.header().provenance.format.as_str()), ("mixed", "graph6"));
}

#[test]
fn every_defect_is_told_with_its_place() {
    let (defects, notes) = report_of("x.g6", "Bw\nB\n\nB!\n:B\n~~~~~~~~\n;_\nA~\n:B_\n");
    assert_eq!(
        defects,
        [
            "F:2: graph 1: 3 nodes take 1 characters after their number, but there are 0: `B`",
            "F:4: graph 2: the character `!` in column 2 does not occur in graph6: `B!`",
            "F:6: graph 4: 68719476735 nodes, more than the limit of 134217728: `~~~~~~~~`",
            "F:7: graph 5: an incremental line (`;`) changes the graph before it, but none was read: `;_`",
        ]
    );
    assert_eq!(
        notes,
        [
            "F: 1 repeated edges in 1 graphs were merged, the first in line 9",
            "F: bits after the end of the matrix are set in 1 graphs and ignored, the first in line 8",
        ]
    );
    for nothing in ["", "\n \r\n", ">>graph6<<", ">>sparse6<<\n"] {
        assert_eq!(report_of("x.g6", nothing).0, ["F: no graphs in it"]);
    }
    assert_eq!(report_of("x.g6", ">>planar_code<<").0.len(), 1);
}

#[test]
fn a_size_beyond_the_limit_is_refused() {
    let (_folder, path) = file("x.g6", ":Bc\n:Cc\n");
    let limits = Limits { max_nodes: 3, ..Limits::default() };
    let error = read(&path, &ReadOptions { limits, ..ReadOptions::default() }).unwrap_err();
    assert!(
        error.to_string().ends_with("x.g6:2: graph 1: 4 nodes, more than the limit of 3: `:Cc`"),
        "{error}"
    );
}

#[test]
fn what_graph6_cannot_hold_is_listed_or_left_out() {
    let mut b = GraphBuilder::undirected(2);
    b.node_labels(1, vec![1, 2])
        .edge_label_columns(1)
        .edge_with(0, 1, &[3], &[])
        .positions(vec![[0.0; 3]; 2]);
    let d = Dataset::builder("d").graphs(vec![b.build().unwrap()]).labels(vec![7]).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("d.g6");
    let error = write(Records::of(&d), &out, WriteOptions::default()).unwrap_err();
    assert!(!error.is_call());
    assert_eq!(error.remedy(), Some(Remedy::AllowLoss));
    assert_eq!(
        error.to_string(),
        "graph6 cannot hold node labels, nor edge labels, nor positions, nor classes"
    );
    assert!(!out.exists());
    let written = write(Records::of(&d), &out, WriteOptions { lossy: true }).unwrap();
    assert_eq!((written.format, written.graphs), (Format::Graph6, 1));
    assert_eq!(written.dropped, ["node labels", "edge labels", "positions", "classes"]);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "A_\n");
}

#[test]
fn graphs_with_loops_are_sparse6_lines() {
    let simple = Graph::undirected(2, [(0, 1)]).unwrap();
    let looped = Graph::undirected(2, [(0, 1), (0, 0)]).unwrap();
    let d = Dataset::builder("d").graphs(vec![simple, looped]).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("d.g6");
    write(Records::of(&d), &out, WriteOptions::default()).unwrap();
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "A_\n:AJ\n");
}

#[test]
fn a_stream_gives_graphs_before_it_has_seen_the_file() {
    let (_folder, path) = file("x.g6", "Bw\nBw\n!!!\n");
    let mut report = Report::strict();
    let mut stream = open(&path, &ReadOptions::default(), &mut report).unwrap();
    assert_eq!(stream.header.graphs, 3);
    assert!(stream.records.next().unwrap().is_ok());
    assert!(stream.records.next().unwrap().is_ok());
    assert!(stream.records.next().unwrap().is_err());
    assert!(stream.records.next().is_none());
}

#[test]
fn a_zip_is_read_twice_but_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    zip.start_file("x.g6", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut zip, "Bw\n".repeat(1000).as_bytes()).unwrap();
    zip.finish().unwrap();
    let options = |max_unpacked| ReadOptions {
        limits: Limits { max_unpacked, ..Limits::default() },
        ..ReadOptions::default()
    };
    assert_eq!(format::read(&path, &options(3000)).unwrap().len(), 1000);
    assert!(format::read(&path, &options(2999)).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_is_read(d in bare()) {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join(format!("{}.g6", d.name()));
        write(Records::of(&d), &out, WriteOptions::default()).unwrap();
        let mut report = Report::strict();
        let back = open(&out, &ReadOptions::default(), &mut report).unwrap().collect().unwrap();
        prop_assert_eq!(&back, &d);
        prop_assert!(report.notes().is_empty());
        let provenance = Provenance {
            source: out.display().to_string(),
            format: "graph6".into(),
            notes: Vec::new(),
        };
        prop_assert_eq!(&back.header().provenance, &provenance);
    }
}
