//! Files made to break the readers of molecules: any bytes, words of the notations, and damaged files. They may refuse, but
//! never panic, hang or grow, and reading and checking agree.

use super::*;
use ppgn_graph::Error;
use ppgn_graph::format::{Limits, Report, check};
use proptest::prelude::*;

/// Reads a file that may be anything: what strict reading refuses, checking finds.
fn survives(name: &str, bytes: &[u8], format: Format, class: Option<&str>) -> Result<(), TestCaseError> {
    let folder = folder(&[(name, bytes)]);
    let path = folder.path().join(name);
    let limits = Limits { max_nodes: 1 << 12, max_claimed: 1 << 12, ..Limits::default() };
    let class = class.map(String::from);
    let options = ReadOptions { format: Some(format), limits, class, ..ReadOptions::default() };
    let mut report = Report::collecting();
    let checked = check(&path, &options, &mut report);
    match read(&path, &options) {
        Ok(dataset) => {
            prop_assert!(checked.is_ok() && report.count() == 0, "{:?}", report.defects());
            prop_assert!(!dataset.is_empty());
            for graph in dataset.graphs() {
                prop_assert!(dataset.schema().check(graph).is_ok());
            }
        }
        Err(Error::Defect(defect)) => {
            prop_assert!(checked.is_ok() && report.count() > 0);
            prop_assert!(report.defects().contains(&defect), "{defect}");
        }
        Err(other) => return Err(TestCaseError::fail(other.to_string())),
    }
    Ok(())
}

/// Pieces that SMILES are made of, some of them wrong.
const PIECES: [&str; 48] = [
    "C",
    "c",
    "N",
    "n",
    "O",
    "o",
    "S",
    "s",
    "P",
    "B",
    "b",
    "Cl",
    "Br",
    "F",
    "*",
    "[nH]",
    "[NH4+]",
    "[O-]",
    "[13C@@H]",
    "[Fe+2]",
    "[H]",
    "[se]",
    "[C@OH26]",
    "[CH2:3]",
    "(",
    ")",
    "1",
    "2",
    "%10",
    "%1",
    "=",
    "#",
    "$",
    ":",
    "/",
    "\\",
    "-",
    "->",
    "<-",
    ".",
    "[",
    "]",
    "@",
    "+",
    " ",
    "c1ccccc1",
    "C1=CC=CC=C1",
    "c1ccc2[nH]ccc2c1",
];

fn notation() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), 1..40).prop_map(|pieces| pieces.concat())
}

/// A change of some bytes: (place, kind, value).
type Change = (prop::sample::Index, u8, u8);

fn damaged(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for (place, kind, value) in changes {
        if bytes.is_empty() {
            break;
        }
        let i = place.index(bytes.len());
        match kind % 6 {
            0 => bytes[i] = *value,
            1 => bytes[i] ^= 1 << (value % 8),
            2 => drop(bytes.remove(i)),
            3 => bytes.insert(i, *value),
            4 => bytes.truncate(i),
            _ => bytes[i] = b"0123456789 -.,\"\n$MVCc[](>"[usize::from(*value) % 25],
        }
    }
    bytes
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec(any::<Change>(), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), as_sdf: bool) {
        let format = if as_sdf { Format::Sdf } else { Format::Smiles };
        survives("m.x", &bytes, format, None)?;
        survives("m.x", &[b"smiles,y\n", &bytes[..]].concat(), Format::Smiles, Some("y"))?;
    }

    #[test]
    fn any_notation(lines in prop::collection::vec(notation(), 1..6)) {
        survives("m.smi", lines.join("\n").as_bytes(), Format::Smiles, None)?;
    }

    #[test]
    fn damaged_tables(changes in changes(), class: bool) {
        survives("m.csv", &damaged(TABLE.as_bytes().to_vec(), &changes), Format::Smiles, class.then_some("kind"))?;
    }

    #[test]
    fn damaged_records(changes in changes(), from in 0usize..150, class: bool) {
        let text = include_str!("../goldens/molecules.sdf");
        let records: Vec<&str> = text.split_inclusive("$$$$\n").skip(from).take(4).collect();
        let bytes = damaged(records.concat().into_bytes(), &changes);
        survives("m.sdf", &bytes, Format::Sdf, class.then_some("SMILES"))?;
    }
}

/// What costs much time or memory in few bytes is refused, or takes no longer than its bytes pay for.
#[test]
fn claims_cost_nothing() {
    let start = std::time::Instant::now();
    // Complete graphs and lattices by ring closures, long aromatic chains and rings, deep branches, huge numbers.
    let mut complete = String::new();
    for a in 0..12 {
        complete += "C";
        for b in 0..12 {
            if a != b {
                complete += &format!("%{:02}", 10 + 12 * a.min(b) % 90 + a.max(b) % 7);
            }
        }
    }
    let ring = format!("c1{}1", "c".repeat(4000));
    let long = format!("c1{}1", "c".repeat(6000));
    let ladder: String =
        (0..400).map(|i| format!("C%{:02}=C%{:02}", 10 + i % 80, 10 + (i + 1) % 80)).collect();
    let deep = format!("C{}", "(C".repeat(20_000));
    let charge = "[C+99999999999999999999]".to_string();
    for text in [complete, ring, long, ladder, deep, charge] {
        survives("m.smi", text.as_bytes(), Format::Smiles, None).unwrap();
    }
    let v3000 = "x\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 COUNTS 999999999 999999999 0 0 0\nM  END\n$$$$\n";
    for text in [v3000.to_string(), "x\n\n\n999999  0 V2000\nM  END\n$$$$\n".into()] {
        survives("m.sdf", text.as_bytes(), Format::Sdf, None).unwrap();
    }
    // A tag of its own for every record: the table would have a million cells.
    let record = |i: usize| {
        format!("x\n\n\n  1  0  0 V2000\n    0.0000    0.0000    0.0000 C\nM  END\n> <t{i}>\n1\n\n$$$$\n")
    };
    let tags: String = (0..1000).map(record).collect();
    survives("m.sdf", tags.as_bytes(), Format::Sdf, None).unwrap();
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
