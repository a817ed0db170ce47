//! "Did you mean": the known word that is closest to a mistyped one.

use strsim::osa_distance;

/// The candidate that `word` is most likely a misspelling of, ignoring case.
///
/// Up to a third of its letters (at least one) may be wrong, missing, added or swapped with their neighbour; a candidate
/// that contains the word, or is contained in it, counts too. Ties go to the first.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let letters = word.chars().count();
    // No dataset has a longer name, and the distance is quadratic.
    if letters > 64 {
        return None;
    }
    let allowed = (letters / 3).max(1);
    let contained = |candidate: &str| {
        letters >= 3 && candidate.len() >= 3 && (candidate.contains(&word) || word.contains(candidate))
    };
    let scored = candidates.into_iter().filter_map(|candidate| {
        let lower: String = candidate.to_lowercase().chars().take(80).collect();
        let distance = osa_distance(&word, &lower);
        // A word of two letters is one letter away from everything.
        let close = distance <= allowed && distance < letters;
        (close || contained(&lower)).then_some((distance, candidate))
    });
    scored.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

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
