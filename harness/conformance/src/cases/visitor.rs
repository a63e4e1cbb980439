use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::register;
use edgeproof_fixtures::spec::{Endpoint, Spec};
use edgeproof_http::{Body, Draft, HostForm, RequestForm};

use super::{MARKER, ORIGIN, SIGNALS, collection, to_signals};

/// Time after which a visitor without an answer leaves. A server may wait for more.
pub(super) const PATIENCE: Duration = Duration::from_millis(400);

/// A request that no browser sends.
#[derive(Debug, Clone)]
pub(super) struct Visitor {
    /// What is unusual about it.
    pub(super) name: String,
    /// The request. Each visitor has a marker of its own.
    pub(super) draft: Draft,
    /// What of it may reach the service.
    pub(super) relay: VisitorRelay,
}

/// What of a visitor's request may reach the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VisitorRelay {
    /// Nothing: it is no POST.
    Nothing,
    /// Its body, once and unchanged: it is a POST, which the edge may also refuse.
    Unchanged,
}

/// Request targets that a decoder of percent escapes or a parser of URLs refuses.
const ODD_TARGETS: [&str; 10] = [
    "/%",
    "/%zz",
    "/%00",
    "/%c0%af",
    "/%E0%A4%A",
    "/%2e%2e/%2e%2e/",
    "//",
    "/?%",
    "/?a[=1&a]=2&__proto__[x]=1",
    "/a;b=%",
];

/// Header fields that a parser of their values refuses.
const ODD_FIELDS: [(&str, &str); 9] = [
    ("Origin", "%"),
    ("Origin", "https://["),
    ("Referer", "http://%"),
    ("Cookie", "a=%; =; ;"),
    ("Content-Type", ";"),
    ("Content-Type", "application/json; charset=edgeproof"),
    ("X-Forwarded-For", "%, [::, unknown"),
    ("Accept-Language", ";q=x"),
    ("Authorization", "Basic %"),
];

