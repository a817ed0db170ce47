//! "Did you mean": the known word that is closest to a mistyped one.

/// The candidate that `word` is most likely a misspelling of: at most a third of its letters (and at least one) wrong,
/// missing, added or swapped with their neighbour, case ignored; else one that it is a part of, or that is a part of it.
/// Of several equally near, the first.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().collect();
    // Nothing that people call a dataset is longer; the distance is quadratic.
    if word.len() > 64 {
        return None;
    }
    let allowed = (word.len() / 3).max(1);
    let far =
        |candidate: &str| distance(&word, &candidate.to_lowercase().chars().take(80).collect::<Vec<_>>());
    let text: String = word.iter().collect();
    let part = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        word.len() >= 3 && candidate.len() >= 3 && (candidate.contains(&text) || text.contains(&candidate))
    };
    let scored = candidates.into_iter().map(|candidate| (far(candidate), candidate));
    // A word of two letters is one letter from everything.
    let near = scored.filter(|(far, c)| (*far <= allowed && *far < word.len()) || part(c));
    near.min_by_key(|(far, _)| *far).map(|(_, c)| c)
}

/// Edits from one word to the other: insertions, deletions, substitutions, swaps of neighbours. O(|a| |b|).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_edits_and_swaps() {
        let far = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        for (a, b, d) in
            [("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("kitten", "sitting", 3), ("ab", "", 2)]
        {
            assert_eq!((far(a, b), far(b, a)), (d, d), "{a} {b}");
        }
    }

    #[test]
    fn only_likely_misspellings_count() {
        let names = ["MUTAG", "NCI1", "NCI109", "csl", "petersen"];
        for (word, name) in [
            ("mutga", Some("MUTAG")),
            ("nci2", Some("NCI1")),
            ("peterson", Some("petersen")),
            ("CSL", Some("csl")),
            ("petersengraph", Some("petersen")),
            ("xy", None),
            ("collab", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, names), name, "{word}");
        }
        assert_eq!(nearest(&"x".repeat(1 << 20), names), None);
    }
}
