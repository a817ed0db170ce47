//! Training at the level of nodes and of pairs: both spaces, exact resume, gaps, columns that are learned and so are no
//! inputs, predictions that move with the nodes, seeds and cross-validation.

use crate::resume::resumes_exactly;
use ppgn_graph::generate::generate;
use ppgn_graph::random::Stream;
use ppgn_graph::{Dataset, Graph, GraphBuilder, Item, Known, Learnable, Target};
use ppgn_nn::{BlockConfig, Level, Precision, SpaceChoice, SuffixKind};
use ppgn_train::metrics::{Metric, Selection, classification, multi_label, regression};
use ppgn_train::protocol::{Cv, Seeds, Workers};
use ppgn_train::{
    ClassWeights, Division, Error, Goal, Learned, Outcome, Overrides, Prediction, Predictor, Request, Run,
    SampleWeights, Schedule, Session, Settings, Summary, Task, Truth, check_memory, train,
};

const LEVELS: [(Level, Item); 2] = [(Level::Node, Item::Node), (Level::Pair, Item::Pair)];

/// Graphs with symmetries, so that nodes and pairs share colours, and random ones; something to learn of four in five nodes
/// and pairs.
fn data(task: Task) -> Dataset {
    let symmetric = generate("csl:n=9,skips=2+3,copies=2").unwrap();
    let random = generate("gnp:n=6,p=0.5,count=12").unwrap();
    let graphs: Vec<Graph> = symmetric.graphs().iter().chain(random.graphs()).cloned().collect();
    let mut draw = Stream::new(5, "gaps", &[]);
    let mut builder = Dataset::builder("gaps").graphs(graphs.clone());
    for (_, item) in LEVELS {
        let target = |name: &str| Target { name: name.into(), unit: "m".into() };
        let learnable = match task {
            Task::Classification => Learnable { classes: Some(vec![-1, 4]), ..Learnable::default() },
            _ => Learnable { targets: vec![target("first"), target("second")], ..Learnable::default() },
        };
        let known = graphs.iter().map(|graph| {
            let n = graph.nodes();
            let places: Vec<u64> = (0..item.places(n)).filter(|_| draw.below(5) > 0).collect();
            let degree = |place: u64| match item {
                Item::Node => graph.neighbours(place as usize).len(),
                Item::Pair => {
                    let (u, v) = (place as usize / n, place as usize % n);
                    graph.neighbours(u).iter().filter(|&&w| graph.arc(v, w as usize).is_some()).count()
                }
            };
            let bit = |yes: bool| f64::from(u8::from(yes));
            let mut values: Vec<f64> = match task {
                Task::Classification => Vec::new(),
                Task::MultiLabel => places
                    .iter()
                    .flat_map(|&p| [bit(degree(p) > 2), bit(degree(p).is_multiple_of(2))])
                    .collect(),
                _ => places.iter().flat_map(|&p| [degree(p) as f64, 1.0 - 0.5 * degree(p) as f64]).collect(),
            };
            values.iter_mut().filter(|_| draw.below(6) == 0).for_each(|y| *y = f64::NAN);
            let class = |&p: &u64| Some(if degree(p) > 2 { 4 } else { -1 });
            let labels = places.iter().filter(|_| task == Task::Classification).map(class).collect();
            Known::new(places, labels, values).unwrap()
        });
        let known = known.collect();
        builder = builder.items(item, learnable, known);
    }
    builder.build().unwrap()
}

fn settings(data: &Dataset, task: Task, overrides: Overrides) -> Result<Settings, Error> {
    let division = Division::Shares([0.5, 0.25, 0.25]);
    Settings::resolve(&Request { overrides, division, task, ..Request::new("data", data) })
}

/// Every option of a recipe at once.
fn recipe(level: Level, task: Task) -> Overrides {
    Overrides {
        level: Some(level),
        epochs: Some(4),
        blocks: Some(vec![BlockConfig::new(6); 2]),
        batch: Some(3),
        rate: Some(0.01),
        schedule: Some(Schedule::Cosine),
        warmup: Some(1),
        patience: Some(3),
        weight_decay: Some(0.1),
        clip: Some(5.0),
        dropout: Some(0.2),
        class_weights: (task != Task::Regression).then_some(ClassWeights::Balanced),
        suffix: Some(if level == Level::Node { SuffixKind::I } else { SuffixKind::Ii }),
        ..Overrides::default()
    }
}

