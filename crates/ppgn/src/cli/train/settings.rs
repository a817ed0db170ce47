//! The settings of training as options, the same in every command that trains, and how a file, the command line and a
//! preset come together.
//!
//! A file says anything that the options of the same names say. The command line goes over the file, the file over the
//! preset.

use crate::cli::input::InputArgs;
use crate::cli::interrupt::on_ctrl_c;
use anyhow::Result;
use ppgn::graph::encode::{Encoding, Kind};
use ppgn::graph::locate::{Locator, What};
use ppgn::graph::{Dataset, Error};
use ppgn::nn::{BlockConfig, M3, M4, Model, Norm, Pooling, Precision, Scale, SpaceChoice, SuffixKind};
use ppgn::train::{
    Batching, Division, Overrides, Preset, Template, keep_colours_in, limited, stop_colouring_by,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// What can be set of a network and its training.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct SettingsArgs {
    /// Where the settings start from: small, paper-1, paper-2, paper-3 or qm9 [default: small]
    #[arg(long, value_name = "PRESET")]
    preset: Option<String>,
    /// A TOML file with settings by these names; the command line goes over it
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// How often the training graphs are gone through
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Graphs in a batch, at most
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// Which graphs go together: mixed, or same-size as the paper's authors do
    #[arg(long, value_name = "HOW", value_parser = named::<Batching>)]
    batching: Option<Batching>,
    /// Adam's learning rate
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    rate: Option<f64>,
    /// What the rate is multiplied by every so often
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    decay: Option<f64>,
    /// After how many epochs it is
    #[arg(long, value_name = "N")]
    decay_every: Option<usize>,
    /// What weights, batches, splits and subsets are drawn from [default: 0]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// The precision of everything: f32 or f64
    #[arg(long, value_name = "P", value_parser = named::<Precision>)]
    precision: Option<Precision>,
    /// What a network computes on: dense (every pair of nodes), quotient (every colour of pairs), or auto, the cheaper
    #[arg(long, value_name = "SPACE", value_parser = named::<SpaceChoice>)]
    space: Option<SpaceChoice>,
    /// How graphs become inputs: paper, authors or qm9; paper+identity, paper+transposed have further channels
    #[arg(long, value_name = "ENCODING", value_parser = encoding)]
    encoding: Option<Encoding>,
    /// The order k: 2 computes on pairs of nodes; 3 and more on k-tuples, as strong as k-FWL, at n^k rows a graph
    #[arg(long, value_name = "K")]
    order: Option<usize>,
    /// The widths of the blocks, such as 32,32,32
    #[arg(long, value_name = "W,W,...", value_parser = widths)]
    blocks: Option<Widths>,
    /// What a block computes of X: mp (the matrix product of the paper), mp+lin (beside it the full basis of linear
    /// equivariant layers, on the dense space only), lin (that basis alone, dense only), mlp (no pair sees another) or
    /// sums (over one node of the tuple each, as k-WL does)
    #[arg(long, value_name = "MODEL", value_parser = named::<Model>)]
    model: Option<Model>,
    /// Layers of the MLPs m1 and m2, or linear layers of a block in the model lin
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// What follows the blocks: i (pool after the last) or ii (pool after each)
    #[arg(long, value_name = "KIND", value_parser = named::<SuffixKind>)]
    suffix: Option<SuffixKind>,
    /// The widths of suffix i's hidden layers, such as 512,256
    #[arg(long, value_name = "W,W,...", value_parser = widths)]
    suffix_hidden: Option<Widths>,
    /// How pairs are pooled: max or sum
    #[arg(long, value_name = "HOW", value_parser = named::<Pooling>)]
    pooling: Option<Pooling>,
    /// What the product is divided by, n the nodes of the graph: none, sqrt-n or n
    #[arg(long, value_name = "BY", value_parser = named::<Scale>)]
    scale: Option<Scale>,
    /// The norm after the product: none or rms
    #[arg(long, value_name = "NORM", value_parser = named::<Norm>)]
    norm: Option<Norm>,
    /// Whether a block adds its input to its output
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    residual: Option<bool>,
    /// m3, which X passes: identity, or an MLP by its widths, such as 32,32
    #[arg(long, value_name = "M3", value_parser = m3)]
    m3: Option<M3>,
    /// m4, which joins m3(X) and the product: linear, or none for their concatenation
    #[arg(long, value_name = "M4", value_parser = named::<M4>)]
    m4: Option<M4>,
    /// For regression, the targets by name, or all; once each or with commas [default: all]
    #[arg(long = "target", value_name = "NAME", value_delimiter = ',')]
    targets: Vec<String>,
    /// Only so many graphs of the data, drawn by the seed
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// What a user chose, file and command line together.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    /// The preset's name.
    pub(crate) preset: String,
    /// What is different from it.
    pub(crate) overrides: Overrides,
    /// The targets, or nothing for all.
    pub(crate) targets: Vec<String>,
    /// Only so many graphs.
    pub(crate) limit: Option<usize>,
    /// How the file divides the data, if it says so.
    pub(crate) division: Option<Division>,
}

