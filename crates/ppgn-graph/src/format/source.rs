//! Where a dataset's bytes are: a file, a folder or a zip archive, each seen as a list of named entries.
//!
//! Archives are read in place, never unpacked to disk. Their names and sizes are not trusted: a name that leads out of the
//! archive is an error, unpacked bytes are counted against [`Limits::max_unpacked`] as they come, and the checksum of
//! every entry is verified at its end.

use super::budget::Meter;
use super::lines::{LONGEST, Lines, read_failure};
use crate::error::{Defect, Error, Remedy, Result};
use flate2::read::DeflateDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Limits on what reading may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The bytes that may come out of an archive (default 4 GiB).
    pub max_unpacked: u64,
    /// The nodes that one graph may have (default 2^27).
    pub max_nodes: u64,
    /// The nodes that the lines of a file may claim without describing them, in all (default 2^24): nine bytes of sparse6
    /// can claim millions of isolated nodes.
    pub max_claimed: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_unpacked: 4 << 30, max_nodes: 1 << 27, max_claimed: 1 << 24 }
    }
}

/// One file of a [`Source`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path inside the source, with `/` between the parts; of a single file, its name.
    pub name: String,
    place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    File(PathBuf),
    Memory(Arc<[u8]>),
    Packed { start: u64, packed: u64, crc: u32, deflated: bool },
}

impl Entry {
    /// The last part of the name.
    pub fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// The file name without its extension: the name of a dataset that does not state one.
    pub fn stem(&self) -> &str {
        let name = self.file_name();
        name.rsplit_once('.').map(|(stem, _)| stem).filter(|stem| !stem.is_empty()).unwrap_or(name)
    }

    /// The part of the name before the last `/`, or "".
    pub fn folder(&self) -> &str {
        self.name.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// A file, folder or zip archive.
#[derive(Debug, Clone)]
pub struct Source {
    path: PathBuf,
    packed: bool,
    single: bool,
    entries: Vec<Entry>,
    limits: Limits,
    unpacked: Arc<AtomicU64>,
}

/// The name of standard input in place of a path.
pub(crate) const STDIN: &str = "-";

/// How many files a folder or archive may have, and how deep folders may go: a dataset has a few dozen, two deep.
const MAX_ENTRIES: usize = 100_000;
const MAX_DEPTH: usize = 6;

impl Source {
    /// Lists the files at `path`. A zip archive is recognised by its first bytes, whatever its name.
    pub fn open(path: impl AsRef<Path>, limits: Limits) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        if path == Path::new(STDIN) {
            return Source::of_stdin(limits);
        }
        let metadata = std::fs::metadata(&path).map_err(|e| Error::io(&path, e))?;
        let mut source = Source {
            path: path.clone(),
            packed: false,
            single: false,
            entries: Vec::new(),
            limits,
            unpacked: Arc::default(),
        };
        if metadata.is_dir() {
            list_folder(&path, "", 0, &mut source.entries)?;
            source.entries.sort_by(|a, b| a.name.cmp(&b.name));
        } else if metadata.is_file() && is_zip(&path)? {
            source.packed = true;
            source.entries = list_archive(&path)?;
        } else if metadata.is_file() {
            source.single = true;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            source.entries.push(Entry { name, place: Place::File(path) });
        } else {
            return Err(Error::call(format!("{}: neither a file nor a folder", path.display())));
        }
        Ok(source)
    }

    /// Standard input, read to its end: it can be read once, and formats are detected before they are read. It may have
    /// as many bytes as may come out of an archive.
    fn of_stdin(limits: Limits) -> Result<Self> {
        let mut bytes = Vec::new();
        let mut input = io::stdin().lock().take(limits.max_unpacked.saturating_add(1));
        input.read_to_end(&mut bytes).map_err(|e| Error::io("standard input", e))?;
        if bytes.len() as u64 > limits.max_unpacked {
            let message = format!("more than the {} bytes allowed", limits.max_unpacked);
            return Err(Defect::new("standard input", message).remedy(Remedy::RaiseUnpackedLimit).into());
        }
        if bytes.is_empty() {
            return Err(Defect::new("standard input", "nothing in it").into());
        }
        if bytes.starts_with(b"PK\x03\x04") {
            return Err(Defect::new("standard input", "a zip archive is read from a file only").into());
        }
        Ok(Source::of_bytes("stdin", bytes, limits))
    }

    /// A file that is in memory already.
    pub(crate) fn of_bytes(name: &str, bytes: Vec<u8>, limits: Limits) -> Self {
        let entry = Entry { name: name.into(), place: Place::Memory(bytes.into()) };
        Source {
            path: STDIN.into(),
            packed: false,
            single: true,
            entries: vec![entry],
            limits,
            unpacked: Arc::default(),
        }
    }

    /// The path that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The limits that reading obeys.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Whether the source is one plain file (neither a folder nor an archive).
    pub fn is_single_file(&self) -> bool {
        self.single
    }

    /// The files, in order of their names; what operating systems leave behind (`.DS_Store`, `__MACOSX`) is not listed.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of this name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        // Entries are sorted by name.
        self.entries.binary_search_by(|e| e.name.as_str().cmp(name)).ok().map(|i| &self.entries[i])
    }

