//! Readers on bytes that nobody meant to be read: they may refuse, but never panic, hang or grow.
//!
//! Two kinds of input: arbitrary bytes (and arbitrary text of the few characters that the formats are made of), and
//! sound files with a few bytes or lines damaged, which get further.

use crate::support::{folder, shared};
use ppgn_graph::format::{self, Format, ReadOptions, Report, Source};
use proptest::collection::vec;
use proptest::prelude::*;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

/// Reads and checks; the two must agree on whether the file is sound.
fn read_and_check(path: &Path, format: Option<Format>, directed: bool) {
    let options = ReadOptions { format, directed, ..ReadOptions::default() };
    let read = format::read(path, &options);
    let mut report = Report::collecting();
    let checked = format::check(path, &options, &mut report);
    let sound = checked.is_ok() && report.count() == 0;
    assert_eq!(read.is_ok(), sound, "{:?}\n{checked:?}\n{:?}", read.map(|d| d.len()), report.defects());
    // All tests of this binary together stay far below this, unless a reader believes a number that it should not.
    assert!(peak_resident().is_none_or(|bytes| bytes < 1 << 30), "more than 1 GiB resident");
}

/// The most memory that this process ever held, where the system tells.
fn peak_resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// Bytes of any kind, or of the kind that these formats are made of.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let likely = prop::sample::select(b"0123456789 ,;\t\r\n-+.eE#%\"AN".to_vec());
    prop_oneof![vec(any::<u8>(), 0..400), vec(likely, 0..400)]
}

/// One piece of damage, at a place given as a share of the file.
#[derive(Debug, Clone)]
enum Damage {
    Flip(f64, u8),
    Insert(f64, Vec<u8>),
    Truncate(f64),
    DeleteLine(f64),
    RepeatLine(f64),
    SwapLines(f64, f64),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = || 0.0..1.0f64;
    let odd = prop::sample::select(vec![
        "99999999999999999999",
        "4294967296",
        "4294967295",
        "2147483648",
        "134217728",
        "-1",
        "-9223372036854775808",
        "1e999",
        "nan",
        "0.5",
        " ",
        "\n",
        ",",
        "\u{0}",
        "\u{feff}",
        "#",
        "\"",
    ]);
    prop_oneof![
        (place(), any::<u8>()).prop_map(|(p, b)| Damage::Flip(p, b)),
        (place(), odd).prop_map(|(p, s)| Damage::Insert(p, s.as_bytes().to_vec())),
        place().prop_map(Damage::Truncate),
        place().prop_map(Damage::DeleteLine),
        place().prop_map(Damage::RepeatLine),
        (place(), place()).prop_map(|(p, q)| Damage::SwapLines(p, q)),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    let at = |share: f64, length: usize| ((share * length as f64) as usize).min(length.saturating_sub(1));
    if bytes.is_empty() {
        return;
    }
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    match damage {
        Damage::Flip(p, b) => {
            let i = at(*p, bytes.len());
            bytes[i] ^= b;
        }
        Damage::Insert(p, extra) => {
            let i = at(*p, bytes.len());
            bytes.splice(i..i, extra.iter().copied());
        }
        Damage::Truncate(p) => bytes.truncate(at(*p, bytes.len())),
        Damage::DeleteLine(p) => {
            lines.remove(at(*p, lines.len()));
            *bytes = lines.concat();
        }
        Damage::RepeatLine(p) => {
            let i = at(*p, lines.len());
            lines.insert(i, lines[i].clone());
            *bytes = lines.concat();
        }
        Damage::SwapLines(p, q) => {
            let (i, j) = (at(*p, lines.len()), at(*q, lines.len()));
            lines.swap(i, j);
            *bytes = lines.concat();
        }
    }
}

/// The first graphs of MUTAG, or a file of our own where there is none.
static TEXT_SAMPLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let own = b"3\n3 -1\n0 2 1 2 0.5\n4 1 0 1.5\n4 1 0 2.5\n1 1\n0 0 1\n0 1\n".to_vec();
    let Some(path) = shared("tu/MUTAG.zip") else { return own };
    let source = Source::open(path, Default::default()).unwrap();
    let mut text = String::new();
    source.reader(source.entry("MUTAG/MUTAG.txt").unwrap()).unwrap().read_to_string(&mut text).unwrap();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    let mut kept = vec!["3".to_string()];
    let mut i = 0;
    for _ in 0..3 {
        let nodes: usize = lines[i].split(' ').next().unwrap().parse().unwrap();
        kept.extend(lines[i..=i + nodes].iter().map(|l| l.to_string()));
        i += nodes + 1;
    }
    kept.join("\n").into_bytes()
});

const FOLD: &[u8] = b"0\n2\n";

