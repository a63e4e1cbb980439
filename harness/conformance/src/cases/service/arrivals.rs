use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::seal::{Collection, CollectionForm};
use edgeproof_fixtures::spec::{Spec, Stimulus, Table};
use edgeproof_reports::Hop;
use edgeproof_reports::difference::{
    AnswerSubject, AnswerValue, DifferenceKind, MemberChange, TimeRule, Wire,
};

use super::expected::{AVAILABLE, PENDING, answer, status};
use super::{AddedSession, VerdictExchange, VerdictRule};
use crate::cases::{CaseList, ORIGIN, Service, ServiceCaseContext, ServiceNeed, fill, posted};
use crate::judge::{self, AnswerResult, Check};
use edgeproof_http::Body;
use edgeproof_mock::{NewSession, Ready};

/// A wait that no case awaits to its end.
const LONG: Duration = Duration::from_secs(25);
/// How much younger than the limit the tested verdict is, to allow for a slow request.
const YOUNGER: Duration = Duration::from_secs(30);
/// Timeout of a long poll's answer after the verdict has arrived.
const SOON: Duration = Duration::from_secs(2);

/// Row of the edge's answer to an accepted collection.
const ACCEPTED: &str = "edge.200.accepted";

/// Sessions in each state (1.3, 3, 7.3, 7.4). Most cases add them to the built-in mock.
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    pending(cases);
    alike(cases);
    accepted(cases);
    refused(cases);
    replayed(cases);
    long_poll(cases);
    still_there(cases);
}

/// A reason why a session has no verdict: id, title, stimulus, and the session, if there is one.
type PendingCause = (&'static str, &'static str, Stimulus, Option<AddedSession>);

/// The four reasons why a session has no verdict. Where verdicts have no age limit, none is too old.
fn pending_causes(spec: &Spec) -> Vec<PendingCause> {
    let too_old = spec.limit("limit.verdict-age").map(|limit| {
        let since = Ready::Since(limit.saturating_add(Duration::from_secs(1)));
        let title = "a session whose verdict is older than two minutes";
        ("too-old", title, Stimulus::VerdictTooOld, Some(AddedSession::ready(since)))
    });
    let never = AddedSession::ready(Ready::Never);
    let other = AddedSession { other_license: true, ..AddedSession::ready(Ready::After(Duration::ZERO)) };
    let not_yet = ("not-yet", "a session that has no verdict yet", Stimulus::VerdictPending, Some(never));
    let others = [
        ("unknown", "an unknown session", Stimulus::ReferenceUnknown, None),
        ("other-license", "a session under another license", Stimulus::ReferenceOtherLicense, Some(other)),
    ];
    [not_yet].into_iter().chain(too_old).chain(others).collect()
}

fn pending(cases: &mut CaseList<'_, Service>) {
    for (id, title, stimulus, session) in pending_causes(cases.spec) {
        let exchange = match session {
            Some(session) => VerdictExchange::added(id, session),
            None => VerdictExchange::unknown(id),
        };
        let (id, title) = (format!("verdict.pending.{id}"), format!("{title} is pending"));
        cases
            .case(PENDING, &id, &title)
            .exchange(exchange.expect(VerdictRule::Pending))
            // An unknown session needs no preparation; the others need the built-in mock.
            .requires(if session.is_some() { &[ServiceNeed::Mock] } else { &[ServiceNeed::ReadToken] })
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
            let mut first: Option<Option<AnswerValue>> = None;
            for (id, title, _, session) in pending_causes(context.spec()) {
                // All references have the same length, so that only the reason can make a difference.
                let reference = context.reference(&format!("{id:-<16}"));
                if let Some(session) = session {
                    session.add(context, &reference);
                }
                let reply = context.fetch_verdict(&context.with_token(&reference)).await;
                let seen = without(&reply, &reference);
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
        .requires(&[ServiceNeed::Mock])
        .also(PENDING);
}

/// An answer without its reference, its length and its date.
fn without(reply: &AnswerResult, reference: &str) -> Option<AnswerValue> {
    let answer = reply.as_ref().ok()?;
    let headers = answer.headers.iter().filter(|(name, _)| *name != "date" && *name != "content-length");
    let headers: Vec<_> = headers
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    let mut value = judge::answer_value(answer, None);
    if let Some(body) = &mut value.body {
        body.value = String::from_utf8_lossy(&answer.body).replace(reference, "…").into();
    }
    Some(AnswerValue { headers: Some(headers.join(", ").into()), ..value })
}

/// From the page over the edge and the service to the backend.
fn accepted(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            "statement.verdict-after-acceptance",
            "verdict.journey.accepted",
            "a session has a verdict after the service has accepted its collection",
        )
        .steps(steps!(async |context| {
            let reference = context.reference("größe 7/8");
            let Some(body) = collection(context, &reference) else { return };
            post(context, body, ACCEPTED).await;
            let reply = fetch_available(context, &reference).await;
            let named = super::sessions::reference_in(&reply);
            let ok = named.as_deref() == Some(&reference);
            let change = if named.is_some() { MemberChange::Other } else { MemberChange::Missing };
            let (expected, actual) = (Some(reference.into()), named.map(Wire::from));
            let kind = DifferenceKind::Member { path: "/ref".into(), change, expected, actual };
            context.check(Check::judged(kind, ok));
        }))
        .requires(&[ServiceNeed::Mock])
        .also("verdict.200.available");
}

fn refused(cases: &mut CaseList<'_, Service>) {
    let form = CollectionForm::SignatureAltered;
    let Some(refused) = form.stimulus().and_then(|stimulus| refusal(cases, stimulus)) else { return };
    cases
        .case(
            "statement.verdict-after-acceptance",
            "verdict.journey.refused",
            "a session has no verdict after the service has refused its collection",
        )
        .steps(steps!(with(refused), async |context| {
            let reference = context.reference("refused");
            let Some((_, credentials)) = context.builtin_mock() else { return };
            let collection = Collection::generated(&reference, 7, context.wall_clock());
            let body = form.body(&collection, credentials.seal_keys());
            post(context, body, &refused).await;
            let reply = context.fetch_verdict(&context.with_token(&reference)).await;
            context.checks(judge::exact(&answer(context.row(PENDING), &reference), &reply));
        }))
        .requires(&[ServiceNeed::Mock]);
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
            let Some(body) = collection(context, &reference) else { return };
            post(context, body.clone(), ACCEPTED).await;
            let before = fetch_available(context, &reference).await;
            post(context, body, &refused).await;
            let after = context.fetch_verdict(&context.with_token(&reference)).await;
            context.check(judge::same_answer(AnswerSubject::AsTheVerdictBefore, &before, &after));
        }))
        .requires(&[ServiceNeed::Mock]);
}

