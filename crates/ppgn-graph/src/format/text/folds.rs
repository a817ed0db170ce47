//! The train/test folds in the folder of a text file: `10fold_idx/train_idx-K.txt` and `10fold_idx/test_idx-K.txt`, lists
//! of graph numbers. They are checked here, with file and line, because a fold that overlaps or has gaps makes results
//! that cannot be compared with anyone's.

use super::super::lines::{integer, show, tokens};
use super::super::{Entry, Report, Source};
use crate::dataset::Fold;
use crate::error::{Defect, Result};
use std::collections::HashMap;

/// Reads the folds of a dataset with this number of graphs; K counts from 1.
pub(super) fn read(source: &Source, entry: &Entry, graphs: usize, report: &mut Report) -> Result<Vec<Fold>> {
    let beside = |list: &str, k: usize| source.beside(entry, &format!("10fold_idx/{list}_idx-{k}.txt"));
    let there = |k: usize| beside("train", k).is_some() || beside("test", k).is_some();
    // Ten are looked for whatever is missing among them, so that a gap is noticed.
    let mut last = (1..=10).rev().find(|&k| there(k)).unwrap_or(0);
    while last >= 10 && there(last + 1) {
        last += 1;
    }
    let mut folds = Vec::new();
    for k in 1..=last {
        let mut part = HashMap::new();
        let mut lists = [Vec::new(), Vec::new()];
        for (list, name) in lists.iter_mut().zip(["train", "test"]) {
            match beside(name, k) {
                Some(file) => *list = read_list(source, &file, name, graphs, &mut part, report)?,
                None => {
                    let message = format!("fold {k} of {last} lacks its file 10fold_idx/{name}_idx-{k}.txt");
                    report.defect(Defect::new(source.describe(entry), message))?;
                }
            }
        }
        let [train, test] = lists;
        folds.push(Fold { train, test });
    }
    Ok(folds)
}

/// The graph numbers of one file; `part` says which list of the fold a graph is in.
fn read_list(
    source: &Source,
    file: &Entry,
    name: &'static str,
    graphs: usize,
    part: &mut HashMap<u32, &'static str>,
    report: &mut Report,
) -> Result<Vec<u32>> {
    let mut lines = source.lines(file)?;
    let mut list = Vec::new();
    let mut problems = Vec::new();
    while let Some(line) = lines.next_filled()? {
        for token in tokens(line) {
            let number = integer(token).and_then(|n| u32::try_from(n).ok());
            let Some(number) = number.filter(|&n| (n as usize) < graphs) else {
                let last = graphs.saturating_sub(1);
                problems.push(format!("{} is not the number of a graph, 0 to {last}", show(token)));
                continue;
            };
            match part.insert(number, name) {
                None => list.push(number),
                Some(other) if other == name => {
                    problems.push(format!("graph {number} is in this list twice"))
                }
                Some(other) => problems.push(format!("graph {number} is in the fold's {other} list too")),
            }
        }
        for problem in problems.drain(..) {
            report.defect(lines.defect(problem))?;
        }
    }
    Ok(list)
}
