//! The memory that a refinement on tuples needs, estimated before any of it is allocated.

use crate::types::Types;
use crate::{Error, Family, Options, Test};
use ppgn_graph::Graph;

/// What a tuple costs at most, in bytes, when the need is greatest: while classes are numbered, if every tuple is one.
/// Its colour and its class (8), its colour's parent, size and mark (9), its class's hash, tuple, size and number (24),
/// and then either its place among the classes of all graphs (20) or its parent, size, order and new colour (32). While
/// classes are found it is less: colours and marks (14), a hash (8), an entry (16), and for 2-FWL the factors of the
/// product or a transposed copy (8).
const A_TUPLE: u64 = 80;

/// What a line of k-WL costs: its hash, its entry and its class, and a bound if it has a class to itself.
const A_LINE: u64 = 32;

/// The nodes of every graph, if their k-tuples can be numbered and their colouring fits into the memory allowed.
pub(crate) fn check(graphs: &[Graph], test: Test, options: &Options) -> Result<Vec<usize>, Error> {
    let nodes: Vec<usize> = graphs.iter().map(Graph::nodes).collect();
    check_nodes(&nodes, test, options)?;
    Ok(nodes)
}

/// The same for graphs with these numbers of nodes.
pub(crate) fn check_nodes(nodes: &[usize], test: Test, options: &Options) -> Result<(), Error> {
    let Some(&largest) = nodes.iter().max() else { return Err(Error::NoGraphs) };
    if let Some(graph) = nodes.iter().position(|&n| n == 0) {
        return Err(Error::NoNodes { graph });
    }
    let too_many = Error::TooManyTuples { nodes: largest, k: test.k() };
    let all = |count: fn(u64, usize) -> Option<u64>| {
        let sum = nodes.iter().try_fold(0u64, |sum, &n| count(n as u64, test.k())?.checked_add(sum));
        sum.filter(|&sum| sum <= u64::from(u32::MAX)).ok_or(too_many.clone())
    };
    let tuples = all(power)?;
    let lines = if test.family() == Family::Wl { all(lines)? } else { 0 };
    let need = tuples * A_TUPLE + lines * A_LINE;
    match options.max_memory {
        Some(limit) if need > limit => Err(Error::Memory { test, need, limit }),
        _ => Ok(()),
    }
}

/// What a tuple costs while isomorphism types are found, in bytes: its number, and the one that it had as a shorter tuple.
const TYPED_TUPLE: u64 = 8;

/// What a different type costs then, for each of its k places: up to two letters in a table that is at most half full
/// and grows by copying (60), and in a list that does so too (24).
const TYPE_PLACE: u64 = 84;

/// What it costs besides: its word in a list of its own (56), and its place in the order of all words (20).
const TYPE: u64 = 76;

/// Checks the memory that the isomorphism types of k-tuples take. With real attributes or many labels every tuple may
/// have a type of its own, and then types take more than the rounds that follow.
pub(crate) fn check_types(types: &Types, test: Test, k: usize, options: &Options) -> Result<(), Error> {
    let Some(limit) = options.max_memory else { return Ok(()) };
    let relations = types.relation_contents.len() as u64 + 1;
    let need = types.nodes.iter().fold(0u64, |need, nodes| {
        let n = nodes.len() as u64;
        let kinds = n.min(types.node_contents.len() as u64);
        // Place q has one of the nodes before it, or a node of some type with some relation to each of those.
        let words = (0..k as u32).fold(1u64, |words, q| {
            words.saturating_mul(
                kinds.saturating_mul(relations.saturating_pow(q)).saturating_add(u64::from(q)),
            )
        });
        let tuples = power(n, k).unwrap_or(u64::MAX);
        let words = words.min(tuples);
        // While a graph's words are listed, its table is gone; so it is one or the other.
        let each = (TYPE_PLACE * k as u64).max(TYPE + 12 * k as u64);
        need.saturating_add(tuples.saturating_mul(TYPED_TUPLE)).saturating_add(words.saturating_mul(each))
    });
    match need > limit {
        true => Err(Error::Memory { test, need, limit }),
        false => Ok(()),
    }
}

/// n^k; a single node is never too many.
fn power(n: u64, k: usize) -> Option<u64> {
    match n {
        1 => Some(1),
        _ => n.checked_pow(u32::try_from(k).ok()?),
    }
}

/// k n^(k-1), the lines that k-WL numbers.
fn lines(n: u64, k: usize) -> Option<u64> {
    power(n, k - 1)?.checked_mul(if n == 1 { 1 } else { k as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(nodes: &[usize], k: usize, limit: Option<u64>) -> Result<(), Error> {
        let options = Options { max_memory: limit, ..Options::default() };
        check_nodes(nodes, Test::fwl(k)?, &options)
    }

    #[test]
    fn what_cannot_be_numbered_is_refused() {
        assert_eq!(check(&[], 2, None), Err(Error::NoGraphs));
        assert_eq!(check(&[3, 0], 2, None), Err(Error::NoNodes { graph: 1 }));
        for (nodes, k) in [(65_536, 2), (2, 32), (2, 64), (10, usize::MAX), (usize::MAX, 2)] {
            assert_eq!(check(&[nodes], k, None), Err(Error::TooManyTuples { nodes, k }));
        }
        // Each could be, all together not.
        assert_eq!(check(&[60_000, 60_000], 2, None), Err(Error::TooManyTuples { nodes: 60_000, k: 2 }));
        assert_eq!(check(&[65_535], 2, None), Ok(()));
        assert_eq!(check(&[1], usize::MAX, None), Ok(()));
        // 2^30 tuples, but 30 2^29 lines.
        let check_wl = |k| check_nodes(&[2], Test::wl(k)?, &Options::default());
        assert_eq!(check_wl(30), Err(Error::TooManyTuples { nodes: 2, k: 30 }));
        assert_eq!(check_wl(20), Ok(()));
    }

    #[test]
    fn memory_is_limited() {
        let test = Test::fwl(2).unwrap();
        let need = 1_000_000 * A_TUPLE;
        assert_eq!(check(&[1000], 2, Some(need)), Ok(()));
        let limit = need - 1;
        assert_eq!(check(&[1000], 2, Some(limit)), Err(Error::Memory { test, need, limit }));
    }
}
