//! Processor time of this machine, and who uses it. Linux only: elsewhere, all of it counts as free for this program.

mod machine_times;
mod process_tree;
mod processor_time;

pub use machine_times::{MachineTimes, cpu_cgroups};
pub use process_tree::process_tree;
pub use processor_time::ProcessorTime;

use std::time::Duration;

/// The time of these clock ticks.
fn ticks(count: u64) -> Duration {
    let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    Duration::from_nanos(tick.saturating_mul(count))
}
