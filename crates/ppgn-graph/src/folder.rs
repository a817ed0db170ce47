//! The data folder: where it is, what is in it, and which file a name means.
//!
//! Nothing is registered: a dataset is in the folder if a file or folder has its name, so that anyone can put one there
//! by hand. The places, from the first to look at to the last:
//!
//! | place | for |
//! | --- | --- |
//! | `tu/NAME.zip`, `tu/NAME/` | graph classification sets |
//! | `qm9/*.npz`, `qm9/*.zip`, `qm9/sdf/gdb9.sdf`, `qm9/raw/gdb9.sdf`, `qm9/gdb9.sdf` | `QM9` |
//! | `NAME.zip`, `NAME/` | anything |
//! | `NAME.extension` | anything with an extension that ppgn knows |
//! | `FOLDER/NAME.extension` | collections, such as `brec/basic.g6` |

use crate::error::{Error, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The extensions by which a word is recognised as a file, without their dots.
pub const EXTENSIONS: [&str; 24] = [
    "txt", "zip", "npz", "g6", "s6", "d6", "graph6", "sparse6", "digraph6", "sdf", "jsonl", "ndjson", "csv",
    "tsv", "edges", "el", "edgelist", "graphml", "gml", "json", "smi", "smiles", "sd", "mol",
];

/// A dataset in the data folder.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Found {
    /// The name that means it.
    pub name: String,
    /// The file or folder.
    pub path: PathBuf,
    /// Its length; of a folder, that of the files in it.
    pub bytes: u64,
}

/// The data folder where none is named: `PPGN_DATA`, else the platform's place for data.
///
/// That is `$XDG_DATA_HOME/ppgn` or `~/.local/share/ppgn` on Linux and its kin, `~/Library/Application Support/ppgn` on
/// macOS and `%LOCALAPPDATA%\ppgn` on Windows; `ppgn-data` in the current folder for someone without a home.
pub fn default_data_dir() -> PathBuf {
    choose(std::env::consts::OS, |name| std::env::var_os(name), std::env::home_dir())
}

/// The folder for what can be computed again, where none is named: `PPGN_CACHE`, else the user's cache folder.
///
/// That is `$XDG_CACHE_HOME/ppgn` or `~/.cache/ppgn` on Linux and its kin, `~/Library/Caches/ppgn` on macOS and
/// `%LOCALAPPDATA%\ppgn\cache` on Windows; `None` for someone without a home. Never the data folder, which may be shared or
/// read-only.
pub fn default_cache_dir() -> Option<PathBuf> {
    choose_cache(std::env::consts::OS, |name| std::env::var_os(name), std::env::home_dir())
}

fn choose_cache(os: &str, var: impl Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    let var = |name| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = home.filter(|home| !home.as_os_str().is_empty());
    if let Some(chosen) = var("PPGN_CACHE") {
        return Some(chosen);
    }
    match os {
        "windows" => var("LOCALAPPDATA").map(|folder| folder.join("ppgn").join("cache")),
        "macos" | "ios" => home.map(|home| home.join("Library").join("Caches").join("ppgn")),
        _ => {
            let shared = var("XDG_CACHE_HOME").filter(|p| p.has_root());
            shared.or_else(|| home.map(|home| home.join(".cache"))).map(|folder| folder.join("ppgn"))
        }
    }
}

