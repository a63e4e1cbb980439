//! The edge under test: embedded, launched or attached.

mod any_target;
mod attached;
mod embedded;
mod fault_injection;
mod running;
mod setting_forms;
mod setup;
mod start_error;

pub use any_target::Target;
pub use attached::Attached;
pub use embedded::Embedded;
pub use fault_injection::FaultInjection;
pub use running::RunningEdge;
pub use setting_forms::{SECOND_ORIGIN, SettingForms, URL_ENCODED_PREFIX, URL_PREFIX, page_origin};
pub use setup::{ALLOWED_ORIGIN, OTHER_ALLOWED_ORIGIN, Setup};
pub use start_error::StartError;
