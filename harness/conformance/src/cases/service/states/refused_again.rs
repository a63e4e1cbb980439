use edgeproof_fixtures::spec::Stimulus;
use edgeproof_mock::states::StateRequest;

use crate::cases::service::expected::{EXPIRED, PENDING, REVOKED, UNAUTHORIZED, answer};
use crate::cases::service::{Damage, Expected, TokenChoice};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed};
use crate::judge;
use crate::states::StateNeed;

/// What stands before a read token: the scheme is case-insensitive, and any number of spaces may follow (RFC 9110 §11.1, §11.4).
const SPELLINGS: [&str; 6] = ["bearer ", "BEARER ", "BeArEr ", "Bearer  ", "Bearer   ", "bearer  "];
/// Row of an answer while the service cannot check read tokens.
const OUTAGE: &str = "verdict.401.verify-error";

/// Tokens that are refused in each spelling of their header field, and after an outage (5, 7.4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    spelled(cases);
    after_outage(cases);
}

/// A spelling in which the service accepts a valid token is no way around its checks.
fn spelled(cases: &mut CaseList<'_, Service>) {
    for (id, title, row, choice, need, stimulus) in [
        (
            "verdict.revoked.spelled",
            "the service refuses a revoked read token in each spelling of the header field",
            REVOKED,
            TokenChoice::Revoked,
            Some(ServiceNeed::RevokedToken),
            Stimulus::ReadTokenRevoked,
        ),
        (
            "verdict.expired.spelled",
            "the service refuses an expired read token in each spelling of the header field",
            EXPIRED,
            TokenChoice::Expired,
            Some(ServiceNeed::ExpiredToken),
            Stimulus::ReadTokenExpired,
        ),
        (
            "verdict.damaged.spelled",
            "the service refuses a damaged read token in each spelling of the header field",
            "verdict.401.bad-signature",
            TokenChoice::Damaged(Damage::Signature),
            None,
            Stimulus::ReadTokenSignatureAltered,
        ),
    ] {
        let mut needs = vec![ServiceNeed::ReadToken];
        needs.extend(need);
        cases
            .case(row, id, title)
            .steps(steps!(async |context| {
                let Ok(Some(authorization)) = choice.authorization(context) else {
                    context.found.not_applicable = Some("the read token has no part to damage".into());
                    return;
                };
                let refused = authorization.split_once(' ').map_or("", |(_, token)| token);
                let spellings = accepted_spellings(context).await;
                if spellings.is_empty() {
                    context.found.not_applicable = Some("the service accepts no other spelling".into());
                }
                for spelling in spellings {
                    let value = format!("{spelling}{refused}");
                    let request = context.verdict(&context.reference("spelled")).authorization(&value);
                    let reply = context.fetch_verdict(&request).await;
                    context.found.varied += 1;
                    let expected = refusal(choice);
                    let checks = expected.judge(context.spec(), &reply).into_iter();
                    context.checks(checks.map(|check| check.of(&format!("{spelling:?}"))).collect());
                }
            }))
            .requires(&needs)
            .also("statement.scheme-case")
            .stimulus(stimulus);
    }
}

/// The spellings in which the service accepts the valid token.
pub(super) async fn accepted_spellings(context: &mut ServiceCaseContext) -> Vec<&'static str> {
    let mut accepted = Vec::new();
    for spelling in SPELLINGS {
        let unknown = context.reference("spelling");
        let value = format!("{spelling}{}", context.read_token());
        let reply = context.fetch_verdict(&context.verdict(&unknown).authorization(&value)).await;
        if judge::exact(&answer(context.row(PENDING), &unknown), &reply).iter().all(|check| check.ok) {
            accepted.push(spelling);
        }
    }
    accepted
}

/// An outage makes no refused token valid: a service that could not check it has not accepted it.
fn after_outage(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            UNAUTHORIZED,
            "verdict.refused.after-outage",
            "a read token that is not valid is refused after an outage as before it",
        )
        .steps(steps!(async |context| {
            let inputs = &context.target.inputs;
            let mut choices = vec![TokenChoice::Damaged(Damage::Signature), TokenChoice::Foreign];
            choices.extend(inputs.revoked_token.as_ref().map(|_| TokenChoice::Revoked));
            choices.extend(inputs.expired_token.as_ref().map(|_| TokenChoice::Expired));
            let unknown = context.reference("outage");
            let mut asked = Vec::new();
            for choice in choices {
                if let Ok(Some(value)) = choice.authorization(context) {
                    asked.push((choice, context.verdict(&unknown).authorization(&value)));
                }
            }
            let code = context.row(OUTAGE).code().map(str::to_owned);
            if context.provide(StateRequest::Outage { code }).await.is_none() {
                return;
            }
            for (_, request) in &asked {
                drop(context.fetch_verdict(request).await);
            }
            if context.provide(StateRequest::Outage { code: None }).await.is_none() {
                return;
            }
            for (choice, request) in &asked {
                let reply = context.fetch_verdict(request).await;
                let checks = refusal(*choice).judge(context.spec(), &reply).into_iter();
                context.checks(checks.map(|check| check.of(&choice.describe())).collect());
            }
        }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::State(StateNeed::Outage)])
        .exclusive()
        .also(REVOKED)
        .also(EXPIRED);
}

/// The answer to a token of this choice, none of which is valid.
fn refusal(choice: TokenChoice) -> Expected {
    match choice {
        TokenChoice::Revoked => Expected::Revoked,
        TokenChoice::Expired => Expected::Expired,
        TokenChoice::Damaged(_) => Expected::Damaged,
        _ => Expected::Unauthorized,
    }
}
