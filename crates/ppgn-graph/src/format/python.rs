//! The Python dictionaries that NetworkX writes after the edges of an edge list: `{'weight': 4, 'color': 'red'}`.
//!
//! Only what has a place in a graph is read: strings as keys; integers, real numbers, strings and `True` or `False` as
//! values. A value of another kind (a list, a dictionary, `None`) is an error that names it.

use super::attributes::Value;
use super::lines::{integer, show};

/// The entries of a dictionary that fills the rest of a line, a comment after it aside.
pub(super) fn dictionary(text: &[u8]) -> Result<Vec<(String, Value)>, String> {
    let mut rest = text.strip_prefix(b"{").ok_or_else(|| wrong(text))?.trim_ascii_start();
    let mut entries: Vec<(String, Value)> = Vec::new();
    while !rest.starts_with(b"}") {
        let (key, after) = string(rest).ok_or_else(|| wrong(text))?;
        let after = after.trim_ascii_start().strip_prefix(b":").ok_or_else(|| wrong(text))?;
        let (value, after) = value(after.trim_ascii_start()).ok_or_else(|| {
            format!("the value of `{key}` is neither a number nor a string: {}", show(text))
        })?;
        if entries.iter().any(|(known, _)| *known == key) {
            return Err(format!("`{key}` is twice in {}", show(text)));
        }
        entries.push((key, value));
        rest = after.trim_ascii_start();
        match rest.first() {
            Some(b',') => rest = rest[1..].trim_ascii_start(),
            Some(b'}') => {}
            _ => return Err(wrong(text)),
        }
    }
    match rest[1..].trim_ascii_start() {
        [] | [b'#', ..] => Ok(entries),
        more => Err(format!("{} after the attributes", show(more))),
    }
}

fn wrong(text: &[u8]) -> String {
    format!("expected attributes such as {{'weight': 4}}, found {}", show(text))
}

fn value(text: &[u8]) -> Option<(Value, &[u8])> {
    if let Some((word, rest)) = string(text) {
        return Some((Value::Word(word), rest));
    }
    let end = text.iter().position(|b| matches!(b, b',' | b'}') || b.is_ascii_whitespace())?;
    let (token, rest) = text.split_at(end);
    let value = match token {
        b"True" => Value::Integer(1),
        b"False" => Value::Integer(0),
        token => match integer(token) {
            Some(x) => Value::Integer(x),
            // The table refuses a number that is not finite.
            None => Value::Real(std::str::from_utf8(token).ok()?.parse().ok()?),
        },
    };
    Some((value, rest))
}

/// A string in single or double quotes, with Python's escapes.
fn string(text: &[u8]) -> Option<(String, &[u8])> {
    let quote = *text.first().filter(|b| matches!(b, b'\'' | b'"'))?;
    let end = {
        let mut at = 1;
        while *text.get(at)? != quote {
            at += if text[at] == b'\\' { 2 } else { 1 };
        }
        at
    };
    let inside = std::str::from_utf8(&text[1..end]).ok()?;
    let mut word = String::with_capacity(inside.len());
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            word.push(c);
            continue;
        }
        word.push(match chars.next()? {
            'x' => hex(&mut chars, 2)?,
            'u' => hex(&mut chars, 4)?,
            'U' => hex(&mut chars, 8)?,
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            same @ ('\\' | '\'' | '"') => same,
            _ => return None,
        });
    }
    Some((word, &text[end + 1..]))
}

fn hex(chars: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let code: String = chars.take(digits).collect();
    (code.len() == digits).then(|| u32::from_str_radix(&code, 16).ok()).flatten().and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_networkx_writes() {
        let read = |text: &str| dictionary(text.as_bytes());
        let entry = |key: &str, value| (key.to_string(), value);
        assert_eq!(read("{}"), Ok(vec![]));
        assert_eq!(read("{'weight': 4}  # c"), Ok(vec![entry("weight", Value::Integer(4))]));
        assert_eq!(
            read(r#"{'a b': -1.5e-3, "it's": 'x\'y\n\xe9\u20ac', 'ok': True,'z':"}"}"#),
            Ok(vec![
                entry("a b", Value::Real(-1.5e-3)),
                entry("it's", Value::Word("x'y\n\u{e9}\u{20ac}".into())),
                entry("ok", Value::Integer(1)),
                entry("z", Value::Word("}".into())),
            ])
        );
        for (text, message) in [
            ("{'a': [1]}", "the value of `a` is neither a number nor a string"),
            ("{'a': None}", "the value of `a` is neither a number nor a string"),
            ("{'a' 1}", "expected attributes such as"),
            ("{'a': 1", "the value of `a`"),
            ("{'a': 1, 'a': 2}", "`a` is twice in"),
            ("{1: 2}", "expected attributes such as"),
            ("{} x", "`x` after the attributes"),
            ("{'\\", "expected attributes such as"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }
}
