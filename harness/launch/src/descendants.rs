//! All processes of a launched program, and their end.
//!
//! The program gets a process group of its own. A descendant can leave the group and the session, lose its parent, and
//! clear or overwrite its environment; PHP-FPM does all of this. On Linux two inherited marks identify it all the same:
//! an environment variable, and an unreachable soft limit on real-time CPU time (`RLIMIT_RTTIME`). No program loses the
//! limit by accident: it survives `fork`, `exec`, `setsid` and a change of the user, and `/proc/PID/limits` shows it
//! until the process ends. On other systems only the group is found.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::mark::Mark;
#[cfg(target_os = "linux")]
use super::processes as system;

/// Timeout for the end of killed processes.
const KILL_LIMIT: Duration = Duration::from_secs(1);

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
        system::signal_others(self.group, &self.mark, signal, deadline)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::time::{Duration, Instant};

    use rustix::event::{Timespec, poll};
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};

    use crate::mark::Mark;

    /// Pause between two looks at the program.
    const PAUSE: Duration = Duration::from_millis(10);

    /// Waits for the program. The rest of its group is found only by SIGKILL, so SIGTERM alone is never enough.
    pub(super) fn signal_others(program: Pid, _mark: &Mark, signal: Signal, deadline: Instant) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        while matches!(waitid(WaitId::Pid(program), options), Ok(None)) && Instant::now() < deadline {
            let pause = Timespec::try_from(PAUSE).unwrap_or_default();
            let _ = poll(&mut [], Some(&pause));
        }
        signal == Signal::KILL
    }
}
