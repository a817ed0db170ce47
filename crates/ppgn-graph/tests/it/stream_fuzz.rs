//! graph6 and JSON Lines readers on anything: no panic, no hang, no memory beyond what the bytes pay for.

use crate::graph6::file;
use crate::random_datasets::{anything, bare};
use ppgn_graph::Dataset;
use ppgn_graph::format::{Format, Limits, ReadOptions, Records, Report, WriteOptions, check, read, write};
use proptest::collection::vec;
use proptest::prelude::*;

/// Reads bytes strictly and collecting; the two must agree on whether there is a defect.
fn read_both_ways(bytes: &[u8], format: Format) -> Result<Option<Dataset>, TestCaseError> {
    let (_folder, path) = file("fuzz", bytes);
    // A zip archive is told by its first bytes and is another test's matter.
    if bytes.starts_with(b"PK") {
        return Ok(None);
    }
    let limits = Limits { max_nodes: 1 << 16, max_unpacked: 1 << 24, ..Limits::default() };
    let options = ReadOptions { format: Some(format), limits, ..ReadOptions::default() };
    let strict = read(&path, &options);
    let mut report = Report::collecting();
    check(&path, &options, &mut report).unwrap();
    prop_assert_eq!(strict.is_err(), report.count() > 0, "{:?} {:?}", strict.err(), report.defects());
    Ok(strict.ok())
}

/// What can be read can be written and read again.
fn round_trip(d: &Dataset, ending: &str) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join(format!("{}.{ending}", d.name()));
    write(Records::of(d), &out, WriteOptions::default()).unwrap();
    prop_assert_eq!(&read(&out, &ReadOptions::default()).unwrap(), d);
    Ok(())
}

/// A change to a file: at a place (as a share of the length) some bytes go, and others come.
fn changes(bytes: impl Strategy<Value = u8> + Clone) -> impl Strategy<Value = Vec<(f64, usize, Vec<u8>)>> {
    vec((0.0..1.0f64, prop_oneof![Just(0usize), Just(1), 2..40usize], vec(bytes, 0..4)), 1..4)
}

fn changed(mut bytes: Vec<u8>, changes: &[(f64, usize, Vec<u8>)]) -> Vec<u8> {
    for (place, gone, come) in changes {
        let at = (place * (bytes.len() + 1) as f64) as usize;
        let end = (at + gone).min(bytes.len());
        bytes.splice(at.min(end)..end, come.iter().copied());
    }
    bytes
}

fn written(d: &Dataset, name: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join(name);
    write(Records::of(d), &out, WriteOptions::default()).unwrap();
    std::fs::read(out).unwrap()
}

/// Characters of graph6 files, sizes and kinds of line often.
fn graph6_bytes() -> impl Strategy<Value = u8> + Clone {
    prop_oneof![
        8 => 63..=126u8,
        1 => prop::sample::select(b":;&~?\n\n\r>".to_vec()),
    ]
}

fn json_bytes() -> impl Strategy<Value = u8> + Clone {
    prop_oneof![prop::sample::select(b"[]{},:\"\\-+.eE0123456789ntfu\n ".to_vec()), any::<u8>()]
}

/// Pieces of lines, in any order.
fn json_pieces() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        "\"n\":",
        "0",
        "1",
        "2",
        "-1",
        "1e9",
        "1.5",
        "4294967296",
        "99999999999999999999",
        "null",
        "true",
        "\"edges\":",
        "[[0,1]]",
        "\"node_labels\":",
        "[1,2]",
        "[[1],[2]]",
        "[[]]",
        "\"label\":",
        "\"targets\":",
        "\"positions\":",
        "[[0,0,0]]",
        "\"edge_attributes\":",
        "{\"ppgn\":1}",
        "\n",
        "\n{\"n\":2",
        "{\"ppgn\":1,\"graphs\":2,\"schema\":{\"directed\":false,\"node_labels\":[{\"name\":\"\",\"values\":[1]}]}}\n",
    ];
    vec(prop::sample::select(pieces.to_vec()), 0..20).prop_map(|p| p.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn graph6_on_any_bytes(bytes in vec(any::<u8>(), 0..200)) {
        read_both_ways(&bytes, Format::Graph6)?;
    }

    #[test]
    fn graph6_on_its_characters(bytes in vec(graph6_bytes(), 0..60)) {
        if let Some(d) = read_both_ways(&bytes, Format::Graph6)? {
            round_trip(&d, "g6")?;
        }
    }

    #[test]
    fn graph6_on_damaged_files(d in bare(), changes in changes(graph6_bytes())) {
        read_both_ways(&changed(written(&d, "x.g6"), &changes), Format::Graph6)?;
    }

    #[test]
    fn json_lines_on_any_bytes(bytes in vec(any::<u8>(), 0..200), header in any::<bool>()) {
        let start: &[u8] = if header { b"{\"ppgn\":1}\n" } else { b"" };
        read_both_ways(&[start, &bytes].concat(), Format::Jsonl)?;
    }

    #[test]
    fn json_lines_on_its_pieces(bytes in json_pieces(), header in any::<bool>()) {
        let start: &[u8] = if header { b"{\"ppgn\":1}\n{\"n\":" } else { b"" };
        if let Some(d) = read_both_ways(&[start, &bytes].concat(), Format::Jsonl)? {
            round_trip(&d, "jsonl")?;
        }
    }

    #[test]
    fn json_lines_on_damaged_files(d in anything(), changes in changes(json_bytes())) {
        read_both_ways(&changed(written(&d, "x.jsonl"), &changes), Format::Jsonl)?;
    }
}
