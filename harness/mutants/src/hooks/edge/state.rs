use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32};

use bytes::Bytes;
use edgeproof_edge::{EdgeAnswer, EdgeOptions, EdgeRules};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, StatusCode};
use parking_lot::Mutex;

use super::relay_codes::RelayCodes;
use super::settings;
use crate::mutation::EdgeBehaviour;

/// Fault hooks of an edge behaviour, with their inputs and state.
#[derive(Debug)]
pub(super) struct EdgeMutant {
    pub(super) behaviour: EdgeBehaviour,
    pub(super) license: Option<HeaderValue>,
    /// A line of the client key file.
    pub(super) key: String,
    pub(super) allowed_origin: String,
    pub(super) has_certificate: bool,
    pub(super) codes: RelayCodes,
    pub(super) health_path: String,
    pub(super) signals_path: String,
    /// The event that changes the behaviour for good has happened.
    pub(super) broken: AtomicBool,
    /// Collections under way.
    pub(super) under_way: AtomicU32,
    pub(super) last_answer: Mutex<Option<EdgeAnswer>>,
    /// First answer on each connection.
    pub(super) first_answers: Mutex<HashMap<u64, EdgeAnswer>>,
    /// Connections that sent a request.
    pub(super) connections: Mutex<BTreeSet<u64>>,
    pub(super) last_body: Mutex<Option<Bytes>>,
}

impl EdgeMutant {
    /// The mutant for an edge with these options.
    pub(super) fn new(behaviour: EdgeBehaviour, options: &EdgeOptions) -> Self {
        let settings = &options.settings;
        let rules = EdgeRules::new(&options.spec, &options.profile, None);
        let path = |of: fn(&EdgeRules) -> &str| rules.as_ref().map(of).unwrap_or_default().to_owned();
        let license =
            settings.license.as_ref().and_then(|license| HeaderValue::from_str(license.expose()).ok());
        Self {
            behaviour,
            license: license.map(|mut license| {
                license.set_sensitive(true);
                license
            }),
            key: settings::key_line(settings).unwrap_or_default(),
            allowed_origin: settings.allowed_origin.clone().unwrap_or_default(),
            has_certificate: settings.client_cert_file.is_some(),
            codes: RelayCodes::new(&options.spec),
            health_path: path(EdgeRules::health_path),
            signals_path: path(EdgeRules::signals_path),
            broken: AtomicBool::new(false),
            under_way: AtomicU32::new(0),
            last_answer: Mutex::default(),
            first_answers: Mutex::default(),
            connections: Mutex::default(),
            last_body: Mutex::default(),
        }
    }

    /// The license as text; empty if unset.
    pub(super) fn license(&self) -> &str {
        self.license.as_ref().and_then(|license| license.to_str().ok()).unwrap_or_default()
    }
}

/// JSON answer that no row has.
pub(super) fn json_answer(status: u16, body: &'static str) -> EdgeAnswer {
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    let status = StatusCode::from_u16(status).unwrap_or_default();
    EdgeAnswer { status, headers, body: Bytes::from_static(body.as_bytes()), log: None }
}
