//! Several ranks against one: the same bits on two and, where batches are large, on four; on other numbers the same curves up to
//! rounding, and the same bits for the same number; and nothing lost when a rank goes. The ranks are threads here; those of MPI are in `crates/ppgn/tests/mpi.rs`.

use crate::recipes::gaps;
use ppgn_graph::generate::generate;
use ppgn_graph::locate::Locator;
use ppgn_graph::{Dataset, Graph};
use ppgn_nn::{BlockConfig, Level, Precision, SpaceChoice};
use ppgn_train::protocol::{Cv, CvReport, Workers};
use ppgn_train::ranks::Ranks;
use ppgn_train::{
    Division, Epoch, Error, Event, Outcome, Overrides, Request, Run, Session, Settings, Task, follow, train,
};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Graphs of 4 to 9 nodes, and whether they have many edges.
fn data() -> Dataset {
    let of_size =
        |n: usize| generate(&format!("gnp:n={n},p=0.4,count=8,seed={n}")).unwrap().graphs().to_vec();
    let graphs: Vec<Graph> = (4..10).flat_map(of_size).collect();
    let many = |g: &Graph| i64::from(5 * g.edges() > g.nodes() * (g.nodes() - 1));
    let labels = graphs.iter().map(many).collect();
    Dataset::builder("sizes").graphs(graphs).labels(labels).build().unwrap()
}

fn overrides(precision: Precision) -> Overrides {
    Overrides {
        epochs: Some(4),
        blocks: Some(vec![BlockConfig::new(6); 2]),
        batch: Some(5),
        precision: Some(precision),
        ..Overrides::default()
    }
}

fn settings(data: &Dataset, overrides: Overrides) -> Settings {
    let division = Division::Shares([0.6, 0.2, 0.2]);
    Settings::resolve(&Request { overrides, division, ..Request::new("d", data) }).unwrap()
}

/// MUTAG, or nothing after reporting the skipped test.
fn mutag() -> Option<Dataset> {
    let folder = std::env::var_os("PPGN_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    let path = folder.join("tu/MUTAG.zip");
    if !path.exists() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {} is missing", path.display());
        return None;
    }
    Some(Locator::default().load(&path.display().to_string()).unwrap())
}

