//! Pages in a real Chromium. A missing Chromium fails these tests.

#![expect(clippy::unwrap_used, reason = "clippy exempts only functions marked as tests")]

mod calls;
mod hostile;
mod isolation;
mod launch;
#[cfg(target_os = "linux")]
mod leftovers;
mod record;
mod support;
