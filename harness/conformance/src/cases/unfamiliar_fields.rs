use std::borrow::Cow;

use edgeproof_fixtures::register::{self, Message};
use edgeproof_http::Draft;
use edgeproof_mock::{Action, Script};
use edgeproof_reports::CaseLevel;

/// Some fields that a recipient ignores unless it knows them (RFC 9110 §5.1).
#[derive(Debug, Clone)]
pub(super) struct UnfamiliarFields {
    /// In words.
    pub(super) name: String,
    /// Level of a recipient that does not ignore them.
    pub(super) level: CaseLevel,
    fields: Vec<(&'static str, Cow<'static, str>)>,
}

/// Number of fields of a request.
const TOGETHER: usize = 14;
/// Number of fields of the longest request. Some servers take fifty.
const MANY: usize = 40;
/// Lengths of a value in bytes, each with the level of a recipient that does not take it.
const LENGTHS: [(usize, CaseLevel); 3] =
    // uWSGI takes a head of 4 KiB.
    [(1024, CaseLevel::Must), (2048, CaseLevel::Must), (4096, CaseLevel::Should)];
/// Values with unusual characters (RFC 9110 §5.5), each with the level. Many servers take visible ASCII only.
const SIGNS: [(&str, &str, CaseLevel); 3] = [
    ("a field with every sign", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~..//--", CaseLevel::Must),
    ("a field with a tab", "a\tb", CaseLevel::Should),
    ("a field with text in UTF-8", "\u{e9}\u{20ac}\u{1f600}\u{202e}", CaseLevel::Should),
];

impl UnfamiliarFields {
    /// The registered fields on which no recipient of the message acts, in groups, and a request with many of them.
    pub(super) fn registered(message: Message) -> Vec<Self> {
        let fields = register::fields().filter(|name| register::acted_on(name, message).is_none());
        let fields: Vec<_> = fields.map(|name| (name, Cow::Borrowed(value(name)))).collect();
        let named = |fields: &[(&'static str, Cow<'static, str>)]| {
            let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
            Self { name: names.join(", "), level: CaseLevel::Must, fields: fields.to_vec() }
        };
        let many =
            Self { name: format!("{MANY} fields"), level: CaseLevel::Must, fields: fields[..MANY].to_vec() };
        fields.chunks(TOGETHER).map(named).chain([many]).collect()
    }

    /// A field that no register has, with unusual and long values.
    pub(super) fn unregistered() -> Vec<Self> {
        let one = |name: String, value, level| Self { name, level, fields: vec![("X-Edgeproof", value)] };
        let signs = SIGNS.map(|(name, value, level)| one(name.into(), Cow::Borrowed(value), level));
        let long = LENGTHS.map(|(length, level)| {
            one(format!("a field of {length} bytes"), Cow::Owned("a".repeat(length)), level)
        });
        signs.into_iter().chain(long).collect()
    }

    /// The script, with these fields in its replies.
    pub(super) fn in_script(&self, mut script: Script) -> Script {
        for reply in &mut script.replies {
            if let Action::Answer { headers, .. } = &mut reply.action {
                headers
                    .extend(self.fields.iter().map(|(name, value)| ((*name).into(), value.as_ref().into())));
            }
        }
        script
    }

    /// A request with these fields. Those that it has already stay.
    pub(super) fn on(&self, draft: Draft) -> Draft {
        self.fields.iter().fold(draft, |draft, (name, value)| match draft.header_value(name) {
            Some(_) => draft,
            None => draft.header(name, value),
        })
    }
}

/// A value of the form that the field has.
fn value(name: &str) -> &'static str {
    match name {
        "Date" | "Expires" | "Last-Modified" | "Memento-Datetime" | "Sunset" | "Cert-Not-After"
        | "Cert-Not-Before" => "Tue, 24 Nov 2026 10:00:00 GMT",
        "Via" => "1.1 edgeproof",
        "X-Forwarded-For" | "X-Real-IP" | "X-Client-IP" | "X-Envoy-External-Address" => "203.0.113.7",
        "X-Forwarded-Proto" => "https",
        "X-Forwarded-Port" => "443",
        "X-Forwarded-Server" => "edge.shop.example",
        "X-Forwarded-Ssl" => "on",
        "X-Forwarded" => "for=203.0.113.7",
        "Referer" | "Content-Location" | "Location" | "Ping-From" | "Ping-To" => "https://shop.example/",
        "Content-Language" => "en",
        "Content-Disposition" => "inline",
        "MIME-Version" => "1.0",
        "Cache-Control" | "Pragma" => "no-cache",
        "Access-Control-Request-Method" => "POST",
        "Access-Control-Request-Headers" => "content-type",
        "Age" | "TTL" | "DPR" | "Device-Memory" | "Downlink" | "RTT" | "Viewport-Width" | "Width" | "DNT"
        | "Sec-GPC" => "1",
        "Sec-Fetch-Site" => "same-origin",
        "Sec-Fetch-Mode" => "cors",
        "Sec-Fetch-Dest" => "empty",
        "Depth" => "0",
        "Overwrite" => "F",
        "Traceparent" => "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "X-B3-TraceId" => "463ac35c9f6413ad48485a3953bb6124",
        "X-B3-SpanId" => "a2fb4a1d1a96d312",
        "X-Requested-With" => "XMLHttpRequest",
        _ => "edgeproof",
    }
}
