//! Integers that f64 represents exactly: why the sums of a compiled network do not depend on their order.
//!
//! All weights, codes and features of a compiled network are integers. As long as no partial sum reaches 2^53 in
//! magnitude, f64 arithmetic on them is integer arithmetic: every summation order gives the same bits. So every sum is
//! bounded here by the sum of the magnitudes of its terms, and an error reports any bound that is too large.

use crate::error::{Error, Result};

/// f64 represents all integers up to this magnitude exactly: 2^53.
pub(super) const LIMIT: i128 = 1 << 53;

/// The largest partial sum seen so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Largest(i128);

impl Largest {
    /// Records a bound, or rejects it if it is too large. `what` describes the sum.
    pub(super) fn admit(&mut self, bound: i128, what: impl Fn() -> String) -> Result<()> {
        if bound >= LIMIT {
            return Err(beyond(bound, &what()));
        }
        self.0 = self.0.max(bound);
        Ok(())
    }

    /// The largest bound recorded.
    pub(super) fn bound(self) -> i128 {
        self.0
    }
}

/// The error for sums that f64 would round.
pub(super) fn beyond(bound: i128, what: &str) -> Error {
    Error::unfit(format!(
        "{what} may reach {bound} (2^{:.1}), but f64 is exact below 2^53 only: compile fewer or smaller graphs \
         together, or fewer rounds",
        (bound as f64).log2()
    ))
}

/// The error for numbers too large even to bound.
pub(super) fn unbounded(what: &str) -> Error {
    Error::unfit(format!(
        "{what} exceed 2^127, but f64 is exact below 2^53 only: compile fewer or smaller graphs together, or fewer \
         rounds"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_that_would_round_are_errors_with_their_bound() {
        let mut largest = Largest::default();
        largest.admit(7, || "a sum".into()).unwrap();
        largest.admit(LIMIT - 1, || "a sum".into()).unwrap();
        assert_eq!(largest.bound(), LIMIT - 1);
        let error = largest.admit(LIMIT, || "the sums of round 3".into()).unwrap_err();
        assert!(!error.is_call());
        assert!(error.to_string().starts_with("the sums of round 3 may reach 9007199254740992 (2^53.0)"));
    }
}
