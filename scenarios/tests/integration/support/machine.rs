use tokio::sync::{Mutex, RwLock};

/// A test that starves or loads the machine has it for itself; tests that measure share it.
pub(crate) static MACHINE: RwLock<()> = RwLock::const_new(());

/// Goose has process-wide state: one run at a time in this process.
pub(crate) static GOOSE: Mutex<()> = Mutex::const_new(());
