//! Random datasets that have everything a dataset can have, for tests that something survives a round trip.

use ppgn_graph::{
    Dataset, Fold, Graph, GraphBuilder, Header, LabelColumn, Provenance, Record, Schema, Target,
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// How many columns of each kind, and what else there is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    directed: bool,
    node_labels: usize,
    node_attributes: usize,
    edge_labels: usize,
    edge_attributes: usize,
    positions: bool,
    classes: bool,
    targets: usize,
    folds: usize,
}

const PLAIN: Shape = Shape {
    directed: false,
    node_labels: 0,
    node_attributes: 0,
    edge_labels: 0,
    edge_attributes: 0,
    positions: false,
    classes: false,
    targets: 0,
    folds: 0,
};

/// Datasets with every kind of feature, in every combination.
pub(crate) fn anything() -> impl Strategy<Value = Dataset> {
    let counts = (0..3usize, 0..3usize, 0..3usize, 0..3usize, 0..3usize, 0..3usize);
    (any::<[bool; 3]>(), counts)
        .prop_flat_map(|(bits, counts)| {
            dataset(
                Shape {
                    directed: bits[0],
                    positions: bits[1],
                    classes: bits[2],
                    node_labels: counts.0,
                    node_attributes: counts.1,
                    edge_labels: counts.2,
                    edge_attributes: counts.3,
                    targets: counts.4,
                    folds: counts.5,
                },
                true,
            )
        })
        .prop_flat_map(|d| {
            let (graphs, some) = (d.len(), prop_oneof![1 => Just(1e-9), 1 => 0.1..0.9]);
            let ids = (some, vec(text(), graphs)).prop_flat_map(|(some, texts)| {
                texts.into_iter().map(|text| proptest::option::weighted(some, Just(text))).collect::<Vec<_>>()
            });
            (Just(d), any::<[bool; 2]>(), ids, vec(any::<[bool; 4]>(), graphs)).prop_map(
                |(d, [words, gaps], ids, missing)| {
                    let d = if words { with_words(&d) } else { d };
                    let header = d.header().clone();
                    let records = d.records().zip(ids).zip(missing).map(|((record, id), missing)| {
                        let known = |i: usize| !(gaps && missing[i]);
                        let targets = record.targets.iter().enumerate();
                        let targets = targets.map(|(i, &y)| if known(i) { y } else { f64::NAN }).collect();
                        let label = record.label.filter(|_| known(3));
                        Ok(Record { id, label, targets, ..record })
                    });
                    Dataset::collect(header, records).unwrap()
                },
            )
        })
}

/// The same dataset with words in place of the labels of nodes, edges and graphs.
fn with_words(d: &Dataset) -> Dataset {
    let mut header = d.header().clone();
    let words = |column: &LabelColumn| {
        let words = column.values().iter().map(|v| format!("\"{v}\u{e9}"));
        LabelColumn::of_words(column.name(), words)
    };
    let (nodes, edges) = (header.schema.node_labels.clone(), header.schema.edge_labels.clone());
    header.schema.node_labels = nodes.iter().map(words).collect();
    header.schema.edge_labels = edges.iter().map(words).collect();
    let classes = header.classes.clone().unwrap_or_default();
    header.class_names = classes.iter().map(|v| format!("class {v}")).collect();
    header.classes = header.classes.map(|classes| (0..classes.len() as i64).collect());
    let numbers = |columns: &[LabelColumn], named: &[LabelColumn], row: &[i64]| -> Vec<i64> {
        let number = |(i, v): (usize, &i64)| {
            assert!(columns[i].number(*v).is_some());
            named[i].value_of(&format!("\"{v}\u{e9}")).unwrap()
        };
        row.iter().enumerate().map(number).collect()
    };
    let records = d.records().map(|record| {
        let g = &record.graph;
        let mut b = GraphBuilder::new(g.nodes(), g.is_directed());
        b.edge_label_columns(edges.len()).edge_attribute_columns(g.edge_attribute_columns());
        for (u, v, a) in g.edge_list() {
            let labels = numbers(&edges, &header.schema.edge_labels, g.edge_labels(a));
            b.edge_with(u as u32, v as u32, &labels, g.edge_attributes(a));
        }
        let rows = (0..g.nodes()).flat_map(|u| numbers(&nodes, &header.schema.node_labels, g.node_labels(u)));
        b.node_labels(nodes.len(), rows.collect());
        let rows = (0..g.nodes()).flat_map(|u| g.node_attributes(u).to_vec());
        b.node_attributes(g.node_attribute_columns(), rows.collect());
        if let Some(positions) = g.positions() {
            b.positions(positions.to_vec());
        }
        let label = record.label.map(|label| classes.binary_search(&label).unwrap() as i64);
        Ok(Record { graph: b.build().unwrap(), label, ..record })
    });
    Dataset::collect(header.clone(), records.collect::<Vec<_>>()).unwrap()
}

/// Datasets of bare graphs: directed or not, with loops or not.
pub(crate) fn bare() -> impl Strategy<Value = Dataset> {
    any::<[bool; 2]>().prop_flat_map(|[directed, loops]| dataset(Shape { directed, ..PLAIN }, loops))
}

