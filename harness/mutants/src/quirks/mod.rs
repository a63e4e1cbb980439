//! Behaviours as quirks of an edge: a method of [`Behaving`] for each place where an edge can do otherwise.

mod answer;
mod body;
mod listed;
mod log;
mod origin;
mod settings;

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::Spec;
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use listed::Listed;

use super::Behaviour;
use edgeproof_edge::{
    EdgeAction, EdgeAnswer, EdgeDecision, EdgeFaultHooks, EdgeOptions, EdgeRequest, Habits, Relayed, Trust,
};

/// Gives an edge that is about to start a behaviour. `first`: the settings of the run's first edge.
pub(super) fn inject(behaviour: Behaviour, options: &mut EdgeOptions, first: &EdgeSettings) {
    settings::change(behaviour, options, first);
    log::change(behaviour, options);
    options.hooks = Arc::new(Behaving::new(behaviour, &options.settings, &options.spec));
}

/// An edge that behaves so.
#[derive(Debug)]
struct Behaving {
    behaviour: Behaviour,
    license: Option<HeaderValue>,
    /// A line of the client key.
    key: String,
    origin: String,
    has_certificate: bool,
    /// It broke, in the way that the behaviour has.
    broken: AtomicBool,
    under_way: AtomicU32,
    last: Mutex<Option<EdgeAnswer>>,
    by_connection: Mutex<HashMap<u64, EdgeAnswer>>,
    /// Connections that brought a request.
    heard: Mutex<BTreeSet<u64>>,
    relayed: Mutex<Option<Bytes>>,
    listed: Listed,
}

impl Behaving {
    fn new(behaviour: Behaviour, settings: &EdgeSettings, spec: &Spec) -> Self {
        let license =
            settings.license.as_ref().and_then(|license| HeaderValue::from_str(license.expose()).ok());
        let license = license.map(|mut license| {
            license.set_sensitive(true);
            license
        });
        Self {
            behaviour,
            license,
            key: settings::key_line(settings).unwrap_or_default(),
            origin: settings.allowed_origin.clone().unwrap_or_default(),
            has_certificate: settings.client_cert_file.is_some(),
            broken: AtomicBool::new(false),
            under_way: AtomicU32::new(0),
            last: Mutex::default(),
            by_connection: Mutex::default(),
            heard: Mutex::default(),
            relayed: Mutex::default(),
            listed: Listed::of(spec),
        }
    }

    fn license(&self) -> &str {
        self.license.as_ref().and_then(|license| license.to_str().ok()).unwrap_or_default()
    }
}

