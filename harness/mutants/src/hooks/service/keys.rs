use std::sync::atomic::Ordering;

use bytes::Bytes;
use edgeproof_mock::{ServiceDecision, ServiceRequest};
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, HeaderValue, IF_NONE_MATCH};
use serde_json::{Value, json};

use super::state::ServiceMutant;
use crate::mutation::{ServiceBehaviour, edit_object};

impl ServiceMutant {
    /// Changes an answer of the key set.
    pub(super) fn change_key_set(&self, request: &ServiceRequest<'_>, decision: &mut ServiceDecision) {
        use ServiceBehaviour as B;
        let value = HeaderValue::from_static;
        match self.behaviour {
            B::CachedForADay => drop(decision.headers.insert(CACHE_CONTROL, value("public, max-age=86400"))),
            B::NoCacheLimit => {
                decision.headers.insert(CACHE_CONTROL, value("public, immutable"));
                decision.headers.insert(EXPIRES, value("Fri, 31 Dec 9999 23:59:59 GMT"));
            }
            B::NoTag => drop(decision.headers.remove(ETAG)),
            B::Never304 => self.answer_whole(request, decision),
            B::Always304 if request.headers.contains_key(IF_NONE_MATCH) => {
                decision.status = StatusCode::NOT_MODIFIED.as_u16();
                decision.body = Bytes::new();
            }
            B::QueryKeys if request.target.contains('?') => {
                decision.body = Bytes::from_static(br#"{"keys":[]}"#);
            }
            B::Loose304 if is_similar_tag(request, decision) => {
                decision.status = StatusCode::NOT_MODIFIED.as_u16();
                decision.body = Bytes::new();
            }
            B::HeadWithoutTag if request.method == http::Method::HEAD => {
                decision.headers.remove(ETAG);
            }
            B::PageForKeys => {
                decision.headers.insert(CONTENT_TYPE, value("text/html"));
                decision.body = Bytes::from_static(b"<!doctype html><title>Keys</title>");
            }
            B::BareArray => {
                if let Ok(set) = serde_json::from_slice::<Value>(&decision.body) {
                    decision.body = Bytes::from(set["keys"].to_string());
                }
            }
            B::AlternatingKeys if self.key_set_requests.fetch_add(1, Ordering::Relaxed) % 2 == 1 => {
                self.publish_other_keys(decision);
            }
            B::KeysOfOneServer if self.key_set_requests.fetch_add(1, Ordering::Relaxed) % 4 == 3 => {
                self.publish_other_keys(decision);
            }
            B::OtherKeys => self.publish_other_keys(decision),
            _ => edit_object(&mut decision.body, |set| {
                if let Some(Value::Array(keys)) = set.get_mut("keys") {
                    change_keys(self.behaviour, keys);
                }
            }),
        }
    }

    fn publish_other_keys(&self, decision: &mut ServiceDecision) {
        decision.body = Bytes::from(self.other_keys.key_set().to_json());
    }

    /// Answers the complete key set in place of 304.
    fn answer_whole(&self, request: &ServiceRequest<'_>, decision: &mut ServiceDecision) {
        let mut cached = self.cached.lock();
        if decision.status == StatusCode::OK.as_u16() {
            cached.insert(request.target.to_owned(), decision.clone());
        } else if let Some(whole) = cached.get(request.target) {
            *decision = whole.clone();
        }
    }
}

/// A condition contains the entity tag without its quotes.
fn is_similar_tag(request: &ServiceRequest<'_>, decision: &ServiceDecision) -> bool {
    let text = |value: Option<&HeaderValue>| value.and_then(|value| value.to_str().ok().map(str::to_owned));
    let (condition, tag) = (text(request.headers.get(IF_NONE_MATCH)), text(decision.headers.get(ETAG)));
    condition.zip(tag).is_some_and(|(condition, tag)| condition.contains(tag.trim_matches('"')))
}

fn change_keys(behaviour: ServiceBehaviour, keys: &mut Vec<Value>) {
    use ServiceBehaviour as B;
    let Some(first) = keys.first().cloned() else { return };
    match behaviour {
        B::PrivateKeys => keys.iter_mut().for_each(|key| key["d"] = first["x"].clone()),
        B::SymmetricKey => keys.push(json!({ "kty": "oct", "kid": "symmetric", "k": "c2VjcmV0" })),
        B::SameIds => {
            let mut second = first;
            second["use"] = json!("other");
            keys.push(second);
        }
        B::UnknownType => keys.push(json!({ "kty": "edgeproof", "kid": "unknown" })),
        B::EncryptionKeys => keys.iter_mut().for_each(|key| key["use"] = json!("enc")),
        B::HollowKeys => keys.iter_mut().for_each(|key| {
            if let Value::Object(members) = key {
                members.shift_remove("x");
            }
        }),
        B::NoKeys => keys.clear(),
        _ => {}
    }
}
