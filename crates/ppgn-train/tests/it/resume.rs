//! A run that was stopped and resumed ends bit-equal to one that was not.

use ppgn_graph::Dataset;
use ppgn_graph::generate::generate;
use ppgn_nn::BlockConfig;
use ppgn_train::{
    Division, Error, Event, Outcome, Overrides, Predictor, Request, Run, Session, Settings, train,
};
use std::path::Path;

pub(crate) fn settings(epochs: usize) -> (ppgn_graph::Dataset, Settings) {
    let data = generate("csl:n=11,skips=2+3,copies=6").unwrap();
    let overrides = Overrides {
        epochs: Some(epochs),
        blocks: Some(vec![BlockConfig::new(6); 2]),
        batch: Some(3),
        ..Overrides::default()
    };
    let division = Division::Shares([0.5, 0.25, 0.25]);
    let settings = Settings::resolve(&Request { overrides, division, ..Request::new("csl", &data) }).unwrap();
    (data, settings)
}

pub(crate) fn files(run: &Path) -> Vec<(String, Vec<u8>)> {
    ["metrics.jsonl", "checkpoint/model.safetensors", "best/model.safetensors", "summary.json"]
        .map(|name| (name.to_string(), std::fs::read(run.join(name)).unwrap()))
        .to_vec()
}

#[test]
fn stopping_anywhere_changes_nothing() {
    let (data, settings) = settings(4);
    let folder = resumes_exactly(&data, settings);
    let predictor = Predictor::open(&Session::default(), folder.path().join("parts")).unwrap();
    assert_eq!(predictor.predict(&data).unwrap().len(), data.len());
    assert_eq!(predictor.embed(&data).unwrap()[0].len(), predictor.settings().network.embedding());
}

/// Trains a run at once (`whole`), and another that is stopped again and again (`parts`): both must end with the same bytes.
pub(crate) fn resumes_exactly(data: &Dataset, settings: Settings) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    let run = Run::create(&whole, settings.clone()).unwrap();
    assert!(matches!(train(&Session::default(), &run, data, &mut |_| true).unwrap(), Outcome::Finished(_)));
    drop(run);

    let parts = folder.path().join("parts");
    drop(Run::create(&parts, settings).unwrap());
    let mut rounds = 0;
    loop {
        rounds += 1;
        let run = Run::open(&parts).unwrap();
        let mut steps = 0;
        // Stop after ever more steps: within the first epoch, within later ones, and at their ends.
        let outcome = train(&Session::default(), &run, data, &mut |event| {
            steps += usize::from(matches!(event, Event::Step { .. }));
            steps < rounds * 2
        });
        if let Outcome::Finished(_) = outcome.unwrap() {
            break;
        }
        assert!(rounds < 40);
    }
    assert!(rounds > 3, "{rounds}");
    assert_eq!(files(&whole), files(&parts));
    folder
}

#[test]
fn one_process_at_a_time_and_no_overwriting() {
    let folder = tempfile::tempdir().unwrap();
    let (_, settings) = settings(1);
    let path = folder.path().join("run");
    let run = Run::create(&path, settings.clone()).unwrap();
    assert!(matches!(Run::open(&path), Err(Error::Busy { path: busy }) if busy == path));
    let again = Run::create(&path, settings).unwrap_err();
    assert!(matches!(again, Error::Exists { .. }) && again.is_call());
    drop(run);
    assert!(Run::open(&path).is_ok());
    assert!(matches!(Run::open(folder.path()), Err(Error::NotARun { .. })));
}

#[test]
fn damaged_files_are_reported_and_other_data_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (data, settings) = settings(2);
    let path = folder.path().join("run");
    let run = Run::create(&path, settings).unwrap();
    train(&Session::default(), &run, &data, &mut |_| true).unwrap();
    let other = generate("csl:n=11,skips=2+3,copies=6,seed=1").unwrap();
    let refused = train(&Session::default(), &run, &other, &mut |_| true).unwrap_err();
    assert!(
        matches!(refused, Error::OtherData { .. }) && refused.to_string().contains("content has changed")
    );
    let model = path.join("checkpoint/model.safetensors");
    let bytes = std::fs::read(&model).unwrap();
    std::fs::write(&model, &bytes[..bytes.len() / 2]).unwrap();
    assert!(
        train(&Session::default(), &run, &data, &mut |_| true)
            .unwrap_err()
            .to_string()
            .contains("not a sound safetensors file")
    );
    // A half-written line beyond the checkpoint is cut off.
    std::fs::write(&model, &bytes).unwrap();
    let metrics = path.join("metrics.jsonl");
    let text = std::fs::read_to_string(&metrics).unwrap();
    std::fs::write(&metrics, format!("{text}{{\"epoch\":3,\"ra")).unwrap();
    train(&Session::default(), &run, &data, &mut |_| true).unwrap();
    assert_eq!(std::fs::read_to_string(&metrics).unwrap(), text);
}
