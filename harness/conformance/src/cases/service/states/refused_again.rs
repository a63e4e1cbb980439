use edgeproof_fixtures::spec::Stimulus;
use edgeproof_mock::states::StateRequest;

use crate::cases::service::expected::{EXPIRED, OUTAGE, PENDING, REVOKED, UNAUTHORIZED, answer};
use crate::cases::service::{Damage, Expected, TokenChoice, with_bit};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed};
use crate::judge;
use crate::states::StateNeed;

/// Other ways to write a read token in the header field, in which some services accept it.
const SPELLINGS: [Spelling; 8] = [
    Spelling::Before("bearer "),
    Spelling::Before("BEARER "),
    Spelling::Before("BeArEr "),
    Spelling::Before("Bearer  "),
    Spelling::Before("Bearer   "),
    Spelling::Before("bearer  "),
    Spelling::SpareBits(0),
    Spelling::SpareBits(1),
];

/// A way to write a read token in the header field.
#[derive(Clone, Copy)]
pub(super) enum Spelling {
    /// This text stands before it: the scheme is case-insensitive, and any number of spaces may follow (RFC 9110 §11.1, §11.4).
    Before(&'static str),
    /// The part with this number, counted from the end, ends in another letter of the same meaning: base64url leaves bits
    /// of it unused (RFC 4648 §3.5).
    SpareBits(usize),
}

impl Spelling {
    /// The value of the header field. None: the token has no such spelling.
    pub(super) fn value(self, token: &str) -> Option<String> {
        match self {
            Self::Before(text) => Some(format!("{text}{token}")),
            Self::SpareBits(number) => Some(format!("Bearer {}", with_spare_bit(token, number)?)),
        }
    }
}

impl std::fmt::Display for Spelling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Before(text) => write!(f, "a token after {text:?}"),
            Self::SpareBits(_) => f.write_str("a token with another last letter of the same bytes"),
        }
    }
}

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
                    let Some(value) = spelling.value(refused) else { continue };
                    let request = context.verdict(&context.reference("spelled")).authorization(&value);
                    let reply = context.fetch_verdict(&request).await;
                    context.found.varied += 1;
                    let expected = refusal(choice);
                    let checks = expected.judge(context.spec(), &reply).into_iter();
                    context.checks(checks.map(|check| check.of(&spelling.to_string())).collect());
                }
            }))
            .requires(&needs)
            .also("statement.scheme-case")
            .stimulus(stimulus);
    }
}

/// The spellings in which the service accepts the valid token.
pub(super) async fn accepted_spellings(context: &mut ServiceCaseContext) -> Vec<Spelling> {
    let mut accepted = Vec::new();
    for spelling in SPELLINGS {
        let unknown = context.reference("spelling");
        let Some(value) = spelling.value(&context.read_token()) else { continue };
        let reply = context.fetch_verdict(&context.verdict(&unknown).authorization(&value)).await;
        if judge::exact(&answer(context.row(PENDING), &unknown), &reply).iter().all(|check| check.ok) {
            accepted.push(spelling);
        }
    }
    accepted
}

/// A token of which a part, counted from the end, has another unused bit. None: it has no such part, or no unused bit.
fn with_spare_bit(token: &str, number: usize) -> Option<String> {
    let mut parts: Vec<String> = token.split('.').map(str::to_owned).collect();
    let at = parts.len().checked_sub(number + 1).filter(|_| parts.len() > 2 && token.is_ascii())?;
    let length = parts[at].len();
    // Otherwise each bit of the last letter counts.
    if !matches!(length % 4, 2 | 3) {
        return None;
    }
    parts[at] = with_bit(&parts[at], length - 1, 1);
    Some(parts.join("."))
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
