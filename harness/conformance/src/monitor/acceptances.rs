use std::collections::BTreeMap;
use std::time::Instant;

use edgeproof_fixtures::spec::Advice;
use edgeproof_mock::{Arrival, ArrivalAnswer};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, Invariant};

use super::arrivals::{PostedBodies, holds};
use super::breaches::{Breaches, by_case};
use super::edge_record::EdgeRecord;
use crate::cases::TracedRequest;
use crate::judge::Check;

/// A page is told of an acceptance only after the service accepted its collection, also where the interface leaves the answer
/// open.
pub(super) fn judge(edge: &EdgeRecord) -> Check {
    let mut untrue = Breaches::default();
    let mut is_refusal = false;
    let relayed = Relayed::new(edge);
    for request in &edge.requests {
        let Some(told) = told(request, edge) else { continue };
        let instead = match relayed.outcome(request, told.at) {
            ServiceOutcome::MayAccept => continue,
            ServiceOutcome::Answered(status) => Some(status),
            ServiceOutcome::NoAcceptance => None,
        };
        is_refusal |= instead.is_some_and(|status| status >= 300);
        untrue.push(Breach {
            status: Some(told.status),
            of: instead.map(u64::from),
            ..by_case(&request.sender.case)
        });
    }
    let level = if edge.is_alone { CaseLevel::Must } else { CaseLevel::Open };
    let advice = if is_refusal { Advice::RefusalAccepted } else { Advice::UnreachableAccepted };
    untrue.check(Invariant::Acceptances).at(level).advise(advice)
}

/// An answer that tells a page of an acceptance.
struct Told {
    status: u16,
    at: Instant,
}

fn told(request: &TracedRequest, edge: &EdgeRecord) -> Option<Told> {
    let path = request.draft.path.split('?').next().unwrap_or_default();
    if !edge.posts(request) || path != edge.signals {
        return None;
    }
    let sent = request.sent.as_ref()?;
    let answer = sent.reply.as_ref().ok().filter(|answer| (200..300).contains(&answer.status))?;
    Some(Told { status: answer.status, at: sent.at + sent.took })
}

/// What the service had done with a collection when its page was told of an acceptance.
enum ServiceOutcome {
    /// It accepted it, or its answer broke off.
    MayAccept,
    /// It answered with this status.
    Answered(u16),
    /// It had not accepted it.
    NoAcceptance,
}

/// What the service did with each collection.
struct Relayed<'a> {
    by_body: BTreeMap<&'a [u8], Vec<&'a Arrival>>,
    /// A body arrived that no posted one explains: the edge changes bodies, which another monitor tells.
    changes_bodies: bool,
}

impl<'a> Relayed<'a> {
    fn new(edge: &'a EdgeRecord) -> Self {
        let mut by_body: BTreeMap<&[u8], Vec<&Arrival>> = BTreeMap::new();
        for arrival in edge.relays() {
            by_body.entry(&arrival.request.body).or_default().push(arrival);
        }
        let posted = PostedBodies::new(edge);
        let changes_bodies = !by_body.keys().all(|body| posted.explain(body));
        Self { by_body, changes_bodies }
    }

    /// What the service had done with a collection at this time.
    fn outcome(&self, request: &TracedRequest, told: Instant) -> ServiceOutcome {
        let body = request.draft.body.bytes();
        let mut arrivals = self.by_body.get(body).map(Vec::as_slice).unwrap_or_default().iter().copied();
        if arrivals.clone().any(|arrival| may_accept(arrival, told)) {
            return ServiceOutcome::MayAccept;
        }
        if let Some(status) = arrivals.find_map(|arrival| arrival.answer.as_ref()?.status()) {
            return ServiceOutcome::Answered(status);
        }
        if self.changes_bodies {
            return ServiceOutcome::MayAccept;
        }
        // A part of a body with an invalid framing, or another form of one that is open, may be the relayed body.
        let is_open = request.is_broken() || request.sender.level == CaseLevel::Open;
        let similar = |other: &[u8]| holds(other, body) || holds(body, other);
        let mut others = self.by_body.iter().filter(|(other, _)| is_open && similar(other));
        let is_explained =
            others.any(|(_, arrivals)| arrivals.iter().any(|arrival| may_accept(arrival, told)));
        if is_explained { ServiceOutcome::MayAccept } else { ServiceOutcome::NoAcceptance }
    }
}

/// The service accepted the collection before this time, or its answer broke off.
fn may_accept(arrival: &Arrival, time: Instant) -> bool {
    match &arrival.answer {
        Some(ArrivalAnswer::Answer { status, .. }) => {
            (200..300).contains(status) && arrival.answered.is_none_or(|answered| answered <= time)
        }
        Some(ArrivalAnswer::Partial(_)) => true,
        Some(ArrivalAnswer::Other(_)) | None => false,
    }
}
