//! MPI as a [`Link`] between ranks.
//!
//! One thread makes all calls to MPI, from initialising to finalising it, so that a library without support for threads would
//! do, and so that messages make progress while the other threads compute: MPI moves them only inside its own calls. Others put
//! what they send into a queue and find what has arrived in an [`Inbox`]. While somebody waits, the thread looks for messages
//! all the time at first, then now and then; while nobody does it sleeps, so that an idle rank uses next to nothing of its core,
//! and one that computes has all of it.

use mpi::collective::CommunicatorCollectives;
use mpi::environment::Threading;
use mpi::point_to_point::{Destination, MatchedReceiveVec, Source};
use mpi::topology::{Communicator, SimpleCommunicator};
use ppgn_train::ranks::{Channel, Inbox, Link, Ranks};
use std::fs::OpenOptions;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Why the ranks could not be connected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// MPI could not be initialised.
    #[error("MPI cannot be initialised, or not with more than one thread")]
    Initialise,
    /// The thread that talks to MPI could not be started, or the output of a rank not be redirected.
    #[error("{0}")]
    System(#[from] std::io::Error),
}

/// The variables by which launchers tell a process that it is one of several.
const LAUNCHED: [&str; 4] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS"];

/// The largest message that is sent at once, in bytes; MPI counts in 32 bits.
const LARGEST: usize = 1 << 30;

/// The tag of a message that says that its sender leaves.
const LEAVES: i32 = 1000;

/// The tag of a part of a message that is not the last part is that of the last, and this more.
const MORE: i32 = 500;

/// How long to look for messages without a pause while somebody waits, and the pauses while somebody waits and while
/// nobody does.
const EAGER: Duration = Duration::from_millis(2);
const WAITING: Duration = Duration::from_micros(200);
const IDLE: Duration = Duration::from_millis(2);

/// The connection of this process to the other ranks. [`Mpi::finish`] ends it.
#[derive(Debug)]
pub struct Mpi {
    wire: Arc<Wire>,
    thread: JoinHandle<()>,
}

/// The side of the connection that all threads use.
#[derive(Debug)]
struct Wire {
    seat: Seat,
    inbox: Arc<Inbox>,
    outgoing: Mutex<Sender<Outgoing>>,
    /// The number of messages that were given to the thread and have not been sent.
    unsent: Arc<AtomicUsize>,
}

/// Where this rank is among the others, and what it has.
#[derive(Debug)]
struct Seat {
    rank: usize,
    size: usize,
    /// Its number among the ranks of this machine.
    place: usize,
    /// The ranks of this machine.
    neighbours: usize,
    cores: usize,
}

#[derive(Debug)]
enum Outgoing {
    Message {
        to: usize,
        tag: i32,
        bytes: Vec<u8>,
    },
    /// Nothing: somebody begins to wait for a message.
    Look,
    /// To be told when all that was given before has been sent.
    Flush(SyncSender<()>),
    Leave(Option<String>),
}

impl Mpi {
    /// Connects this process if a launcher (`mpirun`, `srun`) started it as one of several; `None` otherwise, without touching
    /// MPI.
    pub fn connect() -> Result<Option<Mpi>, Error> {
        if LAUNCHED.iter().all(|name| std::env::var_os(name).is_none()) {
            return Ok(None);
        }
        let inbox = Arc::new(Inbox::default());
        let (outgoing, queue) = channel();
        let (ready, connected) = sync_channel(1);
        let unsent = Arc::new(AtomicUsize::new(0));
        let (arriving, sending) = (inbox.clone(), unsent.clone());
        let work = move || {
            let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Serialized) else {
                return;
            };
            let world = universe.world();
            let seat = Seat::of(&world);
            // Only this thread calls MPI, but it is not the main one.
            if threading == Threading::Single || ready.send(seat).is_err() {
                return;
            }
            let (world, last) = (Rc::new(world), Instant::now());
            Post { world, inbox: arriving, queue, unsent: sending, left: false, last }.work();
        };
        let thread = std::thread::Builder::new().name("mpi".into()).spawn(work)?;
        let seat = connected.recv().map_err(|_| Error::Initialise)?;
        let wire = Arc::new(Wire { seat, inbox, outgoing: Mutex::new(outgoing), unsent });
        Ok(Some(Mpi { wire, thread }))
    }

    /// The ranks that it connects.
    pub fn ranks(&self) -> Ranks {
        Ranks::new(self.wire.clone())
    }

    /// Sends what this process prints to nowhere: rank 0 speaks for all.
    pub fn mute(&self) -> Result<(), Error> {
        let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdout(&nowhere).map_err(std::io::Error::from)?;
        rustix::stdio::dup2_stderr(&nowhere).map_err(std::io::Error::from)?;
        Ok(())
    }

    /// Leaves the job, with the reason if something went wrong, and waits until all have left.
    pub fn finish(self, why: Option<&str>) {
        self.wire.leave(why);
        // A panic of that thread has been printed.
        let _ = self.thread.join();
    }
}

