//! The Weisfeiler-Leman view says what `ppgn wl compare` says, round and certificate, and steps to it.

use crate::devtools::Browser;
use crate::served::{Served, encoded, ppgn, run};
use serde_json::Value;
use std::path::Path;

/// Ten pairs with the test that is asked.
const PAIRS: [(&str, &str, &str); 10] = [
    ("figure1:0", "figure1:1", "1-wl"),
    ("figure1:0", "figure1:1", "2-fwl"),
    ("rook:n=4", "shrikhande", "2-fwl"),
    ("rook:n=4", "shrikhande", "3-fwl"),
    ("cfi:base=k3:0", "cfi:base=k3:1", "2-fwl"),
    ("cfi:base=k4:0", "cfi:base=k4:1", "3-fwl"),
    ("csl:0", "csl:15", "2-fwl"),
    ("path:n=9", "star:n=8", "1-wl"),
    ("tree:n=14,seed=1", "tree:n=14,seed=2", "2-wl"),
    ("prism:n=5", "petersen", "2-fwl"),
];

fn compared(folder: &Path, (a, b, test): (&str, &str, &str)) -> (Value, String) {
    let output = ppgn(folder).args(["wl", "compare", a, b, "--test", test, "--json"]).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = run(folder, &format!("wl compare {a} {b} --test {test}"));
    // After the verdict and an empty line comes the certificate.
    let text = text.split_once("\n\n").map_or(String::new(), |(_, text)| text.trim_end().to_string());
    (json, text)
}

#[test]
fn the_view_agrees_with_the_command() {
    let Some(mut browser) = Browser::start("the_view_agrees_with_the_command") else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("runs")).unwrap();
    let served = Served::start(folder.path(), "runs");
    for pair in PAIRS {
        let (json, certificate) = compared(folder.path(), pair);
        let (a, b, test) = pair;
        browser.open(&served.at(&format!("wl?a={}&b={}&test={test}&round=0", encoded(a), encoded(b))));
        browser.until("document.querySelector('#stage').dataset.state === 'ready'");
        assert_eq!(browser.eval("document.querySelector('#stage').dataset.round"), "0", "{pair:?}");
        let shown = browser.eval("document.querySelector('#certificate')?.textContent ?? ''");
        assert_eq!(shown, certificate.as_str(), "{pair:?}");
        match json["round"].as_u64() {
            None => {
                let verdict = browser.eval("document.querySelector('#verdict').innerText");
                assert!(verdict.as_str().unwrap().contains("does not distinguish"), "{pair:?}: {verdict}");
            }
            Some(round) => {
                // Step by step: the histograms are equal before that round, and differ after it.
                let equal = "[...document.querySelectorAll('figcaption')].some((e) => e.innerText.includes('Histograms') && e.innerText.includes('equal'))";
                for now in 0..round {
                    assert_eq!(browser.eval(equal), true, "{pair:?} at {now}");
                    browser.eval("document.querySelector('#next').click()");
                }
                assert_eq!(browser.eval("document.querySelector('#stage').dataset.round"), round.to_string());
                assert_eq!(browser.eval(equal), false, "{pair:?}");
                // Its nodes are marked.
                assert!(
                    browser.eval("document.querySelectorAll('.node.marked').length").as_u64() > Some(0),
                    "{pair:?}"
                );
                // The address has the state.
                let hash = browser.eval("location.hash");
                assert!(round == 0 || hash.as_str().unwrap().contains(&format!("round={round}")), "{hash}");
            }
        }
        browser.content();
    }
}

#[test]
fn pairs_say_why_they_have_their_colour() {
    let Some(mut browser) = Browser::start("pairs_say_why_they_have_their_colour") else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("runs")).unwrap();
    let served = Served::start(folder.path(), "runs");
    browser.open(&served.at("wl?a=figure1%3A0&b=figure1%3A1&test=2-fwl&round=1"));
    browser.until("document.querySelector('#stage').dataset.state === 'ready'");
    // The pair (0, 3) of the certificate in README: 6 neighbours, of four kinds, 1, 1, 2 and 2 of them.
    browser.eval("document.querySelector('[data-side=\"0\"] canvas').focus()");
    for _ in 0..3 {
        browser.press("ArrowRight");
    }
    browser.until("document.querySelector('#reason [data-tuple]')?.dataset.tuple === '0,3'");
    let kinds = browser.eval("[...document.querySelectorAll('#reason li')].map((e) => e.innerText.trim())");
    let mut counts: Vec<u64> = kinds
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| kind.as_str().unwrap().split_whitespace().next().unwrap().parse().unwrap())
        .collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 1, 2, 2], "{kinds}");
    // Graphs from SMILES, from graph6, and drawn.
    browser.open(&served.at(&format!(
        "wl?a={}&b={}&labels=0",
        encoded("smiles:C1CCC2CCCCC2C1"),
        encoded("g6:EEhO")
    )));
    browser.until("document.querySelector('#stage').dataset.state !== 'loading'");
    assert_eq!(browser.eval("document.querySelector('#stage').dataset.state"), "ready");
    browser.eval("document.querySelector('details summary').click()");
    browser.until("document.querySelectorAll('details .two > div').length === 2");
    browser.eval(
        "(() => { const box = document.querySelector('details .two > div'); const input = box.querySelector('input'); input.value = '0-1 1-2 2-3 3-0'; box.querySelectorAll('button')[0].click(); box.querySelector('button.main').click(); })()",
    );
    browser.until("document.querySelector('#graph-a').value === 'g6:Cl' && document.querySelector('#stage').dataset.state === 'ready'");
    browser.content();
}
