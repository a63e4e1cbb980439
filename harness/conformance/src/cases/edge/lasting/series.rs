use std::iter::repeat_n;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_http::{Body, Draft, Sent};
use edgeproof_mock::{Action, Reply, Script};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::Statuses;
use futures_util::future::{join, join_all};

use crate::cases::edge::isolation::scripted;
use crate::cases::{
    CaseList, Conversation, Edge, EdgeCaseContext, EdgeNeed, EdgeRule, ExpectedRelay, HEALTH, MARKER, ORIGIN,
    OTHER_ORIGIN, collection, collection_from, methods, preflight, to_signals,
};
use crate::judge::{self, Check, ExpectedAnswer, RelayedRequests};

/// Statuses that circuit breakers count. The service may answer them, though no row has them.
const COUNTED: [u16; 3] = [429, 500, 503];
/// Number of refusals in a row with each of them, and with each status of the tables.
const TIMES: usize = 24;
const OTHER_TIMES: usize = 3;
/// Number of acceptances in a row. Clients keep up to 128 connections in use, or fewer.
const ACCEPTED: usize = 140;
/// The same in a thorough run.
const ACCEPTED_THOROUGH: usize = 500;
/// Number of exchanges with the same outcome in a row: more than ten, the usual limit of counters.
const OF_EACH: usize = 11;
/// The same in a thorough run.
const OF_EACH_THOROUGH: usize = 101;
/// Most collections of a case that an edge may lose on closed connections.
const MOST_LOST: usize = 64;
/// Number of replies in a row that break off.
const LOST: usize = 6;
/// Length of a large reply (bytes).
const LARGE_REPLY: usize = 200 * 1024;
/// Number of pages that leave at the same time, and of those that stay.
const PAGES: usize = 4;
/// Time after which a page leaves.
const LEAVES: Duration = Duration::from_millis(40);
/// Time that the service takes meanwhile.
const SERVICE_TAKES: Duration = Duration::from_millis(120);

/// Exchanges in a row: none changes what the next one gets.
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    refusals(cases);
    acceptances(cases);
    outcomes(cases);
    lost_replies(cases);
    large_replies(cases);
    origins(cases);
    pages_that_leave(cases);
}

/// An edge that stops asking a service which refuses, tells pages of a refusal that the service did not give.
fn refusals(cases: &mut CaseList<'_, Edge>) {
    let mut plays: Vec<(Script, ExpectedAnswer)> = Vec::new();
    let others = cases.refusal_statuses().into_iter().map(|status| (status, OTHER_TIMES));
    for (status, times) in COUNTED.map(|status| (status, TIMES)).into_iter().chain(others) {
        let play = (cases.refuse(status, "edgeproof_in_a_row"), cases.refused(status, "edgeproof_in_a_row"));
        plays.extend(repeat_n(play, times));
    }
    plays.push((cases.accept(), cases.accepted()));
    let takes = slowest(plays.len() as u32);
    cases
        .case(
            "statement.isolation",
            "series.refusals",
            "after many refusals in a row the service is still asked about each collection",
        )
        .steps(steps!(with(plays), async |context| { in_a_row(context, &plays).await }))
        .takes(takes)
        .also("statement.status-and-reason-passed")
        .requires(&[EdgeNeed::Service, EdgeNeed::PlainReasons])
        // The acceptances of other cases would come in between.
        .exclusive();
}

/// An edge that leaves something open after each acceptance stops at some number of them.
fn acceptances(cases: &mut CaseList<'_, Edge>) {
    let times = if cases.thorough { ACCEPTED_THOROUGH } else { ACCEPTED };
    let plays: Vec<_> = repeat_n((cases.accept(), cases.accepted()), times).collect();
    cases
        .case(
            "statement.isolation",
            "series.acceptances",
            &format!("the edge relays {times} collections in a row"),
        )
        .steps(steps!(with(plays), async |context| { in_a_row(context, &plays).await }))
        .takes(slowest(times as u32));
}

