//! Keeping computations interruptible: they count their work and check the interrupt every 2^18 steps.

use crate::{Error, Interrupt};

/// Counts work between two looks at an [`Interrupt`].
pub(crate) struct Pace<'a> {
    interrupt: &'a Interrupt,
    work: usize,
}

impl<'a> Pace<'a> {
    /// A check is a relaxed atomic read, and this many steps take a few milliseconds.
    const STRIDE: usize = 1 << 18;

    pub(crate) fn new(interrupt: &'a Interrupt) -> Self {
        Pace { interrupt, work: 0 }
    }

    /// Counts this many steps; an error if it was asked to stop.
    #[inline]
    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), Error> {
        self.work = self.work.saturating_add(steps);
        if self.work < Self::STRIDE {
            return Ok(());
        }
        self.work = 0;
        self.interrupt.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_seen_within_a_stride() {
        let interrupt = Interrupt::default();
        let mut pace = Pace::new(&interrupt);
        assert_eq!(pace.spend(usize::MAX), Ok(()));
        interrupt.set();
        assert_eq!(pace.spend(1), Ok(()));
        assert_eq!(pace.spend(Pace::STRIDE), Err(Error::Interrupted));
    }
}
