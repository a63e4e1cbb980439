//! Hooks that turn the reference edge into a conforming variant.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use edgeproof_edge::{
    EdgeAction, EdgeAnswer, EdgeFaultHooks, EdgeOptions, EdgeRequest, EdgeRules, RelayResult, RequestFacts,
    UpstreamOptions,
};
use edgeproof_targets::FaultInjection;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS,
    ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS,
    ACCESS_CONTROL_MAX_AGE, ALLOW, AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE,
    EXPECT, HeaderName, HeaderValue, ORIGIN, RETRY_AFTER, SERVER, STRICT_TRANSPORT_SECURITY,
    TRANSFER_ENCODING, USER_AGENT, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, Method, StatusCode};
use serde_json::{Map, Value};

use super::edge_variant::{
    Allow, AnswerCoding, AnswerHeaders, ClientConnections, ClosedConnections, ContentType, EdgeVariant,
    Framing, GrantedHeaders, GrantedMethods, HeaderCase, Health, Json, LicensePlace, LogFormat, OddOrigins,
    OriginGrant, Preflight, ReasonMember, Redirect, RelayPath, Repeats, RequestHeaders, RetryAfter,
    Unconfigured, UnknownPath, Upload, UploadStart, UpstreamConnections, UpstreamVersion,
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

impl FaultInjection for EdgeVariant {
    fn edge(&self, options: &mut EdgeOptions) {
        let is_unconfigured = options.settings.service_url.is_none()
            || options.settings.allowed_origin.as_deref().is_none_or(str::is_empty);
        let fails = is_unconfigured && self.unconfigured == Unconfigured::ServerError;
        if fails {
            options.settings.service_url.get_or_insert_with(|| "https://localhost:1".to_owned());
        }
        let settings = &options.settings;
        let allowed_origin = settings.allowed_origin.as_deref();
        options.hooks = Arc::new(VariantHooks {
            variant: *self,
            rules: EdgeRules::new(&options.spec, &options.profile, allowed_origin).unwrap(),
            allowed_origin: allowed_origin.map(|origin| HeaderValue::from_str(origin).unwrap()),
            license: settings.license.as_ref().map(|license| license.expose().to_owned()),
            fails,
        });
    }
}

#[derive(Debug)]
struct VariantHooks {
    variant: EdgeVariant,
    rules: EdgeRules,
    allowed_origin: Option<HeaderValue>,
    license: Option<String>,
    /// It answers collections with a server error.
    fails: bool,
}

impl EdgeFaultHooks for VariantHooks {
    fn upstream(&self, right: UpstreamOptions) -> UpstreamOptions {
        let (path, license) = self.license(relay_path(self.variant.relay_path, right.path), right.license);
        UpstreamOptions {
            path,
            license,
            headers: self.request_headers(),
            chunked: self.variant.upload == Upload::Chunked,
            streams: self.variant.upload_start == UploadStart::Streaming,
            http2: self.variant.upstream_version == UpstreamVersion::Negotiated,
            replaces_closed: self.variant.closed_connections == ClosedConnections::Replaced,
            keep_alive: self.variant.upstream_connections == UpstreamConnections::KeepAlive,
            ..right
        }
    }

    fn title_case_headers(&self) -> bool {
        self.variant.header_case == HeaderCase::Title
    }

    fn result(&self, right: RelayResult) -> RelayResult {
        let RelayResult::Answered { status, headers, body } = right else { return right };
        if status.is_redirection() && self.variant.redirect == Redirect::NoAnswer {
            return RelayResult::NoAnswer;
        }
        let body = match self.variant.reason {
            ReasonMember::Either => body,
            ReasonMember::Reason => body.map(|body| without_member(body, "error")),
            ReasonMember::Error => body.map(|body| without_member(body, "reason")),
        };
        RelayResult::Answered { status, headers, body }
    }

    fn again(&self, request: &EdgeRequest<'_>, result: &RelayResult) -> bool {
        let RelayResult::Answered { status, .. } = result else { return false };
        let repeats = self.variant.repeats == Repeats::WherePermitted && request.relays == 1;
        repeats && matches!(status.as_u16(), 408 | 417 | 421)
    }

    fn conclude(
        &self,
        request: &EdgeRequest<'_>,
        _result: Option<&RelayResult>,
        right: EdgeAnswer,
    ) -> EdgeAction {
        let is_collection =
            request.facts.path == self.rules.signals_path() && request.facts.method == Method::POST;
        if self.fails && is_collection {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("text/plain"))]);
            let body = Bytes::from_static(b"the edge is not configured\n");
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            return EdgeAction::Answer(EdgeAnswer { status, headers, body, log: None });
        }
        let mut answer = self.answer(request.facts, right);
        if self.variant.odd_origins == OddOrigins::Granted
            && let Some(origin) = request.headers.get(ORIGIN).filter(|origin| self.means_allowed(origin))
        {
            answer.headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        }
        if self.variant.retry_after == RetryAfter::Passed && matches!(answer.status.as_u16(), 429 | 503) {
            answer.headers.insert(RETRY_AFTER, HeaderValue::from_static("120"));
        }
        let accepts = |coding: &str| {
            let field = request.headers.get(ACCEPT_ENCODING).and_then(|field| field.to_str().ok());
            field.is_some_and(|field| field.split(',').any(|one| one.trim() == coding))
        };
        if self.variant.coding == AnswerCoding::Brotli && accepts("br") && !answer.body.is_empty() {
            answer.body = brotli(&answer.body);
            answer.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("br"));
            answer.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
        }
        EdgeAction::Answer(answer)
    }
}

