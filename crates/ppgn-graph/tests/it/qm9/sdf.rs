//! SDF files: variants, files beside them, and what is wrong with bad ones.

use super::*;

/// Two records and their targets, the way QM9 has them.
fn two() -> (String, String) {
    let small = small();
    let mut csv = String::from("mol_id,A,B,C,mu,alpha,homo,lumo,gap,r2,zpve,u0,u298,h298,g298,cv,u0_atom\n");
    for i in 0..2 {
        let values: Vec<String> = (0..12).map(|t| format!("{}", i * 100 + t)).collect();
        csv += &format!("gdb_{},9,9,9,{},7\n", i + 1, values.join(","));
    }
    (small[0].sdf("gdb_1") + &small[1].sdf("gdb_2"), csv)
}

fn defects_of(text: &[u8]) -> Vec<Defect> {
    defects(folder(&[("gdb9.sdf", text)]).path())
}

/// The only defect of two records after a change of the text: its line, graph and message.
fn defect_after(from: &str, to: &str) -> (Option<u64>, Option<usize>, String) {
    let (text, _) = two();
    assert!(text.contains(from), "{from:?}");
    let found = defects_of(text.replacen(from, to, 1).as_bytes());
    assert_eq!(found.len(), 1, "{found:?}");
    (found[0].line, found[0].graph, found[0].message.clone())
}

#[test]
fn targets_come_by_title_or_by_order() {
    let (sdf, csv) = two();
    let targets = |sdf: &str, csv: &str| {
        let folder = folder(&[("gdb9.sdf", sdf.as_bytes()), ("gdb9.sdf.csv", csv.as_bytes())]);
        let d = load(folder.path().join("gdb9.sdf"));
        assert_eq!(d.header().targets.len(), 12);
        (d.targets(0)[0], d.targets(1)[0], d.targets(1)[11])
    };
    assert_eq!(targets(&sdf, &csv), (0., 100., 111.));
    let lines: Vec<&str> = csv.lines().collect();
    let swapped = [lines[0], lines[2], lines[1]].join("\r\n");
    assert_eq!(targets(&sdf, &swapped), (0., 100., 111.));
    assert_eq!(targets(&sdf.replace("gdb_", ""), &swapped), (100., 0., 11.));
    let short = csv.replace("u298,h298,g298", "U,H,G").replace("mol_id", "\u{feff}\"mol_id\"");
    assert_eq!(targets(&sdf, &short), (0., 100., 111.));
    let none = folder(&[("gdb9.sdf", sdf.as_bytes())]);
    assert_eq!(load(none.path()).task(), Task::None);
}

#[test]
fn targets_that_do_not_fit() {
    let (sdf, csv) = two();
    let found = |sdf: &str, csv: &str| {
        let folder = folder(&[("gdb9.sdf", sdf.as_bytes()), ("gdb9.sdf.csv", csv.as_bytes())]);
        let found: Vec<String> = defects(folder.path()).into_iter().map(|d| d.message).collect();
        assert!(read(folder.path(), &ReadOptions::default()).is_err());
        found
    };
    let one_row = csv.lines().take(2).collect::<Vec<_>>().join("\n");
    let messages = found(&sdf, &one_row);
    assert!(messages[0].contains("has the mol_id `gdb_2`"), "{messages:?}");
    assert_eq!(messages[1], "1 rows of targets, but the SDF has 2 molecules");
    let more = format!("{csv}gdb_9,9,9,9,1,2,3,4,5,6,7,8,9,10,11,12,0\n");
    assert_eq!(found(&sdf, &more), ["3 rows of targets, but the SDF has 2 molecules"]);
    assert_eq!(found(&sdf, &csv.replace("gap", "gab")), ["no column for the target `gap` in the first line"]);
    assert_eq!(found(&sdf, &csv.replace(",103,", ",nan,")), ["`nan` is not a finite number"]);
    assert_eq!(found(&sdf, &csv.replace(",103,", ",")), ["16 cells, but the first line names 17 columns"]);
    assert_eq!(found(&sdf, ""), ["an empty file; a table has a line of column names"]);
    let messages = found(&sdf, &csv.replace("gdb_2", "gdb_1"));
    assert_eq!(messages[0], "the mol_id of an earlier row");
    let messages = found(&sdf.replace("gdb_2", "gdb_1"), &csv);
    assert_eq!(messages, ["a second molecule of the title `gdb_1`"]);
}

