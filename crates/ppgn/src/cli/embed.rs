//! `ppgn embed`: the pooled features of graphs, as an array that NumPy reads.

use super::data::DATA_HELP;
use super::folder::{file_name, writable};
use super::input::InputArgs;
use super::load::load_all;
use super::output;
use super::wrong::wrong;
use anyhow::Result;
use npyz::WriterBuilder;
use ppgn::graph::format::write_atomically;
use ppgn::graph::{Dataset, Error};
use ppgn::nn::Precision;
use ppgn::train::{Predictor, Session};
use serde_json::json;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use zip::write::{SimpleFileOptions, ZipWriter};

/// `ppgn embed`.
#[derive(Debug, clap::Args)]
#[command(after_help = DATA_HELP)]
pub(crate) struct Args {
    /// The run folder
    run: PathBuf,
    /// The graphs, with the features of those that the run was trained on
    data: String,
    /// Where to: an .npz with the array `embedding`, graphs x features [default: DATASET.embedding.npz]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: InputArgs,
}

/// Runs `ppgn embed`.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if let Some(out) = &args.out
        && !out.extension().is_some_and(|e| e.eq_ignore_ascii_case("npz"))
    {
        return Err(wrong(format!("{}: embeddings are written as .npz", out.display())));
    }
    let predictor = Predictor::open(&Session::default(), &args.run)?;
    let (_, dataset) = load_all(&args.data, &args.input)?;
    let out = args.out.clone().unwrap_or_else(|| default_file(&dataset));
    writable(&out, args.force)?;
    let start = Instant::now();
    let rows = predictor.embed(&dataset)?;
    let seconds = start.elapsed().as_secs_f64();
    let features = predictor.settings().network.embedding();
    write(&out, &dataset, &rows, features, predictor.settings().training.precision)?;
    match args.json {
        true => output::json(&json!({
            "run": args.run,
            "data": dataset.name(),
            "graphs": dataset.len(),
            "features": features,
            "out": out,
            "seconds": seconds,
        }))?,
        false => output::print(&format!(
            "embedding, {} x {features}, written to {} ({seconds:.2} s)\n",
            dataset.len(),
            out.display()
        ))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn default_file(dataset: &Dataset) -> PathBuf {
    format!("{}.embedding.npz", file_name(dataset.name())).into()
}

/// Writes `embedding` in the network's precision, and where the data has classes their labels as `label`.
fn write(
    path: &Path,
    dataset: &Dataset,
    rows: &[Vec<f64>],
    features: usize,
    precision: Precision,
) -> Result<()> {
    let numbers = rows.iter().flatten().copied();
    let shape = [rows.len(), features];
    let labels = dataset.records().map_while(|record| record.label);
    write_atomically(path, |out| {
        let mut zip = ZipWriter::new(out);
        let fill = || -> io::Result<()> {
            start_file(&mut zip, "embedding.npy")?;
            match precision {
                Precision::F32 => array(&mut zip, "<f4", &shape, numbers.map(|x| (x as f32).to_le_bytes()))?,
                Precision::F64 => array(&mut zip, "<f8", &shape, numbers.map(f64::to_le_bytes))?,
            }
            if !dataset.classes().is_empty() {
                start_file(&mut zip, "label.npy")?;
                array(&mut zip, "<i8", &[dataset.len()], labels.map(i64::to_le_bytes))?;
            }
            Ok(())
        };
        fill().and_then(|()| Ok(zip.finish()?)).map_err(|e| Error::io(path, e))?;
        Ok(())
    })?;
    Ok(())
}

fn start_file<W: Write + Seek>(zip: &mut ZipWriter<W>, name: &str) -> io::Result<()> {
    // No clock: equal contents are equal files.
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .last_modified_time(zip::DateTime::default())
        .large_file(true);
    Ok(zip.start_file(name, options)?)
}

fn array<const N: usize>(
    out: &mut impl Write,
    kind: &str,
    shape: &[usize],
    numbers: impl Iterator<Item = [u8; N]>,
) -> io::Result<()> {
    let shape: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
    let kind = npyz::DType::new_scalar(kind.parse().map_err(io::Error::other)?);
    npyz::WriteOptions::new_header_only().dtype(kind).shape(&shape).writer(&mut *out).write_header_only()?;
    let bytes: Vec<u8> = numbers.flatten().collect();
    out.write_all(&bytes)
}