    /// For a single file, the file of this name in the same folder, if there is one; else the entry of this name in
    /// the same folder of the source. What an archive lacks may lie beside the archive.
    pub fn beside(&self, entry: &Entry, file_name: &str) -> Option<Entry> {
        let folder = entry.folder();
        let name = if folder.is_empty() { file_name.to_string() } else { format!("{folder}/{file_name}") };
        if let Some(inside) = self.entry(&name).filter(|_| !self.single) {
            return Some(inside.clone());
        }
        if matches!(entry.place, Place::Memory(_)) {
            return None;
        }
        let path = self.path.with_file_name(file_name);
        let outside = (self.single || self.packed) && path.is_file();
        outside.then(|| Entry { name: file_name.to_string(), place: Place::File(path) })
    }

    /// An entry's name in messages: `MUTAG.zip/MUTAG/MUTAG.txt`.
    pub fn describe(&self, entry: &Entry) -> String {
        match &entry.place {
            Place::File(path) => path.display().to_string(),
            Place::Memory(_) => "standard input".into(),
            Place::Packed { .. } => format!("{}/{}", self.path.display(), entry.name),
        }
    }

    /// Opens an entry for reading from its beginning.
    pub fn reader(&self, entry: &Entry) -> Result<Box<dyn Read + Send>> {
        match &entry.place {
            Place::File(path) => Ok(Box::new(File::open(path).map_err(|e| Error::io(path, e))?)),
            Place::Memory(bytes) => Ok(Box::new(io::Cursor::new(bytes.clone()))),
            Place::Packed { start, packed, crc, deflated } => {
                let mut file = File::open(&self.path).map_err(|e| Error::io(&self.path, e))?;
                file.seek(SeekFrom::Start(*start)).map_err(|e| Error::io(&self.path, e))?;
                let section = file.take(*packed);
                let inner: Box<dyn Read + Send> = match deflated {
                    true => Box::new(DeflateDecoder::new_with_buf(section, vec![0; 1 << 17])),
                    false => Box::new(section),
                };
                Ok(Box::new(Unpacked {
                    inner,
                    hash: crc32fast::Hasher::new(),
                    crc: *crc,
                    limit: self.limits.max_unpacked,
                    unpacked: self.unpacked.clone(),
                }))
            }
        }
    }

    /// The lines of an entry.
    pub fn lines(&self, entry: &Entry) -> Result<Lines<BufReader<Box<dyn Read + Send>>>> {
        Ok(Lines::new(BufReader::with_capacity(1 << 17, self.reader(entry)?), self.describe(entry)))
    }

