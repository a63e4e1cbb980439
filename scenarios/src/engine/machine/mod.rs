//! What the machine did during a run: processor time and memory of the generator, the target and other processes.
//! Linux only: elsewhere all figures are zero.

mod processes;
mod self_monitor;

pub(super) use processes::listening_processes;
pub(super) use self_monitor::cpu_time;
pub use self_monitor::{SelfMonitor, SelfMonitorReading};