/// What an edge keeps of one outcome must not change another one.
fn outcomes(cases: &mut CaseList<'_, Edge>) {
    let times = if cases.thorough { OF_EACH_THOROUGH } else { OF_EACH };
    let put = to_signals(methods::refused(cases.spec, "PUT")).header("Origin", ORIGIN);
    let refused = cases.answer("edge.405.method-not-allowed", None);
    let lost = Script { replies: vec![Reply::now(Action::Close), cases.accept().replies.remove(0)] };
    let unreachable = cases.answer("edge.502.service-unreachable", None);
    let unreachable = Conversation::post(lost, unreachable).after_retry(vec![cases.accepted()]);
    let mut classes = vec![("an acceptance".to_owned(), cases.accepted_post())];
    classes.extend(
        cases.refusal_statuses().into_iter().chain([418, 503]).map(|status| {
            (format!("a refusal with {status}"), cases.refused_post(status, "edgeproof_outcome"))
        }),
    );
    classes.extend([
        ("a reply that was lost".to_owned(), unreachable),
        (
            "another method".to_owned(),
            Conversation::post(cases.accept(), refused).draft(put).relay(ExpectedRelay::Nothing),
        ),
        (
            "a preflight".to_owned(),
            Conversation::request(preflight(ORIGIN)).expect(EdgeRule::PreflightPasses),
        ),
        (
            "a health check".to_owned(),
            // Whether an edge is healthy after failures is open.
            Conversation::request(Draft::new("GET", HEALTH)).expect(EdgeRule::Status(Statuses::Any)),
        ),
    ]);
    let all = (times + classes.len()) * classes.len();
    cases
        .case(
            "statement.isolation",
            "series.outcomes",
            &format!("{times} exchanges with the same outcome change no exchange with another outcome"),
        )
        .steps(steps!(with(classes), async |context| {
            let (mut last, mut lost) = (Vec::new(), 0);
            for (name, repeated) in &classes {
                let once = classes.iter().map(|(_, conversation)| conversation);
                for conversation in repeat_n(repeated, times).chain(once) {
                    let new = loop {
                        let before = context.found.checks.len();
                        context.mark_connections();
                        let sent = context.converse(conversation).await;
                        let new = context.found.checks.split_off(before);
                        // It went out on a connection that the service had closed after a lost reply.
                        let is_lost =
                            context.is_unreachable(&sent.reply) && context.new_connections() == Some(0);
                        let is_right = new.iter().all(|check| check.ok);
                        if is_right || !is_lost || lost == MOST_LOST {
                            break new;
                        }
                        lost += 1;
                    };
                    let after = format!("after {times} times {name}");
                    last = new.into_iter().map(|check| check.of(&after)).collect();
                    // The first wrong one says enough.
                    if last.iter().any(|check: &Check| !check.ok) {
                        return context.checks(last);
                    }
                }
            }
            context.checks(last);
        }))
        .takes(slowest(all as u32))
        .requires(&[EdgeNeed::Service, EdgeNeed::PlainReasons])
        .exclusive();
}

/// Time of this many exchanges with a distant edge.
pub(in crate::cases::edge) fn slowest(exchanges: u32) -> Duration {
    Duration::from_millis(150) * exchanges
}

/// Sends a collection for each script, and checks that each gets its own answer and arrives once.
async fn in_a_row(context: &mut EdgeCaseContext, plays: &[(Script, ExpectedAnswer)]) {
    let drafts: Vec<Draft> = plays
        .iter()
        .enumerate()
        .map(|(number, (script, _))| scripted(context, &format!("row-{number:03}"), script.clone()))
        .collect();
    let sent = context.exchange_in_turn(&drafts).await;
    let arrivals = context.relayed().await.complete;
    let all = sent.len();
    for (number, ((sent, draft), (_, expected))) in sent.into_iter().zip(&drafts).zip(plays).enumerate() {
        let body = draft.body.bytes();
        let of_it = arrivals.iter().filter(|arrival| arrival.request.body == body).cloned();
        let relayed = RelayedRequests::new(of_it.collect());
        let mut checks = judge::exact(expected, &sent.reply);
        checks.extend(judge::relayed_once(body, &relayed, &sent.reply, CaseLevel::Must));
        // The first wrong answer says enough.
        if checks.iter().any(|check| !check.ok) || number + 1 == all {
            context.record(draft, sent);
            return context.checks(checks);
        }
    }
}

