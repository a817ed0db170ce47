//! Everything can be reached and used by the keyboard alone.

use crate::devtools::Browser;
use crate::served::Served;
use crate::views::runs;

/// Presses Tab until an expression about the focus is true.
fn tab_to(browser: &mut Browser, what: &str) {
    for _ in 0..80 {
        browser.press("Tab");
        if browser.eval(&format!("(() => {{ const e = document.activeElement; return Boolean({what}); }})()"))
            == true
        {
            return;
        }
    }
    panic!("the focus never reached {what}");
}

#[test]
fn the_keyboard_is_enough() {
    let Some(mut browser) = Browser::start("the_keyboard_is_enough") else { return };
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path());
    let served = Served::start(folder.path(), "runs");
    browser.open(&served.at("runs"));
    // The filter, then two runs to compare.
    browser.press("/");
    assert_eq!(browser.eval("document.activeElement.id"), "filter");
    browser.write("seed>0 csl");
    browser.until("document.querySelectorAll('#runs tr').length === 2");
    tab_to(&mut browser, "e.type === 'checkbox'");
    browser.press("Space");
    tab_to(&mut browser, "e.type === 'checkbox'");
    browser.press("Space");
    browser.until("document.querySelector('a.button.main')");
    browser.eval("document.getElementById('filter').focus()");
    tab_to(&mut browser, "e.matches('a.button.main')");
    browser.press("Enter");
    browser.until("location.hash.startsWith('#/compare') && document.getElementById('main').dataset.ready === 'compare'");
    // A chart's cursor.
    tab_to(&mut browser, "e.matches('svg.chart')");
    browser.press("ArrowRight");
    browser.until("!document.activeElement.closest('figure').querySelector('.tip').hidden");
    // Another view by its number; rounds by arrows.
    browser.press("3");
    browser.until("document.getElementById('main').dataset.ready === 'wl' && document.querySelector('#stage').dataset.state === 'ready'");
    tab_to(&mut browser, "e.dataset.preset === 'CFI of K3'");
    browser.press("Enter");
    browser.until("document.querySelector('#graph-a').value === 'cfi:base=k3:0' && document.querySelector('#stage').dataset.state === 'ready'");
    tab_to(&mut browser, "e.id === 'test'");
    browser.press("ArrowDown");
    browser.press("ArrowDown");
    browser.until("document.querySelector('#test').value === '2-fwl' && document.querySelector('#stage').dataset.state === 'ready'");
    tab_to(&mut browser, "e.id === 'first'");
    browser.press("Enter");
    browser.until("document.querySelector('#stage').dataset.round === '0'");
    browser.press("ArrowRight");
    browser.until("document.querySelector('#stage').dataset.round === '1'");
    // What has the focus is seen.
    tab_to(&mut browser, "e.matches('button')");
    assert_eq!(browser.eval("getComputedStyle(document.activeElement).outlineStyle"), "solid");
    browser.content();
}
