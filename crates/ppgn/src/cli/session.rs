//! The session of the process: created by the command that trains or predicts, stopped by signals and bound by
//! `--max-memory`.

use super::input::size;
use super::interrupt::on_ctrl_c;
use super::ranks::{cores, ranks};
use super::threads::ThreadsArgs;
use anyhow::Result;
use ppgn::train::Session;

/// `--max-memory`.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct MemoryArgs {
    /// Memory limit, such as 2GiB: what is estimated to need more is refused before it starts, and `--space auto` colours
    /// within it [default: the available memory]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_memory: Option<u64>,
}

impl MemoryArgs {
    /// A session that signals interrupt, with this limit.
    pub(crate) fn session(self) -> Session {
        Session::default().with_interrupt(on_ctrl_c()).with_max_memory(self.max_memory).with_ranks(ranks())
    }
}

impl ThreadsArgs {
    /// The session with the threads of `--threads`.
    pub(crate) fn of(self, session: Session) -> Result<Session> {
        match self.threads {
            Some(threads) => Ok(session.with_threads(threads.into())?),
            None if session.ranks().is_some() => Ok(session.with_threads(cores())?),
            None => Ok(session),
        }
    }
}
