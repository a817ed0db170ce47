//! Reading text by lines, as bytes: fast, with line numbers, and safe on any input.
//!
//! A line ends at LF or CRLF; trailing blanks are dropped. Nothing is assumed to be UTF-8: numbers are parsed from bytes,
//! and a token in a message is shown with its unprintable bytes escaped.

use super::source::UnpackedLimit;
use crate::error::{Defect, Error, Remedy, Result};
use std::io::{BufRead, ErrorKind};

/// The longest line that is read: far above any real one, and a bound on memory for a file that has no line ends.
pub(crate) const LONGEST: usize = 1 << 28;

/// The lines of a file, with the file's name and line numbers for messages.
pub struct Lines<R> {
    reader: R,
    file: String,
    number: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// The lines of `reader`, called `file` in messages.
    pub fn new(reader: R, file: impl Into<String>) -> Self {
        Lines { reader, file: file.into(), number: 0, buffer: Vec::new() }
    }

    /// The next line without its end and trailing blanks, or `None` at the end of the file.
    #[allow(clippy::should_implement_trait, reason = "a lending iterator")]
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        self.buffer.clear();
        loop {
            let available = match self.reader.fill_buf() {
                Ok(available) => available,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(self.io(e)),
            };
            let end = memchr::memchr(b'\n', available);
            let used = end.map_or(available.len(), |end| end + 1);
            if self.buffer.len() + used > LONGEST {
                self.number += 1;
                return Err(self.defect(format!("a line longer than {LONGEST} bytes")).into());
            }
            self.buffer.extend_from_slice(&available[..used]);
            self.reader.consume(used);
            if end.is_some() || used == 0 {
                break;
            }
        }
        if self.buffer.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(self.buffer.trim_ascii_end()))
    }

    /// The next line that is not blank.
    pub fn next_filled(&mut self) -> Result<Option<&[u8]>> {
        loop {
            match self.next()? {
                None => return Ok(None),
                Some([]) => continue,
                Some(_) => break,
            }
        }
        Ok(Some(self.buffer.trim_ascii_end()))
    }

    /// The number of the line that was read last, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The file's name in messages.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// A defect at the line that was read last.
    pub fn defect(&self, message: impl Into<String>) -> Defect {
        Defect::new(self.file.clone(), message).line(self.number)
    }

    fn io(&self, error: std::io::Error) -> Error {
        read_failure(&self.file, error).line(self.number + 1).into()
    }
}

/// What a failed read of a file means: a damaged archive is a defect of the file.
pub(crate) fn read_failure(file: &str, error: std::io::Error) -> Defect {
    let defect = Defect::new(file, format!("reading failed: {error}"));
    match error.get_ref().is_some_and(|e| e.is::<UnpackedLimit>()) {
        true => defect.remedy(Remedy::RaiseUnpackedLimit),
        false => defect,
    }
}

/// The tokens of a line, between blanks.
pub fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|t| !t.is_empty())
}

/// An integer from its digits; no blanks, an optional sign. `None` if it is anything else or does not fit.
///
/// ```
/// use ppgn_graph::format::lines::integer;
/// assert_eq!(integer(b"-12"), Some(-12));
/// assert_eq!(integer(b"+7"), Some(7));
/// assert_eq!(integer(b"1.0"), None);
/// assert_eq!(integer(b"99999999999999999999"), None);
/// ```
pub fn integer(token: &[u8]) -> Option<i64> {
    let (negative, digits) = match token {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let mut value = 0i64;
    for &b in digits {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // Downwards, because i64::MIN has no positive counterpart.
        value = value.checked_mul(10)?.checked_sub(i64::from(digit))?;
    }
    if negative { Some(value) } else { value.checked_neg() }
}

/// A finite real number. `None` if the token is anything else, NaN and infinities included.
pub fn real(token: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(token).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// A token for a message: quoted, unprintable bytes escaped, cut after 40 characters.
pub fn show(token: &[u8]) -> String {
    let text: String =
        token.iter().take(40).flat_map(|&b| std::ascii::escape_default(b)).map(char::from).collect();
    let dots = if token.len() > 40 { "..." } else { "" };
    format!("`{text}{dots}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lose_their_ends() {
        let mut lines = Lines::new(&b"a \r\n\r\nb\t\nc"[..], "f");
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push(line.to_vec());
        }
        assert_eq!(seen, [&b"a"[..], b"", b"b", b"c"]);
        assert_eq!(lines.number(), 4);
        let mut lines = Lines::new(&b"\n \nx"[..], "f");
        assert_eq!(lines.next_filled().unwrap(), Some(&b"x"[..]));
        assert_eq!(lines.defect("bad").to_string(), "f:3: bad");
    }

    #[test]
    fn integers_at_the_edge() {
        assert_eq!(integer(b"9223372036854775807"), Some(i64::MAX));
        assert_eq!(integer(b"9223372036854775808"), None);
        assert_eq!(integer(b"-9223372036854775808"), Some(i64::MIN));
        for bad in [&b""[..], b"-", b"1a", b" 1", b"--1", b"\xff"] {
            assert_eq!(integer(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn reals_are_finite() {
        assert_eq!(real(b"1e3"), Some(1000.0));
        for bad in [&b"nan"[..], b"inf", b"1e999", b"", b"x", b"\xff"] {
            assert_eq!(real(bad), None);
        }
    }
}
