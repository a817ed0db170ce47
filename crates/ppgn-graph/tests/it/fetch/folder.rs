//! Downloads and what is already in the data folder: files, other forms of the dataset, other processes.

use super::server::{Reply, Server};
use super::*;

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
        let error = here.get(&known).unwrap_err();
        assert_eq!(error.remedy(), Some(Remedy::Replace));
        has(&error.to_string(), &[word, here.target().to_str().unwrap()]);
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

/// What the registry does not know of a file is recorded at its first download and held against every later one.
#[test]
fn what_was_downloaded_once_is_checked_later() {
    let (first, other) = (content(31), content(32));
    let served = Arc::new(Mutex::new(first.clone()));
    let body = served.clone();
    let server = Server::start(move |_, request| Reply::file(request, &body.lock().unwrap(), None));
    let mut here = Here::new();
    let known = sample(&[server.url("sample.txt")]);
    here.works(&known, &first);
    let list = here.options.data_dir.join("downloads.sha256");
    let text = format!("# misc/sample.txt 200000 bytes\n{}  misc/sample.txt\n", sha256(&first));
    assert_eq!(std::fs::read_to_string(&list).unwrap(), text);
    // In place and the same; damaged; and again from a server that has something else by now.
    assert!(here.get(&known).unwrap().already_there);
    std::fs::write(here.target(), &other).unwrap();
    has(&here.get(&known).unwrap_err().to_string(), &[&sha256(&first), &sha256(&other)]);
    std::fs::remove_file(here.target()).unwrap();
    *served.lock().unwrap() = other.clone();
    has(&here.fails(&known), &[&sha256(&first)]);
    // Another version is accepted once the record is gone.
    here.options.force = true;
    std::fs::remove_file(&list).unwrap();
    here.works(&known, &other);
    assert!(std::fs::read_to_string(&list).unwrap().contains(&sha256(&other)));
}

#[test]
fn any_set_of_the_collection_has_a_home() {
    let aids = fetch::find("aids").unwrap();
    assert_eq!(aids.file.place, "tu/AIDS.zip");
    let server = Server::start(move |_, request| Reply::file(request, &aids_zip(), None));
    let here = Here::new();
    let options = GetOptions { from: Some(server.url("")), ..here.options.clone() };
    let fetched = fetch::get("AIDS", &options).unwrap();
    assert_eq!(fetched.path, here.options.data_dir.join("tu").join("AIDS.zip"));
    assert_eq!(server.requests()[0].path, "/AIDS.zip");
    let list = std::fs::read_to_string(here.options.data_dir.join("downloads.sha256")).unwrap();
    assert!(list.contains("tu/AIDS.zip"), "{list}");
    let locator = ppgn_graph::locate::Locator { data_dir: Some(options.data_dir), ..Default::default() };
    assert_eq!(locator.load("aids").unwrap().len(), 2);
}

/// A dataset of two graphs in the TU format.
fn aids_zip() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in [
        ("AIDS/AIDS_A.txt", "1, 2\n2, 1\n3, 4\n4, 3\n"),
        ("AIDS/AIDS_graph_indicator.txt", "1\n1\n2\n2\n"),
        ("AIDS/AIDS_graph_labels.txt", "0\n1\n"),
    ] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