/// Trains a run on this number of ranks until rank 0's watcher says no.
fn trained(
    size: usize,
    path: &Path,
    data: &Dataset,
    go_on: impl Fn(&Event<'_>) -> bool + Sync,
) -> (Result<Outcome, Error>, Vec<Result<(), Error>>) {
    let mut ranks = Ranks::in_process(size).into_iter();
    let first = ranks.next().unwrap();
    std::thread::scope(|scope| {
        let others: Vec<_> = ranks
            .map(|ranks| {
                scope.spawn(move || {
                    let ended = follow(&Session::default().with_ranks(Some(ranks.clone())), data);
                    ranks.leave(None);
                    ended
                })
            })
            .collect();
        let run = Run::open(path).unwrap();
        let session = Session::default().with_ranks(Some(first.clone()));
        let outcome = train(&session, &run, data, &mut |event| go_on(&event));
        first.leave(None);
        (outcome, others.into_iter().map(|t| t.join().unwrap()).collect())
    })
}

fn whole(size: usize, path: &Path, data: &Dataset, settings: &Settings) -> Vec<Epoch> {
    drop(Run::create(path, settings.clone()).unwrap());
    let (outcome, others) = trained(size, path, data, |_| true);
    assert!(matches!(outcome.unwrap(), Outcome::Finished(_)));
    others.into_iter().for_each(|ended| ended.unwrap());
    epochs(path)
}

fn epochs(path: &Path) -> Vec<Epoch> {
    let lines = std::fs::read_to_string(path.join("metrics.jsonl")).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The numbers of a safetensors file, without its header: that has a digest of the metrics, whose sums over the ranks round.
fn tensors(path: &Path) -> Vec<u8> {
    let file = std::fs::read(path).unwrap();
    let header = u64::from_le_bytes(*file.first_chunk().unwrap());
    file[8 + header as usize..].to_vec()
}

/// The largest relative difference of the losses of two runs.
fn difference(a: &[Epoch], b: &[Epoch]) -> f64 {
    assert_eq!(a.len(), b.len());
    let losses = |e: &Epoch| {
        [Some(&e.train), e.validation.as_ref(), e.test.as_ref()].map(|part| part.map_or(0.0, |p| p.loss))
    };
    let pairs = a.iter().zip(b).flat_map(|(a, b)| losses(a).into_iter().zip(losses(b)));
    pairs.map(|(a, b)| (a - b).abs() / a.abs().max(1e-3)).fold(0.0, f64::max)
}

#[test]
fn any_number_of_ranks_follows_the_curve_of_one() {
    let data = data();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: String| folder.path().join(name);
    let all = |space| [(Precision::F64, 1e-9), (Precision::F32, 1e-3)].map(|(p, bound)| (p, bound, space));
    for (precision, bound, space) in [all(SpaceChoice::Dense), all(SpaceChoice::Quotient)].concat() {
        let mut asked = overrides(precision);
        (asked.space, asked.dropout, asked.ema) = (Some(space), Some(0.2), Some(0.9));
        let settings = settings(&data, asked);
        let name = |size: usize, word: &str| format!("{precision:?}-{}-{size}-{word}", space.name());
        let one = whole(1, &at(name(1, "a")), &data, &settings);
        // Seven ranks are more than a batch has graphs.
        for size in [2, 3, 7] {
            let several = whole(size, &at(name(size, "a")), &data, &settings);
            let off = difference(&one, &several);
            assert!(off < bound, "{precision:?} {space:?} {size}: {off}");
        }
        let again = whole(3, &at(name(3, "b")), &data, &settings);
        assert_eq!(epochs(&at(name(3, "a"))), again, "the bits repeat");
        let weights = |word| std::fs::read(at(name(3, word)).join("checkpoint/model.safetensors")).unwrap();
        assert_eq!(weights("a"), weights("b"));
    }
}

/// MUTAG, with blocks that go through groups of graphs and with wider ones that do not, on both spaces: the weights of two ranks
/// and of four have the bits of one's. Three sum in another order. In f32 their curves part in time: a maximum or a ReLU that
/// rounding decides otherwise changes the gradient by a jump.
#[test]
fn mutag_on_several_ranks() {
    let Some(data) = mutag() else { return };
    let folder = tempfile::tempdir().unwrap();
    let spaces = [SpaceChoice::Dense, SpaceChoice::Quotient];
    for (width, precision, space) in [
        (16, Precision::F32, spaces[0]),
        (16, Precision::F32, spaces[1]),
        (16, Precision::F64, spaces[1]),
        (96, Precision::F32, spaces[0]),
    ] {
        let mut asked = overrides(precision);
        asked.blocks = Some(vec![BlockConfig::new(width); 2]);
        // One batch per epoch, of which four ranks take whole parts. The wide network takes longer.
        (asked.epochs, asked.batch) = (Some(if width == 16 { 20 } else { 3 }), Some(128));
        asked.space = Some(space);
        let settings = settings(&data, asked);
        let at = |size: usize| folder.path().join(format!("{width}-{precision:?}-{}-{size}", space.name()));
        let weights = |size: usize| {
            let epochs = whole(size, &at(size), &data, &settings);
            (epochs, tensors(&at(size).join("checkpoint/model.safetensors")))
        };
        let (one, bits) = weights(1);
        for size in [2, 4] {
            let (several, of_several) = weights(size);
            assert!(of_several == bits, "{width} {precision:?} {space:?}: {size} ranks have other weights");
            let off = difference(&one, &several);
            assert!(off < 1e-6, "{width} {precision:?} {space:?} {size}: {off}");
        }
        let (three, of_three) = weights(3);
        assert!(of_three != bits, "another order of the sums shows, so that the comparison says something");
        if precision == Precision::F64 {
            let off = difference(&one, &three);
            assert!(off < 1e-9, "{width} {precision:?}: {off}");
        }
    }
}

#[test]
fn what_is_learned_of_nodes_pairs_and_targets_with_gaps_is_shared_out_too() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("nodes", generate("short-cycles:n=8,count=20").unwrap(), Some(Level::Node)),
        ("pairs", generate("distances:n=5,count=12").unwrap(), Some(Level::Pair)),
        ("targets", gaps(Task::Regression), None),
        ("labels", gaps(Task::MultiLabel), None),
    ];
    for (name, data, level) in cases {
        let settings = settings(&data, Overrides { level, ..overrides(Precision::F64) });
        let one = whole(1, &folder.path().join(format!("{name}-1")), &data, &settings);
        let several = whole(3, &folder.path().join(format!("{name}-3")), &data, &settings);
        let off = difference(&one, &several);
        assert!(off < 1e-9, "{name}: {off}");
    }
}

