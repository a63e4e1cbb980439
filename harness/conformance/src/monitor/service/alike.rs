use std::collections::{BTreeMap, BTreeSet};

use edgeproof_fixtures::spec::{Advice, Spec};
use edgeproof_http::Answer;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, HeaderChange, Invariant};

use super::record::ServiceRecord;
use crate::cases::{PENDING, ServiceExchange, refusal_statuses};
use crate::judge::Check;
use crate::monitor::breaches::{Breaches, by_exchange};

/// Number of answers without a session from which an answer with one may differ: fewer can be a coincidence.
const ENOUGH: usize = 3;
/// Header fields whose values differ between any two answers, or describe the connection.
const FREE: [&str; 8] = [
    "date",
    "age",
    "connection",
    "keep-alive",
    "content-length",
    "transfer-encoding",
    "via",
    "server-timing",
];

/// Answers to requests of one form, with the same status.
#[derive(Default)]
struct Group<'r> {
    without_session: Vec<&'r Answer>,
    with_session: Vec<(&'r ServiceExchange, &'r Answer)>,
}

/// A pending answer and a refusal have the same header fields, whether or not there is a session.
pub(super) fn judge(record: &ServiceRecord, spec: &Spec) -> Vec<Check> {
    let refusals = refusal_statuses(spec);
    let mut groups: BTreeMap<String, Group<'_>> = BTreeMap::new();
    let is_read = |exchange: &&ServiceExchange| matches!(exchange.draft.method.as_str(), "GET" | "HEAD");
    for exchange in record.verdicts().filter(is_read) {
        let (Ok(answer), Some(reference)) = (&exchange.sent.reply, exchange.reference(&record.path)) else {
            continue;
        };
        let is_refusal = refusals.contains(&answer.status);
        if !(is_refusal || spec.status(PENDING) == Some(answer.status)) || exchange.level == CaseLevel::Open {
            continue;
        }
        let group = groups.entry(form(exchange, answer, is_refusal)).or_default();
        if record.sessions.contains(&reference) {
            group.with_session.push((exchange, answer));
        } else {
            group.without_session.push(answer);
        }
    }
    let mut revealed = Breaches::default();
    for group in groups.values().filter(|group| group.without_session.len() >= ENOUGH) {
        for (exchange, answer) in &group.with_session {
            if let Some((change, name)) = difference(answer, &group.without_session) {
                let (header, value) = (Some(change), Some(name.into()));
                revealed.push(Breach { header, value, ..by_exchange(exchange) });
            }
        }
    }
    vec![revealed.check(Invariant::RevealingHeaders).at(CaseLevel::Should).advise(Advice::SessionRevealed)]
}

/// Requests of the same form differ in nothing but reference and token. Refusals with different bodies have different reasons.
fn form(exchange: &ServiceExchange, answer: &Answer, is_refusal: bool) -> String {
    let names: BTreeSet<String> =
        exchange.draft.headers.iter().map(|(name, _)| name.to_lowercase()).collect();
    let query = exchange.draft.path.contains('?');
    let body = if is_refusal { String::from_utf8_lossy(&answer.body) } else { "".into() };
    let method = &exchange.draft.method;
    format!("{method} {} {:?} {names:?} {query} {body}", answer.status, answer.version)
}

/// A field that no other answer has, that all others have, or that has another value than all others.
fn difference(answer: &Answer, others: &[&Answer]) -> Option<(HeaderChange, String)> {
    let names = |answer: &Answer| -> BTreeSet<String> {
        let names = answer.headers.keys().map(ToString::to_string);
        names.filter(|name| !FREE.contains(&name.as_str())).collect()
    };
    let own = names(answer);
    let theirs: Vec<BTreeSet<String>> = others.iter().map(|other| names(other)).collect();
    if let Some(more) = own.iter().find(|name| theirs.iter().all(|names| !names.contains(*name))) {
        return Some((HeaderChange::Additional, more.clone()));
    }
    let first = theirs.first()?;
    if let Some(missing) =
        first.iter().find(|name| !own.contains(*name) && theirs.iter().all(|names| names.contains(*name)))
    {
        return Some((HeaderChange::Missing, missing.clone()));
    }
    let other = own.iter().find(|name| {
        let value = others.first().and_then(|other| other.headers.get(*name));
        let constant = others.iter().all(|other| other.headers.get(*name) == value);
        constant && answer.headers.get(*name) != value
    });
    other.map(|name| (HeaderChange::OtherValue, name.clone()))
}
