//! Ctrl-C as a request: whoever works looks at it between two steps.

use ppgn::wl::Interrupt;
use std::sync::OnceLock;

/// The exit code of a command that Ctrl-C ended.
pub(crate) const INTERRUPTED: u8 = 130;

/// A request to stop that Ctrl-C makes.
pub(crate) fn on_ctrl_c() -> Interrupt {
    static INTERRUPT: OnceLock<Interrupt> = OnceLock::new();
    let interrupt = INTERRUPT.get_or_init(|| {
        let interrupt = Interrupt::default();
        let handler = interrupt.clone();
        // Without a handler Ctrl-C still stops the program, only less politely.
        let _ = ctrlc::set_handler(move || handler.set());
        interrupt
    });
    interrupt.clone()
}
