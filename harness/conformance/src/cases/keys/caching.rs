use std::time::Duration;

use edgeproof_fixtures::key_set::KeySet;
use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{DifferenceKind, KeyRule, KeySetValue, Wire};

use super::shape::parse_key_set;
use super::{KeySetExchange, KeySetObservation, KeySetRule};
use crate::cases::service::status;
use crate::cases::{CaseList, Keys, PUBLISHED, ServiceCaseContext, published_status};
use crate::judge::{self, AnswerResult, Check};

/// Number of requests that must return the same keys.
const MANY: usize = 100;
/// Number of concurrent requests.
const AT_ONCE: usize = 10;

/// Cache lifetime, revalidation, and the same key set for every request (8).
pub(super) fn add(cases: &mut CaseList<'_, Keys>) {
    lifetime(cases);
    stable(cases);
    tagged(cases);
}

fn lifetime(cases: &mut CaseList<'_, Keys>) {
    let Some(longest) = cases.spec.limit("limit.key-set-cache") else { return };
    let title = "caches keep the key set for at most five minutes";
    let exchange = KeySetExchange::get().expect(KeySetRule::CachedFor(longest));
    let exchange = exchange
        .observe(KeySetObservation::Caching)
        .observe_at("keys.max-age-seconds", KeySetObservation::MaxAge);
    cases.case("limit.key-set-cache", "keys.cache.lifetime", title).exchange(exchange);
}

/// Servers that publish different keys make some verifications fail.
fn stable(cases: &mut CaseList<'_, Keys>) {
    cases
        .case("keys.stable", "keys.stable", "a hundred requests return the same keys")
        .steps(steps!(async |context| {
            let (draft, published) = (context.key_set(), published_status(context.spec()));
            let mut first: Option<AnswerResult> = None;
            let mut other: Option<AnswerResult> = None;
            for _ in 0..MANY / AT_ONCE {
                let sending = (0..AT_ONCE).map(|_| context.begin_keys(&draft));
                for sent in futures_util::future::join_all(sending).await {
                    match &first {
                        None => {
                            first = Some(sent.reply.clone());
                            context.record_keys(&draft, sent);
                        }
                        Some(seen) if other.is_none() && differs(seen, &sent.reply, published) => {
                            other = Some(sent.reply.clone());
                            context.record_keys(&draft, sent);
                        }
                        Some(_) => {}
                    }
                }
            }
            let kind = DifferenceKind::KeySet {
                rule: KeyRule::Same,
                expected: first.as_ref().map(|reply| value(reply, published)),
                actual: other.as_ref().map(|reply| value(reply, published)),
                faults: Vec::new(),
            };
            context.check(Check::judged(kind, other.is_none()).advise(Advice::KeysDiffer));
        }))
        .takes(Duration::from_secs(5));
}

fn differs(first: &AnswerResult, second: &AnswerResult, published: u16) -> bool {
    keys(first, published) != keys(second, published)
}

/// The keys in sorted order, or why there are none.
fn keys(reply: &AnswerResult, published: u16) -> Result<Vec<String>, String> {
    let answer = reply.as_ref().map_err(ToString::to_string)?;
    if answer.status != published {
        return Err(answer.status.to_string());
    }
    let set = KeySet::parse(&answer.body).map_err(|why| why.to_string())?;
    let mut keys: Vec<String> = set
        .keys()
        .iter()
        .map(|key| {
            let mut members: Vec<String> =
                key.members().iter().map(|(name, value)| format!("{name}={value}")).collect();
            members.sort();
            members.join(",")
        })
        .collect();
    keys.sort();
    Ok(keys)
}

fn value(reply: &AnswerResult, published: u16) -> KeySetValue {
    match reply {
        Err(why) => KeySetValue::Silence(judge::silence(why)),
        Ok(answer) => match KeySet::parse(&answer.body) {
            Ok(set) if answer.status == published => {
                KeySetValue::Ids(set.keys().iter().map(|key| key.kid().map(Wire::from)).collect())
            }
            _ => KeySetValue::Status(answer.status),
        },
    }
}

fn tagged(cases: &mut CaseList<'_, Keys>) {
    let exchange = KeySetExchange::get().expect(KeySetRule::EntityTag);
    cases.case("keys.etag", "keys.cache.etag", "the key set has an entity tag").exchange(exchange);
    cases
        .case(
            "keys.not-modified",
            "keys.cache.not-modified",
            "a request with the current entity tag returns 304",
        )
        .steps(steps!(async |context| {
            let first = context.fetch_key_set(&context.key_set()).await;
            let Some(tag) = tag(context, &first) else { return };
            let reply = context.fetch_key_set(&context.key_set().header("If-None-Match", &tag)).await;
            context.check(judge::status_is(304, &reply));
            context.checks(same_fields(&first, &reply));
            let reply =
                context.fetch_key_set(&context.key_set().header("If-None-Match", "\"edgeproof\"")).await;
            context.check(status(context.spec(), PUBLISHED, &reply));
            parse_key_set(context, &reply);
        }));
}

/// A 304 has the fields of the answer that it stands for: a cache updates what it stored (RFC 9110 §15.4.5). Many services
/// leave out Cache-Control, and a cache keeps the one that it has.
fn same_fields(first: &AnswerResult, reply: &AnswerResult) -> Vec<Check> {
    let is_not_modified = reply.as_ref().is_ok_and(|answer| answer.status == 304);
    let has = |name: &&str| first.as_ref().is_ok_and(|answer| answer.headers.contains_key(*name));
    let names = ["etag", "vary", "content-location"].into_iter().filter(|name| is_not_modified && has(name));
    let checks = names.filter_map(|name| judge::same_value(name, first, reply));
    checks.map(|check| check.at(CaseLevel::Should)).collect()
}

fn tag(context: &mut ServiceCaseContext, reply: &AnswerResult) -> Option<String> {
    let tag = reply.as_ref().ok().and_then(|answer| answer.headers.get("etag")?.to_str().ok());
    if tag.is_none() {
        context.found.not_applicable = Some("the key set has no entity tag; see keys.cache.etag".into());
    }
    tag.map(str::to_owned)
}
