//! Trains a preset on a dataset and prints its figures.
use ppgn_graph::locate::Locator;
use ppgn_train::*;
fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    let data = Locator::default().load(&a[0]).unwrap();
    let overrides = Overrides::from_toml(&a.get(3).cloned().unwrap_or_default(), "args").unwrap();
    let seed: u64 = a.get(2).map_or(0, |s| s.parse().unwrap());
    let overrides = Overrides { seed: Some(seed), ..overrides };
    let division = match a.get(1).map(|s| s.as_str()) { Some("fold") => Division::Fold(1), _ => Division::Shares([0.8, 0.1, 0.1]) };
    let s = Settings::resolve(&a[0], &data, None, "small", &overrides, division, &[]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let run = Run::create(dir.path().join("r"), s).unwrap();
    let t = std::time::Instant::now();
    train(&run, &data, &mut |e| { if let Event::Epoch { epoch, seconds, .. } = e { if epoch.epoch % 5 == 0 || epoch.epoch < 4 { println!("{:3} loss {:.4} train {:?} val {:?} test {:?} {:.2}s", epoch.epoch, epoch.train.loss, epoch.train.accuracy, epoch.validation.as_ref().and_then(|p| p.accuracy), epoch.test.as_ref().and_then(|p| p.accuracy), seconds); } } true }).unwrap();
    println!("{:?}", t.elapsed());
}
