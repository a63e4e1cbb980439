//! Processor time of this machine, and who uses it. Linux only: elsewhere, all of it counts as free for this program.

mod machine_times;
mod open_files;
mod processor_time;
mod time_limit;

pub use machine_times::{MachineTimes, cpu_cgroups};
pub use open_files::open_files;
pub use processor_time::ProcessorTime;
pub use time_limit::TimeLimit;

#[cfg(target_os = "linux")]
pub use super::processes::process_tree;

use std::time::Duration;

/// Only Linux tells which processes there are.
#[cfg(not(target_os = "linux"))]
pub fn process_tree(_root: u32) -> Vec<(u32, Duration)> {
    Vec::new()
}

/// The time of these clock ticks.
pub(super) fn ticks(count: u64) -> Duration {
    let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    Duration::from_nanos(tick.saturating_mul(count))
}
