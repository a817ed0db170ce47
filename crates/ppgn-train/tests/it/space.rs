//! A run on either space is the same run, up to rounding.

use ppgn_graph::Dataset;
use ppgn_graph::generate::generate;
use ppgn_nn::{BlockConfig, Precision, SpaceChoice};
use ppgn_train::{Division, Event, Outcome, Overrides, Predictor, Request, Run, Session, Settings, train};

fn settings(data: &Dataset, space: Option<SpaceChoice>) -> Settings {
    let overrides = Overrides {
        epochs: Some(3),
        blocks: Some(vec![BlockConfig::new(8); 2]),
        batch: Some(4),
        precision: Some(Precision::F64),
        space,
        ..Overrides::default()
    };
    let division = Division::Shares([0.5, 0.25, 0.25]);
    Settings::resolve(&Request { overrides, division, ..Request::new("csl", data) }).unwrap()
}

#[test]
fn either_space_gives_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    let data = generate("csl:n=11,skips=2+3,copies=6").unwrap();
    let session = Session::default().with_cache_dir(Some(folder.path().to_path_buf()));
    let run = |name: &str, space| {
        let path = folder.path().join(name);
        let run = Run::create(&path, settings(&data, space)).unwrap();
        let mut why = String::new();
        let outcome = train(&session, &run, &data, &mut |event| {
            if let Event::Ready { space } = event {
                why = space.why.clone();
            }
            true
        });
        let Outcome::Finished(summary) = outcome.unwrap() else { panic!("nobody stops it") };
        drop(run);
        (summary.train_loss, Predictor::open(&session, &path).unwrap().scores(&data).unwrap(), why)
    };
    let (loss, scores, why) = run("dense", Some(SpaceChoice::Dense));
    assert_eq!(why, "dense space, as requested");
    assert!(!folder.path().join("colours").exists());
    for (name, space, start) in [
        ("quotient", Some(SpaceChoice::Quotient), "quotient space, as requested: an epoch costs about "),
        ("auto", None, "quotient space: an epoch costs about "),
    ] {
        let (other_loss, other_scores, why) = run(name, space);
        assert!(why.starts_with(start), "{why}");
        assert!((loss - other_loss).abs() <= 1e-6 * loss.abs(), "{loss} and {other_loss}");
        for (a, b) in scores.iter().flatten().zip(other_scores.iter().flatten()) {
            assert!((a - b).abs() <= 1e-6 * a.abs().max(1.0), "{name}: {a} and {b}");
        }
    }
    assert_eq!(std::fs::read_dir(folder.path().join("colours")).unwrap().count(), 1);
}
