//! placeholder
use super::*;
pub(crate) fn prefix(entry: &Entry) -> Option<&str> {
    entry.file_name().strip_suffix("_A.txt")
}
pub(crate) fn read(_source: &Source, _entry: &Entry, _report: &mut Report) -> Result<Dataset> {
    Err(Error::call("placeholder"))
}
pub(crate) fn write(_records: Records<'_>, _out: &Path, _options: WriteOptions) -> Result<Written> {
    Err(Error::call("placeholder"))
}
