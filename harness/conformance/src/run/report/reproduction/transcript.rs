use std::fmt::Write as _;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_reports::escape::visible;
use edgeproof_reports::{Exchange, Hop};
use http::{HeaderMap, Version};

use crate::cases::CaseExchange;
use edgeproof_http::{Answer, NoAnswer, Request};
use edgeproof_mock::{Arrival, ArrivalAnswer};

/// Longest excerpt body, in bytes.
const BODY_SHOWN: usize = 600;
/// Most excerpt header fields.
const HEADERS_SHOWN: usize = 40;
/// Longest excerpt header value, in characters.
const VALUE_SHOWN: usize = 600;
/// Most excerpt exchanges at the service.
const ARRIVALS_SHOWN: usize = 6;

/// The exchanges on all hops in order of time, as readable text: redacted, escaped and shortened.
pub(crate) fn exchanges(sent: &[CaseExchange], arrivals: &[Arrival], redactor: &Redactor) -> Vec<Exchange> {
    let clean = |text: String| redactor.redact(&text).into_owned();
    let at_target = sent.iter().map(|CaseExchange { hop, sent, .. }| {
        let response = sent.reply.as_ref().map_or_else(no_answer, answer);
        (sent.at, Exchange { hop: *hop, request: clean(request(&sent.request)), response: clean(response) })
    });
    let at_service = arrivals.iter().take(ARRIVALS_SHOWN).map(|arrival| {
        let exchange = Exchange {
            hop: Hop::EdgeService,
            request: clean(request(&arrival.request)),
            response: clean(service_answer(arrival.answer.as_ref())),
        };
        (arrival.at, exchange)
    });
    let mut all: Vec<_> = at_target.chain(at_service).collect();
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, exchange)| exchange).collect()
}

fn request(request: &Request) -> String {
    let mut text =
        format!("{} {} {}\n", visible(&request.method), visible(&request.target), version(request.version));
    push_headers(&mut text, &request.headers);
    push_body(&mut text, &request.body, request.complete);
    text
}

fn answer(answer: &Answer) -> String {
    let mut text = format!("{} {}\n", version(answer.version), answer.status);
    push_headers(&mut text, &answer.headers);
    push_body(&mut text, &answer.body, answer.complete);
    text
}

fn no_answer(why: &NoAnswer) -> String {
    format!("({})", visible(&why.to_string()))
}

fn service_answer(answer: Option<&ArrivalAnswer>) -> String {
    match answer {
        None => "(no answer yet)".into(),
        Some(ArrivalAnswer::Partial(word) | ArrivalAnswer::Other(word)) => format!("({word})"),
        Some(ArrivalAnswer::Answer { status, headers, body }) => {
            let mut text = format!("{status}\n");
            push_headers(&mut text, headers);
            push_body(&mut text, body, true);
            text
        }
    }
}

fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        _ => "HTTP/1.1",
    }
}

fn push_headers(text: &mut String, headers: &HeaderMap) {
    for (name, value) in headers.iter().take(HEADERS_SHOWN) {
        let value = String::from_utf8_lossy(value.as_bytes());
        let excerpt: String = value.chars().take(VALUE_SHOWN).collect();
        let more =
            if excerpt.len() < value.len() { format!("… ({} bytes)", value.len()) } else { String::new() };
        _ = writeln!(text, "{name}: {}{more}", visible(&excerpt));
    }
    if headers.len() > HEADERS_SHOWN {
        _ = writeln!(text, "… and {} more header fields", headers.len() - HEADERS_SHOWN);
    }
}

fn push_body(text: &mut String, body: &[u8], complete: bool) {
    if !body.is_empty() {
        let excerpt = String::from_utf8_lossy(&body[..body.len().min(BODY_SHOWN)]);
        _ = write!(text, "\n{}", visible(&excerpt));
    }
    if body.len() > BODY_SHOWN {
        _ = write!(text, "… ({} bytes)", body.len());
    }
    if !complete {
        text.push_str("\n(cut off)");
    }
    text.truncate(text.trim_end_matches('\n').len());
}