#[test]
fn another_number_of_ranks_resumes() {
    let data = data();
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(&data, overrides(Precision::F64));
    let one = whole(1, &folder.path().join("1"), &data, &settings);
    let path = folder.path().join("parts");
    drop(Run::create(&path, settings).unwrap());
    for (size, epochs) in [(3, 1), (1, 2), (2, 9)] {
        let (outcome, others) = trained(size, &path, &data, |event| match event {
            Event::Step { epoch, .. } => *epoch <= epochs,
            _ => true,
        });
        match outcome.unwrap() {
            Outcome::Finished(_) => assert_eq!(epochs, 9),
            Outcome::Stopped { epochs: done } => {
                assert_eq!(done, epochs);
                assert!(others.iter().all(Result::is_err), "they were left");
            }
        }
    }
    assert!(difference(&one, &epochs(&path)) < 1e-9);
}

#[test]
fn a_rank_with_other_data_ends_the_training_and_nothing_is_lost() {
    let data = data();
    let other = generate("csl:n=13,skips=2+3,copies=6").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    drop(Run::create(&path, settings(&data, overrides(Precision::F32))).unwrap());
    let [first, second] = Ranks::in_process(2).try_into().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let error = follow(&Session::default().with_ranks(Some(second.clone())), &other).unwrap_err();
            second.leave(Some(&error.to_string()));
        });
        let run = Run::open(&path).unwrap();
        let session = Session::default().with_ranks(Some(first.clone()));
        let error = train(&session, &run, &data, &mut |_| true).unwrap_err();
        assert!(error.to_string().starts_with("rank 1: "), "{error}");
        first.leave(None);
    });
    let run = Run::open(&path).unwrap();
    assert!(matches!(train(&Session::default(), &run, &data, &mut |_| true).unwrap(), Outcome::Finished(_)));
}

#[test]
fn folds_are_farmed_out() {
    let data = data();
    let folder = tempfile::tempdir().unwrap();
    let request = Request { overrides: overrides(Precision::F32), ..Request::new("d", &data) };
    let cv = |session: &Session, name: &str| -> CvReport {
        let cv = Cv::new(&request, &[1, 2, 3, 4, 5], folder.path().join(name)).unwrap();
        let workers = Workers { jobs: 1, threads: 1 };
        cv.run(session, &data, workers, &|_, _| true).unwrap().unwrap()
    };
    let mut one = cv(&Session::default(), "one");
    let reports: Vec<CvReport> = std::thread::scope(|scope| {
        let ranks = Ranks::in_process(3);
        let threads: Vec<_> = ranks
            .into_iter()
            .map(|ranks| {
                let cv = &cv;
                scope.spawn(move || {
                    let report = cv(&Session::default().with_ranks(Some(ranks.clone())), "three");
                    ranks.leave(None);
                    report
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    for mut report in reports {
        (one.seconds_training, report.seconds_training) = (0.0, 0.0);
        assert_eq!(one, report);
    }
    assert!(folder.path().join("three/cv.json").exists());
}
