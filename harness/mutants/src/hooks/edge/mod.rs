//! Fault hooks of edge behaviours: a method of `EdgeMutant` for each place where an edge can behave wrongly.

mod answer;
mod body;
mod body_parser;
mod cors;
mod error_answer;
mod json;
mod late;
mod log;
mod pages;
mod relay_codes;
mod settings;
mod state;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use edgeproof_edge::{
    CertificateCheck, EdgeAction, EdgeAnswer, EdgeDecision, EdgeFaultHooks, EdgeOptions, EdgeRequest,
    RelayResult, UpstreamOptions,
};
use edgeproof_fixtures::credentials::EdgeSettings;
use http::Method;

use crate::mutation::EdgeBehaviour;
use late::LateEdgeMutant;
use state::{EdgeMutant, json_answer};

/// Changes the options of an edge before it starts. `first`: settings of the run's first edge.
pub(super) fn inject(behaviour: EdgeBehaviour, options: &mut EdgeOptions, first: &EdgeSettings) {
    settings::change(behaviour, options, first);
    log::change(behaviour, options);
    options.hooks = Arc::new(EdgeMutant::new(behaviour, options));
}

/// Changes the options of an edge that behaves correctly at first.
pub(super) fn inject_late(behaviour: EdgeBehaviour, options: &mut EdgeOptions) {
    options.hooks = Arc::new(LateEdgeMutant::new(EdgeMutant::new(behaviour, options)));
}

impl EdgeFaultHooks for EdgeMutant {
    fn decide(&self, request: &EdgeRequest<'_>, right: EdgeDecision) -> EdgeDecision {
        use EdgeBehaviour as B;
        let method = &request.facts.method;
        let relays = right == EdgeDecision::Relay;
        let answer = |status, body| EdgeDecision::Answer(json_answer(status, body));
        match self.behaviour {
            B::RefusesAll => {
                answer(403, r#"{"error":"service_rejected","reason":"edge_refuses","status":403}"#)
            }
            B::StopsOnShort | B::FailsAfterShort if self.broken.load(Ordering::Relaxed) => {
                answer(500, r#"{"error":"internal"}"#)
            }
            B::RequiresLicense if relays && self.license.is_none() => {
                answer(500, r#"{"error":"no_license"}"#)
            }
            B::RequiresCertificate if relays && !self.has_certificate => {
                answer(500, r#"{"error":"no_certificate"}"#)
            }
            B::RelaysNothing if relays => answer(200, r#"{"ok":true}"#),
            B::RefusesExpect if request.headers.contains_key("expect") => answer(417, "{}"),
            B::SwapsAnswers if relays => {
                self.under_way.fetch_add(1, Ordering::Relaxed);
                right
            }
            B::AcceptsPut if method == Method::PUT => EdgeDecision::Relay,
            B::RelaysPreflight if method == Method::OPTIONS => EdgeDecision::Relay,
            _ => right,
        }
    }

    fn body(&self, request: &EdgeRequest<'_>, body: Bytes) -> Result<Bytes, Box<EdgeAnswer>> {
        body::change(self.behaviour, request, body).map_err(|mut answer| {
            self.grant(request, &mut answer);
            answer
        })
    }

    fn before(&self, body: &Bytes) -> Option<Bytes> {
        let last = self.last_body.lock().replace(body.clone());
        last.filter(|_| self.behaviour == EdgeBehaviour::RelaysAgainLater)
    }

    fn again(&self, times: u32, relayed: &RelayResult) -> bool {
        use EdgeBehaviour as B;
        let status = match relayed {
            RelayResult::Answered { status, .. } => status.as_u16(),
            RelayResult::NoAnswer | RelayResult::BodyBroken => 0,
        };
        times == 1
            && match self.behaviour {
                B::SendsTwice => true,
                B::RetriesBroken | B::PassesCopyRefused => *relayed == RelayResult::NoAnswer,
                B::HidesRetry if *relayed == RelayResult::NoAnswer => {
                    self.broken.store(true, Ordering::Relaxed);
                    true
                }
                B::Retries401 => status == 401,
                B::Retries409 => status == 409,
                B::Retries503 => status == 503,
                _ => false,
            }
    }

    fn conclude(
        &self,
        request: &EdgeRequest<'_>,
        relayed: Option<&RelayResult>,
        right: EdgeAnswer,
    ) -> EdgeAction {
        use EdgeBehaviour as B;
        let broke = relayed == Some(&RelayResult::BodyBroken);
        match self.behaviour {
            B::HangsOnShort if broke => return EdgeAction::Silence,
            B::StopsOnShort if broke || self.broken.load(Ordering::Relaxed) => {
                self.broken.store(true, Ordering::Relaxed);
                return EdgeAction::Nothing;
            }
            B::ClosesOnTrace if request.facts.method == Method::TRACE => return EdgeAction::Nothing,
            B::StopsOnMalformed if self.saw_malformed(request.connection) => return EdgeAction::Nothing,
            B::FailsAfterShort if broke => self.broken.store(true, Ordering::Relaxed),
            _ => {}
        }
        let mut answer = self.mix_up(request, relayed, right);
        answer = self.change_answer(request, relayed, answer);
        answer = self.change_error(request, relayed, answer);
        self.change_cors(request, relayed, &mut answer);
        self.change_log_line(request, relayed, &mut answer);
        EdgeAction::Answer(answer)
    }

    fn upstream(&self, right: UpstreamOptions) -> UpstreamOptions {
        use EdgeBehaviour as B;
        let certificate_check = match self.behaviour {
            B::SkipsCertificateCheck => CertificateCheck::Off,
            B::SkipsCheckWithoutFile => CertificateCheck::OffWithoutCaFile,
            B::AcceptsAnyHost => CertificateCheck::IgnoreHost,
            B::AcceptsExpired => CertificateCheck::IgnoreExpiry,
            _ => right.certificate_check,
        };
        let drops_license = self.behaviour == B::FollowsWithoutLicense;
        UpstreamOptions {
            certificate_check,
            follows_redirects: right.follows_redirects
                || drops_license
                || self.behaviour == B::FollowsRedirects,
            drops_license_on_redirect: right.drops_license_on_redirect || drops_license,
            reconnects: right.reconnects && self.behaviour != B::NeverReconnects,
            ..right
        }
    }

    fn partial_body(&self, part: Bytes) -> Option<Bytes> {
        match self.behaviour {
            EdgeBehaviour::RelaysPartial => Some(part),
            EdgeBehaviour::EmptiesPartial => Some(Bytes::new()),
            _ => None,
        }
    }
}

impl EdgeMutant {
    /// Gives a request the answer of another request.
    fn mix_up(
        &self,
        request: &EdgeRequest<'_>,
        relayed: Option<&RelayResult>,
        right: EdgeAnswer,
    ) -> EdgeAnswer {
        match self.behaviour {
            EdgeBehaviour::SwapsAnswers if relayed.is_some() => {
                let alone = self.under_way.fetch_sub(1, Ordering::Relaxed) == 1;
                let last = self.last_answer.lock().replace(right.clone());
                last.filter(|_| !alone).unwrap_or(right)
            }
            EdgeBehaviour::RepeatsFirstAnswer if relayed.is_some() => {
                self.first_answers.lock().entry(request.connection).or_insert(right).clone()
            }
            _ => right,
        }
    }

    /// Whether an earlier connection sent no valid request. The server numbers connections from 0.
    fn saw_malformed(&self, connection: u64) -> bool {
        let mut connections = self.connections.lock();
        connections.insert(connection);
        (0..connection).any(|earlier| !connections.contains(&earlier))
    }
}
