//! Killing of all descendants of a launched program.
//!
//! Each program gets its own process group, and the whole group is killed. A descendant can leave the group
//! (`setsid`, a daemon). On Linux a mark in the inherited environment identifies it, whatever its parent is by
//! now. Only a descendant that left the group *and* cleared its environment escapes. On other systems only the
//! group is found. A subreaper is no alternative: it changes the whole process, which belongs to the user of this
//! library, and it cannot tell the orphans of one program from those of another.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// Environment variable with the mark.
pub(super) const MARK: &str = "EDGEPROOF_LAUNCH";

/// Kills the group and every process with the mark, and waits up to `limit` for their end.
///
/// The group leader must not be reaped yet: while it exists, even as a zombie, no other process gets its
/// number.
pub(super) fn end(group: Pid, mark: &str, limit: Duration) {
    // An error means that the group is gone.
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
        // Repeat until none is left: a process may start another one just before its end.
        loop {
            let found: Vec<OwnedFd> = alive(mark).into_iter().filter_map(|pid| handle(pid, mark)).collect();
            if found.is_empty() || Instant::now() > deadline {
                return;
            }
            for process in &found {
                // An error means that it already ended.
                let _ = pidfd_send_signal(process, Signal::KILL);
            }
            if !all_ended(&found, deadline) {
                return;
            }
        }
    }

    /// Processes with the mark. A zombie has no environment, so it does not count.
    pub(crate) fn alive(mark: &str) -> Vec<Pid> {
        let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
        processes
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(Pid::from_raw)
            .filter(|pid| *pid != getpid() && bears(*pid, mark))
            .collect()
    }

    /// Handle of the process; `None` after its end.
    fn handle(pid: Pid, mark: &str) -> Option<OwnedFd> {
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        // Check again: another process may have got the number before the handle existed.
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

    /// Waits for the processes; yields whether all ended before the deadline.
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
