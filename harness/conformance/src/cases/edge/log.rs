use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::credentials::Role;

use crate::cases::{
    Case, CaseList, DeferredLogCheck, Edge, EdgeCaseContext, EdgeNeed, LogCheck, MARKER, SIGNALS, collection,
};
use crate::judge;
use edgeproof_http::{Body, Draft};
use edgeproof_launch::LogLine;
use edgeproof_mock::{Action, ListenerMode, Script};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::UserDatum;
use serde_json::json;

/// Timeout of a log line, after the answer.
const LINE_LIMIT: Duration = Duration::from_millis(500);
/// Address of the end user in the log cases.
const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 83, 71, 59));

const STATUS: u16 = 403;
const REASON: &str = "edgeproof_logged";
/// The second line of a reason.
const FORGED: &str = "403 edgeproof_forged";
/// The second line of a text of a visitor, without spaces.
const FORGED_BY_VISITOR: &str = "403:edgeproof_visitor";
/// Reason of a second refusal. Its log line proves that the edge has written the line of the first one, so the edge can
/// be stopped.
const BARRIER: &str = "edgeproof_barrier";

/// Requests before the refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preceding {
    /// None.
    Nothing,
    /// A refusal of each row, an accepted collection and an unreachable service, because an edge may log each in its own way.
    Events,
    /// Refusals whose reason contains a line break.
    Forged,
    /// Requests whose target and header fields contain line breaks, in forms that HTTP allows.
    Visitors,
}

/// The edge logs a refusal in one line with status and reason, without end-user data (7.2).
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    let needs = [EdgeNeed::Service, EdgeNeed::Log, EdgeNeed::PlainReasons];
    case(
        cases,
        "statement.refusal-logged",
        "log.refusal",
        "the edge logs a refusal in one line with its status and its reason",
        Preceding::Nothing,
        |_| Arc::new(|lines| judge::one_refusal_line(STATUS, REASON, lines)),
    )
    .requires(&needs);
    case(
        cases,
        "statement.refusal-logged",
        "log.forged",
        "a reason with line breaks forges no line of the log",
        Preceding::Forged,
        |_| Arc::new(|lines| judge::no_forged_line(STATUS, FORGED, lines)),
    )
    .requires(&needs);
    case(
        cases,
        "statement.refusal-logged",
        "log.forged-by-visitors",
        "a request target and header fields with encoded line breaks forge no line of the log",
        Preceding::Visitors,
        |_| Arc::new(|lines| judge::no_forged_line(STATUS, FORGED_BY_VISITOR, lines)),
    )
    .requires(&needs);
    case(
        cases,
        "statement.log-without-end-user-data",
        "log.end-user",
        "the log contains no end-user data",
        Preceding::Events,
        |context| {
            let canaries = canaries(context);
            Arc::new(move |lines| judge::log_without_values(&canaries, lines))
        },
    )
    .requires(&[EdgeNeed::Service, EdgeNeed::Log, EdgeNeed::PlainReasons, EdgeNeed::LoopbackClients]);
    case(
        cases,
        "statement.secrets-not-logged",
        "log.license",
        "the log contains neither the license nor the client key",
        Preceding::Events,
        |context| {
            let redactor = Arc::clone(&context.target.redactor);
            // Lines from the edge's start count too.
            let before: Vec<String> =
                context.target.log.iter().flat_map(|log| log.since(0)).map(|line| line.text).collect();
            Arc::new(move |lines| {
                judge::log_without_secrets(|bytes| redactor.finds(bytes), &[&before, lines].concat())
            })
        },
    )
    .requires(&needs);
}

fn case<'c>(
    cases: &'c mut CaseList<'_, Edge>,
    row: &str,
    id: &'static str,
    title: &str,
    preceding: Preceding,
    judge: fn(&EdgeCaseContext) -> LogCheck,
) -> &'c mut Case<Edge> {
    let rows = cases.relay_rows().into_iter();
    let refusals: Vec<Script> = rows.map(|(_, status, code)| cases.refuse(status, code)).collect();
    let scripts = [cases.accept(), cases.refuse(STATUS, REASON), cases.refuse(STATUS, BARRIER)];
    cases
        .case(row, id, title)
        .steps(steps!(with(refusals, scripts), async |context| {
            let judge = judge(context);
            post_refused(context, preceding, refusals, scripts, judge).await;
        }))
        .exclusive()
}

