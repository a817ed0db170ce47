//! Runs the tests above again at every level that the machine supports, each in a separate process.

use crate::Level;

#[test]
fn every_level_passes() {
    if std::env::var_os("PPGN_SIMD").is_some() {
        return;
    }
    for level in [Level::Portable, Level::Avx2, Level::Avx512] {
        if level > Level::best() {
            eprintln!("SKIPPED: this machine has no {}", level.name());
            continue;
        }
        let run = std::process::Command::new(std::env::current_exe().unwrap())
            .env("PPGN_SIMD", level.name())
            .output()
            .unwrap();
        assert!(run.status.success(), "{}:\n{}", level.name(), String::from_utf8_lossy(&run.stdout));
    }
}
