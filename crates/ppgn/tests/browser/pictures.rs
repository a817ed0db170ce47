//! The pictures of the documents: taken by this test, so that they show what the page is. `PPGN_PICTURES=1` writes them to
//! `docs/img`; otherwise they are only looked at.

use crate::devtools::Browser;
use crate::served::{Served, data, run};
use std::path::Path;

/// What is taken: name, view, what must be there, width and height of the window, scheme.
const PICTURES: [(&str, &str, &str, u32, u32, &str); 7] = [
    ("view-runs", "runs", "document.querySelectorAll('#runs tr').length >= 4", 1280, 560, "light"),
    ("view-run", "run?run=MUTAG-1", "document.querySelector('#mistakes')", 1280, 1500, "light"),
    (
        "view-compare",
        "compare?run=MUTAG-1&run=MUTAG-2",
        "document.querySelector('figure .curve')",
        1280,
        1000,
        "dark",
    ),
    (
        "view-data",
        "data?data=MUTAG",
        "document.querySelectorAll('#graphs svg').length >= 12",
        1280,
        1100,
        "light",
    ),
    (
        "view-wl",
        "wl?a=figure1%3A0&b=figure1%3A1&test=2-fwl",
        "document.querySelector('#stage').dataset.state === 'ready'",
        1280,
        1140,
        "light",
    ),
    (
        "view-network",
        "network?run=MUTAG-1&graph=4",
        "document.querySelector('figure svg.graph')",
        1280,
        1000,
        "dark",
    ),
    (
        "view-phone",
        "wl?a=cfi%3Abase%3Dk3%3A0&b=cfi%3Abase%3Dk3%3A1",
        "document.querySelector('#stage').dataset.state === 'ready'",
        390,
        844,
        "dark",
    ),
];

#[test]
fn the_pictures_of_the_documents_are_taken() {
    let name = "the_pictures_of_the_documents_are_taken";
    let Some(data) = data().filter(|data| data.join("tu/MUTAG.zip").exists()) else {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "SKIPPED {name}: MUTAG is not there");
        return;
    };
    let Some(mut browser) = Browser::start(name) else { return };
    let folder = tempfile::tempdir().unwrap();
    let epochs = if std::env::var_os("PPGN_PICTURES").is_some() { 40 } else { 2 };
    let train = |words: &str| {
        run(folder.path(), &format!("{words} --data-dir {} --quiet", data.display()));
    };
    for seed in 1..=3 {
        train(&format!(
            "train MUTAG --split 70/15/15 --blocks 16,16 --epochs {epochs} --seed {seed} --out runs/MUTAG-{seed}"
        ));
    }
    train("train csl --epochs 3 --blocks 8 --split 50/25/25 --out runs/csl-small");
    train("cv MUTAG --blocks 8 --epochs 2 --folds 1-3 --out runs/MUTAG-cv");
    let served = Served::start(folder.path(), &format!("runs --data-dir {}", data.display()));
    let out = match std::env::var_os("PPGN_PICTURES") {
        Some(_) => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/img"),
        None => folder.path().to_path_buf(),
    };
    for (name, view, there, width, height, scheme) in PICTURES {
        browser.size(width, height);
        browser.scheme(scheme);
        browser.open(&served.at(view));
        browser.until(there);
        browser.until("!document.querySelector('.spinner')");
        let file = out.join(format!("{name}.png"));
        browser.picture(&file, false);
        let length = std::fs::metadata(&file).unwrap().len();
        assert!(length > 8000, "{name} has {length} bytes: there is nothing on it");
        browser.content();
    }
}
