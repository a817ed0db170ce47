//! Signals as a request to stop: whoever works looks at it between two steps, so that a command ends with a message and
//! says how to resume.
//!
//! The first SIGINT, SIGTERM or SIGHUP makes the request. A command that is still there [`GRACE`] later, because it is
//! reading a large file or waits for a disk, is ended as it is, and so is one that gets a second signal: nothing is lost by
//! that, since every file is written to survive a kill. The exit code is 128 and the number of the signal: 130, 143 or 129.

use ppgn::wl::Interrupt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

/// The exit code of an interrupted command where the signal is not known.
const INTERRUPTED: u8 = 130;

/// How long a command has to end by itself.
#[cfg(unix)]
const GRACE: std::time::Duration = std::time::Duration::from_millis(800);

/// A second signal this soon is part of the first: `timeout` sends two, one to the process and one to its group.
#[cfg(unix)]
const ECHO: std::time::Duration = std::time::Duration::from_millis(100);

/// The signal that came first; 0 before.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// The exit code of a command that a signal ended.
pub(crate) fn interrupted() -> u8 {
    match SIGNAL.load(Ordering::Relaxed) {
        0 => INTERRUPTED,
        signal => 128u8.saturating_add(signal as u8),
    }
}

/// The request to stop that signals make, from the first call on.
pub(crate) fn on_ctrl_c() -> Interrupt {
    static INTERRUPT: OnceLock<Interrupt> = OnceLock::new();
    let interrupt = INTERRUPT.get_or_init(|| {
        let interrupt = Interrupt::default();
        // Without a handler signals still stop the program, only less politely.
        let _ = listen(interrupt.clone());
        interrupt
    });
    interrupt.clone()
}

#[cfg(unix)]
fn listen(interrupt: Interrupt) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use std::time::Instant;
    let mut wanted = vec![SIGINT, SIGTERM];
    // What `nohup` started is to outlive its terminal.
    wanted.extend((!is_ignored(SIGHUP)).then_some(SIGHUP));
    let mut signals = signal_hook::iterator::Signals::new(wanted)?;
    let listener = move || {
        let mut first: Option<Instant> = None;
        for signal in signals.forever() {
            match first {
                None => {
                    SIGNAL.store(signal, Ordering::Relaxed);
                    interrupt.set();
                    first = Some(Instant::now());
                    std::thread::spawn(|| {
                        std::thread::sleep(GRACE);
                        end();
                    });
                }
                Some(first) if first.elapsed() > ECHO => end(),
                Some(_) => {}
            }
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(listener).map(|_| ())
}

/// Ends the process as it is.
#[cfg(unix)]
fn end() {
    eprintln!("stopped; what was finished is kept");
    // Not `std::process::exit`: what it runs may wait for a thread that does not look at the request.
    signal_hook::low_level::exit(interrupted().into());
}

/// Whether the process was started with a signal ignored.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(not(unix))]
fn listen(interrupt: Interrupt) -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, interrupt.flag())?;
        signal_hook::flag::register(signal, interrupt.flag())?;
    }
    Ok(())
}
