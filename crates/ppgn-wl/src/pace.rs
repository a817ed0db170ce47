//! How long computations stay stoppable: they count their work and look at the interrupt every 2^18 steps.

use crate::{Error, Interrupt};

/// Counts work between two looks at an [`Interrupt`].
pub(crate) struct Pace<'a> {
    interrupt: &'a Interrupt,
    work: usize,
}

impl<'a> Pace<'a> {
    /// A look is a relaxed atomic read, so this is far more often than a person could notice.
    const STRIDE: usize = 1 << 18;

    pub(crate) fn new(interrupt: &'a Interrupt) -> Self {
        Pace { interrupt, work: 0 }
    }

    /// Counts so many steps; an error if it was asked to stop.
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
