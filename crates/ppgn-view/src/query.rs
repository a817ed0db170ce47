//! The query of a request: names and values, each once or several times.

use crate::error::{Answer, Failure};

/// Longer queries are refused: the longest that makes sense is a graph of a few hundred nodes that somebody drew.
const LONGEST: usize = 64 << 10;

/// Names with their values, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads `name=value&name=value`.
    pub(crate) fn parse(text: &str) -> Answer<Self> {
        if text.len() > LONGEST {
            return Err(Failure::too_much(format!("a query of {} bytes", text.len())));
        }
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded(name)?, decoded(value)?))
        });
        Ok(Query(pairs.collect::<Answer<_>>()?))
    }

    /// The first value of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The value of a name that must be given.
    pub(crate) fn need(&self, name: &str) -> Answer<&str> {
        self.get(name).ok_or_else(|| Failure::wrong(format!("`{name}` is missing")))
    }

    /// A whole number, or a default.
    pub(crate) fn number(&self, name: &str, default: usize) -> Answer<usize> {
        match self.get(name) {
            None => Ok(default),
            Some(text) => {
                text.parse().map_err(|_| Failure::wrong(format!("`{name}` must be a whole number")))
            }
        }
    }
}

/// A text without its escapes: `%2F` is a slash, `+` is a blank.
fn decoded(text: &str) -> Answer<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
                match (digit(rest.next()), digit(rest.next())) {
                    (Some(high), Some(low)) => (high * 16 + low) as u8,
                    _ => return Err(Failure::wrong("a query with a broken escape")),
                }
            }
            byte => byte,
        });
    }
    let text = String::from_utf8(bytes).map_err(|_| Failure::wrong("a query that is not UTF-8"))?;
    match text.contains('\0') {
        true => Err(Failure::wrong("a query with a zero byte")),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded() {
        let query = Query::parse("a=1&b=x%2Fy+z&a=2&c").unwrap();
        assert_eq!((query.get("a"), query.get("b"), query.get("c")), (Some("1"), Some("x/y z"), Some("")));
        assert_eq!((query.number("a", 7).unwrap(), query.number("d", 7).unwrap()), (1, 7));
        assert_eq!(query.need("d").unwrap_err().status, 400);
        for bad in ["a=%", "a=%4", "a=%zz", "a=%ff", "a=%00"] {
            assert_eq!(Query::parse(bad).unwrap_err().status, 400, "{bad}");
        }
        assert_eq!(Query::parse(&"a".repeat(LONGEST + 1)).unwrap_err().status, 413);
    }
}
