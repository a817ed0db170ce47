//! Certificates as text.

use super::{Certificate, Definition, Meaning, Named, Neighbours};
use std::fmt;

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.colour, self.round)
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tuple = match self.test.k() {
            1 => "node".to_string(),
            2 => "pair".to_string(),
            k => format!("{k}-tuple"),
        };
        let on = |side: usize| {
            let (count, graph) = (self.counts[side], self.graphs[side]);
            format!("on {count} {tuple}{} of graph {graph}", if count == 1 { "" } else { "s" })
        };
        let Certificate { test, round, colour, .. } = self;
        writeln!(
            f,
            "{test} distinguishes them after round {round}: colour {colour} is {} and {}.",
            on(0),
            on(1)
        )?;
        let example = |side: usize| {
            let nodes = self.examples[side].as_ref()?;
            let nodes: Vec<String> = nodes.iter().map(usize::to_string).collect();
            let nodes = if nodes.len() == 1 { nodes.concat() } else { format!("({})", nodes.join(", ")) };
            Some(format!("{tuple} {nodes} of graph {}", self.graphs[side]))
        };
        let examples: Vec<String> = [0, 1].into_iter().filter_map(example).collect();
        writeln!(f, "Such as: {}.", examples.join(", "))?;
        for definition in &self.legend {
            writeln!(f, "  {definition}")?;
        }
        write!(f, "(c@r is colour c after round r.)")
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match &self.meaning {
            Meaning::Type(words) => f.write_str(words),
            Meaning::Refined { parent, neighbours } => {
                write!(f, "{parent} with ")?;
                let positions = neighbours.chunk_by(|a, b| a.position == b.position);
                let lists: Vec<String> = positions.map(list).collect();
                if lists.is_empty() { f.write_str("no neighbours") } else { f.write_str(&lists.join("; ")) }
            }
        }
    }
}

/// Neighbours of one kind: `3 neighbours: 2 x 0@1, 1 x 4@1`.
fn list(neighbours: &[Neighbours]) -> String {
    let count: u64 = neighbours.iter().map(|n| n.count).sum();
    let kinds: Vec<String> = neighbours.iter().map(kind).collect();
    let what = match neighbours[0].position {
        0 => format!("{count} neighbour{}", if count == 1 { "" } else { "s" }),
        position => format!("any node at position {position}"),
    };
    format!("{what}: {}", kinds.join(", "))
}

fn kind(n: &Neighbours) -> String {
    let colours: Vec<String> = n.colours.iter().map(Named::to_string).collect();
    let colours = if colours.len() == 1 { colours.concat() } else { format!("({})", colours.join(", ")) };
    let by = n.relation.as_ref().map_or(String::new(), |relation| format!(" by {relation}"));
    format!("{} x {colours}{by}", n.count)
}
