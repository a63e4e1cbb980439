use std::time::Instant;

/// What a page and its workers, frames and windows did so far. Lists are cut at a maximum length; the counters beside them
/// count everything.
#[derive(Debug, Clone, Default)]
pub struct PageRecord {
    /// Requests in the order in which they began, with the page itself. Each redirect is a request of its own.
    pub requests: Vec<PageRequest>,
    /// Number of requests, also of those that are cut.
    pub request_count: usize,
    /// WebSockets in the order in which they began.
    pub websockets: Vec<PageWebSocket>,
    /// Number of WebSockets, also of those that are cut.
    pub websocket_count: usize,
    /// URLs of WebTransport sessions.
    pub web_transports: Vec<String>,
    /// Texts that scripts wrote with `console.error` or `console.assert`.
    pub console_errors: Vec<String>,
    /// Number of console messages of any level, until a flood made the browser stop reporting.
    pub console_count: usize,
    /// Errors that Chromium itself logged about the page, such as `Failed to load resource` and violations of CORS.
    pub browser_errors: Vec<String>,
    /// Uncaught exceptions and unhandled rejections.
    pub uncaught: Vec<String>,
    /// Dialogs as `alert: text`. Each is dismissed.
    pub dialogs: Vec<String>,
    /// Number of dialogs, also of those that are cut.
    pub dialog_count: usize,
    /// URLs that the page navigated to after it was loaded, also within the document.
    pub navigations: Vec<String>,
    /// URLs of windows that the page opened.
    pub windows: Vec<String>,
    /// URLs of workers, shared workers and service workers.
    pub workers: Vec<String>,
    /// Why the page is gone, if it is.
    pub gone: Option<String>,
}

/// Request of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// Method.
    pub method: String,
    /// URL, without fragment.
    pub url: String,
    /// Headers as they were sent, where Chromium tells them; otherwise those that the page set.
    pub headers: Vec<(String, String)>,
    /// Body. `None`: the request has none, or Chromium does not tell it.
    pub body: Option<Vec<u8>>,
    /// When the request was seen.
    pub at: Instant,
    /// Chromium's type: `Document`, `Script`, `Fetch`, `XHR`, `Ping` (beacons), `Preflight` (CORS), `EventSource`, `Image`, ….
    pub kind: String,
    /// Kind of sender: `page`, `iframe`, `worker`, `shared_worker`, `service_worker`.
    pub sender: String,
    /// Why it failed, such as `net::ERR_CONNECTION_REFUSED`. CORS failures name the rule, and the header or method that breaks it.
    pub failed: Option<String>,
    /// Status of the answer.
    pub status: Option<u16>,
}

/// WebSocket of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageWebSocket {
    /// URL.
    pub url: String,
    /// When it was seen.
    pub at: Instant,
    /// Kind of owner, as in [`PageRequest::sender`].
    pub sender: String,
    /// Status of the handshake.
    pub status: Option<u16>,
    /// Payloads of sent frames, text as UTF-8.
    pub sent: Vec<Vec<u8>>,
    /// Number of received frames.
    pub received: usize,
    /// Why it failed.
    pub failed: Option<String>,
    /// Whether it is closed.
    pub closed: bool,
}

impl PageRequest {
    /// First header with this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Whether it is a CORS preflight.
    pub fn is_preflight(&self) -> bool {
        self.kind == "Preflight"
    }
}