impl SettingsArgs {
    /// Whether nothing at all was said.
    pub(crate) fn is_silent(&self) -> bool {
        let SettingsArgs { preset, config, targets, limit, .. } = self;
        self.overrides() == Overrides::default()
            && (preset, config, limit) == (&None, &None, &None)
            && targets.is_empty()
    }

    /// File and command line together.
    pub(crate) fn chosen(&self) -> Result<Chosen> {
        let file = self.config.as_deref().map(read_file).transpose()?.unwrap_or_default();
        let targets = if self.targets.is_empty() { file.target.0 } else { self.targets.clone() };
        Ok(Chosen {
            preset: self.preset.clone().or(file.preset).unwrap_or_else(|| "small".into()),
            overrides: self.overrides().or(file.overrides),
            targets,
            limit: self.limit.or(file.limit),
            division: file.division,
        })
    }

    fn overrides(&self) -> Overrides {
        let blocks = self.blocks.as_ref();
        Overrides {
            epochs: self.epochs,
            batch: self.batch,
            batching: self.batching,
            rate: self.rate,
            decay: self.decay,
            decay_every: self.decay_every,
            seed: self.seed,
            precision: self.precision,
            space: self.space,
            encoding: self.encoding,
            order: self.order,
            blocks: blocks.map(|widths| widths.0.iter().map(|&w| BlockConfig::new(w)).collect()),
            model: self.model,
            depth: self.depth,
            m3: self.m3.clone(),
            m4: self.m4,
            suffix: self.suffix,
            suffix_hidden: self.suffix_hidden.as_ref().map(|widths| widths.0.clone()),
            pooling: self.pooling,
            scale: self.scale,
            norm: self.norm,
            residual: self.residual,
        }
    }
}

/// Data as a run remembers it.
pub(crate) struct Data {
    /// What stands for it from any folder.
    pub(crate) spec: String,
    /// The graphs, a subset of them where one was asked for.
    pub(crate) dataset: Dataset,
}

impl Chosen {
    /// The seed that counts.
    pub(crate) fn seed(&self, dataset: &str) -> Result<u64> {
        Ok(self.overrides.apply(Preset::new(&self.preset, dataset)?).training.seed)
    }

    /// What the runs of a protocol on this data have in common.
    pub(crate) fn template<'a>(&'a self, data: &'a Data) -> Template<'a> {
        let Chosen { preset, overrides, targets, limit, .. } = self;
        Template { data: &data.spec, dataset: &data.dataset, limit: *limit, preset, overrides, targets }
    }

    /// Loads the data, and draws the subset where one was asked for.
    pub(crate) fn load(&self, spec: &str, input: &InputArgs) -> Result<Data> {
        // A slip in the preset's name is told before a large file is read.
        self.seed("")?;
        let (spec, whole) = load_to_train(spec, input)?;
        let dataset = limited(&whole, self.limit, self.seed(whole.name())?)?;
        Ok(Data { spec, dataset })
    }
}

/// [`load_all`] for training: colours of what is in a file are kept in the data folder, and Ctrl-C stops the search for
/// them.
pub(crate) fn load_to_train(spec: &str, input: &InputArgs) -> Result<(String, Dataset)> {
    let locator = input.locator()?;
    let file = matches!(locator.resolve(spec)?.what, What::File(_));
    keep_colours_in(file.then(|| locator.data_dir()));
    stop_colouring_by(on_ctrl_c());
    load_all(spec, input)
}

/// All of the data, and a word for it that means the same from any folder.
pub(crate) fn load_all(spec: &str, input: &InputArgs) -> Result<(String, Dataset)> {
    let locator = input.locator()?;
    let spec = anywhere(spec, &locator)?;
    let dataset = locator.load(&spec)?;
    if dataset.is_empty() {
        return Err(Error::call(format!("{spec} has no graphs")).into());
    }
    Ok((spec, dataset))
}

