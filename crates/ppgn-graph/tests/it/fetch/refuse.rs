//! What a server sends that is not the file, and servers that fail: each is refused with a reason that helps.

use super::server::{Reply, Server};
use super::*;

#[test]
fn a_wrong_length_is_refused() {
    let bytes = content(12);
    for (there, told, word) in [
        (150_000, true, "wrong length: 150000 bytes there, 200000 wanted"),
        (250_000, true, "wrong length: 250000 bytes there, 200000 wanted"),
        (150_000, false, "the server ended after 150000 of 200000 bytes (tried 3 times)"),
        (250_000, false, "too long: the server sends more than 200000 bytes"),
    ] {
        let body: Vec<u8> = bytes.iter().cycle().take(there).copied().collect();
        let server = Server::start(move |_, request| {
            let reply = Reply::file(request, &body, None);
            // Without a length, a server that is asked for the rest has none.
            let reply = if request.header("range").is_some() { Reply::new("200 OK", &body) } else { reply };
            if told { reply } else { reply.without_length() }
        });
        let mut here = Here::new();
        here.options.retries = 2;
        has(&here.fails(&checked(&[server.url("x")], &bytes)), &[word]);
        assert_eq!(server.requests().len(), if word.contains("tried") { 3 } else { 1 });
    }
}

#[test]
fn a_body_that_always_breaks_is_given_up() {
    let bytes = content(13);
    let body = bytes.clone();
    let server = Server::start(move |_, _| Reply::new("200 OK", &body).cut(50_000));
    let mut here = Here::new();
    here.options.retries = 1;
    has(&here.fails(&sample(&[server.url("x")])), &["after 50000 of 200000 bytes (tried 2 times)"]);
}

#[test]
fn a_wrong_checksum_is_refused_and_nothing_kept() {
    let (wanted, other) = (content(14), content(15));
    let body = other.clone();
    let server = Server::start(move |_, request| Reply::file(request, &body, Some("\"v1\"")));
    let mut here = Here::new();
    let known = checked(&[server.url("x")], &wanted);
    has(&here.fails(&known), &["wrong checksum", &sha256(&wanted), &sha256(&other)]);
    assert!(!here.part().exists());
    assert_eq!(server.requests().len(), 1);
    // A mirror does not make it right.
    here.options.from = Some(server.url("mirror"));
    has(&here.fails(&known), &["/mirror: wrong checksum"]);
}

#[test]
fn not_found_is_not_tried_again_and_the_error_tells_what_to_do() {
    let bytes = content(16);
    for status in ["404 Not Found", "403 Forbidden", "410 Gone"] {
        let server = Server::start(move |_, _| Reply::new(status, b"sorry"));
        let here = Here::new();
        let url = server.url("x");
        let text = here.fails(&checked(std::slice::from_ref(&url), &bytes));
        let target = here.target();
        let facts = ["200000 bytes", &sha256(&bytes), "an abacus", &url, status];
        has(&text, &facts);
        has(&text, &[target.to_str().unwrap()]);
        assert_eq!(server.requests().len(), 1);
        assert!(!here.part().exists());
    }
}

#[test]
fn trouble_on_the_server_is_tried_again() {
    let bytes = content(17);
    let body = bytes.clone();
    let server = Server::start(move |number, request| match number {
        0 => Reply::new("500 Internal Server Error", b"oh"),
        1 => Reply::new("503 Service Unavailable", b"dear"),
        2 => Reply::new("429 Too Many Requests", b""),
        _ => Reply::file(request, &body, None),
    });
    Here::new().works(&sample(&[server.url("x")]), &bytes);

    let server = Server::start(|_, _| Reply::new("500 Internal Server Error", b"oh"));
    has(&Here::new().fails(&sample(&[server.url("x")])), &["500 Internal Server Error (tried 5 times)"]);
    assert_eq!(server.requests().len(), 5);
}

