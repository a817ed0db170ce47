//! Several trainings in one process: at once, in one pool, on different data, with the same bits as alone.

use ppgn_graph::Dataset;
use ppgn_graph::generate::generate;
use ppgn_nn::{BlockConfig, SpaceChoice};
use ppgn_train::{Division, Outcome, Overrides, Request, Run, Session, Settings, train};
use rayon::prelude::*;
use std::path::Path;

fn settings(data: &Dataset, seed: u64) -> Settings {
    let overrides = Overrides {
        epochs: Some(2),
        blocks: Some(vec![BlockConfig::new(6); 2]),
        batch: Some(3),
        seed: Some(seed),
        space: Some(SpaceChoice::Quotient),
        ..Overrides::default()
    };
    let division = Division::Shares([0.5, 0.25, 0.25]);
    Settings::resolve(&Request { overrides, division, ..Request::new("data", data) }).unwrap()
}

/// Trains a run, and returns the bytes of everything that must not depend on other runs.
fn trained(session: &Session, data: &Dataset, seed: u64, path: &Path) -> Vec<Vec<u8>> {
    let run = Run::create(path, settings(data, seed)).unwrap();
    let outcome = train(session, &run, data, &mut |_| true).unwrap();
    assert!(matches!(outcome, Outcome::Finished(_)));
    ["metrics.jsonl", "checkpoint/model.safetensors", "best/model.safetensors", "summary.json"]
        .map(|name| std::fs::read(path.join(name)).unwrap())
        .to_vec()
}

fn datasets() -> [Dataset; 2] {
    ["csl:n=11,skips=2+3,copies=6", "csl:n=13,skips=2+3+5,copies=4"].map(|spec| generate(spec).unwrap())
}

#[test]
fn two_trainings_on_two_threads() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = datasets();
    let session = Session::default();
    let alone = [("alone-a", &a), ("alone-b", &b)];
    let alone = alone.map(|(name, data)| trained(&Session::default(), data, 1, &folder.path().join(name)));
    let together = std::thread::scope(|scope| {
        let run = |data: &'static str, dataset| {
            let (session, folder) = (&session, folder.path());
            scope.spawn(move || trained(session, dataset, 1, &folder.join(data)))
        };
        [run("a", &a), run("b", &b)].map(|thread| thread.join().unwrap())
    });
    assert!(alone == together);
}

#[test]
fn eight_runs_in_one_pool() {
    let folder = tempfile::tempdir().unwrap();
    let data = datasets();
    // Four seeds on each of two datasets: some share their colours, others do not.
    let path = |name: &str, i: usize| folder.path().join(format!("{name}-{i}"));
    let run = |session: &Session, name: &str, i: usize| {
        trained(session, &data[i % 2], (i / 2) as u64, &path(name, i))
    };
    let alone: Vec<_> = (0..8).map(|i| run(&Session::default(), "alone", i)).collect();
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let session = Session::default();
        let name = format!("pool-{threads}");
        let together: Vec<_> =
            pool.install(|| (0..8).into_par_iter().map(|i| run(&session, &name, i)).collect());
        assert!(alone == together, "{threads} threads");
        // The same with threads of their own, started from within the pool.
        let own = Session::default().with_threads(2).unwrap();
        let name = format!("own-{threads}");
        let together: Vec<_> = pool.install(|| (0..8).into_par_iter().map(|i| run(&own, &name, i)).collect());
        assert!(alone == together, "{threads} threads, and two of the session");
    }
}

#[test]
fn an_interrupt_stops_training_and_colouring() {
    let folder = tempfile::tempdir().unwrap();
    let [data, _] = datasets();
    let session = Session::default();
    let run = Run::create(folder.path().join("run"), settings(&data, 0)).unwrap();
    let mut steps = 0;
    let outcome = train(&session, &run, &data, &mut |_| {
        steps += 1;
        if steps == 2 {
            session.interrupt().set();
        }
        true
    });
    assert!(matches!(outcome.unwrap(), Outcome::Stopped { epochs: 0 }));
    assert_eq!(steps, 2);
    // While the data is prepared it is the same.
    session.clear();
    let outcome = train(&session, &run, &data, &mut |_| panic!("nothing happens any more")).unwrap();
    assert!(matches!(outcome, Outcome::Stopped { epochs: 0 }));
}
