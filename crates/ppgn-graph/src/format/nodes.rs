//! The nodes of a graph whose file names them, in the order in which the file lists them.

use super::lines::show;
use std::collections::HashMap;

/// Names of nodes with their numbers.
#[derive(Debug)]
pub(super) struct Nodes {
    numbers: HashMap<Box<str>, u32>,
    most: u64,
}

impl Nodes {
    /// No nodes yet, and no more than `most`.
    pub(super) fn new(most: u64) -> Self {
        Nodes { numbers: HashMap::new(), most }
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Adds a node; a name that is there already is an error.
    pub(super) fn add(&mut self, name: &str) -> Result<(), String> {
        let number = self.numbers.len() as u64;
        if number >= self.most.min(u32::MAX.into()) {
            return Err(format!("more than the {} nodes that a graph may have", self.most));
        }
        match self.numbers.insert(name.into(), number as u32) {
            None => Ok(()),
            Some(_) => Err(format!("two nodes are called {}", show(name.as_bytes()))),
        }
    }

    /// The number of a node that must be there.
    pub(super) fn find(&self, name: &str) -> Result<u32, String> {
        let missing = || format!("an edge with the node {}, which is not listed", show(name.as_bytes()));
        self.numbers.get(name).copied().ok_or_else(missing)
    }
}
