//! Edges that grant pages of other origins access, or refuse it to pages of the allowed origin.

use edgeproof_fixtures::credentials::ALLOWED_ORIGIN;
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue};

use super::prelude::*;

/// Answers to requests that an edge's own code does not handle.
const OF_FRAMEWORK: Condition = Any(&[All(&[Not(&Relayed), Not(&SUCCESS)]), Broken]);
/// Statuses to which `add_header` of nginx applies without `always`.
const ADD_HEADER: Condition = Any(&[
    AnswerIs(200, 201),
    AnswerIs(204, 204),
    AnswerIs(206, 206),
    AnswerIs(301, 304),
    AnswerIs(307, 308),
]);

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("reflects-origin", "Allows any origin.")
        .breaks("statement.cors-other-origins", "any-origin")
        .also_late()
        .answers(Grants(|_, _| true)),
    mutant("grants-wildcard-origin", "Allows every origin with the wildcard *.")
        .breaks("statement.cors-other-origins", "any-origin")
        .also_late()
        .answers(SetHeader("access-control-allow-origin", "*")),
    mutant("grants-null-origin", "Allows the opaque origin null.")
        .breaks("statement.cors-other-origins", "origin-loose")
        .answers(Grants(|origin, _| origin == "null")),
    mutant("wildcard-for-invalid-origin", "Answers a text that is no origin with the wildcard *.")
        .breaks("statement.cors-other-origins", "origin-loose")
        .answers(By(|seen, answer| {
            let origin = seen.header("origin").unwrap_or_default();
            let is_odd = origin.contains(' ') || origin.ends_with('/');
            if is_odd { answer.with("access-control-allow-origin", "*") } else { answer }
        })),
    mutant("origin-by-prefix", "Allows origins that start with the allowed one.")
        .breaks("statement.cors-other-origins", "origin-loose")
        .answers(Grants(|origin, allowed| origin.starts_with(allowed))),
    mutant("origin-by-suffix", "Allows origins that end with the allowed host.")
        .breaks("statement.cors-other-origins", "origin-loose")
        .answers(Grants(|origin, allowed| origin.ends_with(host(allowed)))),
    mutant("origin-by-subdomain", "Allows subdomains of the allowed host.")
        .breaks("statement.cors-other-origins", "origin-loose")
        .answers(Grants(|origin, allowed| origin.ends_with(&format!(".{}", host(allowed))))),
    mutant("origin-without-scheme", "Allows the allowed host with any scheme.")
        .breaks("statement.cors-other-origins", "origin-loose")
        .answers(Grants(|origin, allowed| host(origin) == host(allowed))),
    mutant("origin-without-port", "Allows the allowed origin with any port.")
        .breaks("statement.cors-other-origins", "origin-loose")
        .answers(Grants(|origin, allowed| portless(origin) == portless(allowed))),
    mutant("origin-by-pattern", "Treats dots in the allowed origin as wildcards.")
        .breaks("statement.cors-other-origins", "origin-loose")
        .answers(Grants(|origin, allowed| {
            let alike = |(a, b): (u8, u8)| a == b || b == b'.';
            origin.len() == allowed.len() && origin.bytes().zip(allowed.bytes()).all(alike)
        })),
    mutant("ignores-allowed-origin", "Allows a fixed origin and ignores ALLOWED_ORIGIN.")
        .breaks("setting.edge.allowed-origin", "allowed-origin-misread")
        .then(Start(|options, _| options.settings.allowed_origin = Some(ALLOWED_ORIGIN.to_owned()))),
    mutant("preflight-without-content-type", "Does not allow the header Content-Type in preflight answers.")
        .breaks("edge.preflight", "preflight-wrong")
        .when(PREFLIGHT)
        .answers(RemoveHeader("access-control-allow-headers")),
    mutant(
        "grants-whole-connection",
        "Grants every origin after a request of the allowed one on the same connection.",
    )
    .breaks("statement.cors-other-origins", "any-origin")
    .when(All(&[Not(&FromAllowedOrigin), Earlier(Same::Connection, 1, &FromAllowedOrigin)]))
    .answers(Grants(|_, _| true)),
    mutant("redirects-preflight", "Redirects preflights.")
        .breaks("edge.preflight", "preflight-wrong")
        .when(PREFLIGHT)
        .answers(By(|seen, mut answer| {
            answer.status = 307;
            answer.with("location", &format!("{}/", seen.setup.signals_path))
        })),
    mutant("relays-preflight", "Relays preflights.")
        .breaks("edge.preflight", "preflight-wrong")
        .when(PREFLIGHT)
        .then(RelayAnyway)
        .also(&[(
            PREFLIGHT,
            Answering(Each(&[
                Status(204),
                Content(""),
                SetHeader("access-control-allow-headers", "content-type"),
            ])),
        )]),
    mutant("cors-on-success", "Sends CORS headers on success only.")
        .breaks("statement.cors-readable", "cors-on-success")
        .also_late()
        .when(Not(&SUCCESS))
        .answers(NoCors),
    mutant("cors-on-preflight", "Sends CORS headers in preflight answers only.")
        .breaks("statement.cors-readable", "cors-on-success")
        .when(Not(&PREFLIGHT))
        .answers(NoCors),
    mutant("cors-without-server-errors", "Sends no CORS headers with 5xx answers.")
        .breaks("statement.cors-readable", "cors-on-success")
        .when(AnswerIs(500, 599))
        .answers(NoCors),
    mutant("cors-on-own-answers", "Sends no CORS headers with 405, 404 and 400 of the framework.")
        .breaks("statement.cors-readable-405", "cors-on-success")
        .when(OF_FRAMEWORK)
        .answers(NoCors),
    mutant("cors-by-add-header", "Sends CORS headers with add_header of nginx, without always.")
        .breaks("statement.cors-readable", "cors-on-success")
        .when(Not(&ADD_HEADER))
        .answers(NoCors),
    mutant("no-cors-headers", "Sends no CORS headers.")
        .breaks("statement.cors-readable", "cors-on-success")
        .answers(Each(&[NoCors, RemoveHeader("vary")])),
    mutant("grants-twice", "Sends the header Access-Control-Allow-Origin twice.")
        .breaks("statement.cors-readable", "cors-repeated")
        .answers(By(|_, mut answer| {
            if let Some(grant) = answer.headers.get(ACCESS_CONTROL_ALLOW_ORIGIN).cloned() {
                answer.headers.append(ACCESS_CONTROL_ALLOW_ORIGIN, grant);
            }
            answer
        })),
    mutant("grants-list", "Sends the allowed origin twice in one header.")
        .breaks("statement.cors-readable", "cors-repeated")
        .answers(By(|_, answer| with_grant(answer, |grant| format!("{grant}, {grant}")))),
    mutant("grants-with-slash", "Sends the allowed origin with a slash at its end.")
        .breaks("statement.cors-readable", "allowed-origin-misread")
        .answers(By(|_, answer| with_grant(answer, |grant| format!("{grant}/")))),
    mutant("grants-with-wildcard", "Sends the allowed origin and the wildcard *.")
        .breaks("statement.cors-readable", "cors-repeated")
        .when(AnswerHas("access-control-allow-origin"))
        .answers(By(|_, mut answer| {
            answer.headers.append(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            answer
        })),
    mutant("no-vary-header", "Omits the header Vary.")
        .breaks("statement.vary", "vary-missing")
        .answers(RemoveHeader("vary")),
    mutant("overwrites-vary", "Sends Vary: Accept-Encoding in place of Vary: Origin.")
        .breaks("statement.vary", "vary-missing")
        .answers(SetHeader("vary", "Accept-Encoding")),
];

/// The answer with another grant in place of its own.
fn with_grant(mut answer: Answer, change: impl Fn(&str) -> String) -> Answer {
    let grant = answer.headers.get(ACCESS_CONTROL_ALLOW_ORIGIN).and_then(|grant| grant.to_str().ok());
    let other = grant.and_then(|grant| HeaderValue::from_str(&change(grant)).ok());
    if let Some(other) = other {
        answer.headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, other);
    }
    answer
}

fn host(origin: &str) -> &str {
    origin.split_once("://").map_or(origin, |(_, host)| host)
}

fn portless(origin: &str) -> &str {
    match origin.rsplit_once(':') {
        Some((rest, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => origin,
    }
}
