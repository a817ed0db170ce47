//! What a power cut leaves. A kill keeps everything that was written; a power cut keeps what was synced, and of the rest
//! anything: some renames and not others, half of an append, zeros. As the tests of ALICE and SQLite do, the system calls of a
//! real training are recorded (by strace), and for every prefix of them every subset of what was not yet synced is made
//! into a folder, with appends torn at some byte or left as zeros. Each folder must resume to the same bytes.
//!
//! The model: a sync of a file makes its earlier writes last, a sync of a folder the creations, renames and removals in
//! it. Everything else may or may not have happened, in any combination. `PPGN_POWER_CUT=N` tries up to N subsets per
//! call, and N tears of each, instead of a few.

use crate::run::command;
use crate::train::exact;
use ppgn::graph::Dataset;
use ppgn::graph::generate::generate;
use ppgn::graph::random::Stream;
use ppgn::train::{Outcome, Run, Session, train};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const DATA: &str = "csl:n=9,skips=2+3,copies=4";
const CALLS: &str =
    "trace=openat,write,fsync,fdatasync,rename,renameat,renameat2,ftruncate,unlink,unlinkat,mkdir,mkdirat";

/// A file or folder, whatever its name is.
type Node = usize;

/// The folder that everything happens in.
const ROOT: Node = 0;

/// What a call did to the disk, once it is there.
#[derive(Debug, Clone)]
enum Op {
    /// A name in a folder now means this.
    Link { folder: Node, name: String, node: Node, is_folder: bool },
    /// A name in a folder is gone.
    Unlink { folder: Node, name: String },
    /// A rename: both of these at once, the new name's folder first.
    Rename { to: (Node, String), from: (Node, String), node: Node },
    /// Bytes at the end of a file.
    Append { node: Node, bytes: Vec<u8> },
    /// Everything about a file, or the names in a folder, are on the disk.
    Sync { node: Node },
}

/// The calls as text, with those put together that strace cut in two.
fn calls(log: &str) -> Vec<String> {
    let mut begun: HashMap<&str, String> = HashMap::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let (pid, call) = line.split_once(' ').unwrap();
        let call = call.trim_start();
        if let Some(start) = call.strip_suffix("<unfinished ...>") {
            begun.insert(pid, start.trim_end().to_string());
        } else if let Some(end) = call.strip_prefix("<... ") {
            let end = end.split_once("resumed>").unwrap().1;
            calls.push(format!("{}{end}", begun.remove(pid).unwrap_or_default()));
        } else {
            calls.push(call.to_string());
        }
    }
    calls
}

/// What stands between these characters, all of it hexadecimal escapes.
fn between(call: &str, open: char, close: char) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut rest = call;
    while let Some((inner, after)) = rest.split_once(open).and_then(|(_, rest)| rest.split_once(close)) {
        let bytes = inner.split("\\x").skip(1).map(|hex| u8::from_str_radix(hex, 16).unwrap()).collect();
        found.push(bytes);
        rest = after;
    }
    found
}

/// The names as they are while the calls are read.
struct Names {
    root: String,
    nodes: BTreeMap<String, Node>,
    made: usize,
}

impl Names {
    /// A path inside the root; nothing for others.
    fn inside(&self, path: &[u8]) -> Option<String> {
        let path = String::from_utf8(path.to_vec()).ok()?;
        let inner = path.strip_prefix(&self.root)?;
        (inner.is_empty() || inner.starts_with('/')).then(|| inner.trim_matches('/').to_string())
    }

    fn node(&self, path: &str) -> Option<Node> {
        if path.is_empty() { Some(ROOT) } else { self.nodes.get(path).copied() }
    }

