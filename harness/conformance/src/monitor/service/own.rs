use std::collections::{BTreeMap, BTreeSet};

use edgeproof_fixtures::spec::Spec;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, Invariant};

use super::record::ServiceRecord;
use crate::cases::AVAILABLE;
use crate::judge::{self, Check};
use crate::monitor::breaches::{Breaches, by_exchange};

/// Number of sessions whose reference a place has to hold, before it is taken for the reference of the session.
const ENOUGH: usize = 3;

/// Where verdicts name their session, each names its own. The interface does not show these places: they are those that hold
/// the reference of the request in several verdicts.
pub(super) fn judge(record: &ServiceRecord, spec: &Spec) -> Check {
    let available = spec.status(AVAILABLE);
    let verdicts: Vec<_> = record
        .verdicts()
        .filter(|exchange| exchange.draft.method == "GET")
        .filter_map(|exchange| {
            let reply = exchange.sent.reply.as_ref().ok();
            let answer = reply.filter(|answer| Some(answer.status) == available)?;
            Some((exchange, exchange.reference(&record.path)?, judge::texts(&answer.body)))
        })
        .collect();
    let mut sessions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (_, reference, texts) in &verdicts {
        for (place, _) in texts.iter().filter(|(_, text)| text == reference) {
            sessions.entry(place).or_default().insert(reference);
        }
    }
    let names_session = |place: &str| sessions.get(place).is_some_and(|sessions| sessions.len() >= ENOUGH);
    let mut other = Breaches::default();
    let mut is_foreign = false;
    for (exchange, reference, texts) in &verdicts {
        for (place, text) in texts.iter().filter(|(place, text)| names_session(place) && text != reference) {
            is_foreign |= record.sessions.contains(text);
            let value = Some(text.as_str().into());
            other.push(Breach { member: Some(place.as_str().into()), value, ..by_exchange(exchange) });
        }
    }
    // A place may hold a form of the reference, such as its beginning.
    let level = if is_foreign { CaseLevel::Must } else { CaseLevel::Should };
    other.check(Invariant::OwnSessions).at(level)
}
