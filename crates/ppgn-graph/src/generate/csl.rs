//! Circular skip links: the benchmark on which networks no stronger than 1-WL do no better than guessing.
//!
//! From Murphy et al., *Relational Pooling for Graph Representations* (2019), in the form of Chen et al. and Dwivedi
//! et al.: ten classes of 41 nodes, each a cycle with links that skip R nodes, relabelled at random.

use super::families::circulant;
use super::rows::{MAX_GRAPHS, MAX_NODES, check_size};
use super::{Generator, Made, Parameter, SEED};
use crate::error::{Error, Result};
use crate::random::Stream;

pub(super) const CSL: Generator = Generator {
    name: "csl",
    about: "circular skip links, 150 graphs in ten classes; all are 4-regular, so 1-WL guesses and 2-FWL is perfect",
    parameters: &[
        Parameter::new("n", "41", "nodes of each graph, from 5"),
        Parameter::new(
            "skips",
            "2+3+4+5+6+9+11+12+13+16",
            "the skip of each class, joined by +, from 2 to (n-1)/2",
        ),
        Parameter::new("copies", "15", "random relabellings of each class, from 1"),
        SEED,
    ],
    make: |a| {
        let n = a.number("n", 5..=MAX_NODES)?;
        let skips = a.list("skips", 2..=(n - 1) / 2)?;
        csl(n, &skips, a.number("copies", 1..=MAX_GRAPHS)?, a.seed()?)
    },
};

fn csl(n: u32, skips: &[u32], copies: u32, seed: u64) -> Result<Made> {
    check_size((skips.len() as u64).saturating_mul(copies.into()), n.into(), 4 * u64::from(n))?;
    check_distinct(n, skips)?;
    let (mut graphs, mut labels) = (Vec::new(), Vec::new());
    for (class, &skip) in skips.iter().enumerate() {
        let drawn = circulant(n, &[1, skip], false)?;
        for _ in 0..copies {
            let mut random = Stream::new(seed, "generate/csl", &[graphs.len() as u64]);
            graphs.push(drawn.permute_randomly(&mut random));
            labels.push(class as i64);
        }
    }
    Ok(Made { graphs, labels: Some(labels), ..Made::default() })
}

/// Refuses classes that hold isomorphic graphs, which nothing could distinguish: multiplying all nodes by r
/// turns the links {1, s} into {r, rs}, which are the links {1, r} if rs = 1 or -1 modulo n.
fn check_distinct(n: u32, skips: &[u32]) -> Result<()> {
    let mut sorted = skips.to_vec();
    sorted.sort_unstable();
    for &s in skips {
        if sorted.partition_point(|&t| t <= s) - sorted.partition_point(|&t| t < s) > 1 {
            return Err(Error::call(format!("skip {s} is given twice, but classes must differ")));
        }
        if let Some(r) = partner(n, s).filter(|&r| r != s && sorted.binary_search(&r).is_ok()) {
            let (s, r) = (s.min(r), s.max(r));
            return Err(Error::call(format!(
                "skips {s} and {r} give the same graphs on {n} nodes ({s}*{r} is 1 or -1 modulo {n}), classes must \
                 differ"
            )));
        }
    }
    Ok(())
}

/// The r in 1..n/2 with rs = 1 or -1 modulo n, where s has an inverse. Euclid's algorithm.
fn partner(n: u32, s: u32) -> Option<u32> {
    let n = i64::from(n);
    let (mut a, mut b, mut x, mut y) = (n, i64::from(s), 0, 1);
    while b > 0 {
        (a, b, x, y) = (b, a % b, y, x - a / b * y);
    }
    let inverse = x.rem_euclid(n);
    (a == 1).then_some(inverse.min(n - inverse) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_multiply_to_plus_or_minus_one() {
        for n in 5..60u32 {
            for s in 2..n / 2 {
                let wanted = (1..=n / 2).find(|r| r * s % n == 1 || r * s % n == n - 1);
                assert_eq!(partner(n, s), wanted, "{n} {s}");
            }
        }
    }

    #[test]
    fn classes_that_are_the_same_are_refused() {
        let message = |n, skips: &[u32]| csl(n, skips, 1, 0).err().unwrap().to_string();
        assert_eq!(message(41, &[3, 2, 3]), "skip 3 is given twice, but classes must differ");
        assert_eq!(
            message(41, &[20, 3, 2]),
            "skips 2 and 20 give the same graphs on 41 nodes (2*20 is 1 or -1 modulo 41), classes must differ"
        );
        assert!(csl(5, &[2], 1, 0).is_ok(), "2*2 = -1 modulo 5, but there is only one class");
    }
}