    /// A whole entry as text, for formats that are one document. It may have as many bytes as a line.
    pub(crate) fn text(&self, entry: &Entry) -> Result<String> {
        let mut bytes = Vec::new();
        let file = self.describe(entry);
        let mut reader = self.reader(entry)?.take(LONGEST as u64 + 1);
        reader.read_to_end(&mut bytes).map_err(|e| read_failure(&file, e))?;
        if bytes.len() > LONGEST {
            return Err(Defect::new(file, format!("longer than {LONGEST} bytes")).into());
        }
        String::from_utf8(bytes).map_err(|e| {
            let line = 1 + memchr::memchr_iter(b'\n', &e.as_bytes()[..e.utf8_error().valid_up_to()]).count();
            Defect::new(file, "not UTF-8 text").line(line as u64).into()
        })
    }

    /// Counts the memory of graphs that are read from an archive.
    pub(crate) fn meter(&self) -> Meter {
        Meter::new(self.path.display().to_string(), self.packed.then_some(self.limits.max_unpacked))
    }

    /// The same source with a count of unpacked bytes of its own, for a reader that goes over an entry twice.
    pub(crate) fn afresh(&self) -> Self {
        Source { unpacked: Arc::default(), ..self.clone() }
    }

    /// The first bytes of an entry, at most `most`.
    pub fn peek(&self, entry: &Entry, most: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let result = self.reader(entry)?.take(most as u64).read_to_end(&mut bytes);
        // Bytes that were only looked at do not count against the limit.
        if matches!(entry.place, Place::Packed { .. }) {
            self.unpacked.fetch_sub(bytes.len() as u64, Ordering::Relaxed);
        }
        result.map_err(|e| read_failure(&self.describe(entry), e))?;
        Ok(bytes)
    }
}

fn ignored(name: &str) -> bool {
    name.split('/').any(|part| {
        part == "__MACOSX"
            || part == ".DS_Store"
            || part == "Thumbs.db"
            || part == "desktop.ini"
            || part.starts_with("._")
    })
}

fn list_folder(folder: &Path, prefix: &str, depth: usize, entries: &mut Vec<Entry>) -> Result<()> {
    for item in std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))? {
        let item = item.map_err(|e| Error::io(folder, e))?;
        let name = format!("{prefix}{}", item.file_name().to_string_lossy());
        if ignored(&name) {
            continue;
        }
        let path = item.path();
        // A dangling link is not data.
        let Ok(metadata) = std::fs::metadata(&path) else { continue };
        if metadata.is_dir() && depth < MAX_DEPTH {
            list_folder(&path, &format!("{name}/"), depth + 1, entries)?;
        } else if metadata.is_file() {
            entries.push(Entry { name, place: Place::File(path) });
            if entries.len() > MAX_ENTRIES {
                return Err(Error::call(format!("{}: more than {MAX_ENTRIES} files", folder.display())));
            }
        }
    }
    Ok(())
}

fn is_zip(path: &Path) -> Result<bool> {
    let mut magic = [0; 4];
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let mut start = file.take(4);
    let read = io::copy(&mut start, &mut &mut magic[..]).map_err(|e| Error::io(path, e))?;
    Ok(read == 4 && (magic == *b"PK\x03\x04" || magic == *b"PK\x05\x06"))
}

