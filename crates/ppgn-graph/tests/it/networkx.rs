//! Files as NetworkX writes them, read equal: 200 random graphs with labels and attributes through each of its writers
//! (`goldens/networkx_files.py`), and folders of files as datasets.

use crate::support::{defects, folder};
use flate2::read::GzDecoder;
use ppgn_graph::format::{self, Format, Limits, ReadOptions};
use ppgn_graph::{Dataset, Error, Remedy};
use std::io::Read;
use std::path::Path;

fn read(path: &Path, directed: bool) -> Result<Dataset, Error> {
    format::read(path, &ReadOptions { directed, ..ReadOptions::default() })
}

#[test]
fn what_networkx_writes_is_read_equal() {
    let mut text = String::new();
    let packed = include_bytes!("goldens/networkx_files.json.gz");
    GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    let golden: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut compared = 0;
    for set in golden["sets"].as_array().unwrap() {
        let name = set["name"].as_str().unwrap();
        let files = set["files"].as_array().unwrap();
        let extension = set["extension"].as_str().unwrap();
        let place = tempfile::tempdir().unwrap();
        let graphs = place.path().join(name);
        std::fs::create_dir(&graphs).unwrap();
        for (i, file) in files.iter().enumerate() {
            std::fs::write(graphs.join(format!("{i}.{extension}")), file.as_str().unwrap()).unwrap();
        }
        let expected = place.path().join(format!("{name}.jsonl"));
        std::fs::write(&expected, set["expected"].as_str().unwrap()).unwrap();
        let expected = read(&expected, false).unwrap();
        let found =
            read(&graphs, set["directed"].as_bool().unwrap()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(found.schema(), expected.schema(), "{name}");
        for i in 0..expected.len() {
            assert_eq!(found.graph(i), expected.graph(i), "{name}: graph {i}");
            assert_eq!(found.id(i), expected.id(i), "{name}: graph {i}");
            compared += 1;
        }
        assert_eq!(found.len(), expected.len(), "{name}");
    }
    assert!(compared > 1500, "{compared}");
}

#[test]
fn a_folder_of_edge_lists_is_a_dataset_in_natural_order() {
    let place = folder(&[
        ("g10.edges", b"a b\n"),
        ("g9.edges", b"a b\nb c\n"),
        ("labels.csv", b"file,class\ng9.edges,0\ng10.edges,1\n"),
        ("README.md", b"1 2\n"),
    ]);
    let d = read(place.path(), false).unwrap();
    let ids: Vec<_> = (0..d.len()).map(|i| d.id(i).unwrap()).collect();
    assert_eq!(ids, ["g9", "g10"]);
    assert_eq!((d.graph(0).nodes(), d.graph(1).nodes()), (3, 2));
    // Files of two formats are two datasets.
    let place = folder(&[("a.edges", b"a b\n"), ("b.g6", b"A_\n")]);
    assert!(read(place.path(), false).unwrap_err().is_call());
    // What differs between the files is named.
    let place = folder(&[("a.edges", b"a b {'w': 1.5}\n"), ("b.edges", b"a b {'v': 1}\n")]);
    let error = read(place.path(), false).unwrap_err().to_string();
    let said = "b.edges: graph 1: edges: the attribute `v`, which the graphs before do not have";
    assert!(error.ends_with(said), "{error}");
}

#[test]
fn a_table_of_labels_is_never_a_graph() {
    for text in ["id,class\n1,0\n2,1\n", "graph;y\n0;0.5\n", "name,class\nann,yes\n", "k,a,b,c\nx,1,2,3\n"] {
        let place = folder(&[("labels.csv", text.as_bytes())]);
        let error = read(&place.path().join("labels.csv"), false).unwrap_err();
        assert!(error.to_string().contains("looks like a table with one row per graph"), "{text:?}: {error}");
        assert_eq!(error.remedy(), Some(Remedy::NameLabels));
    }
    for text in ["source,target\n1,2\n", "u,v,w\n1,2,3\n", "1,2\n3,4\n", "ann,bob\nbob,carl\n", "a,b\n0,1\n"]
    {
        let place = folder(&[("edges.csv", text.as_bytes())]);
        read(&place.path().join("edges.csv"), false).unwrap_or_else(|e| panic!("{text:?}: {e}"));
    }
}

#[test]
fn attributes_of_edges_as_a_dictionary() {
    let one = |text: &str| defects(Format::Edges, "x.edges", text.as_bytes());
    assert_eq!(one("0 1 {'w': 1}\n1 2\n"), ["x.edges:2: no attributes, but the edges before have some"]);
    assert_eq!(one("0 1\n1 2 {'w': 1}\n"), ["x.edges:2: attributes, but the edges before have none"]);
    assert_eq!(
        one("0 1 {'w': 1}\n1 2 {'w': 'x'}\n"),
        ["x.edges:2: the attribute `w` is a string, but a number in those before"]
    );
    assert_eq!(
        one("0 1 {'w': None}\n"),
        ["x.edges:1: the value of `w` is neither a number nor a string: `{\\'w\\': None}`"]
    );
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let graphml = |body: &str| {
        let text =
            format!("<graphml>\n<key id='d' for='node' attr.name='c' attr.type='int'/>\n{body}</graphml>\n");
        defects(Format::GraphMl, "x.graphml", text.as_bytes())
    };
    let graph = |inside: &str| graphml(&format!("<graph edgedefault='undirected'>\n{inside}\n</graph>\n"));
    assert_eq!(graphml(""), ["x.graphml: no graph in it"]);
    assert_eq!(graph("<node id='a'/><node id='a'/>"), ["x.graphml:4: two nodes are called `a`"]);
    assert_eq!(
        graph("<node id='a'/><edge source='a' target='b'/>"),
        ["x.graphml:4: an edge with the node `b`, which is not listed"]
    );
    assert_eq!(
        graph("<node id='a'><data key='d'>1.5</data></node>"),
        ["x.graphml:4: the attribute `c` is `1.5`, which is not an integer"]
    );
    assert_eq!(
        graph("<node id='a'><data key='d'>1</data></node><node id='b'/>"),
        ["x.graphml:4: node `b`: no attribute `c`, which those before have"]
    );
    assert_eq!(
        defects(Format::GraphMl, "x.graphml", b"\n<a/>"),
        ["x.graphml:2: not GraphML: its first element must be <graphml>"]
    );
    let gml = |text: &str| defects(Format::Gml, "x.gml", text.as_bytes());
    assert_eq!(gml("graph [\nnode [ id 0 ]\nedge [ source 0 ]\n]"), ["x.gml:3: an edge without a target"]);
    assert_eq!(gml("graph [\nnode [ id 0\n"), ["x.gml:3: the file ends before a closing bracket"]);
    assert_eq!(gml("Creator \"me\"\n"), ["x.gml: no graph in it"]);
    assert_eq!(gml("graph [ node [ id \"0 ] ]"), ["x.gml:1: a string without its closing quote"]);
    let json = |text: &str| defects(Format::NodeLink, "x.json", text.as_bytes());
    assert_eq!(
        json("{\"nodes\":[{\"id\":1}],\"links\":[{\"source\":1,\"target\":2}]}"),
        ["x.json: an edge with the node `2`, which is not listed"]
    );
    assert_eq!(
        json("{\"nodes\":[{\"id\":1,\"c\":[]}],\"edges\":[]}"),
        ["x.json: node `1`: the attribute `c` is a list, neither a number nor a string"]
    );
    assert_eq!(
        json("{\"nodes\":[]}"),
        [
            "x.json:1: not node-link JSON, an object with `nodes` and `edges` (or `links`): missing field `edges`"
        ]
    );
}

#[test]
fn the_limit_on_nodes_is_obeyed() {
    for (name, text) in [
        ("x.gml", "graph [ node [ id 0 ] node [ id 1 ] node [ id 2 ] ]"),
        ("x.json", "{\"nodes\":[{\"id\":1},{\"id\":2},{\"id\":3}],\"edges\":[]}"),
        ("x.graphml", "<graphml><graph><node id='1'/><node id='2'/><node id='3'/></graph></graphml>"),
    ] {
        let place = folder(&[(name, text.as_bytes())]);
        let limits = Limits { max_nodes: 2, ..Limits::default() };
        let error = format::read(place.path().join(name), &ReadOptions { limits, ..ReadOptions::default() });
        assert!(error.unwrap_err().to_string().contains("more than the 2 nodes"), "{name}");
        assert_eq!(read(&place.path().join(name), false).unwrap().graph(0).nodes(), 3);
    }
}
