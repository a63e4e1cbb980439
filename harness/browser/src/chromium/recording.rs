use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::{PageRecord, PageRequest, PageWebSocket};

/// Maximum number of entries of each list.
const LISTED: usize = 1_000;
/// Number of events after which Chromium is told to report no more of their kind.
const FLOOD: usize = 10_000;
/// Maximum length of a text (characters).
const TEXT: usize = 4_000;
/// Maximum size of all bodies and frames of a page (bytes). Later ones are left out.
const PAYLOADS: usize = 64 * 1024 * 1024;

/// Builder of a [`PageRecord`] from the events of the page's sessions.
#[derive(Debug, Default)]
pub(super) struct Recording {
    record: PageRecord,
    /// Positions of the requests with an id: one more for each redirect. Ids are unique in a browser.
    requests: HashMap<String, Vec<usize>>,
    /// Events with the headers as sent. They may come before their requests.
    sent_headers: HashMap<String, VecDeque<Vec<(String, String)>>>,
    /// Number of requests with an id that have their headers as sent.
    with_headers: HashMap<String, usize>,
    websockets: HashMap<String, usize>,
    frames: usize,
    /// Ids of the exceptions in `uncaught`.
    exceptions: Vec<i64>,
    payloads: usize,
}

/// What the connection does about an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reaction {
    /// Asks for the body of a request.
    FetchBody(String),
    /// Ends the reports of console messages.
    StopConsole,
    /// Ends the reports of network traffic.
    StopNetwork,
}

impl Recording {
    /// What was recorded so far.
    pub(super) fn record(&self) -> PageRecord {
        self.record.clone()
    }

    /// Records an event of a session with this kind of target.
    pub(super) fn apply(&mut self, sender: &str, method: &str, params: &Value) -> Option<Reaction> {
        match method {
            "Network.requestWillBeSent" => return self.request(sender, params),
            "Network.requestWillBeSentExtraInfo" => self.sent(params),
            "Network.responseReceived" => {
                self.answered_only(sender, params);
                self.answered(params, "/response/status");
            }
            "Network.responseReceivedExtraInfo" => self.answered(params, "/statusCode"),
            "Network.loadingFailed" => self.failed(params),
            "Network.webSocketCreated" => return self.websocket(sender, params),
            "Network.webSocketHandshakeResponseReceived" => {
                let status = status(params, "/response/status");
                self.with_websocket(params, |websocket| websocket.status = status);
            }
            "Network.webSocketFrameSent" => return self.frame(params, true),
            "Network.webSocketFrameReceived" => return self.frame(params, false),
            "Network.webSocketFrameError" => {
                let why = cut(text(params, "/errorMessage"));
                self.with_websocket(params, |websocket| websocket.failed = Some(why));
            }
            "Network.webSocketClosed" => self.with_websocket(params, |websocket| websocket.closed = true),
            "Network.webTransportCreated" => keep(&mut self.record.web_transports, text(params, "/url")),
            "Runtime.consoleAPICalled" => return self.console(params),
            "Runtime.exceptionThrown" => return self.exception(params),
            "Runtime.exceptionRevoked" => self.revoke(params),
            "Log.entryAdded" if text(params, "/entry/level") == "error" => {
                let (what, url) = (text(params, "/entry/text"), text(params, "/entry/url"));
                let separator = if url.is_empty() { "" } else { ": " };
                keep(&mut self.record.browser_errors, &format!("{what}{separator}{url}"));
            }
            _ => {}
        }
        None
    }

    /// Records a dialog.
    pub(super) fn dialog(&mut self, params: &Value) {
        self.record.dialog_count += 1;
        keep(&mut self.record.dialogs, &format!("{}: {}", text(params, "/type"), text(params, "/message")));
    }

    /// Records a navigation.
    pub(super) fn navigated(&mut self, url: &str) {
        keep(&mut self.record.navigations, url);
    }

    /// Records a worker or window.
    pub(super) fn attached(&mut self, kind: &str, url: &str) {
        match kind {
            "page" => keep(&mut self.record.windows, url),
            kind if kind.contains("worker") => keep(&mut self.record.workers, url),
            _ => {}
        }
    }

    /// Records the body that Chromium was asked for.
    pub(super) fn body(&mut self, request: &str, result: Option<&Value>) {
        let Some(result) = result else { return };
        let data = text(result, "/postData");
        let is_base64 = result.pointer("/base64Encoded").and_then(Value::as_bool) == Some(true);
        let body = if is_base64 { STANDARD.decode(data).ok() } else { Some(data.as_bytes().to_vec()) };
        let body = body.and_then(|body| self.afford(body));
        if let Some(request) = self.last_request(request) {
            request.body = body;
        }
    }

