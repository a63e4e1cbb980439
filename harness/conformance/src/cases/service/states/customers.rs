use std::time::Duration;

use edgeproof_mock::states::{License, StateRequest};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{AnswerSubject, TimeRule};
use futures_util::future::join_all;

use super::license_claim::license_of;
use super::named::own_verdict;
use super::poll_ends::CROSSING;
use super::woken::{Provided, is_early, judge_woken};
use crate::cases::service::exchange::SessionState;
use crate::cases::service::expected::{AVAILABLE, PENDING, answer, status};
use crate::cases::service::waiting::TO_BEGIN;
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed, VerdictRequest};
use crate::judge::{self, Check};
use crate::states::StateNeed;

/// A way to ask that must not lead to the session of another customer.
struct Way {
    name: &'static str,
    /// Given the id of the other license.
    change: fn(VerdictRequest, &str) -> VerdictRequest,
    /// The interface has such requests. A service may refuse the others.
    is_stated: bool,
}

const fn stated(name: &'static str, change: fn(VerdictRequest, &str) -> VerdictRequest) -> Way {
    Way { name, change, is_stated: true }
}

const fn foreign(name: &'static str, change: fn(VerdictRequest, &str) -> VerdictRequest) -> Way {
    Way { name, change, is_stated: false }
}

/// Header fields in which a proxy inside of a service may name the license.
const LICENSE_FIELDS: [&str; 7] =
    ["X-License", "X-License-Id", "License", "License-Id", "X-Tenant-Id", "X-Customer-Id", "X-Account-Id"];
