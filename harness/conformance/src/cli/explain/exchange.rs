use edgeproof_fixtures::credentials::ALLOWED_ORIGIN;
use edgeproof_fixtures::spec::{Spec, Table};
use edgeproof_http::ServerAddress;
use edgeproof_mock::{Action, Script};
use edgeproof_reports::escape::one_line;
use futures_util::FutureExt;

use crate::cases::{Case, Conversation, ExpectedRelay, Procedure, Setup, fill};
use crate::judge::excerpt;
use crate::request_text::request_lines;

/// Address of the edge in examples.
const EDGE: &str = "http://127.0.0.1:8080";
/// Text in examples in place of the one that no other case sends.
const EXAMPLE: &str = "example1";
/// Conversations of one case that are shown.
const SHOWN: usize = 2;

/// An example exchange of a case in lines: request, reply of the service, expected answer.
pub(super) fn exchange(spec: &Spec, case: &Case) -> Vec<String> {
    let mut lines = Vec::new();
    if case.setup != Setup::Standard {
        lines.push(format!("an edge with {}", case.alone.unwrap_or(case.setup).describe()));
    }
    match &case.procedure {
        Procedure::Conversation(conversation) => push(&mut lines, conversation),
        Procedure::Conversations(all) => {
            for (name, conversation) in all.iter().take(SHOWN) {
                lines.push(format!("{name}:"));
                push(&mut lines, conversation);
            }
            if let more @ 1.. = all.len().saturating_sub(SHOWN) {
                lines.push(format!("and {more} more"));
            }
        }
        Procedure::Monitor(_) | Procedure::ServiceMonitor(_) | Procedure::CollectorMonitor(_) => {
            lines.push("none of its own: the case judges the exchanges of all other cases".to_owned());
            push_rows(&mut lines, spec, case);
        }
        Procedure::EdgeSteps(_) | Procedure::ServiceSteps(_) | Procedure::CollectorSteps(_) => {
            lines.push(format!("several steps: {}", case.title));
            push_rows(&mut lines, spec, case);
        }
    }
    lines
}

fn push(lines: &mut Vec<String>, conversation: &Conversation) {
    let draft = fill(&conversation.draft, EXAMPLE, ALLOWED_ORIGIN);
    lines.extend(request_lines(&address(), &draft));
    if let Some(script) =
        conversation.script.as_ref().filter(|_| conversation.relay != ExpectedRelay::Nothing)
    {
        lines.push(format!("the service {}", reply(script)));
    }
    match conversation.relay {
        ExpectedRelay::Once => lines.push("at the service: the request once, its body unchanged".to_owned()),
        ExpectedRelay::Nothing => lines.push("at the service: nothing".to_owned()),
        ExpectedRelay::Any => {}
    }
    if let Some(answer) = &conversation.answer {
        lines.push(format!("expected answer: {answer}"));
    }
    if conversation.readable.is_some() {
        lines.push(format!("the answer has Access-Control-Allow-Origin: {ALLOWED_ORIGIN}"));
    }
    if conversation.denied {
        lines.push("the answer grants nothing to the origin of the request".to_owned());
    }
    if conversation.content_type.is_some() {
        lines.push("the answer has Content-Type: application/json".to_owned());
    }
}

/// The answers in the rows of a case.
fn push_rows(lines: &mut Vec<String>, spec: &Spec, case: &Case) {
    for row in case.rows.iter().filter_map(|id| spec.row(id)) {
        let answer = match (row.status(), row.body()) {
            (Some(status), Some(body)) => format!("{status} {body}"),
            (Some(status), None) => status.to_string(),
            (None, Some(body)) => body.to_string(),
            (None, None) => continue,
        };
        let whose = if row.table == Table::Relay { "the service replies" } else { "expected answer:" };
        lines.push(format!("{whose} {answer} ({})", row.id));
    }
}

/// What the service does, in words.
fn reply(script: &Script) -> String {
    let replies: Vec<String> = script
        .replies
        .iter()
        .filter_map(|reply| Some((reply, action(&reply.action)?)))
        .map(|(reply, text)| {
            if reply.delay.is_zero() {
                text
            } else {
                format!("{text} after {}", humantime::format_duration(reply.delay))
            }
        })
        .collect();
    replies.join(", then ")
}

fn action(action: &Action) -> Option<String> {
    let with_body = |status: u16, body: &[u8]| {
        let body =
            if body.is_empty() { "without a body".to_owned() } else { one_line(&excerpt(body)).into_owned() };
        format!("replies {status} {body}")
    };
    Some(match action {
        Action::Pass | Action::Again => return None,
        Action::Decide => "decides by itself".to_owned(),
        Action::CutDecision { after } => format!("decides by itself, and breaks off after {after} bytes"),
        Action::Answer { status, body, .. } => with_body(*status, body),
        Action::Shaped(shaped) => with_body(shaped.status, &shaped.body),
        Action::RawBytes(_) => "sends bytes that are not an HTTP answer".to_owned(),
        Action::CutBody { status, after, .. } => {
            format!("replies {status}, and breaks off after {after} bytes of the body")
        }
        Action::CutHead => "breaks off within the head of its answer".to_owned(),
        Action::Close => "closes the connection without an answer".to_owned(),
        Action::Reset => "resets the connection".to_owned(),
        Action::Silence => "never answers".to_owned(),
    })
}

fn address() -> ServerAddress {
    let url = EDGE.parse().expect("the address is a URL");
    let resolved = ServerAddress::resolve(&url, None).now_or_never();
    resolved.and_then(Result::ok).expect("an IP address needs no resolver")
}
