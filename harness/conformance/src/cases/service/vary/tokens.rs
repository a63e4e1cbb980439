use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use edgeproof_fixtures::credentials::READ_PREFIX;
use edgeproof_http::{Body, Draft};

use super::probe::{Probe, probe_each};
use super::token_damage;
use crate::cases::service::Expected;
use crate::cases::service::expected::{PENDING, UNAUTHORIZED};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed};

/// Values of `Authorization` without a read token: name, value.
const FOREIGN: [(&str, &str); 26] = [
    ("Bearer with a space", "Bearer "),
    ("the word null", "Bearer null"),
    ("the word undefined", "Bearer undefined"),
    ("the word true", "Bearer true"),
    ("a zero", "Bearer 0"),
    ("an empty object", "Bearer {}"),
    ("the scheme twice", "Bearer Bearer"),
    ("a JWT without a signature", "Bearer eyJhbGciOiJub25lIn0.eyJzY29wZSI6InJlYWQifQ."),
    ("a PASETO without a prefix", "Bearer v4.public.eyJzY29wZSI6InJlYWQifQ"),
    ("the prefix without its last character", "Bearer service_read"),
    ("the prefix with a dash", "Bearer service-read-none"),
    ("the prefix in capitals", "Bearer SERVICE_READ_none"),
    ("the prefix with one capital", "Bearer Service_read_none"),
    ("the prefix after a space within", "Bearer none service_read_none"),
    ("the prefix after a dot", "Bearer .service_read_none"),
    ("the prefix of a write token", "Bearer service_write_none"),
    ("the prefix of an admin token", "Bearer service_admin_none"),
    ("the prefix of a license", "Bearer service_license_none"),
    ("a scheme that contains Bearer", "XBearer service_read_none"),
    ("a scheme that begins with Bearer", "Bearerx service_read_none"),
    ("Digest credentials", "Digest username=\"service_read_none\""),
    ("a DPoP token", "DPoP service_read_none"),
    ("a MAC", "MAC id=\"service_read_none\""),
    ("Basic credentials without a password", "Basic c2VydmljZV9yZWFkXzo="),
    ("a JSON object", "{\"token\":\"service_read_none\"}"),
    ("a comma", ","),
];

/// The same with letters outside ASCII.
const FOREIGN_LETTERS: [(&str, &str); 2] =
    [("a letter outside ASCII", "Bearer n\u{f6}ne"), ("a scheme outside ASCII", "B\u{e9}arer none")];

/// Header fields with which a gateway may tell who a caller is: name, value.
const BYPASSES: [(&str, &str); 12] = [
    ("X-Forwarded-For", "127.0.0.1"),
    ("X-Real-IP", "127.0.0.1"),
    ("Forwarded", "for=127.0.0.1;host=localhost;proto=https"),
    ("X-Forwarded-Host", "localhost"),
    ("X-Forwarded-User", "admin"),
    ("X-Authenticated", "true"),
    ("X-Original-URL", "/health"),
    ("X-Rewrite-URL", "/health"),
    ("X-HTTP-Method-Override", "OPTIONS"),
    ("Origin", "https://shop.example"),
    ("X-Internal", "1"),
    ("User-Agent", "kube-probe/1.30"),
];

