use edgeproof_fixtures::register::{self, Message};
use edgeproof_http::Draft;

use super::probe::{Probe, probe_each};
use crate::cases::service::Expected;
use crate::cases::service::expected::{AVAILABLE, PENDING, UNAUTHORIZED};
use crate::cases::{Case, CaseList, Service, ServiceCaseContext, ServiceNeed, UnfamiliarFields};

/// Conditions and ranges. They change no answer that is not a success (RFC 9110 §13.2.1, §14.2).
pub(in crate::cases) const CONDITIONS: [(&str, &str); 10] = [
    ("If-None-Match", "*"),
    ("If-None-Match", "\"edgeproof\""),
    ("If-None-Match", "W/\"edgeproof\", \"\""),
    ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ("If-Modified-Since", "Fri, 31 Dec 2100 23:59:59 GMT"),
    ("If-Modified-Since", "yesterday"),
    ("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ("If-Match", "\"edgeproof\""),
    ("Range", "bytes=0-0"),
    ("Range", "bytes=99999-"),
];
/// Conditions under which a verdict is sent all the same.
pub(in crate::cases) const WEAK_CONDITIONS: [(&str, &str); 4] = [
    ("If-None-Match", "\"edgeproof\""),
    ("If-None-Match", "W/\"edgeproof\", \"other\""),
    ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ("If-Modified-Since", "yesterday"),
];
/// Values of `Accept` and `Accept-Language`.
pub(in crate::cases) const ACCEPTS: [(&str, &str); 10] = [
    ("Accept", "*/*"),
    ("Accept", "application/*"),
    ("Accept", "application/json;charset=utf-8"),
    ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
    ("Accept", "application/json, text/plain, */*"),
    ("Accept", "application/xml;q=0.9, application/json;q=0.1"),
    ("Accept-Language", "de-DE, de;q=0.5"),
    ("Accept-Charset", "iso-8859-1"),
    ("Accept-Encoding", "identity"),
    ("Accept-Encoding", "identity;q=1, *;q=0"),
];
/// Other header fields that clients and proxies send.
pub(in crate::cases) const HEADERS: [(&str, &str); 21] = [
    ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"),
    ("User-Agent", "curl/8.9.1"),
    ("Origin", "https://shop.example"),
    ("Referer", "https://shop.example/cart"),
    ("Cookie", "session=1; other=2"),
    ("Content-Type", "application/json"),
    ("Content-Length", "0"),
    ("Connection", "close"),
    ("Connection", "keep-alive"),
    ("Cache-Control", "no-cache"),
    ("Cache-Control", "only-if-cached"),
    ("Pragma", "no-cache"),
    ("X-HTTP-Method-Override", "DELETE"),
    ("X-Forwarded-For", "203.0.113.7"),
    ("X-Forwarded-Proto", "http"),
    ("X-Forwarded-Prefix", "/other"),
    ("X-Request-Id", "edgeproof"),
    ("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ("X-Original-URL", "/health"),
    ("Prefer", "wait=5"),
    ("TE", "trailers"),
];
/// Methods that the interface does not define for verdicts.
pub(in crate::cases) const METHODS: [&str; 8] =
    ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "get"];

/// Makes a probe of an outcome, with this name.
type Plain<'p> = &'p dyn Fn(String) -> Probe;
/// Varies the probe of an outcome.
type Vary = fn(Plain<'_>) -> Vec<Probe>;

/// Other forms of the same request, for each outcome: conditions, `Accept`, header fields, methods.
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    let title = "a conditional or range header does not change a pending answer";
    pending(cases, "vary.verdict.conditional", title, |plain| headers(&CONDITIONS, plain));
    let title = "a conditional or range header does not change a refusal";
    refused(cases, "vary.verdict.conditional-refused", title, |plain| headers(&CONDITIONS, plain));
    let title = "a conditional header for another version does not hold back a verdict";
    available(cases, "vary.verdict.conditional-available", title, |plain| headers(&WEAK_CONDITIONS, plain));
    pending(cases, "vary.verdict.accept", "a pending answer is the same JSON for each Accept", accepts);
    refused(cases, "vary.verdict.accept-refused", "a refusal is the same JSON for each Accept", accepts)
        .also("statement.error-bodies-json");
    available(cases, "vary.verdict.accept-available", "a verdict is the same JSON for each Accept", accepts);
    let title = "other header fields do not change a pending answer";
    pending(cases, "vary.verdict.header", title, others);
    let title = "other header fields do not change a refusal";
    refused(cases, "vary.verdict.header-refused", title, others);
    let title = "other header fields do not change a verdict's availability";
    available(cases, "vary.verdict.header-available", title, others);
    let title = "header fields that a service need not know do not change a pending answer";
    pending(cases, "vary.verdict.registered", title, unfamiliar);
    let title = "header fields that a service need not know do not change a refusal";
    refused(cases, "vary.verdict.registered-refused", title, unfamiliar);
    let title = "header fields that a service need not know do not change a verdict's availability";
    available(cases, "vary.verdict.registered-available", title, unfamiliar);
    methods(cases);
}

/// Varies requests for the verdict of an unknown session.
fn pending<'c>(
    cases: &'c mut CaseList<'_, Service>,
    id: &str,
    title: &str,
    vary: Vary,
) -> &'c mut Case<Service> {
    probe_each(cases, [PENDING, id, title], &[ServiceNeed::ReadToken], move |context, unknown| {
        vary(&|name| Probe::pending(name, context, unknown))
    })
}

