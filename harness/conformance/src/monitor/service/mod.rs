//! Monitors of a service and of a key set.

mod alike;
mod own;
mod record;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use edgeproof_fixtures::key_set::{Jwk, KeySet};
use edgeproof_fixtures::spec::{Advice, Row, Spec};
use edgeproof_http::Draft;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, DifferenceKind, Invariant, KeySetValue, SecretPlace, Secrets};
use serde_json::Value;

use super::breaches::{Breaches, by_exchange};
use super::last_requests::LAST_REQUESTS;
use super::{internals, messages};
use crate::cases::{
    self, AVAILABLE, PENDING, ServiceCaseContext, ServiceExchange, ServiceMonitor, UNAUTHORIZED, is_pending,
    published_status, refusal_statuses, token_echo,
};
use crate::judge::{self, Check};

pub(crate) use record::ServiceRecord;

/// Number of rounds of the last requests. Faults that come with many requests show here.
const ROUNDS: usize = 12;
/// Number of sessions of the run that the last requests ask for again.
const SESSIONS: usize = 8;
/// Longest time of the last requests.
const LONGEST: Duration = Duration::from_secs(2);

/// Checks the invariant on everything that a run did with a service.
pub(crate) fn judge_service(monitor: ServiceMonitor, record: &ServiceRecord, spec: &Spec) -> Vec<Check> {
    match monitor {
        ServiceMonitor::Alike => alike::judge(record, spec),
        ServiceMonitor::Caching => vec![caching(record)],
        ServiceMonitor::NoEcho => vec![no_echo(record)],
        ServiceMonitor::Own => vec![own::judge(record, spec)],
        ServiceMonitor::Bodies => bodies(record, spec),
        ServiceMonitor::Internals => vec![internals::of_service(record.verdicts())],
        ServiceMonitor::KeyInternals => vec![internals::of_service(record.key_sets())],
        ServiceMonitor::Messages => vec![messages::of_service(record.verdicts())],
        ServiceMonitor::KeyMessages => vec![messages::of_service(record.key_sets())],
        ServiceMonitor::Alive => alive(record, spec.row(PENDING), spec.row(UNAUTHORIZED)),
        ServiceMonitor::KeyCaching => key_caching(record, spec),
        ServiceMonitor::SameKeys => same_keys(record, spec),
    }
}

/// The last requests to a service: the first ones of the run, repeated.
pub(crate) async fn send_last_service_requests(context: &mut ServiceCaseContext) {
    let began = context.now();
    let has_token = context.target.inputs.read_token.is_some();
    // A service that also publishes the key set keeps its header fields apart. Elsewhere the answer is free.
    context.weakest = CaseLevel::Open;
    let key_set = context.key_set();
    drop(context.send(&key_set, context.timeout).await);
    context.weakest = CaseLevel::Must;
    for round in 0..ROUNDS {
        if context.now() > began + LONGEST {
            return;
        }
        let reference = context.reference(&format!("{round}"));
        if has_token {
            drop(context.fetch_verdict(&context.with_token(&reference)).await);
        }
        drop(context.fetch_verdict(&context.verdict(&reference)).await);
    }
    for session in context.target.traffic.sessions().iter().take(SESSIONS).filter(|_| has_token) {
        drop(context.fetch_verdict(&context.with_token(session)).await);
    }
}

/// The last requests to a key set: the first ones of the run, repeated.
pub(crate) async fn send_last_key_requests(context: &mut ServiceCaseContext) {
    let began = context.now();
    for _ in 0..ROUNDS {
        if context.now() > began + LONGEST {
            return;
        }
        drop(context.fetch_key_set(&context.key_set()).await);
        drop(context.fetch_key_set(&Draft { method: "HEAD".into(), ..context.key_set() }).await);
    }
}

/// Each answer to a last request is that of its row.
fn alive(record: &ServiceRecord, pending: Option<&Row>, unauthorized: Option<&Row>) -> Vec<Check> {
    let mut wrong = Breaches::default();
    for exchange in record.verdicts().filter(|exchange| exchange.case == LAST_REQUESTS) {
        let row = if exchange.has_authorization() { pending } else { unauthorized };
        let (Some(row), Some(reference)) = (row, exchange.reference(&record.path)) else { continue };
        if record.sessions.contains(&reference) {
            continue;
        }
        for check in judge::exact(&cases::answer(row, &reference), &exchange.sent.reply)
            .iter()
            .filter(|check| !check.ok)
        {
            wrong.push(Breach { has_token: exchange.has_authorization(), ..breach(exchange, check) });
        }
    }
    let mut failed = Breaches::default();
    for exchange in record.verdicts().filter(|exchange| exchange.level != CaseLevel::Open) {
        // 501 says that the service does not implement a method.
        let failure = |status: u16| status >= 500 && status != 501;
        if exchange.sent.reply.as_ref().is_ok_and(|answer| failure(answer.status)) {
            failed.push(by_exchange(exchange));
        }
    }
    vec![wrong.check(Invariant::LastAnswers), failed.check(Invariant::ServerErrors).at(CaseLevel::Should)]
}

/// A breach by an answer, with the difference of this check.
fn breach(exchange: &ServiceExchange, check: &Check) -> Breach {
    Breach { difference: check.kind().cloned().map(Box::new), ..by_exchange(exchange) }
}

fn secret(exchange: &ServiceExchange, place: SecretPlace) -> Breach {
    let difference = DifferenceKind::Secret { secrets: Secrets::Token, place: Some(place) };
    Breach { difference: Some(Box::new(difference)), ..by_exchange(exchange) }
}

