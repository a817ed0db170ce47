//! Tips for options that a command does not have.
//!
//! clap proposes whatever it finds most similar (`--order` for `--workers`), else to pass the option as a value. Here a
//! proposal is close to what was typed, or the same thing under the name that other software gives it, or the command that
//! has such an option; else the tip is where to look.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Our options by what other software calls them.
const ALSO: [(&str, &[&str]); 11] = [
    ("threads", &["workers", "num-workers", "num-threads", "cores", "cpus", "n-jobs", "nthreads"]),
    ("out", &["output", "output-dir", "outdir", "save", "save-dir", "log-dir", "logdir"]),
    ("blocks", &["hidden", "hidden-dim", "hidden-size", "layers", "num-layers", "width", "widths"]),
    ("epochs", &["max-epochs", "num-epochs", "n-epochs", "iterations"]),
    ("seed", &["random-state", "random-seed"]),
    ("decay", &["gamma", "lr-decay", "decay-factor", "decay-rate"]),
    ("decay-every", &["step-size", "lr-step", "decay-steps"]),
    ("split", &["val-split", "test-size", "test-split", "valid-split", "train-size"]),
    ("resume", &["continue", "restart", "checkpoint", "ckpt", "load"]),
    ("quiet", &["silent", "no-progress"]),
    ("max-memory", &["memory", "mem", "memory-limit"]),
];

/// Options of other software that no command has, and why.
const NONE: [(&[&str], &str); 2] = [
    (
        &["gpu", "gpus", "cuda", "accelerator"],
        "a GPU is chosen with `--device gpu`; `ppgn devices` lists them",
    ),
    (&["verbose", "debug"], "progress is shown unless --quiet is given; --json prints all figures"),
];

/// The error with a tip that helps, where it is about an unknown option. `words` are the arguments of the process.
pub(super) fn with_tip(mut error: clap::Error, mut program: Command, words: &[String]) -> clap::Error {
    let unknown = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) if word.starts_with('-') => {
            word.clone()
        }
        _ => return error,
    };
    program.build();
    let command = called(&program, words);
    let usage = command.clone().render_usage();
    let tip = tip(&program, command, &unknown);
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::SuggestedSubcommand);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    error
}

/// The command that these words call.
fn called<'a>(program: &'a Command, words: &[String]) -> &'a Command {
    words.iter().fold(program, |command, word| command.find_subcommand(word).unwrap_or(command))
}

/// What to do instead of giving this option.
fn tip(program: &Command, command: &Command, unknown: &str) -> String {
    let name = unknown.trim_start_matches('-').split('=').next().unwrap_or_default();
    let name = name.to_ascii_lowercase().replace('_', "-");
    let path = |command: &Command| command.get_bin_name().unwrap_or(command.get_name()).to_string();
    let has = |command: &Command, long: &str| options(command).any(|option| option == long);
    let also = ALSO.iter().find(|(_, names)| names.contains(&name.as_str())).map(|(ours, _)| *ours);
    if let Some(ours) = also.filter(|ours| has(command, ours)) {
        return format!("here it is called '--{ours}'");
    }
    if unknown.starts_with("--")
        && let Some(near) =
            options(command).filter_map(|option| Some((distance(&name, option)?, option))).min()
    {
        return format!("a similar option exists: '--{}'", near.1);
    }
    if let Some((_, why)) = NONE.iter().find(|(names, _)| names.contains(&name.as_str())) {
        return (*why).to_string();
    }
    let wanted = also.unwrap_or(&name);
    let mut others = Vec::new();
    let mut commands: Vec<&Command> = vec![program];
    while let Some(other) = commands.pop() {
        commands.extend(other.get_subcommands());
        others
            .extend((unknown.starts_with("--") && has(other, wanted)).then(|| format!("`{}`", path(other))));
    }
    others.sort();
    match others.as_slice() {
        [] => format!("`{} --help` lists its options", path(command)),
        [one] => format!("'--{wanted}' is an option of {one}"),
        [some @ .., last] if some.len() < 4 => {
            format!("'--{wanted}' is an option of {} and {last}", some.join(", "))
        }
        many => format!("'--{wanted}' is an option of {} and other commands", many[..3].join(", ")),
    }
}

/// The long names of a command's options, aliases among them.
fn options(command: &Command) -> impl Iterator<Item = &str> {
    command
        .get_arguments()
        .flat_map(|option| option.get_long().into_iter().chain(option.get_all_aliases().unwrap_or_default()))
}

/// How far a name is from an option, if it is near: 0 if only hyphens differ, 1 if one is the beginning of the other, else
/// more by one than the typing errors, which are at most one in three letters.
fn distance(name: &str, option: &str) -> Option<usize> {
    let (a, b) = (name.replace('-', ""), option.replace('-', ""));
    let errors = strsim::osa_distance(&a, &b);
    let begins = a.len() >= 3 && b.len() >= 3 && (a.starts_with(&b) || b.starts_with(&a));
    match errors {
        0 => Some(0),
        _ if begins => Some(1),
        _ => (errors * 3 <= a.len()).then_some(errors + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    /// The message for a line of words.
    fn said(line: &str) -> String {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        let all = std::iter::once("ppgn".to_string()).chain(words.clone());
        let error = Cli::command().try_get_matches_from(all).unwrap_err();
        with_tip(error, Cli::command(), &words).render().to_string()
    }

    #[test]
    fn tips_help() {
        for (line, tip) in [
            ("train --epoch 5", "'--epochs'"),
            ("train --batchsize 4", "'--batch-size'"),
            ("train --LR 3", "'--lr'"),
            ("train --learning_rate 3", "'--learning-rate'"),
            ("train --output x", "here it is called '--out'"),
            ("train --workers 3", "here it is called '--threads'"),
            ("train --gpu", "`--device gpu`"),
            ("cv x --cuda", "`ppgn devices`"),
            ("train --verbose", "unless --quiet"),
            ("train --jobs 3", "'--jobs' is an option of `ppgn cv`, "),
            ("train --zzz", "`ppgn train --help` lists its options"),
            ("wl refine x --zzz", "`ppgn wl refine --help` lists its options"),
            ("data info x -Z", "`ppgn data info --help` lists its options"),
            ("cv x --fold 1", "'--folds'"),
        ] {
            let text = said(line);
            assert!(text.contains("tip: ") && text.contains(tip), "{line}: {text}");
            assert!(!text.contains("as a value") && text.matches("tip:").count() == 1, "{line}: {text}");
        }
        // The usage is that of the command, not of the proposal.
        assert!(said("train --epoch 5").contains("Usage: ppgn train [OPTIONS] [DATA]"));
        // What clap says well is left alone.
        assert!(said("trian").contains("a similar subcommand exists: 'train'"));
        assert!(said("cv a b").contains("unexpected argument 'b'"));
    }

    #[test]
    fn only_close_names_are_similar() {
        assert_eq!(distance("batchsize", "batch-size"), Some(0));
        assert_eq!(distance("epoch", "epochs"), Some(1));
        assert_eq!(distance("epohcs", "epochs"), Some(2));
        assert_eq!(distance("workers", "order"), None);
        assert_eq!(distance("dropout", "holdout"), None);
        assert_eq!(distance("x", "y"), None);
    }
}