/// Varies requests without a token.
fn refused<'c>(
    cases: &'c mut CaseList<'_, Service>,
    id: &str,
    title: &str,
    vary: Vary,
) -> &'c mut Case<Service> {
    probe_each(cases, [UNAUTHORIZED, id, title], &[], move |context, unknown| {
        vary(&|name| Probe::unauthorized(name, context, unknown, |draft| draft))
    })
}

/// Varies requests for a verdict.
fn available<'c>(
    cases: &'c mut CaseList<'_, Service>,
    id: &str,
    title: &str,
    vary: Vary,
) -> &'c mut Case<Service> {
    let requires = &[ServiceNeed::ReadToken, ServiceNeed::Session];
    probe_each(cases, [AVAILABLE, id, title], requires, move |context, session| {
        vary(&|name| verdict(name, context, session))
    })
}

fn verdict(name: String, context: &ServiceCaseContext, session: &str) -> Probe {
    Probe::new(name, context.with_token(session).draft(), Expected::Verdict)
}

/// One probe for each Accept, and without one. A server may answer 406 to a client that takes no JSON.
fn accepts(plain: Plain<'_>) -> Vec<Probe> {
    let without = plain("no Accept".into()).map(without_accept);
    let html =
        plain("Accept: text/html".into()).map(|draft| without_accept(draft).header("Accept", "text/html"));
    headers(&ACCEPTS, plain).into_iter().chain([without, html.should()]).collect()
}

/// One probe for each other header field, and an offer of a protocol.
fn others(plain: Plain<'_>) -> Vec<Probe> {
    headers(&HEADERS, plain).into_iter().chain([upgrading(plain)]).collect()
}

/// One probe for each group of registered fields, and for each value of an unregistered one.
fn unfamiliar(plain: Plain<'_>) -> Vec<Probe> {
    let fields = UnfamiliarFields::registered(Message::Request).into_iter();
    let fields = fields.chain(UnfamiliarFields::unregistered());
    fields.map(|fields| plain(fields.name.clone()).map(|draft| fields.on(draft)).at(fields.level)).collect()
}

/// One probe for each header field, which replaces a field of the same name.
fn headers(fields: &[(&str, &str)], plain: Plain<'_>) -> Vec<Probe> {
    fields
        .iter()
        .map(|(name, value)| {
            plain(format!("{name}: {value}")).map(|mut draft| {
                draft.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
                draft.header(name, value)
            })
        })
        .collect()
}

/// An offer of a protocol that no server knows. Java and curl offer HTTP/2 so with each request without TLS, and a server that
/// ignores the offer answers as usual (RFC 9110 §7.8).
fn upgrading(plain: Plain<'_>) -> Probe {
    let upgrade = |draft: Draft| draft.header("Connection", "Upgrade").header("Upgrade", "edgeproof/1");
    plain("an unknown protocol in Upgrade".into()).map(upgrade).should()
}

fn without_accept(mut draft: Draft) -> Draft {
    draft.headers.retain(|(name, _)| name != "Accept");
    draft
}

/// The answer to another method than GET, without a valid token.
pub(in crate::cases) fn without_token(method: &str) -> Expected {
    match method {
        "OPTIONS" => Expected::NoServerError,
        "HEAD" => Expected::Status { rows: &[UNAUTHORIZED], others: &[405, 501] },
        _ => Expected::Status { rows: &[UNAUTHORIZED], others: &[400, 401, 403, 404, 405, 411, 415, 501] },
    }
}

/// The same methods, and the other registered ones. A server may echo TRACE, and CONNECT has a target of another form.
fn all_methods() -> impl Iterator<Item = &'static str> {
    let is_other = |method: &&str| !METHODS.contains(method) && !["GET", "TRACE", "CONNECT"].contains(method);
    METHODS.into_iter().chain(register::methods().filter(is_other))
}

/// No method is a way around the token, and none removes a verdict or creates one.
fn methods(cases: &mut CaseList<'_, Service>) {
    let session = &[ServiceNeed::ReadToken, ServiceNeed::Session];
    let title = "no method returns a verdict without a token";
    let row = "statement.no-oracle";
    probe_each(cases, [row, "vary.verdict.method-refused", title], session, |context, session| {
        all_methods()
            .map(|method| {
                let draft = context.verdict(session).method(method).draft();
                Probe::new(format!("{method} without a token"), draft, without_token(method)).may_close()
            })
            .collect()
    });
    let title = "a verdict is available after each other method";
    probe_each(cases, [AVAILABLE, "vary.verdict.method-available", title], session, |context, session| {
        all_methods()
            .flat_map(|method| {
                let draft = context.with_token(session).method(method).draft();
                let other = Probe::new(format!("{method} of a verdict"), draft, Expected::NoServerError)
                    .should()
                    .may_close();
                [other, verdict(format!("GET after {method}"), context, session)]
            })
            .collect()
    });
    let title = "a session without a verdict is pending after each other method";
    let token = &[ServiceNeed::ReadToken];
    probe_each(cases, [PENDING, "vary.verdict.method-pending", title], token, |context, unknown| {
        all_methods()
            .flat_map(|method| {
                let draft = context.with_token(unknown).method(method).draft();
                let other = Probe::new(format!("{method} of no verdict"), draft, Expected::NoServerError)
                    .should()
                    .may_close();
                [other, Probe::pending(format!("GET after {method}"), context, unknown)]
            })
            .collect()
    });
}