    /// The folder of a path and the name in it.
    fn place(&self, path: &str) -> (Node, String) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        (self.node(folder).unwrap(), name.to_string())
    }

    fn link(&mut self, path: &str, is_folder: bool) -> Op {
        self.made += 1;
        let node = self.made;
        let (folder, name) = self.place(path);
        self.nodes.insert(path.to_string(), node);
        Op::Link { folder, name, node, is_folder }
    }

    fn rename(&mut self, from: &str, to: &str) -> Op {
        let op = Op::Rename { to: self.place(to), from: self.place(from), node: self.node(from).unwrap() };
        let below = |path: &str| path == from || path.starts_with(&format!("{from}/"));
        let moved: Vec<String> = self.nodes.keys().filter(|path| below(path)).cloned().collect();
        for path in moved {
            let node = self.nodes.remove(&path).unwrap();
            self.nodes.insert(format!("{to}{}", &path[from.len()..]), node);
        }
        op
    }
}

/// What the calls of a log did below `root`.
fn operations(log: &str, root: &Path) -> Vec<Op> {
    let mut names = Names { root: root.to_str().unwrap().to_string(), nodes: BTreeMap::new(), made: ROOT };
    let mut ops = Vec::new();
    for call in calls(log) {
        let Some((name, arguments)) = call.split_once('(') else { continue };
        let Some((arguments, result)) = arguments.rsplit_once(") = ") else { continue };
        if result.starts_with('-') || result.starts_with('?') {
            continue;
        }
        let quoted = between(arguments, '"', '"');
        let paths: Vec<Option<String>> = quoted.iter().map(|path| names.inside(path)).collect();
        let of_descriptor = || between(arguments, '<', '>').first().and_then(|path| names.inside(path));
        match name {
            "mkdir" | "mkdirat" => {
                if let Some(Some(path)) = paths.first() {
                    ops.push(names.link(path, true));
                }
            }
            "openat" => {
                let Some(Some(path)) = paths.first() else { continue };
                assert!(!arguments.contains("O_TRUNC"), "a file is overwritten in place: {path}");
                if arguments.contains("O_CREAT") && names.node(path).is_none() {
                    ops.push(names.link(path, false));
                }
            }
            "write" => {
                let Some(node) = of_descriptor().and_then(|path| names.node(&path)) else { continue };
                ops.push(Op::Append { node, bytes: quoted.into_iter().next().unwrap_or_default() });
            }
            "fsync" | "fdatasync" => {
                let Some(node) = of_descriptor().and_then(|path| names.node(&path)) else { continue };
                ops.push(Op::Sync { node });
            }
            "rename" | "renameat" | "renameat2" => {
                let [Some(from), Some(to)] = &paths[..] else { continue };
                ops.push(names.rename(from, to));
            }
            "unlink" | "unlinkat" => {
                let Some(Some(path)) = paths.first() else { continue };
                let (folder, name) = names.place(path);
                names.nodes.remove(path);
                ops.push(Op::Unlink { folder, name });
            }
            "ftruncate" => assert!(of_descriptor().is_none(), "a file is cut in place: {call}"),
            _ => {}
        }
    }
    ops
}

/// Which of the first operations are not certain to be on the disk.
fn pending(ops: &[Op]) -> Vec<usize> {
    let synced_after = |at: usize, wanted: Node| {
        ops[at..].iter().any(|op| matches!(op, Op::Sync { node } if *node == wanted))
    };
    (0..ops.len())
        .filter(|&at| match &ops[at] {
            Op::Link { folder, .. } | Op::Unlink { folder, .. } => !synced_after(at, *folder),
            Op::Rename { to, .. } => !synced_after(at, to.0),
            Op::Append { node, .. } => !synced_after(at, *node),
            Op::Sync { .. } => false,
        })
        .collect()
}

/// What became of the bytes of an append.
#[derive(Clone, Copy)]
enum Tear {
    Whole,
    Prefix(usize),
    Zeros,
}

/// The files of a disk by path, and its folders with nothing.
type Disk = BTreeMap<String, Option<Vec<u8>>>;

