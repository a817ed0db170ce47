//! Downloads, against a server on 127.0.0.1 that does what real ones do on a bad day.

mod folder;
mod refuse;
mod resume;
mod server;

use crate::support::shared;
use ppgn_graph::fetch::{self, Fetched, GetOptions, Known, Progress, Remote, get_known};
use ppgn_graph::{Error, Remedy};
use server::{Reply, Server};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// 200,000 bytes, different for every seed.
fn content(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let byte = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..200_000).map(byte).collect()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// A dataset in one file that is not an archive, of which nothing is known.
fn sample(urls: &[String]) -> Known {
    Known {
        name: "SAMPLE".into(),
        aliases: Vec::new(),
        about: "for tests".into(),
        source: "here".into(),
        file: Remote { place: "misc/sample.txt".into(), urls: urls.to_vec(), bytes: None, sha256: None },
        beside: Vec::new(),
        by_hand: "an abacus does as well".into(),
    }
}

/// The same with its length and hash known.
fn checked(urls: &[String], bytes: &[u8]) -> Known {
    let mut known = sample(urls);
    known.file.bytes = Some(bytes.len() as u64);
    known.file.sha256 = Some(sha256(bytes));
    known
}

/// A data folder, and options that do not wait.
struct Here {
    folder: TempDir,
    options: GetOptions,
}

impl Here {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = folder.path().join("data");
        let options = GetOptions { pause: Duration::from_millis(1), ..GetOptions::new(data_dir) };
        Here { folder, options }
    }

    fn target(&self) -> PathBuf {
        self.options.data_dir.join("misc").join("sample.txt")
    }

    fn part(&self) -> PathBuf {
        self.options.data_dir.join("misc").join("sample.txt.part")
    }

    fn get(&self, known: &Known) -> Result<Fetched, Error> {
        get_known(known, &self.options)
    }

    /// The text of the error that is expected.
    #[track_caller]
    fn fails(&self, known: &Known) -> String {
        let error = self.get(known).unwrap_err();
        assert!(matches!(error, Error::Fetch(_)), "{error:?}");
        assert!(!self.target().exists(), "a failed download left {:?}", self.target());
        error.to_string()
    }

    /// The download succeeds, and leaves the file and nothing else.
    #[track_caller]
    fn works(&self, known: &Known, wanted: &[u8]) -> Fetched {
        let fetched = self.get(known).unwrap();
        assert!(std::fs::read(self.target()).unwrap() == wanted, "the file is not what was served");
        assert_eq!((fetched.bytes, fetched.sha256.clone()), (wanted.len() as u64, Some(sha256(wanted))));
        assert_eq!(fetched.path, self.target());
        let left = std::fs::read_dir(self.target().parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "something is left beside the file");
        fetched
    }
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
}

/// An address on this machine where nobody listens.
fn nowhere() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/x", listener.local_addr().unwrap())
}

#[test]
fn a_plain_download_with_progress() {
    let bytes = content(1);
    let body = bytes.clone();
    let server = Server::start(move |_, request| Reply::file(request, &body, None));
    let mut here = Here::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = seen.clone();
    here.options.progress = Progress::new(move |t| told.lock().unwrap().push((t.done, t.total)));
    let fetched = here.works(&checked(&[server.url("sample.txt")], &bytes), &bytes);
    assert!(!fetched.already_there && fetched.notes.is_empty());
    assert_eq!(fetched.tried.iter().map(|t| t.outcome.as_str()).collect::<Vec<_>>(), ["ok"]);
    let seen = seen.lock().unwrap();
    assert!(seen.is_sorted() && seen.len() > 2, "{seen:?}");
    assert_eq!((seen[0], *seen.last().unwrap()), ((0, Some(200_000)), (200_000, Some(200_000))));
    assert_eq!(server.requests()[0].header("accept-encoding"), Some("identity"));
}

#[test]
fn a_name_that_is_not_known_is_a_wrong_call() {
    let error = fetch::get("nothing", &GetOptions::new("data")).unwrap_err();
    assert!(error.is_call());
    has(&error.to_string(), &["`nothing`", "MUTAG", "COLLAB", "QM9"]);
}

#[test]
fn the_registry_agrees_with_the_real_files() {
    let Some(data) = shared("") else { return };
    for known in fetch::known().iter().filter(|k| k.file.sha256.is_some()) {
        if let Some(path) = shared(&known.file.place) {
            let fetched = fetch::get(&known.name.to_lowercase(), &GetOptions::new(&data)).unwrap();
            assert!(fetched.already_there);
            assert_eq!((fetched.path, fetched.bytes), (path, known.file.bytes.unwrap()));
        }
    }
    for (name, place) in [("ENZYMES", "tu/ENZYMES"), ("QM9", "qm9/qm9_130831.npz")] {
        if let Some(path) = shared(place) {
            assert_eq!(fetch::get(name, &GetOptions::new(&data)).unwrap().path, path);
        }
    }
}
