//! The parity table: every kind of network, both spaces, and 20 steps of training, on every device that there is.

use ppgn_burn::parity::{Parity, parity};
use ppgn_burn::{Gpu, devices};
use ppgn_nn::Precision;

/// All cases that are further apart than these tolerances.
fn beyond(device: &Gpu, precision: Precision, tolerance: f64, of_losses: f64) -> Vec<Parity> {
    let all = parity(device, precision, &mut |_| ()).unwrap();
    assert!(all.len() > 25, "{}", all.len());
    // Not `> tolerance`: what is not a number is not close.
    let close = |p: &Parity| {
        [p.features, p.scores, p.gradient].iter().all(|&off| off <= tolerance) && p.losses <= of_losses
    };
    all.into_iter().filter(|p| !close(p)).collect()
}

#[test]
fn burns_cpu_backend_agrees_with_the_kernels_in_f64() {
    assert_eq!(beyond(&Gpu::plain(), Precision::F64, 1e-9, 1e-8), []);
}

#[test]
fn every_gpu_agrees_with_the_kernels_in_f32() {
    let all = devices();
    if all.is_empty() {
        eprintln!("SKIPPED: this build finds no GPU; the features wgpu, cuda and rocm add some");
    }
    for device in all {
        assert_eq!(beyond(&device, Precision::F32, 1e-4, 1e-3), [], "{device:?}");
    }
}