#[test]
fn a_title_that_contradicts_the_order() {
    let (sdf, csv) = two();
    let lines: Vec<&str> = csv.lines().collect();
    let swapped = [lines[0], lines[2], lines[1]].join("\n");
    // The first title is unknown, so rows go by order; the second belongs to another row.
    let folder = folder(&[
        ("gdb9.sdf", sdf.replacen("gdb_1", "x", 1).as_bytes()),
        ("gdb9.sdf.csv", swapped.as_bytes()),
    ]);
    let found = defects(folder.path());
    assert!(found[0].message.contains("not in the order of the molecules"), "{found:?}");
    assert_eq!(found[0].graph, Some(1));
}

#[test]
fn uncharacterised_molecules_are_left_out() {
    let (sdf, csv) = two();
    let list = "Molecules that failed\n=====\n\n   Index  SMILES\n      1  C\n    777  X\n\n3054 compounds\n";
    let files = [
        ("gdb9.sdf", sdf.as_bytes()),
        ("gdb9.sdf.csv", csv.as_bytes()),
        ("uncharacterized.txt", list.as_bytes()),
    ];
    let folder = folder(&files);
    let d = load(folder.path());
    assert_eq!((d.len(), d.targets(0)[0]), (1, 100.0));
    assert_eq!(d.graph(0).node_labels(0), [8]);
    assert_eq!(d.header().provenance.notes, ["1 molecules of uncharacterized.txt left out"]);
    // Without a number in the title, the place in the file counts.
    std::fs::write(folder.path().join("gdb9.sdf"), sdf.replace("gdb_", "m")).unwrap();
    std::fs::remove_file(folder.path().join("gdb9.sdf.csv")).unwrap();
    assert_eq!(load(folder.path()).graph(0).node_labels(0), [8]);
    // A number that words follow is not a molecule's.
    std::fs::write(folder.path().join("gdb9.sdf"), sdf.replace("gdb_2", "gdb_3054")).unwrap();
    assert_eq!(load(folder.path()).len(), 1);
}

#[test]
fn variants_that_real_files_have() {
    let (text, _) = two();
    let plain = load(folder(&[("gdb9.sdf", text.as_bytes())]).path());
    let same = |text: String| {
        let d = load(folder(&[("gdb9.sdf", text.as_bytes())]).path());
        assert_eq!(d.graphs(), plain.graphs());
    };
    same(text.replace('\n', "\r\n"));
    same(text.replace('\n', "   \n"));
    same(text.replace("M  END\n", "M  RAD  1   1   2\nM  END\n> <a>\n1\n\n>  25 <b>\nM  CHG\nM  END\n\n"));
    same(text.replace("M  END\n", ""));
    same(text.clone() + "\n\n\n");
    same(text.strip_suffix("$$$$\n").unwrap().to_string());
    same(text.replace(" H  ", " D  ").replace("\n  test\n", "\n\n"));
    same(text.replace(" V2000", ""));
    let other = load(folder(&[("gdb9.sdf", text.replace(" O  ", " Cl ").as_bytes())]).path());
    assert_eq!(other.schema().node_labels[0].values(), [1, 6, 17]);
    assert_eq!(other.graph(1).node_attributes(0)[..6], [0., 0., 0., 0., 0., 17.]);
}

#[test]
fn numbers_that_touch() {
    let chain = Sample { atoms: vec![6; 120], bonds: (1..120).map(|i| (i - 1, i, 1)).collect() };
    let text = chain.sdf("x").replace("    0.0000    0.5000   -1.2500", "-1000.0000-2000.0000-3000.0000");
    assert!(text.contains("120119  0") && text.contains("119120  1"));
    let d = load(folder(&[("gdb9.sdf", text.as_bytes())]).path());
    assert_eq!((d.graph(0).nodes(), d.graph(0).edges()), (120, 119));
    assert_eq!(d.graph(0).positions().unwrap()[0], [-1000., -2000., -3000.]);
}

#[test]
fn charges() {
    // Ammonium: the implied charge, the old column, and the property line, which overrides the column.
    let ammonium = Sample { atoms: vec![7, 1, 1, 1, 1], bonds: (1..5).map(|i| (0, i, 1)).collect() };
    let donor = |text: String| {
        let d = load(folder(&[("gdb9.sdf", text.as_bytes())]).path());
        d.graph(0).node_attributes(0)[7]
    };
    let plain = ammonium.sdf("x");
    let column = |code: &str| plain.replacen(" N   0  0", &format!(" N   0  {code}"), 1);
    let line = |text: String, line: &str| text.replace("M  END", &format!("{line}\nM  END"));
    assert_eq!(donor(plain.clone()), 1.0);
    assert_eq!(donor(column("3")), 1.0);
    assert_eq!(donor(column("5")), 0.0);
    assert_eq!(donor(line(column("5"), "M  CHG  1   1   1")), 1.0);
    assert_eq!(donor(line(plain.clone(), "M  CHG  2   1   2   2  -1")), 0.0);
    for bad in ["M  CHG  2   1   1", "M  CHG", "M  CHG  1   9   1", "M  CHG  1   1  99", "M  CHG  1   x   1"]
    {
        assert_eq!(defects_of(line(plain.clone(), bad).as_bytes()).len(), 1, "{bad}");
    }
    assert_eq!(defects_of(column("8").as_bytes()).len(), 1);
}

