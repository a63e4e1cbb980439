use std::time::Duration;

use edgeproof_http::{Body, Draft, NoAnswer, ReusedConnection, Sent};

use super::probe::{Probe, probe_each, probe_in_turn};
use crate::cases::service::expected::{PENDING, UNAUTHORIZED};
use crate::cases::service::{Damage, Expected};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed};

/// Pause between two requests over one connection.
const PAUSE: Duration = Duration::from_millis(1100);
/// Number of requests over one connection: more than a gateway's usual hundred.
const MANY: usize = 120;

/// The same requests in another state of the connection or of the service, and over another version of HTTP.
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    let token = &[ServiceNeed::ReadToken];
    let session = &[ServiceNeed::ReadToken, ServiceNeed::Session];
    let title = "a connection remembers neither a token nor a reference";
    probe_in_turn(cases, [UNAUTHORIZED, "vary.verdict.connection-state", title], session, alternating)
        .also(PENDING);
    let title = "the answers over one connection stay the same";
    probe_in_turn(cases, [PENDING, "vary.verdict.connection-many", title], token, |context, _| {
        (0..MANY)
            .map(|number| {
                let reference = context.reference(&format!("{number}"));
                match number % 3 {
                    1 => Probe::unauthorized(
                        format!("request {number} without a token"),
                        context,
                        &reference,
                        |draft| draft,
                    ),
                    _ => Probe::pending(format!("request {number} over one connection"), context, &reference),
                }
            })
            .collect()
    })
    .also(UNAUTHORIZED);
    let title = "a session without a verdict is pending after each kind of refused request";
    probe_each(cases, [PENDING, "vary.verdict.after-error", title], token, after_errors);
    idle(cases);
    pipelined(cases);
    http2(cases);
}

/// A server may close an idle connection; then a new one serves.
fn idle(cases: &mut CaseList<'_, Service>) {
    let title = "a connection that was idle for a second gets the right answers";
    cases
        .case(PENDING, "vary.verdict.idle", title)
        .steps(steps!(async |context| {
            let reference = context.reference("idle");
            let none = |name: &str| Probe::unauthorized(name, context, &reference, |draft| draft);
            let probes = [
                Probe::pending("the first request", context, &reference),
                none("no token after a pause"),
                Probe::pending("a token after a pause", context, &reference),
            ];
            let mut kept = ReusedConnection::default();
            for probe in probes {
                let sent = context.send_kept(&mut kept, probe.draft()).await;
                let checks = probe.judge(context.spec(), &sent.reply);
                context.found.varied += 1;
                context.record(probe.draft(), sent);
                context.checks(checks);
                context.sleep(PAUSE).await;
            }
        }))
        .requires(&[ServiceNeed::ReadToken])
        .takes(3 * PAUSE)
        .also(UNAUTHORIZED);
}

/// Answers come in the order of their requests (RFC 9112 §9.3.2). A server may close the connection after any of them.
fn pipelined(cases: &mut CaseList<'_, Service>) {
    let title = "pipelined requests are answered in their order, also behind a long poll";
    cases
        .case("statement.pipelined-order", "vary.verdict.pipelined", title)
        .steps(steps!(async |context| {
            let pending = |name: &str| Probe::pending(name, context, &context.reference(name));
            let waiting = |name: &str, wait: u64| {
                let query = |draft: Draft| Draft { path: format!("{}?waitMs={wait}", draft.path), ..draft };
                pending(name).map(query)
            };
            let probes = [
                waiting("a-long-poll", 300),
                pending("a-request-behind-it"),
                Probe::unauthorized("no token behind it", context, &context.reference("none"), |draft| draft),
                waiting("a-second-long-poll", 60),
                pending("the-last-request"),
            ];
            let drafts: Vec<Draft> = probes.iter().map(|probe| probe.draft().clone()).collect();
            let sent = context.send_pipelined(&drafts).await;
            // A server may answer the first one only, and close the connection.
            let is_closed = |sent: &Sent| matches!(sent.reply, Err(NoAnswer::Closed | NoAnswer::Reset));
            if sent.first().is_none_or(is_closed) {
                context.found.not_applicable = Some("the service answers no pipelined requests".into());
                return;
            }
            for (probe, sent) in probes.iter().zip(sent).take_while(|(_, sent)| !is_closed(sent)) {
                let reply = sent.reply.clone();
                context.found.varied += 1;
                context.record(probe.draft(), sent);
                context.checks(probe.judge(context.spec(), &reply));
            }
        }))
        .requires(&[ServiceNeed::ReadToken])
        .also(PENDING);
}