/// Posts collections that the service refuses. The lines are checked after the edge has ended, so that buffered and late
/// duplicate lines count.
async fn post_refused(
    context: &mut EdgeCaseContext,
    preceding: Preceding,
    refusals: Vec<Script>,
    [accepted, refused, barrier]: [Script; 3],
    judge: LogCheck,
) {
    let Some(log) = context.target.log.clone() else { return };
    let since = log.mark();
    let mut draft = collection();
    draft.from = context.target.endpoint.is_loopback().then_some(CLIENT);
    draft.body = Body::Sized(format!(r#"{{"sealed":"body-{MARKER}"}}"#).into());
    for (datum, canary) in canaries(context) {
        match datum {
            UserDatum::UserAgent => draft = draft.header("User-Agent", &canary),
            UserDatum::Cookie => draft = draft.header("Cookie", &canary),
            UserDatum::ForwardedAddress => draft = draft.header("X-Forwarded-For", &canary),
            UserDatum::Body | UserDatum::ClientAddress | UserDatum::PageAddress | UserDatum::Query => {}
        }
    }
    if preceding == Preceding::Events {
        for refusal in refusals {
            context.script(refusal);
            context.send(&draft).await;
        }
        context.script(accepted.clone());
        context.send(&draft).await;
        if !context.set_listener(ListenerMode::Closes).await {
            return;
        }
        // Programs log errors in most detail.
        context.send(&draft).await;
        if !context.set_listener(ListenerMode::Tls(Role::ServiceServer)).await {
            return;
        }
    }
    if preceding == Preceding::Forged {
        for line_end in ["\n", "\r\n", "\r", "\u{2028}", "\u{85}"] {
            let reason = format!("edgeproof{line_end}{FORGED}");
            let body = json!({"error": reason, "reason": reason}).to_string().into();
            let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
            context.script(Script::one(Action::Answer { status: STATUS, headers, body }));
            context.send(&draft).await;
        }
    }
    if preceding == Preceding::Visitors {
        context.script(accepted);
        for line_end in ["%0A", "%0d%0a", "%E2%80%A8", "\u{85}", "\\n"] {
            let text = format!("edgeproof{line_end}{FORGED_BY_VISITOR}");
            // Servers refuse other letters in a target.
            let path =
                if line_end.starts_with('%') { format!("/{text}?{text}") } else { "/edgeproof".into() };
            let fields = ["User-Agent", "Referer", "Cookie", "X-Forwarded-For", "X-Request-Id"];
            let visitor =
                fields.into_iter().fold(Draft::new("GET", &path), |draft, name| draft.header(name, &text));
            let posted = Draft { method: "POST".to_owned(), path: SIGNALS.to_owned(), ..visitor.clone() };
            let posted = posted.body(collection().body);
            // An edge can refuse an origin before it does anything else.
            let foreign = Draft::new("GET", "/edgeproof").header("Origin", &text);
            for visitor in [visitor, posted, foreign] {
                let visitor = context.fill(&visitor);
                context.exchange_as(&context.marker, CaseLevel::Open, &visitor, context.timeout).await;
            }
        }
    }
    context.script(refused);
    context.send(&draft).await;
    context.script(barrier);
    context.send(&draft).await;
    let is_barrier = |line: &LogLine| judge::names_refusal(STATUS, BARRIER, &line.text);
    log.wait(since, LINE_LIMIT, |lines| lines.iter().any(is_barrier)).await;
    context.state.deferred = Some(DeferredLogCheck { since, check: judge });
}

/// End-user data of the case's requests, named for reports.
fn canaries(context: &EdgeCaseContext) -> Vec<(UserDatum, String)> {
    let mark = &context.marker;
    vec![
        (UserDatum::Body, format!("body-{mark}")),
        (UserDatum::UserAgent, format!("agent-{mark}")),
        (UserDatum::Cookie, format!("session=cookie-{mark}")),
        (UserDatum::ForwardedAddress, "198.51.100.83".into()),
        (UserDatum::ClientAddress, CLIENT.to_string()),
    ]
}