    fn request(&mut self, sender: &str, params: &Value) -> Option<Reaction> {
        let id = text(params, "/requestId");
        if params.pointer("/redirectResponse").is_some() {
            self.answered(params, "/redirectResponse/status");
        } else if self.requests.contains_key(id) {
            // Page and worker both report the script of the worker.
            return None;
        }
        self.record.request_count += 1;
        if self.record.request_count > FLOOD {
            return Some(Reaction::StopNetwork);
        }
        let position = self.record.requests.len();
        if position == LISTED {
            return None;
        }
        let is_preflight = text(params, "/initiator/type") == "preflight";
        let has_body = params.pointer("/request/hasPostData").and_then(Value::as_bool) == Some(true);
        let body = if has_body { body_of(params) } else { None };
        let is_incomplete = has_body && body.is_none();
        let body = body.and_then(|body| self.afford(body));
        self.record.requests.push(PageRequest {
            method: text(params, "/request/method").to_owned(),
            url: text(params, "/request/url").to_owned(),
            headers: headers(params.pointer("/request/headers")),
            body,
            at: Instant::now(),
            kind: if is_preflight { "Preflight" } else { text(params, "/type") }.to_owned(),
            sender: sender.to_owned(),
            failed: None,
            status: None,
        });
        self.requests.entry(id.to_owned()).or_default().push(position);
        self.join_headers(id);
        is_incomplete.then(|| Reaction::FetchBody(id.to_owned()))
    }

    /// Headers as sent: the n-th event with an id belongs to its n-th request.
    fn sent(&mut self, params: &Value) {
        let id = text(params, "/requestId");
        if self.sent_headers.len() == FLOOD {
            return;
        }
        self.sent_headers.entry(id.to_owned()).or_default().push_back(headers(params.pointer("/headers")));
        self.join_headers(id);
    }

    fn join_headers(&mut self, id: &str) {
        let (Some(positions), Some(waiting)) = (self.requests.get(id), self.sent_headers.get_mut(id)) else {
            return;
        };
        let joined = self.with_headers.entry(id.to_owned()).or_default();
        while let Some(position) = positions.get(*joined)
            && let Some(headers) = waiting.pop_front()
        {
            self.record.requests[*position].headers = headers;
            *joined += 1;
        }
    }

    fn answered(&mut self, params: &Value, at: &str) {
        let status = status(params, at);
        if let Some(request) = self.last_request(text(params, "/requestId")) {
            request.status = status.or(request.status);
        }
    }

    /// Records a request from its answer: Chromium does not report the request for the script of a service worker.
    fn answered_only(&mut self, sender: &str, params: &Value) {
        let id = text(params, "/requestId");
        if self.requests.contains_key(id) || self.record.requests.len() == LISTED {
            return;
        }
        self.record.request_count += 1;
        self.requests.insert(id.to_owned(), vec![self.record.requests.len()]);
        self.record.requests.push(PageRequest {
            method: "GET".to_owned(),
            url: text(params, "/response/url").to_owned(),
            headers: headers(params.pointer("/response/requestHeaders")),
            body: None,
            at: Instant::now(),
            kind: text(params, "/type").to_owned(),
            sender: sender.to_owned(),
            failed: None,
            status: None,
        });
    }

    fn failed(&mut self, params: &Value) {
        let why = text(params, "/errorText");
        let is_cancelled = params.pointer("/canceled").and_then(Value::as_bool) == Some(true);
        let rule = match text(params, "/corsErrorStatus/corsError") {
            "" => text(params, "/blockedReason"),
            rule => rule,
        };
        let why = match (rule, text(params, "/corsErrorStatus/failedParameter")) {
            ("", _) => why.to_owned(),
            (rule, "") => format!("{why} ({rule})"),
            (rule, what) => format!("{why} ({rule}: {what})"),
        };
        if let Some(request) = self.last_request(text(params, "/requestId")) {
            // The page may ignore the body of an answer.
            let is_ignored = is_cancelled && request.status.is_some();
            request.failed = (!is_ignored).then(|| cut(&why));
        }
    }

    fn last_request(&mut self, id: &str) -> Option<&mut PageRequest> {
        let position = *self.requests.get(id)?.last()?;
        self.record.requests.get_mut(position)
    }

