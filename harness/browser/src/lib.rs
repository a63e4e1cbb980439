#![doc = include_str!("../README.md")]

mod absent;
mod call;
mod error;
mod options;
mod record;

pub use absent::{Chromium, Page};
pub use call::{CallOutcome, CollectorCall, ErrorPath, PageError};
pub use error::{BrowserError, INSTALL_CHROMIUM};
pub use options::{ChromiumOptions, PageOptions};
pub use record::{PageRecord, PageRequest, PageWebSocket};
