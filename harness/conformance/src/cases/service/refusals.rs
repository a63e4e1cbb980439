use edgeproof_fixtures::credentials::READ_PREFIX;
use edgeproof_fixtures::spec::{Advice, Stimulus};
use edgeproof_reports::difference::HeaderRule;
use serde_json::Value;
use strum::VariantArray;

use super::damage::Damage;
use super::expected::{EXPIRED, PENDING, UNAUTHORIZED, answer, code, codes};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed, exposed};
use crate::judge::{self, AnswerResult, ReasonCode};

/// Requests without a read token, with another credential or with an invalid read token (5, 7.4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    unauthorized(cases);
    prefix(cases);
    license(cases);
    expired(cases);
    damaged(cases);
    reason_member(cases);
    challenge(cases);
    scheme(cases);
}

/// `Authorization` does not contain a read token.
fn unauthorized(cases: &mut CaseList<'_, Service>) {
    // None of these values contains the user's read token.
    let values: [(&str, &str, Option<&str>, Stimulus); 7] = [
        ("missing", "without an Authorization header", None, Stimulus::ReadTokenMissing),
        ("empty", "with an empty Authorization header", Some(""), Stimulus::ReadTokenMissing),
        ("bearer-alone", "with a scheme and without a token", Some("Bearer"), Stimulus::ReadTokenMissing),
        (
            "basic",
            "with Basic credentials",
            Some("Basic ZWRnZXByb29mOnNlcnZpY2VfcmVhZF9ub25l"),
            Stimulus::ReadTokenOtherScheme,
        ),
        (
            "other-scheme",
            "with another scheme and the read token's prefix",
            Some("Token service_read_none"),
            Stimulus::ReadTokenOtherScheme,
        ),
        (
            "other-bearer",
            "with a bearer token without the read token's prefix",
            Some("Bearer eyJhbGciOiJub25lIn0.e30."),
            Stimulus::ReadTokenForeignPrefix,
        ),
        (
            "prefix-within",
            "with a bearer token that contains the read token's prefix later",
            Some("Bearer x-service_read_none"),
            Stimulus::ReadTokenForeignPrefix,
        ),
    ];
    for (id, title, value, stimulus) in values {
        let row = cases.row(UNAUTHORIZED).clone();
        cases
            .steps(
                UNAUTHORIZED,
                &format!("verdict.unauthorized.{id}"),
                &format!("a request {title} is unauthorized"),
                steps!(
                    async |context| {
                        let mut request = context.verdict(&context.reference("unauthorized"));
                        if let Some(value) = value {
                            request = request.authorization(value);
                        }
                        let reply = context.fetch_verdict(&request).await;
                        context.checks(judge::exact(&answer(&row, ""), &reply));
                    },
                    with(row)
                ),
            )
            .stimulus(stimulus)
            .also("statement.error-bodies-json");
    }
}

/// A read token is valid as a bearer token with its prefix, and not otherwise.
fn prefix(cases: &mut CaseList<'_, Service>) {
    let (pending, row) = (cases.row(PENDING).clone(), cases.row(UNAUTHORIZED).clone());
    let accepted = pending.clone();
    cases
        .steps(
            "statement.read-token-prefix",
            "verdict.read-token.bearer",
            "the service accepts a read token as a bearer token",
            move |context| {
                let pending = accepted.clone();
                Box::pin(async move {
                    let reference = context.reference("bearer");
                    let reply = context.fetch_verdict(&context.with_token(&reference)).await;
                    context.checks(judge::exact(&answer(&pending, &reference), &reply));
                })
            },
        )
        .requires(&[ServiceNeed::ReadToken]);
    cases
        .steps(
            "statement.read-token-prefix",
            "verdict.read-token.without-prefix",
            "a read token without its prefix is unauthorized",
            steps!(
                async |context| {
                    let token = context.read_token();
                    let rest = token.strip_prefix(READ_PREFIX).unwrap_or(&token);
                    let reply = context
                        .fetch_verdict(&context.verdict(&context.reference("bare")).bearer(rest))
                        .await;
                    context.checks(judge::exact(&answer(&row, ""), &reply));
                },
                with(row)
            ),
        )
        .requires(&[ServiceNeed::ReadToken]);
}

fn license(cases: &mut CaseList<'_, Service>) {
    let row = cases.row(UNAUTHORIZED).clone();
    cases
        .steps(
            UNAUTHORIZED,
            "verdict.unauthorized.license",
            "a license as the bearer token is unauthorized",
            steps!(
                async |context| {
                    let license = exposed(context.target.inputs.license.as_ref());
                    let reply = context
                        .fetch_verdict(&context.verdict(&context.reference("license")).bearer(&license))
                        .await;
                    context.checks(judge::exact(&answer(&row, ""), &reply));
                },
                with(row)
            ),
        )
        .requires(&[ServiceNeed::License])
        .stimulus(Stimulus::ReadTokenIsLicense);
}

fn expired(cases: &mut CaseList<'_, Service>) {
    let row = cases.row(EXPIRED).clone();
    cases
        .steps(
            EXPIRED,
            "verdict.refused.expired",
            "the service refuses an expired read token as expired",
            steps!(
                async |context| {
                    let token = exposed(context.target.inputs.expired_token.as_ref());
                    let reply = context
                        .fetch_verdict(&context.verdict(&context.reference("expired")).bearer(&token))
                        .await;
                    context.checks(judge::exact(&answer(&row, ""), &reply));
                },
                with(row)
            ),
        )
        .requires(&[ServiceNeed::ExpiredToken])
        .stimulus(Stimulus::ReadTokenExpired);
}

