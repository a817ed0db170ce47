//! Running the binary, and where real data is.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::OnceLock;

/// What a run of ppgn gave.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Checks that it succeeded.
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "stdout: {}\nstderr: {}", self.out, self.err);
        self
    }

    /// Checks that it failed with this code and a message that has this text.
    pub(crate) fn fails(self, code: i32, text: &str) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.out, self.err);
        assert!(self.err.contains(text), "`{text}` is not in: {}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    /// The JSON object of the last line of standard output.
    pub(crate) fn json(self) -> serde_json::Value {
        let last = self.out.lines().last().unwrap_or_else(|| panic!("no output; stderr: {}", self.err));
        serde_json::from_str(last).unwrap_or_else(|e| panic!("{e} in {last}"))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The binary, with a data folder of its own that shows the shared one, and without a home that could hold other data.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ppgn"));
    command.env("PPGN_DATA", own_folder()).env("NO_COLOR", "1").env_remove("RUST_BACKTRACE");
    command
}

/// Runs ppgn with these words.
pub(crate) fn ppgn<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Ran {
    command().args(args).output().unwrap().into()
}

/// Runs ppgn with a line of words.
pub(crate) fn line(args: &str) -> Ran {
    ppgn(args.split_whitespace())
}

/// A folder with links to what is in the folder of real data: what commands keep in it stays out of that.
fn own_folder() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("data");
        std::fs::create_dir_all(&folder).unwrap();
        for entry in data_folder().read_dir().into_iter().flatten().flatten() {
            let path = entry.path().canonicalize().unwrap();
            #[cfg(unix)]
            let _ = std::os::unix::fs::symlink(path, folder.join(entry.file_name()));
            #[cfg(windows)]
            let _ = std::os::windows::fs::symlink_dir(path, folder.join(entry.file_name()));
        }
        folder
    });
    folder.clone()
}

/// The folder of real data.
pub(crate) fn data_folder() -> PathBuf {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    std::env::var_os("PPGN_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from)
}

/// Says aloud that a test is skipped, and why, even through the capture of the test runner.
pub(crate) fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// Whether something is in the data folder; says aloud what is skipped otherwise.
pub(crate) fn have(name: &str) -> bool {
    let path = data_folder().join(name);
    if !path.exists() {
        skipped(&format!("{} is not there", path.display()));
    }
    path.exists()
}