/// Other values of the credential: damaged, elsewhere, in another form (5, 7.4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    let title = "the service refuses a read token that is damaged anywhere";
    let token = &[ServiceNeed::ReadToken];
    probe_each(
        cases,
        ["verdict.401.malformed-token", "vary.verdict.token-damage", title],
        token,
        token_damage::probes,
    )
    .also("verdict.401.bad-signature")
    .also("statement.error-bodies-json");
    let title = "the service accepts a read token only in the Authorization header";
    probe_each(cases, [UNAUTHORIZED, "vary.verdict.token-place", title], token, places);
    let title = "the service accepts a read token only as a bearer token";
    probe_each(cases, [UNAUTHORIZED, "vary.verdict.token-form", title], token, forms);
    let title = "the service refuses two Authorization headers, or reads one of them";
    probe_each(cases, [UNAUTHORIZED, "vary.verdict.token-twice", title], token, twice);
    let title = "the service accepts the scheme Bearer in upper, lower and mixed case";
    probe_each(
        cases,
        ["statement.scheme-case", "vary.verdict.token-scheme", title],
        token,
        |context, unknown| {
            ["bearer", "BEARER", "BeArEr", "bEARER"]
                .map(|scheme| {
                    let value = format!("{scheme} {}", context.read_token());
                    let draft = context.verdict(unknown).authorization(&value).draft();
                    Probe::new(format!("scheme {scheme}"), draft, Expected::Pending(unknown.to_owned()))
                })
                .to_vec()
        },
    )
    .also(PENDING);
    let title = "the service reads the header field Authorization in any case of its letters";
    probe_each(
        cases,
        ["statement.field-name-case", "vary.verdict.token-field-name", title],
        token,
        |context, unknown| {
            ["authorization", "AUTHORIZATION", "AuThOrIzAtIoN"]
                .map(|name| {
                    let value = format!("Bearer {}", context.read_token());
                    let draft = context.verdict(unknown).header(name, &value).draft();
                    Probe::new(name, draft, Expected::Pending(unknown.to_owned()))
                })
                .to_vec()
        },
    )
    .also(PENDING);
    let title = "an Authorization header without a read token is unauthorized";
    probe_each(cases, [UNAUTHORIZED, "vary.verdict.token-foreign", title], &[], |context, unknown| {
        let long = format!("Bearer {}", "x".repeat(2000));
        let probe = |(name, value): (&str, &str)| {
            let draft = context.verdict(unknown).authorization(value).draft();
            Probe::new(name, draft, Expected::Unauthorized)
        };
        // A server may refuse such a field itself (RFC 9110 §5.5).
        let foreign = |(name, value): (&str, &str)| {
            let draft = context.verdict(unknown).authorization(value).draft();
            Probe::new(name, draft, Expected::Status { rows: &[UNAUTHORIZED], others: &[400] })
        };
        let values = FOREIGN.into_iter().map(probe);
        let long = [probe(("a value of 2000 characters", &long))];
        values.chain(long).chain(FOREIGN_LETTERS.into_iter().map(foreign)).collect()
    })
    .also("statement.error-bodies-json");
    let title = "no other header field replaces a read token";
    probe_each(cases, [UNAUTHORIZED, "vary.verdict.token-bypass", title], &[], |context, unknown| {
        BYPASSES
            .iter()
            .map(|(name, value)| {
                let probe = format!("{name}: {value} and no token");
                Probe::unauthorized(probe, context, unknown, |draft| draft.header(name, value))
            })
            .collect()
    });
}

fn places(context: &ServiceCaseContext, unknown: &str) -> Vec<Probe> {
    let token = context.read_token();
    let bearer = format!("Bearer {token}");
    let queries = [
        "access_token",
        "token",
        "read_token",
        "bearer_token",
        "api_key",
        "key",
        "authorization",
        "Authorization",
    ]
    .map(|name| {
        Probe::unauthorized(format!("query parameter {name}"), context, unknown, |draft| Draft {
            path: format!("{}?{name}={token}", draft.path),
            ..draft
        })
    });
    let header = |name: &str, value: &str| {
        Probe::unauthorized(format!("header {name}"), context, unknown, |draft| draft.header(name, value))
    };
    let headers = [
        "X-Authorization",
        "X-Forwarded-Authorization",
        "X-Original-Authorization",
        "Proxy-Authorization",
        "Authentication",
        "Authorisation",
    ]
    .map(|name| header(name, &bearer));
    let bare = ["X-Api-Key", "X-Auth-Token", "X-Access-Token", "Api-Key", "Token", "X-Read-Token"]
        .map(|name| header(name, &token));
    let cookies = ["token", "access_token", "read_token", "Authorization", "session"]
        .map(|name| header("Cookie", &format!("{name}={token}")).named(format!("cookie {name}")));
    let form = Probe::unauthorized("a form in the body", context, unknown, |draft| {
        draft
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(Body::Sized(format!("access_token={token}").into()))
    })
    // A server may refuse a GET with a body.
    .should();
    [queries.to_vec(), headers.to_vec(), bare.to_vec(), cookies.to_vec(), vec![form]].concat()
}

