//! The pairs of graphs that tell the paper's story, in its order.

use serde_json::{Value, json};

/// Two graphs, the tests to look at them with, and what there is to see.
pub(crate) struct Preset {
    name: &'static str,
    pub(crate) a: &'static str,
    pub(crate) b: &'static str,
    /// The first is shown when the preset is chosen.
    pub(crate) tests: &'static [&'static str],
    /// Whether labels count.
    pub(crate) labels: bool,
    text: &'static str,
}

pub(crate) const PRESETS: [Preset; 6] = [
    Preset {
        name: "Figure 1",
        a: "figure1:0",
        b: "figure1:1",
        tests: &["1-wl", "2-fwl"],
        labels: true,
        text: "A hexagon and two triangles: every node has two neighbours, so 1-WL, and with it every message-passing \
               network, sees no difference. 2-FWL colours pairs of nodes, and sees in one round which pairs have a common \
               neighbour.",
    },
    Preset {
        name: "CFI of K3",
        a: "cfi:base=k3:0",
        b: "cfi:base=k3:1",
        tests: &["1-wl", "2-fwl"],
        labels: true,
        text: "The construction of Cai, Fürer and Immerman on a triangle: without a twist it falls into two triangles, with \
               one it is a hexagon. 2-FWL distinguishes them.",
    },
    Preset {
        name: "Rook and Shrikhande",
        a: "rook:n=4",
        b: "shrikhande",
        tests: &["2-fwl", "3-fwl"],
        labels: true,
        text: "Strongly regular graphs with the same parameters: any two adjacent nodes have two common neighbours, and so \
               have any two others. 2-FWL, and with it a network on pairs, sees no difference. 3-FWL does.",
    },
    Preset {
        name: "CFI of K4",
        a: "cfi:base=k4:0",
        b: "cfi:base=k4:1",
        tests: &["2-fwl", "3-fwl"],
        labels: true,
        text: "On K4 the same construction is beyond 2-FWL, and 3-FWL distinguishes the pair. Larger bases go beyond every \
               level: no level of the hierarchy is the last.",
    },
    Preset {
        name: "CSL",
        a: "csl:0",
        b: "csl:15",
        tests: &["1-wl", "2-fwl"],
        labels: true,
        text: "Circles of 41 nodes with skip links of different lengths. All nodes look alike to 1-WL; 2-FWL distinguishes \
               all ten classes, and a network on pairs learns them.",
    },
    Preset {
        name: "Two molecules",
        a: "smiles:C1CCC2CCCCC2C1",
        b: "smiles:C1CCC(C1)C1CCCC1",
        tests: &["1-wl", "2-fwl"],
        labels: false,
        text: "Decalin and bicyclopentyl: two rings of six that share a bond, and two rings of five joined by one. By their \
               bonds alone, 1-WL does not distinguish them; 2-FWL sees the lengths of the rings. Tick Labels to let the \
               features of atoms and bonds count.",
    },
];

impl Preset {
    pub(crate) fn to_json(&self) -> Value {
        let labels = if self.labels { "" } else { "0" };
        json!({
            "name": self.name, "a": self.a, "b": self.b, "tests": self.tests, "labels": labels, "text": self.text,
        })
    }
}