fn trained(
    folder: &tempfile::TempDir,
    name: &str,
    data: &Dataset,
    settings: Settings,
) -> (Summary, Predictor) {
    let path = folder.path().join(name);
    let run = Run::create(&path, settings).unwrap();
    let Outcome::Finished(summary) = train(&Session::default(), &run, data, &mut |_| true).unwrap() else {
        panic!("not finished");
    };
    (*summary, Predictor::open(&Session::default(), &path).unwrap())
}

#[test]
fn stopping_anywhere_changes_nothing() {
    for (level, _) in LEVELS {
        for task in [Task::Classification, Task::Regression, Task::MultiLabel] {
            let data = data(task);
            resumes_exactly(&data, settings(&data, task, recipe(level, task)).unwrap());
        }
    }
}

#[test]
fn both_spaces_train_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for (level, _) in LEVELS {
        for task in [Task::Classification, Task::Regression, Task::MultiLabel] {
            let data = data(task);
            let [a, b] = [SpaceChoice::Dense, SpaceChoice::Quotient].map(|space| {
                let overrides =
                    Overrides { space: Some(space), precision: Some(Precision::F64), ..recipe(level, task) };
                let settings = settings(&data, task, overrides).unwrap();
                let name = format!("{level:?}-{task:?}-{space:?}");
                let (summary, predictor) = trained(&folder, &name, &data, settings);
                (summary, predictor.scores(&data).unwrap())
            });
            assert_eq!((a.1.len(), a.0.best_epoch), (b.1.len(), b.0.best_epoch));
            let off = a.1.iter().flatten().zip(b.1.iter().flatten()).map(|(x, y)| (x - y).abs());
            let off = off.fold(0.0, f64::max);
            assert!(off < 1e-6, "{level:?} {task:?}: {off}");
            let [x, y] = [&a, &b].map(|run| run.0.best.test.as_ref().unwrap().loss);
            assert!((x - y).abs() < 1e-8, "{level:?} {task:?}: {x} {y}");
        }
    }
}

