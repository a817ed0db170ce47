//! Every view loads without a complaint, on a desk, on a phone, in light and dark; names from files are text.

use crate::devtools::Browser;
use crate::served::{Served, encoded, run};
use std::path::Path;

/// Runs of every kind: classes, a regression, a cross-validation, a search, a damaged one.
pub(crate) fn runs(folder: &Path) {
    let small = "--blocks 4 --batch 4 --quiet";
    run(
        folder,
        &format!(
            "train csl:n=13,skips=2+3,copies=6 {small} --split 50/25/25 --epochs 4 --seed 1 --out runs/a"
        ),
    );
    run(
        folder,
        &format!(
            "train csl:n=13,skips=2+3,copies=6 {small} --split 50/25/25 --epochs 3 --seed 2 --rate 0.01 --out runs/b"
        ),
    );
    run(folder, &format!("cv csl:n=13,skips=2+3,copies=6 {small} --epochs 2 --folds 1-3 --out runs/cv"));
    let lines: String = (0..16).map(|i| format!("{}O,{}.5\n", "C".repeat(i % 5 + 1), i % 5)).collect();
    std::fs::write(folder.join("runs/alcohols.csv"), format!("smiles,boiling\n{lines}")).unwrap();
    run(folder, &format!("train runs/alcohols.csv {small} --split 50/25/25 --epochs 3 --out runs/alcohols"));
    std::fs::write(folder.join("grid.toml"), "rate = [0.001, 0.01]\ndecay = [0.5, 1.0]\n").unwrap();
    run(
        folder,
        &format!("search csl:n=13,skips=2+3,copies=6 {small} --epochs 2 --grid grid.toml --out runs/search"),
    );
    // What is learned may be per node or per pair, the network on nodes alone, its weights averaged.
    let split = "--split 60/20/20 --epochs 2";
    run(folder, &format!("train short-cycles --level node --limit 30 {small} {split} --out runs/node"));
    run(folder, &format!("train distances --level pair --limit 20 {small} {split} --out runs/pair"));
    run(
        folder,
        &format!("train csl:n=13,skips=2+3,copies=6 --order 1 --ema 0.9 {small} {split} --out runs/order-1"),
    );
    std::fs::create_dir(folder.join("runs/damaged")).unwrap();
    std::fs::write(folder.join("runs/damaged/config.toml"), "dataset = 7\n").unwrap();
}

const VIEWS: [&str; 16] = [
    "runs",
    "run?run=a",
    "run?run=alcohols",
    "run?run=cv%2Ffold-1",
    "run?run=node",
    "run?run=pair",
    "run?run=order-1",
    "data?data=distances",
    "compare?run=a&run=b",
    "sweep?folder=cv",
    "sweep?folder=search",
    "data",
    "data?data=alcohols.csv",
    "data?data=csl",
    "wl",
    "network?run=a&graph=3",
];

#[test]
fn every_view_loads_without_a_complaint() {
    let Some(mut browser) = Browser::start("every_view_loads_without_a_complaint") else { return };
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path());
    let served = Served::start(folder.path(), "runs");
    for (width, scheme) in [(1280, "light"), (390, "dark")] {
        browser.size(width, 844);
        browser.scheme(scheme);
        for view in VIEWS {
            browser.open(&served.at(view));
            browser.until("!document.querySelector('.spinner')");
            let errors =
                browser.eval("[...document.querySelectorAll('.error')].map((e) => e.innerText).join()");
            assert_eq!(errors, "", "{view}");
            // Nothing is wider than the window: what is scrolls by itself.
            let wide = browser.eval("document.documentElement.scrollWidth - innerWidth");
            assert!(wide.as_i64().unwrap() <= 0, "{view} is {wide} points too wide at {width}");
            browser.content();
        }
        contrast(&mut browser, &served);
    }
    // Every drawing has a table or a text beside it.
    for view in ["run?run=a", "wl", "data?data=csl", "network?run=a"] {
        browser.open(&served.at(view));
        browser.until("!document.querySelector('.spinner')");
        let lone = browser.eval(
            "[...document.querySelectorAll('svg[role=img], canvas[role=img]')].filter((e) => !e.getAttribute('aria-label')).length",
        );
        assert_eq!(lone, 0, "{view}");
        assert!(
            browser.eval("document.querySelectorAll('main details, main table').length").as_u64() > Some(0)
        );
    }
    assert!(browser.eval("document.querySelector('#damaged') === null") == true);
    // Outputs per node or pair: the farthest ones of a graph in a table, and marked; averaged weights beside the last ones.
    for (run, word) in [("node", "node "), ("pair", "(")] {
        browser.open(&served.at(&format!("run?run={run}")));
        browser.until("document.querySelectorAll('#mistakes article').length > 1");
        let first = "document.querySelector('#mistakes article tbody th').innerText";
        assert!(browser.eval(first).as_str().unwrap().starts_with(word), "{run}");
        assert!(
            browser.eval("document.querySelectorAll('#mistakes article .marked').length").as_u64() > Some(0)
        );
    }
    browser.open(&served.at("run?run=order-1"));
    assert_eq!(
        browser.eval("document.querySelector('.legend').innerText.includes('test, last weights')"),
        true
    );
}

