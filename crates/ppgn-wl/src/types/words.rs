//! Isomorphism types as text, for people who check a certificate by hand.

/// What a node or an arc has: the part of a content that labels and attributes take.
struct Feature<'a> {
    labels: &'a [i64],
    attributes: &'a [i64],
}

/// Reads contents back.
struct Reader<'a>(&'a [i64]);

impl<'a> Reader<'a> {
    fn integer(&mut self) -> i64 {
        let (first, rest) = self.0.split_first().expect("contents are complete");
        self.0 = rest;
        *first
    }

    fn integers(&mut self) -> &'a [i64] {
        let count = self.integer() as usize;
        let (these, rest) = self.0.split_at(count);
        self.0 = rest;
        these
    }

    fn feature(&mut self) -> Feature<'a> {
        Feature { labels: self.integers(), attributes: self.integers() }
    }

    fn arc(&mut self) -> Option<Feature<'a>> {
        (self.integer() != 0).then(|| self.feature())
    }
}

impl Feature<'_> {
    /// `label 3`, `labels (3, 4)`, `attribute 0.5`: what there is, each for itself.
    fn words(&self) -> Vec<String> {
        let list = |name: &str, values: Vec<String>| match values.len() {
            0 => None,
            1 => Some(format!("{name} {}", values[0])),
            _ => Some(format!("{name}s ({})", values.join(", "))),
        };
        let labels = list("label", self.labels.iter().map(i64::to_string).collect());
        let numbers = self.attributes.iter().map(|&bits| f64::from_bits(bits as u64).to_string());
        labels.into_iter().chain(list("attribute", numbers.collect())).collect()
    }
}