/// A short body in Brotli: a meta-block that is not compressed, and an empty last one (RFC 7932 §9.2).
fn brotli(body: &[u8]) -> Bytes {
    let length = u32::try_from(body.len() - 1).unwrap();
    let header = ((length << 4) | (1 << 20)).to_le_bytes();
    [&header[..3], body, &[3]].concat().into()
}

impl VariantHooks {
    /// Whether no browser sends this text as its origin, although it means the allowed one.
    fn means_allowed(&self, origin: &HeaderValue) -> bool {
        let (Some(allowed), Ok(origin)) = (&self.allowed_origin, origin.to_str()) else { return false };
        let Ok(allowed) = allowed.to_str() else { return false };
        let first = origin.split(' ').next().unwrap_or_default().to_lowercase();
        let plain = first.trim_end_matches('/').trim_end_matches(":443");
        origin != allowed && plain == allowed && !allowed.is_empty()
    }

    fn request_headers(&self) -> HeaderMap {
        let mut headers = request_headers(self.variant.request_headers);
        if self.variant.repeats == Repeats::WherePermitted {
            headers.insert(EXPECT, HeaderValue::from_static("100-continue"));
        }
        headers
    }

    fn license(
        &self,
        path: String,
        profile: Option<(HeaderName, HeaderValue)>,
    ) -> (String, Option<(HeaderName, HeaderValue)>) {
        let Some(license) = &self.license else { return (path, None) };
        let header = |name, value: String| Some((name, HeaderValue::try_from(value).unwrap()));
        let custom = HeaderName::from_static;
        let header = match self.variant.license {
            LicensePlace::Profile => profile,
            LicensePlace::NoScheme => header(AUTHORIZATION, license.clone()),
            LicensePlace::CustomHeader => header(custom("x-service-license"), license.clone()),
            LicensePlace::Parameter => {
                header(custom("x-edge"), format!(r#"v=2; license="{license}"; platform=web"#))
            }
            LicensePlace::Basic => {
                header(AUTHORIZATION, format!("Basic {}", STANDARD.encode(format!("edge:{license}"))))
            }
            LicensePlace::Query => {
                let separator = if path.contains('?') { '&' } else { '?' };
                return (format!("{path}{separator}key={license}"), None);
            }
        };
        (path, header)
    }

    fn answer(&self, facts: &RequestFacts, mut answer: EdgeAnswer) -> EdgeAnswer {
        let signals = facts.path == self.rules.signals_path();
        if signals && facts.method == Method::OPTIONS {
            self.preflight(&mut answer);
        } else if facts.path == self.rules.health_path() && answer.status.is_success() {
            self.health(&mut answer);
        } else if !signals && answer.status == StatusCode::NOT_FOUND {
            self.unknown_path(&mut answer);
        } else {
            self.json(&mut answer);
        }
        self.headers(&mut answer.headers);
        if self.variant.framing == Framing::Chunked && !answer.body.is_empty() {
            answer.headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        answer.log = answer.log.map(|line| log_lines(self.variant.log, &line));
        answer
    }

    fn preflight(&self, answer: &mut EdgeAnswer) {
        match self.variant.preflight {
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
        match self.variant.granted_methods {
            GrantedMethods::Profile => {}
            GrantedMethods::None => drop(answer.headers.remove(ACCESS_CONTROL_ALLOW_METHODS)),
            GrantedMethods::Star => {
                answer.headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("*"));
                answer.headers.remove(ACCESS_CONTROL_MAX_AGE);
            }
        }
        let granted = match self.variant.granted_headers {
            GrantedHeaders::Profile => return,
            GrantedHeaders::Star => "*",
            GrantedHeaders::Several => "Accept,Content-Type,X-Requested-With",
        };
        answer.headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(granted));
    }

    fn health(&self, answer: &mut EdgeAnswer) {
        match self.variant.health {
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

    fn unknown_path(&self, answer: &mut EdgeAnswer) {
        match self.variant.unknown_path {
            UnknownPath::Json404 => return self.json(answer),
            UnknownPath::Page404 => {}
            UnknownPath::Page200 => answer.status = StatusCode::OK,
        }
        answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
        answer.body = Bytes::from_static(b"<!doctype html><title>Nothing here</title>");
    }

    fn json(&self, answer: &mut EdgeAnswer) {
        let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else { return };
        let text = match self.variant.json {
            Json::Compact => body.to_string(),
            Json::Pretty => format!("{body:#}\n"),
            Json::Reversed => format!(" {} ", reversed(body)).replace(':', " : "),
            Json::Escaped => body.to_string().replace('_', "\\u005f").replace("ok", "\\u006fk"),
        };
        answer.body = text.into();
        let content_type = match self.variant.content_type {
            ContentType::Plain => return,
            ContentType::Charset => "application/json; charset=utf-8",
            ContentType::Capitals => "Application/JSON;charset=UTF-8",
        };
        answer.headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }

    fn headers(&self, headers: &mut HeaderMap) {
        if let (OriginGrant::Always, Some(origin)) = (self.variant.origin_grant, &self.allowed_origin) {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            headers.remove(VARY);
        }
        if self.variant.allow == Allow::PostLast
            && let Some(methods) = headers.get(ALLOW).and_then(|value| value.to_str().ok())
        {
            let reversed = methods.split(", ").collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>();
            let reversed = HeaderValue::from_str(&reversed.join(",")).unwrap();
            headers.insert(ALLOW, reversed);
        }
        if self.variant.answer_headers == AnswerHeaders::Many {
            for (name, value) in [
                (CACHE_CONTROL, "no-store"),
                (ACCESS_CONTROL_ALLOW_CREDENTIALS, "true"),
                (ACCESS_CONTROL_EXPOSE_HEADERS, "x-request-id"),
                (SERVER, "edge/2.1"),
                (STRICT_TRANSPORT_SECURITY, "max-age=31536000"),
                (X_CONTENT_TYPE_OPTIONS, "nosniff"),
                (REQUEST_ID, "6f1d2c3b"),
            ] {
                headers.insert(name, HeaderValue::from_static(value));
            }
            headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
        }
        if self.variant.client_connections == ClientConnections::Close {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

fn relay_path(path: RelayPath, profile: String) -> String {
    match path {
        RelayPath::Profile => profile,
        RelayPath::Other => "/api/2026-03/sessions:verify?via=edge%20one".to_owned(),
        RelayPath::Root => "/".to_owned(),
    }
}

fn request_headers(headers: RequestHeaders) -> HeaderMap {
    if headers == RequestHeaders::None {
        return HeaderMap::new();
    }
    let trace_parent = HeaderName::from_static("traceparent");
    HeaderMap::from_iter([
        (USER_AGENT, HeaderValue::from_static("edge/2.1 (+https://shop.example)")),
        (ACCEPT, HeaderValue::from_static("application/json, */*;q=0.5")),
        (trace_parent, HeaderValue::from_static("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")),
        (REQUEST_ID, HeaderValue::from_static("6f1d2c3b")),
    ])
}

/// The reply without one member; unchanged if it is no JSON object.
fn without_member(reply: Bytes, member: &str) -> Bytes {
    let Ok(Value::Object(mut members)) = serde_json::from_slice(&reply) else { return reply };
    members.remove(member);
    Value::Object(members).to_string().into()
}

/// Log lines for a refusal that the reference edge logs as `line`.
fn log_lines(format: LogFormat, line: &str) -> String {
    let field = |name: &str| {
        let (_, rest) = line.split_once(name).unwrap_or_default();
        rest.split(' ').next().unwrap_or_default()
    };
    let (status, reason) = (field("status="), field("reason="));
    match format {
        LogFormat::Text => line.to_owned(),
        LogFormat::Json => format!(
            r#"{{"time":"2026-03-01T04:01:03.403Z","level":"warn","msg":"refused","status":{status},"reason":"{reason}"}}"#
        ),
        LogFormat::Coded => format!("service_rejected status={status} reason={reason}"),
        LogFormat::AmongOthers => format!(
            "2026-03-01 04:01:03,409 INFO answering POST /v1/signals with {status} after 403 us\n\
             2026-03-01 04:01:03,409 WARNING refused: {reason} ({status})\n2026-03-01 04:01:03,410 DEBUG done"
        ),
    }
}

fn reversed(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(members.into_iter().rev().collect::<Map<_, _>>()),
        other => other,
    }
}
