use std::fs;
use std::time::Duration;

use super::ticks;

/// A process with its parent and the processor time of itself and of its children that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProcessUse {
    pid: u32,
    parent: u32,
    used: Duration,
}

/// A process and its descendants that have not lost their parents, each with the processor time that it and its ended
/// children used. Empty without `/proc`.
pub fn process_tree(root: u32) -> Vec<(u32, Duration)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let read = |pid: u32| parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?);
    let mut processes: Vec<ProcessUse> = pids.filter_map(read).collect();
    let mut found = vec![root];
    let mut place = 0;
    while let Some(parent) = found.get(place).copied() {
        found.extend(processes.iter().filter(|process| process.parent == parent).map(|process| process.pid));
        place += 1;
    }
    processes.retain(|process| found.contains(&process.pid));
    processes.iter().map(|process| (process.pid, process.used)).collect()
}

/// Parses `pid (name) state ppid …`. The name can contain anything.
fn parse(pid: u32, stat: &str) -> Option<ProcessUse> {
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field)?.parse::<u64>().ok();
    // Times of ended children can be negative after an overflow.
    let used = [11, 12, 13, 14].into_iter().filter_map(number).sum();
    Some(ProcessUse { pid, parent: u32::try_from(number(1)?).ok()?, used: ticks(used) })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("7 (sh) S 1 2 3 0 0 0 0 0 0 0 5 6 7 8 0", Some((1, 26)))]
    #[case("7 (a) b (c) S 3 2 3 0 0 0 0 0 0 0 5 6 -1 8 0", Some((3, 19)))]
    #[case("7 (sh) S", None)]
    fn parent_and_times_are_parsed(#[case] stat: &str, #[case] expected: Option<(u32, u64)>) {
        let expected = expected.map(|(parent, used)| ProcessUse { pid: 7, parent, used: ticks(used) });
        assert_eq!(parse(7, stat), expected);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn own_process_is_found() {
        let tree = process_tree(std::process::id());
        assert!(tree.iter().any(|(pid, _)| *pid == std::process::id()), "{tree:?}");
    }
}
