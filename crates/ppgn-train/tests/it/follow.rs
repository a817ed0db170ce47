//! A run that is followed shows at every look what a look from scratch shows, whatever happens to its files.

use crate::resume::settings;
use ppgn_train::{Epoch, Event, Follower, Keep, Overview, Run, Session, train};
use std::path::Path;

/// All epochs, and how often they came from the first.
#[derive(Debug, Default)]
struct All {
    epochs: Vec<Epoch>,
    lines: Vec<String>,
    cleared: usize,
}

impl Keep for All {
    fn clear(&mut self) {
        self.epochs.clear();
        self.lines.clear();
        self.cleared += 1;
    }

    fn add(&mut self, epoch: &Epoch, line: &str) {
        self.epochs.push(epoch.clone());
        self.lines.push(line.into());
    }
}

/// Looks, and compares with a look from scratch.
fn same(follower: &mut Follower<All>, path: &Path) {
    match (follower.look(), Overview::with_epochs(path)) {
        (Ok(seen), Ok((fresh, epochs))) => {
            assert_eq!(
                (&seen.settings, seen.status, seen.epochs),
                (&fresh.settings, fresh.status, fresh.epochs)
            );
            assert_eq!((&seen.best, &seen.summary), (&fresh.best, &fresh.summary));
            assert!((seen.seconds - fresh.seconds).abs() < 1e-9);
            assert_eq!(follower.kept().epochs, epochs);
            let text = std::fs::read_to_string(path.join("metrics.jsonl")).unwrap_or_default();
            assert!(text.lines().zip(&follower.kept().lines).all(|(a, b)| a == b));
        }
        (Err(seen), Err(fresh)) => assert_eq!(seen.to_string(), fresh.to_string()),
        (seen, fresh) => panic!("{seen:?}\n{fresh:?}"),
    }
}

#[test]
fn a_look_reads_what_is_new_and_sees_what_a_fresh_one_sees() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let (data, config) = settings(6);
    let mut follower = Follower::new(&path, All::default());
    assert!(follower.look().is_err());
    let run = Run::create(&path, config.clone()).unwrap();
    same(&mut follower, &path);
    // After every step of a training that is stopped after three epochs, and of the rest.
    let mut epochs = 0;
    train(&Session::default(), &run, &data, &mut |event| {
        same(&mut follower, &path);
        epochs += usize::from(matches!(event, Event::Epoch { .. }));
        epochs < 3
    })
    .unwrap();
    assert_eq!(follower.kept().epochs.len(), 3);
    let cleared = follower.kept().cleared;
    let saved = folder.path().join("saved");
    copy(&path, &saved);
    train(&Session::default(), &run, &data, &mut |_| {
        same(&mut follower, &path);
        true
    })
    .unwrap();
    drop(run);
    same(&mut follower, &path);
    // Nothing was read twice.
    assert_eq!((follower.kept().epochs.len(), follower.kept().cleared), (6, cleared));
    // The run goes back to an earlier state, and is replaced by another one that has more epochs than were known.
    std::fs::remove_dir_all(&path).unwrap();
    copy(&saved, &path);
    same(&mut follower, &path);
    assert_eq!((follower.kept().epochs.len(), follower.kept().cleared), (3, cleared + 1));
    std::fs::remove_dir_all(&path).unwrap();
    let run = Run::create(
        &path,
        ppgn_train::Settings {
            training: ppgn_train::Training { seed: 7, ..config.training.clone() },
            ..config
        },
    )
    .unwrap();
    train(&Session::default(), &run, &data, &mut |_| true).unwrap();
    drop(run);
    same(&mut follower, &path);
    assert_eq!(follower.kept().epochs.len(), 6);
    assert!(follower.kept().cleared > cleared + 1);
}

#[test]
fn damage_is_reported_as_by_a_fresh_look_and_forgotten_when_it_is_undone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let (data, config) = settings(3);
    let run = Run::create(&path, config).unwrap();
    train(&Session::default(), &run, &data, &mut |_| true).unwrap();
    drop(run);
    let mut follower = Follower::new(&path, All::default());
    same(&mut follower, &path);
    for name in
        ["metrics.jsonl", "config.toml", "summary.json", "checkpoint/model.safetensors", "timing.jsonl"]
    {
        let file = path.join(name);
        let whole = std::fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&whole).replacen("0.", "1.", 1).into_bytes();
        for bytes in [&whole[..whole.len() / 2], &text[..], b"", b"\xff\n\n"] {
            // Some file systems have times of a few milliseconds.
            std::thread::sleep(std::time::Duration::from_millis(20));
            std::fs::write(&file, bytes).unwrap();
            same(&mut follower, &path);
            // In place, as an editor does it.
            std::thread::sleep(std::time::Duration::from_millis(20));
            std::fs::write(&file, &whole).unwrap();
            same(&mut follower, &path);
        }
        std::fs::remove_file(&file).unwrap();
        same(&mut follower, &path);
        std::fs::write(&file, &whole).unwrap();
        same(&mut follower, &path);
        assert_eq!(follower.kept().epochs.len(), 3);
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}
