//! How cost grows with n: the sizes to measure, fitted exponents, a CSV table and a chart.

use super::cost::{CostFigures, Subject};
use crate::chart::{Axis, Chart, Curve, Drawn, Look, Panel, Scale};
use crate::error::{Error, Result};
use ppgn_graph::file::write_whole;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// The numbers of nodes at which to measure a subject: the seven largest of 2, 3, 4, 6, 8, 12, ... with at most `tuples`
/// tuples.
///
/// ```
/// use ppgn_train::bench::{Subject, sizes};
/// assert_eq!(sizes(Subject::Block(2), 1 << 20), [128, 192, 256, 384, 512, 768, 1024]);
/// assert_eq!(sizes(Subject::Layer(3), 1 << 20), [12, 16, 24, 32, 48, 64, 96]);
/// ```
pub fn sizes(subject: Subject, tuples: usize) -> Vec<usize> {
    let fits = |n: &usize| n.checked_pow(subject.order() as u32).is_some_and(|all| all <= tuples);
    let all: Vec<usize> =
        (1..usize::BITS / 2).flat_map(|e| [1 << e, 3 << (e - 1)]).take_while(fits).collect();
    all[all.len().saturating_sub(7)..].to_vec()
}

/// The growth of one subject's cost, fitted to its measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Growth {
    /// What was measured.
    pub subject: Subject,
    /// The exponent of time according to theory.
    pub time_claim: usize,
    /// The exponent of time that fits all sizes best.
    pub time_fit: f64,
    /// The exponent of time over the last doubling of n.
    pub time_last: f64,
    /// The exponent of space according to theory.
    pub space_claim: usize,
    /// The exponent of space that fits all sizes best, if the system reports memory.
    pub space_fit: Option<f64>,
    /// The exponent of space over the last doubling of n.
    pub space_last: Option<f64>,
    /// The measurements, by n.
    pub points: Vec<CostFigures>,
}

impl Growth {
    /// Fits the measurements of one subject: at least two, by n.
    pub fn new(points: Vec<CostFigures>) -> Result<Self> {
        let few = || Error::settings("an exponent needs measurements at two or more sizes");
        let [.., last] = &points[..] else { return Err(few()) };
        let [time_claim, space_claim] = last.subject.exponents();
        let (subject, half) = (last.subject, last.nodes / 2);
        let double: Vec<&CostFigures> = points.iter().filter(|p| p.nodes >= half).collect();
        let time = |p: &CostFigures| Some(p.forward_ms);
        let space = |p: &CostFigures| p.space_mb;
        let all: Vec<&CostFigures> = points.iter().collect();
        Ok(Growth {
            subject,
            time_claim,
            time_fit: exponent(&all, time).ok_or_else(few)?,
            time_last: exponent(&double, time).ok_or_else(few)?,
            space_claim,
            space_fit: exponent(&all, space),
            space_last: exponent(&double, space),
            points,
        })
    }
}

/// The exponent b of `y = a n^b` that fits best.
fn exponent(points: &[&CostFigures], of: impl Fn(&CostFigures) -> Option<f64>) -> Option<f64> {
    power(points, of).map(|(_, b)| b)
}

/// The factor a and the exponent b of `y = a n^b` that fits best, by least squares on logarithms.
fn power(points: &[&CostFigures], of: impl Fn(&CostFigures) -> Option<f64>) -> Option<(f64, f64)> {
    let logs: Option<Vec<(f64, f64)>> =
        points.iter().map(|p| Some(((p.nodes as f64).ln(), of(p).filter(|y| *y > 0.0)?.ln()))).collect();
    let logs = logs?;
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / logs.len() as f64;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let spread: f64 = logs.iter().map(|p| (p.0 - x).powi(2)).sum();
    let b = (spread > 0.0).then(|| logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / spread)?;
    Some(((y - b * x).exp(), b))
}

/// Writes `scaling.csv` and `scaling.svg` to a folder.
pub fn write_scaling(growths: &[Growth], folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    write_whole(&folder.join("scaling.csv"), csv(growths).as_bytes())?;
    write_whole(&folder.join("scaling.svg"), chart(growths).svg().as_bytes())?;
    Ok(())
}

