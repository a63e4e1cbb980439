use tokio::runtime::{Builder, Runtime};

use super::failure::Failure;

/// Starts the async runtime.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    let runtime = Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|why| {
        Failure::usage(format!("start the runtime: {why}"), "check the limits on threads and open files")
    })
}