/// The figures of a run are those that scikit-learn's functions (as they are tested in `metrics`) give for its predictions
/// and what is known, row by row, of the set.
#[test]
fn figures_are_those_of_the_rows_that_are_known() {
    let folder = tempfile::tempdir().unwrap();
    for (level, item) in LEVELS {
        for task in [Task::Classification, Task::Regression, Task::MultiLabel] {
            let data = data(task);
            let overrides = Overrides { precision: Some(Precision::F64), ..recipe(level, task) };
            let settings = settings(&data, task, overrides).unwrap();
            let split = Division::Shares([0.5, 0.25, 0.25]).of(&data, 0).unwrap();
            let (summary, predictor) = trained(&folder, &format!("{level:?}{task:?}"), &data, settings);
            let items = predictor.items(&data).unwrap();
            let predictions = predictor.predict(&data).unwrap();
            assert_eq!(predictions.len(), items.len());
            let (mut classes, mut values, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
            for &g in &split.test {
                let known = data.known(item, g as usize);
                let n = data.graph(g as usize).nodes();
                for i in items.of_graph(g as usize) {
                    let place = match items.nodes(i)[..] {
                        [u] => u,
                        [u, v] => u * n + v,
                        _ => panic!("no nodes"),
                    };
                    let Some(row) = known.row_of(place as u64) else { continue };
                    classes.push(known.label(row).map(|label| usize::from(label == 4)));
                    values.extend_from_slice(known.values(row));
                    numbers.extend_from_slice(predictions[i].numbers());
                }
            }
            let test = summary.sets.unwrap().test.unwrap();
            let rows = if level == Level::Node { test.nodes } else { test.pairs };
            assert_eq!((test.graphs, rows), (split.test.len(), Some(classes.len())));
            match task {
                Task::Classification => {
                    let wanted = classification(&classes, &numbers, 2);
                    assert_eq!(
                        (test.metrics.accuracy, &test.confusion),
                        (wanted.accuracy, &wanted.confusion)
                    );
                    assert_eq!(test.metrics.roc_auc, Some(wanted.roc_auc));
                }
                Task::MultiLabel => {
                    let wanted = multi_label(&values, &numbers, 2).mean;
                    assert_eq!(test.metrics.accuracy, wanted.accuracy);
                }
                _ => {
                    let wanted = regression(&values, &numbers, 2);
                    for (mae, wanted) in test.metrics.mae.iter().zip(wanted) {
                        assert!((mae - wanted.mae.unwrap()).abs() < 1e-9 * mae.abs().max(1.0));
                    }
                }
            }
            // The same by the function that `predict` uses.
            let truth_settings = predictor.settings();
            let truth = Truth::of(truth_settings, &data).unwrap();
            let (part, confusion) = truth.figures(&split.test, |i| predictions[i].numbers()).unwrap();
            assert_eq!((part.accuracy, confusion), (test.metrics.accuracy, test.confusion));
        }
    }
}

#[test]
fn what_is_not_known_does_not_count() {
    // The same run whatever stands where nothing is known: here, with and without targets that the run does not learn.
    let folder = tempfile::tempdir().unwrap();
    let whole = data(Task::Regression);
    let request = |data: &Dataset| {
        let overrides = Overrides { dropout: None, ..recipe(Level::Node, Task::Regression) };
        let division = Division::Shares([0.5, 0.25, 0.25]);
        let request =
            Request { overrides, division, targets: vec!["second".into()], ..Request::new("d", data) };
        Settings::resolve(&request).unwrap()
    };
    let alone = {
        let known = |g: usize| {
            let known = whole.known(Item::Node, g);
            let kept: Vec<usize> = (0..known.len()).filter(|&row| !known.values(row)[1].is_nan()).collect();
            let places = kept.iter().map(|&row| known.places()[row]).collect();
            Known::new(places, Vec::new(), kept.iter().map(|&row| known.values(row)[1]).collect()).unwrap()
        };
        let target = Target { name: "second".into(), unit: "m".into() };
        let learnable = Learnable { targets: vec![target], ..Learnable::default() };
        let known = (0..whole.len()).map(known).collect();
        let builder = Dataset::builder("gaps").graphs(whole.graphs().to_vec());
        builder.items(Item::Node, learnable, known).build().unwrap()
    };
    let [a, b] = [&whole, &alone].map(|data| {
        let settings = request(data);
        let scaling = settings.scaling.clone();
        let (summary, predictor) = trained(&folder, &data.digest(), data, settings);
        (scaling, summary.sets, predictor.scores(data).unwrap())
    });
    assert_eq!(a, b);
    // Mean and deviation are those of the known values of the training set.
    let split = Division::Shares([0.5, 0.25, 0.25]).of(&alone, 0).unwrap();
    let known: Vec<f64> = split
        .train
        .iter()
        .flat_map(|&g| {
            let known = alone.known(Item::Node, g as usize);
            (0..known.len()).map(|row| known.values(row)[0]).collect::<Vec<_>>()
        })
        .collect();
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    assert!((a.0[0].mean - mean).abs() < 1e-12);
}

/// Graphs whose node labels are drawn at random, with one attribute.
fn random_labels() -> Dataset {
    let plain = generate("gnp:n=8,p=0.4,count=40").unwrap();
    let mut draw = Stream::new(1, "labels", &[]);
    let graphs = plain.graphs().iter().map(|graph| {
        let mut b = GraphBuilder::undirected(8);
        b.edge_label_columns(1);
        for (u, v, _) in graph.edge_list() {
            b.edge_with(u as u32, v as u32, &[draw.below(2) as i64], &[]);
        }
        b.node_labels(1, (0..8).map(|_| draw.below(2) as i64).collect());
        b.build().unwrap()
    });
    Dataset::builder("coins").graphs(graphs.collect()).build().unwrap()
}

#[test]
fn a_column_that_is_learned_is_no_input() {
    let folder = tempfile::tempdir().unwrap();
    let data = random_labels();
    for (level, _) in LEVELS {
        let overrides =
            Overrides { epochs: Some(12), dropout: None, patience: None, ..recipe(level, Task::Auto) };
        let division = Division::Shares([0.5, 0.25, 0.25]);
        let request =
            Request { overrides, division, targets: vec!["LABEL0".into()], ..Request::new("coins", &data) };
        let settings = Settings::resolve(&request).unwrap();
        assert_eq!(settings.goal, Goal::Classes(vec![0, 1]));
        let left = (settings.schema.node_labels.len(), settings.schema.edge_labels.len());
        assert_eq!(left, if level == Level::Node { (0, 1) } else { (1, 0) });
        assert_eq!(settings.pairs, if level == Level::Pair { Learned::Edges } else { Learned::All });
        let (summary, predictor) = trained(&folder, &format!("{level:?}"), &data, settings);
        // A coin cannot be predicted; a leak would be seen at once.
        let test = summary.sets.unwrap().test.unwrap().metrics.accuracy.unwrap();
        assert!((0.3..0.7).contains(&test), "{level:?}: {test}");
        // Data that has the column no more gives the same predictions.
        let item = if level == Level::Node { Item::Node } else { Item::Pair };
        let bare = data.learning(item, &["label0"], false).unwrap();
        assert_eq!(predictor.predict(&data).unwrap(), predictor.predict(&bare).unwrap());
        let rows = predictor.items(&data).unwrap().len();
        let arcs: usize = data.graphs().iter().map(Graph::arcs).sum();
        assert_eq!(rows, if level == Level::Node { 40 * 8 } else { arcs });
    }
}

#[test]
fn predictions_move_with_the_nodes() {
    let folder = tempfile::tempdir().unwrap();
    for (level, _) in LEVELS {
        let data = data(Task::Regression);
        let overrides = Overrides { precision: Some(Precision::F64), ..recipe(level, Task::Regression) };
        let settings = settings(&data, Task::Regression, overrides).unwrap();
        let (_, predictor) = trained(&folder, &format!("{level:?}"), &data, settings);
        let mut random = Stream::new(3, "relabel", &[]);
        let permutations: Vec<Vec<u32>> =
            data.graphs().iter().map(|graph| random.permutation(graph.nodes())).collect();
        let moved = data.graphs().iter().zip(&permutations).map(|(g, p)| g.permute(p).unwrap());
        let moved = Dataset::builder("moved").graphs(moved.collect()).build().unwrap();
        let (before, after) = (predictor.scores(&data).unwrap(), predictor.scores(&moved).unwrap());
        let (items, of_moved) = (predictor.items(&data).unwrap(), predictor.items(&moved).unwrap());
        for (item, before) in before.iter().enumerate() {
            let g = items.graph(item);
            let to: Vec<usize> = items.nodes(item).iter().map(|&u| permutations[g][u] as usize).collect();
            let other = of_moved.of_graph(g).find(|&other| of_moved.nodes(other) == to).unwrap();
            let off = before.iter().zip(&after[other]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-9, "{level:?} {g} {to:?}: {off}");
        }
    }
}

#[test]
fn seeds_and_folds() {
    let folder = tempfile::tempdir().unwrap();
    let data = data(Task::Classification);
    let overrides = Overrides {
        epochs: Some(2),
        warmup: None,
        patience: None,
        select: Some(Selection { metric: Metric::RocAuc, validation: false }),
        ..recipe(Level::Node, Task::Classification)
    };
    let request = Request {
        overrides,
        division: Division::Shares([0.5, 0.25, 0.25]),
        task: Task::Classification,
        ..Request::new("data", &data)
    };
    let session = Session::default();
    let seeds = Seeds::new(&request, &[0, 1], folder.path().join("seeds")).unwrap();
    let done = seeds.run(&session, &data, Workers::new(Some(1), Some(1)), &|_, _| true).unwrap();
    let (report, predictions) = done.unwrap();
    assert_eq!(predictions.len(), data.graphs().iter().map(Graph::nodes).sum::<usize>());
    let test = report.ensemble.test.unwrap();
    assert!(test.nodes.unwrap() > test.graphs && test.metrics.accuracy.is_some());
    assert!(matches!(predictions[0], Prediction::Class { .. }));

    let cv = Cv::new(&request, &[1, 2], folder.path().join("cv")).unwrap();
    let report = cv.run(&session, &data, Workers::new(Some(1), Some(1)), &|_, _| true).unwrap().unwrap();
    assert_eq!((report.folds, report.curves[0].len()), (vec![1, 2], 2));
}

#[test]
fn what_cannot_be_is_refused_before_anything_starts() {
    let plain = generate("gnp:count=20").unwrap();
    let at = |data: &Dataset, overrides: Overrides, targets: &[&str]| {
        let targets = targets.iter().map(|t| t.to_string()).collect();
        Settings::resolve(&Request { overrides, targets, ..Request::new("d", data) })
    };
    let level = |level| Overrides { level: Some(level), ..Overrides::default() };
    let error = at(&plain, level(Level::Node), &[]).unwrap_err();
    assert!(error.is_call() && matches!(error, Error::NothingAtLevel { .. }));
    let message = "gnp lists nothing to learn per node; its nodes have no columns that could be learned";
    assert_eq!(error.to_string(), message);
    let coins = random_labels();
    let message = |overrides, targets: &[&str]| at(&coins, overrides, targets).unwrap_err().to_string();
    assert!(message(level(Level::Node), &["x"]).contains("the columns of its nodes are label0"));
    assert!(message(level(Level::Graph), &["label0"]).contains("no target `label0`"));
    let third = Overrides { order: Some(3), ..level(Level::Node) };
    assert!(message(third, &["label0"]).contains("outputs per node need order 1 or 2"));
    // Two columns of labels are no single class each; one of them can be a number.
    let number = Request {
        overrides: level(Level::Node),
        targets: vec!["label0".into()],
        task: Task::Regression,
        ..Request::new("d", &coins)
    };
    assert!(matches!(Settings::resolve(&number).unwrap().goal, Goal::Targets(t) if t[0].name == "label0"));
    // What pairs take is part of the estimate.
    let pairs = generate("distances:n=60,count=20").unwrap();
    let settings =
        at(&pairs, Overrides { space: Some(SpaceChoice::Dense), ..level(Level::Pair) }, &[]).unwrap();
    let need = check_memory(&Session::default(), &settings, &pairs).unwrap();
    let little = Session::default().with_max_memory(Some(need - 1));
    assert!(matches!(check_memory(&little, &settings, &pairs), Err(Error::Memory { .. })));
    let graphs = Settings {
        network: ppgn_nn::PpgnConfig { level: Level::Graph, ..settings.network.clone() },
        ..settings
    };
    assert!(check_memory(&Session::default(), &graphs, &pairs).unwrap_or(0) < need);
}

/// A graph of weight 2 counts as one that is there twice, with all its nodes.
#[test]
fn sample_weights_are_those_of_the_graphs() {
    let data = data(Task::Regression);
    let n = data.len() as u32;
    let twice = data.subset(&(0..n).chain(0..4).collect::<Vec<_>>()).unwrap();
    let of = |data: &Dataset, weights: Vec<f64>| {
        let division = Division::Shares([1.0, 0.0, 0.0]);
        let overrides = Overrides { patience: None, ..recipe(Level::Node, Task::Regression) };
        let sample_weights = SampleWeights::new(weights).unwrap();
        Settings::resolve(&Request { overrides, division, sample_weights, ..Request::new("d", data) })
            .unwrap()
    };
    let weighted = of(&data, (0..n).map(|g| if g < 4 { 2.0 } else { 1.0 }).collect());
    let repeated = of(&twice, vec![1.0; n as usize + 4]);
    for (a, b) in weighted.scaling.iter().zip(&repeated.scaling) {
        assert!((a.mean - b.mean).abs() < 1e-12 && (a.deviation - b.deviation).abs() < 1e-12);
    }
    let folder = tempfile::tempdir().unwrap();
    let figures = |name: &str, data: &Dataset, settings: Settings| {
        let (summary, _) = trained(&folder, name, data, settings);
        summary.sets.unwrap().train.unwrap()
    };
    let (a, b) = (figures("a", &data, weighted), figures("b", &twice, repeated));
    // The baseline predicts 0 in standard deviations: its loss is the same mean.
    assert!((a.baseline.loss - b.baseline.loss).abs() < 1e-12, "{} {}", a.baseline.loss, b.baseline.loss);
}
