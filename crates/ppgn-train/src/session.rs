//! What runs share: the data folder, a way to stop, threads, buffers, and the colours of the datasets used last.
//!
//! Nothing of this is global: whoever trains makes a session and hands it to every call. Sessions are cheap to clone, and
//! clones share their colours, so the folds and trials of one process find the colours of their dataset once.

use crate::error::{Error, Result};
use crate::ranks::Ranks;
use crate::space::ColourCache;
use ppgn_nn::device::Accelerator;
use ppgn_nn::{Colours, Workspace};
use ppgn_wl::Interrupt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The surroundings of training and prediction.
///
/// Sessions may be used from several threads at once, also from the threads of a rayon pool.
///
/// ```
/// use ppgn_train::Session;
/// let session = Session::default();                        // keeps nothing on disk, uses the current rayon pool
/// let two = session.clone().with_threads(2)?;              // the same colours, two threads of its own
/// assert_eq!(two.install(rayon::current_num_threads), 2);
/// # Ok::<(), ppgn_train::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Session {
    cache_dir: Option<Arc<Path>>,
    interrupt: Interrupt,
    max_memory: Option<u64>,
    pool: Option<Arc<rayon::ThreadPool>>,
    colours: Arc<ColourCache>,
    workspace: Workspace,
    ranks: Option<Ranks>,
    device: Option<Arc<dyn Accelerator>>,
}

impl Session {
    /// The stack of a thread, in bytes, as the main thread has it: the depth of a network must not be what ends a job.
    const STACK: usize = 8 << 20;

    /// The same session with this cache folder: colours are kept in its folder `colours`. Without one, nothing is kept on
    /// disk.
    pub fn with_cache_dir(mut self, cache_dir: Option<PathBuf>) -> Self {
        self.cache_dir = cache_dir.map(Arc::from);
        self
    }

    /// The same session with this interrupt. Once it is set, colouring and training end within a moment; the running step is
    /// discarded.
    pub fn with_interrupt(mut self, interrupt: Interrupt) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// The same session with a limit on the memory that colouring, training and prediction may take, in bytes. It is held
    /// against estimates: what would need more is refused before it starts.
    pub fn with_max_memory(mut self, bytes: Option<u64>) -> Self {
        self.max_memory = bytes;
        self
    }

    /// The same session with its own threads. Without, everything runs in the rayon pool of the caller.
    pub fn with_threads(mut self, threads: usize) -> Result<Self> {
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).stack_size(Self::STACK).build();
        let pool = pool.map_err(|e| Error::Threads { threads, message: e.to_string() })?;
        self.pool = Some(Arc::new(pool));
        Ok(self)
    }

    /// The same session as one of several ranks, which share the work.
    pub fn with_ranks(mut self, ranks: Option<Ranks>) -> Self {
        self.ranks = ranks;
        self
    }

    /// The ranks that share the work, if there are several.
    pub fn ranks(&self) -> Option<&Ranks> {
        self.ranks.as_ref().filter(|ranks| ranks.size() > 1)
    }

    /// Whether this process writes what concerns all ranks: rank 0 does, and a process that is alone.
    pub fn leads(&self) -> bool {
        self.ranks().is_none_or(Ranks::leads)
    }

    /// The same session with a device that trains and predicts instead of the CPU engine.
    pub fn with_device(mut self, device: Option<Arc<dyn Accelerator>>) -> Self {
        self.device = device;
        self
    }

    /// The device that trains and predicts; nothing for the CPU engine.
    pub fn device(&self) -> Option<&dyn Accelerator> {
        self.device.as_deref()
    }

    /// The cache folder.
    pub fn cache_dir(&self) -> Option<&Path> {
        self.cache_dir.as_deref()
    }

    /// What stops the work of this session.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// The limit on memory that was set.
    pub fn max_memory(&self) -> Option<u64> {
        self.max_memory
    }

    /// The bytes that work may take: the limit that was set, or what the machine and its control groups have
    /// [available](ppgn_graph::memory::available). `None` where neither is known.
    pub fn memory(&self) -> Option<u64> {
        let neighbours = self.ranks().map_or(1, Ranks::neighbours) as u64;
        self.max_memory.or_else(|| ppgn_graph::memory::available().map(|bytes| bytes / neighbours))
    }

    /// An error once the interrupt was set.
    pub fn check(&self) -> Result<()> {
        self.interrupt.check().map_err(|_| Error::Interrupted)
    }

    /// Runs something on the session's threads, or right here where it has none.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Releases the memory that is kept for later: colours, and buffers that are not in use.
    pub fn clear(&self) {
        self.colours.clear();
        self.workspace.release();
    }

    /// Where the networks of this session have their buffers; its interrupt ends their passes.
    pub(crate) fn workspace(&self) -> Workspace {
        self.workspace.stopped_by(self.interrupt.flag())
    }

    /// The colours of this key, found on the session's threads where they are not at hand.
    pub(crate) fn colours(
        &self,
        key: &str,
        find: impl FnOnce() -> Result<Colours> + Send,
    ) -> Result<Arc<Colours>> {
        self.colours.get(key, &self.interrupt, || self.install(find))
    }
}
