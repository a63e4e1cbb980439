use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use edgeproof_fixtures::key_set::KeySet;
use edgeproof_http::{Draft, Sent};
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::Statuses;
use futures_util::future::join_all;

use super::shape::parse_key_set;
use super::signature::{judge_tokens, signed, signed_in, verifies};
use crate::cases::service::TO_BEGIN;
use crate::cases::{AVAILABLE, CaseList, Keys, ServiceCaseContext, ServiceNeed, published_status};
use crate::judge::{self, AnswerResult};
use crate::states::StateNeed;

/// Keys before, during and after a rotation (1.5, 8).
pub(super) fn add(cases: &mut CaseList<'_, Keys>) {
    cases
        .case(
            "keys.verifies-verdict",
            "keys.rotation.verifies",
            "after a rotation the key set verifies old and new verdicts",
        )
        .steps(steps!(async |context| {
            let Some(mut newest) = newly_signed(context, "first").await else { return };
            let first_key = key_of(&newest);
            let mut old = Vec::new();
            // A service may keep one earlier key.
            for name in ["second", "third"] {
                if context.provide(StateRequest::Rotate {}).await.is_none() {
                    return;
                }
                let Some(new) = polled(context, name).await else { return };
                old = std::mem::replace(&mut newest, new);
                let reply = context.fetch_key_set(&uncached(context)).await;
                let Some(set) = parse_key_set(context, &reply) else { return };
                context.check(judge::distinct_ids(&set).at(CaseLevel::Should));
                judge_tokens(context, "a verdict from before the rotation", &old, &set);
                judge_tokens(context, "a verdict from after the rotation", &newest, &set);
            }
            if let Some(key) = first_key.filter(|_| context.found.checks.iter().all(|check| check.ok))
                && key_of(&newest).as_ref() == Some(&key)
            {
                context.found.not_run = Some(format!(
                    "the state rotate reports new keys, but key {key:?} signs the verdicts before and after; answer when a new \
                     key signs, or answer 501"
                ));
                return;
            }
            if !context.supports(StateNeed::Later) {
                return;
            }
            // The old verdict is still available.
            context.provide(StateRequest::Later { seconds: 90 }).await;
            let reply = context.fetch_key_set(&uncached(context)).await;
            let Some(set) = parse_key_set(context, &reply) else { return };
            judge_tokens(context, "a verdict from 90 seconds before", &old, &set);
        }))
        .requires(&NEEDS)
        .exclusive();
    twice(cases);
    second(cases);
    during(cases);
    cases
        .case(
            "keys.verifies-verdict",
            "keys.rotation.cached",
            "after a rotation a cache gets the new key set",
        )
        .steps(steps!(async |context| {
            let first = context.fetch_key_set(&context.key_set()).await;
            if header(&first, "etag").is_none() {
                context.found.not_applicable = Some("the key set has no ETag".into());
                return;
            }
            // When the retired keys are gone, the set is as long as before the rotation.
            let has_clock = context.supports(StateNeed::Later);
            let later = || has_clock.then_some(StateRequest::Later { seconds: RETIRED });
            let steps = [later(), Some(StateRequest::Rotate {}), later()];
            let mut earlier = vec![first];
            for step in steps.into_iter().flatten() {
                if context.provide(step).await.is_none() {
                    return;
                }
                let now = context.fetch_key_set(&uncached(context)).await;
                for before in &earlier {
                    let Some(tag) = header(before, "etag") else { continue };
                    // A service may publish the new key before it signs, so that nothing changes now.
                    let changed = body(before) != body(&now);
                    let conditional = context.key_set().header("If-None-Match", &tag);
                    let reply = context.fetch_key_set(&conditional).await;
                    let whole = published_status(context.spec());
                    let expected = if changed { vec![whole] } else { vec![whole, 304] };
                    context.check(judge::status_in(Statuses::OneOf(expected.clone()), &reply));
                    // A date has seconds. A set that changed within one of them may be missed.
                    if let Some(date) = header(before, "last-modified") {
                        let conditional = context.key_set().header("If-Modified-Since", &date);
                        let reply = context.fetch_key_set(&conditional).await;
                        let check = judge::status_in(Statuses::OneOf(expected), &reply);
                        context.check(check.at(CaseLevel::Should));
                    }
                }
                earlier.push(now);
            }
        }))
        .requires(&[ServiceNeed::State(StateNeed::Rotate)])
        .also("keys.not-modified")
        .exclusive();
}

