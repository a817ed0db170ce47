//! How much padding pays where graphs have different sizes: a forward and backward pass with graphs of one size apart, together
//! where that costs little, and all together; `docs/gpu.md` has its output.
//!
//! `cargo run --release -p ppgn-burn --features wgpu --example padding`

use ppgn_burn::{Composed, Gpu, devices};
use ppgn_graph::encode::{Encoding, Kind};
use ppgn_graph::generate::generate;
use ppgn_nn::device::Accelerator;
use ppgn_nn::{Batch, BlockConfig, Loss, PpgnConfig, Precision};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut graphs = Vec::new();
    for n in 10..26 {
        graphs.extend(generate(&format!("gnp:n={n},p=0.2,count=2"))?.graphs().to_vec());
    }
    let encoder = Encoding::from(Kind::Paper).encoder(&ppgn_graph::Schema::of(&graphs)?)?;
    let config =
        PpgnConfig { blocks: vec![BlockConfig::new(32); 3], ..PpgnConfig::new(encoder.channels().len(), 2) };
    let network = config.init(0, Precision::F32)?;
    let batch = Batch::of(&config, &encoder, &graphs.iter().collect::<Vec<_>>(), Precision::F32)?;
    let classes: Vec<usize> = (0..graphs.len()).map(|graph| graph % 2).collect();
    for device in devices().into_iter().chain([Gpu::plain()]) {
        println!("{}: 32 graphs of 10 to 25 nodes, three blocks of 32", device.name());
        for (name, padding) in [
            ("one size at a time", 1.0),
            ("up to 1.5 times", 1.5),
            ("up to twice", 2.0),
            ("all together", 1e9),
        ] {
            let composed = Composed::new(&network, device.burn())?.with_padding(padding);
            let mut times = Vec::new();
            for _ in 0..7 {
                let start = Instant::now();
                composed.backward(&batch, |scores| Loss::cross_entropy(&classes).of(scores))?;
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
            // The first two compile kernels.
            let mut times = times.split_off(2);
            times.sort_by(f64::total_cmp);
            println!("  {name:<20} {:>8.0} ms", times[times.len() / 2]);
        }
    }
    Ok(())
}
