//! `ppgn data list`: all data that can be named.

use crate::cli::input::InputArgs;
use crate::cli::output::{bytes, json, path, print};
use anyhow::Result;
use ppgn::graph::format::Format;
use ppgn::graph::text::escaped;
use ppgn::graph::{fetch, generate};
use serde_json::json;
use std::fmt::Write;
use std::process::ExitCode;

pub(super) fn run(input: &InputArgs, as_json: bool) -> Result<ExitCode> {
    let locator = input.locator()?;
    let here = locator.list();
    let missing: Vec<_> = fetch::known()
        .iter()
        .filter(|k| !here.iter().any(|f| f.name.eq_ignore_ascii_case(&k.name)))
        .collect();
    if as_json {
        json(&json!({
            "data_dir": path(&locator.data_dir()),
            "here": here.iter().map(|f| json!({"name": f.name, "path": path(&f.path), "bytes": f.bytes})).collect::<Vec<_>>(),
            "download": missing.iter().map(|k| json!({"name": k.name, "about": k.about})).collect::<Vec<_>>(),
            "generators": generate::generators().iter().map(|g| json!({
                "name": g.name,
                "about": g.about,
                "parameters": g.parameters.iter().map(|p| json!({"name": p.name, "default": p.default, "about": p.about})).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "formats": Format::ALL.map(|f| json!({"name": f.name(), "about": f.about()})),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::from("Generators (name:key=value,... sets their parameters)\n");
    for g in generate::generators() {
        let parameters: Vec<String> =
            g.parameters.iter().map(|p| format!("{}={}", p.name, p.default)).collect();
        let _ = writeln!(text, "  {:<12} {}", g.name, g.about);
        if !parameters.is_empty() {
            let _ = writeln!(text, "  {:<12}   {}", "", parameters.join(", "));
        }
    }
    let _ = writeln!(text, "\nIn the data folder {}", escaped(&locator.data_dir().to_string_lossy()));
    match here.is_empty() {
        true => text.push_str("  nothing yet\n"),
        false => {
            for f in &here {
                let _ = writeln!(
                    text,
                    "  {:<12} {:>10}  {}",
                    escaped(&f.name),
                    bytes(f.bytes),
                    escaped(&f.path.to_string_lossy())
                );
            }
        }
    }
    if !missing.is_empty() {
        text.push_str("\nTo download (`ppgn data get NAME`)\n");
        for k in missing {
            let _ = writeln!(text, "  {:<12} {}", k.name, k.about);
        }
        let others: Vec<&str> = fetch::collection().iter().map(|k| k.name.as_str()).take(4).collect();
        let count = fetch::collection().len();
        let _ = writeln!(
            text,
            "  and the other {count} sets of TUDataset by their names: {} ...",
            others.join(", ")
        );
    }
    text.push_str(
        "\nFormats (detected from the extension, then from the content; --format NAME overrides)\n",
    );
    for f in Format::ALL {
        let _ = writeln!(text, "  {:<12} {}", f.name(), f.about());
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