/// Texts have a contrast of at least 4.5 with what is behind them.
fn contrast(browser: &mut Browser, served: &Served) {
    browser.open(&served.at("run?run=a"));
    browser.until("document.querySelector('#mistakes')");
    let low = browser.eval(
        r#"(() => {
        const parse = (text) => { const m = text.match(/[\d.]+/g).map(Number); return {rgb: m.slice(0, 3), a: m[3] ?? 1}; };
        const light = (rgb) => { const [r, g, b] = rgb.map((x) => { x /= 255; return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!c.startsWith("rgb")) return null; const p = parse(c); if (p.a === 1) return p.rgb; if (p.a > 0) return null; } return [255, 255, 255]; };
        const bad = [];
        for (const e of document.querySelectorAll("h1, h2, h3, p, th, td, a, button, span, summary, pre, b, svg text")) {
          if (e.children.length > 0 || !e.textContent.trim() || e.disabled || e.closest("[disabled], .unseen, .skip, [data-node]")) continue;
          const look = getComputedStyle(e);
          const behind = ground(e);
          if (!behind) continue;
          const ink = parse(e instanceof SVGElement ? look.fill : look.color).rgb;
          const [a, b] = [light(ink), light(behind)].sort((x, y) => y - x);
          const ratio = (a + 0.05) / (b + 0.05);
          if (ratio < 4.5) bad.push(`${e.tagName} ${e.textContent.slice(0, 30)} ${ratio.toFixed(2)}`);
        }
        return bad;
      })()"#,
    );
    assert_eq!(low, serde_json::json!([]));
}

#[test]
fn names_from_files_are_text() {
    let Some(mut browser) = Browser::start("names_from_files_are_text") else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>";
    let text = named(folder.path(), script);
    std::fs::create_dir_all(folder.path().join("runs")).unwrap();
    std::fs::write(folder.path().join("runs/evil.jsonl"), text).unwrap();
    let bad = folder.path().join("runs/<img src=x onerror=alert(1)>");
    std::fs::create_dir(&bad).unwrap();
    std::fs::write(bad.join("config.toml"), format!("dataset = \"{}\"\n", script.replace('"', "'"))).unwrap();
    let served = Served::start(folder.path(), "runs");
    browser.open(&served.at("data?data=evil.jsonl"));
    browser.until("document.querySelectorAll('#graphs svg').length > 0");
    let text = browser.eval("document.querySelector('main').innerText");
    assert!(text.as_str().unwrap().contains("<script>document.title='owned'</script>"), "{text}");
    browser.open(&served.at("runs"));
    let text = browser.eval("document.querySelector('main').innerText");
    assert!(text.as_str().unwrap().contains("<img src=x onerror=alert(1)>"), "{text}");
    for word in [script, "<svg onload=alert(1)>"] {
        browser.open(&served.at(&format!("wl?a={0}&b={0}", encoded(word))));
        browser.open(&served.at(&format!("run?run={}", encoded(word))));
    }
    let bad = "document.title.includes('owned') || document.querySelector('main script, main img') !== null";
    assert_eq!(browser.eval(bad), false);
}

/// A dataset as JSON Lines with this name, which the first line has.
fn named(folder: &Path, name: &str) -> String {
    run(folder, "data convert csl:n=13,skips=2+3,copies=1 plain.jsonl");
    let plain = std::fs::read_to_string(folder.join("plain.jsonl")).unwrap();
    let mut lines: Vec<serde_json::Value> =
        plain.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines[0]["name"] = name.into();
    lines.iter().map(|line| format!("{line}\n")).collect()
}
