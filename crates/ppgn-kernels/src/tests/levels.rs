//! Runs the tests above again at every level that the machine supports, each in a separate process.

use crate::Level;

#[test]
fn tests_pass_at_every_level() {
    if std::env::var_os("PPGN_SIMD").is_some() {
        return;
    }
    for level in [Level::Portable, Level::Avx2, Level::Avx512] {
        if level > Level::best() {
            eprintln!("SKIPPED: this machine does not support {}", level.name());
            continue;
        }
        let run = std::process::Command::new(std::env::current_exe().unwrap())
            .env("PPGN_SIMD", level.name())
            .output()
            .unwrap();
        assert!(run.status.success(), "{}:\n{}", level.name(), String::from_utf8_lossy(&run.stdout));
    }
}
