//! `ppgn completions`: what a shell needs to complete commands and options.

use super::output;
use anyhow::Result;
use clap_complete::Shell;
use std::process::ExitCode;

/// `ppgn completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Where to put the script:
  bash  ppgn completions bash > ~/.local/share/bash-completion/completions/ppgn
  zsh   ppgn completions zsh > ~/.zfunc/_ppgn      (with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc)
  fish  ppgn completions fish > ~/.config/fish/completions/ppgn.fish")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

/// Runs `ppgn completions`.
pub(crate) fn run(args: &Args, command: &mut clap::Command) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "ppgn", &mut script);
    output::print(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}
