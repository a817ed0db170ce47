//! The page as files, to put on a web server: every answer that the page asks for by itself, under the question it answers.
//!
//! `api/index.json` has the name of a file for every question. What is computed on demand (other graphs, other tests) is not in
//! an export, and the page says so.

use crate::answer::Source;
use crate::assets::{self, ASSETS};
use crate::presets::PRESETS;
use crate::query::Query;
use crate::{Error, Result, View};
use ppgn_graph::file::write_whole;
use ppgn_wl::Interrupt;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Graphs of a dataset, at most: each is a file.
const GRAPHS: usize = 1000;

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exported {
    /// Files.
    pub files: usize,
    /// Their lengths in bytes, together.
    pub bytes: u64,
}

/// Writes the page with the runs as they are now to a new or empty folder. `wrote` is called with the number of files so far.
/// An interrupt ends it; what was written stays, without the page itself.
pub fn export(
    view: &View,
    out: impl AsRef<Path>,
    interrupt: &Interrupt,
    mut wrote: impl FnMut(usize),
) -> Result<Exported> {
    let out = out.as_ref();
    let fail = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Error::Write { path, source }
    };
    if out.exists() && std::fs::read_dir(out).map_err(fail(out))?.next().is_some() {
        return Err(Error::NotEmpty { path: out.to_path_buf() });
    }
    for folder in ["app", "api"] {
        std::fs::create_dir_all(out.join(folder)).map_err(fail(out))?;
    }
    let mut export = Export {
        source: Source::new(view),
        interrupt,
        out: out.to_path_buf(),
        index: Map::new(),
        written: Exported { files: 0, bytes: 0 },
        wrote: &mut wrote,
    };
    for asset in ASSETS {
        export.file(&format!("app/{}", asset.name), &asset.text())?;
    }
    export.answers()?;
    let index = Value::Object(std::mem::take(&mut export.index)).to_string();
    export.file("api/index.json", &index)?;
    let page = assets::index().replace(
        "<meta charset=\"utf-8\">",
        "<meta charset=\"utf-8\">\n<meta name=\"ppgn-export\" content=\"static\">",
    );
    export.file("index.html", &page)?;
    Ok(export.written)
}

struct Export<'a> {
    source: Source,
    interrupt: &'a Interrupt,
    out: PathBuf,
    index: Map<String, Value>,
    written: Exported,
    wrote: &'a mut dyn FnMut(usize),
}

impl Export<'_> {
    fn file(&mut self, name: &str, text: &str) -> Result<()> {
        self.interrupt.check().map_err(|_| Error::Interrupted)?;
        let path = self.out.join(name);
        write_whole(&path, text.as_bytes()).map_err(|e| Error::System(e.to_string()))?;
        self.written.files += 1;
        self.written.bytes += text.len() as u64;
        (self.wrote)(self.written.files);
        Ok(())
    }

    /// Writes the answer to a question, if there is one, and returns it.
    fn ask(&mut self, what: &str, pairs: &[(&str, &str)]) -> Result<Option<Value>> {
        let pairs: Vec<String> = pairs
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}={}", encoded(value)))
            .collect();
        let text = pairs.join("&");
        let question = if text.is_empty() { what.to_string() } else { format!("{what}?{text}") };
        self.source.forget_unused();
        let Ok(query) = Query::parse(&text) else { return Ok(None) };
        if self.index.contains_key(&question) {
            return Ok(None);
        }
        // What cannot be answered, such as a damaged run, is not in the export either.
        let Ok(answer) = self.source.answer(what, &query, self.interrupt) else { return Ok(None) };
        self.put(&question, &answer)?;
        Ok(serde_json::from_str(&answer).ok())
    }

    fn put(&mut self, question: &str, answer: &str) -> Result<()> {
        let name = format!("{}.json", self.index.len());
        self.file(&format!("api/{name}"), answer)?;
        self.index.insert(question.into(), name.into());
        Ok(())
    }

    fn answers(&mut self) -> Result<()> {
        self.ask("about", &[])?;
        let name = |row: &Value| row["run"].as_str().unwrap_or("").to_string();
        let mut datasets = BTreeSet::new();
        let mut after = String::new();
        loop {
            let runs = self.ask("runs", &[("after", &after)])?.unwrap_or_default();
            for row in runs["rows"].as_array().into_iter().flatten() {
                self.run(&name(row))?;
                datasets.extend(row["data"].as_str().map(String::from));
            }
            match runs["next"].as_str() {
                Some(next) => after = next.to_string(),
                None => {
                    for group in runs["groups"].as_array().into_iter().flatten() {
                        self.ask("sweep", &[("folder", &name(group))])?;
                    }
                    break;
                }
            }
        }
        let mut found = Vec::new();
        for data in datasets {
            if self.dataset(&data)? {
                found.push(json!({ "name": data, "bytes": 0 }));
            }
        }
        self.put("data", &json!({ "found": found, "generators": [] }).to_string())?;
        for preset in &PRESETS {
            for test in
                ["1-wl", "2-fwl", "3-fwl"].iter().filter(|t| **t != "3-fwl" || preset.tests.contains(t))
            {
                let labels = if preset.labels { "" } else { "0" };
                self.ask("wl", &[("a", preset.a), ("b", preset.b), ("test", test), ("labels", labels)])?;
            }
        }
        Ok(())
    }

    fn run(&mut self, run: &str) -> Result<()> {
        if self.ask("run", &[("run", run)])?.is_none() {
            return Ok(());
        }
        let Some(mistakes) = self.ask("run/mistakes", &[("run", run)])? else { return Ok(()) };
        for set in mistakes["sets"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            self.ask("run/mistakes", &[("run", run), ("set", set)])?;
        }
        for graph in mistakes["worst"].as_array().into_iter().flatten() {
            self.ask("network", &[("run", run), ("graph", &graph["graph"].to_string())])?;
        }
        self.ask("network", &[("run", run), ("graph", "0")])?;
        Ok(())
    }

    fn dataset(&mut self, data: &str) -> Result<bool> {
        let Some(answer) = self.ask("dataset", &[("data", data)])? else { return Ok(false) };
        let graphs = answer["summary"]["graphs"].as_u64().unwrap_or(0) as usize;
        let mut from = answer["rows"]["nodes"].as_array().map_or(0, Vec::len);
        while from < graphs {
            let Some(rows) = self.ask("dataset/rows", &[("data", data), ("from", &from.to_string())])? else {
                break;
            };
            match rows["nodes"].as_array().map_or(0, Vec::len) {
                0 => break,
                n => from += n,
            }
        }
        for graph in 0..graphs.min(GRAPHS) {
            self.ask("dataset/graph", &[("data", data), ("graph", &graph.to_string())])?;
        }
        Ok(true)
    }
}

/// A value of a query as the page writes it (`encodeURIComponent`).
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte);
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match plain(byte) {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn values_are_written_as_the_page_writes_them() {
        assert_eq!(encoded("cfi:base=k4:0"), "cfi%3Abase%3Dk4%3A0");
        assert_eq!(encoded("a b/ü(1)!"), "a%20b%2F%C3%BC(1)!");
    }
}