/// The absolute path for a file, and everything else as it is.
fn anywhere(spec: &str, locator: &Locator) -> Result<String> {
    let located = locator.resolve(spec)?;
    let What::File(path) = &located.what else { return Ok(spec.to_string()) };
    let path = std::path::absolute(path).map_err(|e| Error::io(path, e))?;
    // A name that is no Unicode cannot be written down; what the user typed still works from here.
    let Some(path) = path.to_str() else { return Ok(spec.to_string()) };
    Ok(located.index.map_or_else(|| path.to_string(), |index| format!("{path}:{index}")))
}

/// What a file of settings says.
#[derive(Debug, Default)]
struct FileSettings {
    preset: Option<String>,
    target: Targets,
    limit: Option<usize>,
    division: Option<Division>,
    overrides: Overrides,
}

/// `target = "mu"`, `target = "mu,alpha"` or `target = ["mu", "alpha"]`.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "TargetsText")]
struct Targets(Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum TargetsText {
    One(String),
    Many(Vec<String>),
}

impl From<TargetsText> for Targets {
    fn from(text: TargetsText) -> Self {
        Targets(match text {
            TargetsText::One(names) => names.split(',').map(|name| name.trim().to_string()).collect(),
            TargetsText::Many(names) => names,
        })
    }
}

fn read_file(path: &Path) -> Result<FileSettings> {
    let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Error::call(format!("{}: there is no such file", path.display())),
        _ => Error::io(path, e),
    })?;
    Ok(parse_file(&text).map_err(|e| Error::call(format!("{}: {e}", path.display())))?)
}

fn parse_file(text: &str) -> Result<FileSettings, String> {
    let told = |e: toml::de::Error| e.to_string().trim_end().to_string();
    let mut table: toml::Table = toml::from_str(text).map_err(told)?;
    let mut file = FileSettings::default();
    // What is no override of a preset comes out first; the rest must be.
    take(&mut table, "preset", &mut file.preset)?;
    take(&mut table, "limit", &mut file.limit)?;
    let (mut target, mut fold, mut holdout, mut split) = (None, None, None, None::<String>);
    take(&mut table, "target", &mut target)?;
    take(&mut table, "fold", &mut fold)?;
    take(&mut table, "holdout", &mut holdout)?;
    take(&mut table, "split", &mut split)?;
    file.target = target.unwrap_or_default();
    let split = split.as_deref().map(shares).transpose()?;
    let divisions = [fold.map(Division::Fold), holdout.map(Division::Holdout), split.map(Division::Shares)];
    let mut divisions = divisions.into_iter().flatten();
    file.division = divisions.next();
    if divisions.next().is_some() {
        return Err("`fold`, `holdout` and `split` exclude each other".into());
    }
    file.overrides = toml::Value::Table(table).try_into().map_err(told)?;
    Ok(file)
}

fn take<T: DeserializeOwned>(table: &mut toml::Table, key: &str, into: &mut Option<T>) -> Result<(), String> {
    if let Some(value) = table.remove(key) {
        let value = value.try_into().map_err(|e: toml::de::Error| format!("`{key}`: {}", e.message()))?;
        *into = Some(value);
    }
    Ok(())
}

/// Widths with commas between them.
#[derive(Debug, Clone)]
struct Widths(Vec<usize>);

fn widths(text: &str) -> Result<Widths, String> {
    let width = |w: &str| w.trim().parse::<usize>().map_err(|_| format!("`{w}` is not a width"));
    text.split(',').map(width).collect::<Result<_, _>>().map(Widths)
}

fn m3(text: &str) -> Result<M3, String> {
    match text {
        "identity" => Ok(M3::Identity),
        _ => widths(text)
            .map(|w| M3::Mlp(w.0))
            .map_err(|e| format!("{e}; m3 is identity, or widths with commas")),
    }
}

pub(crate) fn encoding(text: &str) -> Result<Encoding, String> {
    let mut words = text.split('+');
    let kind: Kind = words.next().unwrap_or_default().parse().map_err(|e: Error| e.to_string())?;
    let mut encoding = Encoding::from(kind);
    for word in words {
        match word {
            "identity" => encoding.identity = true,
            "transposed" => encoding.transposed = true,
            _ => return Err(format!("`{word}` is no further channel; there are identity and transposed")),
        }
    }
    Ok(encoding)
}

