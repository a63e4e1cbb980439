use std::fs;

use procfs_core::prelude::*;
use procfs_core::process::Stat;

/// A process and its descendants that have not lost their parents. Empty without `/proc`.
pub fn process_tree(root: u32) -> Vec<Stat> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut processes: Vec<Stat> =
        pids.filter_map(|pid| Stat::from_file(format!("/proc/{pid}/stat")).ok()).collect();
    let mut found = vec![root.cast_signed()];
    let mut place = 0;
    while let Some(parent) = found.get(place).copied() {
        found.extend(processes.iter().filter(|process| process.ppid == parent).map(|process| process.pid));
        place += 1;
    }
    processes.retain(|process| found.contains(&process.pid));
    processes
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn own_process_is_found() {
        let tree = process_tree(std::process::id());
        assert!(tree.iter().any(|process| process.pid.cast_unsigned() == std::process::id()), "{tree:?}");
    }
}
