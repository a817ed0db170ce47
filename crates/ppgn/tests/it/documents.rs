//! Every command in README.md and docs/ is run as it is written, or the document says why it is not.
//!
//! A command is a line of an indented block that begins with `ppgn` (or `$ ppgn`, or another program), up to two blanks,
//! which set off a remark; or a fenced block of `sh`, which is run as a whole. Commands of a document run one after another
//! in a folder of its own, with the real data where it is there. A comment before a block says what the test does with it:
//!
//! ```text
//! <!-- not run | ppgn cv MUTAG | ten folds take 20 minutes -->          `*` is every command of the block
//! <!-- run with | ppgn train MUTAG | --epochs 2 -->                     adds these words
//! <!-- file | labels.csv -->                                            the fenced block that follows is this file
//! ```
//!
//! A comment that fits no command is an error, so that none outlives what it was for.

use crate::run::{Ran, command, data_folder};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a comment asks for.
#[derive(Debug, Clone, PartialEq)]
enum Note {
    NotRun { which: String, why: String },
    RunWith { which: String, words: String },
    File(String),
}

impl Note {
    /// The note in a comment, if it is one.
    fn parse(comment: &str) -> Option<Note> {
        let parts: Vec<&str> = comment.split('|').map(str::trim).collect();
        let text = |i: usize| parts.get(i).map(|part| part.to_string()).filter(|part| !part.is_empty());
        match *parts.first()? {
            "not run" => Some(Note::NotRun { which: text(1)?, why: text(2)? }),
            "run with" => Some(Note::RunWith { which: text(1)?, words: text(2)? }),
            "file" => Some(Note::File(text(1)?)),
            _ => None,
        }
    }

    fn fits(&self, command: &str) -> bool {
        match self {
            Note::NotRun { which, .. } | Note::RunWith { which, .. } => {
                which == "*" || command == which || command.starts_with(&format!("{which} "))
            }
            Note::File(_) => false,
        }
    }
}

#[derive(Debug, PartialEq)]
enum Item {
    /// A command of an indented block.
    Line(String),
    /// A fenced block for the shell.
    Script(String),
    /// A fenced block that is a file.
    File(String, String),
}

/// What is to be done with a document: items by their lines, each with its notes.
fn items(text: &str) -> Result<Vec<(usize, Item, Vec<Note>)>, String> {
    let mut found = Vec::new();
    let mut notes: Vec<(usize, Note)> = Vec::new();
    let mut used: Vec<usize> = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    let mut in_block = false;
    while at < lines.len() {
        let line = lines[at];
        let trimmed = line.trim_start();
        if trimmed.starts_with("<!--") {
            let start = at;
            let mut comment = String::new();
            while !lines[at].contains("-->") && at + 1 < lines.len() {
                comment += &format!("{} ", lines[at].trim());
                at += 1;
            }
            comment += lines[at].trim();
            let inside = comment.trim_start_matches("<!--").split("-->").next().unwrap_or("").trim();
            notes.extend(Note::parse(inside).map(|note| (start + 1, note)));
        } else if let Some(language) = trimmed.strip_prefix("```") {
            let (start, language) = (at, language.trim().to_string());
            let indent = line.len() - trimmed.len();
            let mut body = String::new();
            at += 1;
            while at < lines.len() && !lines[at].trim_start().starts_with("```") {
                body += lines[at].get(indent..).unwrap_or("");
                body.push('\n');
                at += 1;
            }
            let file =
                notes.iter().find_map(|(_, n)| if let Note::File(f) = n { Some(f.clone()) } else { None });
            if let Some(file) = file {
                found.push((start + 1, Item::File(file, body), Vec::new()));
                notes.clear();
            } else if matches!(language.as_str(), "sh" | "bash" | "console") {
                let all: Vec<Note> = notes.drain(..).map(|(_, note)| note).collect();
                found.push((start + 1, Item::Script(body), all));
            }
        } else if line.starts_with("    ") && (in_block || at == 0 || lines[at - 1].trim().is_empty()) {
            in_block = true;
            let mut joined = trimmed.to_string();
            while joined.ends_with('\\') && at + 1 < lines.len() {
                at += 1;
                joined = format!("{}{}", joined.trim_end_matches('\\'), lines[at].trim_start());
            }
            if let Some(command) = command_of(&joined) {
                let fitting = notes.iter().filter(|(_, note)| note.fits(&command));
                used.extend(fitting.clone().map(|(line, _)| *line));
                found.push((at + 1, Item::Line(command.clone()), fitting.map(|(_, n)| n.clone()).collect()));
            }
            // The block ends at the next line that is not indented; its notes end with it.
            let ends =
                lines[at + 1..].iter().find(|l| !l.trim().is_empty()).is_none_or(|l| !l.starts_with("    "));
            if ends {
                if let Some((line, note)) = notes.iter().find(|(line, _)| !used.contains(line)) {
                    return Err(format!("line {line}: {note:?} fits no command of its block"));
                }
                notes.clear();
            }
        } else if !trimmed.is_empty() {
            in_block = false;
            if let Some((line, note)) = notes.first() {
                return Err(format!("line {line}: {note:?} is not before a block of commands"));
            }
        }
        at += 1;
    }
    match notes.first() {
        Some((line, note)) => Err(format!("line {line}: {note:?} is not before a block of commands")),
        None => Ok(found),
    }
}

