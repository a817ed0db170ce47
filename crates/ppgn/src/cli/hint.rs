//! Hints that the command line adds to an error: the flag or command that would avoid it. Libraries know no flags;
//! they have typed errors and remedies, and only this file translates them to flags.

use ppgn::graph::Remedy;
use ppgn::graph::format::Format;

/// The hint for an error, if there is one.
pub(super) fn hint(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let wl = cause.downcast_ref().and_then(of_wl);
        let graph = || cause.downcast_ref().and_then(of_graph);
        let nn = || cause.downcast_ref().and_then(of_network);
        wl.or_else(graph).or_else(nn).or_else(|| cause.downcast_ref().and_then(of_training))
    })
}

fn of_wl(error: &ppgn::wl::Error) -> Option<String> {
    matches!(error, ppgn::wl::Error::Memory { .. }).then(|| "--max-memory raises the limit".into())
}

fn of_graph(error: &ppgn::graph::Error) -> Option<String> {
    error.remedy().map(|remedy| advice(&remedy))
}

fn of_network(error: &ppgn::nn::Error) -> Option<String> {
    match error {
        ppgn::nn::Error::Labels(_) => Some("--ignore-labels leaves labels out".into()),
        ppgn::nn::Error::Graph(error) => of_graph(error),
        ppgn::nn::Error::Wl(error) => of_wl(error),
        _ => None,
    }
}

fn of_training(error: &ppgn::train::Error) -> Option<String> {
    use ppgn::train::{Error, Fits};
    Some(match error {
        Error::Job { source, .. } => return of_training(source),
        Error::Graph(error) => return of_graph(error),
        Error::Wl(error) => return of_wl(error),
        Error::Network(error) => return of_network(error),
        Error::Exists { path } => {
            format!("--out names another folder; `ppgn train --resume {}` resumes a run", path.display())
        }
        Error::OtherSettings { .. } => {
            "the same settings resume it (a larger --epochs extends it), --out names another folder".into()
        }
        Error::NoDevice { supported: false, .. } => super::device::INSTALL.into(),
        Error::NoDevice { .. } => "`ppgn devices` lists what is there".into(),
        Error::NothingToTrain { .. } => "`ppgn predict` and `ppgn embed` use it".into(),
        Error::NeedsClasses { .. } => {
            "`ppgn train --split 80/10/10` is the paper's protocol for regression".into()
        }
        Error::Varied { name } => {
            format!("leave --{} out, or give a --grid without `{name}`", name.replace('_', "-"))
        }
        Error::NothingAtLevel { item, columns, .. } => match columns.is_empty() {
            true => format!("--labels gives a table with a row per {item}"),
            false => format!("--target names one of them, --labels gives a table with a row per {item}"),
        },
        Error::NoValidation => {
            "`ppgn train --split 80/10/10` has a validation set, and so has `ppgn cv --select validation`"
                .into()
        }
        Error::Shortened { .. } => {
            "--epochs is the number of all epochs of the run, those done included".into()
        }
        Error::VariedSeed { .. } => "give --seed instead".into(),
        Error::Memory { fits: Fits::Batch(n), .. } => {
            format!("when training, --batch {n} fits; --max-memory raises the limit")
        }
        Error::Memory { fits: Fits::Jobs(n), .. } if *n > 0 => {
            format!("--jobs {n} runs fewer at once; --max-memory raises the limit")
        }
        Error::Memory { .. } => {
            "smaller graphs or narrower --blocks need less; --max-memory raises the limit".into()
        }
        Error::NotFinite(_) => "a smaller --rate may help".into(),
        _ => return None,
    })
}

/// A remedy as flags and commands.
pub(super) fn advice(remedy: &Remedy) -> String {
    match remedy {
        Remedy::RaiseUnpackedLimit => "--max-unpacked raises the limit".into(),
        Remedy::NameFormat => {
            format!("--format names one of {}", Format::ALL.map(Format::name).join(", "))
        }
        Remedy::NameLabels => "--labels takes it, beside the file or folder of the graphs".into(),
        Remedy::NameClass => "--class names it".into(),
        Remedy::AllowLoss => "--lossy leaves it out".into(),
        Remedy::ListData => "`ppgn data list` shows all data".into(),
        Remedy::Download(name) => {
            format!("`ppgn data get {name}` downloads it; --data-dir or PPGN_DATA names another data folder")
        }
        Remedy::NameMirror => "`ppgn data get NAME --from URL` downloads from a mirror".into(),
        Remedy::Replace => "`ppgn data get NAME --force` replaces the file".into(),
        // The library may have remedies that the command line does not know yet.
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

    #[test]
    fn advice_is_found_below_the_errors_of_training() {
        use ppgn::train::Error;
        let inner = Error::Varied { name: "decay_every".into() };
        let error = Error::Job { name: "fold 3".into(), source: Box::new(inner) };
        let error = anyhow::Error::from(error).context("more");
        assert_eq!(hint(&error).unwrap(), "leave --decay-every out, or give a --grid without `decay_every`");
        let memory = ppgn::wl::Error::Memory { test: ppgn::wl::Test::COLOUR_REFINEMENT, need: 2, limit: 1 };
        assert_eq!(hint(&Error::from(memory).into()).as_deref(), Some("--max-memory raises the limit"));
        assert_eq!(hint(&anyhow::anyhow!("something else")), None);
    }
}
