//! Where magic values enter the mock service's decisions.

use std::time::SystemTime;

use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use edgeproof_fixtures::spec::{Stimulus, Table};
use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::decide_verdict::refuse;
use super::decision::ServiceDecision;
use super::presented::presented_licenses;
use super::session::{NewSession, Ready};
use super::sessions::SessionLookup;
use super::shared::Shared;
use crate::magic::{Effect, Pair};

/// What a request for a verdict comes to.
pub(super) enum Forced {
    /// This answer.
    Answer(ServiceDecision),
    /// Who has this token looks at a session in this state.
    Session(Result<ReadClaims, ReadTokenFault>, Stimulus),
    /// What it comes to without magic.
    Nothing(Result<ReadClaims, ReadTokenFault>),
}

/// The answer to an edge whose license is a magic value.
pub(super) fn by_license(shared: &Shared, target: &str, headers: &HeaderMap) -> Option<ServiceDecision> {
    let magic = shared.magic.as_ref()?;
    let licenses = presented_licenses(target, headers);
    relay(shared, licenses.iter().find_map(|license| magic.license(license))?)
}

/// What a collection for this session comes to that is accepted otherwise: a refusal, or a verdict that takes so long.
pub(super) fn by_collection(shared: &Shared, reference: &str) -> Option<Result<Ready, ServiceDecision>> {
    match shared.magic.as_ref()?.session_ref(reference)? {
        Effect::ReadyAfter(span) => Some(Ok(Ready::After(span))),
        Effect::Row(pair) if pair.table == Table::Relay => relay(shared, pair).map(Err),
        Effect::Row(_) => None,
    }
}

/// What a request for a verdict comes to. A magic token counts before all else; a magic reference where the token is
/// accepted.
pub(super) fn by_verdict(
    shared: &Shared,
    headers: &HeaderMap,
    reference: &str,
    token: Result<ReadClaims, ReadTokenFault>,
    now: SystemTime,
) -> Forced {
    let Some(magic) = &shared.magic else { return Forced::Nothing(token) };
    if let Some(pair) = bearer(headers).and_then(|bearer| magic.read_token(bearer)) {
        let credentials = &shared.credentials;
        let (license_id, expires) = (credentials.license_id().to_owned(), credentials.expires());
        return forced(shared, pair, reference, Ok(ReadClaims { license_id, expires }));
    }
    let (Ok(claims), None) = (&token, shared.faults().read_outage) else { return Forced::Nothing(token) };
    match magic.session_ref(reference) {
        Some(Effect::Row(pair)) if pair.table == Table::Verdict => forced(shared, pair, reference, token),
        Some(Effect::ReadyAfter(span)) => {
            let license_id = &claims.license_id;
            let found = shared.sessions.look(reference, license_id, now);
            if matches!(found, SessionLookup::Unknown | SessionLookup::OtherLicense) {
                let session = NewSession::new(reference).ready(Ready::AfterFirstPoll(span));
                shared.sessions.add(session, license_id, now);
            }
            Forced::Nothing(token)
        }
        _ => Forced::Nothing(token),
    }
}

fn forced(
    shared: &Shared,
    pair: &Pair,
    reference: &str,
    token: Result<ReadClaims, ReadTokenFault>,
) -> Forced {
    match pair.cause {
        state @ (Stimulus::VerdictReady
        | Stimulus::VerdictPending
        | Stimulus::VerdictTooOld
        | Stimulus::ReferenceUnknown
        | Stimulus::ReferenceOtherLicense) => Forced::Session(token, state),
        cause => match shared.spec.row(&pair.row) {
            Some(row) => {
                let suffix =
                    pair.code.as_deref().and_then(|code| code.split_once(':')).map(|(_, suffix)| suffix);
                Forced::Answer(refuse(row, pair.status, &shared.profile, reference, suffix, cause))
            }
            None => Forced::Nothing(token),
        },
    }
}

fn relay(shared: &Shared, pair: &Pair) -> Option<ServiceDecision> {
    let body = shared.reply_shape.render(pair.status, pair.code.as_deref()?);
    Some(ServiceDecision::json(pair.status, body.to_string(), Some(pair.cause)))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start())
}