/// The command in a line of an indented block: up to a remark, which two blanks set off.
fn command_of(line: &str) -> Option<String> {
    let line = line.strip_prefix("$ ").unwrap_or(line);
    const PROGRAMS: [&str; 9] =
        ["ppgn", "cargo", "python3", "python", "pip", "cp", "mpirun", "sh", "/usr/bin/time"];
    let first = line.split(' ').next()?;
    if !PROGRAMS.contains(&first) || line == first && first != "ppgn" {
        return None;
    }
    let mut quote = None;
    let mut end = line.len();
    let bytes = line.as_bytes();
    for (i, &b) in bytes.iter().enumerate() {
        match (quote, b) {
            (None, b'"' | b'\'') => quote = Some(b),
            (Some(q), b) if b == q => quote = None,
            (None, b' ') if bytes.get(i + 1) == Some(&b' ') => {
                end = i;
                break;
            }
            _ => {}
        }
    }
    Some(line[..end].trim_end().to_string())
}

/// Datasets by name; a command that has one runs where the data is there.
const SETS: [(&str, &str); 10] = [
    ("MUTAG", "tu/MUTAG.zip"),
    ("PTC", "tu/PTC.zip"),
    ("PROTEINS", "tu/PROTEINS.zip"),
    ("NCI1", "tu/NCI1.zip"),
    ("IMDBBINARY", "tu/IMDBBINARY.zip"),
    ("COLLAB", "tu/COLLAB.zip"),
    ("ENZYMES", "tu/ENZYMES"),
    ("QM9", "qm9"),
    ("brec/", "brec"),
    ("sr16622", "sr"),
];

fn missing_data(command: &str) -> Option<&'static str> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let named =
        |name: &str| words.iter().any(|word| *word == name || name.ends_with('/') && word.starts_with(name));
    SETS.iter()
        .find(|(name, place)| named(name) && !data_folder().join(place).exists())
        .map(|(name, _)| *name)
}

/// A shell in this folder that finds ppgn, and keeps what it caches there.
fn shell(script: &str, folder: &Path) -> Ran {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_ppgn"));
    let path = std::env::join_paths(
        std::iter::once(binary.parent().unwrap().to_path_buf())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )
    .unwrap();
    let ours = command();
    let mut sh = Command::new("sh");
    sh.args(["-eu", "-c", script])
        .current_dir(folder)
        .env("PATH", path)
        .env("PPGN_CACHE", folder.join(".cache"));
    sh.envs(ours.get_envs().filter_map(|(key, value)| Some((key, value?))));
    sh.output().unwrap().into()
}

