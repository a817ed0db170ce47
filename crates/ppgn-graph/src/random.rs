//! Randomness as a function: a stream is fully determined by a seed and the purpose it serves.
//!
//! Nothing random is ever saved. Whoever needs numbers asks for the [`Stream`] of (seed, purpose, indices) and gets
//! the same ones on every machine and in every version: ChaCha8 keyed by a SHA-256 of those words, and our own
//! integer, real and shuffle routines on top, because those of general crates may change between releases.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// A seeded stream of random numbers.
///
/// ```
/// use ppgn_graph::random::Stream;
/// let mut a = Stream::new(7, "split", &[3]);
/// let mut b = Stream::new(7, "split", &[3]);
/// assert_eq!(a.below(1000), b.below(1000));
/// ```
#[derive(Debug, Clone)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of this seed for this purpose and these indices (a fold, an epoch, a graph).
    pub fn new(seed: u64, purpose: &str, indices: &[u64]) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"ppgn-random-1\0");
        hash.update(seed.to_le_bytes());
        hash.update((purpose.len() as u64).to_le_bytes());
        hash.update(purpose.as_bytes());
        for index in indices {
            hash.update(index.to_le_bytes());
        }
        Stream(ChaCha8Rng::from_seed(hash.finalize().into()))
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform integer in `0..n`, without bias. `n` must not be 0.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "below(0)");
        // Lemire's method: the high word of a 128-bit product, rejecting the few low words that would bias it.
        let n = n as u64;
        let threshold = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.bits()) * u128::from(n);
            if product as u64 >= threshold {
                return (product >> 64) as usize;
            }
        }
    }

    /// A uniform real in `[0, 1)` with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A uniform real in `[low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A normal number with mean 0 and variance 1, of two uniform ones (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Puts the items in uniformly random order (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }

    /// A uniformly random permutation of `0..n`.
    pub fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut p: Vec<u32> = (0..n as u32).collect();
        self.shuffle(&mut p);
        p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_for_ever() {
        // A change here changes every split and initial weight ever reported.
        let mut s = Stream::new(0, "test", &[]);
        assert_eq!([s.below(100), s.below(100), s.below(100), s.below(100)], GOLDEN);
        let mut p = Stream::new(1, "test", &[2]);
        assert_eq!(p.permutation(8), GOLDEN_PERMUTATION);
    }
    const GOLDEN: [usize; 4] = [75, 98, 24, 85];
    const GOLDEN_PERMUTATION: [u32; 8] = [5, 0, 2, 4, 7, 6, 1, 3];

    #[test]
    fn purposes_and_indices_separate() {
        let first = |seed, purpose, indices: &[u64]| Stream::new(seed, purpose, indices).bits();
        let all = [first(0, "a", &[]), first(1, "a", &[]), first(0, "b", &[]), first(0, "a", &[0])];
        for i in 0..4 {
            for j in 0..i {
                assert_ne!(all[i], all[j]);
            }
        }
    }

    #[test]
    fn below_is_uniform_enough() {
        let mut s = Stream::new(5, "uniform", &[]);
        let mut counts = [0usize; 7];
        for _ in 0..70_000 {
            counts[s.below(7)] += 1;
        }
        assert!(counts.iter().all(|&c| (9_600..10_400).contains(&c)), "{counts:?}");
    }
}
