use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use edgeproof_fixtures::spec::{Spec, Stimulus, Table};
use edgeproof_http::Answer;
use edgeproof_mock::states::{CollectionState, StateRequest};
use edgeproof_reports::difference::{
    AnswerSubject, AnswerValue, DifferenceKind, MemberChange, Statuses, Wire,
};

use http::HeaderValue;

use super::expected::{AVAILABLE, PENDING, answer, status};
use super::stable_values::StableValues;
use super::{SessionState, VerdictExchange, VerdictRule};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed};
use crate::judge::{self, AnswerResult, Check};
use crate::states::StateNeed;

/// How much younger than the limit the tested verdict is (s), to allow for a slow request.
const YOUNGER: u64 = 30;

/// Longest time from an accepted collection to its verdict. The interface does not show it.
const LONGEST_JUDGEMENT: Duration = Duration::from_secs(10);

/// Row of the edge's answer to an accepted collection.
const ACCEPTED: &str = "edge.200.accepted";

/// Sessions in each state (1.3, 3, 7.3, 7.4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    pending(cases);
    alike(cases);
    accepted(cases);
    refused(cases);
    replayed(cases);
    replayed_late(cases);
    still_there(cases);
}

/// A reason why a session has no verdict: id, title, stimulus, and the session, if there is one.
type PendingCause = (&'static str, &'static str, Stimulus, Option<SessionState>);

/// The four reasons why a session has no verdict. Where verdicts have no age limit, none is too old.
fn pending_causes(spec: &Spec) -> Vec<PendingCause> {
    let (pending, other) = (SessionState::Pending, SessionState::OtherLicense);
    let too_old = spec.limit("limit.verdict-age").map(|limit| {
        let title = "a session whose verdict is older than two minutes";
        let old = SessionState::Aged(limit.as_secs().saturating_add(1));
        ("too-old", title, Stimulus::VerdictTooOld, Some(old))
    });
    let not_yet = ("not-yet", "a session that has no verdict yet", Stimulus::VerdictPending, Some(pending));
    let others = [
        ("unknown", "an unknown session", Stimulus::ReferenceUnknown, None),
        ("other-license", "a session under another license", Stimulus::ReferenceOtherLicense, Some(other)),
    ];
    [not_yet].into_iter().chain(too_old).chain(others).collect()
}

fn pending(cases: &mut CaseList<'_, Service>) {
    for (id, title, stimulus, session) in pending_causes(cases.spec) {
        let exchange = match session {
            Some(session) => VerdictExchange::made(id, session),
            None => VerdictExchange::unknown(id),
        };
        let (id, title) = (format!("verdict.pending.{id}"), format!("{title} is pending"));
        let needs: Vec<_> =
            [ServiceNeed::ReadToken].into_iter().chain(session.map(SessionState::need)).collect();
        cases
            .case(PENDING, &id, &title)
            .exchange(exchange.expect(VerdictRule::Pending))
            .requires(&needs)
            .stimulus(stimulus);
    }
}

/// Neither body nor header fields reveal which of the four reasons applies.
fn alike(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            "statement.no-oracle",
            "verdict.pending.alike",
            "the answers for the four reasons without a verdict are the same",
        )
        .steps(steps!(async |context| {
            let varying = varying_headers(context).await;
            let mut first: Option<Option<AnswerValue>> = None;
            for (id, title, _, session) in pending_causes(context.spec()) {
                // All references have the same length, so that only the reason can make a difference.
                let mut reference = context.reference(&format!("{id:-<16}"));
                if let Some(session) = session {
                    let Some(made) = context.made(session.request(reference)).await else { return };
                    reference = made;
                }
                let reply = context.fetch_verdict(&context.with_token(&reference)).await;
                let seen = without(&reply, &reference, &varying);
                let first = first.get_or_insert_with(|| seen.clone());
                let same = *first == seen;
                let kind = DifferenceKind::Answer {
                    subject: AnswerSubject::ForAnyReason,
                    expected: first.clone().into_iter().collect(),
                    actual: seen.into_iter().collect(),
                };
                context.check(Check::judged(kind, same).which(&format!("for {title}")));
            }
        }))
        .requires(&[
            ServiceNeed::ReadToken,
            SessionState::Pending.need(),
            SessionState::Aged(0).need(),
            SessionState::OtherLicense.need(),
            // References of one length.
            ServiceNeed::State(StateNeed::ChosenReference),
        ])
        .also(PENDING);
}

