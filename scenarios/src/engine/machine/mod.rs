//! What the machine did during a run: processor time and memory of the generator, the target and other processes.
//! Linux only: elsewhere all figures are zero.

mod processes;
mod self_monitor;

pub(super) use processes::listening_processes;
pub(super) use self_monitor::cpu_time;
pub use self_monitor::{SelfMonitor, SelfMonitorReading};

/// What parsers of `/proc` need to know about this system.
fn system_info() -> procfs_core::ExplicitSystemInfo {
    procfs_core::ExplicitSystemInfo {
        boot_time_secs: 0,
        ticks_per_second: rustix::param::clock_ticks_per_second().max(1),
        page_size: rustix::param::page_size() as u64,
        is_little_endian: cfg!(target_endian = "little"),
    }
}
