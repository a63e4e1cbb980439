use edgeproof_fixtures::credentials::ALLOWED_ORIGIN;
use edgeproof_fixtures::spec::Spec;
use edgeproof_http::NoAnswer;
use edgeproof_mock::{Action, Script};
use edgeproof_reports::escape::one_line;
use futures_util::future::BoxFuture;

use crate::cases::{Conversation, EdgeCaseContext, EdgeRule, EdgeTarget, Exchange, ExpectedRelay, fill};
use crate::judge::excerpt;
use crate::request_text::{example_address, request_lines};

/// Address of the edge in examples.
const EDGE: &str = "http://127.0.0.1:8080";
/// Number of exchanges after which an edge has to have connected to a service whose listener changed its mode.
const TRIES: usize = 3;
const NOT_TRIED: &str =
    "the edge did not connect to the service, so its answer proves nothing about the service's listener";
/// Text in examples in place of the one that no other case sends.
const EXAMPLE: &str = "example1";

impl Exchange<EdgeTarget> for Conversation {
    fn play<'a>(&'a self, context: &'a mut EdgeCaseContext) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            for _ in 0..TRIES {
                if context.new_connections().is_some() {
                    context.mark_connections();
                }
                let sent = context.converse(self).await;
                if matches!(sent.reply, Err(NoAnswer::TimedOut(_))) {
                    return false;
                }
                // The end of a kept connection explains an answer without the service as well as the service's listener.
                let is_right = context.found.checks.iter().all(|check| check.ok);
                if !is_right || context.new_connections() != Some(0) {
                    return true;
                }
            }
            context.found.not_run = Some(NOT_TRIED.to_owned());
            true
        })
    }

    fn points(&self, case: &str) -> Vec<String> {
        let point = |rule: &EdgeRule| match rule {
            EdgeRule::Observe(_, point) => Some(point.unwrap_or(case).to_owned()),
            _ => None,
        };
        self.rules.iter().filter_map(point).collect()
    }

    fn describe(&self, spec: &Spec) -> Vec<String> {
        let mut lines = Vec::new();
        let draft = fill(&self.draft, spec, EXAMPLE, ALLOWED_ORIGIN);
        lines.extend(request_lines(&example_address(EDGE), &draft));
        if let Some(script) = self.script.as_ref().filter(|_| self.relay != ExpectedRelay::Nothing) {
            lines.push(format!("the service {}", reply(script)));
        }
        match self.relay {
            ExpectedRelay::Once => {
                lines.push("at the service: the request once, its body unchanged".to_owned());
            }
            ExpectedRelay::Nothing => lines.push("at the service: nothing".to_owned()),
            ExpectedRelay::Any => {}
        }
        if let Some(answer) = &self.answer {
            lines.push(format!("expected answer: {answer}"));
        }
        if self.readable.is_some() {
            let origin = draft.header_value("origin").unwrap_or(ALLOWED_ORIGIN);
            lines.push(format!("the answer has Access-Control-Allow-Origin: {origin}"));
        }
        if self.denied {
            lines.push("the answer grants nothing to the origin of the request".to_owned());
        }
        if self.content_type.is_some() {
            lines.push("the answer has Content-Type: application/json".to_owned());
        }
        lines.extend(self.rules.iter().filter_map(EdgeRule::describe));
        lines
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
