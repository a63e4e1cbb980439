#![doc = include_str!("../README.md")]

#[cfg(not(feature = "chromium"))]
mod absent;
mod call;
#[cfg(feature = "chromium")]
mod chromium;
mod error;
mod executable;
mod options;
mod record;

#[cfg(not(feature = "chromium"))]
pub use absent::{Chromium, Page};
pub use call::{CallOutcome, CollectorCall, ErrorPath, PageError};
#[cfg(feature = "chromium")]
pub use chromium::{Chromium, Page};
pub use error::{BrowserError, INSTALL_CHROMIUM};
pub use executable::find_chromium;
pub use options::{ChromiumOptions, PageOptions};
pub use record::{PageRecord, PageRequest, PageWebSocket};

/// Whether this build can start a browser.
pub const IS_BUILT_IN: bool = cfg!(feature = "chromium");
