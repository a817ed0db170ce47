//! Lists of numbers as people write them: `1-10`, `3`, `1,3,5`, `1-3,7`.

use std::ops::RangeInclusive;

/// The most numbers of one range.
const MOST: u64 = 100_000;

/// The numbers of a list, each once, in ascending order; nothing where it is not a list of numbers within these bounds.
pub(super) fn numbers(text: &str, bounds: RangeInclusive<u64>) -> Option<Vec<u64>> {
    let number = |t: &str| t.trim().parse::<u64>().ok().filter(|n| bounds.contains(n));
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if last < first || last - first >= MOST {
            return None;
        }
        all.extend(first..=last);
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}
