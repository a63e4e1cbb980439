//! Correct edges that pass with warnings or observations: where a standard says SHOULD, or where the HTTP stack acts in
//! place of the edge.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use edgeproof_edge::{EdgeAction, EdgeAnswer, EdgeFaultHooks, EdgeOptions, EdgeRequest, RelayResult};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_targets::{Embedded, FaultInjection, Target};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, StatusCode};
use rstest::rstest;
use serde_json::{Value, json};

use super::conformance_run::{CaseSelection, RunCredentials, ids, mismatches};

/// What a correct edge may do, and what it may not do although it is similar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leniency {
    /// The HTTP stack answers a broken body with JSON of its own, without CORS.
    StackAnswersBrokenBody,
    /// The HTTP stack answers a broken body with an acceptance.
    StackAcceptsBrokenBody,
    /// The web server answers a broken body as the interface says, without CORS.
    AnswersBrokenBodyWithoutCors,
    /// The HTTP stack closes the connection on TRACE.
    ClosesOnTrace,
    /// The HTTP stack answers TRACE with the request.
    EchoesTrace,
    /// Retries after a broken connection. Tells the page the outcome of an accepted attempt, or 502.
    RetriesTruthfully,
    /// Retries after a broken connection. Passes the refusal of the copy on.
    RetriesAndPassesRefusal,
    /// Passes every text without control characters on as the reason.
    PassesAnyText,
    /// Passes every text on as the reason.
    PassesLineBreaks,
    /// Relays the received part of a broken body, streaming.
    StreamsAndCompletes,
}

#[derive(Debug)]
struct LeniencyHooks {
    leniency: Leniency,
    /// The last collection was sent again.
    retried: AtomicBool,
}

const BROKEN_BODIES: &[&str] = &[
    "read-failed.broken-chunk-size",
    "read-failed.chunk-size.prefix",
    "read-failed.chunk-size.separator",
    "read-failed.chunk-size.sign",
    "read-failed.chunk-size.zero",
    "read-failed.early-chunk-end",
    "read-failed.early-chunk-end-after-json",
    "read-failed.early-large-chunk-end",
    "read-failed.short-body",
    "read-failed.short-body-of-json",
    "read-failed.short-large-body",
];
/// The same, and the monitor of acceptances.
const ACCEPTED_BODIES: &[&str] = &[
    "monitor.acceptances",
    "read-failed.broken-chunk-size",
    "read-failed.chunk-size.prefix",
    "read-failed.chunk-size.separator",
    "read-failed.chunk-size.sign",
    "read-failed.chunk-size.zero",
    "read-failed.early-chunk-end",
    "read-failed.early-chunk-end-after-json",
    "read-failed.early-large-chunk-end",
    "read-failed.short-body",
    "read-failed.short-body-of-json",
    "read-failed.short-large-body",
];
const RETRIES: &[&str] = &[
    "relay.once.to-the-end",
    "unreachable.closes-after-request",
    "unreachable.copy-refused",
    "unreachable.copy-refused-after-cut-head",
    "unreachable.garbage-after-request",
    "unreachable.reset",
    "unreachable.status-line-cut",
];

#[rstest]
#[case(Leniency::StackAnswersBrokenBody, BROKEN_BODIES, &[])]
#[case(Leniency::StackAcceptsBrokenBody, &[], ACCEPTED_BODIES)]
#[case(Leniency::StreamsAndCompletes, &[], BROKEN_BODIES)]
#[case(Leniency::AnswersBrokenBodyWithoutCors, &[], &[])]
#[case(Leniency::ClosesOnTrace, &["method.trace"], &[])]
#[case(Leniency::EchoesTrace, &[], &["method.trace"])]
#[case(Leniency::RetriesTruthfully, RETRIES, &[])]
#[case(Leniency::RetriesAndPassesRefusal, RETRIES, &["unreachable.copy-refused", "unreachable.copy-refused-after-cut-head"])]
#[case(Leniency::PassesAnyText, &[], &[])]
#[case(Leniency::PassesLineBreaks, &[], &["refusal.unknown.control"])]
#[tokio::test(flavor = "multi_thread")]
async fn lenient_edge_fails_only_for_wrong_answers(
    #[case] leniency: Leniency,
    #[case] warned: &[&str],
    #[case] failed: &[&str],
) {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let target = Embedded::new(Arc::clone(&spec), spec.profile().clone()).with_faults(Arc::new(leniency));
    let target = Target::Embedded(Box::new(target));
    let credentials = RunCredentials::new();
    let found = mismatches(&spec, &credentials, target, CaseSelection::StandardSetup, "edge").await;
    assert_eq!(ids(&found, "edge Fail "), failed, "{}", found.join("\n"));
    let warned: Vec<&str> = warned.iter().filter(|id| !failed.contains(id)).copied().collect();
    assert_eq!(ids(&found, "edge Warn "), warned, "{}", found.join("\n"));
    assert_eq!(found.len(), warned.len() + failed.len(), "{}", found.join("\n"));
}

