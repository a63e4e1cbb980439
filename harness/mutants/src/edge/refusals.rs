//! Edges that answer something else than the service's refusal.

use serde_json::{Value, json};

use edgeproof_edge::RelayResult;
use http::header::{HeaderName, TRANSFER_ENCODING};

use super::prelude::*;
use crate::behaviour::{Seen, express};

/// The body of the service's reply.
const PASSED: Change = By(|seen, answer| Answer { body: seen.reply().1, ..answer });
/// Answers without a usable reason of the service.
const UNKNOWN: Condition = All(&[REFUSED, Reason("unknown")]);

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("copies-reply-headers", "Copies the header fields of the reply to its own answer.")
        .breaks("statement.status-and-reason-passed", "reply-form")
        .should()
        .when(Relayed)
        .answers(By(|seen, mut answer| {
            let Some(RelayResult::Answered { headers, .. }) = seen.relayed else { return answer };
            let of_body =
                |name: &&HeaderName| !name.as_str().starts_with("content-") && *name != TRANSFER_ENCODING;
            for name in headers.keys().filter(of_body) {
                let value = headers[name].clone();
                answer.headers.entry(name).or_insert(value);
            }
            answer
        })),
    mutant("accepts-redirects", "Tells the page of an acceptance when the service redirects.")
        .breaks("statement.license-not-redirected", "accepted-without-service")
        .when(All(&[Relayed, ReplyIs(300, 399)]))
        .answers(Rewritten(200, OK)),
    mutant("swaps-answers", "Swaps the answers of concurrent collections.")
        .breaks("statement.isolation", "answers-mixed")
        .when(All(&[Relayed, UnderWay(2)]))
        .answers(Repeats(Which::Last, (Same::Part, &Relayed))),
    mutant("repeats-first-answer", "Repeats the first answer of a connection on all its requests.")
        .breaks("statement.isolation", "state-kept")
        .when(Relayed)
        .answers(Repeats(Which::First, (Same::Connection, &Relayed))),
    mutant("stops-asking-after-refusals", "Answers 502 without relaying after 20 refusals with 503.")
        .breaks("statement.isolation", "no-recovery")
        .when(All(&[Collection, Earlier(Same::Part, 20, &ReplyIs(503, 503))]))
        .then(Refuse(Json(502, SERVICE_UNREACHABLE))),
    mutant("remembers-refusals", "Repeats a refusal without asking the service again.")
        .breaks("statement.isolation", "state-kept")
        .when(Earlier(Same::Part, 1, &ReplyIs(401, 401)))
        .then(Instead(Json(401, r#"{"error":"service_rejected","reason":"expired","status":401}"#))),
    mutant("refuses-when-busy", "Answers 503 while 12 collections are under way.")
        .breaks("statement.isolation", "rate-limited")
        .when(All(&[Collection, UnderWay(12)]))
        .then(Instead(Json(503, r#"{"error":"busy"}"#))),
    mutant("stops-after-acceptances", "Answers 502 after 130 acceptances.")
        .breaks("statement.isolation", "no-recovery")
        .when(All(&[Relayed, Earlier(Same::Part, 130, &ReplyIs(200, 299))]))
        .answers(UNREACHABLE),
    mutant("leaves-trailers", "Answers 400 to a request after one with trailer fields on its connection.")
        .breaks("statement.isolation", "request-framing")
        .should()
        .when(Earlier(Same::Connection, 1, &Has("trailer")))
        .then(Instead(Json(400, r#"{"error":"bad_request"}"#))),
    mutant("leaves-replies", "Answers 502 to a collection after a reply that it does not read to its end.")
        .breaks("statement.isolation", "no-recovery")
        .when(All(&[Collection, Earlier(Same::Part, 1, &UNKNOWN)]))
        .then(Refuse(Json(502, SERVICE_UNREACHABLE))),
    mutant("hides-5xx", "Answers 502 to refusals with a 5xx status.")
        .breaks("edge.refused", "status-replaced")
        .when(ReplyIs(500, 999))
        .answers(UNREACHABLE),
    mutant("hides-unlisted-status", "Answers 500 to refusals with a status outside the tables.")
        .breaks("edge.refused", "status-replaced")
        .when(All(&[REFUSED, UnlistedStatus]))
        .answers(Status(500)),
    mutant(
        "throws-express-page",
        "Answers refusals with the page of Express, because its HTTP client throws.",
    )
    .breaks("edge.refused", "status-replaced")
    .when(REFUSED)
    .answers(Becomes(Made(|seen| {
        express(500, &format!("AxiosError: Request failed with status code {}", seen.reply().0))
    }))),
    // The server of an ASGI application answers exceptions outside the CORS middleware.
    mutant(
        "throws-server-error",
        "Answers refusals with 500 in text, because its HTTP client raises an exception.",
    )
    .breaks("edge.refused", "status-replaced")
    .when(REFUSED)
    .answers(Replaced(Text(500, "Internal Server Error"))),
    mutant(
        "throws-spring-error",
        "Answers refusals with the error of Spring, because its HTTP client throws.",
    )
    .breaks("edge.refused", "status-replaced")
    .when(REFUSED)
    .answers(Becomes(Spring(500))),
    mutant(
        "throws-unreachable",
        "Answers refusals with service_unreachable, because its HTTP client throws.",
    )
    .breaks("edge.refused", "status-replaced")
    .when(REFUSED)
    .answers(UNREACHABLE),
    mutant(
        "throws-on-5xx",
        "Answers service_unreachable to refusals with a 5xx status, because its HTTP client throws.",
    )
    .breaks("edge.refused", "status-replaced")
    .when(ReplyIs(500, 999))
    .answers(UNREACHABLE),
    mutant("hides-unlisted-reason", "Replaces reasons outside the tables with unknown.")
        .breaks("statement.status-and-reason-passed", "reason-lost")
        .when(UnlistedReason)
        .answers(SetMember("reason", |_| json!("unknown"))),
    mutant("first-status-of-a-reason", "Answers with the first status listed for the reason.")
        .breaks("statement.401-or-400", "status-by-reason")
        .answers(By(|seen, answer| {
            let status = seen.setup.statuses(&answer.reason().unwrap_or_default()).next();
            with_status(answer, status)
        })),
    mutant("last-status-of-a-reason", "Answers with the last status listed for the reason.")
        .breaks("statement.401-or-400", "status-by-reason")
        .answers(By(|seen, answer| {
            let status = seen.setup.statuses(&answer.reason().unwrap_or_default()).next_back();
            with_status(answer, status)
        })),
    mutant("passes-body", "Passes the service's body on.")
        .breaks("edge.refused", "service-body-passed")
        .when(REFUSED)
        .answers(PASSED),
    mutant("passes-body-as-page", "Passes the service's body on as HTML.")
        .breaks("edge.refused", "service-body-passed")
        .when(REFUSED)
        .answers(Each(&[SetHeader("content-type", "text/html; charset=utf-8"), PASSED])),
    mutant("passes-text-as-reason", "Passes text that is no plain reason on as the reason.")
        .breaks("edge.refused.unknown", "reason-unchecked")
        .when(UNKNOWN)
        .answers(SetMember("reason", |seen| {
            given_reason(seen).filter(Value::is_string).unwrap_or_else(|| json!(reply_text(seen)))
        })),
    mutant("breaks-reason", "Passes long and invalid text on with a line break.")
        .breaks("statement.reason-one-line", "reason-unchecked")
        .when(UNKNOWN)
        .answers(SetMember("reason", |seen| json!(reply_text(seen) + "\n"))),
    mutant("passes-values-as-reason", "Passes numbers, null and objects on as the reason.")
        .breaks("edge.refused.unknown", "reason-unchecked")
        .when(UNKNOWN)
        .answers(By(|seen, answer| match given_reason(seen) {
            Some(given) if !given.is_string() => answer.with_member("reason", given),
            _ => answer,
        })),
    mutant("reports-unreachable-service", "Answers refusals without a reason with service_unreachable.")
        .breaks("edge.refused.unknown", "unreadable-refusal")
        .when(UNKNOWN)
        .answers(UNREACHABLE),
];

/// Value of the member `reason` in the service's reply.
fn given_reason(seen: &Seen<'_>) -> Option<Value> {
    serde_json::from_slice::<Value>(&seen.reply().1).ok()?.get("reason").cloned()
}

fn reply_text(seen: &Seen<'_>) -> String {
    String::from_utf8_lossy(&seen.reply().1).into_owned()
}

fn with_status(answer: Answer, status: Option<u16>) -> Answer {
    let Some(status) = status else { return answer };
    Answer { status, ..answer }.with_member("status", status)
}
