//! The command line of ppgn.
//!
//! Exit codes: 0 for success, 1 for a job that failed (a damaged file, a full disk), 2 for a wrong call; 130, 143 and 129
//! where SIGINT (Ctrl-C), SIGTERM or SIGHUP stopped it. With `--json`, the last line of standard output is one JSON
//! object; everything meant for people while a command runs goes to standard error.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
