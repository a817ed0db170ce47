//! Writing: the header, then one line per graph, each checked, so that what is written can be read.

use super::super::lines::LONGEST;
use super::super::stream::{too_long, write_lines};
use super::super::{Format, Records, Written};
use super::graph::Line;
use super::header::{defects, line};
use crate::error::{Error, Result};
use std::path::Path;

/// Writes a stream.
pub(crate) fn write(records: Records<'_>, out: &Path) -> Result<Written> {
    let Records { header, records } = records;
    if let Some(message) = defects(&header).into_iter().next() {
        return Err(Error::unfit(message));
    }
    let first = line(&header);
    if first.len() > LONGEST {
        return Err(Error::unfit(format!("the header: {}", too_long(first.len() as u128))));
    }
    write_lines(header.graphs, records, out, &first, |record, line| {
        header.check(record)?;
        serde_json::to_writer(line, &Line(record, &header)).map_err(|e| e.to_string())
    })?;
    Ok(Written { format: Format::Jsonl, graphs: header.graphs, dropped: Vec::new() })
}
