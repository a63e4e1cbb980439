use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::SystemTime;

use edgeproof_fixtures::seal::{CollectionFault, Contents, ReplayId, open, read_unsealed, replay_id};
use edgeproof_fixtures::spec::Table;
use edgeproof_fixtures::verdict::Judgement;
use edgeproof_http::Peer;
use http::{HeaderMap, StatusCode};

use crate::decision::{CollectionFacts, RelayedRequest, ServiceDecision, decide, presented_licenses};
use crate::journal::Recording;
use crate::magic::{Effect, Pair};
use crate::state::{Admission, EdgeId, NewSession, Ready, ServiceState};

/// Decides on a relayed collection. An accepted one starts a session, and later copies of it are replays.
pub(crate) fn answer(state: &ServiceState, recording: &Recording, peer: &Peer) -> ServiceDecision {
    if recording.is_truncated() {
        // The journal had no room for the body, so there is nothing to open.
        return ServiceDecision::of_http(StatusCode::SERVICE_UNAVAILABLE);
    }
    let head = recording.head();
    if let Some(decision) = answer_to_magic_license(state, head.target(), &head.headers) {
        return decision;
    }
    let (now, faults) = (state.clock.now(), state.faults());
    let opened = open_body(state, recording.body());
    let request = RelayedRequest {
        target: head.target(),
        headers: &head.headers,
        client_certificates: recording.entry().client_certificates(),
        body_length: recording.length(),
    };
    let collection = opened.as_ref().map(|_| ()).map_err(|fault| *fault);
    let ServiceState { credentials, tokens, .. } = state;
    let mut facts = CollectionFacts::new(request, credentials, tokens, collection, faults.outage, now);
    let edge = edge_id(&facts, peer);
    // In some profiles the replay check precedes the seal check.
    let id = opened.as_ref().ok().map(|(_, id)| *id).or_else(|| replay_id(recording.body()));
    if let Some(id) = &id {
        facts.replay = state.replays.check(id, edge, now);
    }
    let judge = |facts: &CollectionFacts| decide(&state.spec, &state.profile, &state.reply_shape, facts);
    let decision = judge(&facts);
    let (None, Ok((contents, id)), Ok(license)) = (decision.stimulus, opened, &facts.license) else {
        return decision;
    };
    let ready = match effect_of_magic_reference(state, &contents.session_ref) {
        Some(Err(refusal)) => return refusal,
        Some(Ok(ready)) => ready,
        None => Ready::After(faults.verdict_delay),
    };
    match state.replays.admit(id, edge, now) {
        Admission::Admitted => {
            accept(state, contents, &license.license_id, ready, now);
            decision
        }
        Admission::Refused(copy) => {
            facts.replay = copy;
            judge(&facts)
        }
        Admission::Full => {
            let status = StatusCode::SERVICE_UNAVAILABLE.as_u16();
            let body = state.reply_shape.render(status, &state.profile.replay_full);
            ServiceDecision::json(status, body.to_string(), None)
        }
    }
}

/// Opens a collection. Before there were seals, its contents are the body.
fn open_body(state: &ServiceState, body: &[u8]) -> Result<(Contents, ReplayId), CollectionFault> {
    let (contents, replay_id) = if state.spec.seals_collections() {
        open(body, &state.keys.seal()).map(|opened| (opened.contents, opened.replay_id))?
    } else {
        read_unsealed(body).map(|unsealed| (unsealed.contents, unsealed.replay_id))?
    };
    Ok((contents.of_version(&state.spec)?, replay_id))
}

fn accept(state: &ServiceState, contents: Contents, license_id: &str, ready: Ready, now: SystemTime) {
    let judgement = Judgement::of(&contents.measurements);
    let session = NewSession::new(contents.session_ref).judgement(judgement).ready(ready);
    state.sessions.add(session, license_id, now);
}

/// Identifies an edge by IP address, certificate and license.
fn edge_id(facts: &CollectionFacts, peer: &Peer) -> EdgeId {
    let mut hasher = DefaultHasher::new();
    peer.addr.ip().hash(&mut hasher);
    peer.certificates.first().map(AsRef::<[u8]>::as_ref).hash(&mut hasher);
    facts.license.as_ref().ok().map(|license| &license.license_id).hash(&mut hasher);
    EdgeId(hasher.finish())
}

/// Answer to an edge whose license is a magic value.
fn answer_to_magic_license(
    state: &ServiceState,
    target: &str,
    headers: &HeaderMap,
) -> Option<ServiceDecision> {
    let magic = state.magic.as_ref()?;
    let licenses = presented_licenses(target, headers);
    refusal(state, licenses.iter().find_map(|license| magic.license(license))?)
}

/// Effect of a magic session reference on an otherwise accepted collection: a refusal, or the time to its verdict.
fn effect_of_magic_reference(
    state: &ServiceState,
    reference: &str,
) -> Option<Result<Ready, ServiceDecision>> {
    match state.magic.as_ref()?.session_ref(reference)? {
        Effect::ReadyAfter(span) => Some(Ok(Ready::After(span))),
        Effect::Row(pair) if pair.table == Table::Relay => refusal(state, pair).map(Err),
        Effect::Row(_) => None,
    }
}

fn refusal(state: &ServiceState, pair: &Pair) -> Option<ServiceDecision> {
    let body = state.reply_shape.render(pair.status, pair.code.as_deref()?);
    Some(ServiceDecision::json(pair.status, body.to_string(), Some(pair.stimulus)))
}
