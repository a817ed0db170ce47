//! What a reader found wrong. Reading for use stops at the first defect; a check collects them all.

use crate::error::{Defect, Error, Result};

/// How many defects a collecting report keeps; beyond that they are only counted.
const KEPT: usize = 1000;

/// Receives what a reader finds: *defects* (the file is wrong) and *notes* (the file is readable, but something was
/// merged, dropped or unusual).
///
/// A strict report turns the first defect into an error. A collecting one lets the reader continue with the next line
/// or graph, so that all defects are seen at once.
#[derive(Debug)]
pub struct Report {
    strict: bool,
    defects: Vec<Defect>,
    count: usize,
    notes: Vec<String>,
}

impl Report {
    /// Stops at the first defect.
    pub fn strict() -> Self {
        Report { strict: true, defects: Vec::new(), count: 0, notes: Vec::new() }
    }

    /// Collects defects.
    pub fn collecting() -> Self {
        Report { strict: false, ..Report::strict() }
    }

    /// Reports a defect: an error if the report is strict, otherwise the reader continues.
    pub fn defect(&mut self, defect: Defect) -> Result<()> {
        if self.strict {
            return Err(Error::Defect(defect));
        }
        self.count += 1;
        if self.defects.len() < KEPT {
            self.defects.push(defect);
        }
        Ok(())
    }

    /// For a result that failed with a defect: records it and gives `None`. Other errors pass.
    pub fn absorb<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Error::Defect(defect)) => self.defect(defect).map(|()| None),
            Err(error) => Err(error),
        }
    }

    /// Reports something that is worth knowing but not a defect.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// The defects so far, at most the first thousand.
    pub fn defects(&self) -> &[Defect] {
        &self.defects
    }

    /// How many defects there were.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The notes so far.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}
