//! Downloading named datasets to the data folder.
//!
//! [`known`] lists what can be had, [`get`] gets it: from the first of its public homes that answers or from a mirror,
//! to a temporary name, resumed where a transfer broke, checked by length and SHA-256, and renamed when it is right.
//! What is in the folder already is left alone.
//!
//! Talking HTTP needs the crate's feature `fetch`. Without it the registry is there all the same, and [`get`] says
//! where to put the file by hand.

#[cfg(feature = "fetch")]
mod download;
mod error;
#[cfg(feature = "fetch")]
mod http;
#[cfg(feature = "fetch")]
mod part;
mod record;
mod registry;

pub use error::FetchError;
pub use registry::{Known, Remote, collection, find, known};

use crate::error::{Error, Result};
use crate::folder;
use crate::nearest::nearest;
use sha2::{Digest, Sha256};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How to download.
#[derive(Debug, Clone)]
pub struct GetOptions {
    /// The data folder; made if need be.
    pub data_dir: PathBuf,
    /// A mirror to use instead of the public homes: the address of the file itself, or one that ends in `/`, to which
    /// the file's name is added. `http` and `https`. The checksum counts as ever.
    pub from: Option<String>,
    /// Download even what is there, and replace it.
    pub force: bool,
    /// Called with the progress of a transfer.
    pub progress: Progress,
    /// How long finding and reaching a server may take.
    pub connect_timeout: Duration,
    /// How long a server may be silent, or slower than a kilobyte in that time.
    pub read_timeout: Duration,
    /// How often an address is tried again after a transfer broke or the server had trouble.
    pub retries: u32,
    /// How long to wait before the first of these; doubled for each that follows.
    pub pause: Duration,
    /// What a file may have at most where its length is not known.
    pub max_bytes: u64,
}

impl GetOptions {
    /// The usual: public homes, 15 s to connect, 30 s of silence, 4 retries, no more than 4 GiB.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        GetOptions {
            data_dir: data_dir.into(),
            from: None,
            force: false,
            progress: Progress::default(),
            connect_timeout: Duration::from_secs(15),
            read_timeout: Duration::from_secs(30),
            retries: 4,
            pause: Duration::from_millis(500),
            max_bytes: 4 << 30,
        }
    }
}

/// A callback for the progress of transfers; by default there is none.
///
/// ```
/// use ppgn_graph::fetch::Progress;
/// let bar = Progress::new(|t| eprintln!("{}: {} of {:?}", t.file, t.done, t.total));
/// # let _ = bar;
/// ```
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<Listener>>);

type Listener = dyn Fn(&Transfer<'_>) + Send + Sync;

impl Progress {
    /// Calls `listener` with every piece that arrives, up to a few thousand times a second.
    pub fn new(listener: impl Fn(&Transfer<'_>) + Send + Sync + 'static) -> Self {
        Progress(Some(Arc::new(listener)))
    }

    #[cfg(feature = "fetch")]
    fn report(&self, transfer: &Transfer<'_>) {
        if let Some(listener) = &self.0 {
            listener(transfer);
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Progress(..)" } else { "Progress(none)" })
    }
}

/// How far a transfer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer<'a> {
    /// The file's name.
    pub file: &'a str,
    /// Where it comes from.
    pub url: &'a str,
    /// The bytes that are here, those of an earlier transfer included. Falls back where a server starts over.
    pub done: u64,
    /// The bytes of the whole, where known.
    pub total: Option<u64>,
}

/// An address that was tried, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Attempt {
    /// The address.
    pub url: String,
    /// `ok`, or why it failed.
    pub outcome: String,
}

/// What [`get`] did.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Fetched {
    /// The dataset's name.
    pub name: String,
    /// The file or folder that holds it.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256, where it is a file.
    pub sha256: Option<String>,
    /// Whether it was there before, so that nothing was transferred.
    pub already_there: bool,
    /// The addresses tried for the data and the files beside it, in order.
    pub tried: Vec<Attempt>,
    /// Notes for the user, such as a companion file that could not be downloaded.
    pub notes: Vec<String>,
}