/// The service can be reached, so a page is not told otherwise.
fn lost_replies(cases: &mut CaseList<'_, Edge>) {
    let (lost, accept) = (Script::one(Action::Close), cases.accept());
    let accepted = cases.accepted();
    cases
        .case(
            "statement.isolation",
            "series.lost-replies",
            "after several replies that broke off the service is asked about the next collection",
        )
        .steps(steps!(with(lost, accept, accepted), async |context| {
            // Over one connection: what a lost exchange leaves behind must not reach the next one.
            let mut drafts: Vec<Draft> =
                (0..LOST).map(|number| scripted(context, &format!("lost-{number}"), lost.clone())).collect();
            drafts.extend((0..2).map(|number| scripted(context, &format!("after-{number}"), accept.clone())));
            context.exchange_in_turn(&drafts).await;
            context.use_up_closed().await;
            let draft = scripted(context, "next", accept);
            let sent = context.exchange(&draft).await;
            context.record(&draft, sent.clone());
            let checks = judge::exact(&accepted, &sent.reply).into_iter();
            context.checks(checks.map(|check| check.at(CaseLevel::Should)).collect());
        }))
        .also("statement.recovery")
        .exclusive();
}

/// What an edge does not read of a reply is not the beginning of the next one.
fn large_replies(cases: &mut CaseList<'_, Edge>) {
    let (accept, accepted) = (cases.accept(), cases.accepted());
    cases
        .case(
            "statement.isolation",
            "series.large-replies",
            "after a large reply of the service the next collections get their own answers",
        )
        .steps(steps!(with(accept, accepted), async |context| {
            let body = format!(r#"{{"error":"edgeproof_large","fill":"{}"}}"#, "f".repeat(LARGE_REPLY));
            let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
            let large = Script::one(Action::Answer { status: 403, headers, body: body.into() });
            // The interface does not show how large a reply may be.
            let draft = scripted(context, "large", large);
            context.send(&draft).await;
            let drafts: Vec<Draft> =
                (0..2).map(|number| scripted(context, &format!("after-{number}"), accept.clone())).collect();
            let sent = context.exchange_in_turn(&drafts).await;
            for (sent, draft) in sent.into_iter().zip(&drafts) {
                context.record(draft, sent.clone());
                context.checks(judge::exact(&accepted, &sent.reply));
            }
        }))
        .exclusive();
}

/// Proxies send the requests of many pages over one connection.
fn origins(cases: &mut CaseList<'_, Edge>) {
    let put = || Draft { method: "PUT".into(), ..collection_from(OTHER_ORIGIN) };
    let requests = vec![
        collection(),
        collection_from(OTHER_ORIGIN),
        preflight(OTHER_ORIGIN),
        preflight(ORIGIN),
        put(),
        collection(),
        put(),
        collection_from(OTHER_ORIGIN),
        preflight(ORIGIN),
        preflight(OTHER_ORIGIN),
    ];
    let accept = cases.accept();
    cases
        .case(
            "statement.cors-other-origins",
            "series.origins",
            "requests of the allowed origin and of another one on one connection get their own grants",
        )
        .steps(steps!(with(requests, accept), async |context| {
            context.script(accept);
            let mut drafts: Vec<Draft> = requests.iter().map(|draft| context.fill(draft)).collect();
            for round in 0..2 {
                let sent = context.exchange_in_turn(&drafts).await;
                for (sent, draft) in sent.into_iter().zip(&drafts) {
                    let checks = grants(context.origin(), draft, &sent);
                    if round == 0 || checks.iter().any(|check| !check.ok) {
                        context.record(draft, sent);
                    }
                    context.checks(checks);
                }
                drafts.reverse();
            }
        }))
        .also("statement.isolation")
        .requires(&[EdgeNeed::Service, EdgeNeed::Origin]);
}

/// What a request may be granted.
fn grants(allowed: &str, draft: &Draft, sent: &Sent) -> Vec<Check> {
    let origin = draft.header_value("origin").unwrap_or_default();
    match draft.method.as_str() {
        _ if origin != allowed => vec![judge::no_grant(origin, &sent.reply)],
        "OPTIONS" => judge::preflight_passes(origin, &sent.reply),
        _ => vec![judge::readable(origin, &sent.reply)],
    }
}

/// Pages that leave while the service decides, and those of them that leave at the same time.
const CROWD: usize = 120;
const GROUP: usize = 20;

/// A page can leave at any time: within its upload, or while the service decides. The others still get their answers.
fn pages_that_leave(cases: &mut CaseList<'_, Edge>) {
    let mut slow = cases.accept();
    slow.replies[0].delay = SERVICE_TAKES;
    let (accept, accepted) = (cases.accept(), cases.accepted());
    cases
        .case(
            "statement.isolation",
            "series.pages-leave",
            "pages that leave at any time change nothing for those that stay",
        )
        .steps(steps!(with(slow, accept, accepted), async |context| {
            let drafts = |context: &mut EdgeCaseContext, name: &str| -> Vec<Draft> {
                (0..PAGES).map(|page| scripted(context, &format!("{name}-{page}"), slow.clone())).collect()
            };
            let (stays, mut leaves) = (drafts(context, "stays"), drafts(context, "leaves"));
            leaves.extend(within_upload(context));
            let pages: &EdgeCaseContext = context;
            let leaving = leaves.iter().map(|draft| pages.exchange_until(draft, LEAVES));
            let staying = stays.iter().map(|draft| pages.exchange(draft));
            let (_, mut sent) = join(join_all(leaving), join_all(staying)).await;
            // What an edge keeps of each page that left is full at some number.
            for group in 0..CROWD / GROUP {
                let name = |page: usize| format!("crowd-{group}-{page}");
                let mut crowd: Vec<Draft> =
                    (0..GROUP).map(|page| scripted(context, &name(page), slow.clone())).collect();
                crowd.extend(within_upload(context));
                let pages: &EdgeCaseContext = context;
                join_all(crowd.iter().map(|draft| pages.exchange_until(draft, LEAVES))).await;
            }
            let mut drafts = stays;
            drafts.push(scripted(context, "next", accept));
            sent.extend(context.exchange_in_turn(&drafts[PAGES..]).await);
            for (sent, draft) in sent.into_iter().zip(&drafts) {
                context.record(draft, sent.clone());
                context.checks(judge::exact(&accepted, &sent.reply));
            }
        }))
        .also("statement.edge-lives-on")
        .takes(SERVICE_TAKES)
        .exclusive();
}

/// Collections whose pages leave before the end of the body, of one with a length and of one in chunks, and one whose page
/// resets the connection after it.
fn within_upload(context: &EdgeCaseContext) -> Vec<Draft> {
    let body = Bytes::from(format!(r#"{{"sealed":"{MARKER}","fill":"{}"}}"#, "f".repeat(64 * 1024)));
    let slow = Body::Slow(body.clone(), 4, LEAVES);
    let size = format!("{:x}\r\n", body.len());
    let broken = Body::Raw([size.as_bytes(), &body[..body.len() / 2]].concat().into());
    let post = || to_signals("POST").header("Origin", ORIGIN);
    let chunked = post().header("Transfer-Encoding", "chunked").body(broken);
    let reset = post().header("Content-Length", &body.len().to_string()).body(Body::Aborted(body));
    [collection().body(slow), chunked, reset].map(|draft| context.fill(&draft)).into()
}