/// First bytes of other protocols.
const PROTOCOLS: [(&str, &[u8]); 10] = [
    (
        "a TLS handshake",
        b"\x16\x03\x01\x00\x45\x01\x00\x00\x41\x03\x03edgeproof edgeproof edgeproof 123\x00\x00\x04\x13\x01\x13\x02\x01\x00\x00\x14\x00\x0a\x00\x04\x00\x02\x00\x1d\x00\x0d\x00\x04\x00\x02\x04\x03\x00\x17\x00\x00",
    ),
    ("HTTP/2 without negotiation", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"),
    ("HTTP/0.9", b"GET {signals}\r\n"),
    ("half a head", b"POST {signals} HTTP/1.1\r\nHost: edge.exa"),
    ("no byte", b""),
    ("line ends", b"\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"),
    ("NUL bytes", &[0; 64]),
    ("SSH", b"SSH-2.0-OpenSSH_9.9\r\n"),
    ("SOCKS", b"\x05\x01\x00"),
    ("SMTP", b"EHLO edge.example\r\nMAIL FROM:<a@edge.example>\r\n"),
];

/// Length of a long header field (bytes).
const LONG_FIELD: usize = 20 * 1024;
/// Length of a long request target (bytes).
const LONG_TARGET: usize = 9 * 1024;
/// Length of a long host (bytes).
const LONG_HOST: usize = 6 * 1024;

impl Visitor {
    /// Request targets and header fields that parsers refuse.
    pub(super) fn with_odd_values() -> Vec<Self> {
        let of_collections = ["%", "?%zz=%"].map(|end| format!("{SIGNALS}{end}"));
        let long = format!("/{}", "a".repeat(LONG_TARGET));
        let targets = ODD_TARGETS.map(str::to_owned).into_iter().chain(of_collections).chain([long]);
        let targets = targets.flat_map(|target| {
            let name = format!("the target {}", &target[..target.len().min(40)]);
            let post = Draft { path: target.clone(), ..collection() };
            [Self::nothing(&format!("GET with {name}"), Draft::new("GET", &target)), Self::post(&name, post)]
        });
        let fields = ODD_FIELDS.map(|(name, value)| {
            let mut draft = collection();
            draft.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
            Self::post(&format!("{name}: {value}"), draft.header(name, value))
        });
        targets.chain(fields).collect()
    }

    /// Collections with methods that the edge refuses.
    pub(super) fn with_other_methods(spec: &Spec) -> Vec<Self> {
        let draft = |method: &str| Draft { method: method.to_owned(), ..collection() };
        // CONNECT has a target of another form. Caches know PURGE.
        let methods = register::methods().filter(|method| *method != "CONNECT").chain(["PURGE"]);
        let refused = methods.filter(|method| !spec.takes(Endpoint::Signals, method));
        refused.map(|method| Self::nothing(method, draft(method))).collect()
    }

    /// Bytes that are no HTTP/1.1.
    pub(super) fn with_other_protocols() -> Vec<Self> {
        PROTOCOLS.map(|(name, bytes)| Self::nothing(name, verbatim("GET", bytes.into()))).into()
    }

    /// The plain request with a head that is unusual, long, or asks for more than an answer, and targets in other forms.
    pub(super) fn with_odd_heads(plain: &Draft) -> Vec<Self> {
        let host = |host: &str| {
            let form = RequestForm { host: HostForm::Other(host.into()), ..RequestForm::default() };
            Draft { form, ..plain.clone() }
        };
        let version = |version: &str, target: &str, host: &str| with_first_line(plain, target, version, host);
        let field = |name: &str, value: &str| plain.clone().header(name, value);
        let upgrade = |to: &str| field("Connection", "Upgrade").header("Upgrade", to);
        let (path, host_line) = (plain.path.as_str(), "Host: edge.example\r\n");
        let long = "edgeproof".repeat(LONG_FIELD / 9);
        let mut visitors: Vec<Self> = [
            ("an empty Host", host("")),
            ("a long Host", host(&format!("{}.example", "a".repeat(LONG_HOST)))),
            ("a Host with a user", host("user:pass@edge.example")),
            ("a Host with a path", host("edge.example/?#")),
            ("a Host with a port out of range", host("edge.example:99999")),
            ("two Hosts", field("Host", "other.example")),
            ("no Host", version("1.1", path, "")),
            ("HTTP/1.0 without a Host", version("1.0", path, "")),
            ("HTTP/1.2", version("1.2", path, host_line)),
            ("HTTP/2.0 in the form of HTTP/1.1", version("2.0", path, host_line)),
            ("an authority as the target", version("1.1", "edge.example:80", "Host: edge.example:80\r\n")),
            ("an asterisk as the target", version("1.1", "*", host_line)),
            ("a long User-Agent", field("User-Agent", &long)),
            ("a long Cookie", field("Cookie", &format!("a={long}"))),
            ("an upgrade to HTTP/2", upgrade("h2c").header("HTTP2-Settings", "AAMAAABkAARAAAAAAAIAAAAA")),
            ("an upgrade to an unknown protocol", upgrade("edgeproof/1")),
            ("an unknown expectation", field("Expect", "edgeproof")),
            ("a Connection that names the framing", field("Connection", "content-length, host")),
        ]
        .map(|(name, draft)| Self::post(name, draft))
        .into();
        visitors.push(Self::nothing("CONNECT", Draft::new("CONNECT", "edge.example:443")));
        visitors.push(Self::nothing("OPTIONS of the server", Draft::new("OPTIONS", "*")));
        visitors
    }

    /// Requests whose body is a POST. A server that answers before it reads a body must not take the body for a request.
    pub(super) fn with_nested_posts(spec: &Spec) -> Vec<Self> {
        let signals = spec.path(Endpoint::Signals);
        let body = format!(r#"{{"sealed":"{MARKER}"}}"#);
        let nested = format!(
            "POST {signals} HTTP/1.1\r\nHost: edge.example\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len(),
        );
        let sized = || Body::Sized(Bytes::from(nested.clone()));
        let chunked = Body::Chunked(Bytes::from(nested.clone()), usize::MAX);
        let others = [
            ("GET with a POST as its body", "GET", sized()),
            ("PUT with a POST as its body", "PUT", sized()),
            ("OPTIONS with a POST as its body", "OPTIONS", sized()),
            ("DELETE with a POST as its body, in chunks", "DELETE", chunked),
        ];
        let is_refused = |method: &str| method == "OPTIONS" || !spec.takes(Endpoint::Signals, method);
        let others = others.into_iter().filter(|(_, method, _)| is_refused(method));
        let others = others.map(|(name, method, body)| {
            Self::nothing(name, to_signals(method).header("Origin", ORIGIN).body(body))
        });
        let unknown = Draft::new("POST", "/edgeproof/unknown").body(sized());
        others.chain([Self::post("another path with a POST as its body", unknown)]).collect()
    }

    fn nothing(name: &str, draft: Draft) -> Self {
        Self { name: name.to_owned(), draft, relay: VisitorRelay::Nothing }
    }

    fn post(name: &str, draft: Draft) -> Self {
        Self { name: name.to_owned(), draft, relay: VisitorRelay::Unchanged }
    }
}

/// The plain request in another version, with this target and this line for the host.
fn with_first_line(plain: &Draft, target: &str, version: &str, host: &str) -> Draft {
    let (method, body) = (&plain.method, Bytes::copy_from_slice(plain.body.bytes()));
    let mut head = format!("{method} {target} HTTP/{version}\r\n{host}");
    if !body.is_empty() {
        let length = body.len().to_string();
        head.extend(["Content-Type: application/json\r\nContent-Length: ", &length, "\r\n"]);
    }
    head.push_str("\r\n");
    verbatim(method, head.into()).body(Body::Raw(body))
}

/// A request with these bytes in place of its head. `method`: what a monitor takes it for.
fn verbatim(method: &str, head: Bytes) -> Draft {
    let form = RequestForm { verbatim: Some(head), ..RequestForm::default() };
    Draft { form, ..Draft::new(method, "/") }
}