fn choose(os: &str, var: impl Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> PathBuf {
    let var = |name| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // An empty or relative value is to be ignored, says the XDG specification; for homes it is only sensible.
    let home = home.filter(|home| !home.as_os_str().is_empty());
    let under =
        |folders: &[&str]| home.as_ref().map(|h| folders.iter().fold(h.clone(), |path, f| path.join(f)));
    if let Some(chosen) = var("PPGN_DATA") {
        return chosen;
    }
    let shared = match os {
        "windows" => var("LOCALAPPDATA").or_else(|| under(&["AppData", "Local"])),
        "macos" | "ios" => under(&["Library", "Application Support"]),
        _ => var("XDG_DATA_HOME").filter(|p| p.has_root()).or_else(|| under(&[".local", "share"])),
    };
    shared.map_or_else(|| PathBuf::from("ppgn-data"), |folder| folder.join("ppgn"))
}

/// Whether a word ends in one of [`EXTENSIONS`], case ignored.
pub fn has_known_extension(word: &str) -> bool {
    stem(word).is_some()
}

/// `NAME` of `NAME.extension`, where the extension is known.
fn stem(file_name: &str) -> Option<&str> {
    let (stem, extension) = file_name.rsplit_once('.')?;
    let known = EXTENSIONS.iter().any(|e| extension.eq_ignore_ascii_case(e));
    // NAME.zip.part.json describes a download that is not complete.
    (known && !stem.is_empty() && !stem.ends_with(".part")).then_some(stem)
}

/// The file or folder that `name` means in this data folder, case ignored; of names that differ in case only, the one
/// spelt exactly so. Two files of that name, in two folders or with two extensions, are an [`Error::Call`] that names both.
pub(crate) fn lookup(data_dir: &Path, name: &str) -> Result<Option<PathBuf>> {
    let matches = matches(data_dir, name);
    let Some(first) = matches.first() else { return Ok(None) };
    let equal = |item: &&Item| item.rank == first.rank && (item.name == name) == (first.name == name);
    let rivals: Vec<&Item> = matches.iter().filter(equal).collect();
    if first.rank.has_rivals() && rivals.len() > 1 {
        let paths: Vec<String> = rivals.iter().map(|item| item.path.display().to_string()).collect();
        return Err(Error::call(format!("`{name}` could be any of {}: give the path", paths.join(", "))));
    }
    Ok(Some(first.path.clone()))
}

/// The dataset that `name` means in this data folder, in whatever form; a collection is none.
pub(crate) fn dataset(data_dir: &Path, name: &str) -> Option<PathBuf> {
    matches(data_dir, name).into_iter().find(|item| item.rank != Rank::Collection).map(|item| item.path)
}

/// What `name` can mean, the best first.
fn matches(data_dir: &Path, name: &str) -> Vec<Item> {
    let wanted = name.to_lowercase();
    let mut matches = items(data_dir);
    matches.retain(|item| item.name.to_lowercase() == wanted);
    matches.sort_by_key(|item| (item.rank, item.name != name));
    matches
}

/// What is in this data folder, by name. A name that means one thing is listed once.
pub(crate) fn list(data_dir: &Path) -> Vec<Found> {
    let mut listed: Vec<Item> = items(data_dir);
    listed.retain(|item| item.listed);
    listed.sort_by_key(|item| (item.name.to_lowercase(), item.rank));
    listed.dedup_by(|later, kept| {
        later.path == kept.path
            || !kept.rank.has_rivals() && later.name.to_lowercase() == kept.name.to_lowercase()
    });
    let found = |item: Item| {
        // The name of a generator means the generator; its namesake is reached by its path.
        let shadowed = crate::generate::find(&item.name).is_some();
        let name = if shadowed { item.path.display().to_string() } else { item.name };
        Found { bytes: bytes_of(&item.path), name, path: item.path }
    };
    listed.into_iter().map(found).collect()
}

/// The length of a file, or of all files in a folder; 0 for what cannot be looked at.
pub(crate) fn bytes_of(path: &Path) -> u64 {
    let mut total = 0u64;
    let mut left = vec![(path.to_path_buf(), 0)];
    let mut budget = MOST_ENTRIES;
    while let Some((path, depth)) = left.pop() {
        match std::fs::metadata(&path) {
            Ok(m) if m.is_dir() && depth < 6 => {
                let inside = entries(&path, &mut budget);
                left.extend(inside.into_iter().map(|entry| (entry.path, depth + 1)));
            }
            Ok(m) if m.is_file() => total = total.saturating_add(m.len()),
            _ => {}
        }
    }
    total
}

/// The places of a name, in the order in which they count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    TuZip,
    TuFolder,
    Qm9,
    Zip,
    Folder,
    File,
    InFolder,
    /// A folder of several datasets: a name only so that reading it can say what to name instead.
    Collection,
}

