//! Tables as CSV (RFC 4180): a line of column names, then one row per line; separated by commas, semicolons or tabs,
//! whichever the first line has most of. A cell in quotation marks may hold separators, line ends and, doubled,
//! quotation marks. Blank lines are skipped, and so is a byte order mark.
//!
//! Rows are read one at a time. The crate `csv` reads the same and more, but knows neither our limits nor our lines in
//! messages, and would be a dependency for what fits on two screens.

use super::lines::{LONGEST, Lines};
use crate::error::{Defect, Result};
use std::io::BufRead;

/// The rows of a table, with the file's name and line numbers for messages.
pub(crate) struct Csv<R> {
    lines: Lines<R>,
    names: Vec<String>,
    separator: u8,
    /// The cells of the row that was read last, one after another, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
    first_line: u64,
}

impl<R: BufRead> Csv<R> {
    /// Reads the column names. A table without them, or with a name twice, is a defect.
    pub(crate) fn open(lines: Lines<R>) -> Result<Self> {
        let (text, ends) = (Vec::new(), Vec::new());
        let mut csv = Csv { lines, names: Vec::new(), separator: b',', text, ends, first_line: 0 };
        if !csv.read_row(true)? {
            return Err(
                Defect::new(csv.lines.file(), "an empty file; a table has a line of column names").into()
            );
        }
        let names: Vec<String> = csv.row().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
        let mut sorted: Vec<&String> = names.iter().filter(|name| !name.is_empty()).collect();
        sorted.sort_unstable();
        if let Some([name, _]) = sorted.array_windows().find(|[a, b]| a == b) {
            return Err(csv.defect(format!("two columns are called `{name}`")).into());
        }
        csv.names = names;
        Ok(csv)
    }

    /// The names of the columns, blanks around them removed.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Reads the next row: false at the end of the file. A quotation mark that is never closed is a defect.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        let found = self.read_row(false)?;
        // The ends of lines are trimmed, and with them empty cells between tabs.
        if found && self.separator == b'\t' {
            self.ends.resize(self.ends.len().max(self.names.len()), self.text.len());
        }
        Ok(found)
    }

    /// The cells of the row that was read last, blanks around them removed.
    pub(crate) fn row(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let start = |i: usize| if i == 0 { 0 } else { self.ends[i - 1] };
        (0..self.ends.len()).map(move |i| self.text[start(i)..self.ends[i]].trim_ascii())
    }

    /// The cell of a column in the row that was read last.
    pub(crate) fn cell(&self, column: usize) -> &[u8] {
        self.row().nth(column).unwrap_or_default()
    }

    /// What is wrong with the row that was read last, if it does not have one cell per column.
    pub(crate) fn check_width(&self) -> Result<(), Defect> {
        let (cells, names) = (self.ends.len(), self.names.len());
        match cells == names {
            true => Ok(()),
            false => Err(self.defect(format!("{cells} cells, but the first line names {names} columns"))),
        }
    }

    /// The first line of the row that was read last, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.first_line
    }

    /// The file's name in messages.
    pub(crate) fn file(&self) -> &str {
        self.lines.file()
    }

    /// A defect in the row that was read last.
    pub(crate) fn defect(&self, message: impl Into<String>) -> Defect {
        Defect::new(self.lines.file(), message).line(self.first_line)
    }

    fn read_row(&mut self, names: bool) -> Result<bool> {
        self.text.clear();
        self.ends.clear();
        let Some(mut line) = self.lines.next_filled()? else { return Ok(false) };
        if names {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
            self.separator = separator(line);
        }
        let separator = self.separator;
        let mut quoted = false;
        let mut lines = 1;
        loop {
            let mut bytes = line.iter().copied().peekable();
            while let Some(byte) = bytes.next() {
                let begins = self.text[self.ends.last().copied().unwrap_or(0)..].trim_ascii().is_empty();
                match byte {
                    b'"' if quoted && bytes.peek() == Some(&b'"') => {
                        bytes.next();
                        self.text.push(byte);
                    }
                    b'"' if quoted => quoted = false,
                    // Within an open cell a mark is a character like others: 5" nails.
                    b'"' if begins => quoted = true,
                    _ if byte == separator && !quoted => self.ends.push(self.text.len()),
                    _ => self.text.push(byte),
                }
            }
            if !quoted {
                break;
            }
            self.text.push(b'\n');
            let open = |lines: &Lines<R>, line| {
                Defect::new(lines.file(), "a quotation mark is not closed").line(line)
            };
            let here = self.lines.number() + 1 - lines;
            if self.text.len() > LONGEST {
                return Err(open(&self.lines, here).into());
            }
            match self.lines.next()? {
                Some(next) => line = next,
                None => return Err(open(&self.lines, here).into()),
            }
            lines += 1;
        }
        self.ends.push(self.text.len());
        self.first_line = self.lines.number() + 1 - lines;
        Ok(true)
    }
}

/// The separator that occurs most in the line of names, outside quotation marks; a comma where there is none.
fn separator(line: &[u8]) -> u8 {
    let count = |separator: u8| {
        let mut quoted = false;
        line.iter()
            .filter(|&&b| {
                quoted ^= b == b'"';
                b == separator && !quoted
            })
            .count()
    };
    // The last of equals is taken: the comma.
    b"\t;,".iter().copied().max_by_key(|&s| count(s)).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<(u64, Vec<String>)>> {
        let mut csv = Csv::open(Lines::new(text.as_bytes(), "t.csv"))?;
        let mut all = vec![(0, csv.names().to_vec())];
        while csv.advance()? {
            let cells = csv.row().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
            all.push((csv.line(), cells));
        }
        Ok(all)
    }

    fn cells(text: &str) -> Vec<Vec<String>> {
        rows(text).unwrap().into_iter().map(|(_, cells)| cells).collect()
    }

    #[test]
    fn quoted_cells() {
        let text =
            "\u{feff}smiles, \"a,b\" ,c\r\n\r\n\"C\",\"say \"\"x\"\"\",\n 5\" , ,\"two\nlines\"\nend,1,2";
        assert_eq!(
            rows(text).unwrap(),
            [
                (0, vec!["smiles".to_string(), "a,b".into(), "c".into()]),
                (3, vec!["C".into(), "say \"x\"".into(), "".into()]),
                (4, vec!["5\"".into(), "".into(), "two\nlines".into()]),
                (6, vec!["end".into(), "1".into(), "2".into()]),
            ]
        );
    }

    #[test]
    fn separators() {
        assert_eq!(cells("a;b,x;c\n1;2;3")[1], ["1", "2", "3"]);
        assert_eq!(cells("a\tb\tc\n1\t\t\n")[1], ["1", "", ""]);
        assert_eq!(cells("only\nx")[1], ["x"]);
        assert_eq!(separator(b"\"a;b;c\",d"), b',');
    }

    #[test]
    fn what_is_wrong() {
        let message = |text| rows(text).unwrap_err().to_string();
        assert_eq!(message(""), "t.csv: an empty file; a table has a line of column names");
        assert_eq!(message("a,b,a\n"), "t.csv:1: two columns are called `a`");
        assert_eq!(message("a,b\n1,2\n\"x,\n\ny"), "t.csv:3: a quotation mark is not closed");
        let mut csv = Csv::open(Lines::new(&b"a,b\n1\n"[..], "t.csv")).unwrap();
        assert!(csv.advance().unwrap());
        assert_eq!(
            csv.check_width().unwrap_err().to_string(),
            "t.csv:2: 1 cells, but the first line names 2 columns"
        );
    }
}
