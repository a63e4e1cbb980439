use std::time::{Duration, SystemTime};

use edgeproof_fixtures::key_set::KeySet;
use edgeproof_fixtures::spec::{Endpoint, Spec};
use edgeproof_http::{Draft, NoAnswer};
use edgeproof_reports::difference::HeaderRule;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::shape::parse_key_set;
use crate::cases::{
    Exchange, ServiceCaseContext, ServiceTarget, key_set_draft, summary, without_private_keys,
};
use crate::judge::{self, AnswerResult, Check};
use crate::request_text::{EXAMPLE_SERVICE, example_address, request_lines};

/// One request for the key set with its expected answer: pure data.
#[derive(Debug, Clone)]
pub struct KeySetExchange {
    method: &'static str,
    rules: Vec<KeySetRule>,
}

/// What the answer to a request for the key set has to be, or what is observed of it.
#[derive(Debug, Clone)]
pub enum KeySetRule {
    /// This status.
    Status(u16),
    /// A JSON body.
    Json,
    /// A key set that passes these checks. The text says what it has.
    Keys(&'static str, fn(&KeySet) -> Vec<Check>),
    /// Content type JSON.
    JsonContentType,
    /// An entity tag.
    EntityTag,
    /// Caches keep it for at most this time.
    CachedFor(Duration),
    /// Behaviour at an open point. None: the point has the case's id.
    Observe(KeySetObservation, Option<&'static str>),
}

/// What a case observes of an answer.
#[derive(Debug, Clone, Copy)]
pub enum KeySetObservation {
    /// The status or the lack of an answer.
    Status,
    /// `Content-Type`.
    ContentType,
    /// Whether a credential is required.
    Credential,
    /// `Cache-Control`.
    Caching,
    /// `max-age` in `Cache-Control`.
    MaxAge,
}

impl KeySetExchange {
    /// A plain request.
    pub(super) fn get() -> Self {
        Self::with_method("GET")
    }

    /// A request with another method.
    pub(super) fn with_method(method: &'static str) -> Self {
        Self { method, rules: Vec::new() }
    }

    /// Adds what the answer has to be.
    #[must_use]
    pub(super) fn expect(mut self, rule: KeySetRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Observes this of the answer.
    #[must_use]
    pub(super) fn observe(self, seen: KeySetObservation) -> Self {
        self.expect(KeySetRule::Observe(seen, None))
    }

    /// Observes this of the answer, at an open point of its own.
    #[must_use]
    pub(super) fn observe_at(self, point: &'static str, seen: KeySetObservation) -> Self {
        self.expect(KeySetRule::Observe(seen, Some(point)))
    }

    fn draft(&self, spec: &Spec) -> Draft {
        Draft { method: self.method.into(), ..key_set_draft(spec.path(Endpoint::KeySet)) }
    }
}

impl Exchange<ServiceTarget> for KeySetExchange {
    fn play<'a>(&'a self, context: &'a mut ServiceCaseContext) -> BoxFuture<'a, bool> {
        async move {
            let draft = self.draft(context.spec());
            let reply = context.fetch_key_set(&draft).await;
            let received = context.wall_clock();
            for rule in &self.rules {
                rule.judge(context, &reply, received);
            }
            !matches!(reply, Err(NoAnswer::TimedOut(_)))
        }
        .boxed()
    }

    fn points(&self, case: &str) -> Vec<String> {
        let point = |rule: &KeySetRule| match rule {
            KeySetRule::Observe(_, point) => Some(point.unwrap_or(case).to_owned()),
            _ => None,
        };
        self.rules.iter().filter_map(point).collect()
    }

    fn describe(&self, spec: &Spec) -> Vec<String> {
        let mut lines = request_lines(&example_address(EXAMPLE_SERVICE), &self.draft(spec));
        lines.extend(self.rules.iter().filter_map(KeySetRule::describe));
        lines
    }
}

impl KeySetRule {
    fn judge(&self, context: &mut ServiceCaseContext, reply: &AnswerResult, received: SystemTime) {
        let checks = match self {
            Self::Status(status) => vec![judge::status_is(*status, reply)],
            Self::Json => vec![judge::is_json(&without_private_keys(reply.clone()))],
            Self::Keys(_, checks) => {
                let set = parse_key_set(context, reply);
                set.map(|set| checks(&set)).unwrap_or_default()
            }
            Self::JsonContentType => vec![judge::json_content_type(reply)],
            Self::EntityTag => {
                let check = judge::header_has("etag", HeaderRule::EntityTag, is_tag, reply);
                // No cache revalidates what it may not store. A tag that is there is one.
                let is_absent = reply.as_ref().is_ok_and(|answer| !answer.headers.contains_key("etag"));
                let ok = check.ok || is_absent && judge::is_never_stored(reply);
                vec![Check { ok, ..check }]
            }
            Self::CachedFor(longest) => {
                vec![
                    judge::fresh_for(*longest, reply, received),
                    judge::cache_time_bounded(*longest, reply, received),
                ]
            }
            Self::Observe(seen, Some(point)) => return context.observe(point, seen.of(reply)),
            Self::Observe(seen, None) => return context.observe_case(seen.of(reply)),
        };
        context.checks(checks);
    }

    fn describe(&self) -> Option<String> {
        Some(match self {
            Self::Status(status) => format!("expected answer: {status}"),
            Self::Json => "the body is JSON".to_owned(),
            Self::Keys(what, _) => format!("expected answer: a key set with {what}"),
            Self::JsonContentType => "the answer has Content-Type: application/json".to_owned(),
            Self::EntityTag => "the answer has an ETag, unless no cache may store it".to_owned(),
            Self::CachedFor(longest) => {
                format!("caches may keep the answer for at most {}", humantime::format_duration(*longest))
            }
            Self::Observe(..) => return None,
        })
    }
}

impl KeySetObservation {
    fn of(self, reply: &AnswerResult) -> String {
        let header = |name: &str| reply.as_ref().ok().and_then(|answer| answer.headers.get(name));
        match self {
            Self::Status => summary::status(reply),
            Self::ContentType => {
                header("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or("none").to_owned()
            }
            Self::Credential => match reply {
                Ok(answer) if matches!(answer.status, 401 | 403) => "asks for one".to_owned(),
                Ok(answer) if KeySet::parse(&answer.body).is_ok() => "none".to_owned(),
                other => summary::status(other),
            },
            Self::Caching => match header("cache-control") {
                Some(value) => format!("Cache-Control: {}", String::from_utf8_lossy(value.as_bytes())),
                None => "no Cache-Control".to_owned(),
            },
            Self::MaxAge => {
                let control = header("cache-control").and_then(|value| value.to_str().ok()).unwrap_or("");
                let mut ages = control.split(',').filter_map(|part| {
                    let (name, value) = part.split_once('=')?;
                    name.trim()
                        .eq_ignore_ascii_case("max-age")
                        .then(|| value.trim().trim_matches('"').to_owned())
                });
                ages.next().unwrap_or_else(|| "none".to_owned())
            }
        }
    }
}

/// Whether a value is an entity tag (RFC 9110 §8.8.3).
fn is_tag(value: &str) -> bool {
    let opaque = value.strip_prefix("W/").unwrap_or(value);
    opaque.len() >= 2 && opaque.starts_with('"') && opaque.ends_with('"')
}
