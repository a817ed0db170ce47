//! `ppgn data check`: reads everything and reports every defect.

use crate::cli::hint::advice;
use crate::cli::input::InputArgs;
use crate::cli::output::{counted, json, print};
use anyhow::Result;
use ppgn::graph::format::{self, Report};
use ppgn::graph::generate;
use ppgn::graph::locate::What;
use ppgn::graph::text::escaped;
use serde_json::json;
use std::fmt::Write;
use std::process::ExitCode;

pub(super) fn run(data: &str, input: &InputArgs, as_json: bool) -> Result<ExitCode> {
    let locator = input.locator()?;
    let located = locator.resolve(data)?;
    let mut report = Report::collecting();
    match &located.what {
        What::File(path) => format::check(path, &locator.read, &mut report)?,
        What::Generator(spec) => drop(generate::generate(spec)?),
    }
    if as_json {
        json(&json!({
            "data": data,
            "defects": report.count(),
            "defect_list": report.defects(),
            "notes": report.notes(),
        }))?;
    } else {
        let mut text = String::new();
        for defect in report.defects() {
            let _ = writeln!(text, "{defect}");
            if let Some(remedy) = &defect.remedy {
                let _ = writeln!(text, "hint: {}", advice(remedy));
            }
        }
        if report.count() > report.defects().len() {
            let _ = writeln!(text, "... and {} more", report.count() - report.defects().len());
        }
        for note in report.notes() {
            let _ = writeln!(text, "note: {}", escaped(note));
        }
        let verdict = match report.count() {
            0 => "no defects".to_string(),
            n => counted(n, "defect", "defects"),
        };
        print(&format!("{text}{}: {verdict}\n", escaped(data)))?;
    }
    Ok(if report.count() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