fn long_poll(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            "statement.wait-optional",
            "verdict.wait.ends-with-verdict",
            "a long poll is answered as soon as the verdict is available",
        )
        .steps(steps!(async |context| {
            let reference = context.reference("poll");
            let request = context.with_token(&reference);
            let draft = request.query(&format!("waitMs={}", LONG.as_millis())).draft();
            let mut sending = pin!(context.begin(&draft, LONG));
            let Some((mock, _)) = context.builtin_mock() else { return };
            let mut polls = mock.polls();
            let arriving = async {
                // The session must arrive after the request has started to wait.
                let _ = polls.wait_for(|polls| *polls > 0).await;
                mock.add_session(NewSession::new(&reference));
                context.now()
            };
            let (sent, arrived) = tokio::select! {
                // The answer came before the verdict.
                sent = &mut sending => (sent, context.now()),
                arrived = arriving => (sending.await, arrived),
            };
            context.record(&draft, sent.clone());
            let late = (sent.at + sent.took).saturating_duration_since(arrived);
            context.check(status(context.spec(), AVAILABLE, &sent.reply));
            context.check(Check::timed(TimeRule::AfterVerdict, late, SOON));
        }))
        .requires(&[ServiceNeed::Mock])
        .exclusive()
        .takes(LONG)
        .also("verdict.200.available");
}

/// A verdict is available until it reaches the age limit.
fn still_there(cases: &mut CaseList<'_, Service>) {
    let Some(limit) = cases.spec.limit("limit.verdict-age") else { return };
    let age = limit.saturating_sub(YOUNGER);
    let title = "a verdict just below the age limit is available";
    let exchange = VerdictExchange::added("nearly-old", AddedSession::ready(Ready::Since(age)));
    cases
        .case("limit.verdict-age", "verdict.available.until-old", title)
        .exchange(exchange.expect(VerdictRule::Available))
        .requires(&[ServiceNeed::Mock])
        .also("verdict.200.available");
}

/// Id of the row that refuses a collection. A version may lack it.
fn refusal(cases: &CaseList<'_, Service>, stimulus: Stimulus) -> Option<String> {
    cases.spec.by_stimulus(Table::Relay, stimulus).map(|row| row.id.clone())
}

fn collection(context: &ServiceCaseContext, reference: &str) -> Option<Vec<u8>> {
    let (mock, _) = context.builtin_mock()?;
    Some(mock.posted_form(&Collection::generated(reference, 7, context.wall_clock())))
}

/// Posts a collection through the reference edge. The answer has the status of this row.
async fn post(context: &mut ServiceCaseContext, body: Vec<u8>, row: &str) {
    let Some(edge) = context.target.edge.as_ref().map(|edge| edge.endpoint().clone()) else {
        context.found.not_run = Some("this run has no edge that relays to the mock service".into());
        return;
    };
    let mut draft = posted(Body::Sized(Bytes::from(body)), Some("application/json"));
    draft.headers.retain(|(_, value)| value != ORIGIN);
    let draft = fill(&draft, context.spec(), &context.marker, ORIGIN);
    let sent = edgeproof_http::send(&edge, &draft, context.timeout).await;
    context.record_at(Hop::ClientEdge, &edge, &draft, sent.clone());
    context.check(status(context.spec(), row, &sent.reply));
}

/// Fetches a verdict, and checks that there is one.
async fn fetch_available(context: &mut ServiceCaseContext, reference: &str) -> AnswerResult {
    let reply = context.fetch_verdict(&context.with_token(reference)).await;
    context.check(status(context.spec(), AVAILABLE, &reply));
    reply
}
