//! Processor time of this machine, and who uses it. Linux only: elsewhere, all of it counts as free for this program.

mod machine_times;
mod process_tree;
mod processor_time;

pub use machine_times::{MachineTimes, cpu_cgroups};
pub use process_tree::process_tree;
pub use processor_time::ProcessorTime;

/// What parsers of `/proc` need to know about this system.
pub fn system_info() -> procfs_core::ExplicitSystemInfo {
    procfs_core::ExplicitSystemInfo {
        boot_time_secs: 0,
        ticks_per_second: rustix::param::clock_ticks_per_second().max(1),
        page_size: rustix::param::page_size() as u64,
        is_little_endian: cfg!(target_endian = "little"),
    }
}
