//! Nothing lost, nothing silently wrong: what hostile trials found, one test per point of that list.

use ppgn_graph::generate::generate;
use ppgn_nn::BlockConfig;
use ppgn_train::metrics::Metric;
use ppgn_train::{Epoch, Event, Outcome, Overrides, Part, Request, Run, Session, Settings, train};

fn epoch(number: usize, accuracy: Option<f64>, loss: f64) -> Epoch {
    let part = Part { loss, accuracy, ..Part::default() };
    Epoch { epoch: number, rate: 0.1, train: part.clone(), validation: Some(part), test: None, last: None }
}

#[test]
fn point_5_of_equal_accuracies_the_lower_loss_is_taken() {
    let better = |a: (Option<f64>, f64), b: (Option<f64>, f64)| {
        epoch(2, a.0, a.1).is_better_than(&epoch(1, b.0, b.1), Metric::Auto)
    };
    assert!(better((Some(1.0), 0.01), (Some(1.0), 0.81)));
    assert!(!better((Some(1.0), 0.81), (Some(1.0), 0.01)) && !better((Some(1.0), 0.5), (Some(1.0), 0.5)));
    assert!(better((Some(0.9), 5.0), (Some(0.8), 0.1)) && !better((Some(0.8), 0.1), (Some(0.9), 5.0)));
    assert!(better((None, 0.1), (None, 0.2)) && !better((None, 0.2), (None, 0.1)));

    // The same in a run, also in one that is stopped after every epoch: what is selected is in the metrics.
    let data = generate("csl:n=11,skips=2+3,copies=12").unwrap();
    let overrides =
        Overrides { epochs: Some(30), blocks: Some(vec![BlockConfig::new(8); 3]), ..Overrides::default() };
    let settings = Settings::resolve(&Request { overrides, ..Request::new("csl", &data) }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let session = Session::default();
    let mut run = Run::create(&path, settings).unwrap();
    let mut all: Vec<Epoch> = Vec::new();
    let summary = loop {
        let outcome = train(&session, &run, &data, &mut |event| match event {
            Event::Epoch { epoch, .. } => {
                all.push(epoch.clone());
                false
            }
            _ => true,
        });
        if let Outcome::Finished(summary) = outcome.unwrap() {
            break summary;
        }
        drop(run);
        run = Run::open(&path).unwrap();
    };
    let judged = |e: &Epoch| e.validation.clone().unwrap();
    let highest = all.iter().filter_map(|e| judged(e).accuracy).fold(0.0, f64::max);
    let tied: Vec<&Epoch> = all.iter().filter(|e| judged(e).accuracy == Some(highest)).collect();
    assert!(tied.len() > 1, "nothing to decide between");
    let lowest = tied.iter().map(|e| judged(e).loss).fold(f64::INFINITY, f64::min);
    assert_eq!(judged(&summary.best).loss, lowest);
    assert_eq!(summary.best.epoch, summary.best_epoch);
}
