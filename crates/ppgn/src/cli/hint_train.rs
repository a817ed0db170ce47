//! What a user of the command line can do about an error of training. The library names no options; here they are.

use ppgn::train::Error;

/// What can be done about an error, if there is something.
pub(crate) fn hint(error: &anyhow::Error) -> Option<String> {
    of(error.downcast_ref::<Error>()?)
}

fn of(error: &Error) -> Option<String> {
    Some(match error {
        Error::Job { source, .. } => return of(source),
        Error::Exists { path } => {
            format!("--out names another folder; `ppgn train --resume {}` resumes a run", path.display())
        }
        Error::OtherSettings { .. } => "the same settings resume it, --out names another folder".into(),
        Error::NothingToTrain { .. } => "`ppgn predict` and `ppgn embed` use it".into(),
        Error::NeedsClasses { .. } => {
            "`ppgn train --split 80/10/10` is the paper's protocol for regression".into()
        }
        Error::Varied { name } => {
            format!("leave --{} out, or give a --grid without `{name}`", name.replace('_', "-"))
        }
        Error::VariedSeed { .. } => "give --seed instead".into(),
        Error::NotFinite(_) => "a smaller --rate may help".into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_found_below_names_and_context() {
        let inner = Error::Varied { name: "decay_every".into() };
        let error = Error::Job { name: "fold 3".into(), source: Box::new(inner) };
        let error = anyhow::Error::from(error).context("more");
        assert_eq!(hint(&error).unwrap(), "leave --decay-every out, or give a --grid without `decay_every`");
        assert_eq!(hint(&anyhow::anyhow!("something else")), None);
    }
}
