//! A browser for tests: Debian's chromium without a window, driven by the DevTools protocol over two pipes. Messages are JSON
//! texts that end with a zero byte, so this needs neither a web socket nor a driver.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The longest that anything takes, on a machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running browser with one page.
pub(crate) struct Browser {
    process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: String,
    next: u64,
    /// What the page complained about: exceptions, errors on the console, requests that failed.
    pub(crate) complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

/// The browser's program, if there is one.
fn program() -> Option<PathBuf> {
    let given = std::env::var_os("PPGN_CHROMIUM").map(PathBuf::from);
    let known = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    given.into_iter().chain(known.map(PathBuf::from)).find(|path| path.exists())
}

impl Browser {
    /// Starts a browser with an empty page; nothing where there is none, after saying so.
    pub(crate) fn start(test: &str) -> Option<Self> {
        let Some(program) = program() else {
            // Through the test runner's capture: a test that did nothing must be seen.
            let _ = writeln!(std::io::stderr(), "SKIPPED {test}: there is no chromium");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let words = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-extensions",
            "--disable-background-networking",
            "--disable-sync",
            "--mute-audio",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
            "--remote-debugging-pipe",
        ];
        // The protocol is spoken on the descriptors 3 and 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null", "sh"])
            .arg(&program)
            .args(words)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (to, out) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(out);
            let mut bytes = Vec::new();
            while reader.read_until(0, &mut bytes).is_ok_and(|n| n > 0) {
                bytes.pop();
                let Ok(message) = serde_json::from_slice(&bytes) else { break };
                if sender.send(message).is_err() {
                    break;
                }
                bytes.clear();
            }
        });
        let (session, complaints) = (String::new(), Vec::new());
        let mut browser = Browser { process, to, from, session, next: 0, complaints, _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", attached);
        browser.session = attached["sessionId"].as_str().unwrap().to_string();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.size(1280, 900);
        Some(browser)
    }

    /// Calls a method of the protocol and waits for its result.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        self.to.write_all(message.to_string().as_bytes()).unwrap();
        self.to.write_all(&[0]).unwrap();
        self.to.flush().unwrap();
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.from.recv_timeout(left).unwrap_or_else(|e| panic!("{method}: {e}"));
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.note(message);
        }
    }

    fn note(&mut self, event: Value) {
        let parameters = &event["params"];
        match event["method"].as_str().unwrap_or("") {
            "Runtime.exceptionThrown" => {
                let details = &parameters["exceptionDetails"];
                let text = details["exception"]["description"].as_str().or(details["text"].as_str());
                self.complaints.push(text.unwrap_or("?").to_string());
            }
            "Runtime.consoleAPICalled"
                if matches!(parameters["type"].as_str(), Some("error" | "warning")) =>
            {
                self.complaints.push(format!("console: {}", parameters["args"]));
            }
            "Log.entryAdded" if parameters["entry"]["level"] == "error" => {
                let entry = &parameters["entry"];
                self.complaints.push(format!("{} {}", entry["text"], entry["url"]));
            }
            _ => {}
        }
    }

    /// The value of an expression in the page, awaited.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let wanted = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let result = self.call("Runtime.evaluate", wanted);
        let thrown = &result["exceptionDetails"];
        assert!(thrown.is_null(), "{expression}: {thrown}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) fn until(&mut self, expression: &str) {
        let end = Instant::now() + PATIENCE;
        while self.eval(&format!("Boolean({expression})")) != true {
            if Instant::now() > end {
                let text = self.eval("document.body.innerText.slice(0, 1500)");
                panic!("never: {expression}\n{}\n{:?}", text.as_str().unwrap_or(""), self.complaints);
            }
            std::thread::sleep(Duration::from_millis(25));
        }
    }

    /// Goes to an address and waits until its view is there.
    pub(crate) fn open(&mut self, url: &str) {
        // A hash alone would not load the page anew.
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.call("Page.navigate", json!({ "url": url }));
        self.until("document.getElementById('main')?.dataset.ready");
    }

    /// Sets the size of the window.
    pub(crate) fn size(&mut self, width: u32, height: u32) {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Prefers light or dark.
    pub(crate) fn scheme(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Presses a key, by its name.
    pub(crate) fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, None),
            "Enter" => (13, Some("\r")),
            "Space" => (32, Some(" ")),
            "ArrowLeft" => (37, None),
            "ArrowUp" => (38, None),
            "ArrowRight" => (39, None),
            "ArrowDown" => (40, None),
            other => (i64::from(other.to_uppercase().as_bytes()[0]), Some(other)),
        };
        let key = if key == "Space" { " " } else { key };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code });
            if let (Some(text), "keyDown") = (text, kind) {
                event["text"] = text.into();
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Types a text into what has the focus.
    pub(crate) fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// The page, or the window where `whole` is false, as PNG.
    pub(crate) fn picture(&mut self, file: &Path, whole: bool) {
        let taken = json!({ "format": "png", "captureBeyondViewport": whole });
        let data = self.call("Page.captureScreenshot", taken);
        std::fs::write(file, base64(data["data"].as_str().unwrap())).unwrap();
    }

    /// Fails where the page complained.
    pub(crate) fn content(&mut self) {
        // Events that are on their way.
        self.eval("new Promise((done) => setTimeout(done, 30))");
        assert!(self.complaints.is_empty(), "{:#?}", self.complaints);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.session.clear();
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.to.flush();
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end {
            match (self.process.try_wait(), self.from.recv_timeout(Duration::from_millis(50))) {
                (Ok(Some(_)), _) | (_, Err(RecvTimeoutError::Disconnected)) => break,
                _ => {}
            }
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Bytes from base64.
fn base64(text: &str) -> Vec<u8> {
    let (mut bytes, mut bits, mut count) = (Vec::with_capacity(text.len() * 3 / 4), 0u32, 0);
    for letter in text.bytes().filter(|&b| b != b'=') {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    bytes
}