/// Header fields that depend on the time, on the length or on the connection.
const PER_ANSWER: [&str; 6] = ["date", "age", "content-length", "connection", "keep-alive", "server-timing"];

/// Names of header fields whose values differ between two unknown sessions, such as request ids.
async fn varying_headers(context: &mut ServiceCaseContext) -> BTreeSet<String> {
    let mut seen: Vec<BTreeMap<String, String>> = Vec::new();
    for name in ["vary-one--------", "vary-other------"] {
        let reference = context.reference(name);
        let reply = context.fetch_verdict(&context.with_token(&reference)).await;
        seen.push(reply.iter().flat_map(fields).collect());
    }
    let names = seen[0].keys().chain(seen[1].keys());
    names.filter(|name| seen[0].get(*name) != seen[1].get(*name)).cloned().collect()
}

fn fields(answer: &Answer) -> impl Iterator<Item = (String, String)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    answer.headers.iter().map(move |(name, value)| (name.to_string(), text(value)))
}

/// An answer without its reference and these header fields. The others are sorted.
fn without(reply: &AnswerResult, reference: &str, varying: &BTreeSet<String>) -> Option<AnswerValue> {
    let answer = reply.as_ref().ok()?;
    let mut headers: Vec<String> = fields(answer)
        .filter(|(name, _)| !varying.contains(name) && !PER_ANSWER.contains(&name.as_str()))
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    headers.sort();
    let mut value = judge::answer_value(answer, None);
    if let Some(body) = &mut value.body {
        body.value = String::from_utf8_lossy(&answer.body).replace(reference, "…").into();
    }
    Some(AnswerValue { headers: Some(headers.join(", ").into()), ..value })
}

/// What collections require.
const COLLECTION: [ServiceNeed; 2] = [ServiceNeed::ReadToken, ServiceNeed::State(StateNeed::Collection)];

/// Time after which a value that counts seconds is another one.
const BETWEEN_READINGS: Duration = Duration::from_millis(1100);

/// From the page over the edge and the service to the backend.
fn accepted(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            "statement.verdict-after-acceptance",
            "verdict.journey.accepted",
            "a session has a verdict after the service has accepted its collection",
        )
        .steps(steps!(async |context| {
            let asked = context.reference("größe 7/8");
            let posted = posted(context, &asked, CollectionState::Accepted, ACCEPTED).await;
            let Some(reference) = posted else { return };
            let reply = fetch_available(context, &reference).await;
            // The interface does not show the members of a verdict. One that names the session names the right one.
            let Some(named) = super::sessions::reference_in(&reply) else { return };
            let ok = named == reference;
            let (expected, actual) = (Some(reference.into()), Some(Wire::from(named)));
            let kind = DifferenceKind::Member {
                token: None,
                path: "/ref".into(),
                change: MemberChange::Other,
                expected,
                actual,
            };
            context.check(Check::judged(kind, ok));
        }))
        .requires(&COLLECTION)
        .takes(2 * LONGEST_JUDGEMENT)
        .also("verdict.200.available");
}

fn refused(cases: &mut CaseList<'_, Service>) {
    let Some(refused) = refusal(cases, Stimulus::ContentsSignatureAltered) else { return };
    cases
        .case(
            "statement.verdict-after-acceptance",
            "verdict.journey.refused",
            "a session has no verdict after the service has refused its collection",
        )
        .steps(steps!(with(refused), async |context| {
            let reference = context.reference("refused");
            let posted = posted(context, &reference, CollectionState::Refused, &refused).await;
            let Some(reference) = posted else { return };
            let reply = context.fetch_verdict(&context.with_token(&reference)).await;
            context.checks(judge::exact(&answer(context.row(PENDING), &reference), &reply));
        }))
        .requires(&COLLECTION);
}

fn replayed(cases: &mut CaseList<'_, Service>) {
    let Some(refused) = refusal(cases, Stimulus::Replayed) else { return };
    cases
        .case(
            "statement.replay-keeps-verdict",
            "verdict.journey.replayed",
            "the service refuses a copy of a collection and keeps the verdict",
        )
        .steps(steps!(with(refused), async |context| {
            let reference = context.reference("replayed");
            let made = posted(context, &reference, CollectionState::Accepted, ACCEPTED).await;
            let Some(made) = made else { return };
            let first = fetch_available(context, &made).await;
            context.sleep(BETWEEN_READINGS).await;
            let before = fetch_available(context, &made).await;
            let kept = StableValues::of(&first, &before);
            if posted(context, &reference, CollectionState::Copied, &refused).await.is_none() {
                return;
            }
            let after = context.fetch_verdict(&context.with_token(&made)).await;
            context.check(status(context.spec(), AVAILABLE, &after));
            if !kept.is_in(&after) {
                context.check(judge::same_answer(AnswerSubject::AsTheVerdictBefore, &before, &after));
            }
        }))
        .requires(&COLLECTION)
        .takes(2 * LONGEST_JUDGEMENT);
}

