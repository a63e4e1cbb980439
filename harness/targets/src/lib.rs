#![doc = include_str!("../README.md")]

mod attached;
mod embedded;
mod fault_injection;
mod running_edge;
mod start_error;
mod state_hook;
mod target;

pub use attached::Attached;
pub use embedded::Embedded;
pub use fault_injection::FaultInjection;
pub use running_edge::RunningEdge;
pub use start_error::StartError;
pub use state_hook::{HookError, StateHook, StateOptionError, StateOptions, StatePort};
pub use target::Target;
