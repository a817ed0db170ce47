//! Who may ask, and what every answer has.

use crate::http::{Server, train_into};
use ppgn_view::View;

fn server() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    train_into(&folder.path().join("runs/a"));
    let server = Server::start(View::new(folder.path().join("runs"), folder.path().join("data")));
    (folder, server)
}

#[test]
fn the_page_and_its_answers_are_sealed() {
    let (_folder, server) = server();
    let all =
        ["/", "/app/main.js", "/app/style.css", "/api/runs", "/api/run?run=a", "/nothing", "/api/nothing"];
    for target in all {
        let reply = server.get(target);
        assert_eq!(reply.status, if target.contains("nothing") { 404 } else { 200 }, "{target}");
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"), "{policy}");
        assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(reply.header(name), Some(value), "{target}");
        }
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    let page = server.get("/").body;
    assert!(page.contains("<script type=\"module\" src=\"app/main.js\"></script>"));
    assert_eq!(page.matches("<script").count(), 1);
    let run = server.get("/api/run?run=a").json();
    assert_eq!((run["state"].as_str(), run["epochs"].as_array().unwrap().len()), (Some("finished"), 3));
    let after = |reading: &str| server.get(&format!("/api/run?run=a&from=2&reading={reading}")).json();
    assert_eq!(after(run["reading"].as_str().unwrap())["epochs"].as_array().unwrap().len(), 1);
    // Whoever has epochs of another reading gets all.
    assert_eq!(after("other")["epochs"].as_array().unwrap().len(), 3);
}

#[test]
fn other_names_and_other_pages_are_refused() {
    let (_folder, server) = server();
    let port = server.address.port();
    let host = |name: &str| format!("Host: {name}\r\n");
    for name in [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")] {
        assert_eq!(server.ask("GET", "/api/runs", &host(&name)).status, 200, "{name}");
    }
    for name in [
        "evil.example".to_string(),
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost:{}", port.wrapping_add(1)),
        "localhost".into(),
        String::new(),
        format!("localhost:{port}@evil.example"),
    ] {
        assert!(matches!(server.ask("GET", "/api/runs", &host(&name)).status, 400 | 403), "{name}");
    }
    // Without a name, with two, or with another one in the target.
    assert_eq!(server.ask("GET", "/api/runs", "").status, 403);
    let two = format!("{}{}", host(&format!("localhost:{port}")), host("evil.example"));
    assert!(matches!(server.ask("GET", "/api/runs", &two).status, 400 | 403));
    assert_eq!(server.ask("GET", "http://evil.example/api/runs", &server.host()).status, 403);
    // Other pages, by what browsers say of them.
    for line in [
        "Origin: http://evil.example\r\n",
        "Origin: null\r\n",
        "Origin: http://localhost:1\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors\r\n",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n",
    ] {
        assert_eq!(server.ask("GET", "/api/runs", &(server.host() + line)).status, 403, "{line}");
    }
    let own = format!("{}Origin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\n", server.host());
    assert_eq!(server.ask("GET", "/api/runs", &own).status, 200);
    // A link from elsewhere may lead to the page, but not to its files.
    let linked = server.host() + "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n";
    assert_eq!(server.ask("GET", "/", &linked).status, 200);
    assert_eq!(server.ask("GET", "/app/main.js", &linked).status, 403);
}

#[test]
fn nothing_can_be_changed() {
    let (folder, server) = server();
    let names = |folder: &std::path::Path| -> Vec<_> {
        let mut all: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        all.sort();
        all.iter().map(|p| (p.clone(), std::fs::metadata(p).unwrap().modified().unwrap())).collect()
    };
    let before = names(&folder.path().join("runs/a"));
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "MKCOL"] {
        assert!(
            matches!(server.ask(method, "/api/runs", &server.host()).status, 400 | 403 | 405),
            "{method}"
        );
    }
    assert_eq!(server.ask("HEAD", "/api/runs", &server.host()).status, 200);
    for target in [
        "/api/runs",
        "/api/run?run=a",
        "/api/run/mistakes?run=a",
        "/api/network?run=a",
        "/api/sweep?folder=a",
    ] {
        server.get(target);
    }
    assert_eq!(before, names(&folder.path().join("runs/a")));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn beyond_loopback_the_token_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let view = View { host: Some("0.0.0.0".into()), ..View::new(folder.path(), folder.path()) };
    let server = Server::start(view);
    for target in
        ["/", "/app/main.js", "/api/runs", "/api/runs/events", "/api/runs?token=0", "/?token=", "/?token=00"]
    {
        assert_eq!(server.get(target).status, 401, "{target}");
    }
    let token = server.url.split_once("?token=").unwrap().1;
    let entered = server.get(&format!("/?token={token}"));
    assert_eq!((entered.status, entered.header("location")), (303, Some("/")));
    let cookie = entered.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = format!("{}Cookie: {}\r\n", server.host(), cookie.split(';').next().unwrap());
    assert_eq!(server.ask("GET", "/api/runs", &cookie).status, 200);
    // A token does not make up for a foreign name.
    let foreign = cookie.replace("127.0.0.1", "evil.example");
    assert_eq!(server.ask("GET", "/api/runs", &foreign).status, 403);
}

#[test]
fn computations_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(View::new(folder.path(), folder.path()));
    for (target, status) in [
        ("/api/wl?a=complete:n=500&b=complete:n=500&test=3-fwl", 413),
        ("/api/wl?a=complete:n=100000&b=path&test=1-wl", 413),
        ("/api/wl?a=hypercube:d=25&b=path&test=1-wl", 413),
        ("/api/wl?a=path&b=path&test=9-fwl", 413),
        ("/api/dataset?data=gnp:n=1000,p=1,count=100000", 413),
        ("/api/wl?a=path&b=path&test=0-wl", 422),
        ("/api/wl?a=g6:~~????&b=path&test=1-wl", 422),
        ("/api/wl?a=-&b=-", 400),
        ("/api/wl?a=path&b=star:n=3&test=2-fwl", 200),
        ("/api/wl?a=smiles:c1ccccc1&b=smiles:C1CCCCC1", 200),
        ("/api/wl?a=smiles:c1cccc&b=path", 422),
        ("/api/dataset?data=csl", 200),
        ("/api/dataset/graph?data=csl&graph=149", 200),
        ("/api/dataset/graph?data=csl&graph=150", 404),
    ] {
        let reply = server.get(target);
        assert_eq!(reply.status, status, "{target}: {}", reply.body);
    }
    let long = format!("/api/wl?a=g6:{}&b=path", "?".repeat(70_000));
    assert!(matches!(server.get(&long).status, 413 | 414 | 431));
}

#[test]
fn what_nobody_waits_for_ends() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(View::new(folder.path(), folder.path()));
    // Paths have many rounds: each of these takes until its time is up, half a minute, and two run at once. Their browsers leave;
    // were they not stopped, the next request would wait for minutes.
    let heavy = "/api/wl?a=path:n=440&b=path:n=440&test=2-fwl";
    for _ in 0..10 {
        use std::io::Write;
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", server.address.port())).unwrap();
        stream.write_all(format!("GET {heavy} HTTP/1.1\r\n{}\r\n", server.host()).as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        drop(stream);
    }
    let start = std::time::Instant::now();
    assert_eq!(server.get("/api/wl?a=path&b=path&test=1-wl").status, 200);
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
}
