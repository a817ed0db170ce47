//! What a device has to do with it: the precision, what does not fit, and what the environment must not change.

use crate::agree::both;
use crate::shared::{distance, largest};
use ppgn_nn::{
    Batch, BlockConfig, Colours, Error, Evaluated, Loss, Matrix, Model, PpgnConfig, Precision, Values,
};
use std::process::Command;

fn config() -> PpgnConfig {
    PpgnConfig { blocks: vec![BlockConfig::new(6); 2], ..PpgnConfig::new(1, 2) }
}

/// Two nodes with an edge, and without.
fn batch() -> Batch {
    let (edge, none) = ([0.0f32, 1.0, 1.0, 0.0], [0.0f32; 4]);
    Batch::dense(1, &[(2, &edge[..]), (2, &none[..])]).unwrap()
}

#[test]
fn single_precision_stays_single() {
    let (kernels, composed) = both(&config(), 3, Precision::F32);
    let run = |step: ppgn_nn::Step| step.gradients;
    let loss = |scores: &Matrix| Loss::cross_entropy(&[1, 0]).of(scores);
    let found = run(composed.backward(&batch(), loss).unwrap());
    let wanted = run(kernels.backward(&batch(), loss).unwrap());
    for (a, b) in found.iter().zip(&wanted) {
        assert_eq!((a.len(), a.precision()), (b.len(), Precision::F32));
        let (a, b) = (a.to_f64(), b.to_f64());
        assert!(distance(&a, &b) <= 1e-4 * largest(&b).max(1.0));
    }
    assert_eq!(composed.forward(&batch()).unwrap().precision(), Precision::F32);
}

#[test]
fn what_does_not_fit_is_refused() {
    let message = |error: Error| {
        assert!(error.is_call(), "{error}");
        error.to_string()
    };
    let (_, composed) = both(&config(), 3, Precision::F64);
    assert!(message(composed.forward(&batch()).unwrap_err()).contains("in f64, the batch in f32"));
    let (_, composed) = both(&PpgnConfig { inputs: 2, ..config() }, 3, Precision::F32);
    assert!(message(composed.embed(&batch()).unwrap_err()).contains("2 input channels"));
    let colours = Colours::new(&[2], 1, 2, &Default::default(), |_| Ok(vec![0f32; 4])).unwrap();
    let (_, composed) = both(&PpgnConfig { model: Model::Lin, ..config() }, 3, Precision::F32);
    let quotient = Batch::quotient(&colours, &[0]).unwrap();
    assert!(message(composed.forward(&quotient).unwrap_err()).contains("equivariant"));
    let (_, composed) = both(&config(), 3, Precision::F32);
    let short = |_: &Matrix| {
        let gradient = Matrix::new(1, 2, Values::F32(vec![0.0; 2]))?;
        Ok(Evaluated { value: 0.0, gradient })
    };
    assert!(message(composed.backward(&batch(), short).unwrap_err()).contains("another shape"));
    let failed = composed.backward(&batch(), |scores| Loss::cross_entropy(&[5, 5]).of(scores));
    assert!(message(failed.unwrap_err()).contains("class 5"));
}

/// `Device::default()` obeys the variable `BURN_DEVICE`, and panics if it names a device that this build does not have.
#[test]
fn the_environment_does_not_choose_the_device() {
    let again = |name: &str| {
        let test = std::env::current_exe().unwrap();
        Command::new(test).args(["--exact", name]).env("BURN_DEVICE", "cuda").output().unwrap()
    };
    let output = again("device::single_precision_stays_single");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