/// The first two graphs of ENZYMES, or a dataset of our own; the files by their suffix.
static TU_SAMPLE: LazyLock<Vec<(&'static str, Vec<u8>)>> = LazyLock::new(|| {
    const NAMES: [&str; 5] = ["A", "graph_indicator", "graph_labels", "node_labels", "node_attributes"];
    let extra: [(&str, &[u8]); 2] = [("edge_labels", b""), ("graph_attributes", b"0.5\n1.5\n")];
    let files = match shared("tu/ENZYMES") {
        Some(folder) => {
            let text = |name| std::fs::read_to_string(folder.join(format!("ENZYMES_{name}.txt"))).unwrap();
            let nodes = text("graph_indicator").lines().take_while(|l| matches!(*l, "1" | "2")).count();
            let arcs = text("A")
                .lines()
                .take_while(|l| l.split(", ").all(|u| u.parse::<usize>().unwrap() <= nodes))
                .count();
            let lengths = [arcs, nodes, 2, nodes, nodes];
            let head =
                |(name, length)| (name, text(name).split_inclusive('\n').take(length).collect::<String>());
            NAMES.into_iter().zip(lengths).map(head).collect()
        }
        None => vec![
            ("A", "1, 2\n2, 1\n3, 3\n".to_string()),
            ("graph_indicator", "1\n1\n2\n".into()),
            ("graph_labels", "-1\n7\n".into()),
            ("node_labels", "5\n-3\n5\n".into()),
            ("node_attributes", "0.5, 1\n1, 2\n2, 3\n".into()),
        ],
    };
    let mut files: Vec<(&str, Vec<u8>)> =
        files.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
    for (name, bytes) in extra {
        files.push((name, bytes.to_vec()));
    }
    let arcs = files[0].1.iter().filter(|&&b| b == b'\n').count();
    files[5].1 = "3\n".repeat(arcs).into_bytes();
    files
});

const EDGE_SAMPLE: &[u8] = b"# friends\nsource,target,weight\nann,bob,1\nbob,\"cy d\",2.5\n7;8;-3\n9 10 4\n";

