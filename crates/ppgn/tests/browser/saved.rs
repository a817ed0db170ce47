//! What is shown as files: drawings and tables that are saved, and the whole page as an export on a plain web server.

use crate::devtools::Browser;
use crate::served::{Served, run};
use crate::views::runs;
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The one file that was saved since, with its bytes.
fn saved(folder: &Path, ending: &str) -> Vec<u8> {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let found = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
        if let Some(path) = found.into_iter().find(|path| path.to_string_lossy().ends_with(ending)) {
            let bytes = std::fs::read(&path).unwrap();
            // The browser makes an empty file first.
            if !bytes.is_empty() {
                std::fs::remove_file(path).unwrap();
                return bytes;
            }
        }
        assert!(Instant::now() < end, "nothing ends in {ending}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn what_is_shown_can_be_saved() {
    let Some(mut browser) = Browser::start("what_is_shown_can_be_saved") else { return };
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path());
    let downloads = folder.path().join("downloads");
    std::fs::create_dir(&downloads).unwrap();
    let served = Served::start(folder.path(), "runs");
    browser.call("Browser.setDownloadBehavior", json!({ "behavior": "allow", "downloadPath": downloads }));
    let press = |browser: &mut Browser, place: &str, name: &str| {
        browser.eval(&format!(
            "[...document.querySelector('{place}').querySelectorAll('.save button')].find((b) => b.innerText === '{name}').click()"
        ));
    };
    browser.open(&served.at("run?run=a"));
    browser.until("document.querySelector('figure .curve')");
    press(&mut browser, "figure", "CSV");
    let csv = String::from_utf8(saved(&downloads, ".csv")).unwrap();
    assert!(csv.starts_with("epoch,training,validation,test\r\n1,") && csv.lines().count() == 5, "{csv}");
    press(&mut browser, "figure", "SVG");
    let svg = String::from_utf8(saved(&downloads, ".svg")).unwrap();
    // It needs no style sheet.
    assert!(svg.contains("stroke=\"rgb(") && !svg.contains("class=") && !svg.contains("style="), "{svg}");
    press(&mut browser, "figure", "PNG");
    let png = saved(&downloads, ".png");
    assert!(png.starts_with(b"\x89PNG") && png.len() > 3000, "{} bytes", png.len());
    browser.open(&served.at("wl?test=2-fwl"));
    browser.until("document.querySelector('#stage').dataset.state === 'ready'");
    press(&mut browser, "[data-side=\"0\"] figure:has(canvas)", "PNG");
    assert!(saved(&downloads, ".png").starts_with(b"\x89PNG"));
    press(&mut browser, "[data-side=\"0\"] figure:has(canvas)", "CSV");
    let csv = String::from_utf8(saved(&downloads, ".csv")).unwrap();
    assert!(csv.starts_with("i1,i2,colour\r\n0,0,0\r\n") && csv.lines().count() == 37, "{csv}");
    browser.content();
}

/// A web server that knows files and nothing else.
fn files(root: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let root = root.clone();
            std::thread::spawn(move || serve_file(&root, stream));
        }
    });
    format!("http://127.0.0.1:{port}/")
}

fn serve_file(root: &Path, mut stream: TcpStream) {
    let mut line = String::new();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let _ = reader.read_line(&mut line);
    let mut rest = String::new();
    while reader.read_line(&mut rest).is_ok_and(|n| n > 2) {
        rest.clear();
    }
    let path = line.split_whitespace().nth(1).unwrap_or("/").trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    let kind = match path.rsplit('.').next() {
        Some("html") => "text/html",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("svg") => "image/svg+xml",
        _ => "application/json",
    };
    let (status, body) = match std::fs::read(root.join(path)) {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

#[test]
fn an_export_shows_the_same_without_ppgn() {
    let Some(mut browser) = Browser::start("an_export_shows_the_same_without_ppgn") else { return };
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path());
    let said = run(folder.path(), "view runs --export site");
    assert!(said.contains("files") && said.contains("site"), "{said}");
    let url = files(folder.path().join("site"));
    for view in [
        "runs",
        "run?run=a",
        "run?run=alcohols",
        "compare?run=a&run=b",
        "sweep?folder=cv",
        "sweep?folder=search",
        "data",
        "data?data=csl%3An%3D13%2Cskips%3D2%2B3%2Ccopies%3D6",
        "wl",
        "wl?a=rook%3An%3D4&b=shrikhande&test=3-fwl",
        "network?run=a&graph=0",
    ] {
        browser.open(&format!("{url}#/{view}"));
        browser.until("!document.querySelector('.spinner')");
        let errors = browser.eval("[...document.querySelectorAll('.error')].map((e) => e.innerText).join()");
        assert_eq!(errors, "", "{view}");
        browser.content();
    }
    // What is not in it is said, and nothing else is asked for.
    browser.open(&format!("{url}#/wl?a=path&b=star"));
    let errors = browser.eval("[...document.querySelectorAll('.error')].map((e) => e.innerText).join()");
    assert!(errors.as_str().unwrap().contains("not in the export"), "{errors}");
    browser.content();
}
