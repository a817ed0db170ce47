//! Downloads, against a server on 127.0.0.1 that does what real ones do on a bad day.

mod server;

use crate::support::shared;
use ppgn_graph::Error;
use ppgn_graph::fetch::{self, Fetched, GetOptions, Known, Progress, Remote, get_known};
use server::{Reply, Server};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// 200,000 bytes, different for every seed.
fn content(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let byte = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..200_000).map(byte).collect()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// A dataset in one file that is not an archive, of which nothing is known.
fn sample(urls: &[String]) -> Known {
    Known {
        name: "SAMPLE".into(),
        aliases: Vec::new(),
        about: "for tests".into(),
        source: "here".into(),
        file: Remote { place: "misc/sample.txt".into(), urls: urls.to_vec(), bytes: None, sha256: None },
        beside: Vec::new(),
        by_hand: "an abacus does as well".into(),
    }
}

/// The same with its length and hash known.
fn checked(urls: &[String], bytes: &[u8]) -> Known {
    let mut known = sample(urls);
    known.file.bytes = Some(bytes.len() as u64);
    known.file.sha256 = Some(sha256(bytes));
    known
}

/// A data folder, and options that do not wait.
struct Here {
    folder: TempDir,
    options: GetOptions,
}

impl Here {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = folder.path().join("data");
        let options = GetOptions { pause: Duration::from_millis(1), ..GetOptions::new(data_dir) };
        Here { folder, options }
    }

    fn target(&self) -> PathBuf {
        self.options.data_dir.join("misc").join("sample.txt")
    }

    fn part(&self) -> PathBuf {
        self.options.data_dir.join("misc").join("sample.txt.part")
    }

    fn get(&self, known: &Known) -> Result<Fetched, Error> {
        get_known(known, &self.options)
    }

    /// The text of the error that is expected.
    #[track_caller]
    fn fails(&self, known: &Known) -> String {
        let error = self.get(known).unwrap_err();
        assert!(matches!(error, Error::Fetch(_)), "{error:?}");
        assert!(!self.target().exists(), "a failed download left {:?}", self.target());
        error.to_string()
    }

    /// The download succeeds, and leaves the file and nothing else.
    #[track_caller]
    fn works(&self, known: &Known, wanted: &[u8]) -> Fetched {
        let fetched = self.get(known).unwrap();
        assert!(std::fs::read(self.target()).unwrap() == wanted, "the file is not what was served");
        assert_eq!((fetched.bytes, fetched.sha256.clone()), (wanted.len() as u64, Some(sha256(wanted))));
        assert_eq!(fetched.path, self.target());
        let left = std::fs::read_dir(self.target().parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "something is left beside the file");
        fetched
    }
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
}

#[test]
fn a_plain_download_with_progress() {
    let bytes = content(1);
    let body = bytes.clone();
    let server = Server::start(move |_, request| Reply::file(request, &body, None));
    let mut here = Here::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = seen.clone();
    here.options.progress = Progress::new(move |t| told.lock().unwrap().push((t.done, t.total)));
    let fetched = here.works(&checked(&[server.url("sample.txt")], &bytes), &bytes);
    assert!(!fetched.already_there && fetched.notes.is_empty());
    assert_eq!(fetched.tried.iter().map(|t| t.outcome.as_str()).collect::<Vec<_>>(), ["ok"]);
    let seen = seen.lock().unwrap();
    assert!(seen.is_sorted() && seen.len() > 2, "{seen:?}");
    assert_eq!((seen[0], *seen.last().unwrap()), ((0, Some(200_000)), (200_000, Some(200_000))));
    assert_eq!(server.requests()[0].header("accept-encoding"), Some("identity"));
}

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
        let facts = ["200000 bytes", &sha256(&bytes), "an abacus", "--from", &url, status];
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

