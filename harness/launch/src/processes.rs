//! The processes of a launch in Linux's process table.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use super::machine::ticks;
use super::mark::{MARK, Mark};

/// Name of the limit in `/proc/PID/limits`.
const LIMIT: &str = "Max realtime timeout";

/// A process that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProcessStat {
    pid: Pid,
    parent: i32,
    group: i32,
    session: i32,
    /// Start time (clock ticks since boot). Together with the process id it is unique.
    started: u64,
    /// Processor time of the process and of its children that ended.
    used: Duration,
}

/// A process and its descendants that have not lost their parents, each with the processor time that it and its ended
/// children used.
pub fn process_tree(root: u32) -> Vec<(u32, Duration)> {
    let mut processes: Vec<ProcessStat> = running().chain(read(getpid())).collect();
    let mut found = vec![root.cast_signed()];
    let mut place = 0;
    while let Some(parent) = found.get(place).copied() {
        let children = processes.iter().filter(|process| process.parent == parent);
        found.extend(children.map(|process| process.pid.as_raw_pid()));
        place += 1;
    }
    processes.retain(|process| found.contains(&process.pid.as_raw_pid()));
    processes.iter().map(|process| (process.pid.as_raw_pid().cast_unsigned(), process.used)).collect()
}

/// Process ids of the launch.
pub(super) fn pids(group: Pid, mark: &Mark) -> Vec<Pid> {
    find(group, mark).into_values().map(|process| process.pid).collect()
}

/// Sends a signal to the processes outside of the group, and waits for the end of all. Yields whether all ended before the
/// deadline.
pub(super) fn signal_others(group: Pid, mark: &Mark, signal: Signal, deadline: Instant) -> bool {
    let mut signalled = HashSet::new();
    // A process can start another one just before its end.
    loop {
        let found: Vec<(ProcessStat, OwnedFd)> =
            find(group, mark).into_values().filter_map(|process| Some((process, handle(process)?))).collect();
        if found.is_empty() {
            return true;
        }
        let is_first = signalled.is_empty();
        for (process, handle) in &found {
            let is_new = signalled.insert((process.pid, process.started));
            let has_signal = is_first && process.group == group.as_raw_pid();
            if is_new && !has_signal {
                // An error means that it already ended.
                let _ = pidfd_send_signal(handle, signal);
            }
        }
        if !all_ended(&found, deadline) {
            return false;
        }
    }
}

/// All processes of the launch: those of the group or with a mark, their children, and everything in a session that they
/// began.
fn find(group: Pid, mark: &Mark) -> BTreeMap<i32, ProcessStat> {
    // Read like the others: it is 0 where the session began outside of the container, and `getsid` panics on that.
    let own_session = read(getpid()).map_or(0, |process| process.session);
    let running: BTreeMap<i32, ProcessStat> =
        running().map(|process| (process.pid.as_raw_pid(), process)).collect();
    let (mut found, mut others) = (BTreeMap::new(), Vec::new());
    for (pid, process) in &running {
        if process.group == group.as_raw_pid() || is_marked(process.pid, mark) {
            found.insert(*pid, *process);
        } else {
            others.push(*process);
        }
    }
    loop {
        let sessions: HashSet<i32> =
            found.values().map(|process| process.session).filter(|session| *session != own_session).collect();
        let before = found.len();
        others.retain(|process| {
            let belongs = found.contains_key(&process.parent) || sessions.contains(&process.session);
            if belongs {
                found.insert(process.pid.as_raw_pid(), *process);
            }
            !belongs
        });
        if found.len() == before {
            break;
        }
    }
    found.retain(|_, process| !is_below_another_child(*process, group, &running));
    found
}

/// Whether this process started another child, above or at `process`. The child got the mark by accident: another thread
/// started it at the same moment as the program.
fn is_below_another_child(process: ProcessStat, program: Pid, running: &BTreeMap<i32, ProcessStat>) -> bool {
    let mut above = process;
    while above.pid != program {
        if above.parent == getpid().as_raw_pid() {
            return true;
        }
        let Some(parent) = running.get(&above.parent) else { return false };
        above = *parent;
    }
    false
}