/// Gets a dataset by its name (case ignored) into the data folder, unless it is there in any form that ppgn reads.
///
/// A name that ppgn does not know is an [`Error::Call`] that lists those it knows. A failed download is an
/// [`Error::Fetch`] with every address tried, each with its reason, and where to put the file by hand. Part of a file
/// that arrived is kept as `FILE.part`, and the next call resumes there.
///
/// ```no_run
/// use ppgn_graph::fetch::{GetOptions, get};
/// let mutag = get("mutag", &GetOptions::new("data"))?;
/// assert_eq!(mutag.path, std::path::Path::new("data/tu/MUTAG.zip"));
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn get(name: &str, options: &GetOptions) -> Result<Fetched> {
    let known = find(name).ok_or_else(|| {
        let names: Vec<_> = known().iter().map(|k| k.name.as_str()).collect();
        let guess = nearest(name, collection().iter().map(|k| k.name.as_str()));
        let guess = guess.map_or(String::new(), |guess| format!(" (did you mean `{guess}`?)"));
        Error::call(format!(
            "ppgn does not know where to get `{name}`; it knows {} and all sets of TUDataset{guess}. Other data: put the file in {} or name its path",
            names.join(", "),
            options.data_dir.display()
        ))
    })?;
    get_known(known, options)
}

/// [`get`] for a dataset that need not be in the registry.
pub fn get_known(known: &Known, options: &GetOptions) -> Result<Fetched> {
    let target = known.file.target(&options.data_dir);
    if !options.force
        && let Some(path) = folder::dataset(&options.data_dir, &known.name)
        && path != target
    {
        return Ok(Fetched {
            name: known.name.clone(),
            bytes: folder::bytes_of(&path),
            path,
            sha256: None,
            already_there: true,
            tried: Vec::new(),
            notes: Vec::new(),
        });
    }
    let got = get_file(known, &known.file, options)?;
    let mut fetched = Fetched {
        name: known.name.clone(),
        path: target,
        bytes: got.bytes,
        sha256: Some(got.sha256),
        already_there: got.already_there,
        tried: got.tried,
        notes: Vec::new(),
    };
    // The address of one file says nothing of the files beside it.
    let one_file = options.from.as_ref().is_some_and(|from| !from.ends_with('/'));
    let rest = if one_file { GetOptions { from: None, ..options.clone() } } else { options.clone() };
    for file in &known.beside {
        match get_file(known, file, &rest) {
            Ok(got) => fetched.tried.extend(got.tried),
            Err(error) => {
                fetched.notes.push(format!(
                    "{} can be read without {}. {error}",
                    known.name,
                    file.file_name()
                ));
            }
        }
    }
    Ok(fetched)
}

/// A file that is in place.
struct Got {
    bytes: u64,
    sha256: String,
    already_there: bool,
    tried: Vec<Attempt>,
}

fn get_file(known: &Known, file: &Remote, options: &GetOptions) -> Result<Got> {
    let target = file.target(&options.data_dir);
    // What is not known of a file is known once it has been downloaded: it must be the same the next time.
    let unknown = file.sha256.is_none();
    let file = &match unknown {
        true => record::recorded(file, &options.data_dir)?,
        false => file.clone(),
    };
    let got = get_checked(known, file, &target, options)?;
    if unknown && file.sha256.is_none() && !got.already_there {
        record::add(file, got.bytes, &got.sha256, &options.data_dir)?;
    }
    Ok(got)
}