/// `a, b and c`.
fn join(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// ` with a and b`, or nothing.
fn with(words: &[String]) -> String {
    if words.is_empty() { String::new() } else { format!(" with {}", join(words)) }
}

/// What a node has, its loop included: `label 3`, `a loop with label 2`.
fn node_words(reader: &mut Reader<'_>) -> Vec<String> {
    let mut words = reader.feature().words();
    words.extend(reader.arc().map(|arc| format!("a loop{}", with(&arc.words()))));
    words
}

/// A relation as text, as seen from a node: `an edge with label 4`, `an edge to it and one from it with label 2`.
/// Where no graph is directed, an edge is just that.
pub(crate) fn relation(content: &[i64], directed: bool) -> String {
    let mut reader = Reader(content);
    let (to, from) = (reader.arc(), reader.arc());
    arcs(to, from, directed, "to it", "from it")
}

fn arcs(
    to: Option<Feature<'_>>,
    from: Option<Feature<'_>>,
    directed: bool,
    there: &str,
    back: &str,
) -> String {
    match (to, from) {
        (Some(a), Some(b)) if a.words() == b.words() => {
            format!("an edge{}{}", if directed { " both ways" } else { "" }, with(&a.words()))
        }
        (Some(a), Some(b)) => {
            format!("an edge {there}{} and one {back}{}", with(&a.words()), with(&b.words()))
        }
        (Some(a), None) => format!("an edge {there}{}", with(&a.words())),
        (None, Some(b)) => format!("an edge {back}{}", with(&b.words())),
        (None, None) => "no edge".to_string(),
    }
}

/// The type of a k-tuple as text: `a node with label 3 and a loop`, `an ordered pair of different nodes, no edge`.
pub(crate) fn tuple(content: &[i64], k: usize, directed: bool) -> String {
    let mut reader = Reader(content);
    let nodes: Vec<Vec<String>> = (0..k).map(|_| node_words(&mut reader)).collect();
    if k == 1 {
        return format!("a node{}", with(&nodes[0]));
    }
    // The first position that has the same node, and how two different nodes are joined.
    let mut same: Vec<usize> = (0..k).collect();
    let mut joined = Vec::new();
    for q in 0..k {
        for r in q + 1..k {
            if reader.integer() != 0 {
                same[r] = same[r].min(same[q]);
            } else {
                joined.push((q, r, arcs(reader.arc(), reader.arc(), directed, "there", "back")));
            }
        }
    }
    let distinct: Vec<usize> = (0..k).filter(|&q| same[q] == q).collect();
    let name = |q: usize| match distinct.iter().position(|&d| d == same[q]) {
        Some(i) if i < 26 => char::from(b'a' + i as u8).to_string(),
        other => format!("x{}", other.unwrap_or(q)),
    };
    let mut text = match (k, distinct.len()) {
        (2, 1) => return format!("a node, twice{}", with(&nodes[0])),
        (2, _) => "an ordered pair of different nodes".to_string(),
        (_, 1) => return format!("a node, {k} times{}", with(&nodes[0])),
        _ => format!("({})", (0..k).map(name).collect::<Vec<_>>().join(", ")),
    };
    for &q in &distinct {
        if !nodes[q].is_empty() {
            text += &format!(", {}{}", name(q), with(&nodes[q]));
        }
    }
    joined.retain(|(q, r, _)| same[*q] == *q && same[*r] == *r);
    for (q, r, arcs) in &joined {
        let ends = if k == 2 { String::new() } else { format!("{} to {}: ", name(*q), name(*r)) };
        text += &format!(", {ends}{arcs}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::{Types, tuple_content};
    use super::*;
    use crate::options::Features;
    use ppgn_graph::GraphBuilder;

    #[test]
    fn types_in_words() {
        let mut b = GraphBuilder::directed(4);
        b.node_labels(1, vec![3, 3, 5, 5]).edge_label_columns(1);
        b.edge_with(0, 0, &[7], &[]).edge_with(0, 1, &[1], &[]).edge_with(1, 0, &[2], &[]);
        b.edge_with(2, 1, &[4], &[]).edge_with(2, 3, &[4], &[]).edge_with(3, 2, &[4], &[]);
        let g = b.build().unwrap();
        let say = |nodes: &[usize]| tuple(&tuple_content(&g, nodes, Features::default()), nodes.len(), true);
        assert_eq!(say(&[0]), "a node with label 3 and a loop with label 7");
        assert_eq!(say(&[2]), "a node with label 5");
        assert_eq!(say(&[2, 2]), "a node, twice with label 5");
        assert_eq!(
            say(&[1, 3]),
            "an ordered pair of different nodes, a with label 3, b with label 5, no edge"
        );
        assert_eq!(
            say(&[1, 2, 1]),
            "(a, b, a), a with label 3, b with label 5, a to b: an edge back with label 4"
        );
        let plain = Features { labels: false, attributes: false };
        let say = |nodes: &[usize]| tuple(&tuple_content(&g, nodes, plain), nodes.len(), true);
        assert_eq!(say(&[1, 3]), "an ordered pair of different nodes, no edge");
        assert_eq!(say(&[2, 3]), "an ordered pair of different nodes, an edge both ways");
        assert_eq!(say(&[1]), "a node");
        let edge = tuple_content(&g, &[2, 3], plain);
        assert_eq!(tuple(&edge, 2, false), "an ordered pair of different nodes, an edge");

        let graphs = [g];
        let types = Types::of(&graphs, Features::default());
        let relations: Vec<String> = types.relation_contents.iter().map(|c| relation(c, true)).collect();
        assert_eq!(
            relations,
            [
                "an edge from it with label 4",
                "an edge to it with label 1 and one from it with label 2",
                "an edge to it with label 2 and one from it with label 1",
                "an edge to it with label 4",
                "an edge both ways with label 4",
            ]
        );
    }

    #[test]
    fn attributes_in_words() {
        let mut b = GraphBuilder::undirected(1);
        b.node_attributes(2, vec![0.5, -1.0]);
        let g = b.build().unwrap();
        let features = Features { labels: true, attributes: true };
        assert_eq!(tuple(&tuple_content(&g, &[0], features), 1, false), "a node with attributes (0.5, -1)");
    }
}
