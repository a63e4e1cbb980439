//! Ends everything that a launched program started.
//!
//! A program gets a process group of its own, and the group is killed as a whole. A descendant may have left the group
//! (`setsid`, a daemon). On Linux it is found by a mark in its environment, which it inherited whatever its parent is by
//! now; only a descendant that left the group *and* cleared its environment escapes. Elsewhere the group is all that can
//! be found. Being the subreaper of one's descendants would not do: it changes the whole process, which is not ours where
//! edgeproof is a library, and it cannot tell the orphans of one edge from those of another.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// Variable that holds the mark.
pub(super) const MARK: &str = "EDGEPROOF_LAUNCH";

/// Kills the group and whoever bears the mark, and waits until they are gone, but no longer than `limit`.
///
/// The leader of the group must not have been reaped yet: as long as it is there, if only as a zombie, nobody else can
/// get its number.
pub(super) fn end(group: Pid, mark: &str, limit: Duration) {
    // An error means that there is no such group any more.
    let _ = kill_process_group(group, Signal::KILL);
    marked::end(mark, limit);
}

#[cfg(target_os = "linux")]
pub(super) use marked::alive;

#[cfg(target_os = "linux")]
mod marked {
    use std::fs;
    use std::os::fd::OwnedFd;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

    pub(super) fn end(mark: &str, limit: Duration) {
        let deadline = Instant::now() + limit;
        // Again until there is none: one may have started another just before it was killed.
        loop {
            let found: Vec<OwnedFd> = alive(mark).into_iter().filter_map(|pid| handle(pid, mark)).collect();
            if found.is_empty() || Instant::now() > deadline {
                return;
            }
            for process in &found {
                // An error means that it ended by itself.
                let _ = pidfd_send_signal(process, Signal::KILL);
            }
            if !all_ended(&found, deadline) {
                return;
            }
        }
    }

    /// The processes that bear the mark. A zombie has no environment, so it does not count.
    pub(crate) fn alive(mark: &str) -> Vec<Pid> {
        let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
        processes
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(Pid::from_raw)
            .filter(|pid| *pid != getpid() && bears(*pid, mark))
            .collect()
    }

    /// A handle that stays with the process; none where it has ended.
    fn handle(pid: Pid, mark: &str) -> Option<OwnedFd> {
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        // Once more: the number could have passed to another process before the handle was there.
        bears(pid, mark).then_some(handle)
    }

    fn bears(pid: Pid, mark: &str) -> bool {
        let Ok(environment) = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())) else {
            return false;
        };
        environment
            .split(|byte| *byte == 0)
            .filter_map(|entry| entry.strip_prefix(super::MARK.as_bytes())?.strip_prefix(b"="))
            .any(|marks| marks.split(|byte| *byte == b':').any(|one| one == mark.as_bytes()))
    }

    /// Whether all of them ended before the deadline.
    fn all_ended(processes: &[OwnedFd], deadline: Instant) -> bool {
        processes.iter().all(|process| {
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
}

#[cfg(not(target_os = "linux"))]
mod marked {
    use std::time::Duration;

    pub(super) fn end(_mark: &str, _limit: Duration) {}
}