/// Runs what a document has; `path` is relative to the repository.
fn run_document(path: &str) {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let text = std::fs::read_to_string(root.join(path)).unwrap();
    let items = items(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
    let folder = tempfile::tempdir().unwrap();
    // What documents call docs/examples is in the checkout.
    #[cfg(unix)]
    std::os::unix::fs::symlink(root.canonicalize().unwrap().join("docs"), folder.path().join("docs"))
        .unwrap();
    for (line, item, notes) in items {
        let place = format!("{path}:{line}");
        let script = match item {
            Item::File(name, body) => {
                let file = folder.path().join(&name);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, body).unwrap();
                continue;
            }
            Item::Line(command) => {
                let words = notes
                    .iter()
                    .filter_map(|n| if let Note::RunWith { words, .. } = n { Some(words) } else { None });
                words.fold(command, |command, words| format!("{command} {words}"))
            }
            Item::Script(body) => body,
        };
        if notes.iter().any(|n| matches!(n, Note::NotRun { .. })) {
            continue;
        }
        if let Some(name) = missing_data(&script) {
            let _ = writeln!(std::io::stderr(), "SKIPPED: {place}: {name} is not there for `{script}`");
            continue;
        }
        let started = std::time::Instant::now();
        let ran = shell(&script, folder.path());
        assert_eq!(ran.code, Some(0), "{place}: {script}\nstdout: {}\nstderr: {}", ran.out, ran.err);
        let seconds = started.elapsed().as_secs_f64();
        if seconds > 5.0 {
            let _ = writeln!(std::io::stderr(), "{place}: {seconds:.0} s for `{script}`");
        }
    }
}

macro_rules! documents {
    ($($name:ident $path:literal)*) => {
        $(
            #[test]
            #[cfg(unix)]
            fn $name() {
                run_document($path);
            }
        )*

        const ALL: &[&str] = &[$($path),*];
    };
}

documents! {
    readme "README.md"
    index "docs/README.md"
    compile "docs/compile.md"
    data "docs/data.md"
    encodings "docs/encodings.md"
    expressiveness "docs/expressiveness.md"
    formats "docs/formats.md"
    generators "docs/generators.md"
    molecules "docs/molecules.md"
    own_data "docs/own-data.md"
    performance "docs/performance.md"
    protocol "docs/protocol.md"
    reliability "docs/reliability.md"
    runs "docs/runs.md"
    spaces "docs/spaces.md"
    theory "docs/theory.md"
    training "docs/training.md"
    wl_digest "docs/wl-digest.md"
    wl "docs/wl.md"
}

#[test]
#[cfg(unix)]
fn no_document_is_left_out() {
    let docs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"));
    for entry in std::fs::read_dir(docs).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // A document that is not in the list above yet runs here.
        if name.ends_with(".md") && !ALL.contains(&format!("docs/{name}").as_str()) {
            run_document(&format!("docs/{name}"));
        }
    }
}

#[test]
fn commands_are_found_with_their_notes() {
    let text = "\
Text, and `ppgn inline` is none.

<!-- not run | ppgn cv | long -->
<!-- run with | ppgn train X | --epochs 2 -->

    ppgn cv X          remark
    $ ppgn train X --name 'two  blanks'   remark
    output

<!-- file | a/b.csv -->
```csv
x,y
```

```sh
ppgn data list
```
";
    let found = items(text).unwrap();
    let cv = Note::NotRun { which: "ppgn cv".into(), why: "long".into() };
    let train = Note::RunWith { which: "ppgn train X".into(), words: "--epochs 2".into() };
    assert_eq!(
        found,
        [
            (6, Item::Line("ppgn cv X".into()), vec![cv]),
            (7, Item::Line("ppgn train X --name 'two  blanks'".into()), vec![train]),
            (11, Item::File("a/b.csv".into(), "x,y\n".into()), vec![]),
            (15, Item::Script("ppgn data list\n".into()), vec![]),
        ]
    );
    assert!(items("<!-- not run | ppgn x | y -->\n\n    ppgn z\n").unwrap_err().contains("fits no command"));
    assert!(items("<!-- not run | * | y -->\n\ntext\n").unwrap_err().contains("not before a block"));
}