/// Time after which a retired key may be gone (s): no verdict of it is available, and no cache holds it.
const RETIRED: u64 = 700;

/// A service may keep one earlier key, if it never rotates twice in two minutes. The interface does not show how often it does.
fn twice(cases: &mut CaseList<'_, Keys>) {
    cases
        .case(
            "keys.verifies-verdict",
            "keys.rotation.twice",
            "after two rotations the key set verifies a verdict that is still available",
        )
        .steps(steps!(async |context| {
            let Some(old) = newly_signed(context, "first").await else { return };
            for name in ["second", "third"] {
                if context.provide(StateRequest::Rotate {}).await.is_none() {
                    return;
                }
                // A service may choose its key when it signs.
                if newly_signed(context, name).await.is_none() {
                    return;
                }
            }
            let reply = context.fetch_key_set(&uncached(context)).await;
            let Some(set) = parse_key_set(context, &reply) else { return };
            judge_tokens(context, "a verdict from before two rotations", &old, &set);
        }))
        .requires(&NEEDS)
        .level(CaseLevel::Should)
        .exclusive();
}

/// A second verdict of a session is signed with a key of its own time.
fn second(cases: &mut CaseList<'_, Keys>) {
    cases
        .case(
            "keys.verifies-verdict",
            "keys.rotation.second",
            "the key set verifies a second verdict of a session, after the key of the first one is gone",
        )
        .steps(steps!(async |context| {
            let reference = context.reference("second-verdict");
            let Some(reference) = context.made(StateRequest::verdict(reference)).await else { return };
            if signed(context, &reference).await.is_none() {
                return;
            }
            for state in [StateRequest::Rotate {}, StateRequest::Later { seconds: RETIRED }] {
                if context.provide(state).await.is_none() {
                    return;
                }
            }
            let again = context.ask(&StateRequest::verdict(&reference)).await;
            let verdict = context.fetch_verdict(&context.with_token(&reference)).await;
            if again.is_err() || !context.has_status(AVAILABLE, &verdict) {
                context.found.not_applicable = Some("a session has one verdict only".into());
                return;
            }
            let Some(tokens) = signed_in(context, &verdict) else { return };
            let reply = context.fetch_key_set(&uncached(context)).await;
            let Some(set) = parse_key_set(context, &reply) else { return };
            judge_tokens(context, "a second verdict", &tokens, &set);
        }))
        .requires(&[NEEDS[0], NEEDS[1], NEEDS[2], ServiceNeed::State(StateNeed::Later)])
        .exclusive();
}