fn csv(growths: &[Growth]) -> String {
    let mut csv = "subject,nodes,features,threads,forward_ms,space_mb\n".to_string();
    for p in growths.iter().flat_map(|growth| &growth.points) {
        let space = p.space_mb.map(|x| x.to_string()).unwrap_or_default();
        let CostFigures { subject, nodes, features, threads, forward_ms, .. } = p;
        let _ = writeln!(csv, "{subject},{nodes},{features},{threads},{forward_ms},{space}");
    }
    csv
}

/// Measurements as marks with the fitted powers behind them, whose exponents are in the legend beside those of theory.
fn chart(growths: &[Growth]) -> Chart {
    let panel = |title: &str,
                 unit: &str,
                 claim: &dyn Fn(&Growth) -> usize,
                 of: &dyn Fn(&CostFigures) -> Option<f64>| {
        let curves = growths.iter().map(|growth| {
            let points =
                growth.points.iter().filter_map(|p| Some((p.nodes as f64, of(p).filter(|y| *y > 0.0)?)));
            let fit = power(&growth.points.iter().collect::<Vec<_>>(), of);
            let slope =
                fit.map(|(_, b)| format!(": n^{b:.2} (theory n^{})", claim(growth))).unwrap_or_default();
            let drawn = fit.map_or(Drawn::Line, |(a, b)| Drawn::Power(a, b));
            Curve { drawn, ..Curve::line(format!("{}{slope}", growth.subject), points.collect()) }
        });
        Panel {
            title: title.into(),
            across: Axis::new("nodes n", Scale::Log2),
            up: Axis::new(unit, Scale::Log10),
            curves: curves.collect(),
            best: None,
        }
    };
    let time = panel("Time of a forward pass", "milliseconds", &|g| g.time_claim, &|p| Some(p.forward_ms));
    let space = panel("Memory of a forward pass", "MiB", &|g| g.space_claim, &|p| p.space_mb);
    Chart::new(Look::File, &[time, space])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(nodes: usize, forward_ms: f64, space_mb: Option<f64>) -> CostFigures {
        CostFigures { subject: Subject::Block(2), nodes, features: 8, threads: 1, forward_ms, space_mb }
    }

    #[test]
    fn exponents_are_those_of_the_powers() {
        let points = |a: f64, b: i32| -> Vec<CostFigures> {
            [4usize, 8, 16].map(|n| point(n, a * (n as f64).powi(b), Some((n as f64).powi(2)))).to_vec()
        };
        let growth = Growth::new(points(0.3, 3)).unwrap();
        assert!((growth.time_fit - 3.0).abs() < 1e-9 && (growth.time_last - 3.0).abs() < 1e-9, "{growth:?}");
        assert!((growth.space_fit.unwrap() - 2.0).abs() < 1e-9);
        assert_eq!((growth.time_claim, growth.space_claim), (3, 2));
        // The last doubling alone.
        let mut bent = points(1.0, 3);
        bent[2].forward_ms = bent[1].forward_ms * 4.0;
        let growth = Growth::new(bent).unwrap();
        assert!((growth.time_last - 2.0).abs() < 1e-9 && growth.time_fit > 2.1, "{growth:?}");
    }

    #[test]
    fn too_little_is_an_error_or_nothing() {
        assert!(Growth::new(Vec::new()).is_err() && Growth::new(vec![point(4, 1.0, None)]).is_err());
        let growth = Growth::new(vec![point(4, 1.0, None), point(8, 2.0, Some(0.0))]).unwrap();
        assert_eq!((growth.space_fit, growth.space_last), (None, None));
        let folder = tempfile::tempdir().unwrap();
        write_scaling(&[growth], folder.path()).unwrap();
        let csv = std::fs::read_to_string(folder.path().join("scaling.csv")).unwrap();
        assert!(csv.ends_with("block-2,4,8,1,1,\nblock-2,8,8,1,2,0\n"), "{csv}");
        assert!(std::fs::read_to_string(folder.path().join("scaling.svg")).unwrap().contains("block-2"));
    }
}
