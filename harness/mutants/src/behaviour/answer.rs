use std::io::Read;

use bytes::Bytes;
use edgeproof_edge::EdgeAnswer;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_mock::ServiceDecision;
use flate2::Compression;
use flate2::read::GzEncoder;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue,
};
use http::{HeaderMap, Method, StatusCode};
use serde_json::{Map, Value};

use super::seen::Seen;

/// Answer of an edge or a service, as far as mutants change it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Lines that an edge logs.
    pub(crate) log: Option<String>,
}

impl Answer {
    /// An answer of this content type.
    pub(crate) fn of_type(kind: &str, status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, body: body.into(), ..Self::default() }.with(CONTENT_TYPE.as_str(), kind)
    }

    pub(crate) fn json(status: u16, body: impl Into<Bytes>) -> Self {
        Self::of_type("application/json", status, body)
    }

    /// Sets a header. Text that is no header value sets nothing.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(HeaderName::from_static(name), value);
        }
        self
    }

    /// Removes a header.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    /// Sets a member of a body that is a JSON object.
    pub(crate) fn with_member(self, name: &str, value: impl Into<Value>) -> Self {
        self.edit(|body| drop(body.insert(name.to_owned(), value.into())))
    }

    /// Changes a body that is a JSON object; leaves any other body as it is.
    pub(crate) fn edit(mut self, change: impl FnOnce(&mut Map<String, Value>)) -> Self {
        edit_object(&mut self.body, change);
        self
    }

    /// A member of a body that is a JSON object.
    pub(crate) fn member(&self, name: &str) -> Option<Value> {
        serde_json::from_slice::<Value>(&self.body).ok()?.get(name).cloned()
    }

    /// The bytes of the answer to this request in HTTP/1.1, as text.
    pub(crate) fn text(&self, seen: &Seen<'_>) -> String {
        let mut text = format!("HTTP/1.1 {} OK\r\n", self.status);
        for (name, value) in &self.headers {
            text.extend([name.as_str(), ": ", &String::from_utf8_lossy(value.as_bytes()), "\r\n"]);
        }
        if matches!(self.status, 204 | 304) {
            return text + "\r\n";
        }
        text.extend(["content-length: ", &self.body.len().to_string(), "\r\n\r\n"]);
        if *seen.method != Method::HEAD {
            text.push_str(&String::from_utf8_lossy(&self.body));
        }
        text
    }

    /// The reason of a refusal.
    pub(crate) fn reason(&self) -> Option<String> {
        self.member("reason")?.as_str().map(str::to_owned)
    }

    /// The answer of a service. It keeps the stimulus of the right answer.
    pub(crate) fn into_decision(self, stimulus: Option<Stimulus>) -> ServiceDecision {
        ServiceDecision { status: self.status, headers: self.headers, body: self.body, stimulus }
    }
}

impl From<EdgeAnswer> for Answer {
    fn from(answer: EdgeAnswer) -> Self {
        Self { status: answer.status.as_u16(), headers: answer.headers, body: answer.body, log: answer.log }
    }
}

impl From<Answer> for EdgeAnswer {
    fn from(answer: Answer) -> Self {
        let status = StatusCode::from_u16(answer.status).unwrap_or_default();
        Self { status, headers: answer.headers, body: answer.body, log: answer.log }
    }
}

impl From<ServiceDecision> for Answer {
    fn from(decision: ServiceDecision) -> Self {
        Self { status: decision.status, headers: decision.headers, body: decision.body, log: None }
    }
}

/// Changes a body that is a JSON object; leaves any other body as it is.
pub(crate) fn edit_object(body: &mut Bytes, change: impl FnOnce(&mut Map<String, Value>)) {
    if let Ok(Value::Object(mut members)) = serde_json::from_slice(body) {
        change(&mut members);
        *body = Bytes::from(Value::Object(members).to_string());
    }
}

/// Removes the headers that let pages read an answer.
pub(crate) fn remove_cors(headers: &mut HeaderMap) {
    for name in [ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_HEADERS] {
        headers.remove(name);
    }
}

/// The answer in the coding gzip.
pub(crate) fn gzipped(answer: Answer) -> Answer {
    let mut coded = Vec::new();
    // A vector takes all that is written.
    let _ = GzEncoder::new(&answer.body[..], Compression::fast()).read_to_end(&mut coded);
    Answer { body: coded.into(), ..answer }.with(CONTENT_ENCODING.as_str(), "gzip")
}

/// The text of an answer, with its body in chunks.
pub(crate) fn chunked(answer: &str, with_length: bool) -> String {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else { return answer.to_owned() };
    let is_kept = |line: &&str| with_length || !line.starts_with("content-length:");
    let head: Vec<&str> = head.split("\r\n").filter(is_kept).collect();
    let head = head.join("\r\n");
    format!("{head}\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}

/// Repeats the field with the length in the text of a message.
pub(crate) fn repeat_length(message: &str) -> String {
    let length = message.lines().find(|line| line.to_ascii_lowercase().starts_with("content-length:"));
    length.map_or(message.to_owned(), |line| message.replacen(line, &format!("{line}\r\n{line}"), 1))
}
