//! Tables that fit the terminal: columns that say the same in every row go to a line above, then the least important ones are
//! left out, then long names lose their middle.

use crate::cli::output::table;

/// The width of a page where there is no terminal.
const PAGE: usize = 100;

/// A column: its head, its cells, and when it is left out: higher numbers first, never with 0.
pub(super) struct Column {
    pub(super) head: &'static str,
    pub(super) cells: Vec<String>,
    pub(super) spare: u8,
}

/// The columns of standard output, if that is a terminal, else those of a page.
pub(super) fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(std::io::stdout());
    terminal.map_or(PAGE, |(width, _)| usize::from(width.0).max(40))
}

/// The table, at most this wide, with a line above about what all rows have in common, and one below about what was left out.
/// The first column holds names.
pub(super) fn fitted(mut columns: Vec<Column>, width: usize) -> String {
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let mut common = Vec::new();
    while wide(&columns) > width {
        let same = |column: &Column| rows > 1 && column.cells.iter().all(|cell| *cell == column.cells[0]);
        let Some(i) = most_spare(&columns, same) else { break };
        let column = columns.remove(i);
        common.push(format!("{} {}", column.head, column.cells[0]));
    }
    let mut left_out = Vec::new();
    while wide(&columns) > width {
        let Some(i) = most_spare(&columns, |_| true) else { break };
        left_out.push(columns.remove(i).head);
    }
    if let Some(excess) = wide(&columns).checked_sub(width).filter(|excess| *excess > 0) {
        let names = longest(&columns[0]);
        columns[0]
            .cells
            .iter_mut()
            .for_each(|name| *name = middle_out(name, names.saturating_sub(excess).max(8)));
    }
    let heads = columns.iter().map(|column| column.head.to_string()).collect();
    let cells = (0..rows).map(|r| columns.iter().map(|column| column.cells[r].clone()).collect());
    let mut text = String::new();
    if !common.is_empty() {
        text += &wrapped("all: ", &common, width);
    }
    text += &table(&std::iter::once(heads).chain(cells).collect::<Vec<Vec<String>>>());
    if !left_out.is_empty() {
        text += &wrapped("not shown (--csv and --json have them): ", &left_out, width);
    }
    text
}

/// Items with commas between them, in lines of at most this width.
fn wrapped(head: &str, items: &[impl AsRef<str>], width: usize) -> String {
    let (mut text, mut line) = (String::new(), format!("  {head}"));
    for (i, item) in items.iter().enumerate() {
        let item = format!("{}{}", item.as_ref(), if i + 1 < items.len() { ", " } else { "" });
        if line.trim_end().chars().count() + item.chars().count() > width && !line.trim().is_empty() {
            text += &format!("{}\n", line.trim_end());
            line = "    ".to_string();
        }
        line += &item;
    }
    text + line.trim_end() + "\n"
}

fn longest(column: &Column) -> usize {
    let lengths = column.cells.iter().map(|cell| cell.chars().count());
    lengths.max().unwrap_or(0).max(column.head.chars().count())
}

/// The width of a table, as [`table`] prints it.
fn wide(columns: &[Column]) -> usize {
    columns.iter().map(|column| longest(column) + 3).sum::<usize>().saturating_sub(1)
}

fn most_spare(columns: &[Column], of: impl Fn(&Column) -> bool) -> Option<usize> {
    let spare = columns.iter().enumerate().filter(|(_, column)| column.spare > 0 && of(column));
    spare.max_by_key(|(_, column)| column.spare).map(|(i, _)| i)
}

/// Text of at most this number of letters: the middle of a longer one is left out.
pub(super) fn middle_out(text: &str, most: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= most {
        return text.to_string();
    }
    let (front, back) = (most.saturating_sub(1) / 3, most.saturating_sub(1) - most.saturating_sub(1) / 3);
    letters[..front].iter().chain(&['…']).chain(&letters[letters.len() - back..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(long: &str) -> Vec<Column> {
        let column =
            |head, cells: [&str; 2], spare| Column { head, cells: cells.map(String::from).to_vec(), spare };
        vec![
            column("run", ["runs/a", long], 0),
            column("preset", ["small", "small"], 3),
            column("seed", ["1", "2"], 2),
            column("result", ["test 91.7 %", "test 88.3 ± 5.1 %"], 0),
        ]
    }

    #[test]
    fn columns_give_way_one_by_one() {
        let all = fitted(columns("runs/b"), 100);
        assert!(all.contains("preset") && !all.contains("all:"), "{all}");
        let common = fitted(columns("runs/b"), 40);
        assert!(common.starts_with("  all: preset small\n") && common.contains("seed"), "{common}");
        let fewer = fitted(columns("runs/b"), 30);
        assert!(fewer.contains("not shown") && fewer.contains("seed") && fewer.contains("88.3"), "{fewer}");
        for width in [30, 40, 60] {
            let text = fitted(columns(&"a-very-long-name/".repeat(9)), width);
            let rows = text.lines().filter(|line| !line.contains(':'));
            assert!(rows.clone().all(|line| line.chars().count() <= width), "{width}: {text}");
            assert!(text.contains('…'), "{text}");
        }
    }

    #[test]
    fn names_lose_their_middle() {
        assert_eq!(middle_out("abcdefghij", 10), "abcdefghij");
        assert_eq!(middle_out("abcdefghij", 7), "ab…ghij");
        assert_eq!(middle_out("é", 0), "…");
    }
}
