//! Random datasets for property tests: every feature that a [`Dataset`] can have, each there or not.

use ppgn_graph::{Dataset, Fold, GraphBuilder, Record, Schema, Target};
use proptest::collection::vec;
use proptest::prelude::*;

/// What random datasets may have. The default is what every lossless format can hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// Graphs, from 1 to this many.
    pub(crate) graphs: usize,
    /// Nodes of a graph, at most.
    pub(crate) nodes: usize,
    /// Whether there may be graphs without nodes.
    pub(crate) null_graphs: bool,
    /// Whether nodes may have positions.
    pub(crate) positions: bool,
    /// Whether there may be folds.
    pub(crate) folds: bool,
    /// Whether columns, targets and units may have names of their own.
    pub(crate) names: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { graphs: 6, nodes: 7, null_graphs: true, positions: true, folds: true, names: true }
    }
}

/// Which features all graphs of one dataset have.
#[derive(Debug, Clone, Copy)]
struct Shape {
    directed: bool,
    node_labels: usize,
    node_attributes: usize,
    edge_labels: usize,
    edge_attributes: usize,
    positions: bool,
    classes: bool,
    targets: usize,
    folds: usize,
    named: bool,
}

fn shapes(options: Options) -> impl Strategy<Value = Shape> {
    let columns = || prop_oneof![3 => Just(0usize), 2 => Just(1), 1 => Just(2)];
    let features = (columns(), columns(), columns(), columns());
    let flag = |allowed: bool| any::<bool>().prop_map(move |b| b && allowed);
    let rest =
        (any::<bool>(), flag(options.positions), any::<bool>(), columns(), 0..3usize, flag(options.names));
    (features, rest).prop_map(move |(features, (directed, positions, classes, targets, folds, named))| {
        Shape {
            directed,
            node_labels: features.0,
            node_attributes: features.1,
            edge_labels: features.2,
            edge_attributes: features.3,
            positions,
            classes,
            targets,
            folds: if options.folds { folds } else { 0 },
            named,
        }
    })
}

/// Labels: mostly few and small, with gaps and negative ones, sometimes the largest there are.
fn label() -> impl Strategy<Value = i64> {
    prop_oneof![20 => -2i64..6, 1 => any::<i64>(), 1 => Just(i64::MAX), 1 => Just(i64::MIN)]
}

/// Any finite number.
fn real() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop_oneof![-10.0..10.0, (-5i32..5).prop_map(f64::from), POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO]
}

fn records(shape: Shape, options: Options) -> impl Strategy<Value = Record> {
    let smallest = usize::from(!options.null_graphs);
    (smallest..=options.nodes).prop_flat_map(move |n| {
        let node = 0..(n.max(1) as u32);
        let edge =
            ((node.clone(), node), vec(label(), shape.edge_labels), vec(real(), shape.edge_attributes));
        let nodes = (vec(label(), n * shape.node_labels), vec(real(), n * shape.node_attributes));
        let positions = vec([real(), real(), real()], if shape.positions { n } else { 0 });
        let edges = vec(edge, 0..=(if n == 0 { 0 } else { 2 * n }));
        let learned = (label(), vec(real(), shape.targets));
        (nodes, positions, edges, learned).prop_map(move |(nodes, positions, edges, (class, targets))| {
            let mut b = GraphBuilder::new(n, shape.directed);
            b.node_labels(shape.node_labels, nodes.0).node_attributes(shape.node_attributes, nodes.1);
            b.edge_label_columns(shape.edge_labels).edge_attribute_columns(shape.edge_attributes);
            for ((u, v), labels, attributes) in &edges {
                b.edge_with(*u, *v, labels, attributes);
            }
            if shape.positions {
                b.positions(positions);
            }
            let (graph, _) = b.build_merging().unwrap();
            Record { label: shape.classes.then_some(class), targets, ..graph.into() }
        })
    })
}

fn folds(count: usize, graphs: usize) -> impl Strategy<Value = Vec<Fold>> {
    let fold = vec(0..3u8, graphs).prop_map(|parts| {
        let part = |wanted| (0..parts.len()).filter(|&g| parts[g] == wanted).map(|g| g as u32).collect();
        Fold { train: part(0), test: part(1) }
    });
    vec(fold, count)
}

fn assemble(shape: Shape, records: Vec<Record>, folds: Vec<Fold>) -> Dataset {
    let graphs: Vec<_> = records.iter().map(|r| r.graph.clone()).collect();
    let mut schema = Schema::of(&graphs).unwrap();
    let target = |i| Target { name: format!("attribute{i}"), unit: String::new() };
    let mut targets: Vec<Target> = (0..shape.targets).map(target).collect();
    if shape.named {
        schema.node_attributes.iter_mut().for_each(|name| name.insert_str(0, "größe "));
        schema.edge_attributes.iter_mut().for_each(|name| name.insert(0, '"'));
        targets.iter_mut().for_each(|t| t.unit = "eV".into());
    }
    let mut builder = Dataset::builder("random").schema(schema).folds(folds).graphs(graphs);
    builder = builder.targets(targets, records.iter().flat_map(|r| r.targets.clone()).collect());
    if shape.classes {
        builder = builder.labels(records.iter().map(|r| r.label.unwrap()).collect());
    }
    builder.build().unwrap()
}

/// Random datasets, all called `random`.
pub(crate) fn datasets(options: Options) -> impl Strategy<Value = Dataset> {
    shapes(options).prop_flat_map(move |shape| {
        vec(records(shape, options), 1..=options.graphs).prop_flat_map(move |records| {
            let folds = folds(shape.folds, records.len());
            folds.prop_map(move |folds| assemble(shape, records.clone(), folds))
        })
    })
}
