//! The commands around a run: `train`, `predict`, `embed`, `runs`, `import`.

pub(crate) mod settings;
