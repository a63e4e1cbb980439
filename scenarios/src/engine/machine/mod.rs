//! What the machine did during a run: processor time and memory of the generator, the target and other processes.

mod edge_cost;
mod self_monitor;

pub use edge_cost::EdgeCostProbe;
pub use self_monitor::{SelfMonitor, SelfMonitorReading, processors};
pub(super) use self_monitor::{TargetProcesses, cpu_time};