/// Requests while the keys change get the earlier keys or the later ones. Both have the key of an available verdict.
fn during(cases: &mut CaseList<'_, Keys>) {
    const AT_ONCE: usize = 4;
    const AFTERWARDS: Duration = Duration::from_millis(120);
    const PAUSE: Duration = Duration::from_millis(5);
    cases
        .case(
            "keys.verifies-verdict",
            "keys.rotation.during",
            "while the keys rotate, each key set verifies the verdicts of before",
        )
        .steps(steps!(async |context| {
            let Some(old) = newly_signed(context, "first").await else { return };
            let (draft, ended) = (uncached(context), AtomicBool::new(false));
            let published = published_status(context.spec());
            let asking = || async {
                let mut wrong = None;
                while !ended.load(Ordering::Relaxed) && wrong.is_none() {
                    let sent = context.begin_keys(&draft).await;
                    wrong = Some(sent).filter(|sent| !has_key_of(&old, sent, published));
                    context.sleep(PAUSE).await;
                }
                wrong
            };
            let rotating = async {
                let rotated = context.ask(&StateRequest::Rotate {}).await;
                context.sleep(AFTERWARDS).await;
                ended.store(true, Ordering::Relaxed);
                rotated
            };
            let asking = join_all((0..AT_ONCE).map(|_| asking()));
            let (wrong, rotated) = tokio::join!(asking, rotating);
            if let Err(why) = rotated {
                context.found.not_run = Some(why.to_string());
                return;
            }
            // The key set as it is now, or the first one without the key.
            let sent = match wrong.into_iter().flatten().next() {
                Some(sent) => sent,
                None => context.begin_keys(&draft).await,
            };
            let reply = sent.reply.clone();
            context.record_keys(&draft, sent);
            if reply.as_ref().is_ok_and(|answer| answer.status == 429) {
                context.found.not_applicable = Some("the service limits the rate of requests".into());
                return;
            }
            let Some(set) = parse_key_set(context, &reply) else { return };
            judge_tokens(context, "a verdict from before the rotation", &old, &set);
        }))
        .requires(&NEEDS)
        .exclusive();
}

/// What a rotation requires.
const NEEDS: [ServiceNeed; 3] =
    [ServiceNeed::ReadToken, ServiceNeed::Session, ServiceNeed::State(StateNeed::Rotate)];

/// Id of the key that signed a verdict.
fn key_of(tokens: &[String]) -> Option<String> {
    tokens.iter().find_map(|token| judge::key_id(token))
}

/// Whether a key set verifies these tokens. An answer of another status than `published` shows nothing: a service may restart to
/// rotate.
fn has_key_of(tokens: &[String], sent: &Sent, published: u16) -> bool {
    let answer = sent.reply.as_ref().ok().filter(|answer| answer.status == published);
    let Some(answer) = answer else { return true };
    KeySet::parse(&answer.body).is_ok_and(|set| verifies(tokens, &set).is_ok_and(|check| check.ok))
}

/// A request that caches hand on: they may have the earlier set for five minutes (8).
fn uncached(context: &ServiceCaseContext) -> Draft {
    context.key_set().header("Cache-Control", "no-cache")
}

/// The signed tokens of the verdict of a session of its own: a session may have one verdict only. None: there is none, and
/// the case says so.
async fn newly_signed(context: &mut ServiceCaseContext, name: &str) -> Option<Vec<String>> {
    let reference = if context.supports(StateNeed::Verdict) {
        context.made(StateRequest::verdict(context.reference(name))).await?
    } else {
        context.session().await?
    };
    signed(context, &reference).await
}

/// The signed tokens of a verdict that comes during a long poll. A service that makes its own references, or does not wait, gives
/// those of any new verdict.
async fn polled(context: &mut ServiceCaseContext, name: &str) -> Option<Vec<String>> {
    if context.supports(StateNeed::ChosenReference) {
        let reference = context.reference(name);
        let draft = context.with_token(&reference).query("waitMs=5000").draft();
        let sending = context.begin(&draft, POLL_TIMEOUT);
        let making = async {
            context.sleep(TO_BEGIN).await;
            context.ask(&StateRequest::verdict(&reference)).await
        };
        let (sent, made) = tokio::join!(sending, making);
        context.record(&draft, sent.clone());
        if made.is_ok() && context.has_status(AVAILABLE, &sent.reply) {
            return signed_in(context, &sent.reply);
        }
    }
    newly_signed(context, &format!("{name}-plain")).await
}

/// Timeout of the answer to a long poll.
const POLL_TIMEOUT: Duration = Duration::from_secs(10);

fn header(reply: &AnswerResult, name: &str) -> Option<String> {
    reply.as_ref().ok()?.headers.get(name)?.to_str().ok().map(str::to_owned)
}

fn body(reply: &AnswerResult) -> Option<&[u8]> {
    reply.as_ref().ok().map(|answer| &answer.body[..])
}
