//! What may be read: files below the folder of the runs and below the data folder, and nothing else.
//!
//! A name in a request is a path of plain components below one of the two folders. What it stands for, with all links
//! followed, must be below one of them too, and so must every file that is read of a run: a link in a run folder must not
//! lead to somebody's keys.

use crate::View;
use crate::error::{Answer, Failure};
use std::path::{Component, Path, PathBuf};

/// The two folders.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    runs: PathBuf,
    data: PathBuf,
}

/// Everything that is read of a run or a protocol's folder.
const FILES: [&str; 15] = [
    ".",
    "config.toml",
    "metrics.jsonl",
    "timing.jsonl",
    "split.csv",
    "summary.json",
    "lock",
    "checkpoint",
    "checkpoint/model.safetensors",
    "checkpoint/state.json",
    "best",
    "best/model.safetensors",
    "cv.json",
    "search.json",
    "seeds.json",
];

/// How many entries of a folder with a dataset are looked at for links.
const MOST_ENTRIES: usize = 100_000;

impl Place {
    pub(crate) fn new(view: &View) -> Self {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        Place { runs: absolute(&view.runs), data: absolute(&view.data) }
    }

    /// The folder of the runs, with all links followed; nothing while it is not there.
    pub(crate) fn runs(&self) -> Option<PathBuf> {
        self.runs.canonicalize().ok().filter(|path| path.is_dir())
    }

    /// The data folder.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// A folder of the runs by its name in a request; `.` is the folder itself.
    pub(crate) fn folder(&self, name: &str) -> Answer<PathBuf> {
        let missing = || Failure::missing(format!("there is no folder `{name}`"));
        let root = self.runs().ok_or_else(missing)?;
        let path = below(&root, name)?.canonicalize().map_err(|_| missing())?;
        if !path.starts_with(&root) {
            return Err(outside(name));
        }
        if !path.is_dir() {
            return Err(missing());
        }
        self.sound(&path).map(|()| path)
    }

    /// An error where a file that is read of a run is a link that leads outside.
    pub(crate) fn sound(&self, run: &Path) -> Answer<()> {
        let roots = self.roots();
        let leads_out = |file: &Path| {
            let link = std::fs::symlink_metadata(file).is_ok_and(|found| found.file_type().is_symlink());
            link && !within(&roots, file)
        };
        match FILES.iter().find(|file| leads_out(&run.join(file))) {
            None => Ok(()),
            Some(file) => Err(Failure::forbidden(format!("`{file}` is a link that leads outside"))),
        }
    }

    /// A file or folder with data, by its path: relative to the folder of the runs or to the data folder, or absolute where a
    /// run's settings have it. Whatever links it is reached by, or are in it, it must be below one of the two.
    pub(crate) fn file(&self, name: &str) -> Answer<PathBuf> {
        let missing = || Failure::missing(format!("there is no file `{name}`"));
        let path = Path::new(name);
        let found = match path.is_absolute() {
            true => Some(path.to_path_buf()),
            false => {
                let places = [self.runs.as_path(), self.data.as_path()];
                let all = places.into_iter().map(|root| below(root, name)).collect::<Answer<Vec<_>>>()?;
                all.into_iter().find(|path| path.exists())
            }
        };
        let found = found.and_then(|path| path.canonicalize().ok());
        let roots = self.roots();
        // What is outside is not said to be there or not.
        let Some(found) = found.filter(|path| within(&roots, path)) else {
            return Err(if path.is_absolute() { outside(name) } else { missing() });
        };
        let mut left = MOST_ENTRIES;
        match found.is_file() || found.is_dir() && closed(&found, &roots, &mut left) {
            true => Ok(found),
            false => Err(outside(name)),
        }
    }

    fn roots(&self) -> Vec<PathBuf> {
        [&self.runs, &self.data].into_iter().filter_map(|root| root.canonicalize().ok()).collect()
    }
}

fn outside(name: &str) -> Failure {
    Failure::forbidden(format!("`{name}` is outside of the folder of the runs and the data folder"))
}

/// Whether what a path leads to is below one of the folders.
fn within(roots: &[PathBuf], path: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| roots.iter().any(|root| path.starts_with(root)))
}

/// Whether no link in a folder leads outside.
fn closed(folder: &Path, roots: &[PathBuf], left: &mut usize) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    for entry in entries.flatten() {
        let Some(rest) = left.checked_sub(1) else { return false };
        *left = rest;
        let Ok(kind) = entry.file_type() else { return false };
        let sound = match (kind.is_symlink(), kind.is_dir()) {
            (true, _) => within(roots, &entry.path()),
            (false, true) => closed(&entry.path(), roots, left),
            (false, false) => kind.is_file(),
        };
        if !sound {
            return false;
        }
    }
    true
}

/// A name of plain components below a folder.
fn below(root: &Path, name: &str) -> Answer<PathBuf> {
    if name == "." {
        return Ok(root.to_path_buf());
    }
    let path = Path::new(name);
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    match !name.is_empty() && !name.contains(['\0', '\\']) && path.components().all(plain) {
        true => Ok(root.join(path)),
        false => Err(Failure::wrong(format!("`{name}` is not a path below the folder"))),
    }
}