fn forms(context: &ServiceCaseContext, unknown: &str) -> Vec<Probe> {
    let token = context.read_token();
    let rest = token.strip_prefix(READ_PREFIX).unwrap_or(&token);
    let basic = |text: String| format!("Basic {}", STANDARD.encode(text));
    [
        ("the token without a scheme", token.clone()),
        ("the scheme Token", format!("Token {token}")),
        ("the scheme Basic", format!("Basic {token}")),
        ("the scheme JWT", format!("JWT {token}")),
        ("the scheme DPoP", format!("DPoP {token}")),
        ("the scheme ApiKey", format!("ApiKey {token}")),
        ("a scheme that begins with Bearer", format!("BearerToken {token}")),
        ("a scheme that ends with Bearer", format!("XBearer {token}")),
        ("Basic credentials with the token as user", basic(format!("{token}:"))),
        ("Basic credentials with the token as password", basic(format!(":{token}"))),
        ("Basic credentials of the token alone", basic(token.clone())),
        ("Bearer and the token without a space", format!("Bearer{token}")),
        ("Bearer with a colon", format!("Bearer: {token}")),
        ("Bearer with an equals sign", format!("Bearer={token}")),
        ("a parameter of Bearer", format!("Bearer token={token}")),
        ("a parameter in quotes", format!("Bearer token=\"{token}\"")),
        ("the scheme twice", format!("Bearer Bearer {token}")),
        ("the token before its scheme", format!("{token} Bearer")),
        ("the prefix in capitals", format!("Bearer {}{rest}", READ_PREFIX.to_uppercase())),
        ("the prefix with one capital", format!("Bearer S{}{rest}", &READ_PREFIX[1..])),
        ("the prefix with dashes", format!("Bearer {}{rest}", READ_PREFIX.replace('_', "-"))),
        ("the prefix of a license", format!("Bearer service_license_{rest}")),
        ("the prefix without service", format!("Bearer read_{rest}")),
        ("another prefix before the token", format!("Bearer x{token}")),
        ("the token in quotes", format!("Bearer \"{token}\"")),
        ("the token in angle brackets", format!("Bearer <{token}>")),
    ]
    .into_iter()
    .map(|(name, value)| {
        let draft = context.verdict(unknown).authorization(&value).draft();
        Probe::new(name, draft, Expected::Unauthorized)
    })
    .collect()
}

/// HTTP forbids two `Authorization` fields (RFC 9110 §5.3), and servers differ in what they do. None of them fails.
fn twice(context: &ServiceCaseContext, unknown: &str) -> Vec<Probe> {
    let right = format!("Bearer {}", context.read_token());
    [
        ("the token and nothing else in the second", right.as_str(), ""),
        ("the token in both", &right, &right),
        ("the token and then another", &right, "Bearer service_read_none"),
        ("another and then the token", "Bearer service_read_none", &right),
        ("Basic credentials and then the token", "Basic bm9uZTpub25l", &right),
        ("the token and then Basic credentials", &right, "Basic bm9uZTpub25l"),
    ]
    .into_iter()
    .map(|(name, first, second)| {
        let draft = context.verdict(unknown).authorization(first).draft().header("Authorization", second);
        Probe::new(name, draft, Expected::Status { rows: &[UNAUTHORIZED, PENDING], others: &[400] })
    })
    .chain([{
        let draft = context
            .verdict(unknown)
            .authorization("Bearer service_read_none")
            .draft()
            .header("Authorization", "Bearer none");
        Probe::new(
            "two values without a token",
            draft,
            Expected::Status { rows: &[UNAUTHORIZED], others: &[400] },
        )
    }])
    .collect()
}