    fn websocket(&mut self, sender: &str, params: &Value) -> Option<Reaction> {
        self.record.websocket_count += 1;
        if self.record.websocket_count > FLOOD {
            return Some(Reaction::StopNetwork);
        }
        let position = self.record.websockets.len();
        if position < LISTED {
            self.websockets.insert(text(params, "/requestId").to_owned(), position);
            self.record.websockets.push(PageWebSocket {
                url: text(params, "/url").to_owned(),
                at: Instant::now(),
                sender: sender.to_owned(),
                status: None,
                sent: Vec::new(),
                received: 0,
                failed: None,
                closed: false,
            });
        }
        None
    }

    fn frame(&mut self, params: &Value, is_sent: bool) -> Option<Reaction> {
        self.frames += 1;
        if self.frames > FLOOD {
            return Some(Reaction::StopNetwork);
        }
        if !is_sent {
            self.with_websocket(params, |websocket| websocket.received += 1);
            return None;
        }
        let data = text(params, "/response/payloadData");
        let is_text = params.pointer("/response/opcode").and_then(Value::as_f64) == Some(1.0);
        let payload =
            if is_text { data.as_bytes().to_vec() } else { STANDARD.decode(data).unwrap_or_default() };
        let payload = self.afford(payload).unwrap_or_default();
        self.with_websocket(params, |websocket| websocket.sent.push(payload));
        None
    }

    fn with_websocket(&mut self, params: &Value, change: impl FnOnce(&mut PageWebSocket)) {
        let position = self.websockets.get(text(params, "/requestId"));
        if let Some(websocket) = position.and_then(|position| self.record.websockets.get_mut(*position)) {
            change(websocket);
        }
    }

    fn console(&mut self, params: &Value) -> Option<Reaction> {
        self.record.console_count += 1;
        if matches!(text(params, "/type"), "error" | "assert") {
            let arguments = params.pointer("/args").and_then(Value::as_array);
            let words: Vec<String> = arguments.into_iter().flatten().map(shown).collect();
            keep(&mut self.record.console_errors, &words.join(" "));
        }
        (self.record.console_count >= FLOOD).then_some(Reaction::StopConsole)
    }

    fn exception(&mut self, params: &Value) -> Option<Reaction> {
        self.record.console_count += 1;
        if self.record.uncaught.len() < LISTED {
            let thrown = params.pointer("/exceptionDetails/exception").map(shown).unwrap_or_default();
            let what = format!("{} {thrown}", text(params, "/exceptionDetails/text"));
            keep(&mut self.record.uncaught, what.trim_end());
            self.exceptions.push(number(params, "/exceptionDetails/exceptionId"));
        }
        (self.record.console_count >= FLOOD).then_some(Reaction::StopConsole)
    }

    /// A handler was added to a rejected promise after all.
    fn revoke(&mut self, params: &Value) {
        let id = number(params, "/exceptionId");
        if let Some(position) = self.exceptions.iter().position(|other| *other == id) {
            self.exceptions.remove(position);
            self.record.uncaught.remove(position);
        }
    }

    /// The payload, unless the page's payloads would get too large.
    fn afford(&mut self, payload: Vec<u8>) -> Option<Vec<u8>> {
        let total = self.payloads + payload.len();
        if total > PAYLOADS {
            return None;
        }
        self.payloads = total;
        Some(payload)
    }
}

/// Text at a JSON pointer; empty without one.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Value, pointer: &str) -> i64 {
    value.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

fn status(value: &Value, pointer: &str) -> Option<u16> {
    // 0: blocked before an answer.
    u16::try_from(number(value, pointer)).ok().filter(|status| *status > 0)
}

/// Body in the event of a request; `None` if a part of it is missing.
fn body_of(params: &Value) -> Option<Vec<u8>> {
    let entries = params.pointer("/request/postDataEntries")?.as_array()?;
    let parts: Option<Vec<Vec<u8>>> =
        entries.iter().map(|entry| STANDARD.decode(entry.pointer("/bytes")?.as_str()?).ok()).collect();
    parts.filter(|parts| !parts.is_empty()).map(|parts| parts.concat())
}

fn headers(headers: Option<&Value>) -> Vec<(String, String)> {
    let pairs = headers.and_then(Value::as_object).into_iter().flat_map(Map::iter);
    pairs.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
}

/// A value of the page as the console shows it.
fn shown(object: &Value) -> String {
    match object.pointer("/value") {
        Some(Value::String(value)) => value.clone(),
        Some(value) => value.to_string(),
        None => ["/unserializableValue", "/description", "/type"]
            .iter()
            .map(|at| text(object, at))
            .find(|text| !text.is_empty())
            .unwrap_or_default()
            .to_owned(),
    }
}

fn keep(list: &mut Vec<String>, entry: &str) {
    if list.len() < LISTED {
        list.push(cut(entry));
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}