/// A value by the name that it has in files.
pub(crate) fn named<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(text.into()).map_err(|e| e.to_string())
}

/// `80/10/10` or `0.8/0.1/0.1` as shares.
pub(crate) fn shares(text: &str) -> Result<[f64; 3], String> {
    let wrong =
        || format!("`{text}` is not a split: write training/validation/test as percents, such as 80/10/10");
    let parts: Vec<f64> =
        text.split('/').map(|p| p.trim().parse::<f64>().map_err(|_| wrong())).collect::<Result<_, _>>()?;
    let parts: [f64; 3] = parts.try_into().map_err(|_| wrong())?;
    let total: f64 = parts.iter().sum();
    let sound = parts.iter().all(|p| p.is_finite() && *p >= 0.0);
    match sound {
        true if (total - 100.0).abs() < 1e-9 => Ok(parts.map(|p| p / 100.0)),
        true if (total - 1.0).abs() < 1e-9 => Ok(parts),
        _ => Err(format!("{}; the parts sum to 100", wrong())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        settings: SettingsArgs,
    }

    fn parse(line: &str) -> Result<SettingsArgs, clap::Error> {
        Line::try_parse_from(std::iter::once("x").chain(line.split_whitespace())).map(|l| l.settings)
    }

    #[test]
    fn options_become_overrides() {
        let line = "--blocks 4,5 --model mp+lin --m3 7,8 --encoding paper+identity --scale sqrt-n \
                    --batching same-size --residual --precision f64 --target mu,alpha --target gap --limit 9";
        let chosen = parse(line).unwrap().chosen().unwrap();
        let o = &chosen.overrides;
        assert_eq!(o.blocks, Some(vec![BlockConfig::new(4), BlockConfig::new(5)]));
        assert_eq!(o.model, Some(Model::MpLin));
        assert_eq!((o.m3.clone(), o.scale), (Some(M3::Mlp(vec![7, 8])), Some(Scale::SqrtN)));
        assert_eq!(o.encoding, Some(Encoding { identity: true, ..Kind::Paper.into() }));
        assert_eq!(
            (o.batching, o.residual, o.precision),
            (Some(Batching::SameSize), Some(true), Some(Precision::F64))
        );
        assert_eq!((chosen.targets.len(), chosen.limit, chosen.preset.as_str()), (3, Some(9), "small"));
        assert!(parse("").unwrap().is_silent());
        for one in
            ["--seed 0", "--limit 3", "--target mu", "--preset small", "--residual=false", "--config x"]
        {
            assert!(!parse(one).unwrap().is_silent(), "{one}");
        }
        for wrong in [
            "--blocks 4,x",
            "--scale 2",
            "--encoding paper+id",
            "--m3 a",
            "--batching some",
            "--rate x",
            "--model mp-lin",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn files_say_what_options_say() {
        let text = "preset = \"paper-1\"\nlimit = 7\ntarget = \"mu, alpha\"\nsplit = \"60/20/20\"\nepochs = 3\n\
                    blocks = [4, { width = 5, product = 2 }]\nencoding = { kind = \"paper\", identity = true }\n";
        let file = parse_file(text).unwrap();
        assert_eq!((file.preset.as_deref(), file.limit), (Some("paper-1"), Some(7)));
        assert_eq!(file.target.0, ["mu", "alpha"]);
        assert_eq!(file.division, Some(Division::Shares([0.6, 0.2, 0.2])));
        assert_eq!((file.overrides.epochs, file.overrides.blocks.unwrap()[1].product), (Some(3), Some(2)));
        assert!(parse_file("epoch = 3").unwrap_err().contains("epoch"));
        assert!(parse_file("limit = \"a\"").unwrap_err().contains("limit"));
        assert!(parse_file("fold = 1\nholdout = 0.1").unwrap_err().contains("exclude"));
        assert!(parse_file("a = ").is_err());
    }

    #[test]
    fn splits() {
        assert_eq!(shares("80/10/10"), Ok([0.8, 0.1, 0.1]));
        assert_eq!(shares("0.5/0.25/0.25"), Ok([0.5, 0.25, 0.25]));
        assert_eq!(shares("100/0/0"), Ok([1.0, 0.0, 0.0]));
        for bad in ["", "80/20", "80/10/20", "a/b/c", "-80/90/90", "NaN/1/0", "80/10/10/0"] {
            assert!(shares(bad).is_err(), "{bad}");
        }
    }
}
