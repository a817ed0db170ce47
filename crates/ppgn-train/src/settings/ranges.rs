//! Lists of graph numbers as short texts: `0-119,130`.

use serde::{Deserialize, Serialize};

/// Numbers in ascending order, written as ranges.
///
/// ```
/// use ppgn_train::Ranges;
/// let ranges = Ranges::of(&[7, 0, 1, 2, 9, 8]);
/// assert_eq!(String::from(ranges.clone()), "0-2,7-9");
/// assert_eq!(ranges.list(), [0, 1, 2, 7, 8, 9]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Ranges(Vec<(u32, u32)>);

/// The most numbers of a list: more graphs than a dataset in memory has.
const MOST: u64 = 1 << 32;

impl Ranges {
    /// These numbers; order and repetition do not matter.
    pub fn of(numbers: &[u32]) -> Self {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for number in numbers {
            match ranges.last_mut() {
                Some((_, last)) if number <= last.saturating_add(1) => *last = number,
                _ => ranges.push((number, number)),
            }
        }
        Ranges(ranges)
    }

    /// Whether there is no number.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The numbers, ascending.
    pub fn list(&self) -> Vec<u32> {
        self.0.iter().flat_map(|&(first, last)| first..=last).collect()
    }

    /// The largest number.
    pub fn last(&self) -> Option<u32> {
        self.0.last().map(|&(_, last)| last)
    }
}

impl From<Ranges> for String {
    fn from(ranges: Ranges) -> Self {
        let text = |&(first, last): &(u32, u32)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        ranges.0.iter().map(text).collect::<Vec<_>>().join(",")
    }
}

impl TryFrom<String> for Ranges {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = |part: &str| format!("`{part}` is not a range of graph numbers, such as 0-119");
        let number = |part: &str, text: &str| text.parse::<u32>().map_err(|_| wrong(part));
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(part, first)?, number(part, last)?);
            if last < first || ranges.last().is_some_and(|&(_, before)| before >= first) {
                return Err(format!("{}; ranges are in ascending order", wrong(part)));
            }
            ranges.push((first, last));
        }
        let count: u64 = ranges.iter().map(|&(first, last)| u64::from(last - first) + 1).sum();
        if count > MOST {
            return Err(format!("{count} graph numbers are more than any dataset has"));
        }
        Ok(Ranges(ranges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_and_nonsense_does_not() {
        for numbers in [vec![], vec![5], vec![0, 1, 2, 5, 7, 8], vec![u32::MAX, 0, u32::MAX - 1]] {
            let ranges = Ranges::of(&numbers);
            assert_eq!(Ranges::try_from(String::from(ranges.clone())), Ok(ranges.clone()));
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            assert_eq!(ranges.list(), sorted);
        }
        for wrong in ["a", "3-1", "1-", "-2", "5,1", "1-3,3", "4294967296", "1 - 2"] {
            assert!(Ranges::try_from(wrong.to_string()).is_err(), "{wrong}");
        }
    }
}
