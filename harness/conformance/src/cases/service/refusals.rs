use edgeproof_fixtures::credentials::READ_PREFIX;
use edgeproof_fixtures::spec::Stimulus;
use serde_json::Value;

use super::damage::Damage;
use super::expected::{PENDING, UNAUTHORIZED, answer, code, codes};
use crate::cases::{Ask, Backend, Catalog, Need, Reply, exposed};
use crate::judge::{self, Code};

/// Requests without a read token, with another credential, and with a read token that is not accepted (5, 7.4).
pub(super) fn add(cases: &mut Catalog<'_>) {
    unauthorized(cases);
    prefix(cases);
    license(cases);
    expired(cases);
    damaged(cases);
    reason_member(cases);
    challenge(cases);
    scheme(cases);
}

/// What stands in `Authorization` is not a read token.
fn unauthorized(cases: &mut Catalog<'_>) {
    // No read token is in any of these: nothing is given away by sending them.
    let values: [(&str, &str, Option<&str>, Stimulus); 7] = [
        ("missing", "without an Authorization header", None, Stimulus::ReadTokenMissing),
        ("empty", "with an empty Authorization header", Some(""), Stimulus::ReadTokenMissing),
        ("bearer-alone", "with a scheme and no token", Some("Bearer"), Stimulus::ReadTokenMissing),
        (
            "basic",
            "with a user name and a password",
            Some("Basic ZWRnZXByb29mOnNlcnZpY2VfcmVhZF9ub25l"),
            Stimulus::ReadTokenOtherScheme,
        ),
        (
            "other-scheme",
            "with another scheme before what looks like a read token",
            Some("Token service_read_none"),
            Stimulus::ReadTokenOtherScheme,
        ),
        (
            "other-bearer",
            "with a bearer that does not begin like a read token",
            Some("Bearer eyJhbGciOiJub25lIn0.e30."),
            Stimulus::ReadTokenForeignPrefix,
        ),
        (
            "prefix-within",
            "with a bearer that has the beginning of a read token further on",
            Some("Bearer x-service_read_none"),
            Stimulus::ReadTokenForeignPrefix,
        ),
    ];
    for (id, title, value, stimulus) in values {
        let row = cases.row(UNAUTHORIZED).clone();
        cases
            .asks(
                UNAUTHORIZED,
                &format!("verdict.unauthorized.{id}"),
                &format!("a request {title} is unauthorized"),
                move |backend| {
                    let row = row.clone();
                    Box::pin(async move {
                        let mut ask = Ask::new(&backend.reference("unauthorized"));
                        if let Some(value) = value {
                            ask = ask.authorization(value);
                        }
                        let reply = backend.ask(&ask).await;
                        backend.checks(judge::exact(&answer(&row, ""), &reply));
                    })
                },
            )
            .stimulus(stimulus)
            .also("statement.error-bodies-json");
    }
}

/// The token that is accepted is so with its prefix, as a bearer, and not otherwise.
fn prefix(cases: &mut Catalog<'_>) {
    let (pending, row) = (cases.row(PENDING).clone(), cases.row(UNAUTHORIZED).clone());
    let accepted = pending.clone();
    cases
        .asks(
            "statement.read-token-prefix",
            "verdict.read-token.bearer",
            "a read token is accepted as a bearer",
            move |backend| {
                let pending = accepted.clone();
                Box::pin(async move {
                    let reference = backend.reference("bearer");
                    let reply = backend.ask(&Ask::new(&reference).bearer(&backend.read_token())).await;
                    backend.checks(judge::exact(&answer(&pending, &reference), &reply));
                })
            },
        )
        .needs(&[Need::ReadToken]);
    cases
        .asks(
            "statement.read-token-prefix",
            "verdict.read-token.without-prefix",
            "a read token without its beginning is unauthorized",
            move |backend| {
                let row = row.clone();
                Box::pin(async move {
                    let token = backend.read_token();
                    let rest = token.strip_prefix(READ_PREFIX).unwrap_or(&token);
                    let reply = backend.ask(&Ask::new(&backend.reference("bare")).bearer(rest)).await;
                    backend.checks(judge::exact(&answer(&row, ""), &reply));
                })
            },
        )
        .needs(&[Need::ReadToken]);
}

fn license(cases: &mut Catalog<'_>) {
    let row = cases.row(UNAUTHORIZED).clone();
    cases
        .asks(
            UNAUTHORIZED,
            "verdict.unauthorized.license",
            "a license as the bearer is unauthorized",
            move |backend| {
                let row = row.clone();
                Box::pin(async move {
                    let license = exposed(backend.target.inputs.license.as_ref());
                    let reply = backend.ask(&Ask::new(&backend.reference("license")).bearer(&license)).await;
                    backend.checks(judge::exact(&answer(&row, ""), &reply));
                })
            },
        )
        .needs(&[Need::License])
        .stimulus(Stimulus::ReadTokenIsLicense);
}

