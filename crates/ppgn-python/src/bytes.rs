//! Graphs as compact bytes, for pickles: workers of a cluster are sent thousands of them.
//!
//! A graph is: version 1, flags, then lengths and numbers as LEB128 (signed ones zigzag), reals as 8 bytes. Edges are in the
//! order of the rows, each as the difference of its first node to the edge before and its second node. This is not a file
//! format: it is read by the version of ppgn that wrote it, or one that knows the number it begins with.

use ppgn_graph::{Graph, GraphBuilder, Known};

const VERSION: u8 = 1;
const DIRECTED: u8 = 1;
const POSITIONS: u8 = 2;

fn put(out: &mut Vec<u8>, mut x: u64) {
    while x >= 0x80 {
        out.push(x as u8 | 0x80);
        x >>= 7;
    }
    out.push(x as u8);
}

fn zigzag(x: i64) -> u64 {
    ((x << 1) ^ (x >> 63)) as u64
}

/// Appends a graph. O(size).
pub(crate) fn write(graph: &Graph, out: &mut Vec<u8>) {
    let flags = u8::from(graph.is_directed()) * DIRECTED + u8::from(graph.positions().is_some()) * POSITIONS;
    out.extend([VERSION, flags]);
    put(out, graph.nodes() as u64);
    put(out, graph.edges() as u64);
    for columns in [
        graph.node_label_columns(),
        graph.node_attribute_columns(),
        graph.edge_label_columns(),
        graph.edge_attribute_columns(),
    ] {
        put(out, columns as u64);
    }
    graph.all_node_labels().iter().for_each(|&x| put(out, zigzag(x)));
    let reals = |out: &mut Vec<u8>, list: &[f64]| list.iter().for_each(|x| out.extend(x.to_le_bytes()));
    reals(out, graph.all_node_attributes());
    let mut last = 0;
    for (u, v, arc) in graph.edge_list() {
        put(out, (u - last) as u64);
        put(out, v as u64);
        last = u;
        graph.edge_labels(arc).iter().for_each(|&x| put(out, zigzag(x)));
        reals(out, graph.edge_attributes(arc));
    }
    graph.positions().into_iter().flatten().for_each(|place| reals(out, place));
}

/// Appends what is known of nodes or pairs. O(size).
pub(crate) fn write_known(known: &Known, out: &mut Vec<u8>) {
    put(out, known.len() as u64);
    out.push(u8::from(known.has_labels()));
    for (row, &place) in known.places().iter().enumerate() {
        put(out, place);
        if known.has_labels() {
            out.push(u8::from(known.label(row).is_some()));
            put(out, zigzag(known.label(row).unwrap_or(0)));
        }
        known.values(row).iter().for_each(|y| out.extend(y.to_le_bytes()));
    }
}

/// What is left to read.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut x = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            x |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(x);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let x = self.number()?;
        Some((x >> 1) as i64 ^ -((x & 1) as i64))
    }

    pub(crate) fn real(&mut self) -> Option<f64> {
        let (first, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(f64::from_le_bytes(*first))
    }

    /// A count of things that take at least this many bytes each: what is claimed must be there.
    fn count(&mut self, bytes: usize) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count.checked_mul(bytes)? <= self.0.len()).then_some(count)
    }

    /// What is known of nodes or pairs, with this many targets each; `None` where the bytes are not that.
    pub(crate) fn known(&mut self, width: usize) -> Option<Known> {
        let rows = self.count(1)?;
        let has_labels = self.byte()? == 1;
        let (mut places, mut labels, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rows {
            places.push(self.number()?);
            if has_labels {
                let is_known = self.byte()? == 1;
                labels.push(Some(self.signed()?).filter(|_| is_known));
            }
            for _ in 0..width {
                values.push(self.real()?);
            }
        }
        Known::new(places, labels, values).ok()
    }

    /// The next graph; `None` where the bytes are not one.
    pub(crate) fn graph(&mut self) -> Option<Graph> {
        if self.byte()? != VERSION {
            return None;
        }
        let flags = self.byte()?;
        let nodes = usize::try_from(self.number()?).ok()?;
        let edges = self.count(2)?;
        let [node_labels, node_attributes, edge_labels, edge_attributes] =
            [self.number()?, self.number()?, self.number()?, self.number()?].map(|x| x as usize);
        let mut builder = GraphBuilder::new(nodes, flags & DIRECTED != 0);
        let total = |columns: usize, bytes: usize, left: usize| {
            let total = columns.checked_mul(nodes)?;
            (total.checked_mul(bytes)? <= left).then_some(total)
        };
        if node_labels > 0 {
            let total = total(node_labels, 1, self.0.len())?;
            builder.node_labels(node_labels, (0..total).map(|_| self.signed()).collect::<Option<_>>()?);
        }
        if node_attributes > 0 {
            let total = total(node_attributes, 8, self.0.len())?;
            builder.node_attributes(node_attributes, (0..total).map(|_| self.real()).collect::<Option<_>>()?);
        }
        builder.edge_label_columns(edge_labels).edge_attribute_columns(edge_attributes);
        let (mut u, mut labels, mut attributes) = (0u64, Vec::new(), Vec::new());
        for _ in 0..edges {
            u = u.checked_add(self.number()?)?;
            let v = self.number()?;
            labels.clear();
            attributes.clear();
            for _ in 0..edge_labels {
                labels.push(self.signed()?);
            }
            for _ in 0..edge_attributes {
                attributes.push(self.real()?);
            }
            builder.edge_with(u32::try_from(u).ok()?, u32::try_from(v).ok()?, &labels, &attributes);
        }
        if flags & POSITIONS != 0 {
            let total = total(1, 24, self.0.len())?;
            let place = |_| Some([self.real()?, self.real()?, self.real()?]);
            builder.positions((0..total).map(place).collect::<Option<_>>()?);
        }
        builder.build().ok()
    }
}
