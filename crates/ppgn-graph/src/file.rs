//! Files that appear complete or not at all. Every crate of ppgn writes its results through these two functions, so a
//! process that is killed while it writes leaves the old file or none, never half of a new one.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes a file under a temporary name in the same folder, syncs it, and renames it to `path`.
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
    file.as_file().sync_all().map_err(fail)?;
    // A temporary file is private; the finished file has ordinary permissions.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(fail)?;
    }
    file.persist(path).map_err(|e| fail(e.error))?;
    Ok(())
}

/// Writes these bytes with [`write_atomically`].
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    write_atomically(path, |out| out.write_all(bytes).map_err(|e| Error::io(path, e)))
}