/// All processes of the system, except this one and zombies.
fn running() -> impl Iterator<Item = ProcessStat> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries
        .filter_map(|entry| Pid::from_raw(entry.ok()?.file_name().to_str()?.parse().ok()?))
        .filter(|pid| *pid != getpid())
        .filter_map(read)
}

/// Reads a process. `None`: it has ended.
fn read(pid: Pid) -> Option<ProcessStat> {
    parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Parses `pid (name) state ppid pgrp session …`. The name can contain anything.
fn parse(pid: Pid, stat: &str) -> Option<ProcessStat> {
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split_ascii_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse().ok();
    // Times of ended children are negative after an overflow.
    let used = fields.get(11..15)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    // The main thread of a process can end before the others.
    let has_ended = matches!(*fields.first()?, "Z" | "X") && number(17)? <= 1;
    (!has_ended).then_some(ProcessStat {
        pid,
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        started: fields.get(19)?.parse().ok()?,
        used: ticks(used),
    })
}

fn is_marked(pid: Pid, mark: &Mark) -> bool {
    has_limit(pid, mark) || has_variable(pid, mark)
}

fn has_limit(pid: Pid, mark: &Mark) -> bool {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_default();
    let limit = limits.lines().find_map(|line| line.strip_prefix(LIMIT)?.split_ascii_whitespace().next());
    limit.is_some_and(|limit| limit.parse() == Ok(mark.limit))
}

fn has_variable(pid: Pid, mark: &Mark) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment
        .split(|byte| *byte == 0)
        .filter_map(|entry| entry.strip_prefix(MARK.as_bytes())?.strip_prefix(b"="))
        .any(|marks| marks.split(|byte| *byte == b':').any(|one| one == mark.text.as_bytes()))
}

/// Handle of the process; `None` after its end.
fn handle(process: ProcessStat) -> Option<OwnedFd> {
    let handle = pidfd_open(process.pid, PidfdFlags::empty()).ok()?;
    // Another process may have got the number before the handle existed.
    (read(process.pid)?.started == process.started).then_some(handle)
}

fn all_ended(processes: &[(ProcessStat, OwnedFd)], deadline: Instant) -> bool {
    processes.iter().all(|(_, process)| {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(left) = Timespec::try_from(left) else { return false };
            let mut ready = [PollFd::new(process, PollFlags::IN)];
            match poll(&mut ready, Some(&left)) {
                Err(rustix::io::Errno::INTR) => {}
                ended => return ended.is_ok_and(|count| count > 0),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::running("7 (sh) S 1 2 3 0 0 0 0 0 0 0 5 6 -1 8 0 0 1 0 99 0", true)]
    #[case::name_with_brackets("7 (a) Z 1 (b) R 1 2 3 0 0 0 0 0 0 0 5 6 -1 8 0 0 1 0 99 0", true)]
    #[case::zombie("7 (sh) Z 1 2 3 0 0 0 0 0 0 0 5 6 -1 8 0 0 1 0 99 0", false)]
    #[case::only_the_main_thread_ended("7 (sh) Z 1 2 3 0 0 0 0 0 0 0 5 6 -1 8 0 0 2 0 99 0", true)]
    #[case::cut("7 (sh) S 1 2", false)]
    fn process_is_read_unless_it_has_ended(#[case] stat: &str, #[case] runs: bool) {
        let pid = Pid::from_raw(7).unwrap();
        let expected = ProcessStat { pid, parent: 1, group: 2, session: 3, started: 99, used: ticks(19) };
        assert_eq!(parse(pid, stat), runs.then_some(expected));
    }

    #[test]
    fn own_process_is_in_its_tree() {
        let tree = process_tree(std::process::id());
        assert!(tree.iter().any(|(pid, _)| *pid == std::process::id()), "{tree:?}");
    }
}