fn list_archive(path: &Path) -> Result<Vec<Entry>> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let shown = path.display().to_string();
    let damaged =
        |e: zip::result::ZipError| Defect::new(shown.clone(), format!("not a sound zip archive: {e}"));
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(damaged)?;
    if archive.has_duplicate_names() {
        return Err(Defect::new(shown, "two files in the archive have the same name").into());
    }
    if archive.len() > MAX_ENTRIES {
        return Err(Defect::new(shown, format!("more than {MAX_ENTRIES} files")).into());
    }
    let mut entries = Vec::new();
    for i in 0..archive.len() {
        let item = archive.by_index_raw(i).map_err(damaged)?;
        let name = item.name().map_err(damaged)?.replace('\\', "/");
        let leaves = name.starts_with('/') || name.contains(':') || name.split('/').any(|part| part == "..");
        if leaves || name.contains('\0') {
            let message = format!("the name {name:?} leads out of the archive");
            return Err(Defect::new(shown, message).into());
        }
        if item.is_dir() || ignored(&name) {
            continue;
        }
        if item.encrypted() {
            return Err(Defect::new(shown, format!("{name} is encrypted")).into());
        }
        let deflated = match item.compression() {
            zip::CompressionMethod::Stored => false,
            zip::CompressionMethod::Deflated => true,
            other => {
                let message =
                    format!("{name} is compressed by {other}; ppgn reads stored and deflated files");
                return Err(Defect::new(shown, message).into());
            }
        };
        let start = item.data_start().ok_or_else(|| Defect::new(&*shown, format!("{name} has no data")))?;
        let (packed, crc) = (item.compressed_size(), item.crc32());
        entries.push(Entry { name, place: Place::Packed { start, packed, crc, deflated } });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    // Names that differ only in their slashes are the same file, too.
    if let Some([a, _]) = entries.array_windows().find(|[a, b]| a.name == b.name) {
        let message = format!("two files in the archive have the same name, {}", a.name);
        return Err(Defect::new(shown, message).into());
    }
    Ok(entries)
}

/// More came out of an archive than allowed.
#[derive(Debug, thiserror::Error)]
#[error("the archive unpacks to more than the {0} bytes allowed")]
pub(super) struct UnpackedLimit(u64);

