//! A run that is training updates without a reload.

use crate::devtools::Browser;
use crate::served::{Served, ppgn};
use std::process::Stdio;

#[test]
fn a_run_that_trains_updates_by_itself() {
    let Some(mut browser) = Browser::start("a_run_that_trains_updates_by_itself") else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("runs")).unwrap();
    let served = Served::start(folder.path(), "runs");
    browser.open(&served.at("runs"));
    // If the page were loaded again, this would be gone.
    browser.eval("window.stays = true");
    assert!(browser.eval("document.querySelector('main').innerText").as_str().unwrap().contains("no runs"));
    let words = "train csl:n=13,skips=2+3,copies=60 --blocks 48,48 --batch 4 --split 50/25/25 --epochs 100000 --quiet --out runs/live";
    let mut training = ppgn(folder.path())
        .args(words.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    browser.until("document.querySelector('[data-run=live] .dot.running')");
    let epochs = "Number(document.querySelector('[data-run=live] progress')?.value ?? 0)";
    browser.until(&format!("{epochs} >= 1"));
    let before = browser.eval(epochs).as_u64().unwrap();
    browser.until(&format!("{epochs} > {before}"));
    browser.until("document.querySelector('[data-run=live] .spark path')");
    // Its own page grows too.
    browser.eval("document.querySelector('[data-run=live] a').click()");
    browser.until("document.getElementById('main').dataset.ready === 'run'");
    let length = "document.querySelector('figure .curve')?.getAttribute('d').split('L').length ?? 0";
    let before = browser.eval(length).as_u64().unwrap();
    browser.until(&format!("({length}) > {before}"));
    // Killed, it is stopped; nobody says so but the lock.
    let _ = training.kill();
    let _ = training.wait();
    browser.eval("document.querySelector('#nav a').click()");
    browser.until("document.querySelector('[data-run=live] .dot.stopped')");
    std::fs::remove_dir_all(folder.path().join("runs/live")).unwrap();
    browser.until("!document.querySelector('[data-run=live]')");
    assert_eq!(browser.eval("window.stays"), true);
    browser.content();
}
