//! A digest of a dataset's content: equal for equal data, wherever it was read from.
//!
//! A run remembers the digest of what it was trained on, so that it is never resumed on other data by mistake. Names
//! and provenance do not count; graphs in their order, features, classes, targets and folds do.

use super::{Dataset, Item};
use sha2::{Digest, Sha256};

impl Dataset {
    /// SHA-256 over the content, in hexadecimal. O(size).
    ///
    /// ```
    /// use ppgn_graph::{Dataset, Graph};
    /// let edge = || vec![Graph::undirected(2, [(0, 1)]).unwrap()];
    /// let a = Dataset::builder("a").graphs(edge()).build()?;
    /// let b = Dataset::builder("b").graphs(edge()).labels(vec![1]).build()?;
    /// assert_eq!(a.digest(), Dataset::builder("c").graphs(edge()).build()?.digest());
    /// assert_ne!(a.digest(), b.digest());
    /// # Ok::<(), ppgn_graph::Error>(())
    /// ```
    pub fn digest(&self) -> String {
        let mut hash = Words(Sha256::new());
        hash.0.update(b"ppgn-dataset-1\0");
        let header = self.header();
        hash.flag(header.schema.directed);
        hash.numbers(header.classes.as_deref().unwrap_or_default());
        hash.word(header.targets.len() as u64);
        for (i, g) in self.graphs().iter().enumerate() {
            hash.word(g.nodes() as u64);
            hash.small(g.offsets());
            hash.small(g.targets());
            hash.word(g.node_label_columns() as u64);
            (0..g.nodes()).for_each(|u| hash.numbers(g.node_labels(u)));
            hash.word(g.node_attribute_columns() as u64);
            (0..g.nodes()).for_each(|u| hash.reals(g.node_attributes(u)));
            hash.word(g.edge_label_columns() as u64);
            (0..g.arcs()).for_each(|a| hash.numbers(g.edge_labels(a)));
            hash.word(g.edge_attribute_columns() as u64);
            (0..g.arcs()).for_each(|a| hash.reals(g.edge_attributes(a)));
            hash.flag(g.positions().is_some());
            g.positions().into_iter().flatten().for_each(|p| hash.reals(p));
            hash.word(self.class(i).map_or(u64::MAX, |c| c as u64));
            hash.reals(self.targets(i));
        }
        hash.word(header.folds.len() as u64);
        for fold in &header.folds {
            hash.small(&fold.train);
            hash.small(&fold.test);
        }
        for item in [Item::Node, Item::Pair] {
            // Nothing where there is nothing, so data without it keeps the digest that it had before there was any.
            if !self.learnable(item).is_empty() {
                self.hash_items(item, &mut hash);
            }
        }
        hash.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Dataset {
    fn hash_items(&self, item: Item, hash: &mut Words) {
        let learnable = self.learnable(item);
        hash.0.update(item.name().as_bytes());
        hash.numbers(learnable.classes.as_deref().unwrap_or_default());
        hash.word(learnable.targets.len() as u64);
        for i in 0..self.len() {
            let known = self.known(item, i);
            hash.word(known.len() as u64);
            for (row, &place) in known.places().iter().enumerate() {
                hash.word(place);
                // A label may be any number: whether there is one comes first.
                hash.flag(known.label(row).is_some());
                hash.word(known.label(row).unwrap_or_default() as u64);
                hash.reals(known.values(row));
            }
        }
    }
}

/// Numbers of fixed width, lists with their length before them.
struct Words(Sha256);

impl Words {
    fn word(&mut self, x: u64) {
        self.0.update(x.to_le_bytes());
    }

    fn flag(&mut self, x: bool) {
        self.0.update([u8::from(x)]);
    }

    fn numbers(&mut self, list: &[i64]) {
        self.word(list.len() as u64);
        list.iter().for_each(|x| self.0.update(x.to_le_bytes()));
    }

    fn reals(&mut self, list: &[f64]) {
        self.word(list.len() as u64);
        list.iter().for_each(|x| self.0.update(x.to_le_bytes()));
    }

    fn small(&mut self, list: &[u32]) {
        self.word(list.len() as u64);
        // In one piece: these are the long ones.
        let bytes: Vec<u8> = list.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.0.update(&bytes);
    }
}
