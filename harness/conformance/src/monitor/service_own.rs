use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, Invariant};
use serde_json::Value;

use super::breaches::{Breaches, by_exchange};
use super::service_record::ServiceRecord;
use crate::judge::{self, Check};

/// Number of sessions whose reference a place has to hold, before it is taken for the reference of the session.
const ENOUGH: usize = 3;

/// Where verdicts name their session, each names its own. The interface does not show these places: they are those that hold
/// the reference of the request in several verdicts.
pub(super) fn judge(record: &ServiceRecord) -> Check {
    let verdicts: Vec<_> = record
        .verdicts()
        .filter(|exchange| exchange.draft.method == "GET")
        .filter_map(|exchange| {
            let answer = exchange.sent.reply.as_ref().ok().filter(|answer| answer.status == 200)?;
            Some((exchange, exchange.reference(&record.path)?, texts(&answer.body)))
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
            other.push(Breach { datum: Some(place.clone()), value, ..by_exchange(exchange) });
        }
    }
    // A place may hold a form of the reference, such as its beginning.
    let level = if is_foreign { CaseLevel::Must } else { CaseLevel::Should };
    other.check(Invariant::OwnSessions).at(level)
}

/// All texts of a verdict, and of the claims of its tokens, with their places.
fn texts(body: &[u8]) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    match serde_json::from_slice::<Value>(body) {
        Ok(value) => collect(&value, "", &mut texts),
        Err(_) => collect(&Value::String(String::from_utf8_lossy(body).trim().to_owned()), "", &mut texts),
    }
    texts
}

fn collect(value: &Value, place: &str, texts: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) if judge::is_jws(text) => {
            let claims = text.split('.').nth(1).and_then(|claims| URL_SAFE_NO_PAD.decode(claims).ok());
            if let Some(claims) = claims.and_then(|claims| serde_json::from_slice::<Value>(&claims).ok()) {
                collect(&claims, &format!("{place} claim "), texts);
            }
        }
        Value::String(text) => texts.push((place.to_owned(), text.clone())),
        Value::Array(items) => items.iter().for_each(|item| collect(item, place, texts)),
        Value::Object(members) => {
            members.iter().for_each(|(name, item)| collect(item, &format!("{place}/{name}"), texts));
        }
        _ => {}
    }
}
