//! States of a service that cases ask for, and the hook that provides them (`docs/services.md`).

mod hook;
mod need;
mod trial;

pub use hook::{HookError, StateHook, StatePort};
pub use need::StateNeed;
