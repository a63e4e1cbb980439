//! Edges that answer wrongly while the service is unreachable, slow or early, or whose errors are wrong.

use std::time::Duration;

use edgeproof_edge::UpstreamOptions;
use serde_json::json;

use super::prelude::*;
use crate::behaviour::{phrase, text};

/// A refusal of a large collection.
const EARLY: Condition = All(&[REFUSED, BodyOver(256 * 1024)]);

/// Gives up after 100 ms.
const HURRIES: &[(Condition, EdgeEffect)] =
    &[(Always, Start(|options, _| options.service_timeout = Duration::from_millis(100)))];

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("waits-for-cut-reply", "Keeps waiting for the rest of a refusal after its connection has ended.")
        .breaks("edge.502.service-unreachable", "refusal-unanswered")
        .when(ReplyCut)
        .then(Silence),
    mutant("unreachable-html", "Answers 502 in HTML without a page if the service is unreachable.")
        .breaks("edge.502.service-unreachable", "unreachable-answer")
        .when(Unreachable)
        .answers(Becomes(Html(502, "service unreachable"))),
    mutant("unreachable-text", "Answers 502 in text if the service is unreachable.")
        .breaks("edge.502.service-unreachable", "unreachable-answer")
        .when(Unreachable)
        .answers(Becomes(Text(502, "service unreachable\n"))),
    mutant("unreachable-proxy-page", "Answers with the 502 page of nginx if the service is unreachable.")
        .breaks("edge.502.service-unreachable", "unreachable-answer")
        .when(Unreachable)
        .answers(Becomes(Nginx(502))),
    mutant("unreachable-express-page", "Answers with the 500 page of Express if the service is unreachable.")
        .breaks("edge.502.service-unreachable", "unreachable-answer")
        .when(Unreachable)
        .answers(Becomes(Express(
            500,
            "TypeError: fetch failed\n    at node:internal/deps/undici/undici:13502:13",
        ))),
    // The server of an ASGI application answers exceptions outside the CORS middleware.
    mutant("unreachable-server-error", "Answers 500 in text if the service is unreachable.")
        .breaks("edge.502.service-unreachable", "unreachable-answer")
        .when(Unreachable)
        .answers(Replaced(Text(500, "Internal Server Error"))),
    mutant("unreachable-spring-error", "Answers with the 500 of Spring if the service is unreachable.")
        .breaks("edge.502.service-unreachable", "unreachable-answer")
        .when(Unreachable)
        .answers(Becomes(Spring(500))),
    mutant("unreachable-is-503", "Answers 503 if the service is unreachable.")
        .breaks("edge.502.service-unreachable", "unreachable-answer")
        .when(Unreachable)
        .answers(Becomes(Json(503, r#"{"error":"service_unavailable"}"#))),
    mutant("unreachable-is-504", "Answers 504 if the service is unreachable.")
        .breaks("edge.502.service-unreachable", "unreachable-answer")
        .when(Unreachable)
        .answers(Becomes(Json(504, r#"{"error":"gateway_timeout"}"#))),
    mutant("unreachable-message", "Answers 502 with a message if the service is unreachable.")
        .breaks("edge.502.service-unreachable", "unreachable-answer")
        .when(Unreachable)
        .answers(Becomes(Json(502, r#"{"message":"service unreachable"}"#))),
    mutant("unreachable-nest", "Answers with the 502 of NestJS if the service is unreachable.")
        .breaks("edge.502.service-unreachable", "unreachable-answer")
        .when(Unreachable)
        .answers(Becomes(Json(502, r#"{"statusCode":502,"message":"Bad Gateway"}"#))),
    mutant("html-error-pages", "Answers errors with HTML pages.")
        .breaks("statement.error-bodies-json", "errors-not-json")
        .also_late()
        .when(AnswerIs(400, 599))
        .answers(Typed("text/html", "<html><body><h1>Error</h1></body></html>")),
    mutant("serialises-errors-twice", "Serialises the JSON of errors twice.")
        .breaks("statement.error-bodies-json", "errors-not-json")
        .when(AnswerIs(400, 599))
        .answers(By(|_, answer| {
            let text = String::from_utf8_lossy(&answer.body);
            let body = serde_json::Value::from(&*text).to_string().into();
            Answer { body, ..answer }
        })),
    mutant("answers-status-text", "Answers errors with the reason phrase of their status.")
        .breaks("statement.error-bodies-json", "errors-not-json")
        .when(AnswerIs(400, 599))
        .answers(By(|_, answer| {
            let text = text(answer.status, phrase(answer.status));
            Answer { body: text.body, ..answer }
                .without("allow")
                .with("content-type", "text/plain; charset=utf-8")
        })),
    mutant("strips-reason-suffix", "Removes the suffix of a reason.")
        .breaks("statement.reason-in-between", "reason-changed")
        .when(REFUSED)
        .answers(EditMember("reason", |reason| {
            *reason = json!(reason.as_str().and_then(|reason| reason.split(':').next()));
        })),
    mutant("loses-early-refusal", "Answers 502 to an early refusal of a large collection.")
        .breaks("statement.early-refusal", "early-refusal-lost")
        .when(EARLY)
        .answers(UNREACHABLE),
    mutant("fails-on-early-refusal", "Answers 500 to an early refusal of a large collection.")
        .breaks("statement.early-refusal", "early-refusal-lost")
        .when(EARLY)
        .answers(Becomes(Express(500, "Error: write EPIPE"))),
    mutant("short-timeout", "Times out after 300 ms.")
        .breaks("statement.slow-service", "timeout-short")
        .then(Start(|options, _| options.service_timeout = Duration::from_millis(300))),
    mutant("accepts-when-late", "Answers 200 when the service has not replied within 100 ms.")
        .breaks("statement.late-reply-told-truth", "accepted-without-service")
        .when(Unreachable)
        .answers(Rewritten(200, OK))
        .also(HURRIES),
    mutant("repeats-when-late", "Sends a collection again when the service has not replied within 100 ms.")
        .breaks("statement.late-reply-told-truth", "retried")
        .when(Unreachable)
        .then(RelayAgain)
        .also(HURRIES),
    mutant("fails-after-pause", "Answers 502 to a collection on a connection that was idle for 800 ms.")
        .breaks("statement.recovery", "no-recovery")
        .when(All(&[Collection, Idle(800)]))
        .then(Refuse(Json(502, SERVICE_UNREACHABLE))),
    mutant("opens-circuit-breaker", "Answers 502 without asking the service after three failures.")
        .breaks("statement.recovery", "no-recovery")
        .when(Earlier(Same::Part, 3, &Unreachable))
        .then(Refuse(Json(502, SERVICE_UNREACHABLE))),
    mutant("obeys-cache-status", "Answers 502 to a reply with Cache-Status.")
        .breaks("statement.status-and-reason-passed", "reply-framing")
        .when(ReplyHas("cache-status"))
        .answers(UNREACHABLE),
    mutant("hides-refusals-after-failures", "Answers 502 in place of a refusal after ten failures.")
        .breaks("statement.isolation", "no-recovery")
        .when(All(&[Relayed, ReplyIs(400, 599), Earlier(Same::Part, 10, &Unreachable)]))
        .answers(UNREACHABLE),
    mutant("fails-after-first-failure", "Answers 502 to every collection after the first failure.")
        .breaks("statement.recovery", "no-recovery")
        .when(All(&[Relayed, Earlier(Same::Part, 1, &Unreachable)]))
        .answers(UNREACHABLE),
    mutant("never-reconnects", "Opens only one connection to the service.")
        .breaks("statement.recovery", "no-recovery")
        .then(Upstream(|right| UpstreamOptions { reconnects: false, ..right })),
    mutant("passes-success-status", "Passes the service's 2xx status on.")
        .breaks("statement.other-success", "accepted-answer-wrong")
        .when(ReplyIs(200, 299))
        .answers(By(|seen, answer| Answer { status: seen.reply().0, ..answer })),
];
