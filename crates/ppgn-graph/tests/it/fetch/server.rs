//! A small HTTP server on 127.0.0.1 that misbehaves on request.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) path: String,
    headers: BTreeMap<String, String>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// `N` of `Range: bytes=N-`.
    fn from(&self) -> Option<usize> {
        self.header("range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
    }
}

/// What the server does with a request.
#[derive(Debug, Clone, Default)]
pub(super) struct Reply {
    status: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// The length to declare; none for a body that ends with the connection.
    length: Option<usize>,
    /// Close the connection after so many bytes of the body.
    cut: Option<usize>,
    /// Send the body over and over, with this pause in between, until the client has had enough.
    forever: Option<Duration>,
    /// Wait before the body.
    silence: Duration,
}

impl Reply {
    pub(super) fn new(status: &'static str, body: &[u8]) -> Self {
        Reply { status, body: body.to_vec(), length: Some(body.len()), ..Reply::default() }
    }

    /// A file as a good server gives it: whole, or the rest that was asked for of the same version.
    pub(super) fn file(request: &Request, content: &[u8], etag: Option<&str>) -> Self {
        let same = request.header("if-range").is_none_or(|validator| Some(validator) == etag);
        let total = content.len();
        let mut reply = match request.from().filter(|_| same) {
            None => Reply::new("200 OK", content),
            Some(from) if from >= total => {
                Reply::new("416 Range Not Satisfiable", b"").with("Content-Range", format!("bytes */{total}"))
            }
            Some(from) => Reply::new("206 Partial Content", &content[from..])
                .with("Content-Range", format!("bytes {from}-{}/{total}", total - 1)),
        };
        reply.headers.extend(etag.map(|tag| ("ETag", tag.to_string())));
        reply
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Declares this length, whatever is sent.
    pub(super) fn claim(mut self, length: usize) -> Self {
        self.length = Some(length);
        self
    }

    pub(super) fn without_length(mut self) -> Self {
        self.length = None;
        self
    }

    pub(super) fn cut(mut self, bytes: usize) -> Self {
        self.cut = Some(bytes);
        self
    }

    pub(super) fn forever(mut self, pause: Duration) -> Self {
        self.forever = Some(pause);
        self
    }

    pub(super) fn silent_for(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }
}

type Handler = dyn Fn(usize, &Request) -> Reply + Send + Sync;

/// Answers until it is dropped. The handler is given the number of the request, from 0.
pub(super) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(super) fn start(handler: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let handler: Arc<Handler> = Arc::new(handler);
        let (seen, halt) = (requests.clone(), stop.clone());
        let thread = std::thread::spawn(move || {
            let mut clients = Vec::new();
            for stream in listener.incoming().flatten() {
                if halt.load(Ordering::SeqCst) {
                    break;
                }
                let (handler, seen, halt) = (handler.clone(), seen.clone(), halt.clone());
                clients.push(std::thread::spawn(move || {
                    // A client that goes away in the middle is part of the tests.
                    let _ = serve(stream, &*handler, &seen, &halt);
                }));
            }
            clients.into_iter().for_each(|client| client.join().unwrap());
        });
        Server { address, requests, stop, thread: Some(thread) }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the server panicked");
        }
    }
}

fn serve(
    mut stream: TcpStream,
    handler: &Handler,
    seen: &Mutex<Vec<Request>>,
    halt: &AtomicBool,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.set_write_timeout(Some(Duration::from_secs(10)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let Some(path) = line.split(' ').nth(1).map(str::to_string) else { return Ok(()) };
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.insert(name.to_ascii_lowercase(), value.trim().to_string());
        }
    }
    let request = Request { path, headers };
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(request.clone());
        seen.len() - 1
    };
    let reply = handler(number, &request);
    write!(stream, "HTTP/1.1 {}\r\nConnection: close\r\n", reply.status)?;
    for (name, value) in &reply.headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    if let Some(length) = reply.length {
        write!(stream, "Content-Length: {length}\r\n")?;
    }
    stream.write_all(b"\r\n")?;
    nap(reply.silence, halt);
    stream.write_all(&reply.body[..reply.cut.unwrap_or(reply.body.len())])?;
    while let Some(pause) = reply.forever.filter(|_| !halt.load(Ordering::SeqCst)) {
        std::thread::sleep(pause);
        stream.write_all(&reply.body)?;
    }
    stream.flush()
}

/// Sleeps, but not beyond the end of the test.
fn nap(time: Duration, halt: &AtomicBool) {
    let end = std::time::Instant::now() + time;
    while std::time::Instant::now() < end && !halt.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(5).min(time));
    }
}
