use std::time::Duration;

use edgeproof_fixtures::credentials::Secret;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_http::ReusedConnection;
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::Hop;
use edgeproof_reports::difference::AnswerSubject;

use super::named::own_verdict;
use super::refused_again::accepted_spellings;
use crate::cases::service::TokenChoice;
use crate::cases::service::expected::{AVAILABLE, EXPIRED, PENDING, REVOKED, answer, status};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed};
use crate::judge::{self, AnswerResult};
use crate::states::StateNeed;

/// Time between the last use of a token and its end. A run is shorter.
const BEFORE_THE_END: Duration = Duration::from_secs(60);

/// Read tokens that were accepted and are refused now (5, 7.4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    refused_before(cases);
    revoked_and_restored(cases);
    expires(cases);
}

/// Tokens that were revoked or expired before the run: whatever is asked, and of whom.
fn refused_before(cases: &mut CaseList<'_, Service>) {
    for (id, title, row, choice, need, stimulus) in [
        (
            "verdict.revoked.before",
            "the service refuses a revoked read token as revoked, whatever the request",
            REVOKED,
            TokenChoice::Revoked,
            ServiceNeed::RevokedToken,
            Stimulus::ReadTokenRevoked,
        ),
        (
            "verdict.expired.before",
            "the service refuses an expired read token as expired, whatever the request",
            EXPIRED,
            TokenChoice::Expired,
            ServiceNeed::ExpiredToken,
            Stimulus::ReadTokenExpired,
        ),
    ] {
        cases
            .case(row, id, title)
            .steps(steps!(async |context| {
                let Ok(Some(authorization)) = choice.authorization(context) else { return };
                let mut references = vec![context.reference("refused")];
                if context.supports(StateNeed::Verdict) {
                    let made = context.made(StateRequest::verdict(context.reference("session"))).await;
                    references.extend(made);
                }
                for reference in &references {
                    for query in [None, Some("waitMs=0"), Some("waitMs=300")] {
                        let request = context.verdict(reference).authorization(&authorization);
                        let request = match query {
                            Some(query) => request.query(query),
                            None => request,
                        };
                        let reply = context.fetch_verdict(&request).await;
                        context.checks(judge::exact(&answer(context.row(row), ""), &reply));
                    }
                }
                head(context, &references, &authorization).await;
            }))
            .requires(&[need])
            .also("statement.no-oracle")
            .stimulus(stimulus);
    }
}

/// HEAD tells no more than GET: a refused token gets no status of a verdict.
async fn head(context: &mut ServiceCaseContext, references: &[String], authorization: &str) {
    let mut first: Option<AnswerResult> = None;
    for reference in references {
        let request = context.verdict(reference).authorization(authorization).method("HEAD");
        let reply = context.fetch_verdict(&request).await;
        if context.has_status(AVAILABLE, &reply) {
            context.check(status(context.spec(), REVOKED, &reply));
        }
        match &first {
            Some(first) => {
                context.check(judge::same_answer(AnswerSubject::AsForAVerdict, &reply, first));
                context.checks(judge::same_length(first, &reply).into_iter().collect());
            }
            None => first = Some(reply),
        }
    }
}

/// A token that is revoked during the run.
fn revoked_and_restored(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            REVOKED,
            "verdict.revoked.at-once",
            "a read token is refused when it is revoked, and accepted when it is restored",
        )
        .steps(steps!(async |context| {
            let Some(reference) = context.session().await else { return };
            let unknown = context.reference("unknown");
            let accepted = [fetch(context, &reference).await, fetch(context, &unknown).await];
            judge_accepted(context, [&reference, &unknown], &accepted);
            let token = Secret::new(context.read_token());
            let spellings = accepted_spellings(context).await;
            let mut kept = ReusedConnection::default();
            drop(fetch_kept(context, &mut kept, &reference).await);
            if context.provide(StateRequest::Revoke { token: token.clone() }).await.is_none() {
                return;
            }
            let mut refused = vec![
                // First: a client may keep a connection for a short time only.
                ("on the kept connection".to_owned(), fetch_kept(context, &mut kept, &reference).await),
                ("of a session".to_owned(), fetch(context, &reference).await),
                ("of an unknown session".to_owned(), fetch(context, &unknown).await),
            ];
            for spelling in spellings {
                let Some(value) = spelling.value(&context.read_token()) else { continue };
                let request = context.verdict(&unknown).authorization(&value);
                refused.push((format!("of {spelling}"), context.fetch_verdict(&request).await));
            }
            let other = context.target.inputs.other_token.is_some().then(|| context.other_token());
            let other = match other {
                Some(token) => {
                    let request = context.verdict(&unknown).bearer(&token);
                    Some(context.fetch_verdict(&request).await)
                }
                None => None,
            };
            let second = match context.expiring_credential() {
                Some((authorization, _)) => {
                    let request = context.verdict(&unknown).authorization(&authorization);
                    Some(context.fetch_verdict(&request).await)
                }
                None => None,
            };
            // Before anything is judged: other cases need the token.
            let restored = context.provide(StateRequest::Restore { token }).await;
            for (which, reply) in &refused {
                let checks = judge::exact(&answer(context.row(REVOKED), ""), reply).into_iter();
                context.checks(checks.map(|check| check.which(which)).collect());
            }
            if let Some(reply) = &other {
                let expected = answer(context.row(PENDING), &unknown);
                let checks = judge::exact(&expected, reply).into_iter();
                context.checks(checks.map(|check| check.of("another token")).collect());
            }
            if let Some(reply) = &second {
                // In a long run it has expired.
                let expired = judge::exact(&answer(context.row(EXPIRED), ""), reply);
                if expired.iter().any(|check| !check.ok) {
                    let checks = judge::exact(&answer(context.row(PENDING), &unknown), reply).into_iter();
                    context.checks(checks.map(|check| check.of("another token of the license")).collect());
                }
            }
            if restored.is_some() {
                let accepted = [fetch(context, &reference).await, fetch(context, &unknown).await];
                judge_accepted(context, [&reference, &unknown], &accepted);
            }
        }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session, ServiceNeed::State(StateNeed::Revoke)])
        .exclusive()
        .also(PENDING)
        .stimulus(Stimulus::ReadTokenRevoked);
}

