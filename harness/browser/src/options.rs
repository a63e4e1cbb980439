use std::path::PathBuf;
use std::time::Duration;

/// How to start Chromium.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChromiumOptions {
    /// Program to start (default: `CHROME`, then the usual names in `PATH` and the usual places of the system).
    pub executable: Option<PathBuf>,
    /// Accepted keys of servers: base64 of the SHA-256 digest of each public key (SPKI). Certificates with other keys
    /// are judged as usual.
    pub trusted_spki: Vec<String>,
}

/// How to open a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageOptions {
    /// Address of the page.
    pub url: String,
    /// Scripts that run in the page before its own, in this order.
    pub before_load: Vec<String>,
    /// Timeout of loading the page, and of each call in it.
    pub time_limit: Duration,
    /// Locale of the page's scripts, such as `ar-EG` (default: that of the browser). Other threads, and so the languages of
    /// requests, keep the browser's.
    pub locale: Option<String>,
    /// Time zone of the page's scripts, such as `Asia/Kathmandu` (default: that of the system).
    pub time_zone: Option<String>,
}

impl PageOptions {
    /// A page without scripts of ours and with a timeout of 10 s.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            before_load: Vec::new(),
            time_limit: Duration::from_secs(10),
            locale: None,
            time_zone: None,
        }
    }
}