/// Requests with and without a token, for sessions with and without a verdict, over one connection.
fn alternating(context: &ServiceCaseContext, session: &str) -> Vec<Probe> {
    let unknown = context.reference("other");
    let verdict = |name: &str| Probe::new(name, context.with_token(session).draft(), Expected::Verdict);
    let none = |name: &str, reference: &str| Probe::unauthorized(name, context, reference, |draft| draft);
    let damaged = Damage::Invented.apply(&context.read_token()).unwrap_or_default();
    let foreign = |name: &str, reference: &str| {
        Probe::new(name, context.verdict(reference).bearer(&damaged).draft(), Expected::Damaged)
    };
    let head = |reference: &str| {
        Probe::new("HEAD", context.with_token(reference).method("HEAD").draft(), Expected::NoServerError)
            .should()
    };
    vec![
        none("the first request, without a token", session),
        verdict("a verdict after a refusal"),
        none("no token after a verdict", session),
        Probe::pending("an unknown session after a verdict", context, &unknown),
        foreign("a damaged token after a verdict", session),
        none("no token after a pending answer", &unknown),
        head(session),
        verdict("a verdict after HEAD"),
        Probe::pending("the unknown session again", context, &unknown),
        Probe::new(
            "a conditional request",
            context.with_token(session).draft().header("If-None-Match", "\"edgeproof\""),
            Expected::Verdict,
        ),
        none("no token after a conditional request", session),
        verdict("the verdict at the end"),
        Probe::new("a request as the body of a request", nested(context, session), Expected::NoServerError)
            .should(),
        // The connection may be closed instead.
        Probe::pending("an unknown session after it", context, &unknown),
        none("no token after it", session),
    ]
}

/// A request for an unknown session, with a request for the verdict as its body. A server that does not read the body takes it for
/// the next request.
fn nested(context: &ServiceCaseContext, session: &str) -> Draft {
    let inner = context.with_token(session).draft();
    let fields = inner.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
    let fields: String = fields.collect();
    let body = format!("GET {} HTTP/1.1\r\nHost: service.example\r\n{fields}\r\n", inner.path);
    context.with_token(&context.reference("nested")).draft().body(Body::Sized(body.into()))
}

/// A pending answer after each request that a service refuses, each over a connection of its own.
fn after_errors(context: &ServiceCaseContext, unknown: &str) -> Vec<Probe> {
    let plain = || context.with_token(unknown).draft();
    let other = |name: &str, draft: Draft| Probe::new(name, draft, Expected::NoServerError).should();
    let errors = vec![
        other("another path", Draft { path: "/v1/edgeproof-nothing".into(), ..plain() }),
        other("another version", Draft { path: plain().path.replace("/v1/", "/v2/"), ..plain() }),
        other("a path with two slashes", Draft { path: format!("/{}", plain().path), ..plain() }),
        other("a path below a verdict", Draft { path: format!("{}/more/x", plain().path), ..plain() }),
        other("a damaged token", context.verdict(unknown).bearer("service_read_none").draft()),
        other("an invalid escape", Draft { path: format!("{}%zz", plain().path), ..plain() }),
        other("a body", plain().body(Body::Sized("{}".into()))),
        other("a chunked body", plain().body(Body::Chunked("{}".into(), 1))),
        other("PUT with a body", Draft { method: "PUT".into(), ..plain() }.body(Body::Sized("{}".into()))),
        other("a long query", Draft { path: format!("{}?a={}", plain().path, "b".repeat(3000)), ..plain() }),
        other(
            "many header fields",
            (0..40).fold(plain(), |draft, number| draft.header(&format!("X-{number}"), "1")),
        ),
    ];
    errors
        .into_iter()
        .enumerate()
        .flat_map(|(number, error)| {
            let after = Probe::pending(
                format!("GET after {}", error.name()),
                context,
                &format!("{unknown}-{number}"),
            );
            [error, after]
        })
        .collect()
}

/// The same answers over HTTP/2, if the service offers it.
fn http2(cases: &mut CaseList<'_, Service>) {
    cases
        .case(PENDING, "vary.verdict.http2", "the answers over HTTP/2 are the same")
        .steps(steps!(async |context| {
            let unknown = context.reference("größe h2");
            let probes = [
                Probe::pending("an unknown session over HTTP/2", context, &unknown),
                Probe::unauthorized("no token over HTTP/2", context, &unknown, |draft| draft),
                Probe::pending("a wait over HTTP/2", context, &unknown)
                    .map(|draft| Draft { path: format!("{}?waitMs=5", draft.path), ..draft }),
            ];
            for probe in probes {
                let Some(sent) = context.send_http2(probe.draft()).await else {
                    context.found.not_applicable = Some("the service does not offer HTTP/2".into());
                    return;
                };
                let reply = sent.reply.clone();
                context.found.varied += 1;
                context.record(probe.draft(), sent);
                context.checks(probe.judge(context.spec(), &reply));
            }
        }))
        .requires(&[ServiceNeed::ReadToken])
        .also(UNAUTHORIZED);
}
