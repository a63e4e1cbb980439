use std::fmt::Write as _;

use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_http::Draft;
use edgeproof_mock::{Action, Reply, Script};
use memchr::memmem;

use super::pool::EdgeInstance;
use crate::cases::{
    Case, Conversation, Edge, EdgeCaseContext, ExpectedRelay, MARKER, Procedure, fill, next_marker,
};
use crate::request_text::request_lines;

/// Requests of one case that a text shows.
const SHOWN: usize = 8;

/// How a user calls an edge by hand for a case.
pub(super) struct Call {
    /// Address, settings and requests of the edge in lines. Not redacted.
    pub(super) text: String,
    /// The requests that the text shows, and those that it leaves out.
    pub(super) requests: Vec<CallRequest>,
}

/// A request of a case, for which the mock service is ready.
pub(super) struct CallRequest {
    /// The request, with its placeholders filled in.
    pub(super) draft: Draft,
    /// What reaches the service.
    pub(super) relay: ExpectedRelay,
}

impl Call {
    /// Describes how to call an edge, and prepares the mock service for the requests of the case.
    pub(super) fn new(case: &Case<Edge>, instance: &EdgeInstance, edge: &mut EdgeCaseContext) -> Self {
        let mut text = format!("edge: {}", edge.target.endpoint.url());
        if let Some(pid) = instance.edge.pid() {
            _ = write!(text, ", process {pid}");
        }
        if let Some(service) = &edge.target.service {
            _ = write!(text, "\nservice: {}", service.url());
        }
        for setting in instance.settings.as_ref().map(EdgeSettings::redacted).unwrap_or_default() {
            _ = write!(text, "\n  {setting}");
        }
        let requests = match &case.procedure {
            Procedure::Exchange(conversation) => vec![one(&mut text, conversation, edge)],
            Procedure::Exchanges(all) => each(&mut text, all, edge),
            Procedure::Steps(_) | Procedure::Monitor(_) => Vec::new(),
        };
        Self { text, requests }
    }
}

/// One request. The service replies to it in the same way each time.
fn one(text: &mut String, conversation: &Conversation, edge: &mut EdgeCaseContext) -> CallRequest {
    edge.script(repeated(conversation));
    let draft = edge.fill(&conversation.draft);
    text.push_str("\nthe service is ready for:");
    push_lines(text, 2, &request_lines(&edge.target.endpoint, &draft));
    push_expected(text, 0, conversation);
    CallRequest { draft, relay: conversation.relay }
}

/// Several requests, each with a marker of its own, so that the service tells them apart.
fn each(text: &mut String, all: &[(String, Conversation)], edge: &mut EdgeCaseContext) -> Vec<CallRequest> {
    text.push_str("\nthe service is ready for each of:");
    let mut requests = Vec::new();
    for (name, conversation) in all {
        let marker = next_marker();
        if memmem::find(conversation.draft.body.bytes(), MARKER.as_bytes()).is_some() {
            edge.script_on(&marker, repeated(conversation));
        }
        let draft = fill(&conversation.draft, &edge.target.spec, &marker, edge.origin());
        if requests.len() < SHOWN {
            _ = write!(text, "\n  {name}");
            push_lines(text, 4, &request_lines(&edge.target.endpoint, &draft));
            push_expected(text, 4, conversation);
        }
        requests.push(CallRequest { draft, relay: conversation.relay });
    }
    if let more @ 1.. = all.len().saturating_sub(SHOWN) {
        _ = write!(text, "\n  and {more} more");
    }
    requests
}

/// The script of a conversation, from its beginning after its end: a user can send the request several times.
fn repeated(conversation: &Conversation) -> Script {
    let mut script = conversation.script.clone().unwrap_or_else(Script::decide);
    if script.replies.len() > 1 {
        script.replies.push(Reply::now(Action::Again));
    }
    script
}

fn push_lines(text: &mut String, indent: usize, lines: &[String]) {
    for line in lines {
        _ = write!(text, "\n{:indent$}{line}", "");
    }
}

fn push_expected(text: &mut String, indent: usize, conversation: &Conversation) {
    if let Some(answer) = &conversation.answer {
        _ = write!(text, "\n{:indent$}expected answer: {answer}", "");
    }
    if conversation.relay == ExpectedRelay::Nothing {
        _ = write!(text, "\n{:indent$}expected at the service: nothing", "");
    }
}
