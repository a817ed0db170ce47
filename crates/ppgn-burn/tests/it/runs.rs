//! Whole runs on a device: the same folders as the CPU's, resumed and used on either.

use ppgn_burn::Gpu;
use ppgn_graph::Dataset;
use ppgn_graph::generate::generate;
use ppgn_nn::{BlockConfig, Level, Precision, SpaceChoice};
use ppgn_train::{
    Division, Outcome, Overrides, Predictor, Request, Run, Session, Settings, check_memory, train,
};
use std::path::Path;
use std::sync::Arc;

fn on_device() -> Session {
    Session::default().with_device(Some(Arc::new(Gpu::plain())))
}

pub(crate) fn settings(data: &Dataset, epochs: usize, overrides: Overrides) -> Settings {
    let overrides = Overrides {
        epochs: Some(epochs),
        precision: Some(Precision::F64),
        blocks: Some(vec![BlockConfig::new(6); 2]),
        batch: Some(8),
        ..overrides
    };
    let division = Division::Shares([0.6, 0.2, 0.2]);
    Settings::resolve(&Request { overrides, division, ..Request::new("data", data) }).unwrap()
}

fn trained(session: &Session, run: &Run, data: &Dataset) {
    assert!(matches!(train(session, run, data, &mut |_| true).unwrap(), Outcome::Finished(_)));
}

/// The losses of the epochs: of training, validation and test.
pub(crate) fn losses(run: &Path) -> Vec<f64> {
    let text = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let line = |line: &str| -> Vec<f64> {
        let mut parts = line.split("\"loss\":").skip(1);
        let number = |part: &str| part.split([',', '}']).next().unwrap().parse().unwrap();
        parts.by_ref().map(number).collect()
    };
    text.lines().flat_map(line).collect()
}

pub(crate) fn close(a: &[f64], b: &[f64]) {
    assert!(a.len() == b.len() && a.len() >= 6, "{} {}", a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-8 * b.abs().max(1.0), "{a} {b}");
    }
}

/// Every recipe follows the curve of the CPU engine, on both spaces, per graph, node and pair.
#[test]
fn runs_follow_the_curves_of_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    let both = |name: &str, data: &Dataset, overrides: Overrides| {
        let paths = ["cpu", "device"].map(|place| folder.path().join(format!("{name}-{place}")));
        for (path, session) in paths.iter().zip([Session::default(), on_device()]) {
            let run = Run::create(path, settings(data, 3, overrides.clone())).unwrap();
            trained(&session, &run, data);
        }
        close(&losses(&paths[1]), &losses(&paths[0]));
    };
    let csl = generate("csl:n=11,skips=2+3,copies=12").unwrap();
    for space in [SpaceChoice::Dense, SpaceChoice::Quotient] {
        let recipe =
            Overrides { dropout: Some(0.2), clip: Some(0.5), ema: Some(0.9), ..Overrides::default() };
        both(&format!("recipe-{space:?}"), &csl, Overrides { space: Some(space), ..recipe });
    }
    let nodes = generate("short-cycles:n=6,count=20").unwrap();
    both("node", &nodes, Overrides { level: Some(Level::Node), ..Overrides::default() });
    let pairs = generate("distances:n=5,count=20").unwrap();
    let order = Overrides { order: Some(3), ..Overrides::default() };
    both("pair", &pairs, Overrides { level: Some(Level::Pair), ..Overrides::default() });
    both("order", &csl, order);
}

/// Train there, resume here, resume there again, predict on either: one curve, and the same predictions.
#[test]
fn runs_are_resumed_and_used_on_either() {
    let folder = tempfile::tempdir().unwrap();
    let data = generate("csl:n=11,skips=2+3,copies=12").unwrap();
    let [whole, mixed] = ["whole", "mixed"].map(|name| folder.path().join(name));
    trained(
        &Session::default(),
        &Run::create(&whole, settings(&data, 6, Overrides::default())).unwrap(),
        &data,
    );
    trained(&on_device(), &Run::create(&mixed, settings(&data, 2, Overrides::default())).unwrap(), &data);
    for (epochs, session) in [(4, Session::default()), (6, on_device())] {
        let mut run = Run::open(&mixed).unwrap();
        run.extend(epochs).unwrap();
        trained(&session, &run, &data);
    }
    close(&losses(&mixed), &losses(&whole));
    let scores =
        |session: &Session| Predictor::open(session, &mixed).unwrap().scores(&data).unwrap().concat();
    close(&scores(&on_device()), &scores(&Session::default()));
    let features =
        |session: &Session| Predictor::open(session, &mixed).unwrap().embed(&data).unwrap().concat();
    close(&features(&on_device()), &features(&Session::default()));
}

#[test]
fn what_does_not_fit_leaves_no_run() {
    let data = generate("csl:n=11,skips=2+3,copies=12").unwrap();
    let session = Session::default().with_device(Some(Arc::new(Gpu::plain().with_largest(20_000))));
    let error = check_memory(&session, &settings(&data, 2, Overrides::default()), &data).unwrap_err();
    assert!(error.to_string().contains("smaller batches"), "{error}");
    let small = Overrides { batch: Some(1), ..Overrides::default() };
    let mut fits = settings(&data, 2, small);
    fits.training.batch = 1;
    check_memory(&session, &fits, &data).unwrap();
}
