//! placeholder
use crate::format::*;
pub(crate) fn read(_source: &Source, _report: &mut Report) -> Result<Dataset> {
    Err(Error::call("placeholder"))
}
