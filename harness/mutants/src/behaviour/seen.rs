use std::net::SocketAddr;

use bytes::Bytes;
use edgeproof_edge::{EdgeOptions, EdgeRules, RelayResult};
use edgeproof_fixtures::credentials::Secret;
use edgeproof_fixtures::spec::{Stimulus, Table};
use edgeproof_mock::ServiceEndpoint;
use http::header::{HeaderValue, ORIGIN};
use http::{HeaderMap, Method, Version};

use super::answer::Answer;

/// What a part knows of an exchange so far, as plain values: lent from a live exchange, or from a recorded one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) method: &'a Method,
    /// Path of a request to an edge; target of a request to a service.
    pub(crate) target: &'a str,
    /// Query of a request to an edge.
    pub(crate) query: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) version: Version,
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) connection: u64,
    pub(crate) body: Option<&'a Bytes>,
    /// Number of relays of the body.
    pub(crate) relays: u32,
    /// Result of the last relay.
    pub(crate) relayed: Option<&'a RelayResult>,
    pub(crate) endpoint: Option<ServiceEndpoint>,
    /// Decoded session reference.
    pub(crate) reference: &'a str,
    /// Why a token or a session is refused, or the state of the session.
    pub(crate) stimulus: Option<Stimulus>,
    /// The right answer, at the end of the exchange.
    pub(crate) answer: Option<&'a Answer>,
    pub(crate) setup: &'a Setup,
}

/// Settings of a part, and facts of the tables.
#[derive(Debug, Default)]
pub(crate) struct Setup {
    pub(crate) license: Option<HeaderValue>,
    /// A line of the client key file.
    pub(crate) key: String,
    pub(crate) allowed_origin: String,
    pub(crate) has_certificate: bool,
    pub(crate) health_path: String,
    pub(crate) signals_path: String,
    /// Status and reason of each refusal in the relay table, in the order of its rows.
    pub(crate) refusals: Vec<(u16, String)>,
    /// A key set whose keys sign nothing.
    pub(crate) other_keys: String,
}

impl<'a> Seen<'a> {
    /// A request, before anything else is known.
    pub(crate) fn new(method: &'a Method, target: &'a str, headers: &'a HeaderMap, setup: &'a Setup) -> Self {
        Self {
            method,
            target,
            query: "",
            headers,
            version: Version::HTTP_11,
            peer: None,
            connection: 0,
            body: None,
            relays: 0,
            relayed: None,
            endpoint: None,
            reference: "",
            stimulus: None,
            answer: None,
            setup,
        }
    }

    /// A request header as text.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    }

    /// Origin of the page, unless there are several.
    pub(crate) fn origin(&self) -> Option<&'a HeaderValue> {
        let mut origins = self.headers.get_all(ORIGIN).iter();
        origins.next().filter(|_| origins.next().is_none())
    }

    /// Body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(self.body.map_or(&[][..], |body| body)).into_owned()
    }

    /// Status and body of the service's reply; 0 and nothing without one.
    pub(crate) fn reply(&self) -> (u16, Bytes) {
        match self.relayed {
            Some(RelayResult::Answered { status, body, .. }) => {
                (status.as_u16(), body.clone().unwrap_or_default())
            }
            _ => (0, Bytes::new()),
        }
    }

    /// Names and values in the query.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let parts = query.split('&').filter(|part| !part.is_empty());
        parts.map(|part| part.split_once('=').unwrap_or((part, "")))
    }
}

impl Setup {
    /// Facts of an edge with these options.
    pub(crate) fn of_edge(options: &EdgeOptions) -> Self {
        let settings = &options.settings;
        let rules = EdgeRules::new(&options.spec, &options.profile, None);
        let path = |of: fn(&EdgeRules) -> &str| rules.as_ref().map(of).unwrap_or_default().to_owned();
        let license = settings.license.as_ref().map(Secret::expose);
        let key = settings.client_key_file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let refusals = options.spec.table(Table::Relay);
        Self {
            license: license.and_then(|license| {
                let mut license = HeaderValue::from_str(license).ok()?;
                license.set_sensitive(true);
                Some(license)
            }),
            // Its first line is the same in all key files.
            key: key.and_then(|pem| pem.lines().nth(1).map(str::to_owned)).unwrap_or_default(),
            allowed_origin: settings.allowed_origin.clone().unwrap_or_default(),
            has_certificate: settings.client_cert_file.is_some(),
            health_path: path(EdgeRules::health_path),
            signals_path: path(EdgeRules::signals_path),
            refusals: refusals.filter_map(|row| Some((row.status()?, row.code()?.to_owned()))).collect(),
            other_keys: String::new(),
        }
    }

    /// The license as text; empty if unset.
    pub(crate) fn license(&self) -> &str {
        self.license.as_ref().and_then(|license| license.to_str().ok()).unwrap_or_default()
    }

    /// Statuses listed for a reason.
    pub(crate) fn statuses(&self, reason: &str) -> impl DoubleEndedIterator<Item = u16> {
        self.refusals.iter().filter(move |(_, listed)| listed == reason).map(|(status, _)| *status)
    }
}
