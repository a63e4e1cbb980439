use std::sync::atomic::Ordering;

use bytes::Bytes;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_mock::{ServiceDecision, ServiceEndpoint, ServiceRequest, SessionFact};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::state::{ServiceMutant, json_answer as answer};
use crate::mutation::{ServiceBehaviour, edit_object};

/// One day (ms).
const DAY: f64 = 86_400_000.0;
const UNAUTHORIZED: &str = r#"{"error":"unauthorized"}"#;

/// Verdict that no collection led to.
pub(super) fn invented(reference: &str) -> SessionFact {
    let verdict = json!({ "ref": reference, "decision": "allow", "confidence": 1.0 });
    SessionFact::Ready(Bytes::from(verdict.to_string()))
}

/// Value of the parameter `waitMs`.
pub(super) fn wait_ms<'a>(request: &ServiceRequest<'a>) -> Option<&'a str> {
    parameters(request).find(|(name, _)| *name == "waitMs").map(|(_, value)| value)
}

fn parameters<'a>(request: &ServiceRequest<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    let query = request.target.split_once('?').map_or("", |(_, query)| query);
    query.split('&').filter(|part| !part.is_empty()).map(|part| part.split_once('=').unwrap_or((part, "")))
}

impl ServiceMutant {
    /// Answers before the mock service checks anything.
    pub(super) fn answer_at_once(&self, request: &ServiceRequest<'_>) -> Option<ServiceDecision> {
        use ServiceBehaviour as B;
        if request.endpoint == ServiceEndpoint::KeySet
            && request.method == Method::HEAD
            && self.behaviour == B::NoHead
        {
            return Some(answer(StatusCode::METHOD_NOT_ALLOWED, r#"{"error":"method_not_allowed"}"#));
        }
        if request.endpoint != ServiceEndpoint::Verdict {
            return None;
        }
        let wait = wait_ms(request);
        let number = wait.and_then(|wait| wait.parse::<f64>().ok());
        let is_digits =
            wait.is_none_or(|wait| !wait.is_empty() && wait.bytes().all(|byte| byte.is_ascii_digit()));
        let others = parameters(request).filter(|(name, _)| *name != "waitMs").count();
        let twice = parameters(request).filter(|(name, _)| *name == "waitMs").count() > 1;
        let bad = || answer(StatusCode::BAD_REQUEST, r#"{"error":"bad_request"}"#);
        let failed = || answer(StatusCode::INTERNAL_SERVER_ERROR, r#"{"error":"internal"}"#);
        match self.behaviour {
            B::RefusesWaits if wait.is_some() => Some(answer(StatusCode::UNAUTHORIZED, UNAUTHORIZED)),
            B::RejectsWait if wait.is_some() => Some(bad()),
            B::RequiresWait if wait.is_none() && request.headers.contains_key(AUTHORIZATION) => Some(bad()),
            B::FailsOnText if !is_digits => Some(failed()),
            B::FailsOnUnknown if others > 0 || twice => Some(failed()),
            B::FailsOnLongWait if number.is_some_and(|wait| wait > DAY) => Some(failed()),
            _ => None,
        }
    }

    /// Changes an answer of the verdict endpoint.
    pub(super) fn change_verdict(&self, request: &ServiceRequest<'_>, decision: &mut ServiceDecision) {
        use ServiceBehaviour as B;
        let reference = request.reference.unwrap_or_default();
        let available = decision.stimulus == Some(Stimulus::VerdictReady);
        let refused = decision.status == StatusCode::UNAUTHORIZED.as_u16();
        let pending = !available && !refused;
        match self.behaviour {
            B::LooksUpFirst if available && self.has_refused(request) => {
                *decision = answer(StatusCode::UNAUTHORIZED, UNAUTHORIZED);
            }
            B::CachesForAll if refused => {
                if let Some(cached) = self.cached.lock().get(request.target) {
                    *decision = cached.clone();
                }
            }
            B::CachesForAll => drop(self.cached.lock().insert(request.target.to_owned(), decision.clone())),
            B::RevealsCause if pending => {
                let why = decision.stimulus.map_or("", Stimulus::name);
                decision.headers.insert(HeaderName::from_static("x-reason"), HeaderValue::from_static(why));
            }
            B::ForbidsOtherLicense if decision.stimulus == Some(Stimulus::ReferenceOtherLicense) => {
                *decision = answer(StatusCode::FORBIDDEN, r#"{"error":"forbidden"}"#);
            }
            B::PendingIs200 if pending => decision.status = StatusCode::OK.as_u16(),
            B::PendingUnnamed if pending => {
                edit_object(&mut decision.body, |body| drop(body.shift_remove("ref")));
            }
            B::PendingPage if pending => {
                decision.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
                decision.body = Bytes::from_static(b"<!doctype html><title>404 Not Found</title>");
            }
            B::PendingDetail if pending => {
                decision.body = Bytes::from_static(br#"{"detail":"Not Found"}"#);
            }
            B::PendingIs204 if pending => {
                decision.status = StatusCode::NO_CONTENT.as_u16();
                decision.body = Bytes::new();
            }
            B::OtherVerdict if available => {
                edit_object(&mut decision.body, |body| drop(body.insert("ref".into(), json!("another"))));
            }
            B::ReturnsOnce if available && !self.used.lock().insert(reference.to_owned()) => {
                *decision = pending_answer(reference);
            }
            B::DeletesOnReplay if available && self.replayed.load(Ordering::Relaxed) => {
                *decision = pending_answer(reference);
            }
            B::ReturnsEmpty if available => decision.body = Bytes::new(),
            B::CorruptsSignature if available => edit_object(&mut decision.body, |body| {
                if let Some(Value::String(token)) = body.get_mut("token") {
                    *token = altered(token);
                }
            }),
            _ if pending => self.change_reference(request, reference, decision),
            _ => {}
        }
        self.change_headers(decision);
    }

    /// Changes an answer to an edge.
    pub(super) fn change_relay(&self, decision: &mut ServiceDecision) {
        let copy = matches!(decision.stimulus, Some(Stimulus::Replayed | Stimulus::ReplayedElsewhere));
        match self.behaviour {
            ServiceBehaviour::AcceptsReplays if copy => *decision = answer(StatusCode::OK, r#"{"ok":true}"#),
            ServiceBehaviour::AcknowledgesReplays if copy => {
                *decision = answer(StatusCode::ACCEPTED, r#"{"ok":true,"duplicate":true}"#);
            }
            ServiceBehaviour::DeletesOnReplay if copy => self.replayed.store(true, Ordering::Relaxed),
            _ => {}
        }
    }

    /// Changes the reference of a pending verdict.
    fn change_reference(
        &self,
        request: &ServiceRequest<'_>,
        reference: &str,
        decision: &mut ServiceDecision,
    ) {
        use ServiceBehaviour as B;
        let path = request.target.split('?').next().unwrap_or_default();
        let name = match self.behaviour {
            B::DecodesTwice => decoded(reference),
            B::ReturnsEncoded => path.rsplit('/').next().unwrap_or_default().to_owned(),
            B::DecodesPlus => reference.replace('+', " "),
            B::LowerCasesReference => reference.to_lowercase(),
            B::EscapesReference => html(reference),
            B::TrimsReference => reference.trim().to_owned(),
            B::ComposesReference => reference.replace("e\u{301}", "é"),
            B::CutsLongReference => reference.chars().take(255).collect(),
            B::DropsExtension => match reference.rsplit_once('.') {
                Some((name, "json" | "html")) => name.to_owned(),
                _ => return,
            },
            B::MixesWaits if wait_ms(request).is_some() => {
                self.last_reference.lock().clone().unwrap_or_else(|| reference.to_owned())
            }
            B::CutsReference => reference.split('/').next().unwrap_or_default().to_owned(),
            B::FirstReference => {
                let mut firsts = self.first_references.lock();
                firsts.entry(request.connection).or_insert_with(|| reference.to_owned()).clone()
            }
            B::PreviousReference => self
                .last_reference
                .lock()
                .replace(reference.to_owned())
                .unwrap_or_else(|| reference.to_owned()),
            _ => return,
        };
        edit_object(&mut decision.body, |body| drop(body.insert("ref".into(), json!(name))));
    }
}

/// Answer to a pending verdict.
pub(super) fn pending_answer(reference: &str) -> ServiceDecision {
    let body = json!({ "status": "pending", "ref": reference });
    ServiceDecision { body: Bytes::from(body.to_string()), ..answer(StatusCode::NOT_FOUND, "") }
}

/// Percent-decodes a text.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Escapes a text for HTML.
fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// Changes a letter in the middle of the signature.
fn altered(token: &str) -> String {
    let Some((rest, signature)) = token.rsplit_once('.') else { return token.to_owned() };
    let at = signature.len() / 2;
    let other = if signature[at..].starts_with('A') { 'B' } else { 'A' };
    format!("{rest}.{}{other}{}", &signature[..at], &signature[at + 1..])
}