/// The disk after some of the operations.
fn disk<'a>(ops: impl Iterator<Item = (usize, &'a Op)>, tear: impl Fn(usize) -> Tear) -> Disk {
    let mut folders: HashMap<Node, BTreeMap<String, Node>> = HashMap::new();
    let mut content: HashMap<Node, Vec<u8>> = HashMap::new();
    let mut is_folder = HashSet::from([ROOT]);
    for (at, op) in ops {
        match op {
            Op::Link { folder, name, node, is_folder: folder_itself } => {
                if *folder_itself {
                    is_folder.insert(*node);
                }
                folders.entry(*folder).or_default().insert(name.clone(), *node);
            }
            Op::Unlink { folder, name } => {
                folders.entry(*folder).or_default().remove(name);
            }
            Op::Rename { to, from, node } => {
                let names = folders.entry(from.0).or_default();
                if names.get(&from.1) == Some(node) {
                    names.remove(&from.1);
                }
                folders.entry(to.0).or_default().insert(to.1.clone(), *node);
            }
            Op::Append { node, bytes } => {
                let file = content.entry(*node).or_default();
                match tear(at) {
                    Tear::Whole => file.extend(bytes),
                    Tear::Prefix(length) => file.extend(&bytes[..length.min(bytes.len())]),
                    Tear::Zeros => file.extend(std::iter::repeat_n(0, bytes.len())),
                }
            }
            Op::Sync { .. } => {}
        }
    }
    let mut disk = Disk::new();
    let mut open = vec![(String::new(), ROOT)];
    while let Some((path, folder)) = open.pop() {
        for (name, node) in folders.get(&folder).into_iter().flatten() {
            let inner = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            match is_folder.contains(node) || folders.contains_key(node) {
                true => {
                    disk.insert(inner.clone(), None);
                    open.push((inner, *node));
                }
                false => {
                    disk.insert(inner, Some(content.get(node).cloned().unwrap_or_default()));
                }
            }
        }
    }
    disk
}

/// The disks that a power cut after these operations may leave.
fn disks(ops: &[Op], most: usize, random: &mut Stream) -> Vec<Disk> {
    let pending = pending(ops);
    let subsets: Vec<u64> = match pending.len() {
        few @ 0..=12 if 1 << few <= most => (0..1 << few).collect(),
        // All, none, each alone, all but each, and some at random.
        many => {
            let all = (1u64 << many.min(63)) - 1;
            let single = (0..many.min(63)).flat_map(|i| [1 << i, all ^ 1 << i]);
            let drawn: Vec<u64> = (0..most).map(|_| random.bits() & all).collect();
            [0, all].into_iter().chain(single).chain(drawn).take(most).collect()
        }
    };
    let mut made = Vec::new();
    for subset in subsets {
        let there = |at: usize| pending.binary_search(&at).map_or(true, |i| subset >> i & 1 == 1);
        let left = || ops.iter().enumerate().filter(|(at, _)| there(*at));
        made.push(disk(left(), |_| Tear::Whole));
        let torn: Vec<(usize, usize)> = pending
            .iter()
            .filter(|at| there(**at))
            .filter_map(
                |&at| if let Op::Append { bytes, .. } = &ops[at] { Some((at, bytes.len())) } else { None },
            )
            .collect();
        for (at, length) in torn {
            let tears = (0..most.div_ceil(16)).map(|_| Tear::Prefix(random.below(length.max(1))));
            for tear in tears.chain([Tear::Zeros]) {
                made.push(disk(left(), |other| if other == at { tear } else { Tear::Whole }));
            }
        }
    }
    made
}

