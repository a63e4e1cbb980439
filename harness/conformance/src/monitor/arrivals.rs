use std::collections::{BTreeMap, BTreeSet};

use edgeproof_fixtures::spec::Advice;
use edgeproof_mock::{Arrival, ArrivalAnswer};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, Invariant};
use memchr::memmem;

use super::breaches::Breaches;
use super::edge_record::{EdgeRecord, RequestsByBody};
use crate::cases::TracedRequest;
use crate::judge::{Check, permits_repeat};

/// A request of the run explains each arrival: a page posted this body.
pub(super) fn explained(edge: &EdgeRecord) -> Check {
    let mut unexplained = Breaches::default();
    let posted = PostedBodies::new(edge);
    for arrival in edge.relays() {
        if !posted.explain(&arrival.request.body) {
            let number = arrival.number + 1;
            let value = Some(arrival.request.body.as_ref().into());
            let breach = Breach { number: Some(number), value, ..Breach::default() };
            unexplained.push_at(level_by_marker(edge, &arrival.request.body), breach);
        }
    }
    let check = unexplained.check(Invariant::UnexplainedArrivals).advise(Advice::RelayUnexplained);
    if edge.is_alone { check } else { check.at(CaseLevel::Open) }
}

/// Level of the request whose marker is in this changed body.
fn level_by_marker(edge: &EdgeRecord, body: &[u8]) -> CaseLevel {
    let is_of = |request: &&TracedRequest| holds(body, request.sender.marker.as_bytes());
    let levels = edge.requests.iter().filter(is_of).map(|request| request.sender.level);
    levels.min().unwrap_or(CaseLevel::Must)
}

/// Each body arrived at most as often as pages posted it, besides repeats that a standard permits.
pub(super) fn copies(edge: &EdgeRecord) -> Vec<Check> {
    let requests = RequestsByBody::new(edge);
    let mut arrived: BTreeMap<&[u8], Vec<&Arrival>> = BTreeMap::new();
    for arrival in edge.relays() {
        arrived.entry(&arrival.request.body).or_default().push(arrival);
    }
    let (mut copies, mut retries) = (Breaches::default(), Breaches::default());
    let ambiguous =
        edge.requests.iter().filter(|request| edge.posts(request) && is_ambiguous(request)).count();
    let mut arrived: Vec<_> = arrived.into_iter().collect();
    arrived.sort_by_key(|(_, arrivals)| arrivals[0].number);
    for (body, arrivals) in arrived {
        let posted = requests.with(body).iter().filter(|request| edge.posts(request)).count();
        // An edge can take the body of a request with an invalid length for an empty one. Another case judges that.
        let sent = posted + if body.is_empty() { ambiguous } else { 0 };
        let repeats = arrivals.iter().filter(|arrival| permits_repeat(arrival)).count();
        // A body without any sender is not a copy: see the other monitor.
        if sent == 0 || arrivals.len() - repeats <= sent {
            continue;
        }
        let (times, of) = (Some(arrivals.len() as u64), Some(sent as u64));
        let is_broken_off = arrivals.iter().any(|arrival| is_broken_off(arrival));
        let breaches = if is_broken_off { &mut retries } else { &mut copies };
        breaches.push_at(requests.level(body), Breach { times, of, ..requests.breach(arrivals[0]) });
    }
    vec![
        copies.check(Invariant::Copies).advise(Advice::CopySent),
        retries.check(Invariant::Retries).at(CaseLevel::Should).advise(Advice::CopySent),
    ]
}

/// Whether the service sent no complete answer, so that the edge cannot know the outcome of the request.
fn is_broken_off(arrival: &Arrival) -> bool {
    !matches!(arrival.answer, Some(ArrivalAnswer::Answer { .. }))
}

/// The bodies that pages posted. An edge may understand some in several ways: those of requests with an invalid framing, or
/// in a form that the interface leaves open.
pub(super) struct PostedBodies<'a> {
    /// All of them.
    whole: BTreeSet<&'a [u8]>,
    /// The edge may relay a part of them.
    parts: BTreeSet<&'a [u8]>,
    /// The edge may relay more.
    more: BTreeSet<&'a [u8]>,
}

impl<'a> PostedBodies<'a> {
    /// Those that an edge received.
    pub(super) fn new(edge: &'a EdgeRecord) -> Self {
        let bodies = |wanted: &dyn Fn(&TracedRequest) -> bool| -> BTreeSet<&'a [u8]> {
            let requests = edge.requests.iter().filter(|request| edge.posts(request) && wanted(request));
            requests.map(|request| request.draft.body.bytes()).collect()
        };
        Self { whole: bodies(&|_| true), parts: bodies(&is_ambiguous), more: bodies(&is_open) }
    }

    /// Whether one of them explains this body of an arrival.
    pub(super) fn explain(&self, arrived: &[u8]) -> bool {
        // An empty body is a part of every body, so it explains nothing.
        let is_part = |sent: &&[u8]| !arrived.is_empty() && holds(sent, arrived);
        self.whole.contains(arrived)
            || self.parts.iter().any(is_part)
            || self.more.iter().any(|sent| arrived.is_empty() || holds(arrived, sent))
    }
}

/// Whether a part occurs in a whole.
pub(super) fn holds(whole: &[u8], part: &[u8]) -> bool {
    // The search prepares the part first. For a long part, that costs more than the search.
    part.len() <= whole.len() && memmem::find(whole, part).is_some()
}

/// Whether an edge may understand the request in several ways.
fn is_ambiguous(request: &TracedRequest) -> bool {
    request.is_broken() || is_open(request)
}

fn is_open(request: &TracedRequest) -> bool {
    request.sender.level == CaseLevel::Open
}
