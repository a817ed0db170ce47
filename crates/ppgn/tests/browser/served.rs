//! The real binary with its page, and runs for it to show.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The command, without the variables of whoever runs the tests.
pub(crate) fn ppgn(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ppgn"));
    command.current_dir(folder).env_remove("PPGN_DATA").env("PPGN_CACHE", folder.join("cache"));
    command
}

/// Runs the command to its end.
pub(crate) fn run(folder: &Path, words: &str) -> String {
    let output = ppgn(folder).args(words.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// `ppgn view` while it serves.
pub(crate) struct Served {
    process: Child,
    pub(crate) url: String,
}

impl Served {
    /// Serves a folder of runs, with another folder as the data folder.
    pub(crate) fn start(folder: &Path, words: &str) -> Self {
        let mut command = ppgn(folder);
        command.args(["view", "--port", "0"]).args(words.split_whitespace());
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Served { process, url: line.trim().to_string() }
    }

    /// The address of a view.
    pub(crate) fn at(&self, view: &str) -> String {
        format!("{}#/{view}", self.url)
    }

    /// The memory of the process, in MiB.
    #[cfg(target_os = "linux")]
    pub(crate) fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The shared data, where it is there.
pub(crate) fn data() -> Option<PathBuf> {
    let given = std::env::var_os("PPGN_DATA").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    [given, Some(beside)].into_iter().flatten().find(|path| path.join("tu").is_dir())
}

/// Percent-encodes a value of a query.
pub(crate) fn encoded(text: &str) -> String {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_.~".contains(b);
    text.bytes().map(|b| if plain(&b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
