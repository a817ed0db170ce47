//! Nothing outside of the two folders is readable, by whatever path or link.

use crate::http::{Server, train_into};
use ppgn_view::View;
use std::path::Path;

const SECRET: &str = "a secret that is nobody's business";

fn encoded(text: &str) -> String {
    text.bytes().map(|b| format!("%{b:02x}")).collect()
}

/// `home/runs/a` is a run, `home/data` the data folder, `home/secret` is outside of both.
fn home() -> (tempfile::TempDir, Server) {
    let home = tempfile::tempdir().unwrap();
    train_into(&home.path().join("runs/a"));
    train_into(&home.path().join("secret/run"));
    std::fs::create_dir_all(home.path().join("data")).unwrap();
    std::fs::write(home.path().join("secret/file.txt"), SECRET).unwrap();
    std::fs::write(home.path().join("secret/graphs.g6"), "Cl\n").unwrap();
    std::fs::write(home.path().join("runs/graphs.g6"), "Cl\nC~\n").unwrap();
    std::fs::write(home.path().join("data/more.g6"), "D~{\n").unwrap();
    let server = Server::start(View::new(home.path().join("runs"), home.path().join("data")));
    (home, server)
}

fn refused(server: &Server, target: &str) {
    let reply = server.get(target);
    assert!(matches!(reply.status, 400 | 403 | 404 | 422), "{target}: {} {}", reply.status, reply.body);
    assert!(!reply.body.contains(SECRET), "{target}");
}

#[test]
fn paths_do_not_leave() {
    let (home, server) = home();
    let secret = home.path().join("secret").display().to_string();
    let names = [
        "..",
        "../secret",
        "../secret/run",
        "a/../../secret/run",
        "./../secret/run",
        "/",
        "/etc/passwd",
        "//etc/passwd",
        "",
        "a/",
        "..\\secret\\run",
        "a\\..\\..\\secret",
        "%2e%2e/secret/run",
        "....//secret/run",
        "a/./../../secret/run",
        secret.as_str(),
    ];
    for name in names {
        for query in ["run?run=", "run/mistakes?run=", "network?run=", "sweep?folder="] {
            if name == "a/" && query != "sweep?folder=" {
                continue;
            }
            refused(&server, &format!("/api/{query}{}", encoded(name)));
        }
    }
    let files = [
        "../secret/graphs.g6",
        "../secret/file.txt",
        "/etc/passwd",
        "./../secret/graphs.g6",
        "a/../../secret/graphs.g6",
    ];
    let absolute = home.path().join("secret/graphs.g6").display().to_string();
    for file in
        files.into_iter().chain([absolute.as_str(), "/proc/self/environ", "/dev/zero", "file:///etc/passwd"])
    {
        refused(&server, &format!("/api/dataset?data={}", encoded(file)));
        refused(&server, &format!("/api/wl?a={0}&b={0}", encoded(&format!("{file}:0"))));
    }
    for target in [
        "/app/../Cargo.toml",
        "/app/%2e%2e%2fCargo.toml",
        "/app//etc/passwd",
        "/../../etc/passwd",
        "/app/..%5c..%5csecret",
    ] {
        refused(&server, target);
    }
    // What is inside is.
    assert_eq!(server.get("/api/run?run=a").status, 200);
    assert_eq!(server.get("/api/dataset?data=graphs.g6").json()["rows"]["nodes"], serde_json::json!([4, 4]));
    assert_eq!(server.get("/api/dataset?data=more.g6").json()["rows"]["nodes"], serde_json::json!([5]));
    let inside = home.path().join("runs/graphs.g6").canonicalize().unwrap().display().to_string();
    assert_eq!(server.get(&format!("/api/wl?a={0}%3A0&b={0}%3A1", encoded(&inside))).status, 200);
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out() {
    use std::os::unix::fs::symlink;
    let (home, server) = home();
    let runs = home.path().join("runs");
    let secret = home.path().join("secret");
    symlink(secret.join("run"), runs.join("linked")).unwrap();
    symlink(&secret, runs.join("folder")).unwrap();
    symlink(secret.join("graphs.g6"), runs.join("linked.g6")).unwrap();
    symlink(secret.join("graphs.g6"), home.path().join("data/linked.g6")).unwrap();
    for target in [
        "run?run=linked",
        "run?run=folder/run",
        "run/mistakes?run=linked",
        "dataset?data=linked.g6",
        "dataset?data=linked",
        "sweep?folder=folder",
    ] {
        refused(&server, &format!("/api/{target}"));
    }
    // A dataset of several files, one of them a link.
    std::fs::create_dir(runs.join("many")).unwrap();
    std::fs::write(runs.join("many/g1.edges"), "0 1\n").unwrap();
    assert_eq!(server.get("/api/dataset?data=many/").status, 200);
    std::fs::create_dir(runs.join("mixed")).unwrap();
    std::fs::write(runs.join("mixed/g1.edges"), "0 1\n").unwrap();
    symlink(secret.join("file.txt"), runs.join("mixed/g2.edges")).unwrap();
    refused(&server, "/api/dataset?data=mixed/");
    // Every file of a run that is read.
    let files = [
        "config.toml",
        "metrics.jsonl",
        "summary.json",
        "timing.jsonl",
        "best/model.safetensors",
        "checkpoint/model.safetensors",
    ];
    for (i, file) in files.iter().enumerate() {
        let run = runs.join(format!("b{i}"));
        train_into(&run);
        std::fs::remove_file(run.join(file)).unwrap();
        symlink(secret.join("file.txt"), run.join(file)).unwrap();
        refused(&server, &format!("/api/run?run=b{i}"));
        refused(&server, &format!("/api/run/mistakes?run=b{i}"));
    }
    // The list shows them as damaged, without a word of what the links lead to.
    let mut list = server.get("/api/runs");
    // The list is made anew now and then, not with every request.
    for _ in 0..100 {
        if list.body.contains(&format!("\"run\":\"b{}\"", files.len() - 1)) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        list = server.get("/api/runs");
    }
    assert!(!list.body.contains(SECRET) && list.body.contains("leads outside"), "{}", list.body);
    assert!(!list.body.contains("\"run\":\"linked\""));
    // Links that stay inside are fine.
    symlink(runs.join("a"), runs.join("same")).unwrap();
    assert_eq!(server.get("/api/run?run=same").status, 200);
}

#[test]
fn a_run_cannot_name_data_outside() {
    let (home, server) = home();
    let run = home.path().join("runs/b");
    train_into(&run);
    let file = run.join("config.toml");
    let outside = home.path().join("secret/graphs.g6");
    let text = std::fs::read_to_string(&file).unwrap();
    let data = text.lines().find(|line| line.starts_with("data = ")).unwrap().to_string();
    let text = text.replace(&data, &format!("data = {:?}", outside.display().to_string()));
    // Without its digest, as a forger would write it.
    let text: String =
        text.lines().filter(|line| !line.starts_with("# sha256")).map(|line| format!("{line}\n")).collect();
    std::fs::write(&file, text).unwrap();
    forget_digests(&run);
    refused(&server, "/api/run/mistakes?run=b");
    refused(&server, "/api/network?run=b");
}

/// Without a checkpoint nothing says that the settings were changed.
fn forget_digests(run: &Path) {
    std::fs::remove_dir_all(run.join("checkpoint")).unwrap();
}