fn expired(cases: &mut Catalog<'_>) {
    let row = cases.row("verdict.401.expired").clone();
    cases
        .asks(
            "verdict.401.expired",
            "verdict.refused.expired",
            "a read token whose end has passed is refused as expired",
            move |backend| {
                let row = row.clone();
                Box::pin(async move {
                    let token = exposed(backend.target.inputs.expired_token.as_ref());
                    let reply = backend.ask(&Ask::new(&backend.reference("expired")).bearer(&token)).await;
                    backend.checks(judge::exact(&answer(&row, ""), &reply));
                })
            },
        )
        .needs(&[Need::ExpiredToken])
        .stimulus(Stimulus::ReadTokenExpired);
}

/// Causes that are damages of a token.
const DAMAGES: [Stimulus; 6] = [
    Stimulus::ReadTokenMalformed,
    Stimulus::ReadTokenTruncated,
    Stimulus::ReadTokenFooterDamaged,
    Stimulus::ReadTokenPayloadDamaged,
    Stimulus::ReadTokenSignatureAltered,
    Stimulus::ReadTokenKeyUnknown,
];

/// A stranger's token format is not known, nor which damage it sees first: any code for a damage will do. Of our own
/// mock exactly one.
fn damaged(cases: &mut Catalog<'_>) {
    let any = codes(cases, &DAMAGES);
    for damage in Damage::ALL {
        let (id, words) = damage.words();
        let mut accepted = any.clone();
        if damage == Damage::PrefixAlone {
            // Whether that begins like a read token, or is none, can be read either way.
            accepted.extend(code(cases.row(UNAUTHORIZED)));
        }
        let ours = damage.ours().map(|cause| codes(cases, &[cause]));
        let [row, other] = match damage {
            Damage::Payload => ["verdict.401.bad-payload", "verdict.401.bad-signature"],
            Damage::Signature => ["verdict.401.bad-signature"; 2],
            Damage::Footer => ["verdict.401.bad-footer", "verdict.401.unknown-kid"],
            _ => ["verdict.401.malformed-token"; 2],
        };
        let case = cases.asks(
            row,
            &format!("verdict.damaged.{id}"),
            &format!("a read token {words} is refused as damaged"),
            move |backend| {
                let (accepted, ours) = (accepted.clone(), ours.clone());
                Box::pin(async move {
                    let Some(token) = damage.apply(&backend.read_token()) else {
                        backend.found.not_applicable = Some("the read token has no such part".into());
                        return;
                    };
                    let reply = backend.ask(&Ask::new(&backend.reference("damaged")).bearer(&token)).await;
                    refused(backend, &reply);
                    let ours = ours.filter(|_| backend.target.mock.is_some());
                    backend.check(judge::tells(&ours.unwrap_or(accepted), &reply));
                })
            },
        );
        case.also(other).also("statement.error-bodies-json");
        if damage != Damage::PrefixAlone && damage != Damage::Invented {
            case.needs(&[Need::ReadToken]);
        }
    }
}

/// Status 401 and JSON.
fn refused(backend: &mut Backend, reply: &Reply) {
    let status = judge::status_in("401", |status| status == 401, reply);
    let accepted = reply.as_ref().is_ok_and(|answer| matches!(answer.status, 200 | 404));
    backend.check(if accepted {
        status.hint("the token was accepted: verify the whole of it before anything is looked up")
    } else {
        status
    });
    backend.check(judge::is_json(reply));
}

/// In which member a code stands.
fn reason_member(cases: &mut Catalog<'_>) {
    let codes = codes(cases, &DAMAGES);
    cases.asks(
        "statement.reason-member",
        "verdict.reason-member",
        "in which member the code of a damaged token stands",
        move |backend| {
            let codes = codes.clone();
            Box::pin(async move {
                let token = Damage::Invented.apply("").unwrap_or_default();
                let reply = backend.ask(&Ask::new(&backend.reference("member")).bearer(&token)).await;
                let saw = member(&codes, &reply).unwrap_or_else(|| "no code of the interface".into());
                backend.observe("verdict.reason-member", saw);
            })
        },
    );
}

fn member(codes: &[Code], reply: &Reply) -> Option<String> {
    let body: Value = serde_json::from_slice(&reply.as_ref().ok()?.body).ok()?;
    let (member, _) = judge::place_of(codes, &body)?;
    Some(if member.is_empty() { "the body is the code".into() } else { member })
}

fn challenge(cases: &mut Catalog<'_>) {
    cases.asks(
        "statement.challenge-on-401",
        "verdict.unauthorized.challenge",
        "a 401 says which scheme it asks for",
        |backend| {
            Box::pin(async move {
                let reply = backend.ask(&Ask::new(&backend.reference("challenge"))).await;
                let names_bearer = |value: &str| value.to_ascii_lowercase().contains("bearer");
                backend.check(judge::header_has("www-authenticate", "Bearer", names_bearer, &reply));
            })
        },
    );
}

fn scheme(cases: &mut Catalog<'_>) {
    let row = cases.row(PENDING).clone();
    cases
        .asks(
            "statement.scheme-case",
            "verdict.read-token.scheme-case",
            "the scheme before a read token may be written in small letters",
            move |backend| {
                let row = row.clone();
                Box::pin(async move {
                    let reference = backend.reference("scheme");
                    let value = format!("bearer {}", backend.read_token());
                    let reply = backend.ask(&Ask::new(&reference).authorization(&value)).await;
                    backend.checks(judge::exact(&answer(&row, &reference), &reply));
                })
            },
        )
        .needs(&[Need::ReadToken]);
}
