//! placeholder
use super::*;
pub(crate) fn read(_source: &Source, _entry: &Entry, _report: &mut Report) -> Result<Dataset> {
    Err(Error::call("placeholder"))
}
