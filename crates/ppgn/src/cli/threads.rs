//! The number of threads of a command.

use super::ranks::{cores, ranks};

/// `--threads`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct ThreadsArgs {
    /// Number of threads; results do not depend on it [default: number of cores]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
}

impl ThreadsArgs {
    /// Sets the number of threads for the rest of the process.
    pub(crate) fn apply(self) {
        let shared = ranks().map(|_| cores());
        if let Some(threads) = self.threads.map(usize::from).or(shared) {
            // Only the first call of a process has an effect, and this is it.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        }
    }
}
