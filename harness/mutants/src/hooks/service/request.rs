use bytes::Bytes;
use edgeproof_fixtures::credentials::READ_PREFIX;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_mock::{ServiceDecision, ServiceEndpoint, ServiceRequest, SessionFact};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, IF_NONE_MATCH, RANGE};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::state::{ServiceMutant, json_answer as answer};
use super::verdict::{pending_answer, wait_ms};
use crate::mutation::ServiceBehaviour;

impl ServiceMutant {
    /// Answers because of something else in a request than its reference and its token.
    pub(super) fn answer_by_request(&self, request: &ServiceRequest<'_>) -> Option<ServiceDecision> {
        use ServiceBehaviour as B;
        if request.endpoint != ServiceEndpoint::Verdict {
            return None;
        }
        let reference = request.reference.unwrap_or_default();
        let token_in = |name: &str| {
            let value = request.headers.get(name).and_then(|value| value.to_str().ok());
            value.is_some_and(|value| value.contains(READ_PREFIX))
        };
        let has_token = request.headers.contains_key(AUTHORIZATION);
        let local = request.headers.get("x-forwarded-for").is_some_and(|value| value == "127.0.0.1");
        if self.behaviour == B::MixesWaits && wait_ms(request).is_some() {
            self.last_reference.lock().replace(reference.to_owned());
        }
        let trusts = match self.behaviour {
            B::TakesQueryToken => request.target.contains("token=service_read_"),
            B::TakesOtherHeader => token_in("x-api-key") || token_in("cookie"),
            B::TrustsLocalhost => local,
            B::RemembersToken => self.trusted.lock().contains(&request.connection),
            _ => false,
        };
        match self.behaviour {
            _ if trusts && !has_token => Some(pending_answer(reference)),
            B::ReservesNames if matches!(reference, "health" | "constructor") => {
                Some(answer(StatusCode::OK, r#"{"ok":true}"#))
            }
            B::HeadWithoutToken if request.method == Method::HEAD => Some(answer(StatusCode::OK, "{}")),
            B::RefusesRange if request.headers.contains_key(RANGE) => {
                Some(answer(StatusCode::RANGE_NOT_SATISFIABLE, r#"{"error":"range"}"#))
            }
            _ => None,
        }
    }

    /// Changes an answer because of something else in its request than its reference and its token.
    pub(super) fn change_by_request(&self, request: &ServiceRequest<'_>, decision: &mut ServiceDecision) {
        use ServiceBehaviour as B;
        if request.endpoint != ServiceEndpoint::Verdict {
            return;
        }
        let reference = request.reference.unwrap_or_default();
        let refused = decision.status == StatusCode::UNAUTHORIZED.as_u16();
        // Every refusal of a token with an unreadable part.
        let is_malformed = refused
            && matches!(
                decision.stimulus,
                Some(
                    Stimulus::ReadTokenMalformed
                        | Stimulus::ReadTokenTruncated
                        | Stimulus::ReadTokenFooterDamaged
                        | Stimulus::ReadTokenPayloadDamaged
                )
            );
        let browser =
            request.headers.get_all(ACCEPT).iter().any(|accept| accept.as_bytes().starts_with(b"text/html"));
        match self.behaviour {
            B::RemembersToken if !refused => drop(self.trusted.lock().insert(request.connection)),
            B::UnmodifiedPending if request.headers.contains_key(IF_NONE_MATCH) && !refused => {
                decision.status = StatusCode::NOT_MODIFIED.as_u16();
                decision.body = Bytes::new();
            }
            B::HtmlRefusals if refused && browser => {
                decision.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
                decision.body = Bytes::from_static(b"<!doctype html><title>401</title>");
            }
            B::TextRefusals if refused => {
                decision.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
                decision.body = Bytes::from_static(b"Unauthorized");
            }
            B::RefusesWith403 if refused => decision.status = StatusCode::FORBIDDEN.as_u16(),
            B::MalformedIs400 if is_malformed => decision.status = StatusCode::BAD_REQUEST.as_u16(),
            B::MalformedIs500 if is_malformed => {
                decision.status = StatusCode::INTERNAL_SERVER_ERROR.as_u16();
                decision.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
                decision.body = Bytes::from_static(b"<!doctype html><title>Internal Server Error</title>");
            }
            B::DetailRefusals if refused => rewrite(decision, |code| json!({ "detail": code })),
            B::SpringRefusals if refused => rewrite(decision, |code| {
                json!({
                    "timestamp": "2025-03-14T09:26:53.589+00:00",
                    "status": 401,
                    "error": "Unauthorized",
                    "message": code,
                    "path": "/v1/verdict",
                })
            }),
            B::RevealsOtherLicense if decision.stimulus == Some(Stimulus::ReferenceOtherLicense) => {
                let name = HeaderName::from_static("x-other-license");
                decision.headers.insert(name, HeaderValue::from_static("1"));
            }
            B::DeletesOnDelete if self.used.lock().contains(request.target) && !refused => {
                *decision = pending_answer(reference);
            }
            _ => {}
        }
    }

    /// Remembers a DELETE.
    pub(super) fn note_delete(&self, request: &ServiceRequest<'_>) {
        if self.behaviour == ServiceBehaviour::DeletesOnDelete && request.method == Method::DELETE {
            self.used.lock().insert(request.target.to_owned());
        }
    }

    /// Finds the verdict of a reference in other letters.
    pub(super) fn ignore_case(&self, reference: &str, right: SessionFact) -> SessionFact {
        let lower = reference.to_lowercase();
        let mut known = self.ready.lock();
        if let SessionFact::Ready(verdict) = &right {
            known.insert(lower, verdict.clone());
            return right;
        }
        known.get(&lower).map_or(right, |verdict| SessionFact::Ready(verdict.clone()))
    }
}

/// Puts the code of a refusal into a body of another shape.
fn rewrite(decision: &mut ServiceDecision, body: impl FnOnce(Value) -> Value) {
    let right: Value = serde_json::from_slice(&decision.body).unwrap_or_default();
    decision.body = Bytes::from(body(right["error"].clone()).to_string());
}
