//! Redirects and transfers that break: what has arrived is used again exactly when it belongs to the same file.

use super::server::{Reply, Server};
use super::*;

#[test]
fn redirects_are_followed_and_keep_the_range() {
    let bytes = content(2);
    let body = bytes.clone();
    let server = Server::start(move |number, request| match request.path.as_str() {
        "/start" => Reply::new("302 Found", b"elsewhere").with("Location", "/next/x"),
        "/next/x" => Reply::new("307 Temporary Redirect", b"").with("Location", "y?z=1"),
        "/next/y?z=1" if number == 2 => Reply::file(request, &body, Some("\"a\"")).cut(1000),
        "/next/y?z=1" => Reply::file(request, &body, Some("\"a\"")),
        other => panic!("{other}"),
    });
    Here::new().works(&checked(&[server.url("start")], &bytes), &bytes);
    assert_eq!(server.requests()[5].header("range"), Some("bytes=1000-"));
}

#[test]
fn redirects_in_a_circle_end() {
    let server = Server::start(|_, _| Reply::new("302 Found", b"").with("Location", "/again"));
    has(&Here::new().fails(&sample(&[server.url("x")])), &["redirect"]);
}

#[test]
fn a_cut_connection_resumes_by_itself() {
    let bytes = content(3);
    let body = bytes.clone();
    let server = Server::start(move |number, request| {
        let reply = Reply::file(request, &body, Some("\"v1\""));
        if number < 2 { reply.cut(70_000) } else { reply }
    });
    Here::new().works(&sample(&[server.url("x")]), &bytes);
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!((requests[0].header("range"), requests[0].header("if-range")), (None, None));
    assert_eq!(
        (requests[1].header("range"), requests[1].header("if-range")),
        (Some("bytes=70000-"), Some("\"v1\""))
    );
    assert_eq!(requests[2].header("range"), Some("bytes=140000-"));
}

#[test]
fn a_cut_connection_resumes_on_the_next_call() {
    let bytes = content(4);
    let body = bytes.clone();
    let date = "Sat, 15 Nov 2025 20:12:00 GMT";
    let server = Server::start(move |number, request| {
        // A weak tag cannot vouch for bytes; the date can.
        let reply =
            Reply::file(request, &body, Some(date)).with("ETag", "W/\"a\"").with("Last-Modified", date);
        if number == 0 { reply.cut(70_000) } else { reply }
    });
    let mut here = Here::new();
    here.options.retries = 0;
    let known = sample(&[server.url("x")]);
    has(&here.fails(&known), &["the connection ended after 70000 of 200000 bytes"]);
    assert_eq!(std::fs::metadata(here.part()).unwrap().len(), 70_000);
    here.works(&known, &bytes);
    let second = &server.requests()[1];
    assert_eq!((second.header("range"), second.header("if-range")), (Some("bytes=70000-"), Some(date)));
}

#[test]
fn a_server_that_knows_no_ranges_starts_over() {
    let bytes = content(5);
    let body = bytes.clone();
    let server = Server::start(move |number, _| {
        let reply = Reply::new("200 OK", &body).with("ETag", "\"v1\"");
        if number == 0 { reply.cut(70_000) } else { reply }
    });
    Here::new().works(&sample(&[server.url("x")]), &bytes);
    assert_eq!(server.requests()[1].header("range"), Some("bytes=70000-"));
}

#[test]
fn a_file_that_changed_on_the_server_starts_over() {
    let (old, new) = (content(6), content(7));
    let body = new.clone();
    let server = Server::start(move |number, request| match number {
        0 => Reply::file(request, &old, Some("\"v1\"")).cut(70_000),
        _ => Reply::file(request, &body, Some("\"v2\"")),
    });
    Here::new().works(&sample(&[server.url("x")]), &new);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn without_a_version_only_the_hash_allows_to_resume() {
    let bytes = content(8);
    for (hash, range) in [(false, None), (true, Some("bytes=70000-"))] {
        let body = bytes.clone();
        let server = Server::start(move |number, request| {
            let reply = Reply::file(request, &body, None);
            if number == 0 { reply.cut(70_000) } else { reply }
        });
        let url = [server.url("x")];
        Here::new().works(&if hash { checked(&url, &bytes) } else { sample(&url) }, &bytes);
        assert_eq!(server.requests()[1].header("range"), range);
    }
}

#[test]
fn a_beginning_of_another_file_is_found_out_by_the_hash() {
    let (old, new) = (content(9), content(10));
    let body = new.clone();
    let server = Server::start(move |number, request| match number {
        0 => Reply::file(request, &old, None).cut(70_000),
        _ => Reply::file(request, &body, None),
    });
    Here::new().works(&checked(&[server.url("x")], &new), &new);
    let ranges: Vec<_> = server.requests().iter().map(|r| r.header("range").is_some()).collect();
    assert_eq!(ranges, [false, true, false]);
}

#[test]
fn a_part_beyond_the_end_is_dropped_and_a_whole_one_only_renamed() {
    let bytes = content(11);
    let (body, full) = (bytes.clone(), bytes.clone());
    let server = Server::start(move |_, request| Reply::file(request, &body, Some("\"v1\"")));
    let known = checked(&[server.url("x")], &bytes);
    let place = |here: &Here, part: &[u8], total: &str| {
        std::fs::create_dir_all(here.part().parent().unwrap()).unwrap();
        std::fs::write(here.part(), part).unwrap();
        let notes =
            format!(r#"{{"url": {:?}, "validator": "\"v1\"", "total": {total}}}"#, known.file.urls[0]);
        std::fs::write(here.options.data_dir.join("misc/sample.txt.part.json"), notes).unwrap();
    };
    let here = Here::new();
    place(&here, &full, "200000");
    here.works(&known, &bytes);
    assert_eq!(server.requests().len(), 0, "all was here");

    // Nothing is known of the length: the server says that there is no more (416).
    let here = Here::new();
    place(&here, &full, "null");
    here.works(&sample(&known.file.urls), &bytes);
    assert_eq!(server.requests()[0].header("range"), Some("bytes=200000-"));

    let here = Here::new();
    place(&here, &[full.clone(), full].concat(), "null");
    here.works(&sample(&known.file.urls), &bytes);
    let ranges: Vec<_> = server.requests().iter().map(|r| r.header("range").map(str::to_string)).collect();
    assert_eq!(ranges[1..], [Some("bytes=400000-".to_string()), None]);
}