#[test]
fn a_refused_connection_is_told_at_once() {
    let here = Here::new();
    let url = nowhere();
    let start = Instant::now();
    has(&here.fails(&sample(std::slice::from_ref(&url))), &[&url, "cannot connect", "refused"]);
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn the_next_address_is_tried_and_all_are_told() {
    let bytes = content(18);
    let body = bytes.clone();
    let server = Server::start(move |_, request| match request.path.as_str() {
        "/good" => Reply::file(request, &body, None),
        _ => Reply::new("404 Not Found", b""),
    });
    let urls = [nowhere(), server.url("bad"), server.url("good")];
    let fetched = Here::new().works(&checked(&urls, &bytes), &bytes);
    let tried: Vec<_> = fetched.tried.iter().map(|t| t.url.clone()).collect();
    assert_eq!(tried, urls);
    assert_eq!(fetched.tried[1].outcome, "404 Not Found");
    has(&Here::new().fails(&sample(&urls[..2])), &[&urls[0], "refused", &urls[1], "404 Not Found"]);
}

#[test]
fn what_one_address_began_another_completes_if_the_hash_is_known() {
    let bytes = content(19);
    let body = bytes.clone();
    let server = Server::start(move |_, request| match request.path.as_str() {
        "/a" => Reply::file(request, &body, Some("\"a\"")).cut(70_000),
        _ => Reply::file(request, &body, Some("\"b\"")),
    });
    let mut here = Here::new();
    here.options.retries = 0;
    here.works(&checked(&[server.url("a"), server.url("b")], &bytes), &bytes);
    let second = &server.requests()[1];
    assert_eq!((second.header("range"), second.header("if-range")), (Some("bytes=70000-"), None));
}

#[test]
fn a_server_that_never_ends_is_cut() {
    let server =
        Server::start(|_, _| Reply::new("200 OK", &[7; 10_000]).without_length().forever(Duration::ZERO));
    let mut here = Here::new();
    here.options.max_bytes = 1_000_000;
    has(&here.fails(&sample(&[server.url("x")])), &["too long: the server sends more than 1000000 bytes"]);
    assert!(!here.part().exists());

    let server = Server::start(|_, _| Reply::new("200 OK", b"").claim(2_000_000));
    has(&here.fails(&sample(&[server.url("x")])), &["too long: 2000000 bytes, at most 1000000 are taken"]);
}

#[test]
fn a_server_that_trickles_or_falls_silent_is_left() {
    let mut here = Here::new();
    here.options.retries = 1;
    here.options.read_timeout = Duration::from_millis(400);
    let start = Instant::now();
    let server =
        Server::start(|_, _| Reply::new("200 OK", b"x").claim(1_000_000).forever(Duration::from_millis(20)));
    let text = here.fails(&sample(&[server.url("x")]));
    // On a machine that is busy enough, the trickle may itself pause for too long.
    assert!(text.contains("too slow") || text.contains("silent"), "{text}");
    let server = Server::start(|_, _| Reply::new("200 OK", b"x").silent_for(Duration::from_secs(30)));
    has(&here.fails(&sample(&[server.url("x")])), &["silent"]);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn a_page_is_no_archive_and_half_an_archive_neither() {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("a", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(&[1; 100]).unwrap();
    let whole = zip.finish().unwrap().into_inner();
    for (body, good) in [(&b"<!DOCTYPE html><p>Log in</p>"[..], false), (&whole[..30], false), (&whole, true)]
    {
        let served = body.to_vec();
        let server = Server::start(move |_, _| Reply::new("200 OK", &served).without_length());
        let here = Here::new();
        let mut known = sample(&[server.url("x")]);
        known.file.place = "sample.zip".into();
        match (here.get(&known), good) {
            (Ok(_), true) => {}
            (Err(error), false) => has(&error.to_string(), &["not a whole zip archive"]),
            (other, _) => panic!("{other:?}"),
        }
    }
}