/// An archive's entry as it comes out: counted, and compared with its checksum at its end.
struct Unpacked {
    inner: Box<dyn Read + Send>,
    hash: crc32fast::Hasher,
    crc: u32,
    limit: u64,
    unpacked: Arc<AtomicU64>,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && !buffer.is_empty() && self.hash.clone().finalize() != self.crc {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the checksum of the archive does not match",
            ));
        }
        self.hash.update(&buffer[..read]);
        let total = self.unpacked.fetch_add(read as u64, Ordering::Relaxed) + read as u64;
        if total > self.limit {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, UnpackedLimit(self.limit)));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn archive(entries: &[(&str, &[u8])]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut zip = zip::ZipWriter::new(file.as_file_mut());
        for (name, bytes) in entries {
            zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap();
        file
    }

    fn contents(source: &Source, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut reader = source.reader(source.entry(name).unwrap()).unwrap();
        reader.read_to_end(&mut bytes).map(|_| bytes)
    }

    #[test]
    fn archives_are_read_in_place_without_their_litter() {
        let zip = archive(&[("A/b.txt", b"hello"), ("A/.DS_Store", b"x"), ("__MACOSX/A/._b.txt", b"y")]);
        let source = Source::open(zip.path(), Limits::default()).unwrap();
        assert_eq!(source.entries().iter().map(|e| &*e.name).collect::<Vec<_>>(), ["A/b.txt"]);
        assert_eq!(contents(&source, "A/b.txt").unwrap(), b"hello");
        assert_eq!(source.peek(source.entry("A/b.txt").unwrap(), 2).unwrap(), b"he");
    }

    #[test]
    fn what_an_archive_lacks_may_lie_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("qm9.zip");
        std::fs::copy(archive(&[("a.sdf", b"x"), ("a.sdf.csv", b"inside")]).path(), &path).unwrap();
        for (name, text) in [("a.sdf.csv", "outside"), ("list.txt", "outside")] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let source = Source::open(&path, Limits::default()).unwrap();
        let read = |name: &str| {
            let entry = source.beside(source.entry("a.sdf").unwrap(), name)?;
            let mut text = String::new();
            source.reader(&entry).unwrap().read_to_string(&mut text).unwrap();
            Some(text)
        };
        assert_eq!(read("a.sdf.csv").as_deref(), Some("inside"));
        assert_eq!(read("list.txt").as_deref(), Some("outside"));
        assert_eq!(read("nothing.txt"), None);
        // A folder is what is in it, and no more.
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(inner.join("b.sdf"), "x").unwrap();
        let source = Source::open(&inner, Limits::default()).unwrap();
        assert!(source.beside(source.entry("b.sdf").unwrap(), "list.txt").is_none());
    }

    #[test]
    fn names_that_leave_the_archive_are_refused() {
        for name in ["../evil.txt", "a/../../b", "/etc/passwd", "C:/x"] {
            let zip = archive(&[(name, b"x")]);
            let error = Source::open(zip.path(), Limits::default()).unwrap_err();
            assert!(error.to_string().contains("leads out of the archive"), "{name}: {error}");
        }
    }

    /// Issue 14, point 14: of two entries with one name, tools disagree which one counts.
    #[test]
    fn a_zip_with_duplicate_entry_names_is_refused() {
        // The writer refuses duplicates, so one name is changed in the bytes, in its header and in the directory.
        let zip = archive(&[("a.txt", b"1 2"), ("b.txt", b"3 4")]);
        let text = std::fs::read(zip.path()).unwrap();
        let mut changed = text.clone();
        for at in 0..text.len() - 5 {
            if &text[at..at + 5] == b"b.txt" {
                changed[at] = b'a';
            }
        }
        std::fs::write(zip.path(), &changed).unwrap();
        let error = Source::open(zip.path(), Limits::default()).unwrap_err();
        assert!(error.to_string().contains("have the same name"), "{error}");
        let zip = archive(&[("d/a.txt", b"1 2"), ("d\\a.txt", b"3 4")]);
        let error = Source::open(zip.path(), Limits::default()).unwrap_err();
        assert!(error.to_string().contains("have the same name"), "{error}");
    }

    /// Issue 14, point 14: names of entries reach a terminal only escaped.
    #[test]
    fn terminal_escapes_in_entry_names_are_shown() {
        let zip = archive(&[("../\x1b[31mevil", b"x")]);
        let error = Source::open(zip.path(), Limits::default()).unwrap_err().to_string();
        assert!(error.contains("[31mevil") && !error.contains('\x1b'), "{error:?}");
        let zip = archive(&[("\x1b[31m.g6", b"\x1b]0;title\x07")]);
        let error = super::super::read(zip.path(), &Default::default()).unwrap_err().to_string();
        assert!(error.contains("\\u{1b}[31m.g6") && !error.chars().any(char::is_control), "{error:?}");
    }

    #[test]
    fn what_unpacks_is_limited() {
        let zip = archive(&[("zeros", &[0; 100_000])]);
        let source = Source::open(zip.path(), Limits { max_unpacked: 99_999, ..Limits::default() }).unwrap();
        let error = contents(&source, "zeros").unwrap_err();
        assert_eq!(error.to_string(), "the archive unpacks to more than the 99999 bytes allowed");
        let defect = read_failure("x.zip/zeros", error);
        assert_eq!(defect.remedy, Some(crate::Remedy::RaiseUnpackedLimit));
        let source = Source::open(zip.path(), Limits { max_unpacked: 100_000, ..Limits::default() }).unwrap();
        assert_eq!(contents(&source, "zeros").unwrap().len(), 100_000);
    }

    #[test]
    fn a_damaged_entry_is_noticed() {
        let zip = archive(&[("t", b"some text that is stored and then damaged in the middle")]);
        let mut bytes = std::fs::read(zip.path()).unwrap();
        bytes[40] ^= 1;
        std::fs::write(zip.path(), &bytes).unwrap();
        let source = Source::open(zip.path(), Limits::default()).unwrap();
        assert!(contents(&source, "t").is_err());
        std::fs::write(zip.path(), &bytes[..60]).unwrap();
        let error = Source::open(zip.path(), Limits::default()).unwrap_err();
        assert!(error.to_string().contains("not a sound zip archive"), "{error}");
    }
}
