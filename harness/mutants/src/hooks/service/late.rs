use std::sync::atomic::Ordering;

use bytes::Bytes;
use edgeproof_mock::{ServiceDecision, ServiceEndpoint, ServiceRequest};
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::state::{LATE_AFTER, ServiceMutant, authorization, json_answer};
use crate::mutation::{ServiceBehaviour, edit_object};

impl ServiceMutant {
    /// Changes an answer after many requests.
    pub(super) fn change_late(&self, request: &ServiceRequest<'_>, decision: &mut ServiceDecision) {
        use ServiceBehaviour as B;
        let counter = match request.endpoint {
            ServiceEndpoint::Verdict => &self.verdict_requests,
            ServiceEndpoint::KeySet => &self.late_key_set_requests,
            ServiceEndpoint::Relay | ServiceEndpoint::Nothing => return,
        };
        if counter.fetch_add(1, Ordering::Relaxed) < LATE_AFTER {
            return;
        }
        let keys = request.endpoint == ServiceEndpoint::KeySet;
        let refused = decision.status == StatusCode::UNAUTHORIZED.as_u16();
        let cached = HeaderValue::from_static("public, max-age=86400");
        match self.behaviour {
            B::FailsLate if !keys => {
                *decision = json_answer(StatusCode::INTERNAL_SERVER_ERROR, r#"{"error":"internal"}"#);
            }
            B::AddsMemberLate if !keys && !refused => {
                edit_object(&mut decision.body, |body| drop(body.insert("since".into(), json!(1))));
            }
            B::CachesLate if !keys => drop(decision.headers.insert(CACHE_CONTROL, cached)),
            B::EchoesLate if !keys => {
                let token = authorization(request).unwrap_or_default();
                let hex = token.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
                if let Ok(value) = HeaderValue::from_str(&hex) {
                    decision.headers.insert(HeaderName::from_static("x-trace"), value);
                }
            }
            B::TextLate if refused => {
                decision.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
                decision.body = Bytes::from_static(b"Unauthorized");
            }
            B::KeysCachedLate if keys => drop(decision.headers.insert(CACHE_CONTROL, cached)),
            B::PrivateKeysLate if keys => edit_object(&mut decision.body, |set| {
                if let Some(Value::Array(keys)) = set.get_mut("keys") {
                    for key in keys.iter_mut() {
                        key["d"] = key["x"].clone();
                    }
                }
            }),
            _ => {}
        }
    }
}
