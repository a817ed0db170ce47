//! The fixed hash functions that find candidates for equal keys.
//!
//! They have no seed, so the order of colours is the same in every run and on every machine. Nothing depends on how
//! good they are but speed: equal hashes are always followed by a comparison of keys. Tests cut the hashes to a few
//! bits to see that.

/// Spreads the bits of x over all 64 (the finaliser of SplitMix64, a bijection).
#[inline]
pub(crate) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The odd number that stands for position p of a word.
#[inline]
pub(crate) fn odd(p: usize) -> u64 {
    mix(0x5bd1_e995 ^ p as u64) | 1
}

/// How many bits of a hash are used: all, except in tests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hashing {
    shift: u32,
}

impl Hashing {
    /// All 64 bits.
    pub(crate) const FULL: Hashing = Hashing { shift: 0 };

    /// Only this many bits (1 to 64), so that different keys collide.
    #[cfg(test)]
    pub(crate) fn bits(bits: u32) -> Self {
        Hashing { shift: 64 - bits }
    }

    /// The hash of a key: of what it holds, its parent's colour, and the size of the graph, which is that of its
    /// multisets.
    #[inline]
    pub(crate) fn finish(self, content: u64, parent: u32, nodes: usize) -> u64 {
        mix(content ^ mix(u64::from(parent) ^ (nodes as u64).rotate_left(32))) >> self.shift
    }
}