impl EdgeFaultHooks for Behaving {
    fn decide(&self, asked: &EdgeRequest<'_>, right: EdgeDecision) -> EdgeDecision {
        use Behaviour as B;
        let method = &asked.facts.method;
        let relays = right == EdgeDecision::Relay;
        match self.behaviour {
            B::RefusesAll => EdgeDecision::Answer(json(
                403,
                r#"{"error":"service_rejected","reason":"edge_refuses","status":403}"#,
            )),
            B::DiesOnShort | B::SticksOnShort if self.broken.load(Ordering::Relaxed) => {
                EdgeDecision::Answer(json(500, r#"{"error":"internal"}"#))
            }
            B::NeedsLicense if relays && self.license.is_none() => {
                EdgeDecision::Answer(json(500, r#"{"error":"no_license"}"#))
            }
            B::NeedsCertificate if relays && !self.has_certificate => {
                EdgeDecision::Answer(json(500, r#"{"error":"no_certificate"}"#))
            }
            B::RelaysNothing if relays => EdgeDecision::Answer(json(200, r#"{"ok":true}"#)),
            B::RefusesExpect if asked.headers.contains_key("expect") => EdgeDecision::Answer(json(417, "{}")),
            B::MixesUp if relays => {
                self.under_way.fetch_add(1, Ordering::Relaxed);
                right
            }
            B::TakesPut if method == Method::PUT => EdgeDecision::Relay,
            B::RelaysPreflight if method == Method::OPTIONS => EdgeDecision::Relay,
            _ => right,
        }
    }

    fn body(&self, asked: &EdgeRequest<'_>, body: Bytes) -> Result<Bytes, Box<EdgeAnswer>> {
        body::change(self.behaviour, asked, body)
    }

    fn before(&self, body: &Bytes) -> Option<Bytes> {
        let last = lock(&self.relayed).replace(body.clone());
        last.filter(|_| self.behaviour == Behaviour::CopiesLate)
    }

    fn again(&self, times: u32, relayed: &Relayed) -> bool {
        use Behaviour as B;
        let status = match relayed {
            Relayed::Answered { status, .. } => status.as_u16(),
            Relayed::NoAnswer | Relayed::BodyBroken => 0,
        };
        times == 1
            && match self.behaviour {
                B::SendsTwice => true,
                B::RetriesBroken => *relayed == Relayed::NoAnswer,
                B::Retries401 => status == 401,
                B::Retries409 => status == 409,
                B::Retries503 => status == 503,
                _ => false,
            }
    }

    fn conclude(&self, asked: &EdgeRequest<'_>, relayed: Option<&Relayed>, right: EdgeAnswer) -> EdgeAction {
        use Behaviour as B;
        let broke = relayed == Some(&Relayed::BodyBroken);
        match self.behaviour {
            B::HangsOnShort if broke => return EdgeAction::Silence,
            B::DiesOnShort if broke || self.broken.load(Ordering::Relaxed) => {
                self.broken.store(true, Ordering::Relaxed);
                return EdgeAction::Nothing;
            }
            B::DiesOnMalformed if self.missed(asked.connection) => return EdgeAction::Nothing,
            B::SticksOnShort if broke => self.broken.store(true, Ordering::Relaxed),
            _ => {}
        }
        let mut answer = self.isolate(asked, relayed, right);
        answer = self.answer(asked, relayed, answer);
        self.origin(asked, &mut answer);
        self.line(asked, &mut answer);
        EdgeAction::Answer(answer)
    }

    fn habits(&self) -> Habits {
        use Behaviour as B;
        let trust = match self.behaviour {
            B::TrustsAll => Trust::All,
            B::TrustsAllWithoutFile => Trust::AllWithoutCaFile,
            B::TrustsAnyHost => Trust::AnyHost,
            B::TrustsAnyTime => Trust::AnyTime,
            _ => Trust::Right,
        };
        Habits {
            trust,
            follows_redirects: self.behaviour == B::FollowsRedirects,
            reconnects: self.behaviour != B::NeverReconnects,
            relays_partial: self.behaviour == B::RelaysPartial,
        }
    }
}

impl Behaving {
    /// Mixes answers up, where that is the behaviour.
    fn isolate(&self, asked: &EdgeRequest<'_>, relayed: Option<&Relayed>, right: EdgeAnswer) -> EdgeAnswer {
        match self.behaviour {
            Behaviour::MixesUp if relayed.is_some() => {
                let alone = self.under_way.fetch_sub(1, Ordering::Relaxed) == 1;
                let last = lock(&self.last).replace(right.clone());
                last.filter(|_| !alone).unwrap_or(right)
            }
            Behaviour::AnswersAsBefore if relayed.is_some() => {
                let mut answers = lock(&self.by_connection);
                answers.entry(asked.connection).or_insert(right).clone()
            }
            _ => right,
        }
    }
}

impl Behaving {
    /// Of the connections before this one, one brought no request. They are numbered in their order, from 0.
    fn missed(&self, connection: u64) -> bool {
        let mut heard = lock(&self.heard);
        heard.insert(connection);
        (0..connection).any(|earlier| !heard.contains(&earlier))
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An answer of the edge's own that has no row.
fn json(status: u16, body: &'static str) -> EdgeAnswer {
    let headers =
        HeaderMap::from_iter([(http::header::CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    let status = StatusCode::from_u16(status).unwrap_or_default();
    EdgeAnswer { status, headers, body: Bytes::from_static(body.as_bytes()), log: None }
}
