//! Memory and page faults of this process, as Linux reports them; unknown on other systems.

use std::fs::read_to_string;

/// Peak resident memory, in MiB.
pub(super) fn peak_rss_mb() -> Option<f64> {
    status("VmHWM:")
}

/// Resident memory now, in MiB.
pub(super) fn rss_mb() -> Option<f64> {
    status("VmRSS:")
}

fn status(name: &str) -> Option<f64> {
    let status = read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? / 1024.0)
}

/// Minor page faults since the start: pages that were mapped without reading from disk.
pub(super) fn minor_faults() -> Option<u64> {
    let stat = read_to_string("/proc/self/stat").ok()?;
    // The program's name, in parentheses, may contain anything; the tenth field is the eighth after it.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(7)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_faults_grow_with_use() {
        let (Some(peak), Some(faults)) = (peak_rss_mb(), minor_faults()) else {
            eprintln!("skipped: this system has no /proc/self");
            return;
        };
        let pages = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(peak_rss_mb().unwrap() >= peak.max(64.0), "{} bytes are there", pages.len());
        // Pages may be as large as 2 MiB.
        assert!(minor_faults().unwrap() >= faults + 16);
    }
}