/// An address on this machine where nobody listens.
fn nowhere() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/x", listener.local_addr().unwrap())
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
fn what_is_there_is_left_alone_unless_forced() {
    let bytes = content(20);
    let body = bytes.clone();
    let server = Server::start(move |_, request| Reply::file(request, &body, None));
    let mut here = Here::new();
    let known = checked(&[server.url("x")], &bytes);
    here.works(&known, &bytes);
    let again = here.works(&known, &bytes);
    assert!(again.already_there && again.tried.is_empty());
    assert_eq!(server.requests().len(), 1);
    here.options.force = true;
    assert!(!here.works(&known, &bytes).already_there);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn another_file_in_its_place_is_told_and_replaced_only_by_force() {
    let bytes = content(21);
    let body = bytes.clone();
    let server = Server::start(move |_, request| Reply::file(request, &body, None));
    let mut here = Here::new();
    let known = checked(&[server.url("x")], &bytes);
    std::fs::create_dir_all(here.target().parent().unwrap()).unwrap();
    let mut flipped = bytes.clone();
    flipped[100] ^= 1;
    for (wrong, word) in [(&b"short"[..], "5 bytes instead of 200000"), (&flipped, "SHA-256")] {
        std::fs::write(here.target(), wrong).unwrap();
        let error = here.get(&known).unwrap_err().to_string();
        has(&error, &[word, "--force", here.target().to_str().unwrap()]);
        assert_eq!(std::fs::read(here.target()).unwrap(), wrong);
    }
    assert_eq!(server.requests().len(), 0);
    here.options.force = true;
    here.works(&known, &bytes);
}

#[test]
fn a_failed_forced_download_leaves_the_old_file() {
    let server = Server::start(|_, _| Reply::new("404 Not Found", b""));
    let mut here = Here::new();
    std::fs::create_dir_all(here.target().parent().unwrap()).unwrap();
    std::fs::write(here.target(), b"old").unwrap();
    here.options.force = true;
    assert!(here.get(&sample(&[server.url("x")])).is_err());
    assert_eq!(std::fs::read(here.target()).unwrap(), b"old");
}

#[test]
fn the_dataset_in_another_form_is_there_already() {
    let here = Here::new();
    let folder = here.options.data_dir.join("tu").join("sample");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("sample_A.txt"), b"1, 2\n").unwrap();
    let fetched = here.get(&sample(&[nowhere()])).unwrap();
    assert_eq!((fetched.already_there, fetched.path, fetched.bytes), (true, folder, 5));
}

#[test]
fn an_empty_folder_or_a_collection_of_that_name_is_not_the_dataset() {
    let bytes = content(26);
    let body = bytes.clone();
    let server = Server::start(move |_, request| Reply::file(request, &body, None));
    let here = Here::new();
    std::fs::create_dir_all(here.options.data_dir.join("tu").join("SAMPLE")).unwrap();
    let collection = here.options.data_dir.join("sample");
    std::fs::create_dir_all(&collection).unwrap();
    for name in ["one.g6", "two.g6"] {
        std::fs::write(collection.join(name), b"A_\n").unwrap();
    }
    assert!(!here.works(&checked(&[server.url("x")], &bytes), &bytes).already_there);
}

#[test]
fn mirrors_are_files_or_bases() {
    let bytes = content(22);
    for (from, path) in [("some/where/", "/some/where/sample.txt"), ("other.bin", "/other.bin")] {
        let body = bytes.clone();
        let server = Server::start(move |_, request| Reply::file(request, &body, None));
        let mut here = Here::new();
        here.options.from = Some(server.url(from));
        here.works(&checked(&[nowhere()], &bytes), &bytes);
        assert_eq!(server.requests()[0].path, path);
    }
    let mut here = Here::new();
    here.options.from = Some("sample.txt".into());
    assert!(here.get(&sample(&[])).unwrap_err().is_call());
}