fn get_checked(known: &Known, file: &Remote, target: &Path, options: &GetOptions) -> Result<Got> {
    if !options.force && target.exists() {
        return existing(file, target);
    }
    let urls = match &options.from {
        Some(from) => vec![mirror(from, file)?],
        None => file.urls.clone(),
    };
    #[cfg(feature = "fetch")]
    return download::download(known, file, &urls, target, options);
    #[cfg(not(feature = "fetch"))]
    {
        let outcome = "not tried, this build of ppgn has no HTTP (cargo feature `fetch`)";
        let tried = urls.into_iter().map(|url| Attempt { url, outcome: outcome.into() }).collect::<Vec<_>>();
        Err(failure(known, file, target, tried))
    }
}

/// The file that is in place already, if it is the right one.
fn existing(file: &Remote, target: &Path) -> Result<Got> {
    let refuse = |what: String| Err(FetchError::OtherFile { path: target.to_path_buf(), what }.into());
    let metadata = std::fs::metadata(target).map_err(|e| Error::io(target, e))?;
    if !metadata.is_file() {
        return refuse("it is not a file".into());
    }
    if let Some(bytes) = file.bytes.filter(|&b| b != metadata.len()) {
        return refuse(format!("it has {} bytes instead of {bytes}", metadata.len()));
    }
    let mut reader = std::fs::File::open(target).map_err(|e| Error::io(target, e))?;
    let sha256 = sha256_of(&mut reader).map_err(|e| Error::io(target, e))?;
    if let Some(wanted) = file.sha256.as_ref().filter(|w| **w != sha256) {
        return refuse(format!("its SHA-256 is {sha256} instead of {wanted}"));
    }
    Ok(Got { bytes: metadata.len(), sha256, already_there: true, tried: Vec::new() })
}

fn mirror(from: &str, file: &Remote) -> Result<String> {
    let scheme = from.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    if !matches!(scheme.as_deref(), Some("http" | "https")) {
        return Err(Error::call(format!(
            "a mirror is an address that begins with http:// or https://, not `{from}`"
        )));
    }
    Ok(if from.ends_with('/') { format!("{from}{}", file.file_name()) } else { from.to_string() })
}

fn failure(known: &Known, file: &Remote, target: &Path, tried: Vec<Attempt>) -> Error {
    let facts =
        [file.bytes.map(|b| format!("{b} bytes")), file.sha256.as_ref().map(|s| format!("SHA-256 {s}"))];
    FetchError::Failed {
        file: file.file_name().into(),
        tried,
        target: target.to_path_buf(),
        facts: facts.into_iter().flatten().collect(),
        by_hand: (file.place == known.file.place).then(|| known.by_hand.clone()),
    }
    .into()
}

/// The SHA-256 of what is left of a reader, in hexadecimal.
fn sha256_of(reader: &mut impl Read) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => hash.update(&buffer[..read]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_is_a_file_or_a_base() {
        let file = &find("MUTAG").unwrap().file;
        assert_eq!(mirror("http://h/d/", file).unwrap(), "http://h/d/MUTAG.zip");
        assert_eq!(mirror("HTTPS://h/other.zip?x=1", file).unwrap(), "HTTPS://h/other.zip?x=1");
        for bad in ["h/d/", "file:///tmp/MUTAG.zip", "ftp://h/", "", "http:/h/"] {
            assert!(mirror(bad, file).unwrap_err().is_call(), "{bad}");
        }
    }

    #[test]
    fn unknown_names_are_a_wrong_call_that_lists_the_known() {
        let error = get("ogb", &GetOptions::new("d")).unwrap_err();
        assert!(error.is_call());
        for part in ["`ogb`", "MUTAG", "QM9", "ENZYMES"] {
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    #[cfg(not(feature = "fetch"))]
    fn a_build_without_http_says_so_and_where_to_put_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let error = get("mutag", &GetOptions::new(folder.path())).unwrap_err();
        let target = folder.path().join("tu").join("MUTAG.zip");
        for part in ["feature `fetch`", target.to_str().unwrap(), "12363 bytes"] {
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn hashes_are_lower_case_hexadecimal() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256_of(&mut &b""[..]).unwrap(), empty);
    }
}