fn dataset(shape: Shape, loops: bool) -> impl Strategy<Value = Dataset> {
    vec(record(shape, loops), 1..6).prop_flat_map(move |records| {
        let count = records.len() as u32;
        let folds = vec(vec(0..3u8, records.len()), shape.folds);
        let bare = shape.node_labels + shape.edge_labels == 0;
        // A bare dataset keeps its name only as its file's.
        let name = if bare { "[a-z]{1,8}" } else { "\\PC{0,12}" };
        (Just(records), folds, name, vec(text(), 16), vec(any::<i64>(), 0..3)).prop_map(
            move |(records, folds, name, texts, more)| {
                let fold = |parts: Vec<u8>| Fold {
                    train: (0..count).filter(|&g| parts[g as usize] == 0).collect(),
                    test: (0..count).rev().filter(|&g| parts[g as usize] == 1).collect(),
                };
                let header = Header {
                    name,
                    graphs: records.len(),
                    schema: schema(shape, &records, &texts, &more),
                    classes: shape.classes.then(|| {
                        let labels: BTreeSet<i64> =
                            records.iter().filter_map(|r| r.label).chain(more.clone()).collect();
                        labels.into_iter().collect()
                    }),
                    class_names: Vec::new(),
                    targets: (0..shape.targets)
                        .map(|i| Target { name: format!("{i}{}", texts[i]), unit: texts[i + 1].clone() })
                        .collect(),
                    folds: folds.into_iter().map(fold).collect(),
                    provenance: Provenance {
                        source: texts[4].clone(),
                        format: texts[5].clone(),
                        notes: texts[6..8].to_vec(),
                    },
                    ..Header::default()
                };
                Dataset::collect(header, records.into_iter().map(Ok)).unwrap()
            },
        )
    })
}

/// Text as people and programs write it, quotes, line ends and all.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z_]{0,6}",
        "\\PC{0,6}",
        Just("\"\\\n\r\t\u{0}".to_string()),
        Just("名前 ∂é🧪".to_string())
    ]
}

fn schema(shape: Shape, records: &[Record], texts: &[String], more: &[i64]) -> Schema {
    let graphs: Vec<Graph> = records.iter().map(|r| r.graph.clone()).collect();
    let found = Schema::of(&graphs).unwrap();
    // Names of their own, and values that no graph has.
    let named = |columns: Vec<LabelColumn>| {
        let values =
            |c: &LabelColumn| c.values().iter().copied().chain(more.iter().copied()).collect::<Vec<_>>();
        columns.iter().zip(texts).map(|(c, name)| LabelColumn::new(name.clone(), values(c))).collect()
    };
    let names = |count: usize| texts[8..8 + count].to_vec();
    Schema {
        node_labels: named(found.node_labels),
        edge_labels: named(found.edge_labels),
        node_attributes: names(shape.node_attributes),
        edge_attributes: names(shape.edge_attributes),
        directed: shape.directed,
        positions: shape.positions,
    }
}

fn label() -> impl Strategy<Value = i64> {
    prop_oneof![4 => -2..3i64, 1 => any::<i64>(), 1 => Just(i64::MAX), 1 => Just(i64::MIN)]
}

/// Every finite number.
fn real() -> impl Strategy<Value = f64> {
    let any = prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO;
    prop_oneof![any, -1.0..1.0f64, Just(f64::MAX), Just(f64::MIN_POSITIVE), Just(-0.0), Just(0.1 + 0.2)]
}

/// Sizes around those where the encodings change.
fn size() -> impl Strategy<Value = usize> {
    prop_oneof![6 => 0..8usize, 1 => prop::sample::select(vec![15usize, 16, 17, 31, 32, 33, 62, 63, 64, 65])]
}

fn record(shape: Shape, loops: bool) -> impl Strategy<Value = Record> {
    let label = label().prop_map(move |l| shape.classes.then_some(l));
    (size().prop_flat_map(move |n| graph(n, shape, loops)), label, vec(real(), shape.targets))
        .prop_map(|(graph, label, targets)| Record { label, targets, ..graph.into() })
}

fn graph(n: usize, shape: Shape, loops: bool) -> impl Strategy<Value = Graph> {
    let nodes = n.max(1) as u32;
    let edge =
        (0..nodes, 0..nodes, vec(self::label(), shape.edge_labels), vec(real(), shape.edge_attributes));
    let most = if n == 0 { 0 } else { 3 * n.min(24) };
    (
        vec(edge, 0..=most),
        vec(self::label(), n * shape.node_labels),
        vec(real(), n * shape.node_attributes),
        vec(any::<[bool; 3]>(), n),
        vec(real(), n),
    )
        .prop_map(move |(edges, labels, attributes, signs, places)| {
            let mut b = GraphBuilder::new(n, shape.directed);
            b.edge_label_columns(shape.edge_labels).edge_attribute_columns(shape.edge_attributes);
            for (u, v, labels, attributes) in edges {
                if loops || u != v {
                    b.edge_with(u, v, &labels, &attributes);
                }
            }
            b.node_labels(shape.node_labels, labels).node_attributes(shape.node_attributes, attributes);
            if shape.positions {
                let place = |(x, signs): (&f64, &[bool; 3])| signs.map(|s| if s { -x } else { *x });
                b.positions(places.iter().zip(&signs).map(place).collect());
            }
            b.build_merging().unwrap().0
        })
}
