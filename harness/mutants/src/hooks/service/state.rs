use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize};

use bytes::Bytes;
use edgeproof_fixtures::verdict::VerdictKeys;
use edgeproof_mock::{ServiceDecision, ServiceRequest};
use http::StatusCode;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use parking_lot::Mutex;

use crate::mutation::ServiceBehaviour;

/// Fault hooks of a service behaviour, with their state.
#[derive(Debug)]
pub(super) struct ServiceMutant {
    pub(super) behaviour: ServiceBehaviour,
    /// `Authorization` values that the mock service refuses.
    pub(super) refused: Mutex<BTreeSet<String>>,
    /// Accepted `Authorization` values, or references of returned verdicts.
    pub(super) used: Mutex<BTreeSet<String>>,
    /// Last answer by request target.
    pub(super) cached: Mutex<BTreeMap<String, ServiceDecision>>,
    /// First reference on each connection.
    pub(super) first_references: Mutex<BTreeMap<u64, String>>,
    pub(super) last_reference: Mutex<Option<String>>,
    /// A replayed collection arrived.
    pub(super) replayed: AtomicBool,
    /// Number of requests for the key set.
    pub(super) key_set_requests: AtomicUsize,
    /// Verdicts by their reference in small letters.
    pub(super) ready: Mutex<BTreeMap<String, Bytes>>,
    /// Connections on which a token was accepted.
    pub(super) trusted: Mutex<BTreeSet<u64>>,
    /// Keys that sign nothing.
    pub(super) other_keys: VerdictKeys,
}

impl ServiceMutant {
    pub(super) fn new(behaviour: ServiceBehaviour) -> Self {
        Self {
            behaviour,
            refused: Mutex::default(),
            used: Mutex::default(),
            cached: Mutex::default(),
            first_references: Mutex::default(),
            last_reference: Mutex::default(),
            replayed: AtomicBool::new(false),
            key_set_requests: AtomicUsize::new(0),
            ready: Mutex::default(),
            trusted: Mutex::default(),
            other_keys: VerdictKeys::fresh(),
        }
    }
}

/// JSON answer that no row has.
pub(super) fn json_answer(status: StatusCode, body: &'static str) -> ServiceDecision {
    let headers = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    ServiceDecision {
        status: status.as_u16(),
        headers: headers.into_iter().collect(),
        body: Bytes::from_static(body.as_bytes()),
        stimulus: None,
    }
}

/// Value of the header `Authorization`.
pub(super) fn authorization<'a>(request: &ServiceRequest<'a>) -> Option<&'a str> {
    request.headers.get(AUTHORIZATION)?.to_str().ok()
}
