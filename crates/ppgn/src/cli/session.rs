//! The session of the process: created by the command that trains, interrupted by Ctrl-C.

use super::interrupt::on_ctrl_c;
use super::threads::ThreadsArgs;
use anyhow::Result;
use ppgn::train::Session;

/// A session that Ctrl-C interrupts.
pub(crate) fn session() -> Session {
    Session::default().with_interrupt(on_ctrl_c())
}

impl ThreadsArgs {
    /// The session with the threads of `--threads`.
    pub(crate) fn of(self, session: Session) -> Result<Session> {
        match self.threads {
            Some(threads) => Ok(session.with_threads(threads.into())?),
            None => Ok(session),
        }
    }
}
