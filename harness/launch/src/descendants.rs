//! All processes of a launched program, and their end.
//!
//! The program gets a process group of its own. A descendant can leave the group and the session, lose its parent, and
//! clear or overwrite its environment; PHP-FPM does all of this. On Linux two inherited marks identify it all the same:
//! an environment variable, and an unreachable soft limit on real-time CPU time (`RLIMIT_RTTIME`). No program loses the
//! limit by accident: it survives `fork`, `exec`, `setsid` and a change of the user, and `/proc/PID/limits` shows it
//! until the process ends. On other systems only the group is found.

use std::env;
use std::ffi::OsString;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};

#[cfg(target_os = "linux")]
use super::processes as system;

/// Environment variable with the marks of all launches above a process, separated by colons.
pub(super) const MARK: &str = "EDGEPROOF_LAUNCH";

/// Timeout for the end of killed processes.
const KILL_LIMIT: Duration = Duration::from_secs(1);

/// Mark that a program passes on to its descendants.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    /// Part of the environment variable.
    pub(super) text: String,
    /// Soft limit on real-time CPU time: at least 36,000 years, in microseconds.
    pub(super) limit: u64,
}

/// A launched program and its descendants.
///
/// The program must not be reaped while this value is in use: its zombie keeps the number of the group.
#[derive(Debug)]
pub(super) struct Descendants {
    pub(super) group: Pid,
    pub(super) mark: Mark,
    /// Time of SIGTERM.
    terminated: OnceLock<Instant>,
}

impl Mark {
    /// A mark that no other launch has.
    pub(super) fn new() -> Self {
        static LAUNCHES: AtomicU64 = AtomicU64::new(0);
        let launch = LAUNCHES.fetch_add(1, Ordering::Relaxed);
        let random = rand::random::<u64>();
        let text = format!("{}-{launch}-{random:016x}", std::process::id());
        Self { text, limit: (1 << 60) | (random >> 5) }
    }

    /// Calls `spawn`, whose child then has the mark's limit from its first instruction on.
    ///
    /// Limits are those of a whole process, so this process has the limit for a moment as well. It does not notice it.
    pub(super) fn while_limited<T>(&self, spawn: impl FnOnce() -> T) -> T {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _lock = ONE_AT_A_TIME.lock();
        let before = system::set_limit(Some(self.limit));
        let result = spawn();
        system::set_limit(before);
        result
    }

    /// Value of the environment variable: inherited marks and this one, so that an outer launch finds the same processes.
    pub(super) fn variable(&self) -> OsString {
        let mut marks = env::var_os(MARK).unwrap_or_default();
        if !marks.is_empty() {
            marks.push(":");
        }
        marks.push(&self.text);
        marks
    }
}

impl Descendants {
    /// The program that leads this group. It was started with both marks.
    pub(super) fn new(group: Pid, mark: Mark) -> Self {
        Self { group, mark, terminated: OnceLock::new() }
    }

    /// Ends all processes: SIGTERM, then SIGKILL if one is left after `grace`. Blocks until they have ended, or for one
    /// second after SIGKILL. A repeated call does not extend the grace period.
    pub(super) fn end(&self, grace: Duration) {
        let terminated = *self.terminated.get_or_init(Instant::now);
        if !self.signal(Signal::TERM, terminated + grace) {
            self.signal(Signal::KILL, Instant::now() + KILL_LIMIT);
        }
    }

    /// Sends a signal to all processes and waits for their end. Yields whether all ended before the deadline.
    fn signal(&self, signal: Signal, deadline: Instant) -> bool {
        // An error means that the group is gone.
        let _ = kill_process_group(self.group, signal);
        system::signal_others(self, signal, deadline)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::time::{Duration, Instant};

    use rustix::event::{Timespec, poll};
    use rustix::process::{Signal, WaitId, WaitIdOptions, waitid};

    use super::Descendants;

    /// Pause between two looks at the program.
    const PAUSE: Duration = Duration::from_millis(10);

    pub(super) fn set_limit(_microseconds: Option<u64>) -> Option<u64> {
        None
    }

    /// Waits for the program. The rest of its group is found only by SIGKILL, so SIGTERM alone is never enough.
    pub(super) fn signal_others(all: &Descendants, signal: Signal, deadline: Instant) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        while matches!(waitid(WaitId::Pid(all.group), options), Ok(None)) && Instant::now() < deadline {
            let pause = Timespec::try_from(PAUSE).unwrap_or_default();
            let _ = poll(&mut [], Some(&pause));
        }
        signal == Signal::KILL
    }
}
