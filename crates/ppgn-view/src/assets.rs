//! The files of the page, as they are in the binary.

/// A file of the page.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    text: &'static str,
}

impl Asset {
    /// Its text. While the page is being developed (a build without optimisation), as it is in the source right now.
    pub(crate) fn text(&self) -> String {
        now(self.name).unwrap_or_else(|| self.text.to_string())
    }
}

/// A file of the page as it is in the source, in builds for development.
fn now(name: &str) -> Option<String> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/page");
    cfg!(debug_assertions).then(|| std::fs::read_to_string(format!("{source}/{name}")).ok()).flatten()
}

/// The page itself.
pub(crate) fn index() -> String {
    now("index.html").unwrap_or_else(|| INDEX.to_string())
}

const INDEX: &str = include_str!("../page/index.html");

macro_rules! assets {
    ($($name:literal $kind:ident),* $(,)?) => {
        /// What the page loads, from `app/`.
        pub(crate) const ASSETS: &[Asset] =
            &[$(Asset { name: $name, kind: $kind, text: include_str!(concat!("../page/", $name)) }),*];
    };
}

pub(crate) const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

assets! {
    "style.css" STYLE,
    "icon.svg" PICTURE,
    "main.js" SCRIPT,
    "api.js" SCRIPT,
    "chart.js" SCRIPT,
    "colouring.js" SCRIPT,
    "compare.js" SCRIPT,
    "dataset.js" SCRIPT,
    "dom.js" SCRIPT,
    "editor.js" SCRIPT,
    "epochs.js" SCRIPT,
    "graph.js" SCRIPT,
    "network.js" SCRIPT,
    "save.js" SCRIPT,
    "runs.js" SCRIPT,
    "run.js" SCRIPT,
    "sweep.js" SCRIPT,
    "table.js" SCRIPT,
    "text.js" SCRIPT,
    "wl.js" SCRIPT,
}

/// A file of the page by its name.
pub(crate) fn asset(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_files_can_only_become_text() {
        for asset in ASSETS.iter().filter(|asset| asset.kind == SCRIPT) {
            for way in
                ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("]
            {
                assert!(!asset.text.contains(way), "{} uses {way}", asset.name);
            }
        }
        // The policy forbids scripts and styles in the page.
        for inline in ["<style", "style=", "onload", "onclick", "javascript:", "<script>"] {
            assert!(!INDEX.contains(inline), "{inline}");
        }
    }

    #[test]
    fn the_page_loads_what_there_is() {
        for part in INDEX.split('"').filter(|part| part.starts_with("app/")) {
            assert!(asset(&part["app/".len()..]).is_some(), "{part}");
        }
        for module in ASSETS.iter().filter(|asset| asset.kind == SCRIPT) {
            for line in
                module.text.lines().filter(|line| line.starts_with("import") || line.contains(" from \"./"))
            {
                if let Some(name) = line.split("\"./").nth(1).and_then(|rest| rest.split('"').next()) {
                    assert!(asset(name).is_some(), "{}: {name}", module.name);
                }
            }
        }
    }
}
