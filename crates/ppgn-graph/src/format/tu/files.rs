//! The files of a TU dataset as rows of numbers: found by their names, split into cells, parsed and counted.

use super::GRAPH_ATTRIBUTES;
use crate::error::{Defect, Result};
use crate::format::lines::{integer, real, show, tokens};
use crate::format::{Entry, Report, Source};

/// The files of one dataset.
pub(super) struct Files<'a> {
    pub(super) source: &'a Source,
    pub(super) entry: &'a Entry,
    pub(super) name: &'a str,
}

impl Files<'_> {
    pub(super) fn find(&self, suffix: &str) -> Option<Entry> {
        self.source.beside(self.entry, &format!("{}{suffix}", self.name))
    }

    /// A file that no dataset may lack; `None` after its absence was reported.
    pub(super) fn need(&self, suffix: &str, report: &mut Report) -> Result<Option<Entry>> {
        let file = self.find(suffix);
        if file.is_none() {
            let message = format!("the file {}{suffix} is missing, but every TU dataset has one", self.name);
            report.defect(Defect::new(self.source.path().display().to_string(), message))?;
        }
        Ok(file)
    }

    /// All rows of an optional file; `None` if it is not there.
    pub(super) fn rows<T>(
        &self,
        suffix: &str,
        parse: impl Fn(&[u8]) -> Result<T, String>,
        report: &mut Report,
    ) -> Result<Option<Rows<T>>> {
        let Some(file) = self.find(suffix) else { return Ok(None) };
        let mut lines = self.source.lines(&file)?;
        let mut rows = Rows::default();
        while let Some(line) = lines.next_filled()? {
            if let Err(message) = rows.add(line, &parse) {
                report.defect(lines.defect(message))?;
            }
        }
        Ok(Some(rows))
    }

    /// The same for a file that must have `count` rows, one for each of `what`; no columns if it is not there.
    pub(super) fn table<T>(
        &self,
        suffix: &str,
        parse: impl Fn(&[u8]) -> Result<T, String>,
        (count, what): (usize, &str),
        report: &mut Report,
    ) -> Result<Rows<T>> {
        let Some(rows) = self.rows(suffix, parse, report)? else { return Ok(Rows::default()) };
        self.compare(suffix, rows.count, (count, what), report)?;
        Ok(rows)
    }

    pub(super) fn compare(
        &self,
        suffix: &str,
        got: usize,
        wanted: (usize, &str),
        report: &mut Report,
    ) -> Result<()> {
        if got == wanted.0 {
            return Ok(());
        }
        let message = format!("{got} lines, but there are {} {}", wanted.0, wanted.1);
        report.defect(Defect::new(self.describe(suffix), message))
    }

    pub(super) fn describe(&self, suffix: &str) -> String {
        match self.find(suffix) {
            Some(file) => self.source.describe(&file),
            None => format!("{}{suffix}", self.name),
        }
    }
}

/// The rows of a file, all of one width; the first row's is the one.
#[derive(Debug)]
pub(super) struct Rows<T> {
    pub(super) width: usize,
    pub(super) count: usize,
    pub(super) values: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Rows { width: 0, count: 0, values: Vec::new() }
    }
}

impl<T> Rows<T> {
    fn add(&mut self, line: &[u8], parse: impl Fn(&[u8]) -> Result<T, String>) -> Result<(), String> {
        self.count += 1;
        let start = self.values.len();
        for cell in cells(line) {
            self.values.push(parse(cell)?);
        }
        let width = self.values.len() - start;
        if self.count == 1 {
            self.width = width;
        }
        match width == self.width {
            true => Ok(()),
            false => Err(format!("{width} values, but the first line has {}", self.width)),
        }
    }

    pub(super) fn row(&self, i: usize) -> &[T] {
        &self.values[i * self.width..(i + 1) * self.width]
    }
}

/// The cells of a line: between commas, or where there is none between blanks.
pub(super) fn cells(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let commas = line.contains(&b',');
    let by_comma = commas.then(|| line.split(|&b| b == b',').map(<[u8]>::trim_ascii));
    let by_blank = (!commas).then(|| tokens(line));
    by_comma.into_iter().flatten().chain(by_blank.into_iter().flatten())
}

/// An integer, which may be written `1.0`, as some programs do.
fn whole(token: &[u8]) -> Option<i64> {
    integer(token).or_else(|| {
        let (digits, zeros) = token.split_at(token.iter().position(|&b| b == b'.')?);
        zeros[1..].iter().all(|&b| b == b'0').then(|| integer(digits)).flatten()
    })
}

pub(super) fn label(token: &[u8]) -> Result<i64, String> {
    whole(token).ok_or_else(|| format!("the label {} is not an integer", show(token)))
}

pub(super) fn class(token: &[u8]) -> Result<i64, String> {
    whole(token).ok_or_else(|| match real(token) {
        Some(_) => format!(
            "the class {} is not an integer; real numbers to be predicted belong in a file {GRAPH_ATTRIBUTES}: \
             rename this one",
            show(token)
        ),
        None => format!("the class {} is not an integer", show(token)),
    })
}

pub(super) fn attribute(token: &[u8]) -> Result<f64, String> {
    real(token).ok_or_else(|| format!("the attribute {} is not a finite number", show(token)))
}

/// A number counted from 1, as one counted from 0.
pub(super) fn ordinal(token: &[u8]) -> Option<u32> {
    u32::try_from(integer(token)?.checked_sub(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_may_have_a_point() {
        assert_eq!([whole(b"1.0"), whole(b"-2."), whole(b"7")], [Some(1), Some(-2), Some(7)]);
        assert_eq!([whole(b"1.5"), whole(b".0"), whole(b"1.0.0"), whole(b"1e0")], [None; 4]);
    }

    #[test]
    fn cells_are_between_commas_or_blanks() {
        let split = |line: &'static str| cells(line.as_bytes()).collect::<Vec<_>>();
        assert_eq!(split("1, 2 ,3"), [b"1", b"2", b"3"]);
        assert_eq!(split(" 1  2"), [b"1", b"2"]);
        assert_eq!(split("1,,2"), [&b"1"[..], b"", b"2"]);
        assert_eq!(split("1 2,3"), [&b"1 2"[..], b"3"]);
    }
}