fn caching(record: &ServiceRecord) -> Check {
    let mut stored = Breaches::default();
    for exchange in record.verdicts().filter(|exchange| exchange.draft.method != "OPTIONS") {
        if exchange.reference(&record.path).is_none() || exchange.sent.reply.is_err() {
            continue;
        }
        let check = if exchange.has_authorization() {
            judge::not_shared(&exchange.sent.reply)
        } else {
            judge::not_stored(&exchange.sent.reply, exchange.sent.received())
        };
        if !check.ok {
            stored.push_at(exchange.level, breach(exchange, &check));
        }
    }
    stored.check(Invariant::SharedCaches).advise(Advice::VerdictStored)
}

fn no_echo(record: &ServiceRecord) -> Check {
    let mut echoed = Breaches::default();
    let mut finders = BTreeMap::new();
    for exchange in record.verdicts() {
        let Some(value) = exchange.draft.header_value("authorization") else { continue };
        // A short value is no secret, and can be in an answer by chance.
        let Some(token) = value.split(' ').next_back().filter(|token| token.len() >= 40) else { continue };
        let finder = finders.entry(token.to_owned()).or_insert_with(|| token_echo(token));
        let Ok(answer) = &exchange.sent.reply else { continue };
        let header = answer.headers.iter().find(|(_, value)| finder(value.as_bytes()));
        if finder(&answer.body) {
            echoed.push(secret(exchange, SecretPlace::Body));
        } else if let Some((name, _)) = header {
            echoed.push(secret(exchange, SecretPlace::Header(name.to_string())));
        }
    }
    echoed.check(Invariant::TokensInAnswers).advise(Advice::TokenEchoed)
}

fn bodies(record: &ServiceRecord, spec: &Spec) -> Vec<Check> {
    let refusals = refusal_statuses(spec);
    let (mut pending, mut refused, mut kind) =
        (Breaches::default(), Breaches::default(), Breaches::default());
    let judged =
        |exchange: &&ServiceExchange| exchange.draft.method == "GET" && exchange.level != CaseLevel::Open;
    for exchange in record.verdicts().filter(judged) {
        let (Ok(answer), Some(reference)) = (&exchange.sent.reply, exchange.reference(&record.path)) else {
            continue;
        };
        let body: Option<Value> = serde_json::from_slice(&answer.body).ok();
        let pending_row =
            spec.row(PENDING).filter(|row| body.as_ref().is_some_and(|body| is_pending(row, body)));
        if let Some(row) = pending_row {
            let checks = judge::exact(&cases::answer(row, &reference), &exchange.sent.reply);
            if let Some(check) = checks.iter().find(|check| !check.ok) {
                pending.push_at(exchange.level, breach(exchange, check));
            }
        }
        let is_refusal = refusals.contains(&answer.status);
        if is_refusal && !body.is_some_and(|body| body.is_object() || body.is_string()) {
            let check = judge::is_json(&exchange.sent.reply);
            refused.push_at(exchange.level, breach(exchange, &check));
        }
        let check = judge::json_content_type(&exchange.sent.reply);
        if (pending_row.is_some() || is_refusal) && spec.status(AVAILABLE) != Some(answer.status) && !check.ok
        {
            kind.push_at(exchange.level, breach(exchange, &check));
        }
    }
    vec![
        pending.check(Invariant::PendingAnswers),
        refused.check(Invariant::RefusalBodies),
        kind.check(Invariant::ContentTypes).at(CaseLevel::Should),
    ]
}

fn key_caching(record: &ServiceRecord, spec: &Spec) -> Vec<Check> {
    let Some(longest) = spec.limit("limit.key-set-cache") else { return Vec::new() };
    let mut long = Breaches::default();
    for exchange in record.key_sets() {
        let reads = matches!(exchange.draft.method.as_str(), "GET" | "HEAD");
        // Another answer is no key set, so its lifetime is free.
        let is_key_set = |status: u16| status == 304 || status == published_status(spec);
        let reads = reads && exchange.sent.reply.as_ref().is_ok_and(|answer| is_key_set(answer.status));
        let check = judge::fresh_for(longest, &exchange.sent.reply, exchange.sent.received());
        if reads && !check.ok {
            long.push_at(exchange.level, breach(exchange, &check));
        }
    }
    vec![long.check(Invariant::CacheTimes)]
}

fn same_keys(record: &ServiceRecord, spec: &Spec) -> Vec<Check> {
    let published = published_status(spec);
    let (mut other, mut private) = (Breaches::default(), Breaches::default());
    // The keys may change where a case asked for it.
    let mut first: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for exchange in record.key_sets().filter(|exchange| exchange.draft.method == "GET") {
        let reply = exchange.sent.reply.as_ref().ok();
        let Some(answer) = reply.filter(|answer| answer.status == published) else {
            continue;
        };
        let Ok(set) = KeySet::parse(&answer.body) else {
            other.push_at(
                exchange.level,
                Breach { keys: Some(KeySetValue::NotASet), ..by_exchange(exchange) },
            );
            continue;
        };
        let check = judge::public_only(&set);
        if !check.ok {
            private.push(breach(exchange, &check));
        }
        // The order of members is free.
        let sorted = |key: &Jwk| format!("{:?}", key.members().iter().collect::<BTreeMap<_, _>>());
        let mut keys: Vec<String> = set.keys().iter().map(sorted).collect();
        keys.sort();
        if first.entry(exchange.key_change).or_insert_with(|| keys.clone()) != &keys {
            other.push_at(exchange.level, Breach { keys: Some(KeySetValue::Other), ..by_exchange(exchange) });
        }
    }
    vec![other.check(Invariant::SameKeys).at(CaseLevel::Should), private.check(Invariant::PrivateKeys)]
}
