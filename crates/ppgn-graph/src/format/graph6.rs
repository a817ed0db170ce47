//! placeholder
use super::*;
pub(crate) fn stream<'a>(_source: Source, _entry: Entry, _report: &'a mut Report) -> Result<Records<'a>> {
    Err(Error::call("placeholder"))
}
pub(crate) fn write(_records: Records<'_>, _out: &Path, _options: WriteOptions) -> Result<Written> {
    Err(Error::call("placeholder"))
}
