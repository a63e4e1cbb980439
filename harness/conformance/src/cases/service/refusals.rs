use edgeproof_fixtures::spec::{Stimulus, Table};
use strum::VariantArray;

use super::damage::Damage;
use super::expected::{EXPIRED, UNAUTHORIZED, code, damage_codes};
use super::{TokenChoice, VerdictExchange, VerdictObservation, VerdictRule};
use crate::cases::{CaseList, Service, ServiceNeed};

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
    let values: [(&str, &str, TokenChoice, Stimulus); 7] = [
        ("missing", "without an Authorization header", TokenChoice::Missing, Stimulus::ReadTokenMissing),
        ("empty", "with an empty Authorization header", TokenChoice::Value(""), Stimulus::ReadTokenMissing),
        (
            "bearer-alone",
            "with a scheme and without a token",
            TokenChoice::Value("Bearer"),
            Stimulus::ReadTokenMissing,
        ),
        (
            "basic",
            "with Basic credentials",
            TokenChoice::Value("Basic ZWRnZXByb29mOnNlcnZpY2VfcmVhZF9ub25l"),
            Stimulus::ReadTokenOtherScheme,
        ),
        (
            "other-scheme",
            "with another scheme and the read token's prefix",
            TokenChoice::OtherScheme,
            Stimulus::ReadTokenOtherScheme,
        ),
        (
            "other-bearer",
            "with a bearer token without the read token's prefix",
            TokenChoice::Foreign,
            Stimulus::ReadTokenForeignPrefix,
        ),
        (
            "prefix-within",
            "with a bearer token that contains the read token's prefix later",
            TokenChoice::Value("Bearer x-service_read_none"),
            Stimulus::ReadTokenForeignPrefix,
        ),
    ];
    for (id, title, token, stimulus) in values {
        let title = format!("a request {title} is unauthorized");
        let exchange =
            VerdictExchange::unknown("unauthorized").token(token).expect(VerdictRule::Unauthorized);
        cases
            .case(UNAUTHORIZED, &format!("verdict.unauthorized.{id}"), &title)
            .exchange(exchange)
            .stimulus(stimulus)
            .also("statement.error-bodies-json");
    }
}

/// A read token is valid as a bearer token with its prefix, and not otherwise.
fn prefix(cases: &mut CaseList<'_, Service>) {
    let row = "statement.read-token-prefix";
    let title = "the service accepts a read token as a bearer token";
    let exchange = VerdictExchange::unknown("bearer").expect(VerdictRule::Pending);
    cases
        .case(row, "verdict.read-token.bearer", title)
        .exchange(exchange)
        .requires(&[ServiceNeed::ReadToken]);
    let title = "a read token without its prefix is unauthorized";
    let exchange = VerdictExchange::unknown("bare").token(TokenChoice::WithoutPrefix);
    cases
        .case(row, "verdict.read-token.without-prefix", title)
        .exchange(exchange.expect(VerdictRule::Unauthorized))
        .requires(&[ServiceNeed::ReadToken]);
}

fn license(cases: &mut CaseList<'_, Service>) {
    let title = "a license as the bearer token is unauthorized";
    let exchange = VerdictExchange::unknown("license").token(TokenChoice::License);
    cases
        .case(UNAUTHORIZED, "verdict.unauthorized.license", title)
        .exchange(exchange.expect(VerdictRule::Unauthorized))
        .requires(&[ServiceNeed::License])
        .stimulus(Stimulus::ReadTokenIsLicense);
}

fn expired(cases: &mut CaseList<'_, Service>) {
    let title = "the service refuses an expired read token as expired";
    let exchange = VerdictExchange::unknown("expired").token(TokenChoice::Expired);
    cases
        .case(EXPIRED, "verdict.refused.expired", title)
        .exchange(exchange.expect(VerdictRule::Expired))
        .requires(&[ServiceNeed::ExpiredToken])
        .stimulus(Stimulus::ReadTokenExpired);
}

/// The token format of a service is unknown, and so is the order of its checks: any code for a damaged token passes.
fn damaged(cases: &mut CaseList<'_, Service>) {
    let any = damage_codes(cases.spec);
    for &damage in Damage::VARIANTS {
        // A version of the interface may lack the row.
        let is_stated = |stimulus| cases.spec.by_stimulus(Table::Verdict, stimulus).is_some();
        if !damage.usual_stimulus().is_none_or(is_stated) {
            continue;
        }
        let id = damage.slug();
        let mut accepted = any.clone();
        if damage == Damage::PrefixAlone {
            // The interface does not show whether the prefix alone is a damaged token or none.
            accepted.extend(code(cases.row(UNAUTHORIZED)));
        }
        let [row, other] = match damage {
            Damage::Payload => ["verdict.401.bad-payload", "verdict.401.bad-signature"],
            Damage::Signature => ["verdict.401.bad-signature"; 2],
            Damage::Footer => ["verdict.401.bad-footer", "verdict.401.unknown-kid"],
            _ => ["verdict.401.malformed-token"; 2],
        };
        let title = format!("the service refuses a read token {} as damaged", damage.description());
        let exchange = VerdictExchange::unknown("damaged").token(TokenChoice::Damaged(damage));
        let exchange = exchange.expect(VerdictRule::Damaged(accepted));
        let case = cases.case(row, &format!("verdict.damaged.{id}"), &title).exchange(exchange);
        case.also(other).also("statement.error-bodies-json");
        if damage != Damage::PrefixAlone && damage != Damage::Invented {
            case.requires(&[ServiceNeed::ReadToken]);
        }
    }
}

/// The member of the JSON body that contains the code.
fn reason_member(cases: &mut CaseList<'_, Service>) {
    let title = "the JSON member that contains the code for a damaged token";
    let exchange = VerdictExchange::unknown("member").token(TokenChoice::Damaged(Damage::Invented));
    let exchange = exchange.observe(VerdictObservation::Member(damage_codes(cases.spec)));
    cases.case("statement.reason-member", "verdict.reason-member", title).exchange(exchange);
}

fn challenge(cases: &mut CaseList<'_, Service>) {
    // HTTP asks for a challenge in an answer of this status only (RFC 9110 §15.5.2).
    if cases.spec.status(UNAUTHORIZED) != Some(401) {
        return;
    }
    let title = "a 401 names the Bearer scheme";
    let exchange = VerdictExchange::unknown("challenge").token(TokenChoice::Missing);
    let exchange = exchange.expect(VerdictRule::BearerChallenge);
    cases.case("statement.challenge-on-401", "verdict.unauthorized.challenge", title).exchange(exchange);
}

fn scheme(cases: &mut CaseList<'_, Service>) {
    let title = "the service accepts the scheme bearer in lower case";
    let exchange = VerdictExchange::unknown("scheme").token(TokenChoice::LowerCaseScheme);
    cases
        .case("statement.scheme-case", "verdict.read-token.scheme-case", title)
        .exchange(exchange.expect(VerdictRule::Pending))
        .requires(&[ServiceNeed::ReadToken]);
}
