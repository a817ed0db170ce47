//! Gradients against finite differences in f64, for every option of a network.

use crate::shared::{Rows, arrays, batch, biased, configs, largest};
use ppgn_graph::random::Stream;
use ppgn_nn::{
    Activation, Batch, BlockConfig, Loss, M3, M4, Model, Norm, Pooling, Ppgn, PpgnConfig, Precision, Scale,
    SuffixKind, Values,
};
use proptest::prelude::*;

fn check(config: &PpgnConfig, seed: u64) -> Result<(), String> {
    let mut random = Stream::new(seed, "graphs", &[]);
    let graphs: Vec<Rows> =
        [4, 1, 3, 4].iter().map(|&n| Rows::random(n, config.inputs, &mut random)).collect();
    by_differences(config, &batch(config.inputs, &graphs.iter().collect::<Vec<_>>(), Precision::F64), seed)
}

/// Compares some entries of every part's gradient with central differences.
pub(crate) fn by_differences(config: &PpgnConfig, batch: &Batch, seed: u64) -> Result<(), String> {
    let mut random = Stream::new(seed, "finite differences", &[]);
    let classes: Vec<usize> = (0..batch.graphs()).map(|g| g % config.outputs).collect();
    let mut network = biased(config, seed, Precision::F64);
    let step = network.backward(batch, |scores| Loss::cross_entropy(&classes).of(scores)).unwrap();
    // Training and prediction compute identical scores, bit for bit.
    assert_eq!(step.scores, network.forward(batch).unwrap());
    let parameters = arrays(&network);
    let scale = step.gradients.iter().map(|g| largest(&g.to_f64())).fold(1.0, f64::max);
    let layout = network.layout().clone();
    for (a, part) in layout.parts() {
        for _ in 0..3 {
            let at = part.offset + random.below(part.len());
            let analytic = step.gradients[a].to_f64()[at];
            let mut slopes = [1e-5, 1e-6, 1e-7].map(|h| {
                (moved(&mut network, &parameters, batch, &classes, a, at, h)
                    - moved(&mut network, &parameters, batch, &classes, a, at, -h))
                    / (2.0 * h)
            });
            // A step may cross a kink of a ReLU or of a maximum; the best match has not.
            slopes.sort_by(|x, y| (x - analytic).abs().total_cmp(&(y - analytic).abs()));
            let off = (slopes[0] - analytic).abs() / scale;
            if off > 1e-6 {
                return Err(format!(
                    "{}[{at}]: backward pass {analytic}, finite differences {slopes:?}",
                    part.name
                ));
            }
        }
    }
    Ok(())
}

/// The loss after changing one parameter.
fn moved(
    network: &mut Ppgn,
    parameters: &[Values],
    batch: &Batch,
    classes: &[usize],
    array: usize,
    at: usize,
    by: f64,
) -> f64 {
    let mut parameters = parameters.to_vec();
    if let Values::F64(v) = &mut parameters[array] {
        v[at] += by;
    }
    network.set_parameters(parameters).unwrap();
    Loss::cross_entropy(classes).of(&network.forward(batch).unwrap()).unwrap().value
}

fn base() -> PpgnConfig {
    PpgnConfig { blocks: vec![BlockConfig::new(4), BlockConfig::new(4)], ..PpgnConfig::new(3, 3) }
}

macro_rules! options {
    ($($name:ident: $config:expr;)*) => {
        $(#[test]
        fn $name() {
            for seed in 0..4 {
                check(&$config, seed).unwrap();
            }
        })*
    };
}

options! {
    suffix_ii: base();
    suffix_i: PpgnConfig { suffix: SuffixKind::I, suffix_hidden: vec![6, 5], ..base() };
    sum_pooling: PpgnConfig { pooling: Pooling::Sum, ..base() };
    mean_pooling: PpgnConfig { pooling: Pooling::Mean, ..base() };
    max_and_mean_pooling: PpgnConfig { pooling: Pooling::MaxMean, suffix: SuffixKind::I, ..base() };
    sine: PpgnConfig { activation: Activation::Sin, depth: 3, ..base() };
    gelu: PpgnConfig { activation: Activation::Gelu, m3: M3::Mlp(vec![5, 3]), ..base() };
    sine_in_suffix_i: PpgnConfig { activation: Activation::Sin, suffix: SuffixKind::I, suffix_hidden: vec![6, 5], ..base() };
    activated_max: PpgnConfig { activation: Activation::Gelu, activate_pooled: true, ..base() };
    activated_sum: PpgnConfig { pooling: Pooling::Sum, activate_pooled: true, ..base() };
    activated_mean_after_the_last: PpgnConfig {
        pooling: Pooling::Mean, activate_pooled: true, activation: Activation::Sin, suffix: SuffixKind::I, ..base()
    };
    expressive: PpgnConfig {
        pooling: Pooling::Mean, activate_pooled: true, activation: Activation::Sin, norm: Norm::Rms, init_gain: Some(1.5),
        ..base()
    };
    sine_of_linear_layers: PpgnConfig { model: Model::Lin, depth: 2, activation: Activation::Sin, ..base() };
    gelu_beside_linear_layers: PpgnConfig { model: Model::MpLin, activation: Activation::Gelu, ..base() };
    m3_mlp: PpgnConfig { m3: M3::Mlp(vec![5, 3]), ..base() };
    m4_left_out: PpgnConfig { m4: M4::None, ..base() };
    m4_left_out_after_m3: PpgnConfig { m4: M4::None, m3: M3::Mlp(vec![2]), ..base() };
    scaled_by_root_n: PpgnConfig { scale: Scale::SqrtN, ..base() };
    scaled_by_n: PpgnConfig { scale: Scale::N, ..base() };
    rms_norm: PpgnConfig { norm: Norm::Rms, ..base() };
    residual: PpgnConfig { residual: true, ..base() };
    depth_3: PpgnConfig { depth: 3, ..base() };
    mp_and_linear: PpgnConfig { model: Model::MpLin, ..base() };
    mp_and_linear_without_m4: PpgnConfig { model: Model::MpLin, m4: M4::None, m3: M3::Mlp(vec![2]), ..base() };
    linear_alone: PpgnConfig { model: Model::Lin, depth: 3, ..base() };
    mlp_alone: PpgnConfig { model: Model::Mlp, residual: true, ..base() };
    own_widths: PpgnConfig {
        blocks: vec![
            BlockConfig { width: 5, product: Some(2), hidden: Some(vec![3, 6]) },
            BlockConfig { width: 2, product: Some(4), hidden: Some(vec![]) },
        ],
        ..base()
    };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_combination(config in configs(), seed in 0..1000u64) {
        prop_assert_eq!(check(&config, seed), Ok(()));
    }
}