impl FaultInjection for Leniency {
    fn edge(&self, options: &mut EdgeOptions) {
        options.hooks = Arc::new(LeniencyHooks { leniency: *self, retried: AtomicBool::new(false) });
    }
}

impl EdgeFaultHooks for LeniencyHooks {
    fn partial_body(&self, _request: &EdgeRequest<'_>, part: Bytes) -> Option<Bytes> {
        (self.leniency == Leniency::StreamsAndCompletes).then_some(part)
    }

    fn again(&self, request: &EdgeRequest<'_>, result: &RelayResult) -> bool {
        let retries =
            matches!(self.leniency, Leniency::RetriesTruthfully | Leniency::RetriesAndPassesRefusal);
        let again = retries && request.relays == 1 && *result == RelayResult::NoAnswer;
        self.retried.fetch_or(again, Ordering::Relaxed);
        again
    }

    fn conclude(
        &self,
        request: &EdgeRequest<'_>,
        result: Option<&RelayResult>,
        right: EdgeAnswer,
    ) -> EdgeAction {
        let broken = result == Some(&RelayResult::BodyBroken);
        let trace = request.facts.method == Method::TRACE;
        match self.leniency {
            Leniency::StackAnswersBrokenBody if broken => {
                own(400, r#"{"statusCode":400,"error":"Bad Request","message":"request aborted"}"#)
            }
            Leniency::StackAcceptsBrokenBody if broken => own(200, r#"{"ok":true}"#),
            Leniency::AnswersBrokenBodyWithoutCors if broken => own(400, r#"{"error":"read_failed"}"#),
            Leniency::ClosesOnTrace if trace => EdgeAction::Nothing,
            Leniency::EchoesTrace if trace => own(200, "TRACE /v1/signals HTTP/1.1"),
            Leniency::RetriesTruthfully
                if self.retried.swap(false, Ordering::Relaxed) && !right.status.is_success() =>
            {
                EdgeAction::Answer(EdgeAnswer {
                    status: StatusCode::BAD_GATEWAY,
                    body: Bytes::from_static(br#"{"error":"service_unreachable"}"#),
                    log: None,
                    ..right
                })
            }
            Leniency::PassesAnyText => passes_text(result, right, |text| !text.contains(char::is_control)),
            Leniency::PassesLineBreaks => passes_text(result, right, |_| true),
            _ => EdgeAction::Answer(right),
        }
    }
}

/// An answer of the HTTP stack.
fn own(status: u16, body: &'static str) -> EdgeAction {
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    let (status, body) = (StatusCode::from_u16(status).unwrap(), Bytes::from_static(body.as_bytes()));
    EdgeAction::Answer(EdgeAnswer { status, headers, body, log: None })
}

/// Answers with the reason of a refusal if it fits. Replaces invalid UTF-8, as many JSON parsers do.
fn passes_text(result: Option<&RelayResult>, right: EdgeAnswer, fits: impl Fn(&str) -> bool) -> EdgeAction {
    let Some(RelayResult::Answered { status, body: Some(reply), .. }) = result else {
        return EdgeAction::Answer(right);
    };
    let reply: Value = serde_json::from_str(&String::from_utf8_lossy(reply)).unwrap_or_default();
    let Some(reason) = reply.get("reason").and_then(Value::as_str).filter(|reason| fits(reason)) else {
        return EdgeAction::Answer(right);
    };
    let body = json!({"error": "service_rejected", "reason": reason, "status": status.as_u16()});
    let log = Some(format!("refused status={} reason={}", status.as_u16(), reason.escape_debug()));
    EdgeAction::Answer(EdgeAnswer { body: body.to_string().into(), log, ..right })
}
