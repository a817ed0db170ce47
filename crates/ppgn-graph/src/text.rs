//! Text from files, made safe to show. A dataset's name can hold terminal escapes that recolour, move or rewrite what a
//! person sees, so everything that came from a file goes through [`escaped`] before it is printed.

use std::borrow::Cow;
use std::cmp::Ordering;

/// The text with control characters, invisible direction marks and non-characters made visible: `\u{1b}`.
///
/// ```
/// use ppgn_graph::text::escaped;
/// assert_eq!(escaped("MUTAG"), "MUTAG");
/// assert_eq!(escaped("\x1b[2Jgone\n"), "\\u{1b}[2Jgone\\n");
/// ```
pub fn escaped(text: &str) -> Cow<'_, str> {
    escape(text, is_hidden)
}

/// The same, but line feeds stay: for messages of several lines.
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| c != '\n' && is_hidden(c))
}

fn escape(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match hidden(c) {
            // `escape_default` gives \t, \n and \r, and \u{..} for all other characters that are hidden.
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Control characters; marks that change the direction of text; characters that XML does not allow.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
}

/// Compares two texts as people sort them: runs of digits by their value, the rest character by character.
///
/// Equal only for equal texts: where nothing else differs, fewer leading zeros come first.
///
/// ```
/// use ppgn_graph::text::natural;
/// let mut files = ["g10.edges", "g9.edges", "g1.edges", "G2.edges"];
/// files.sort_by(|a, b| natural(a, b));
/// assert_eq!(files, ["G2.edges", "g1.edges", "g9.edges", "g10.edges"]);
/// ```
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut x, mut y) = (a.as_bytes(), b.as_bytes());
    while let (Some(&p), Some(&q)) = (x.first(), y.first()) {
        if p.is_ascii_digit() && q.is_ascii_digit() {
            let (m, n) = (digits(x), digits(y));
            let value = |run: &[u8]| run.iter().position(|&d| d != b'0').unwrap_or(run.len());
            let (v, w) = (&x[value(&x[..m])..m], &y[value(&y[..n])..n]);
            // Without leading zeros, a longer number is a larger one.
            let order = v.len().cmp(&w.len()).then_with(|| v.cmp(w));
            if order != Ordering::Equal {
                return order;
            }
            (x, y) = (&x[m..], &y[n..]);
        } else if p != q {
            return p.cmp(&q);
        } else {
            (x, y) = (&x[1..], &y[1..]);
        }
    }
    x.len().cmp(&y.len()).then_with(|| a.len().cmp(&b.len())).then_with(|| a.cmp(b))
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| b.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_made_visible() {
        for (text, shown) in [
            ("", ""),
            ("Prüfer \u{1f642}", "Prüfer \u{1f642}"),
            ("a\tb\r\n", "a\\tb\\r\\n"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("\u{7f}\0", "\\u{7f}\\u{0}"),
            ("abc\u{202e}txt.exe", "abc\\u{202e}txt.exe"),
            ("\u{ffff}", "\\u{ffff}"),
        ] {
            assert_eq!(escaped(text), shown);
        }
        assert_eq!(escaped_lines("one\ntwo\x07"), "one\ntwo\\u{7}");
        assert!(matches!(escaped("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn natural_order_is_an_order() {
        let sorted =
            ["", "0", "00", "1", "01", "2", "10", "a", "a1", "a01", "a1b", "a2", "a10", "a10b", "b", "é"];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(natural(a, b), i.cmp(&j), "{a} {b}");
            }
        }
        let long = "9".repeat(100);
        assert_eq!(natural(&long, &format!("1{long}")), Ordering::Less);
    }
}
