use std::time::SystemTime;

use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use edgeproof_fixtures::spec::{Stimulus, Table};
use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::decision::{ServiceDecision, refuse};
use crate::magic::{Effect, Pair};
use crate::state::{NewSession, Ready, ServiceState, SessionLookup};

/// Effect of magic values on a request for a verdict.
pub(crate) enum MagicOutcome {
    /// The answer of a row.
    Answer(ServiceDecision),
    /// Result of the token check, and the state that the session seems to have. None: its own state.
    Session(Result<ReadClaims, ReadTokenFault>, Option<Stimulus>),
}

/// Looks for magic values in a request for a verdict. A magic token precedes all checks; a magic reference needs an
/// accepted token.
pub(crate) fn find(
    state: &ServiceState,
    headers: &HeaderMap,
    reference: &str,
    token: Result<ReadClaims, ReadTokenFault>,
    now: SystemTime,
) -> MagicOutcome {
    let Some(magic) = &state.magic else { return MagicOutcome::Session(token, None) };
    if let Some(pair) = bearer(headers).and_then(|bearer| magic.read_token(bearer)) {
        let credentials = &state.credentials;
        let (license_id, expires) = (credentials.license_id().to_owned(), credentials.expires());
        return forced(state, pair, reference, Ok(ReadClaims { license_id, expires }));
    }
    let (Ok(claims), None) = (&token, state.faults().read_outage) else {
        return MagicOutcome::Session(token, None);
    };
    match magic.session_ref(reference) {
        Some(Effect::Row(pair)) if pair.table == Table::Verdict => forced(state, pair, reference, token),
        Some(Effect::ReadyAfter(span)) => {
            let license_id = &claims.license_id;
            let found = state.sessions.look(reference, license_id, now);
            if matches!(found, SessionLookup::Unknown | SessionLookup::OtherLicense) {
                let session = NewSession::new(reference).ready(Ready::AfterFirstPoll(span));
                state.sessions.add(session, license_id, now);
            }
            MagicOutcome::Session(token, None)
        }
        _ => MagicOutcome::Session(token, None),
    }
}

fn forced(
    state: &ServiceState,
    pair: &Pair,
    reference: &str,
    token: Result<ReadClaims, ReadTokenFault>,
) -> MagicOutcome {
    match pair.stimulus {
        session_state @ (Stimulus::VerdictReady
        | Stimulus::VerdictPending
        | Stimulus::VerdictTooOld
        | Stimulus::ReferenceUnknown
        | Stimulus::ReferenceOtherLicense) => MagicOutcome::Session(token, Some(session_state)),
        stimulus => match state.spec.row(&pair.row) {
            Some(row) => {
                let suffix =
                    pair.code.as_deref().and_then(|code| code.split_once(':')).map(|(_, suffix)| suffix);
                MagicOutcome::Answer(refuse(row, pair.status, &state.profile, reference, suffix, stimulus))
            }
            None => MagicOutcome::Session(token, None),
        },
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start())
}