impl Rank {
    /// Whether there is more than one place of this rank for a name.
    fn has_rivals(self) -> bool {
        matches!(self, Rank::File | Rank::InFolder)
    }
}

#[derive(Debug)]
struct Item {
    name: String,
    path: PathBuf,
    rank: Rank,
    listed: bool,
}

struct Entry {
    name: String,
    path: PathBuf,
    is_dir: bool,
}

/// How many entries are looked at: enough for any data folder, few enough if someone names `/`.
const MOST_ENTRIES: usize = 100_000;

/// The entries of a folder by name, hidden ones left out; none where it cannot be read.
fn entries(folder: &Path, budget: &mut usize) -> Vec<Entry> {
    let Ok(reader) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut entries = Vec::new();
    for entry in reader.flatten() {
        let Some(left) = budget.checked_sub(1) else { break };
        *budget = left;
        let path = entry.path();
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with('.') || name == "__MACOSX" {
            continue;
        }
        let is_dir = path.is_dir();
        entries.push(Entry { name, path, is_dir });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

/// Everything in the data folder that a name can mean.
fn items(data_dir: &Path) -> Vec<Item> {
    let mut budget = MOST_ENTRIES;
    let mut items = Vec::new();
    for entry in entries(data_dir, &mut budget) {
        if !entry.is_dir {
            file_item(&entry, Rank::Zip, Rank::File, true, &mut items);
            continue;
        }
        let inside = entries(&entry.path, &mut budget);
        if entry.name.eq_ignore_ascii_case("tu") {
            for entry in inside {
                match entry.is_dir {
                    true if entries(&entry.path, &mut budget).is_empty() => {}
                    true => items.push(Item {
                        name: entry.name,
                        path: entry.path,
                        rank: Rank::TuFolder,
                        listed: true,
                    }),
                    false => file_item(&entry, Rank::TuZip, Rank::InFolder, true, &mut items),
                }
            }
            continue;
        }
        let is_qm9 = entry.name.eq_ignore_ascii_case("qm9");
        if is_qm9 {
            items.extend(qm9_items(&entry.path, &inside));
        }
        let Some(rank) = folder_rank(&entry.name, &inside) else { continue };
        let whole = rank == Rank::Folder;
        for entry in inside.iter().filter(|e| !e.is_dir) {
            file_item(entry, Rank::InFolder, Rank::InFolder, !whole && !is_qm9, &mut items);
        }
        items.push(Item { name: entry.name, path: entry.path, rank, listed: whole && !is_qm9 });
    }
    items
}

fn file_item(entry: &Entry, zip: Rank, other: Rank, listed: bool, items: &mut Vec<Item>) {
    let Some(stem) = stem(&entry.name).filter(|_| !is_companion(&entry.name)) else { return };
    let rank = if entry.name.to_ascii_lowercase().ends_with(".zip") { zip } else { other };
    items.push(Item { name: stem.to_string(), path: entry.path.clone(), rank, listed });
}

/// Files with a known extension that hold no dataset of their own.
fn is_companion(file_name: &str) -> bool {
    let name = file_name.to_ascii_lowercase();
    name.ends_with(".sdf.csv")
        || name == "uncharacterized.txt"
        || name.starts_with("readme")
        || name.starts_with("license")
}

/// What a folder is: one dataset (by the files of the TU and the paper's format, or because there is no second thing in
/// it), a collection, or nothing of ours.
fn folder_rank(name: &str, inside: &[Entry]) -> Option<Rank> {
    let own = format!("{}.txt", name.to_lowercase());
    let marks =
        |e: &Entry| e.name == "10fold_idx" || e.name.ends_with("_A.txt") || e.name.to_lowercase() == own;
    let files =
        inside.iter().filter(|e| !e.is_dir && has_known_extension(&e.name) && !is_companion(&e.name)).count();
    match (inside.iter().any(marks), files) {
        (true, _) | (_, 1) => Some(Rank::Folder),
        // What lies deeper is found by reading, not by looking.
        (_, 0) if !inside.iter().any(|e| e.is_dir) || name.eq_ignore_ascii_case("qm9") => None,
        _ => Some(Rank::Collection),
    }
}

fn qm9_items(folder: &Path, inside: &[Entry]) -> Vec<Item> {
    let with = |extension: &'static str| {
        let fits = move |e: &&Entry| !e.is_dir && e.name.to_ascii_lowercase().ends_with(extension);
        inside.iter().filter(fits).map(|e| e.path.clone())
    };
    let loose = [&["sdf"][..], &["raw"], &[]].into_iter().map(|folders| {
        folders.iter().fold(folder.to_path_buf(), |path, part| path.join(part)).join("gdb9.sdf")
    });
    let paths = with(".npz").chain(with(".zip")).chain(loose.filter(|path| path.is_file()));
    paths.map(|path| Item { name: "QM9".into(), path, rank: Rank::Qm9, listed: true }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_go_to_the_users_cache_folder() {
        let chosen = |os: &str, set: &[(&str, &str)], home: Option<&str>| {
            let var = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v));
            choose_cache(os, var, home.map(PathBuf::from)).map(|path| path.display().to_string())
        };
        let some = |text: &str| Some(text.to_string());
        assert_eq!(chosen("linux", &[], Some("/home/a")), some("/home/a/.cache/ppgn"));
        assert_eq!(chosen("linux", &[("XDG_CACHE_HOME", "/c")], Some("/home/a")), some("/c/ppgn"));
        assert_eq!(chosen("linux", &[("XDG_CACHE_HOME", "c")], Some("/home/a")), some("/home/a/.cache/ppgn"));
        assert_eq!(chosen("linux", &[("PPGN_CACHE", "/x"), ("XDG_CACHE_HOME", "/c")], None), some("/x"));
        assert_eq!(chosen("macos", &[], Some("/Users/a")), some("/Users/a/Library/Caches/ppgn"));
        assert_eq!(chosen("linux", &[], None), None);
    }

    #[test]
    fn the_data_folder_is_chosen_by_variable_then_platform() {
        type Vars = &'static [(&'static str, &'static str)];
        let home = || Some(PathBuf::from("/home/ada"));
        let vars = |set: Vars| {
            move |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v))
        };
        let rows: [(&str, Vars, &str); 9] = [
            ("linux", &[("PPGN_DATA", "there"), ("XDG_DATA_HOME", "/x")], "there"),
            ("linux", &[("PPGN_DATA", ""), ("XDG_DATA_HOME", "/x")], "/x/ppgn"),
            ("linux", &[("XDG_DATA_HOME", "relative")], "/home/ada/.local/share/ppgn"),
            ("freebsd", &[], "/home/ada/.local/share/ppgn"),
            ("macos", &[("XDG_DATA_HOME", "/x")], "/home/ada/Library/Application Support/ppgn"),
            ("macos", &[("PPGN_DATA", "/d")], "/d"),
            ("windows", &[("LOCALAPPDATA", "/local")], "/local/ppgn"),
            ("windows", &[("LOCALAPPDATA", "")], "/home/ada/AppData/Local/ppgn"),
            ("windows", &[("PPGN_DATA", "/d")], "/d"),
        ];
        for (os, set, folder) in rows {
            assert_eq!(choose(os, vars(set), home()), Path::new(folder), "{os} {set:?}");
        }
        assert_eq!(choose("linux", vars(&[]), None), Path::new("ppgn-data"));
        assert_eq!(choose("linux", vars(&[]), Some(PathBuf::new())), Path::new("ppgn-data"));
    }

    #[test]
    fn extensions_are_known_in_any_case() {
        assert_eq!((stem("a.b.G6"), stem("MUTAG.zip")), (Some("a.b"), Some("MUTAG")));
        for none in ["MUTAG", ".zip", "x.part", "x.zip.part", "p=0.5", "x.", ""] {
            assert_eq!(stem(none), None, "{none}");
        }
    }
}