/// A copy does not make the verdict of its session younger.
fn replayed_late(cases: &mut CaseList<'_, Service>) {
    let Some(refused) = refusal(cases, Stimulus::Replayed) else { return };
    let Some(limit) = cases.spec.limit("limit.verdict-age").map(|limit| limit.as_secs()) else { return };
    cases
        .case(
            "limit.verdict-age",
            "verdict.journey.replayed-late",
            "a copy of a collection makes the verdict of its session no younger",
        )
        .steps(steps!(with(refused), async |context| {
            let reference = context.reference("replayed-late");
            let made = posted(context, &reference, CollectionState::Accepted, ACCEPTED).await;
            let Some(made) = made else { return };
            drop(fetch_available(context, &made).await);
            if context.provide(StateRequest::Later { seconds: YOUNGER }).await.is_none() {
                return;
            }
            let form = CollectionState::Copied;
            let copied = StateRequest::Collection { reference: reference.clone(), form };
            let Some(reply) = context.provide(copied).await else { return };
            // How long a service recognises copies is open.
            if reply.status.is_some() && reply.status != context.row(&refused).status() {
                context.found.not_applicable = Some("the service does not refuse the copy".into());
                return;
            }
            // The copy is younger than the limit, and the verdict is older.
            let seconds = limit.saturating_sub(YOUNGER / 2);
            if context.provide(StateRequest::Later { seconds }).await.is_none() {
                return;
            }
            let reply = context.fetch_verdict(&context.with_token(&made)).await;
            context.checks(judge::exact(&answer(context.row(PENDING), &made), &reply));
        }))
        .requires(&[COLLECTION[0], COLLECTION[1], ServiceNeed::State(StateNeed::Later)])
        .exclusive()
        .takes(LONGEST_JUDGEMENT)
        .also("statement.replay-keeps-verdict")
        .also(PENDING);
}

/// A verdict is available until it reaches the age limit.
fn still_there(cases: &mut CaseList<'_, Service>) {
    let Some(limit) = cases.spec.limit("limit.verdict-age") else { return };
    let state = SessionState::Aged(limit.as_secs().saturating_sub(YOUNGER));
    let title = "a verdict just below the age limit is available";
    let exchange = VerdictExchange::made("nearly-old", state);
    cases
        .case("limit.verdict-age", "verdict.available.until-old", title)
        .exchange(exchange.expect(VerdictRule::Available))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session, state.need()])
        .also("verdict.200.available");
}

/// Id of the row that refuses a collection. A version may lack it.
fn refusal(cases: &CaseList<'_, Service>, stimulus: Stimulus) -> Option<String> {
    cases.spec.by_stimulus(Table::Relay, stimulus).map(|row| row.id.clone())
}

/// A page posts a collection. Where the hook tells the answer of the edge, it has the status of this row. Yields the
/// reference of its session. None: it was not posted; the case says why.
async fn posted(
    context: &mut ServiceCaseContext,
    reference: &str,
    form: CollectionState,
    row: &str,
) -> Option<String> {
    let request = StateRequest::Collection { reference: reference.to_owned(), form };
    let reply = context.provide(request).await?;
    if let (Some(actual), Some(expected)) = (reply.status, context.row(row).status()) {
        let kind = DifferenceKind::Status { expected: Statuses::OneOf(vec![expected]), actual: Some(actual) };
        context.check(Check::judged(kind, actual == expected));
    }
    Some(reply.reference.unwrap_or_else(|| reference.to_owned()))
}

/// Fetches a verdict, and checks that there is one. A service may need a while for it.
async fn fetch_available(context: &mut ServiceCaseContext, reference: &str) -> AnswerResult {
    let request = context.with_token(reference).query("waitMs=1000");
    let began = context.now();
    loop {
        let reply = context.fetch_verdict(&request).await;
        let is_pending = context.has_status(PENDING, &reply);
        if !is_pending || context.now() > began + LONGEST_JUDGEMENT {
            context.check(status(context.spec(), AVAILABLE, &reply));
            return reply;
        }
        context.sleep(Duration::from_millis(200)).await;
    }
}
