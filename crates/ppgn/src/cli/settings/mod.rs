//! The settings as options, the same in every command that trains, and how they are merged: the command line
//! overrides the file, the file overrides the preset.
//!
//! The options themselves are declared where the settings are ([`Overrides`]).

mod file;

use super::division::Asked;
use super::input::InputArgs;
use super::load::{Data, load_to_train};
use anyhow::Result;
use file::read_file;
use ppgn::train::{Overrides, Preset, Request, Session, Task, limited, text};
use std::path::PathBuf;

/// The settings of a network and its training.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct SettingsArgs {
    /// The preset that the settings start from: small, modern, paper-1, paper-2, paper-3, qm9,
    /// expressive or expressive-3 [default: small]
    #[arg(long, value_name = "PRESET")]
    preset: Option<String>,
    /// TOML file with settings by these names; the command line overrides it
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    #[command(flatten)]
    overrides: Overrides,
    /// The targets to learn by name, repeated or separated by commas [default: all]
    #[arg(long = "target", value_name = "NAME", value_delimiter = ',')]
    targets: Vec<String>,
    /// What to learn: classification, regression, multi-label (targets that are 0 or 1 each) or auto (classes, else
    /// regression) [default: auto]
    #[arg(long, value_name = "TASK", value_parser = text::named::<Task>)]
    task: Option<Task>,
    /// Use only N graphs of the data, drawn by the seed
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// The merged settings of file and command line.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    /// The preset's name.
    pub(crate) preset: String,
    /// Settings that differ from it.
    pub(crate) overrides: Overrides,
    /// The targets; empty for all.
    pub(crate) targets: Vec<String>,
    /// What to learn.
    pub(crate) task: Task,
    /// The number of graphs to draw.
    pub(crate) limit: Option<usize>,
    /// The split in the file, if there is one.
    pub(crate) division: Option<Asked>,
}

impl SettingsArgs {
    /// The number of epochs, if it was given and nothing else was: what a run that is resumed may change. `None` where
    /// there is another setting.
    pub(crate) fn epochs_alone(&self) -> Option<Option<usize>> {
        let SettingsArgs { preset, config, overrides, targets, task, limit } = self;
        let epochs = overrides.epochs;
        let nothing_else = (preset, config, task, limit) == (&None, &None, &None, &None)
            && *overrides == Overrides { epochs, ..Overrides::default() }
            && targets.is_empty();
        nothing_else.then_some(epochs)
    }

    /// Whether file or command line name a preset.
    pub(crate) fn names_preset(&self) -> Result<bool> {
        let file = self.config.as_deref().map(read_file).transpose()?;
        Ok(self.preset.is_some() || file.is_some_and(|file| file.preset.is_some()))
    }

    /// Merges file and command line.
    pub(crate) fn chosen(&self) -> Result<Chosen> {
        let file = self.config.as_deref().map(read_file).transpose()?.unwrap_or_default();
        let targets = if self.targets.is_empty() { file.targets } else { self.targets.clone() };
        Ok(Chosen {
            preset: self.preset.clone().or(file.preset).unwrap_or_else(|| "small".into()),
            overrides: self.overrides.clone().or(file.overrides),
            targets,
            task: self.task.or(file.task).unwrap_or_default(),
            limit: self.limit.or(file.limit),
            division: file.division,
        })
    }
}

impl Chosen {
    /// The resolved seed.
    pub(crate) fn seed(&self, dataset: &str) -> Result<u64> {
        Ok(self.overrides.apply(Preset::new(&self.preset, dataset)?).training.seed)
    }

    /// A run on this data.
    pub(crate) fn request<'a>(&'a self, data: &'a Data) -> Request<'a> {
        Request {
            read: data.read.clone(),
            limit: self.limit,
            preset: &self.preset,
            overrides: self.overrides.clone(),
            targets: self.targets.clone(),
            task: self.task,
            ..Request::new(&data.spec, &data.dataset)
        }
    }

    /// Loads the data, and draws a part of it if there is a limit.
    pub(crate) fn load(&self, session: &Session, spec: &str, input: &InputArgs) -> Result<Data> {
        // A typo in the preset's name is found before a large file is read.
        self.seed("")?;
        let data = load_to_train(session, spec, input)?;
        let dataset = limited(&data.dataset, self.limit, self.seed(data.dataset.name())?)?;
        Ok(Data { dataset, ..data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use ppgn::graph::encode::{Encoding, Kind};
    use ppgn::nn::{BlockConfig, M3, Model, Precision, Scale};
    use ppgn::train::Batching;

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
        for alias in ["--rate", "--lr", "--learning-rate"] {
            assert_eq!(parse(&format!("{alias} 0.5")).unwrap().chosen().unwrap().overrides.rate, Some(0.5));
        }
        for alias in ["--batch", "--batch-size"] {
            assert_eq!(parse(&format!("{alias} 5")).unwrap().chosen().unwrap().overrides.batch, Some(5));
        }
        assert_eq!(parse("").unwrap().epochs_alone(), Some(None));
        assert_eq!(parse("--epochs 9").unwrap().epochs_alone(), Some(Some(9)));
        for one in
            ["--seed 0", "--limit 3", "--target mu", "--preset small", "--residual=false", "--config x"]
        {
            assert_eq!(parse(&format!("--epochs 9 {one}")).unwrap().epochs_alone(), None, "{one}");
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
}
