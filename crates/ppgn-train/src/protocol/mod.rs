//! The paper's protocols: many runs with one result, all resumable.
//!
//! [`Cv`] is that of Table 1 (ten folds, averaged curves), [`Search`] its grid on one split, [`Figure`] the inset
//! figure. [`Table1`] and [`Table2`] are what the paper printed; [`Row1`] and [`Row2`] compare a measurement with it.
//! All of them consist of [`Job`]s, which [`run_jobs`] runs side by side.

mod curve;
mod cv;
mod estimate;
mod figure;
mod fold;
mod jobs;
mod numbers;
mod paper;
mod reproduce;
mod search;
mod seeds;
mod spread;

pub use curve::{Averaged, average};
pub use cv::{Alone, Cv, CvReport, Fair, RANDOM_FOLDS, VALIDATION, fold_numbers};
pub use estimate::{Estimate, estimate};
pub use figure::{Curves, Figure, FigurePart, FigureReport, RunCurves, TrainedPart};
pub use jobs::{Ended, Finished, Job, JobWatcher, Notice, Standing, Workers, run_jobs};
pub use paper::{Printed, Rank, Table1, Table2};
pub use reproduce::{Networks, Row1, Row2};
pub use search::{Grid, Search, SearchReport, Trial};
pub use seeds::{SeedRun, SeedSets, Seeds, SeedsReport, seed_numbers};
pub use spread::{Spread, Spreads, TargetSpreads};
