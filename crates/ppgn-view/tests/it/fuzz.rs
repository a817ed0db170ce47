//! Requests that nobody would send: random bytes, random targets, requests with errors in them. The server answers or closes the
//! connection, never with an error of its own, and is there afterwards.

use crate::http::{Server, train_into};
use ppgn_graph::random::Stream;
use ppgn_view::View;

const WHAT: [&str; 13] = [
    "runs",
    "run",
    "run/mistakes",
    "sweep",
    "network",
    "data",
    "dataset",
    "dataset/graph",
    "dataset/rows",
    "wl",
    "about",
    "runs/events/x",
    "",
];
const NAMES: [&str; 16] = [
    "run", "from", "reading", "after", "since", "set", "folder", "data", "graph", "output", "a", "b", "test",
    "labels", "token", "x",
];
const VALUES: [&str; 26] = [
    "a",
    "..",
    "/",
    "csl",
    "csl:3",
    "path:n=5",
    "figure1",
    "2-fwl",
    "1-wl",
    "9",
    "-1",
    "99999999999999999999",
    "",
    "%",
    "%zz",
    "%00",
    "%ff%fe",
    "g6:Cl",
    "g6:",
    "smiles:C",
    "smiles:[",
    "gnp:n=9999999",
    "a%2f..%2f..",
    "\u{fc}",
    "NaN",
    "test",
];

fn pick<'a>(random: &mut Stream, from: &[&'a str]) -> &'a str {
    from[random.below(from.len())]
}

/// A request that could almost be one.
fn request(random: &mut Stream, host: &str) -> Vec<u8> {
    let mut target = format!("/api/{}", pick(random, &WHAT));
    let count = random.below(4);
    for i in 0..count {
        let value = match random.below(4) {
            0 => (0..random.below(30)).map(|_| char::from(33 + random.below(94) as u8)).collect(),
            _ => pick(random, &VALUES).to_string(),
        };
        let value = value.replace(' ', "+").replace('#', "");
        target += &format!("{}{}={value}", if i == 0 { '?' } else { '&' }, pick(random, &NAMES));
    }
    let method = if random.below(12) == 0 { "POST" } else { "GET" };
    let mut bytes = format!("{method} {target} HTTP/1.1\r\n{host}Connection: close\r\n\r\n").into_bytes();
    // Sometimes a byte is changed, lost or doubled.
    for _ in 0..random.below(3) {
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes[at] = random.below(256) as u8,
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, bytes[at]),
            _ => {}
        }
    }
    bytes
}

#[test]
fn whatever_comes_is_answered_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    train_into(&folder.path().join("runs/a"));
    std::fs::write(folder.path().join("secret.g6"), "Cl\n").unwrap();
    let server = Server::start(View::new(folder.path().join("runs"), folder.path().join("data")));
    let host = server.host();
    let mut seen = std::collections::BTreeMap::new();
    for i in 0..600 {
        let mut random = Stream::new(7, "fuzz", &[i]);
        let bytes = match random.below(6) {
            0 => (0..random.below(300)).map(|_| random.below(256) as u8).collect(),
            _ => request(&mut random, &host),
        };
        // A request that never ends is closed by us.
        let mut bytes = bytes;
        bytes.extend_from_slice(b"\r\n\r\n");
        let reply = one(&server, &bytes);
        let text = String::from_utf8_lossy(&reply);
        if text.is_empty() {
            continue;
        }
        let status: u16 = text.split_whitespace().nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        assert!((200..500).contains(&status), "{status} for {:?}\n{text}", String::from_utf8_lossy(&bytes));
        assert!(!text.contains("panicked"), "{text}");
        *seen.entry(status).or_insert(0) += 1;
    }
    // It got through to the answers, and to the refusals.
    for status in [200, 400, 403, 404, 405, 422] {
        assert!(seen.contains_key(&status), "{seen:?}");
    }
    assert_eq!(server.get("/api/run?run=a").status, 200);
}

/// Sends bytes, closes its side, and reads what comes back.
fn one(server: &Server, bytes: &[u8]) -> Vec<u8> {
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpStream};
    let mut stream = TcpStream::connect(("127.0.0.1", server.address.port())).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(2))).unwrap();
    let _ = stream.write_all(bytes);
    let mut reply = vec![0; 1 << 16];
    // The head is enough, and event streams do not end.
    let read = stream.read(&mut reply).unwrap_or(0);
    reply.truncate(read);
    let _ = stream.shutdown(Shutdown::Both);
    reply
}
