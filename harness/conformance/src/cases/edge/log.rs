use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::credentials::Role;

use crate::cases::{
    Case, CaseContext, Catalog, DeferredLogCheck, LogCheck, MARKER, Prerequisite, collection,
};
use crate::judge;
use edgeproof_http::{Body, Draft};
use edgeproof_launch::LogLine;
use edgeproof_mock::{ListenerMode, Script};

/// How long a line is waited for after the answer it belongs to.
const LINE_LIMIT: Duration = Duration::from_millis(500);
/// Where the end user of the log cases connects from.
const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 83, 71, 59));

const STATUS: u16 = 403;
const REASON: &str = "edgeproof_logged";
/// The reason of the refusal after the one that counts: when its line is there, the first one's was written, and the edge
/// can be told to end.
const BARRIER: &str = "edgeproof_barrier";

/// What comes before the refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preceding {
    /// Nothing.
    Nothing,
    /// An acceptance, and a service that cannot be reached: an edge may write of these as well.
    Events,
}

/// What the edge writes about a refusal: one line with status and reason, nothing of the end user's (7.2).
pub(super) fn add(cases: &mut Catalog<'_>) {
    let needs = [Prerequisite::Service, Prerequisite::Log, Prerequisite::PlainReasons];
    case(
        cases,
        "statement.refusal-logged",
        "log.refusal",
        "a refusal writes one line with its status and its reason",
        Preceding::Nothing,
        |_| Arc::new(|lines| judge::one_refusal_line(STATUS, REASON, lines)),
    )
    .requires(&needs);
    case(
        cases,
        "statement.log-without-end-user-data",
        "log.end-user",
        "nothing of the end user's request is in the log",
        Preceding::Events,
        |context| {
            let canaries = canaries(context);
            Arc::new(move |lines| judge::log_without_values(&named(&canaries), lines))
        },
    )
    .requires(&[
        Prerequisite::Service,
        Prerequisite::Log,
        Prerequisite::PlainReasons,
        Prerequisite::LoopbackClients,
    ]);
    case(
        cases,
        "statement.secrets-not-logged",
        "log.license",
        "neither the license nor the client key is in the log",
        Preceding::Events,
        |context| {
            let redactor = Arc::clone(&context.edge.redactor);
            // What it wrote at its start counts as well.
            let before: Vec<String> =
                context.edge.log.iter().flat_map(|log| log.since(0)).map(|line| line.text).collect();
            Arc::new(move |lines| {
                judge::log_without_secrets(|bytes| redactor.finds(bytes), &[&before, lines].concat())
            })
        },
    )
    .requires(&needs);
}

fn case<'c>(
    cases: &'c mut Catalog<'_>,
    row: &str,
    id: &'static str,
    title: &str,
    preceding: Preceding,
    judge: fn(&CaseContext) -> LogCheck,
) -> &'c mut Case {
    let scripts = [cases.accept(), cases.refuse(STATUS, REASON), cases.refuse(STATUS, BARRIER)];
    cases
        .edge_steps(row, id, title, move |context| {
            let scripts = scripts.clone();
            Box::pin(async move {
                let judge = judge(context);
                write(context, preceding, scripts, judge).await;
            })
        })
        .exclusive()
}

/// Has two collections refused. The lines are judged after the edge's end: then those that it had in its buffers are there,
/// and one that is written a second time a little later does not escape.
async fn write(
    context: &mut CaseContext,
    preceding: Preceding,
    [accepted, refused, barrier]: [Script; 3],
    judge: LogCheck,
) {
    let Some(log) = context.edge.log.clone() else { return };
    let since = log.mark();
    let mut draft = collection();
    draft.from = context.edge.endpoint.is_loopback().then_some(CLIENT);
    draft.body = Body::Sized(format!(r#"{{"sealed":"body-{}"}}"#, MARKER).into());
    for (name, canary) in canaries(context) {
        match name {
            "user agent" => draft = draft.header("User-Agent", &canary),
            "cookie" => draft = draft.header("Cookie", &canary),
            "forwarded address" => draft = draft.header("X-Forwarded-For", &canary),
            _ => {}
        }
    }
    if preceding == Preceding::Events {
        context.script(accepted);
        context.send(&draft).await;
        if let Err(why) = without_service(context, &draft).await {
            context.found.not_run = Some(format!("the mock service cannot show this: {why}"));
            return;
        }
    }
    context.script(refused);
    context.send(&draft).await;
    context.script(barrier);
    context.send(&draft).await;
    let is_barrier = |line: &LogLine| judge::names_refusal(STATUS, BARRIER, &line.text);
    log.wait(since, LINE_LIMIT, |lines| lines.iter().any(is_barrier)).await;
    context.deferred = Some(DeferredLogCheck { since, check: judge });
}

/// Errors are where programs write most.
async fn without_service(context: &mut CaseContext, draft: &Draft) -> std::io::Result<()> {
    let Some(service) = context.edge.service.clone() else { return Ok(()) };
    service.set_mode(ListenerMode::Closes).await?;
    context.send(draft).await;
    service.set_mode(ListenerMode::Tls(Role::ServiceServer)).await
}

fn named<'a>(canaries: &'a [(&'static str, String)]) -> Vec<(&'static str, &'a str)> {
    canaries.iter().map(|(name, canary)| (*name, canary.as_str())).collect()
}

fn canaries(context: &CaseContext) -> Vec<(&'static str, String)> {
    let mark = &context.marker;
    vec![
        ("body", format!("body-{mark}")),
        ("user agent", format!("agent-{mark}")),
        ("cookie", format!("session=cookie-{mark}")),
        ("forwarded address", "198.51.100.83".into()),
        ("client address", CLIENT.to_string()),
    ]
}
