//! Files that appear complete or not at all, and stay. Every crate of ppgn writes its results through these functions, so a
//! process that is killed while it writes leaves the old file or none, never half of a new one, and a power cut after
//! they return takes nothing back.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Read, Write};
use std::path::Path;

/// Writes a file under a temporary name in the same folder, syncs it, renames it to `path`, and syncs the folder.
///
/// ```
/// use ppgn_graph::{Error, file::write_atomically};
/// use std::io::Write;
/// let path = std::env::temp_dir().join(format!("ppgn-doc-{}.txt", std::process::id()));
/// write_atomically(&path, |out| writeln!(out, "complete").map_err(|e| Error::io(&path, e)))?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"complete\n");
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), Error>(())
/// ```
pub fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<&mut File>) -> Result<()>,
) -> Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let fail = |e| Error::io(path, e);
    let mut file = tempfile::Builder::new().prefix(".ppgn-").tempfile_in(folder).map_err(fail)?;
    let mut buffer = BufWriter::with_capacity(1 << 17, file.as_file_mut());
    fill(&mut buffer)?;
    buffer.flush().map_err(fail)?;
    drop(buffer);
    // A temporary file is private; the finished file has ordinary permissions.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(fail)?;
    }
    file.as_file().sync_all().map_err(fail)?;
    file.persist(path).map_err(|e| fail(e.error))?;
    sync_folder(folder)
}

/// Makes the names in a folder last: without this, a power cut may undo a rename whose file was synced.
///
/// Where the system cannot sync folders (Windows, some network file systems) nothing is done.
pub fn sync_folder(folder: &Path) -> Result<()> {
    let Ok(opened) = File::open(folder) else { return Ok(()) };
    match opened.sync_all() {
        Err(e) if !matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Err(Error::io(folder, e))
        }
        _ => Ok(()),
    }
}

/// The bytes of a regular file. Anything else with that name, such as a pipe, would be waited for without end, and is an
/// error instead.
///
/// ```
/// use ppgn_graph::file::read_whole;
/// assert!(read_whole(&std::env::temp_dir()).unwrap_err().to_string().contains("not a regular file"));
/// ```
pub fn read_whole(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes).map_err(|e| Error::io(path, e))?;
    Ok(bytes)
}

/// Opens a regular file for reading, and nothing else: see [`read_whole`].
pub fn open_regular(path: &Path) -> Result<File> {
    let fail = |e| Error::io(path, e);
    if !std::fs::metadata(path).map_err(fail)?.is_file() {
        return Err(fail(std::io::Error::new(ErrorKind::InvalidInput, "not a regular file")));
    }
    File::open(path).map_err(fail)
}

/// Writes these bytes with [`write_atomically`].
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    write_atomically(path, |out| out.write_all(bytes).map_err(|e| Error::io(path, e)))
}