#[test]
fn point_7_whatever_a_power_cut_leaves_ends_the_same() {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: strace, which records what a power cut may undo, is not there"
        );
        return;
    }
    let most =
        std::env::var("PPGN_POWER_CUT").ok().and_then(|n| n.parse().ok()).unwrap_or(24).clamp(2, 1 << 12);
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("recorded");
    std::fs::create_dir(&root).unwrap();
    let (log, run) = (folder.path().join("log"), root.join("run"));
    let plain = command();
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-y", "-xx", "-s", "1000000", "-e", CALLS, "-o"])
        .arg(&log)
        .arg(plain.get_program());
    strace
        .args(["train", DATA])
        .args("--split 50/25/25 --blocks 2 --epochs 4 --quiet --out".split_whitespace())
        .arg(&run);
    for (name, value) in plain.get_envs() {
        value.map(|value| strace.env(name, value));
    }
    let output = strace.stdout(Stdio::null()).output().unwrap();
    if !output.status.success() && !run.exists() {
        let told = String::from_utf8_lossy(&output.stderr).trim().to_string();
        let _ = writeln!(std::io::stderr(), "SKIPPED: strace may not trace here: {told}");
        return;
    }
    assert!(output.status.success());
    let ops = operations(&std::fs::read_to_string(log).unwrap(), &root);
    // The model knows all that happened: after all of it, the disk is the folder.
    let after = disk(ops.iter().enumerate(), |_| Tear::Whole);
    let (whole, config) = (exact(&run), std::fs::read(run.join("config.toml")).unwrap());
    for (name, bytes) in &whole {
        assert_eq!(after.get(&format!("run/{name}")), Some(&Some(bytes.clone())), "{name} of the model");
    }
    let renames = ops.iter().filter(|op| matches!(op, Op::Rename { .. })).count();
    assert!(renames >= 8, "{renames} renames were recorded");

    let cut =
        PowerCut { most, data: generate(DATA).unwrap(), config, whole, folder: folder.path().join("again") };
    let tried = cut.try_all(&ops).unwrap_or_else(|e| panic!("{e}"));
    let _ = writeln!(std::io::stderr(), "power cuts: {} calls, {tried} different disks", ops.len());
    assert!(tried > 50, "{tried} different disks");

    // Without the syncs of folders there are disks that do not end the same: the search would see if one were missing.
    let folders: HashSet<Node> = ops
        .iter()
        .filter_map(|op| if let Op::Link { node, is_folder: true, .. } = op { Some(*node) } else { None })
        .collect();
    let fewer = ops.into_iter().filter(|op| !matches!(op, Op::Sync { node } if folders.contains(node)));
    cut.try_all(&fewer.collect::<Vec<_>>()).unwrap_err();
}

/// What is tried, and what must come out.
struct PowerCut {
    most: usize,
    data: Dataset,
    config: Vec<u8>,
    whole: Vec<(&'static str, Vec<u8>)>,
    folder: PathBuf,
}

impl PowerCut {
    /// Cuts the power after each of the operations, and resumes from what is left: the number of different disks, or what
    /// went wrong with one.
    fn try_all(&self, ops: &[Op]) -> Result<usize, String> {
        let mut random = Stream::new(7, "power cut", &[]);
        let mut seen = HashSet::new();
        for end in 0..=ops.len() {
            for disk in disks(&ops[..end], self.most, &mut random) {
                // Nothing depends on these, and nothing outside the run matters to it.
                let matters = |path: &str| {
                    path.starts_with("run/")
                        && !["run/lock", "run/timing.jsonl", "run/report.html"].contains(&path)
                };
                let disk: Disk = disk.into_iter().filter(|(path, _)| matters(path)).collect();
                if seen.insert(disk.clone()) {
                    let there = || format!("after call {end} ({:?}), with {:?}", ops.get(end), disk.keys());
                    self.resume(&disk).map_err(|e| format!("{}: {e}", there()))?;
                }
            }
        }
        Ok(seen.len())
    }

    fn resume(&self, disk: &Disk) -> Result<(), String> {
        let _ = std::fs::remove_dir_all(&self.folder);
        for (path, bytes) in disk {
            let path = self.folder.join(path);
            let folder = if bytes.is_some() { path.parent().unwrap() } else { &path };
            std::fs::create_dir_all(folder).unwrap();
            bytes.iter().for_each(|bytes| std::fs::write(&path, bytes).unwrap());
        }
        let run = self.folder.join("run");
        if !run.exists() {
            return Ok(()); // it starts anew
        }
        if std::fs::read(run.join("config.toml")).ok().as_ref() != Some(&self.config) {
            return Err("other settings".into());
        }
        let resumed = Run::open(&run).and_then(|opened| match Run::summary(&run)? {
            Some(_) => opened.verify().map(|_| true),
            None => train(&Session::default(), &opened, &self.data, &mut |_| true)
                .map(|outcome| matches!(outcome, Outcome::Finished(_))),
        });
        match resumed {
            Err(e) => Err(e.to_string()),
            Ok(finished) if finished && exact(&run) == self.whole => Ok(()),
            Ok(_) => Err("other bytes at the end".into()),
        }
    }
}