#[test]
fn files_beside_the_data_come_along_or_are_missed_aloud() {
    let bytes = content(23);
    let body = bytes.clone();
    let server = Server::start(move |_, request| match request.path.as_str() {
        "/gone" => Reply::new("404 Not Found", b""),
        "/list" | "/base/list.txt" => Reply::new("200 OK", b"1\n2\n"),
        _ => Reply::file(request, &body, None),
    });
    let with = |list: &str| {
        let mut known = checked(&[server.url("x")], &bytes);
        known.file.place = "sample.txt".into();
        let urls = vec![server.url(list)];
        known.beside.push(Remote { place: "extra/list.txt".into(), urls, bytes: None, sha256: None });
        known
    };
    let here = Here::new();
    let fetched = here.get(&with("gone")).unwrap();
    assert_eq!(fetched.notes.len(), 1);
    has(&fetched.notes[0], &["can be read without list.txt", "404", "list.txt"]);
    // The next call gets what was missing, from its own home or the mirror that has both.
    let fetched = here.get(&with("list")).unwrap();
    assert!(fetched.already_there && fetched.notes.is_empty());
    assert_eq!(std::fs::read(here.options.data_dir.join("extra/list.txt")).unwrap(), b"1\n2\n");
    for (from, wanted) in [("base/", "/base/list.txt"), ("one", "/list")] {
        let mut here = Here::new();
        here.options.from = Some(server.url(from));
        assert!(here.get(&with("list")).unwrap().notes.is_empty());
        assert_eq!(server.requests().last().unwrap().path, wanted);
    }
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

#[test]
fn a_part_that_another_writes_is_not_touched() {
    let bytes = content(24);
    let server = Server::start(|_, _| panic!("nobody should ask"));
    let here = Here::new();
    std::fs::create_dir_all(here.part().parent().unwrap()).unwrap();
    std::fs::write(here.part(), b"theirs").unwrap();
    let theirs = std::fs::File::open(here.part()).unwrap();
    theirs.lock().unwrap();
    let text = here.fails(&checked(&[server.url("x")], &bytes));
    has(&text, &["another process", "sample.txt.part"]);
    assert_eq!(std::fs::read(here.part()).unwrap(), b"theirs");
    assert!(server.requests().is_empty());
}

#[test]
fn many_at_once_end_with_one_good_file() {
    let bytes = content(25);
    let body = bytes.clone();
    let server = Server::start(move |_, request| Reply::file(request, &body, None));
    let here = Here::new();
    let known = checked(&[server.url("x")], &bytes);
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| here.get(&known))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(results.iter().any(Result::is_ok));
    for error in results.into_iter().filter_map(Result::err) {
        has(&error.to_string(), &["another process is downloading"]);
    }
    here.works(&known, &bytes);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_with_its_path() {
    let mut here = Here::new();
    let file = here.folder.path().join("a file");
    std::fs::write(&file, b"").unwrap();
    here.options.data_dir = file.join("data");
    let error = here.get(&sample(&[nowhere()])).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if path.starts_with(&file)), "{error:?}");

    let closed = here.folder.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    let mut permissions = std::fs::metadata(&closed).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&closed, permissions).unwrap();
    if std::fs::create_dir(closed.join("probe")).is_ok() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: a read-only folder is writable for this user (root?)");
        return;
    }
    here.options.data_dir = closed.join("data");
    let error = here.get(&sample(&[nowhere()])).unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if path.starts_with(&closed)), "{error:?}");
}

#[test]
fn a_name_that_is_not_known_is_a_wrong_call() {
    let error = fetch::get("nothing", &GetOptions::new("data")).unwrap_err();
    assert!(error.is_call());
    has(&error.to_string(), &["`nothing`", "MUTAG", "COLLAB", "QM9"]);
}

#[test]
fn the_registry_agrees_with_the_real_files() {
    let Some(data) = shared("") else { return };
    for known in fetch::known().iter().filter(|k| k.file.sha256.is_some()) {
        if let Some(path) = shared(&known.file.place) {
            let fetched = fetch::get(&known.name.to_lowercase(), &GetOptions::new(&data)).unwrap();
            assert!(fetched.already_there);
            assert_eq!((fetched.path, fetched.bytes), (path, known.file.bytes.unwrap()));
        }
    }
    for (name, place) in [("ENZYMES", "tu/ENZYMES"), ("QM9", "qm9/qm9_130831.npz")] {
        if let Some(path) = shared(place) {
            assert_eq!(fetch::get(name, &GetOptions::new(&data)).unwrap().path, path);
        }
    }
}