impl Link for Wire {
    fn rank(&self) -> usize {
        self.seat.rank
    }

    fn size(&self) -> usize {
        self.seat.size
    }

    fn neighbours(&self) -> usize {
        self.seat.neighbours
    }

    fn place(&self) -> usize {
        self.seat.place
    }

    fn cores(&self) -> usize {
        self.seat.cores
    }

    fn send(&self, to: usize, channel: Channel, message: Vec<u8>) {
        self.unsent.fetch_add(1, Ordering::SeqCst);
        self.put(Outgoing::Message { to, tag: channel.0.into(), bytes: message });
    }

    fn flush(&self) {
        if self.unsent.load(Ordering::SeqCst) == 0 {
            return;
        }
        let (sent, all_sent) = sync_channel(1);
        self.put(Outgoing::Flush(sent));
        // An error where the thread has ended: this rank has left.
        let _ = all_sent.recv();
    }

    fn receive(&self, from: Option<usize>, channel: Channel) -> ppgn_train::Result<(usize, Vec<u8>)> {
        // The thread may be in a pause: nobody was waiting.
        self.inbox.take(from, channel, || self.put(Outgoing::Look))
    }

    fn look(&self, from: Option<usize>, channel: Channel) -> ppgn_train::Result<Option<(usize, Vec<u8>)>> {
        self.inbox.look(from, channel)
    }

    fn leave(&self, why: Option<&str>) {
        self.put(Outgoing::Leave(why.map(str::to_string)));
    }
}

impl Wire {
    fn put(&self, outgoing: Outgoing) {
        // The thread ends after this rank has left; what is sent later is for nobody.
        let _ = self.outgoing.lock().unwrap_or_else(|e| e.into_inner()).send(outgoing);
    }
}

/// What the thread that talks to MPI has.
struct Post {
    world: Rc<SimpleCommunicator>,
    inbox: Arc<Inbox>,
    queue: Receiver<Outgoing>,
    /// The number of messages in the queue, or on their way.
    unsent: Arc<AtomicUsize>,
    /// Whether this rank has left.
    left: bool,
    /// When a message was sent or arrived last, or somebody began to wait for one.
    last: Instant,
}

impl Post {
    /// Sends and receives until all ranks have left.
    fn work(mut self) {
        let others = self.world.size() as usize - 1;
        let mut parts = Vec::new();
        while !self.left || self.inbox.departed() < others {
            let quiet = self.last.elapsed();
            let waiting = self.inbox.waiting() > 0;
            let next = if waiting && quiet < EAGER {
                std::thread::yield_now();
                self.queue.try_recv().map_err(|e| e == TryRecvError::Disconnected)
            } else {
                // Whoever begins to wait ends the pause. Every look takes time from those that compute on the same core.
                let pause = if waiting { WAITING } else { IDLE };
                self.queue.recv_timeout(pause).map_err(|e| e == RecvTimeoutError::Disconnected)
            };
            match next {
                Ok(outgoing) => self.send_waiting(outgoing, &mut parts),
                // Nobody can send any more.
                Err(true) => self.left = true,
                Err(false) => {}
            }
            while self.receive(&mut parts) {}
        }
    }

    /// Sends this and all else that waits to be sent, at once.
    fn send_waiting(&mut self, outgoing: Outgoing, parts: &mut Parts) {
        let mut waiting = vec![outgoing];
        waiting.extend(std::iter::from_fn(|| self.queue.try_recv().ok()));
        let (mut messages, mut flushed, mut given) = (Vec::new(), Vec::new(), 0);
        for outgoing in waiting {
            match outgoing {
                Outgoing::Message { to, tag, bytes } => {
                    messages.push((to, tag, bytes));
                    given += 1;
                }
                Outgoing::Leave(why) if !self.left => {
                    let why = why.map_or_else(Vec::new, |why| format!("!{why}").into_bytes());
                    let others = (0..self.world.size()).filter(|&to| to != self.world.rank());
                    messages.extend(others.map(|to| (to as usize, LEAVES, why.clone())));
                    self.left = true;
                }
                Outgoing::Flush(sent) => flushed.push(sent),
                Outgoing::Leave(_) | Outgoing::Look => {}
            }
        }
        self.send(&messages, parts);
        self.unsent.fetch_sub(given, Ordering::SeqCst);
        // Whoever asked is waiting for it.
        for sent in flushed {
            let _ = sent.send(());
        }
    }

