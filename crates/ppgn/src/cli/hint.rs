//! What the command line adds to an error: the flag or command that would avoid it. Libraries know no flags; they name
//! a remedy, and this is the only place that puts it into the words of the command line.

use ppgn::graph::Remedy;
use ppgn::graph::format::Format;

/// The advice for an error, if there is any.
pub(super) fn hint(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        if let Some(ppgn::wl::Error::Memory { .. }) = cause.downcast_ref() {
            return Some("--max-memory raises the limit".into());
        }
        cause.downcast_ref::<ppgn::graph::Error>()?.remedy().map(|remedy| advice(&remedy))
    })
}

/// A remedy in the words of the command line.
pub(super) fn advice(remedy: &Remedy) -> String {
    match remedy {
        Remedy::RaiseUnpackedLimit => "--max-unpacked raises the limit".into(),
        Remedy::NameFormat => {
            format!("--format names one of {}", Format::ALL.map(Format::name).join(", "))
        }
        Remedy::AllowLoss => "--lossy leaves it out".into(),
        Remedy::ListData => "`ppgn data list` shows all data".into(),
        Remedy::Download(name) => {
            format!("`ppgn data get {name}` downloads it; --data-dir or PPGN_DATA names another data folder")
        }
        Remedy::NameMirror => "`ppgn data get NAME --from URL` downloads from a mirror".into(),
        Remedy::Replace => "`ppgn data get NAME --force` replaces the file".into(),
        // Remedies may be added to the library before the command line knows them.
        _ => "see `ppgn --help`".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ppgn::graph::{Defect, Error};

    #[test]
    fn advice_is_found_through_contexts() {
        let defect = Defect::new("x.zip", "too much").remedy(Remedy::RaiseUnpackedLimit);
        let error = anyhow::Error::from(Error::from(defect)).context("fold 3");
        assert_eq!(hint(&error).as_deref(), Some("--max-unpacked raises the limit"));
        let memory = ppgn::wl::Error::Memory { test: ppgn::wl::Test::COLOUR_REFINEMENT, need: 2, limit: 1 };
        assert_eq!(hint(&memory.into()).as_deref(), Some("--max-memory raises the limit"));
        assert_eq!(hint(&Error::call("wrong").into()), None);
    }
}