const WAYS: [Way; 10] = [
    stated("plain", |request, _| request),
    stated("with waitMs", |request, _| request.query("waitMs=300")),
    foreign("with a license in the query", |request, other| {
        request.query(&format!("license={other}&lid={other}&license_id={other}&tenant={other}"))
    }),
    foreign("with a token in the query", |request, _| {
        request.query("token=service_read_other&access_token=service_read_other")
    }),
    foreign("without a cache", |request, _| request.header("Cache-Control", "no-cache")),
    foreign("with a license in a header", |request, other| {
        LICENSE_FIELDS.iter().fold(request, |request, name| request.header(name, other))
    }),
    foreign("for another host", |request, _| request.header("X-Forwarded-Host", "other.example")),
    foreign("with a license in the body", |request, other| {
        request.header("Content-Type", "application/json").body(&format!(r#"{{"lid":"{other}"}}"#))
    }),
    foreign("posted with a license", |request, other| {
        let request = request.method("POST").header("Content-Type", "application/json");
        request.body(&format!(r#"{{"license":"{other}"}}"#))
    }),
    foreign("as a browser", |request, _| {
        request.header("Accept", "text/html, */*").header("Origin", "https://other.example")
    }),
];

/// Sessions of several customers (3, 5, 7.4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    hidden(cases);
    hidden_from_head(cases);
    hidden_in_time(cases);
    tokens(cases);
    at_once(cases);
    polls(cases);
    same_reference(cases);
}

/// A session of another license has the answer of no session.
fn hidden(cases: &mut CaseList<'_, Service>) {
    for Way { name, change, is_stated } in WAYS {
        let id = format!("verdict.customer.hidden.{}", name.replace(' ', "-").to_lowercase());
        let request = if name == "plain" { String::new() } else { format!(" to a request {name}") };
        let title = format!("a session of another license looks like none{request}");
        cases
            .case("statement.no-oracle", &id, &title)
            .steps(steps!(async |context| {
                let reference = context.reference("other-session");
                let Some(other) = context.made(StateRequest::other_license(&reference)).await else { return };
                let unknown = context.reference("none-sessions-");
                let license = license_of(&context.other_token());
                let seen = context.fetch_verdict(&change(context.with_token(&other), &license)).await;
                let none = context.fetch_verdict(&change(context.with_token(&unknown), &license)).await;
                if is_stated {
                    let checks = judge::exact(&answer(context.row(PENDING), &other), &seen);
                    context.checks(checks);
                } else if context.has_status(AVAILABLE, &seen) {
                    context.check(status(context.spec(), PENDING, &seen));
                }
                context.check(judge::same_answer(
                    AnswerSubject::ForAnyReason,
                    &without_reference(&none, &unknown),
                    &without_reference(&seen, &other),
                ));
            }))
            .requires(&[ServiceNeed::ReadToken, SessionState::OtherLicense.need()])
            .also(PENDING);
    }
}

/// A session whose verdict is far too old. None: this version has no limit.
fn old_verdict(cases: &CaseList<'_, Service>) -> Option<SessionState> {
    let limit = cases.spec.limit("limit.verdict-age")?;
    Some(SessionState::Aged(limit.as_secs().saturating_mul(5)))
}

/// HEAD tells no more than GET: neither by its status nor by the length of the body that it leaves out.
fn hidden_from_head(cases: &mut CaseList<'_, Service>) {
    let foreign = (
        "statement.no-oracle",
        "verdict.customer.hidden.head",
        "a session of another license looks like none to HEAD",
        SessionState::OtherLicense,
    );
    let title = "a session with an old verdict looks like none to HEAD";
    let old = old_verdict(cases).map(|old| ("limit.verdict-age", "verdict.too-old.head", title, old));
    for (row, id, title, session) in [foreign].into_iter().chain(old) {
        cases
            .case(row, id, title)
            .steps(steps!(async |context| {
                let asked = context.reference("head-made");
                let Some(made) = context.made(session.request(asked)).await else { return };
                let unknown = context.reference("head-none");
                let seen = context.fetch_verdict(&context.with_token(&made).method("HEAD")).await;
                let none = context.fetch_verdict(&context.with_token(&unknown).method("HEAD")).await;
                context.check(judge::same_answer(AnswerSubject::ForAnyReason, &none, &seen));
                // The pending answer repeats the reference.
                if made.len() == unknown.len() {
                    context.checks(judge::same_length(&none, &seen).into_iter().collect());
                }
            }))
            .requires(&[ServiceNeed::ReadToken, session.need()])
            .also(PENDING);
    }
}

/// A long poll takes as long for a session without a verdict for this license as for no session.
fn hidden_in_time(cases: &mut CaseList<'_, Service>) {
    const WAIT: Duration = Duration::from_secs(1);
    let hidden = [
        (
            "verdict.customer.hidden.time",
            "a long poll tells no session of another license from none",
            SessionState::OtherLicense,
        ),
        (
            "verdict.hidden.time.pending",
            "a long poll tells no pending session from none",
            SessionState::Pending,
        ),
    ];
    let title = "a long poll tells no session with an old verdict from none";
    let old = old_verdict(cases).map(|old| ("verdict.hidden.time.too-old", title, old));
    for (id, title, session) in hidden.into_iter().chain(old) {
        cases
            .case("statement.no-oracle", id, title)
            .steps(steps!(async |context| {
                let made = session.request(context.reference("made-session"));
                let Some(made) = context.made(made).await else { return };
                let unknown = context.reference("none-session");
                let query = format!("waitMs={}", WAIT.as_millis());
                let [seen, none] =
                    [&made, &unknown].map(|reference| context.with_token(reference).query(&query).draft());
                let sending = [&seen, &none].map(|draft| context.begin(draft, TIMEOUT));
                let [seen_sent, none_sent]: [_; 2] =
                    join_all(sending).await.try_into().expect("two requests have two answers");
                context.record(&seen, seen_sent.clone());
                context.record(&none, none_sent.clone());
                let expected = answer(context.row(PENDING), &made);
                context.checks(judge::exact(&expected, &seen_sent.reply));
                // A service that waits for neither tells nothing.
                let (short, long) = (seen_sent.took.min(none_sent.took), seen_sent.took.max(none_sent.took));
                if long >= WAIT * 9 / 10 && seen_sent.reply.is_ok() && none_sent.reply.is_ok() {
                    let early = WAIT.saturating_sub(short);
                    context.check(Check::timed(TimeRule::AsForNone, early, WAIT / 2).at(CaseLevel::Should));
                }
            }))
            .requires(&[ServiceNeed::ReadToken, session.need()])
            .takes(TIMEOUT)
            .also(PENDING);
    }
}

/// Each token leads to the sessions of its license only, also after requests with other tokens.
fn tokens(cases: &mut CaseList<'_, Service>) {
    cases
        .case(PENDING, "verdict.customer.tokens", "each read token leads to the sessions of its license only")
        .steps(steps!(async |context| {
            let Some(own) = context.made(StateRequest::verdict(context.reference("own"))).await else {
                return;
            };
            let other = StateRequest::other_license(context.reference("other"));
            let Some(other) = context.made(other).await else { return };
            // A cache between the service and its customers would answer the second time.
            for _ in 0..2 {
                for (token, session, is_own) in [
                    (Holder::Own, &own, true),
                    (Holder::Other, &own, false),
                    (Holder::Other, &other, true),
                    (Holder::Own, &other, false),
                ] {
                    let reply = context.fetch_verdict(&token.request(context, session)).await;
                    let checks = if is_own {
                        own_verdict(context, session, &reply)
                    } else {
                        judge::exact(&answer(context.row(PENDING), session), &reply)
                    };
                    context.checks(checks.into_iter().map(|check| check.of(token.name())).collect());
                }
            }
        }))
        .requires(&BOTH)
        .also(AVAILABLE);
}

/// Two customers who ask for one reference at the same time each get their own answer: none shares the other's look-up.
fn at_once(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            PENDING,
            "verdict.customer.at-once",
            "a session stays hidden from another license that asks at the same time",
        )
        .steps(steps!(async |context| {
            let Some(reference) = context.session().await else { return };
            for number in 0..PAIRS {
                // Instances of a service take requests in turn: two of them share an instance.
                let mut holders = [Holder::Own, Holder::Other, Holder::Other, Holder::Own, Holder::Other];
                holders.rotate_left(number % 5);
                let drafts = holders.map(|holder| holder.request(context, &reference).draft());
                let sending = drafts.iter().map(|draft| context.begin(draft, context.timeout));
                let all = join_all(sending).await;
                let mut wrong = false;
                for ((holder, draft), sent) in holders.into_iter().zip(&drafts).zip(all) {
                    let reply = sent.reply.clone();
                    context.record(draft, sent);
                    let checks = match holder {
                        Holder::Own => own_verdict(context, &reference, &reply),
                        Holder::Other => judge::exact(&answer(context.row(PENDING), &reference), &reply),
                    };
                    wrong |= checks.iter().any(|check| !check.ok);
                    context.checks(checks.into_iter().map(|check| check.of(holder.name())).collect());
                }
                // One pair says enough.
                if wrong {
                    return;
                }
            }
        }))
        .requires(&BOTH[..3])
        .also(AVAILABLE);
}

/// A verdict is no answer to another customer who waits for the same reference.
fn polls(cases: &mut CaseList<'_, Service>) {
    cases
        .case(PENDING, "verdict.customer.polls", "a verdict ends no long poll of another license")
        .steps(steps!(async |context| {
            let query =
                |request: VerdictRequest| request.query(&format!("waitMs={}", POLL.as_millis())).draft();
            // One license waits first for one session, and the other one for the other session.
            let references = ["polls", "polls-after"].map(|name| context.reference(name));
            let holders = [(0, Holder::Other), (1, Holder::Own), (0, Holder::Own), (1, Holder::Other)];
            let draft =
                |(which, holder): &(usize, Holder)| query(holder.request(context, &references[*which]));
            let drafts = holders.each_ref().map(draft);
            let mut first: Vec<_> = drafts.iter().map(|draft| context.begin(draft, TIMEOUT)).collect();
            let second = first.split_off(2);
            // Its time shows what a poll for no session takes.
            let unknown = context.reference("unknown");
            let unknown = query(Holder::Other.request(context, &unknown));
            let waiting_for_none = context.begin(&unknown, TIMEOUT);
            let later = async {
                context.sleep(TO_BEGIN / 2).await;
                tokio::join!(join_all(second), provide_each(context, &references))
            };
            let (mut sent, none, (second, made)) = tokio::join!(join_all(first), waiting_for_none, later);
            sent.extend(second);
            for (draft, sent) in drafts.iter().zip(&sent) {
                context.record(draft, sent.clone());
            }
            context.record(&unknown, none.clone());
            let Some(provided) = made else { return };
            let waits = none.reply.is_ok() && none.took >= POLL * 9 / 10;
            for ((which, holder), sent) in holders.iter().zip(&sent) {
                let reference = &references[*which];
                let checks = match holder {
                    Holder::Other => {
                        if waits {
                            let early = none.took.saturating_sub(sent.took);
                            context.check(Check::timed(TimeRule::AsForNone, early, POLL / 2));
                        }
                        judge::exact(&answer(context.row(PENDING), reference), &sent.reply)
                    }
                    // A service need not wait.
                    Holder::Own if is_early(context, sent, provided[*which].there + CROSSING) => continue,
                    Holder::Own => {
                        judge_woken(context, reference, &(sent.clone(), provided[*which].there));
                        continue;
                    }
                };
                context.checks(checks.into_iter().map(|check| check.of(holder.name())).collect());
            }
            for reference in &references {
                let reply = context.fetch_verdict(&Holder::Own.request(context, reference)).await;
                let checks = own_verdict(context, reference, &reply);
                context.checks(checks);
            }
        }))
        .requires(&[BOTH[0], BOTH[1], BOTH[2], ServiceNeed::State(StateNeed::ChosenReference)])
        .takes(TIMEOUT)
        .also(AVAILABLE);
}

/// When each session got its verdict, after the polls have begun. None: the case says why there is none.
async fn provide_each(context: &mut ServiceCaseContext, references: &[String]) -> Option<Vec<Provided>> {
    context.sleep(TO_BEGIN).await;
    let mut provided = Vec::new();
    for reference in references {
        provided.push(Provided::verdict(context, reference).await?);
    }
    Some(provided)
}

/// Two customers may use the same reference.
fn same_reference(cases: &mut CaseList<'_, Service>) {
    cases
        .case(AVAILABLE, "verdict.customer.same-reference", "two licenses can use the same reference")
        .steps(steps!(async |context| {
            let reference = context.reference("same");
            let mut known = [false, false];
            for step in 0..2 {
                let request = match step {
                    0 => StateRequest::verdict(&reference),
                    _ => StateRequest::other_license(&reference),
                };
                if context.chosen(request).await.is_none() {
                    return;
                }
                known[step] = true;
                for (holder, is_known) in [Holder::Own, Holder::Other].into_iter().zip(known) {
                    let reply = context.fetch_verdict(&holder.request(context, &reference)).await;
                    let checks = if is_known {
                        own_verdict(context, &reference, &reply)
                    } else {
                        judge::exact(&answer(context.row(PENDING), &reference), &reply)
                    };
                    context.checks(checks.into_iter().map(|check| check.of(holder.name())).collect());
                }
            }
            // A session of the other license that is not ready does not hide the own one.
            let other = StateRequest::Pending { reference: reference.clone(), license: License::Other };
            // It shows more where the service supports it.
            if context.ask(&other).await.is_err() {
                return;
            }
            let reply = context.fetch_verdict(&Holder::Own.request(context, &reference)).await;
            let checks = own_verdict(context, &reference, &reply);
            context.checks(checks);
        }))
        .requires(&[BOTH[0], BOTH[1], BOTH[2], BOTH[3], ServiceNeed::State(StateNeed::ChosenReference)])
        .also(PENDING);
}

/// Number of times that two customers ask at the same time.
const PAIRS: usize = 32;
/// Wait of a long poll for a session of another license.
const POLL: Duration = Duration::from_millis(2600);
/// Timeout of a long poll's answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What sessions of two customers require.
const BOTH: [ServiceNeed; 4] = [
    ServiceNeed::ReadToken,
    ServiceNeed::OtherToken,
    ServiceNeed::Session,
    ServiceNeed::State(StateNeed::OtherLicense),
];

/// The customer that asks.
#[derive(Clone, Copy)]
enum Holder {
    Own,
    Other,
}

impl Holder {
    fn request(self, context: &ServiceCaseContext, reference: &str) -> VerdictRequest {
        match self {
            Self::Own => context.with_token(reference),
            Self::Other => context.verdict(reference).bearer(&context.other_token()),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Own => "the read token",
            Self::Other => "the read token of the other license",
        }
    }
}

/// The answer without its reference, which differs.
pub(super) fn without_reference(reply: &judge::AnswerResult, reference: &str) -> judge::AnswerResult {
    let mut answer = reply.clone()?;
    let text = String::from_utf8_lossy(&answer.body).replace(reference, "");
    answer.body = text.into_bytes().into();
    Ok(answer)
}
