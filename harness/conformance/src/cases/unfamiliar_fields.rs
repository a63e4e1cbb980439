use edgeproof_fixtures::register;
use edgeproof_http::Draft;
use edgeproof_mock::{Action, Script};

/// Some fields that a recipient ignores unless it knows them (RFC 9110 §5.1).
#[derive(Debug, Clone)]
pub(super) struct UnfamiliarFields {
    /// In words.
    pub(super) name: String,
    fields: Vec<(&'static str, &'static str)>,
}

/// Number of fields of a request. Servers take a hundred or more.
const TOGETHER: usize = 14;
/// Number of fields of the longest request.
const MANY: usize = 50;

/// Fields that a server may act on: framing, upgrades, conditions, ranges, negotiation, other methods and addresses, digests of
/// the content, and what other cases send.
const KNOWN: [&str; 46] = [
    "A-IM",
    "Accept",
    "Accept-Charset",
    "Accept-Datetime",
    "Accept-Encoding",
    "Accept-Features",
    "Accept-Language",
    "Authorization",
    "Close",
    "Connection",
    "Content-Digest",
    "Content-Encoding",
    "Content-Length",
    "Content-Range",
    "Content-Type",
    "Cookie",
    "Early-Data",
    "Expect",
    "Host",
    "If",
    "If-Match",
    "If-Modified-Since",
    "If-None-Match",
    "If-Range",
    "If-Schedule-Tag-Match",
    "If-Unmodified-Since",
    "IM",
    "Keep-Alive",
    "Negotiate",
    "Origin",
    "Prefer",
    "Proxy-Connection",
    "Range",
    "Repr-Digest",
    "Sec-WebSocket-Accept",
    "Sec-WebSocket-Extensions",
    "Sec-WebSocket-Key",
    "Sec-WebSocket-Protocol",
    "Sec-WebSocket-Version",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
    "X-HTTP-Method",
    "X-HTTP-Method-Override",
    "X-Method-Override",
];
/// The same, of proxies that rewrite the target.
const REWRITES: [&str; 6] = [
    "Forwarded",
    "X-Original-URL",
    "X-Original-Host",
    "X-Rewrite-URL",
    "X-Forwarded-Host",
    "X-Forwarded-Prefix",
];

/// Fields with a meaning in replies: other cases have them.
const OF_REPLIES: [&str; 9] = [
    "Alt-Svc",
    "Date",
    "Location",
    "Retry-After",
    "Server",
    "Set-Cookie",
    "Strict-Transport-Security",
    "Vary",
    "WWW-Authenticate",
];

impl UnfamiliarFields {
    /// All registered fields, in groups, and a request with many of them.
    pub(super) fn registered() -> Vec<Self> {
        let is_known = |name: &&str| KNOWN.contains(name) || REWRITES.contains(name);
        let fields = register::fields().filter(|name| !is_known(name));
        let fields: Vec<_> = fields.map(|name| (name, value(name))).collect();
        let many = Self { name: format!("{MANY} fields"), fields: fields[..MANY].to_vec() };
        fields.chunks(TOGETHER).map(Self::named).chain([many]).collect()
    }

    fn named(fields: &[(&'static str, &'static str)]) -> Self {
        let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
        Self { name: names.join(", "), fields: fields.to_vec() }
    }

    /// The fields that change no reply of a service: neither grants nor cookies, challenges nor other addresses.
    pub(super) fn in_replies() -> Vec<Self> {
        let is_for_replies = |(name, _): &&(&'static str, &'static str)| {
            !OF_REPLIES.contains(name) && !name.starts_with("Access-Control-")
        };
        let groups = Self::registered().into_iter().map(|group| {
            let fields: Vec<_> = group.fields.iter().filter(is_for_replies).copied().collect();
            let named = Self::named(&fields);
            if fields.len() > TOGETHER { Self { name: group.name, ..named } } else { named }
        });
        groups.collect()
    }

    /// The script, with these fields in its replies.
    pub(super) fn in_script(&self, mut script: Script) -> Script {
        for reply in &mut script.replies {
            if let Action::Answer { headers, .. } = &mut reply.action {
                let own: Vec<String> = headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
                let others = self.fields.iter().filter(|(name, _)| !own.contains(&name.to_ascii_lowercase()));
                headers.extend(others.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
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
        "X-Forwarded-For"
        | "X-Real-IP"
        | "X-Client-IP"
        | "True-Client-IP"
        | "CF-Connecting-IP"
        | "Fastly-Client-IP"
        | "X-Envoy-External-Address" => "203.0.113.7",
        "X-Forwarded-Proto" => "https",
        "X-Forwarded-Port" => "443",
        "X-Forwarded-Server" => "edge.shop.example",
        "X-Forwarded-Ssl" => "on",
        "X-Forwarded" => "for=203.0.113.7",
        "Referer" | "Content-Location" | "Destination" | "Location" | "Ping-From" | "Ping-To" => {
            "https://shop.example/"
        }
        "Content-Language" => "en",
        "Content-Disposition" => "inline",
        "MIME-Version" => "1.0",
        "Cache-Control" | "Pragma" => "no-cache",
        "Access-Control-Request-Method" => "POST",
        "Access-Control-Request-Headers" => "content-type",
        "Age"
        | "Max-Forwards"
        | "TTL"
        | "Retry-After"
        | "DPR"
        | "Device-Memory"
        | "Downlink"
        | "RTT"
        | "Viewport-Width"
        | "Width"
        | "DNT"
        | "Upgrade-Insecure-Requests"
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
