//! [`Chromium`] of a build without the feature `chromium`: its launch fails, so no value of these types exists.

use std::convert::Infallible;
use std::future::Ready;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::{BrowserError, CallOutcome, ChromiumOptions, CollectorCall, PageOptions, PageRecord};

/// Running Chromium. Dropping it ends its processes and deletes its profile.
#[derive(Debug)]
pub struct Chromium(Infallible);

/// Open page in a context of its own. Dropping it closes it.
#[derive(Debug)]
pub struct Page(Infallible);

impl Chromium {
    /// Fails with [`BrowserError::NotBuiltIn`].
    #[expect(clippy::unused_async, reason = "the same signature as with the feature `chromium`")]
    pub async fn launch(_options: ChromiumOptions) -> Result<Self, BrowserError> {
        Err(BrowserError::NotBuiltIn)
    }

    /// Product and version, such as `Chrome/156.0.1.2`.
    pub fn version(&self) -> &str {
        match self.0 {}
    }

    /// Executable that runs.
    pub fn executable(&self) -> &Path {
        match self.0 {}
    }

    /// Opens a page in a context of its own, without cookies and storage of other pages.
    #[expect(clippy::unused_async, reason = "the same signature as with the feature `chromium`")]
    pub async fn open(&self, _page: PageOptions) -> Result<Page, BrowserError> {
        match self.0 {}
    }

    /// Ends the browser without blocking the runtime.
    #[expect(clippy::unused_async, reason = "the same signature as with the feature `chromium`")]
    pub async fn close(self) {
        match self.0 {}
    }
}

impl Page {
    /// Calls the collector and waits for the end of the call.
    #[expect(clippy::unused_async, reason = "the same signature as with the feature `chromium`")]
    pub async fn call(&self, _call: CollectorCall) -> CallOutcome {
        match self.0 {}
    }

    /// Begins a call at once, with a timeout. The future yields its end.
    pub fn begin_within(&self, _limit: Duration, _call: CollectorCall) -> Ready<CallOutcome> {
        match self.0 {}
    }

    /// What the page did so far.
    pub fn record(&self) -> PageRecord {
        match self.0 {}
    }

    /// Waits until everything that the page did before this call is in the record, at most for the page's time limit.
    #[expect(clippy::unused_async, reason = "the same signature as with the feature `chromium`")]
    pub async fn settle(&self) {
        match self.0 {}
    }

    /// Evaluates an expression in the page, awaits a promise, and returns its value as JSON.
    #[expect(clippy::unused_async, reason = "the same signature as with the feature `chromium`")]
    pub async fn evaluate(&self, _javascript: &str) -> Result<Value, BrowserError> {
        match self.0 {}
    }
}
