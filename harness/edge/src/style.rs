//! What an edge may do this way or that: wherever the interface is silent, the reference edge can be told to be another
//! one. A style is applied around its decisions and its request to the service, and changes nothing that the interface
//! fixes. No edge that a user runs has one; tests prove with them that nothing right is blamed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, AUTHORIZATION,
    CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT, VARY,
};
use http::{HeaderMap, Method, StatusCode};
use serde_json::{Map, Value};

use super::decide::{EdgeAnswer, RequestFacts};
use super::rules::Rules;
use edgeproof_launch::Stream;

/// Defines each freedom as an enum, whose first value is what the reference edge does, and [`Style`] with all of them.
macro_rules! freedoms {
    ($( $(#[$doc:meta])* $field:ident: $name:ident {
        $(#[$usual_doc:meta])* $usual:ident, $( $(#[$other_doc:meta])* $other:ident, )+
    } )+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
            pub enum $name {
                $(#[$usual_doc])* #[default] $usual,
                $( $(#[$other_doc])* $other, )+
            }
        )+

        /// A value for each freedom.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Style {
            $( $(#[$doc])* pub $field: $name, )+
        }

        impl Style {
            /// How many values each freedom has, in the order of the fields.
            pub const FREEDOMS: &'static [usize] = &[$( [$name::$usual, $($name::$other),+].len(), )+];

            /// The style with these values, each a number below the freedom's in [`Style::FREEDOMS`]; what is missing or
            /// too large is as usual.
            pub fn numbered(values: &[usize]) -> Self {
                let mut values = values.iter();
                Self { $(
                    $field: values
                        .next()
                        .and_then(|at| [$name::$usual, $($name::$other),+].get(*at).copied())
                        .unwrap_or_default(),
                )+ }
            }

            /// What differs from the reference edge, in words.
            pub fn differences(&self) -> String {
                let mut words: Vec<String> = Vec::new();
                $( if self.$field != $name::default() {
                    words.push(format!("{}: {:?}", stringify!($field), self.$field));
                } )+
                words.join(", ")
            }
        }
    };
}

freedoms! {
    /// HTTP version towards the service.
    outbound: Outbound {
        /// HTTP/2 where the service offers it.
        Negotiated,
        /// HTTP/1.1 only.
        Http1,
    }
    /// Connections to the service.
    reuse: Reuse {
        /// Kept for later requests.
        Kept,
        /// One for each request.
        Fresh,
    }
    /// How the license is carried.
    carriage: Carriage {
        /// In the profile's header, behind its scheme.
        Profile,
        /// In `Authorization`, without a scheme.
        Bare,
        /// In a header of its own.
        OwnHeader,
        /// In a header of its own, among other parameters.
        Parameter,
        /// As the password of Basic credentials.
        Basic,
        /// In the query.
        Query,
    }
    /// Path at the service.
    path: RelayPath {
        /// The profile's.
        Profile,
        /// Another one, with a query.
        Other,
        /// None: `SERVICE_URL` itself.
        Root,
    }
    /// Framing of the body towards the service.
    upload: Upload {
        /// With a length.
        Sized,
        /// In chunks.
        Chunked,
    }
    /// What else goes to the service.
    request_headers: RequestHeaders {
        /// Nothing.
        Few,
        /// What HTTP clients and tracing add.
        Many,
    }
    /// The member of the service's reply that the reason is read from.
    reason: Reason {
        /// `reason`, and `error` where there is none.
        Either,
        /// `reason`.
        OnlyReason,
        /// `error`.
        OnlyError,
    }
    /// What a redirect from the service is.
    redirect: Redirect {
        /// A refusal without a reason.
        Refusal,
        /// No answer.
        NoAnswer,
    }
    /// Framing of answers.
    framing: Framing {
        /// With a length.
        Sized,
        /// In chunks.
        Chunked,
    }
    /// How JSON is written.
    json: Json {
        /// Without white space.
        Compact,
        /// Indented, with a line end.
        Pretty,
        /// With the members in reverse and blanks around.
        Reversed,
        /// With characters escaped that need not be.
        Escaped,
    }
    /// Content type of answers.
    content_type: ContentType {
        /// `application/json`.
        Plain,
        /// With a charset.
        Charset,
        /// In capitals.
        Capitals,
    }
    /// What else is in the head of an answer.
    answer_headers: AnswerHeaders {
        /// Nothing.
        Few,
        /// What frameworks and proxies add.
        Many,
    }
    /// How names of header fields are written.
    header_case: HeaderCase {
        /// In small letters.
        Lower,
        /// With a capital at each word's beginning.
        Title,
    }
    /// Connections of clients.
    connection: Connection {
        /// Kept.
        Kept,
        /// Closed after each answer.
        Closed,
    }
    /// Answer to a preflight.
    preflight: Preflight {
        /// The profile's.
        Profile,
        /// 200 without a body.
        Ok,
        /// 200 with a body.
        OkWithBody,
    }
    /// Methods that a preflight grants.
    methods: Methods {
        /// The profile's.
        Profile,
        /// None: `POST` needs no grant.
        Unlisted,
        /// All.
        Star,
    }
    /// Request headers that a preflight grants.
    grants: Grants {
        /// The profile's.
        Profile,
        /// All.
        Star,
        /// Several, in capitals.
        Several,
    }
    /// To whom the allowed origin is told.
    origin: Origin {
        /// To itself.
        Itself,
        /// To everybody, the same on every answer.
        Everybody,
    }
    /// Order of methods in `Allow`.
    allow: Allow {
        /// `POST` first.
        PostFirst,
        /// `POST` last, without blanks.
        PostLast,
    }
    /// Answer of the health check.
    health: Health {
        /// The profile's.
        Profile,
        /// A word.
        Text,
        /// None.
        NoContent,
    }
    /// Answer on paths that the interface does not name.
    elsewhere: Elsewhere {
        /// 404 with JSON.
        Json404,
        /// 404 with a page.
        Page404,
        /// 200.
        Welcome,
    }
    /// Form of a log line.
    log: Log {
        /// `refused status=… reason=…`.
        Text,
        /// JSON with a time.
        Json,
        /// Beside lines of an access log, with a time.
        AmongOthers,
    }
    /// Where log lines go.
    log_to: LogTo {
        /// Standard output.
        Stdout,
        /// Standard error.
        Stderr,
    }
}

impl Style {
    /// The answer in this style.
    pub(super) fn answer(&self, rules: &Rules, facts: &RequestFacts, mut answer: EdgeAnswer) -> EdgeAnswer {
        if *self == Self::default() {
            return answer;
        }
        let signals = facts.path == rules.signals.path;
        if signals && facts.method == Method::OPTIONS {
            self.preflight(&mut answer);
        } else if facts.path == rules.health.path && answer.status == rules.healthy.status {
            self.health(&mut answer);
        } else if !signals && answer.status == StatusCode::NOT_FOUND {
            self.elsewhere(&mut answer);
        } else {
            self.json(&mut answer);
        }
        self.headers(rules, &mut answer.headers);
        answer.log = answer.log.map(|line| self.line(&line));
        answer
    }

    /// A line of the log, or several.
    fn line(&self, line: &str) -> String {
        let word = |name: &str| {
            let (_, rest) = line.split_once(name)?;
            Some(rest.split(' ').next().unwrap_or_default().to_owned())
        };
        let (status, reason) = (word("status=").unwrap_or_default(), word("reason=").unwrap_or_default());
        match self.log {
            Log::Text => line.to_owned(),
            Log::Json => format!(
                r#"{{"time":"2026-03-01T04:01:03.403Z","level":"warn","msg":"refused","status":{status},"reason":"{reason}"}}"#
            ),
            Log::AmongOthers => format!(
                "2026-03-01 04:01:03,409 INFO answering POST /v1/signals with {status} after 403 us\n\
                 2026-03-01 04:01:03,409 WARNING refused: {reason} ({status})\n2026-03-01 04:01:03,410 DEBUG done"
            ),
        }
    }

    /// Where its log lines come out.
    pub fn stream(self) -> Stream {
        match self.log_to {
            LogTo::Stdout => Stream::Out,
            LogTo::Stderr => Stream::Err,
        }
    }

    /// The path at the service, behind `SERVICE_URL`.
    pub(super) fn relay_path(&self, profile: &str, license: Option<&str>) -> String {
        let path = match self.path {
            RelayPath::Profile => profile,
            RelayPath::Other => "/api/2026-03/sessions:verify?via=edge%20one",
            RelayPath::Root => "/",
        };
        let query = match (self.carriage, license) {
            (Carriage::Query, Some(license)) => {
                format!("{}key={license}", if path.contains('?') { '&' } else { '?' })
            }
            _ => String::new(),
        };
        format!("{path}{query}")
    }

    /// The header that carries the license. Outer none: the profile's, inner none: no header does.
    #[expect(clippy::option_option, reason = "whether the style says anything, and what it says")]
    pub(super) fn license(&self, license: &str) -> Option<Option<(HeaderName, String)>> {
        let own = |name| HeaderName::from_static(name);
        match self.carriage {
            Carriage::Profile => None,
            Carriage::Bare => Some(Some((AUTHORIZATION, license.to_owned()))),
            Carriage::OwnHeader => Some(Some((own("x-service-license"), license.to_owned()))),
            Carriage::Parameter => {
                Some(Some((own("x-edge"), format!(r#"v=2; license="{license}"; platform=web"#))))
            }
            Carriage::Basic => {
                let pair = STANDARD.encode(format!("edge:{license}"));
                Some(Some((AUTHORIZATION, format!("Basic {pair}"))))
            }
            Carriage::Query => Some(None),
        }
    }

    /// What goes to the service besides.
    pub(super) fn request_headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if self.request_headers == RequestHeaders::Many {
            for (name, value) in [
                (USER_AGENT, "edge/2.1 (+https://shop.example)"),
                (http::header::ACCEPT, "application/json, */*;q=0.5"),
                (
                    HeaderName::from_static("traceparent"),
                    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                ),
                (HeaderName::from_static("x-request-id"), "6f1d2c3b"),
            ] {
                headers.insert(name, HeaderValue::from_static(value));
            }
        }
        headers
    }

    fn preflight(&self, answer: &mut EdgeAnswer) {
        match self.preflight {
            Preflight::Profile => {}
            Preflight::Ok => answer.status = StatusCode::OK,
            Preflight::OkWithBody => {
                answer.status = StatusCode::OK;
                answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
                answer.body = Bytes::from_static(b"OK");
            }
        }
        if !answer.headers.contains_key(ACCESS_CONTROL_ALLOW_HEADERS) {
            return;
        }
        match self.methods {
            Methods::Profile => {}
            Methods::Unlisted => drop(answer.headers.remove(ACCESS_CONTROL_ALLOW_METHODS)),
            Methods::Star => {
                answer.headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("*"));
                answer.headers.remove(ACCESS_CONTROL_MAX_AGE);
            }
        }
        let granted = match self.grants {
            Grants::Profile => return,
            Grants::Star => "*",
            Grants::Several => "Accept,Content-Type,X-Requested-With",
        };
        answer.headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(granted));
    }

    fn health(&self, answer: &mut EdgeAnswer) {
        match self.health {
            Health::Profile => self.json(answer),
            Health::Text => {
                answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
                answer.body = Bytes::from_static(b"up\n");
            }
            Health::NoContent => {
                answer.status = StatusCode::NO_CONTENT;
                answer.headers.remove(CONTENT_TYPE);
                answer.body = Bytes::new();
            }
        }
    }

    fn elsewhere(&self, answer: &mut EdgeAnswer) {
        if self.elsewhere == Elsewhere::Json404 {
            return self.json(answer);
        }
        if self.elsewhere == Elsewhere::Welcome {
            answer.status = StatusCode::OK;
        }
        answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
        answer.body = Bytes::from_static(b"<!doctype html><title>Nothing here</title>");
    }

    fn json(&self, answer: &mut EdgeAnswer) {
        let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else { return };
        let text = match self.json {
            Json::Compact => body.to_string(),
            Json::Pretty => format!("{body:#}\n"),
            Json::Reversed => format!(" {} ", reversed(body)).replace(':', " : "),
            Json::Escaped => body.to_string().replace('_', "\\u005f").replace("ok", "\\u006fk"),
        };
        answer.body = text.into();
        let kind = match self.content_type {
            ContentType::Plain => return,
            ContentType::Charset => "application/json; charset=utf-8",
            ContentType::Capitals => "Application/JSON;charset=UTF-8",
        };
        answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }

    fn headers(&self, rules: &Rules, headers: &mut HeaderMap) {
        if let (Origin::Everybody, Some(origin)) = (self.origin, &rules.origin) {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            headers.remove(VARY);
        }
        if self.allow == Allow::PostLast
            && let Some(methods) = headers.get(ALLOW).and_then(|value| value.to_str().ok())
        {
            let methods: Vec<&str> = methods.split(", ").collect();
            let turned = methods.into_iter().rev().collect::<Vec<_>>().join(",");
            headers.extend(HeaderValue::from_str(&turned).ok().map(|value| (ALLOW, value)));
        }
        if self.answer_headers == AnswerHeaders::Many {
            for (name, value) in [
                (CACHE_CONTROL, "no-store"),
                (ACCESS_CONTROL_ALLOW_CREDENTIALS, "true"),
                (ACCESS_CONTROL_EXPOSE_HEADERS, "x-request-id"),
                (http::header::SERVER, "edge/2.1"),
                (http::header::STRICT_TRANSPORT_SECURITY, "max-age=31536000"),
                (http::header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
                (HeaderName::from_static("x-request-id"), "6f1d2c3b"),
            ] {
                headers.insert(name, HeaderValue::from_static(value));
            }
            headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
        }
        if self.connection == Connection::Closed {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

fn reversed(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(members.into_iter().rev().collect::<Map<_, _>>()),
        other => other,
    }
}
