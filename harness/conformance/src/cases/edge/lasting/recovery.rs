use std::slice;
use std::time::Duration;

use edgeproof_fixtures::credentials::Role;
use edgeproof_fixtures::spec::Advice;
use edgeproof_http::NoAnswer;
use edgeproof_mock::{ListenerMode, Script};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{AnswerSubject, DifferenceKind};
use futures_util::future::join_all;

use crate::cases::edge::isolation::scripted;
use crate::cases::{CaseList, Conversation, Edge, EdgeCaseContext, summary};
use crate::judge::{self, Check, ExpectedAnswer, RelayedRequests};

/// Times for which a connection of a page is idle: servers close idle ones after 5 or 30 s, or later.
const IDLE: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(6), Duration::from_secs(31)];

/// The same edge works again after an outage of its service, and after a pause.
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    for (id, title, mode) in [
        (
            "recovery.service-back",
            "the edge works again without a restart when its service is back",
            ListenerMode::Closes,
        ),
        (
            "recovery.port-back",
            "the edge works again without a restart when something listens on the port of its service again",
            ListenerMode::Refuses,
        ),
    ] {
        let (again, gone) = (cases.accepted_post(), cases.unreachable_post());
        cases
            .case("statement.recovery", id, title)
            .steps(steps!(with(gone, again), async |context| {
                if !context.set_listener(mode).await {
                    return;
                }
                context.converse(&gone).await;
                if context.set_listener(ListenerMode::Tls(Role::ServiceServer)).await {
                    works_again(context, &again).await;
                }
            }))
            .exclusive();
    }
    certificate_renewed(cases);
    connection_closed(cases);
    idle(cases);
}

/// An edge reads the authority of the service at its start, and its certificate in each handshake.
fn certificate_renewed(cases: &mut CaseList<'_, Edge>) {
    let again = cases.accepted_post();
    cases
        .case(
            "statement.recovery",
            "recovery.certificate-renewed",
            "the edge works after the service got a new certificate of the same authority",
        )
        .steps(steps!(with(again), async |context| {
            // An earlier case can have left an edge behind that does not.
            works_again(context, &again).await;
            if context.set_listener(ListenerMode::Tls(Role::ServiceRenewed)).await {
                works_again(context, &again).await;
            }
        }))
        .exclusive();
}

fn connection_closed(cases: &mut CaseList<'_, Edge>) {
    let again = cases.accepted_post();
    cases
        .case(
            "statement.recovery",
            "recovery.connection-closed",
            "the edge works after the service has closed its idle connection",
        )
        .steps(steps!(with(again), async |context| {
            // An earlier case can have left an edge behind that does not.
            works_again(context, &again).await;
            if let Some(service) = context.target.service.clone() {
                service.close_connections().await;
            }
            let statuses = works_again(context, &again).await;
            // A client that may not repeat a POST loses one on the closed connection.
            context.observe_case(statuses.join(", then "));
        }))
        .observes_itself()
        .exclusive();
}

/// A page can use its connection again after a pause, and so can the edge its connection to the service. Either may have been
/// closed meanwhile: then a new one serves.
fn idle(cases: &mut CaseList<'_, Edge>) {
    let times = if cases.thorough { &IDLE[..] } else { &IDLE[..1] };
    let (accept, accepted) = (cases.accept(), cases.accepted());
    cases
        .case(
            "statement.recovery",
            "recovery.idle",
            "the edge works after a pause, on the same connection or, if it was closed, on another one",
        )
        .steps(steps!(with(accept, accepted), async |context| {
            // Of an earlier case. The service closes none meanwhile.
            context.use_up_closed().await;
            let drafts: Vec<_> = times
                .iter()
                .map(|time| {
                    let name = |place: &str| format!("{place}-{}", time.as_secs());
                    ["first", "idle", "again"].map(|place| scripted(context, &name(place), accept.clone()))
                })
                .collect();
            let edge: &EdgeCaseContext = context;
            let pauses = drafts.iter().zip(times).map(|(drafts, time)| async move {
                let mut sent = edge.exchange_with_pause(&drafts[..2], *time).await;
                let last = sent.last().map(|last| &last.reply);
                // As a browser does. A server can close an idle connection with a 408 (RFC 9110 §15.5.9).
                let is_closed = match last {
                    Some(Err(why)) => matches!(why, NoAnswer::Closed | NoAnswer::Reset),
                    Some(Ok(answer)) => answer.status == 408,
                    None => false,
                };
                if is_closed {
                    sent.push(edge.exchange(&drafts[2]).await);
                }
                sent
            });
            let all = join_all(pauses).await;
            let arrivals = context.relayed().await.complete;
            for ((drafts, sent), time) in drafts.iter().zip(all).zip(times) {
                let Some((draft, last)) = drafts.iter().zip(sent).last() else { continue };
                let body = draft.body.bytes();
                let of_it = arrivals.iter().filter(|arrival| arrival.request.body == body).cloned();
                let answer =
                    judge::one_of(AnswerSubject::AfterOutage, slice::from_ref(&accepted), &last.reply);
                let mut checks = vec![answer.advise(Advice::ServiceBack)];
                let relayed = RelayedRequests::new(of_it.collect());
                checks.extend(judge::relayed_once(body, &relayed, &last.reply, CaseLevel::Must));
                context.record(draft, last);
                let after = format!("the page after {}", humantime::format_duration(*time));
                context.checks(checks.into_iter().map(|check| check.of(&after)).collect());
            }
        }))
        .takes(times.iter().copied().max().unwrap_or_default())
        .exclusive();
}

/// One of three collections in a row passes. The first may be lost: it can go out on a connection that the service has just
/// closed, and the edge must not repeat a request that may have arrived (RFC 9110 §9.2.2). A collection that the edge loses
/// without a new connection does not count: an edge can hold many closed ones.
///
/// Yields the statuses, each once in a row.
async fn works_again(context: &mut EdgeCaseContext, conversation: &Conversation) -> Vec<String> {
    const TRIES: usize = 3;
    const MOST_LOST: usize = 64;
    let (mut answers, mut statuses) = (Vec::new(), Vec::new());
    let (mut tries, mut lost) = (0, 0);
    let (reply, ok) = loop {
        context.mark_connections();
        context.script(conversation.script.clone().unwrap_or_else(Script::decide));
        let sent = context.send(&conversation.draft).await;
        statuses.push(summary::status(&sent.reply));
        let is_right =
            |answer: &ExpectedAnswer| judge::exact(answer, &sent.reply).iter().all(|check| check.ok);
        let ok = conversation.answer.as_ref().is_some_and(is_right);
        let is_lost = context.is_unreachable(&sent.reply) && context.new_connections() == Some(0);
        if is_lost && lost < MOST_LOST {
            lost += 1;
            continue;
        }
        tries += 1;
        answers.extend(sent.reply.iter().map(|answer| judge::answer_value(answer, None)));
        if ok || tries == TRIES {
            break (sent.reply, ok);
        }
    };
    statuses.dedup();
    let kind = DifferenceKind::Answer {
        subject: AnswerSubject::AfterOutage,
        expected: conversation.answer.iter().map(ExpectedAnswer::value).collect(),
        // The last try proves it.
        actual: answers.into_iter().rev().collect(),
    };
    let check = match reply {
        Err(why) => Check::unanswered(&why, kind),
        Ok(_) => Check::judged(kind, ok),
    };
    context.check(check.at(CaseLevel::Should).advise(Advice::ServiceBack));
    statuses
}
