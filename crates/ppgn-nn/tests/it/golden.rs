//! The golden values of the authors' model: logits, every gradient, six steps of Adam.

use crate::shared::{arrays, distance, golden, largest, numbers};
use ppgn_nn::weights::Tensors;
use ppgn_nn::{Adam, Batch, BlockConfig, Layout, Loss, Matrix, Ppgn, PpgnConfig, Precision, Values};
use safetensors::SafeTensors;

/// One golden file.
struct Golden {
    config: PpgnConfig,
    parameters: Vec<Values>,
    gradients: Vec<Values>,
    inputs: Vec<(usize, Vec<f32>)>,
    classes: Vec<usize>,
    logits: Vec<f64>,
    losses: Vec<f64>,
}

impl Golden {
    fn read(name: &str) -> Option<Golden> {
        let bytes = std::fs::read(golden(name)?).unwrap();
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let metadata = header.metadata().clone().unwrap();
        let features: Vec<usize> = serde_json::from_str(&metadata["features"]).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let mut tensors = Tensors { file: name.into(), ..Tensors::default() };
        for (name, view) in file.iter().filter(|(name, _)| *name != "target") {
            let floats =
                view.data().chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
            tensors.tensors.insert(name.to_string(), (view.shape().to_vec(), Values::F32(floats)));
        }
        let plain = |name: &str| tensors.tensors[name].1.to_f64();
        let target = file.tensor("target").unwrap();
        let classes: Vec<usize> = target
            .data()
            .chunks_exact(8)
            .map(|b| i64::from_le_bytes(b.try_into().unwrap()) as usize)
            .collect();
        let inputs: Vec<(usize, Vec<f32>)> =
            (0..classes.len()).map(|i| rows(&tensors.tensors[&format!("input.{i}")])).collect();
        let channels = tensors.tensors["input.0"].0[0];
        let config = PpgnConfig {
            blocks: features.into_iter().map(BlockConfig::new).collect(),
            depth: metadata["depth"].parse().unwrap(),
            suffix: serde_json::from_str(&metadata["suffix"]).unwrap(),
            ..PpgnConfig::new(channels, metadata["classes"].parse().unwrap())
        };
        let layout = Layout::new(&config);
        Some(Golden {
            parameters: layout.collect("param.", &tensors).unwrap(),
            gradients: layout.collect("grad.", &tensors).unwrap(),
            inputs,
            classes,
            logits: plain("logits"),
            losses: plain("adam_losses"),
            config,
        })
    }

    fn batch(&self, precision: Precision) -> Batch {
        match precision {
            Precision::F32 => {
                let graphs: Vec<_> = self.inputs.iter().map(|(n, x)| (*n, x.as_slice())).collect();
                Batch::dense(self.config.inputs, &graphs).unwrap()
            }
            Precision::F64 => {
                let wide: Vec<Vec<f64>> =
                    self.inputs.iter().map(|(_, x)| x.iter().map(|&x| f64::from(x)).collect()).collect();
                let graphs: Vec<_> =
                    self.inputs.iter().zip(&wide).map(|((n, _), x)| (*n, x.as_slice())).collect();
                Batch::dense(self.config.inputs, &graphs).unwrap()
            }
        }
    }

    fn check(&self, precision: Precision, closer: f64) {
        let parameters: Vec<_> =
            self.parameters.iter().map(|v| Values::from_f64(precision, &v.to_f64())).collect();
        let mut network = Ppgn::new(self.config.clone(), parameters).unwrap();
        let batch = self.batch(precision);
        let off = distance(&numbers(network.forward(&batch).unwrap()), &self.logits);
        assert!(off < 1e-4 / closer, "logits are off by {off}");

        let loss = |scores: &Matrix| Loss::cross_entropy(&self.classes).of(scores);
        let step = network.backward(&batch, loss).unwrap();
        let layout = network.layout().clone();
        for (a, part) in layout.parts() {
            let golden = &self.gradients[a].to_f64()[part.range()];
            let off = distance(&step.gradients[a].to_f64()[part.range()], golden) / largest(golden);
            assert!(off < 1e-3 / closer, "the gradient of {} is off by {off}", part.name);
        }

        let mut adam = Adam::new(&arrays(&network));
        for (t, golden) in self.losses.iter().enumerate() {
            let step = network.backward(&batch, loss).unwrap();
            let off = (step.loss - golden).abs();
            assert!(off < 1e-3 / closer, "Adam's loss {t} is {}, not {golden}", step.loss);
            network.update(|parameters| adam.step(parameters, &step.gradients, 1e-3)).unwrap();
        }
    }
}

/// From (channels, n, n) to rows.
fn rows((shape, values): &(Vec<usize>, Values)) -> (usize, Vec<f32>) {
    let (channels, pairs) = (shape[0], shape[1] * shape[2]);
    let x = values.to_f64();
    let rows = (0..pairs * channels).map(|at| x[(at % channels) * pairs + at / channels] as f32).collect();
    (shape[1], rows)
}

fn check(name: &str) {
    let Some(golden) = Golden::read(name) else { return };
    golden.check(Precision::F32, 1.0);
    golden.check(Precision::F64, 10.0);
}

#[test]
fn paper_1_on_mutag() {
    check("paper1_mutag.safetensors");
}

#[test]
fn paper_2_on_mutag() {
    check("paper2_mutag.safetensors");
}

#[test]
fn paper_3_on_imdbbinary() {
    check("paper3_imdbbinary.safetensors");
}
