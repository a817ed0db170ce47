//! The memory that this process can still use: what the machine has available, and what its control groups allow. Large
//! jobs compare their estimate with it before they allocate, because a container is killed without a message.

use std::path::Path;

/// The available memory in bytes: the smallest of `MemAvailable` and what is left under every limit of the process's
/// control groups (v1 and v2) up to the root. `None` where the system does not say (outside Linux).
///
/// ```
/// if let Some(bytes) = ppgn_graph::memory::available() {
///     println!("{} MiB available", bytes >> 20);
/// }
/// ```
pub fn available() -> Option<u64> {
    available_under(Path::new("/"))
}

/// The same with `proc` and `sys` looked up below `root`.
pub fn available_under(root: &Path) -> Option<u64> {
    let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().flat_map(|line| {
        // hierarchy-ID:controllers:path, where v2 has the ID 0 and no controllers.
        let mut fields = line.splitn(3, ':');
        let (id, controllers, path) =
            (fields.next(), fields.next().unwrap_or(""), fields.next().unwrap_or(""));
        let mounts: &[&str] = match (id, controllers) {
            (Some("0"), "") => &["sys/fs/cgroup", "sys/fs/cgroup/unified"],
            (_, list) if list.split(',').any(|c| c == "memory") => &["sys/fs/cgroup/memory"],
            _ => &[],
        };
        let version = if controllers.is_empty() { &V2 } else { &V1 };
        mounts.iter().filter_map(|mount| left_in_groups(&root.join(mount), path, version)).collect::<Vec<_>>()
    });
    limits.chain(machine(root)).min()
}

fn machine(root: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The files of a version of control groups.
struct Version {
    limit: &'static str,
    usage: &'static str,
    /// The key in `memory.stat` of file pages that the kernel can drop, which count as used.
    cache: &'static str,
}

const V1: Version =
    Version { limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes", cache: "total_inactive_file" };
const V2: Version = Version { limit: "memory.max", usage: "memory.current", cache: "inactive_file" };

/// The smallest amount that is left in a group and those above it. A group that cannot be seen, as the host's path from
/// inside a container, has no files here; the mount itself then is the container's group.
fn left_in_groups(mount: &Path, path: &str, version: &Version) -> Option<u64> {
    let group = mount.join(path.trim_start_matches('/'));
    group.ancestors().take_while(|folder| folder.starts_with(mount)).filter_map(|g| left(g, version)).min()
}

fn left(group: &Path, version: &Version) -> Option<u64> {
    let number = |file: &str| std::fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
    // `max` is not a number: there is no limit here.
    let limit = number(version.limit)?;
    let stat = std::fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let cache = stat.lines().find_map(|line| line.strip_prefix(version.cache)?.trim().parse::<u64>().ok());
    let used = number(version.usage).unwrap_or(0).saturating_sub(cache.unwrap_or(0));
    Some(limit.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal:  9000 kB\nMemAvailable:   8000 kB\n");

    fn tree(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        available_under(root.path())
    }

    #[test]
    fn the_machine_without_groups() {
        assert_eq!(tree(&[]), None);
        assert_eq!(tree(&[MEMINFO]), Some(8000 * 1024));
        assert_eq!(tree(&[MEMINFO, ("proc/self/cgroup", "garbage\n0::\n::::\n")]), Some(8000 * 1024));
    }

    #[test]
    fn the_smallest_limit_up_the_path_counts_in_version_2() {
        let groups = ("proc/self/cgroup", "0::/a.slice/b.scope\n");
        let leaf = ("sys/fs/cgroup/a.slice/b.scope/memory.max", "max\n");
        let above = ("sys/fs/cgroup/a.slice/memory.max", "5000000\n");
        assert_eq!(tree(&[MEMINFO, groups, leaf, above]), Some(5_000_000));
        let used = ("sys/fs/cgroup/a.slice/memory.current", "4000000\n");
        assert_eq!(tree(&[MEMINFO, groups, leaf, above, used]), Some(1_000_000));
        let cache = ("sys/fs/cgroup/a.slice/memory.stat", "anon 1\ninactive_file 500000\n");
        assert_eq!(tree(&[MEMINFO, groups, leaf, above, used, cache]), Some(1_500_000));
    }

    #[test]
    fn version_1_and_paths_of_the_host() {
        let groups = ("proc/self/cgroup", "7:cpu,memory:/docker/abc\n3:pids:/docker/abc\n0::/docker/abc\n");
        // Inside the container the group is the mount itself.
        let limit = ("sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000\n");
        let used = ("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n");
        assert_eq!(tree(&[MEMINFO, groups, limit, used]), Some(2_000_000));
        let none = ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(tree(&[MEMINFO, groups, none]), Some(8000 * 1024));
        let over = ("sys/fs/cgroup/memory/memory.usage_in_bytes", "4000000\n");
        assert_eq!(tree(&[MEMINFO, groups, limit, over]), Some(0));
    }
}
