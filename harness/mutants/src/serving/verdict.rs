use std::sync::atomic::Ordering;

use bytes::Bytes;
use edgeproof_fixtures::spec::Stimulus;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::{ServiceBehaviour, Serving, json as answer};
use crate::kind::edit;
use crate::quirks::lock;
use edgeproof_mock::{ServiceDecision, ServiceEndpoint, ServiceRequest, SessionFact};

/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;
const UNAUTHORIZED: &str = r#"{"error":"unauthorized"}"#;

/// A verdict that came about from nothing.
pub(super) fn invented(reference: &str) -> SessionFact {
    let verdict = json!({ "ref": reference, "decision": "allow", "confidence": 1.0 });
    SessionFact::Ready(Bytes::from(verdict.to_string()))
}

/// What a request says of waiting.
pub(super) fn wait<'a>(asked: &ServiceRequest<'a>) -> Option<&'a str> {
    parameters(asked).find(|(name, _)| *name == "waitMs").map(|(_, value)| value)
}

fn parameters<'a>(asked: &ServiceRequest<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let query = asked.target.split_once('?').map_or("", |(_, query)| query);
    query.split('&').filter(|part| !part.is_empty()).map(|part| part.split_once('=').unwrap_or((part, "")))
}

impl Serving {
    /// Answers before anything is looked at, where that is the behaviour.
    pub(super) fn rejects(&self, asked: &ServiceRequest<'_>) -> Option<ServiceDecision> {
        use ServiceBehaviour as B;
        if asked.endpoint == ServiceEndpoint::KeySet
            && asked.method == Method::HEAD
            && self.behaviour == B::NoHead
        {
            return Some(answer(StatusCode::METHOD_NOT_ALLOWED, r#"{"error":"method_not_allowed"}"#));
        }
        if asked.endpoint != ServiceEndpoint::Verdict {
            return None;
        }
        let wait = wait(asked);
        let number = wait.and_then(|wait| wait.parse::<f64>().ok());
        let is_digits =
            wait.is_none_or(|wait| !wait.is_empty() && wait.bytes().all(|byte| byte.is_ascii_digit()));
        let others = parameters(asked).filter(|(name, _)| *name != "waitMs").count();
        let twice = parameters(asked).filter(|(name, _)| *name == "waitMs").count() > 1;
        let bad = || answer(StatusCode::BAD_REQUEST, r#"{"error":"bad_request"}"#);
        let failed = || answer(StatusCode::INTERNAL_SERVER_ERROR, r#"{"error":"internal"}"#);
        match self.behaviour {
            B::RefusesWaits if wait.is_some() => Some(answer(StatusCode::UNAUTHORIZED, UNAUTHORIZED)),
            B::RejectsWait if wait.is_some() => Some(bad()),
            B::NeedsWait if wait.is_none() && asked.headers.contains_key(AUTHORIZATION) => Some(bad()),
            B::FailsOnWords if !is_digits => Some(failed()),
            B::FailsOnUnknown if others > 0 || twice => Some(failed()),
            B::FailsOnAges if number.is_some_and(|wait| wait > DAY) => Some(failed()),
            _ => None,
        }
    }

    /// Answers a request for a verdict otherwise, where that is the behaviour.
    pub(super) fn verdict(&self, asked: &ServiceRequest<'_>, decision: &mut ServiceDecision) {
        use ServiceBehaviour as B;
        let reference = asked.reference.unwrap_or_default();
        let there = decision.stimulus == Some(Stimulus::VerdictReady);
        let refused = decision.status == StatusCode::UNAUTHORIZED.as_u16();
        let pending = !there && !refused;
        match self.behaviour {
            B::LooksUpFirst if there && self.has_refused(asked) => {
                *decision = answer(StatusCode::UNAUTHORIZED, UNAUTHORIZED);
            }
            B::Caches if refused => {
                if let Some(cached) = lock(&self.cached).get(asked.target) {
                    *decision = cached.clone();
                }
            }
            B::Caches => drop(lock(&self.cached).insert(asked.target.to_owned(), decision.clone())),
            B::TellsWhy if pending => {
                let why = decision.stimulus.map_or("", Stimulus::name);
                decision.headers.insert(HeaderName::from_static("x-reason"), HeaderValue::from_static(why));
            }
            B::ForbidsOtherLicense if decision.stimulus == Some(Stimulus::ReferenceOtherLicense) => {
                *decision = answer(StatusCode::FORBIDDEN, r#"{"error":"forbidden"}"#);
            }
            B::PendingIs200 if pending => decision.status = StatusCode::OK.as_u16(),
            B::PendingUnnamed if pending => edit(&mut decision.body, |body| drop(body.shift_remove("ref"))),
            B::OtherVerdict if there => {
                edit(&mut decision.body, |body| drop(body.insert("ref".into(), json!("another"))));
            }
            B::GivesOnce if there && !lock(&self.given).insert(reference.to_owned()) => {
                *decision = none(reference);
            }
            B::RevokesCopied if there && self.copied.load(Ordering::Relaxed) => *decision = none(reference),
            B::GivesEmpty if there => decision.body = Bytes::new(),
            B::BadSignature if there => edit(&mut decision.body, |body| {
                if let Some(Value::String(token)) = body.get_mut("token") {
                    *token = altered(token);
                }
            }),
            _ if pending => self.name(asked, reference, decision),
            _ => {}
        }
        self.label(decision);
    }

    /// Answers an edge otherwise, where that is the behaviour.
    pub(super) fn relay(&self, decision: &mut ServiceDecision) {
        let copy = matches!(decision.stimulus, Some(Stimulus::Replayed | Stimulus::ReplayedElsewhere));
        match self.behaviour {
            ServiceBehaviour::AcceptsCopies if copy => *decision = answer(StatusCode::OK, r#"{"ok":true}"#),
            ServiceBehaviour::RevokesCopied if copy => self.copied.store(true, Ordering::Relaxed),
            _ => {}
        }
    }

    /// Tells another reference back, where that is the behaviour.
    fn name(&self, asked: &ServiceRequest<'_>, reference: &str, decision: &mut ServiceDecision) {
        use ServiceBehaviour as B;
        let path = asked.target.split('?').next().unwrap_or_default();
        let name = match self.behaviour {
            B::DecodesTwice => decoded(reference),
            B::TellsEncoded => path.rsplit('/').next().unwrap_or_default().to_owned(),
            B::PlusIsSpace => reference.replace('+', " "),
            B::LowersReference => reference.to_lowercase(),
            B::EscapesReference => html(reference),
            B::CutsReference => reference.split('/').next().unwrap_or_default().to_owned(),
            B::FirstReference => {
                let mut firsts = lock(&self.firsts);
                firsts.entry(asked.connection).or_insert_with(|| reference.to_owned()).clone()
            }
            B::MixesUp => {
                lock(&self.last).replace(reference.to_owned()).unwrap_or_else(|| reference.to_owned())
            }
            _ => return,
        };
        edit(&mut decision.body, |body| drop(body.insert("ref".into(), json!(name))));
    }
}

/// The pending marker.
fn none(reference: &str) -> ServiceDecision {
    let body = json!({ "status": "pending", "ref": reference });
    ServiceDecision { body: Bytes::from(body.to_string()), ..answer(StatusCode::NOT_FOUND, "") }
}

/// Percent signs decoded.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// As HTML has it.
fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// Another letter in the middle of the last part.
fn altered(token: &str) -> String {
    let Some((rest, signature)) = token.rsplit_once('.') else { return token.to_owned() };
    let at = signature.len() / 2;
    let other = if signature[at..].starts_with('A') { 'B' } else { 'A' };
    format!("{rest}.{}{other}{}", &signature[..at], &signature[at + 1..])
}