/// A token that expires during the run. A service that accepted it before has no memory of that.
fn expires(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            EXPIRED,
            "verdict.expired.at-once",
            "a read token that was accepted is refused as expired from its end on",
        )
        .steps(steps!(async |context| {
            let Some((authorization, expires)) = context.expiring_credential() else { return };
            let requests = |context: &ServiceCaseContext, reference: &str| {
                context.verdict(reference).authorization(&authorization)
            };
            let unknown = context.reference("unknown");
            let Some(reference) = context.session().await else { return };
            let mut kept = ReusedConnection::default();
            let before = context.fetch_verdict(&requests(context, &reference)).await;
            let draft = requests(context, &unknown).draft();
            drop(context.send_kept(&mut kept, &draft).await);
            if judge::exact(&answer(context.row(EXPIRED), ""), &before).iter().all(|check| check.ok) {
                let why = "the credential of the state hook had expired at its first use";
                context.found.not_applicable = Some(why.to_owned());
                return;
            }
            let pending = context.fetch_verdict(&requests(context, &unknown)).await;
            judge_accepted(context, [&reference, &unknown], &[before, pending]);
            // A cache may keep a token for some minutes: it is accepted once more shortly before its end.
            let moved = context.moved();
            let seconds = expires.saturating_sub(moved + BEFORE_THE_END).as_secs();
            if context.provide(StateRequest::Later { seconds }).await.is_none() {
                return;
            }
            let pending = context.fetch_verdict(&requests(context, &unknown)).await;
            // A long run has reached its end.
            if !judge::exact(&answer(context.row(EXPIRED), ""), &pending).iter().all(|check| check.ok) {
                context.checks(judge::exact(&answer(context.row(PENDING), &unknown), &pending));
            }
            let seconds = BEFORE_THE_END.as_secs() + 1;
            if context.provide(StateRequest::Later { seconds }).await.is_none() {
                return;
            }
            let sent = context.send_kept(&mut kept, &draft).await;
            context.trace(Hop::ClientService, &draft, sent.clone());
            let checks = judge::exact(&answer(context.row(EXPIRED), ""), &sent.reply).into_iter();
            context.checks(checks.map(|check| check.of("on a kept connection")).collect());
            let Some(reference) = context.session().await else { return };
            for asked in [&reference, &unknown] {
                let reply = context.fetch_verdict(&requests(context, asked)).await;
                context.checks(judge::exact(&answer(context.row(EXPIRED), ""), &reply));
            }
        }))
        .requires(&[
            ServiceNeed::ReadToken,
            ServiceNeed::Session,
            ServiceNeed::State(StateNeed::Later),
            ServiceNeed::State(StateNeed::ExpiringToken),
        ])
        .exclusive()
        .also(AVAILABLE)
        .also(PENDING)
        .stimulus(Stimulus::ReadTokenExpired);
}

fn judge_accepted(
    context: &mut ServiceCaseContext,
    [known, unknown]: [&str; 2],
    [verdict, pending]: &[AnswerResult; 2],
) {
    let checks = own_verdict(context, known, verdict);
    context.checks(checks);
    context.checks(judge::exact(&answer(context.row(PENDING), unknown), pending));
}

/// Requests a verdict with the read token over a connection of earlier requests.
async fn fetch_kept(
    context: &mut ServiceCaseContext,
    kept: &mut ReusedConnection,
    reference: &str,
) -> AnswerResult {
    let draft = context.with_token(reference).draft();
    let sent = context.send_kept(kept, &draft).await;
    context.record(&draft, sent.clone());
    sent.reply
}

/// Requests a verdict with the read token.
async fn fetch(context: &mut ServiceCaseContext, reference: &str) -> AnswerResult {
    let request = context.with_token(reference);
    context.fetch_verdict(&request).await
}