    /// Sends messages (to whom, tag, bytes), and receives in the meantime: the others may be doing the same.
    fn send(&mut self, messages: &[(usize, i32, Vec<u8>)], parts: &mut Parts) {
        let world = self.world.clone();
        mpi::request::scope(|scope| {
            let mut requests = Vec::new();
            for (to, tag, bytes) in messages {
                let process = world.process_at_rank(*to as i32);
                let mut rest = bytes.as_slice();
                while rest.len() > LARGEST {
                    let (part, after) = rest.split_at(LARGEST);
                    requests.push(process.immediate_send_with_tag(scope, part, tag + MORE));
                    rest = after;
                }
                requests.push(process.immediate_send_with_tag(scope, rest, *tag));
            }
            while !requests.is_empty() {
                requests = requests.into_iter().filter_map(|request| request.test().err()).collect();
                if !self.receive(parts) && !requests.is_empty() {
                    std::thread::yield_now();
                }
            }
        });
        self.last = Instant::now();
    }

    /// Receives a message, if there is one.
    fn receive(&mut self, parts: &mut Parts) -> bool {
        let Some(found) = self.world.any_process().immediate_matched_probe() else { return false };
        let (bytes, status) = found.matched_receive_vec::<u8>();
        let (from, tag) = (status.source_rank() as usize, status.tag());
        self.last = Instant::now();
        match tag {
            LEAVES => {
                let why = String::from_utf8_lossy(&bytes);
                self.inbox.left(from, why.strip_prefix('!'));
            }
            MORE.. => parts.push((from, tag - MORE, bytes)),
            tag => {
                let mut whole = Vec::new();
                // In order: messages of one tag between two ranks do not overtake each other, and a message is sent as a whole.
                parts.retain(|(sender, of, part)| {
                    let belongs = (*sender, *of) == (from, tag);
                    whole.extend(belongs.then_some(part).into_iter().flatten());
                    !belongs
                });
                whole.extend(bytes);
                self.inbox.put(from, Channel(tag as u8), whole);
            }
        }
        true
    }
}

impl Seat {
    /// The seat of this process in the world; all call it together.
    fn of(world: &SimpleCommunicator) -> Self {
        // In the order of their numbers in the world.
        let here = world.split_shared(world.rank());
        Seat {
            rank: world.rank() as usize,
            size: world.size() as usize,
            place: here.rank() as usize,
            neighbours: here.size() as usize,
            cores: cores(&here),
        }
    }
}

/// The number of cores for this rank: each of those that it may run on counts as a part, if others on its machine may run on it
/// too.
fn cores(here: &SimpleCommunicator) -> usize {
    let neighbours = here.size() as usize;
    let available = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let mine = may_run_on();
    let mut all = vec![0u8; mine.len() * neighbours];
    here.all_gather_into(&mine[..], &mut all[..]);
    let users = |core: usize| all.chunks(mine.len()).filter(|mask| mask[core] > 0).count();
    let own: Vec<usize> = (0..mine.len()).filter(|&core| mine[core] > 0).collect();
    let share = own.iter().map(|&core| 1.0 / users(core) as f64).sum::<f64>() / own.len().max(1) as f64;
    ((available as f64 * share + 1e-6) as usize).max(1)
}

/// 1 for every core that this process may run on, 0 for the others.
#[cfg(target_os = "linux")]
fn may_run_on() -> [u8; CORES] {
    let all = rustix::thread::sched_getaffinity(None);
    std::array::from_fn(|core| all.as_ref().map_or(1, |all| u8::from(all.is_set(core))))
}

#[cfg(not(target_os = "linux"))]
fn may_run_on() -> [u8; CORES] {
    [1; CORES]
}

/// The most cores of a machine that are looked at.
const CORES: usize = 1024;

/// The beginnings of messages whose end has not arrived: sender, tag, bytes.
type Parts = Vec<(usize, i32, Vec<u8>)>;