fn tu_folder(files: &[(&'static str, Vec<u8>)]) -> tempfile::TempDir {
    let named: Vec<(String, &Vec<u8>)> = files.iter().map(|(s, b)| (format!("F_{s}.txt"), b)).collect();
    folder(&named.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect::<Vec<_>>())
}

#[test]
fn the_samples_are_sound() {
    let samples = folder(&[("t.txt", &TEXT_SAMPLE), ("e.csv", EDGE_SAMPLE)]);
    assert_eq!(format::read(samples.path().join("t.txt"), &ReadOptions::default()).unwrap().len(), 3);
    let edges = format::read(samples.path().join("e.csv"), &ReadOptions::default()).unwrap();
    assert_eq!((edges.graph(0).nodes(), edges.graph(0).edges()), (7, 4));
    let tu = tu_folder(&TU_SAMPLE);
    assert_eq!(format::read(tu.path(), &ReadOptions::default()).unwrap().len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn arbitrary_bytes(bytes in bytes(), which in 0..3usize, directed: bool) {
        let format = [Format::Text, Format::Edges, Format::Tu][which];
        let folder = folder(&[("F_A.txt", &bytes), ("x", &bytes), ("F_graph_indicator.txt", b"1\n1\n2\n3\n3")]);
        let file = if format == Format::Tu { "F_A.txt" } else { "x" };
        read_and_check(&folder.path().join(file), Some(format), directed);
    }

    #[test]
    fn damaged_text(damages in vec(damage(), 1..4), in_fold: bool) {
        let (mut text, mut fold) = (TEXT_SAMPLE.clone(), FOLD.to_vec());
        let target = if in_fold { &mut fold } else { &mut text };
        damages.iter().for_each(|d| apply(target, d));
        let folder = folder(&[
            ("t.txt", &text),
            ("10fold_idx/train_idx-1.txt", &fold),
            ("10fold_idx/test_idx-1.txt", b"1"),
        ]);
        read_and_check(&folder.path().join("t.txt"), Some(Format::Text), false);
    }

    #[test]
    fn damaged_tu(damages in vec((0..7usize, damage()), 1..4), missing in prop::option::weighted(0.1, 0..7usize)) {
        let mut files = TU_SAMPLE.clone();
        for (file, damage) in &damages {
            apply(&mut files[*file].1, damage);
        }
        if let Some(missing) = missing {
            files.remove(missing);
        }
        read_and_check(tu_folder(&files).path(), Some(Format::Tu), false);
    }

    #[test]
    fn damaged_edges(damages in vec(damage(), 1..5), directed: bool) {
        let mut bytes = EDGE_SAMPLE.to_vec();
        damages.iter().for_each(|d| apply(&mut bytes, d));
        let folder = folder(&[("e.csv", &bytes)]);
        read_and_check(&folder.path().join("e.csv"), Some(Format::Edges), directed);
    }

    #[test]
    fn damaged_files_of_other_programs(which in 0..4usize, damages in vec(damage(), 1..5), directed: bool) {
        let (name, format, sample) = OTHERS[which];
        let mut bytes = sample.as_bytes().to_vec();
        damages.iter().for_each(|d| apply(&mut bytes, d));
        let folder = folder(&[(name, &bytes)]);
        read_and_check(&folder.path().join(name), Some(format), directed);
    }

    #[test]
    fn arbitrary_files_of_other_programs(which in 0..4usize, bytes in markup()) {
        let (name, format, _) = OTHERS[which];
        let folder = folder(&[(name, &bytes), ("2.edges", b"1 2 {'w': 1}\n")]);
        read_and_check(&folder.path().join(name), Some(format), false);
        read_and_check(folder.path(), None, false);
    }
}

/// A sound file of every format that other programs write.
const OTHERS: [(&str, Format, &str); 4] = [
    (
        "x.graphml",
        Format::GraphMl,
        "<?xml version='1.0'?>\n<graphml>\n<key id='d0' for='node' attr.name='c' attr.type='string'/>\n<key id='d1' \
         for='edge' attr.name='w' attr.type='double'><default>1</default></key>\n<graph edgedefault='directed'>\n<node \
         id='a'><data key='d0'>x &lt; &#233;</data></node>\n<node id='b'><data key='d0'/></node>\n<edge source='a' \
         target='b'><data key='d1'>0.5</data></edge>\n<edge source='b' target='a'/>\n</graph>\n</graphml>\n",
    ),
    (
        "x.gml",
        Format::Gml,
        "graph [\n  directed 1\n  node [\n    id 0\n    label \"a\"\n    c \"x &lt;\"\n  ]\n  node [ id 1 c \"\" g [ x 1 \
         ] ]\n  edge [\n    source 0\n    target 1\n    w 0.5\n  ]\n  edge [ source 1 target 0 w 2 ]\n]\n",
    ),
    (
        "x.json",
        Format::NodeLink,
        "{\"directed\": true, \"multigraph\": false, \"graph\": {},\n\"nodes\": [{\"c\": \"x\", \"id\": 0}, {\"c\": \"y\", \
         \"id\": \"b\"}],\n\"edges\": [{\"w\": 1.5, \"source\": 0, \"target\": \"b\"}, {\"w\": 2, \"source\": 0, \"target\": \
         0}]}\n",
    ),
    (
        "x.edgelist",
        Format::Edges,
        "0 1 {'weight': 4, 'c': 'x\\'\\xe9'}\n1 2 {'weight': 0.5, 'c': \"it's\"}\n# c\n",
    ),
];

/// Bytes of the kind that these files are made of.
fn markup() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "<",
        ">",
        "/",
        "<graphml>",
        "<graph>",
        "<node id='",
        "'/>",
        "<edge source='a' target='a'/>",
        "</graph>",
        "&",
        ";",
        "&lt;",
        "&#",
        "<!--",
        "-->",
        "<![CDATA[",
        "graph [ ",
        "node [ id 0 ]",
        "edge [ source 0 target 0 ]",
        " ]",
        "[",
        "\"",
        "{",
        "}",
        "\"nodes\":[",
        "\"edges\":[",
        "{\"id\":1}",
        "]",
        ",",
        ":",
        "'",
        "\\",
        "\\x",
        "1",
        "0 1 {'w': ",
        "True",
        "1e999",
        "\n",
        " ",
        "a",
        "\u{e9}",
        "<!DOCTYPE",
    ]);
    prop_oneof![vec(any::<u8>(), 0..200), vec(piece, 0..60).prop_map(|pieces| pieces.concat().into_bytes())]
}

/// Small files that claim to be huge: nothing may be set aside for a claim.
#[test]
fn claims_cost_nothing() {
    let start = std::time::Instant::now();
    for text in [
        "4294967295\n",
        "4294967295\n134217728 0\n",
        "4294967295\n134217728 0\n0 4294967295 1\n",
        "1\n134217728 0\n0 134217728\n",
        "9223372036854775807\n9223372036854775807 9223372036854775807\n",
    ] {
        let folder = folder(&[
            ("t.txt", text.as_bytes()),
            ("10fold_idx/train_idx-1.txt", b"0\n4294967294\n"),
            ("10fold_idx/test_idx-1.txt", b"1\n134217727\n"),
        ]);
        read_and_check(&folder.path().join("t.txt"), Some(Format::Text), false);
    }
    for (indicator, arcs) in
        [("4294967295\n", ""), ("1\n", "4294967295, 4294967295\n"), ("9999999999\n", "1, 1")]
    {
        let folder = folder(&[("F_A.txt", arcs.as_bytes()), ("F_graph_indicator.txt", indicator.as_bytes())]);
        read_and_check(folder.path(), None, false);
    }
    let folder = folder(&[("e.csv", b"9223372036854775807,-9223372036854775808\n18446744073709551616,1\n")]);
    read_and_check(folder.path(), None, false);
    assert!(start.elapsed().as_secs() < 5);
}
