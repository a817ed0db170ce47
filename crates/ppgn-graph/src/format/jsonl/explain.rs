//! What is wrong with the JSON of a line, in words. serde says "invalid type: boolean `true`, expected i64"; a person who
//! writes a file wants "`label`: the label must be an integer or a string, not true".

use serde_json::error::Category;

/// A message is cut to this many characters: a file can have a key of a megabyte.
const LONGEST_MESSAGE: usize = 300;

/// What is wrong with this line, with the key and the column where it was found.
pub(super) fn explain(error: &serde_json::Error, line: &[u8]) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
    let text = match error.classify() {
        Category::Eof => {
            return "the line ends in the middle of a value: the file is cut short, or the line is broken in two"
                .into();
        }
        Category::Data => in_words(text),
        Category::Syntax | Category::Io => format!("not valid JSON, {text}"),
    };
    let mut shown: String = text.chars().take(LONGEST_MESSAGE).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    let column = error.column();
    let key = key_before(line, column).filter(|key| error.is_data() && !shown.contains(&format!("`{key}`")));
    let shown = key.map_or(shown.clone(), |key| format!("`{key}`: {shown}"));
    if column == 0 { shown } else { format!("{shown} (column {column})") }
}

/// serde's messages on data of the wrong kind. What a reader of ours expects, it says as a sentence.
fn in_words(text: &str) -> String {
    if let Some(rest) = text.strip_prefix("invalid type: ").or_else(|| text.strip_prefix("invalid value: "))
        && let Some((found, expected)) = rest.rsplit_once(", expected ")
    {
        let found = thing(found);
        return match expected.contains(" must ") {
            true => format!("{expected}, not {found}"),
            false => format!("it must be {}, not {found}", kind(expected)),
        };
    }
    if let Some(rest) = text.strip_prefix("invalid length ")
        && let Some((length, expected)) = rest.split_once(", expected ")
    {
        return format!("a list of {length}, where {} is needed", kind(expected));
    }
    if let Some(key) = between(text, "missing field `", "`") {
        return format!("the key `{key}` is missing");
    }
    if let Some(key) = between(text, "duplicate field `", "`") {
        return format!("the key `{key}` is there twice");
    }
    if let Some(rest) = text.strip_prefix("unknown field `")
        && let Some((key, keys)) = rest.split_once("`, expected ")
    {
        let key: String = key.chars().take(40).collect();
        return format!("the key `{key}` is not known; there are {}", keys.trim_start_matches("one of "));
    }
    text.to_string()
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.strip_prefix(before)?.strip_suffix(after)
}

/// What serde calls a thing that it found.
fn thing(found: &str) -> String {
    for known in ["boolean `", "integer `", "floating point `"] {
        if let Some(value) = between(found, known, "`") {
            return value.to_string();
        }
    }
    match found {
        "map" => "an object".into(),
        "sequence" => "a list".into(),
        found => found.strip_prefix("string ").unwrap_or(found).to_string(),
    }
}

/// What serde calls what it expected.
fn kind(expected: &str) -> &str {
    match expected {
        "u64" | "usize" | "u32" => "a whole number, 0 or more",
        "i64" => "an integer",
        "f64" => "a number",
        "a string" | "string" => "a string",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "an array of length 3" => "a list of three numbers",
        "a tuple of size 2" => "a pair of node numbers",
        other if other.starts_with("struct ") => "an object",
        other => other,
    }
}

/// The key of the outermost object in whose value this column is.
fn key_before(line: &[u8], column: usize) -> Option<&str> {
    let line = &line[..column.min(line.len())];
    let (mut depth, mut at, mut key) = (0usize, 0, None);
    let mut in_value = false;
    while at < line.len() {
        match line[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' if depth == 1 => in_value = true,
            b',' if depth == 1 => in_value = false,
            b'"' => {
                let start = at + 1;
                at = start;
                while at < line.len() && line[at] != b'"' {
                    at += if line[at] == b'\\' { 2 } else { 1 };
                }
                if depth == 1 && !in_value {
                    key = line.get(start..at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    let key = key.filter(|_| in_value && depth > 0)?;
    std::str::from_utf8(key).ok().filter(|key| key.len() < 40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_place() {
        let line = br#"{"n": 3, "edges": [[0, 1], {"x": 1}], "a\"b": "c:", "label": true}"#;
        let key = |at| key_before(line, at);
        assert_eq!(key(4), None);
        assert_eq!(key(7), Some("n"));
        assert_eq!(key(34), Some("edges"));
        assert_eq!(key(49), Some("a\\\"b"));
        assert_eq!(key(line.len() - 1), Some("label"));
        assert_eq!(key(line.len() + 9), None);
        assert_eq!(key_before(b"\"\\", 2), None);
    }
}
