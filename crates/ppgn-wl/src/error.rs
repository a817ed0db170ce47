//! What a Weisfeiler-Leman test can refuse, or be kept from finishing.

/// Why a test gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text names no test.
    #[error(
        "`{0}` is not a test: tests are 1-wl, and k-wl and k-fwl for every k >= 2, such as 2-fwl or 3-wl"
    )]
    UnknownTest(String),
    /// There is nothing to colour.
    #[error("graph {graph} has no nodes: there is nothing to colour")]
    NoNodes {
        /// The graph, counted from 0.
        graph: usize,
    },
    /// No graphs were given.
    #[error("no graphs were given")]
    NoGraphs,
    /// The graphs together have more tuples than can be numbered.
    #[error(
        "colouring {k}-tuples of graphs with up to {nodes} nodes: more tuples than can be numbered (2^32 - 1)"
    )]
    TooManyTuples {
        /// The nodes of the largest graph.
        nodes: usize,
        /// The length of the tuples.
        k: usize,
    },
    /// The isomorphism type of a tuple, which digests and certificates spell out, would be too long.
    #[error("{test}: the isomorphism type of a {}-tuple is too long to write out, k can be at most {most}", test.k())]
    OrderTooLarge {
        /// The test.
        test: crate::Test,
        /// The largest k.
        most: usize,
    },
    /// The graphs together have more edges than can be numbered.
    #[error("the graphs have {links} pairs of neighbours, and at most {} can be refined together", u32::MAX)]
    TooManyEdges {
        /// Each node's neighbours, over all nodes of all graphs.
        links: u64,
    },
    /// The colouring would need more memory than allowed.
    #[error("{test} needs about {} of memory, but only {} are allowed", bytes(*need), bytes(*limit))]
    Memory {
        /// The test.
        test: crate::Test,
        /// The predicted need in bytes.
        need: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The kernel's values would be too large to be exact.
    #[error(
        "the kernel of a graph with {nodes} nodes over {rounds} rounds does not fit 63 bits; use fewer iterations"
    )]
    KernelTooLarge {
        /// The nodes of the largest graph.
        nodes: u64,
        /// The rounds that count.
        rounds: u64,
    },
    /// The rows that were given for a graph's pairs are too few or too many.
    #[error("graph {graph}: {found} values in the rows of its pairs, not {expected}")]
    Rows {
        /// The graph, counted from 0.
        graph: usize,
        /// The values given.
        found: usize,
        /// The nodes squared, times the channels.
        expected: usize,
    },
    /// [`Options::interrupt`](crate::Options::interrupt) was set.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Whether the call itself was wrong (exit code 2), as opposed to a job that failed (1): a job that was stopped or
    /// does not fit into memory was not called wrongly.
    pub fn is_call(&self) -> bool {
        !matches!(self, Error::Interrupted | Error::Memory { .. })
    }
}

fn bytes(n: u64) -> String {
    match n {
        0..=1023 => format!("{n} bytes"),
        1024..=1_048_575 => format!("{:.1} KiB", n as f64 / 1024.0),
        1_048_576..=1_073_741_823 => format!("{:.1} MiB", n as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", n as f64 / 1_073_741_824.0),
    }
}
