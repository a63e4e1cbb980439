//! Pages in a real Chromium. A missing Chromium fails these tests.

mod calls;
mod hostile;
mod isolation;
mod launch;
mod record;
mod support;