#[test]
fn what_is_wrong_is_told_with_line_and_molecule() {
    let (line, graph, message) = defect_after("    0.0000", "       nan");
    assert_eq!((line, graph), (Some(5), Some(0)));
    assert_eq!(message, "a coordinate, columns 1 to 10: `nan` is not a finite number");
    assert_eq!(defect_after(" O  ", " Q  "), (Some(20), Some(1), "`Q` is not an element".into()));
    let (line, _, message) = defect_after("  1  2  1", "  1  9  1");
    assert_eq!(message, "atom 9 is out of range, the molecule has 5 atoms (numbered from 1)");
    assert_eq!(line, Some(10));
    assert_eq!(defect_after("  1  2  1", "  0  2  1").2.split(',').next(), Some("atom 0 is out of range"));
    assert_eq!(defect_after("  1  2  1", "  1  1  1").2, "a bond from atom 1 to itself");
    assert_eq!(
        defect_after("  1  2  1", "  1  2  0").2,
        "type 0, but a bond is of type 1, 2, 3, 4 (aromatic) or 9 (dative)"
    );
    assert_eq!(defect_after("  1  3  1", "  2  1  1").2, "1 bonds between atoms that are bonded already");
    assert_eq!(defect_after("  5  4  0", " -5  4  0").2, "the number of atoms: -5 is negative");
    assert_eq!(defect_after("  5  4  0", "  0  0  0").2, "a molecule without atoms");
    let (_, _, message) = defect_after("  5  4  0", "  5  9  0");
    assert!(message.contains("an atom of a bond, columns 1 to 3: `M` is not an integer"), "{message}");
    let (_, _, message) = defect_after("  5  4  0", "  x  4  0");
    assert_eq!(message, "the number of atoms, columns 1 to 3: `x` is not an integer");
    assert!(defect_after("V2000", "V3000").2.contains("without atoms"));
    let (line, graph, message) = defect_after("gdb_2\n", "gdb_2\n$$$$\ngdb_2\n");
    assert_eq!(
        (line, graph, &*message),
        (Some(17), Some(1), "a record ends before the numbers of atoms and bonds")
    );
}

#[test]
fn files_that_are_cut_short() {
    let (text, _) = two();
    assert_eq!(defects_of(b"")[0].message, "no molecules in it");
    assert_eq!(defects_of(b"\n\n \n")[0].message, "no molecules in it");
    // At every line end: never silence, but where the second record has not begun or is complete.
    let ends: Vec<usize> = text.match_indices('\n').map(|(i, _)| i + 1).collect();
    let complete = |cut: &str| {
        let last = cut.rsplit("$$$$\n").next().unwrap();
        last.trim().is_empty() || last.contains("M  END")
    };
    for &end in &ends {
        let cut = &text[..end];
        assert_eq!(defects_of(cut.as_bytes()).is_empty(), complete(cut), "{cut}");
    }
    let found = defects_of(b"\xff\xfe\n\xff\n\xff\n\xff\xff\xff\xff\xff\n");
    assert!(found[0].message.contains(r"`\xff\xff\xff` is not an integer"), "{found:?}");
}

#[test]
fn the_next_record_is_read_after_a_defect() {
    let (text, _) = two();
    let broken = text.replacen(" C  ", " ?  ", 1).replacen(" O  ", " ?? ", 1);
    let graphs: Vec<_> = defects_of(broken.as_bytes()).iter().map(|d| d.graph).collect();
    assert_eq!(graphs, [Some(0), Some(1)]);
    // A record that lacks its last atoms must not swallow the next one.
    let short = text.replacen("  5  4  0", "  9  4  0", 1);
    assert_eq!(defects_of(short.as_bytes()).len(), 1);
}

#[test]
fn marked_aromatic_bonds_are_kept() {
    let golden = golden();
    let benzene = golden.iter().find(|g| g.0 == 214).unwrap();
    let d = load(folder(&[("gdb9.sdf", (benzene.1.sdf("a") + &benzene.2.sdf("b")).as_bytes())]).path());
    assert_eq!(d.graph(0), d.graph(1));
    assert_eq!(d.graph(0).node_attributes(0)[8], 1.0);
}
