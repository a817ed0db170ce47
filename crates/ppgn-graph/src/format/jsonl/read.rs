//! Reading: the header, then a graph at a time, each checked against the header.

use super::super::budget::Claims;
use super::super::lines::Lines;
use super::super::stream::{Tally, records};
use super::super::{Entry, Format, Records, Report, Source};
use super::graph::{GraphLine, Words};
use super::header::{HeaderLine, Survey, defects, repair};
use crate::dataset::{Header, Provenance, Record};
use crate::error::{Defect, Result};
use std::io::BufRead;

/// The graphs of a file, one at a time. A header without `schema` or `graphs` costs another pass over the file to find them.
pub(crate) fn stream<'a>(source: Source, entry: Entry, report: &'a mut Report) -> Result<Records<'a>> {
    let mut lines = source.lines(&entry)?;
    let Some(first) = lines.next_filled()? else {
        let message = "an empty file; the first line must be a header such as {\"ppgn\":1}";
        return Err(Defect::new(lines.file(), message).into());
    };
    let given = HeaderLine::parse(first);
    let given = given.map_err(|message| lines.defect(message))?;
    let survey = survey(&source, &entry, &given)?;
    let provenance = Provenance {
        source: source.describe(&entry),
        format: Format::Jsonl.name().into(),
        notes: Vec::new(),
    };
    let mut header = given.complete(survey, entry.stem().into(), provenance);
    for message in defects(&header) {
        report.defect(lines.defect(message))?;
    }
    repair(&mut header);
    let mut reader = Reader {
        lines,
        report,
        words: Words::of(&header),
        header: without_folds(&header),
        max_nodes: source.limits().max_nodes,
        claims: Claims::new(source.limits()),
        index: 0,
        merged: Tally::default(),
    };
    Ok(Records { header, records: records(move || reader.step()) })
}

/// Finds in the graphs what the header leaves out.
fn survey(source: &Source, entry: &Entry, given: &HeaderLine) -> Result<Survey> {
    let mut survey = Survey::default();
    if given.schema.is_some() && given.graphs.is_some() {
        return Ok(survey);
    }
    let mut lines = source.afresh().lines(entry)?;
    lines.next_filled()?;
    while let Some(line) = lines.next_filled()? {
        survey.graphs += 1;
        // A line that cannot be parsed is reported when its turn comes.
        if given.schema.is_none()
            && let Ok(line) = GraphLine::parse(line)
        {
            survey.see(line);
        }
    }
    Ok(survey)
}

/// The part of the header that records are checked against.
fn without_folds(header: &Header) -> Header {
    Header {
        graphs: header.graphs,
        schema: header.schema.clone(),
        classes: header.classes.clone(),
        class_names: header.class_names.clone(),
        targets: header.targets.clone(),
        nodes: header.nodes.clone(),
        pairs: header.pairs.clone(),
        ..Header::default()
    }
}

struct Reader<'a, R> {
    lines: Lines<R>,
    report: &'a mut Report,
    header: Header,
    words: Words,
    max_nodes: u64,
    claims: Claims,
    /// The number of the next graph.
    index: usize,
    merged: Tally,
}

impl<R: BufRead> Reader<'_, R> {
    fn step(&mut self) -> Result<Option<Record>> {
        while let Some(line) = self.lines.next_filled()? {
            let record = GraphLine::parse(line)
                .and_then(|parsed| self.claims.add(parsed.nodes(), line.len()).map(|()| parsed))
                .and_then(|line| line.into_record(&self.header, &self.words, self.max_nodes))
                .and_then(|(record, merged)| self.header.check(&record).map(|()| (record, merged)));
            let index = self.index;
            self.index += 1;
            if index == self.header.graphs {
                let message = format!("more graphs than the {index} that the header announces");
                self.report.defect(self.lines.defect(message).graph(index))?;
            }
            match record {
                Ok((record, merged)) => {
                    self.merged.add(merged, self.lines.number());
                    return Ok(Some(record));
                }
                Err(message) => self.report.defect(self.lines.defect(message).graph(index))?,
            }
        }
        self.finish().map(|()| None)
    }

    fn finish(&mut self) -> Result<()> {
        let (index, graphs) = (self.index, self.header.graphs);
        if index == 0 {
            self.report.defect(self.lines.defect("no graphs in it"))?;
        } else if index < graphs {
            let message = format!(
                "the header announces {graphs} graphs, but there are {index}: the file is cut short, or the header is wrong"
            );
            self.report.defect(self.lines.defect(message))?;
        }
        if let Some(note) = self.merged.merged_edges(self.lines.file()) {
            self.report.note(note);
        }
        Ok(())
    }
}
