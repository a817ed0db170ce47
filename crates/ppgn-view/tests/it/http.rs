//! A server in this process, and requests of plain bytes.

use ppgn_graph::locate::Locator;
use ppgn_nn::BlockConfig;
use ppgn_train::{Division, Overrides, Request, Run, Session, Settings, train};
use ppgn_view::{View, serve};
use ppgn_wl::Interrupt;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

/// A server that ends with the test.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) url: String,
    interrupt: Interrupt,
    thread: Option<JoinHandle<()>>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let pairs = self.head.lines().filter_map(|line| line.split_once(':'));
        pairs.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

impl Server {
    pub(crate) fn start(view: View) -> Self {
        let interrupt = Interrupt::default();
        let (sender, receiver) = channel();
        let until = interrupt.clone();
        let view = View { port: Some(0), ..view };
        let thread = std::thread::spawn(move || {
            serve(&view, &until, |served| sender.send(served.clone()).unwrap()).unwrap();
        });
        let served = receiver.recv().unwrap();
        Server { address: served.address, url: served.url, interrupt, thread: Some(thread) }
    }

    /// Sends bytes and reads until the other side closes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.address.port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
        let _ = stream.write_all(bytes);
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        reply
    }

    /// A request with these header lines, Host included.
    pub(crate) fn ask(&self, method: &str, target: &str, headers: &str) -> Reply {
        let request = format!("{method} {target} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
        let bytes = self.raw(request.as_bytes());
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split_whitespace().nth(1).and_then(|s| s.parse().ok());
        let status = status.unwrap_or_else(|| panic!("{target}: no answer: {text:?}"));
        Reply { status, head: head.into(), body: body.into() }
    }

    pub(crate) fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}\r\n", self.address.port())
    }

    pub(crate) fn get(&self, target: &str) -> Reply {
        self.ask("GET", target, &self.host())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.interrupt.set();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Trains a small run in a folder.
pub(crate) fn train_into(path: &Path) {
    let spec = "csl:n=11,skips=2+3,copies=6";
    let data = Locator::default().load(spec).unwrap();
    let overrides =
        Overrides { epochs: Some(3), blocks: Some(vec![BlockConfig::new(6); 2]), ..Overrides::default() };
    let division = Division::Shares([0.5, 0.25, 0.25]);
    let request = Request { overrides, division, ..Request::new(spec, &data) };
    let settings = Settings::resolve(&request).unwrap();
    let run = Run::create(path, settings).unwrap();
    train(&Session::default(), &run, &data, &mut |_| true).unwrap();
}
