use std::env;
use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// Environment variable with the marks of all launches above a process, separated by colons.
pub(super) const MARK: &str = "EDGEPROOF_LAUNCH";

/// Mark that a program passes on to its descendants.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    /// Part of the environment variable.
    pub(super) text: String,
    /// Soft limit on real-time CPU time: at least 36,000 years, in microseconds.
    pub(super) limit: u64,
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
        let before = set_limit(Some(self.limit));
        let result = spawn();
        set_limit(before);
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

/// Sets the soft limit on this process's real-time CPU time. Yields the old one. If the system refuses, only the
/// environment marks a program.
#[cfg(target_os = "linux")]
fn set_limit(microseconds: Option<u64>) -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let before = getrlimit(Resource::Rttime);
    let _ = setrlimit(Resource::Rttime, Rlimit { current: microseconds, ..before });
    before.current
}

#[cfg(not(target_os = "linux"))]
fn set_limit(_microseconds: Option<u64>) -> Option<u64> {
    None
}
