use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, HeaderValue, IF_NONE_MATCH};
use serde_json::{Value, json};

use super::{ServiceBehaviour, Serving};
use crate::kind::edit;
use crate::quirks::lock;
use edgeproof_mock::{ServiceDecision, ServiceRequest};

impl Serving {
    /// Publishes otherwise, where that is the behaviour.
    pub(super) fn keys(&self, asked: &ServiceRequest<'_>, decision: &mut ServiceDecision) {
        use ServiceBehaviour as B;
        let value = HeaderValue::from_static;
        match self.behaviour {
            B::LongLife => drop(decision.headers.insert(CACHE_CONTROL, value("public, max-age=86400"))),
            B::NoCacheLimit => {
                decision.headers.insert(CACHE_CONTROL, value("public, immutable"));
                decision.headers.insert(EXPIRES, value("Fri, 31 Dec 9999 23:59:59 GMT"));
            }
            B::NoTag => drop(decision.headers.remove(ETAG)),
            B::NeverUnchanged => self.whole(asked, decision),
            B::AlwaysUnchanged if asked.headers.contains_key(IF_NONE_MATCH) => {
                decision.status = StatusCode::NOT_MODIFIED.as_u16();
                decision.body = Bytes::new();
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
            B::Unstable if self.asked.fetch_add(1, Ordering::Relaxed) % 2 == 1 => {
                self.publish_others(decision);
            }
            B::OtherKeys => self.publish_others(decision),
            _ => edit(&mut decision.body, |set| {
                if let Some(Value::Array(keys)) = set.get_mut("keys") {
                    change(self.behaviour, keys);
                }
            }),
        }
    }

    fn publish_others(&self, decision: &mut ServiceDecision) {
        decision.body = Bytes::from(self.others.key_set().to_json());
    }

    /// The key set in place of the word that it is unchanged: as it was given before.
    fn whole(&self, asked: &ServiceRequest<'_>, decision: &mut ServiceDecision) {
        let mut cached = lock(&self.cached);
        if decision.status == StatusCode::OK.as_u16() {
            cached.insert(asked.target.to_owned(), decision.clone());
        } else if let Some(whole) = cached.get(asked.target) {
            *decision = whole.clone();
        }
    }
}

fn change(behaviour: ServiceBehaviour, keys: &mut Vec<Value>) {
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
        B::HollowKeys => keys.iter_mut().for_each(|key| {
            if let Value::Object(members) = key {
                members.shift_remove("x");
            }
        }),
        B::NoKeys => keys.clear(),
        _ => {}
    }
}