/// Stimuli that damage a token.
const DAMAGES: [Stimulus; 6] = [
    Stimulus::ReadTokenMalformed,
    Stimulus::ReadTokenTruncated,
    Stimulus::ReadTokenFooterDamaged,
    Stimulus::ReadTokenPayloadDamaged,
    Stimulus::ReadTokenSignatureAltered,
    Stimulus::ReadTokenKeyUnknown,
];

/// The token format of another service is unknown, and so is the order of its checks: any code for a damaged token passes.
/// The built-in mock must return one exact code.
fn damaged(cases: &mut CaseList<'_, Service>) {
    let any = codes(cases, &DAMAGES);
    for &damage in Damage::VARIANTS {
        let id = damage.slug();
        let mut accepted = any.clone();
        if damage == Damage::PrefixAlone {
            // The interface does not show whether the prefix alone is a damaged token or none.
            accepted.extend(code(cases.row(UNAUTHORIZED)));
        }
        let exact = damage.mock_stimulus().map(|stimulus| codes(cases, &[stimulus]));
        let [row, other] = match damage {
            Damage::Payload => ["verdict.401.bad-payload", "verdict.401.bad-signature"],
            Damage::Signature => ["verdict.401.bad-signature"; 2],
            Damage::Footer => ["verdict.401.bad-footer", "verdict.401.unknown-kid"],
            _ => ["verdict.401.malformed-token"; 2],
        };
        let case = cases.steps(
            row,
            &format!("verdict.damaged.{id}"),
            &format!("the service refuses a read token {} as damaged", damage.description()),
            steps!(
                async |context| {
                    let Some(token) = damage.apply(&context.read_token()) else {
                        context.found.not_applicable =
                            Some("the read token has no part to damage this way".into());
                        return;
                    };
                    let reply = context
                        .fetch_verdict(&context.verdict(&context.reference("damaged")).bearer(&token))
                        .await;
                    refused(context, &reply);
                    let exact = exact.filter(|_| context.target.mock.is_some());
                    context.check(judge::has_code(&exact.unwrap_or(accepted), &reply));
                },
                with(accepted, exact)
            ),
        );
        case.also(other).also("statement.error-bodies-json");
        if damage != Damage::PrefixAlone && damage != Damage::Invented {
            case.requires(&[ServiceNeed::ReadToken]);
        }
    }
}

/// Checks for status 401 and a JSON body.
fn refused(context: &mut ServiceCaseContext, reply: &AnswerResult) {
    let status = judge::status_is(401, reply);
    let accepted = reply.as_ref().is_ok_and(|answer| matches!(answer.status, 200 | 404));
    context.check(if accepted { status.advise(Advice::TokenAccepted) } else { status });
    context.check(judge::is_json(reply));
}

/// The member of the JSON body that contains the code.
fn reason_member(cases: &mut CaseList<'_, Service>) {
    let codes = codes(cases, &DAMAGES);
    cases.steps(
        "statement.reason-member",
        "verdict.reason-member",
        "the JSON member that contains the code for a damaged token",
        steps!(
            async |context| {
                let token = Damage::Invented.apply("").unwrap_or_default();
                let reply = context
                    .fetch_verdict(&context.verdict(&context.reference("member")).bearer(&token))
                    .await;
                let observed = member(&codes, &reply).unwrap_or_else(|| "no code of the interface".into());
                context.observe("verdict.reason-member", observed);
            },
            with(codes)
        ),
    );
}

fn member(codes: &[ReasonCode], reply: &AnswerResult) -> Option<String> {
    let body: Value = serde_json::from_slice(&reply.as_ref().ok()?.body).ok()?;
    let (member, _) = judge::find_code(codes, &body)?;
    Some(if member.is_empty() { "the body is the code".into() } else { member })
}

fn challenge(cases: &mut CaseList<'_, Service>) {
    cases.steps(
        "statement.challenge-on-401",
        "verdict.unauthorized.challenge",
        "a 401 names the Bearer scheme",
        steps!(async |context| {
            let reply = context.fetch_verdict(&context.verdict(&context.reference("challenge"))).await;
            let names_bearer = |value: &str| value.to_ascii_lowercase().contains("bearer");
            context.check(judge::header_has("www-authenticate", HeaderRule::Bearer, names_bearer, &reply));
        }),
    );
}

fn scheme(cases: &mut CaseList<'_, Service>) {
    let row = cases.row(PENDING).clone();
    cases
        .steps(
            "statement.scheme-case",
            "verdict.read-token.scheme-case",
            "the service accepts the scheme bearer in lower case",
            steps!(
                async |context| {
                    let reference = context.reference("scheme");
                    let value = format!("bearer {}", context.read_token());
                    let reply =
                        context.fetch_verdict(&context.verdict(&reference).authorization(&value)).await;
                    context.checks(judge::exact(&answer(&row, &reference), &reply));
                },
                with(row)
            ),
        )
        .requires(&[ServiceNeed::ReadToken]);
}
