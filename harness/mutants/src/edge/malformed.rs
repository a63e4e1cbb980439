//! Edges that write malformed HTTP, to the page or to the service, bodies that are not in the coding that they name, or what
//! answers must not show.

use std::time::Duration;

use edgeproof_edge::UpstreamOptions;

use super::prelude::*;
use crate::behaviour::{chunked, repeat_length};

const MALFORMED: &str = "statement.messages-well-formed";
const CAUSE: &str = "malformed-http";

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("length-twice", "Writes Content-Length twice.").breaks(MALFORMED, CAUSE).then(Raw(repeat_length)),
    mutant("length-and-coding", "Answers a collection with both Content-Length and Transfer-Encoding.")
        .breaks(MALFORMED, CAUSE)
        .when(Collection)
        .then(Raw(|answer| chunked(answer, true))),
    mutant("line-feeds", "Ends the lines of refusals with a line feed only.")
        .breaks(MALFORMED, CAUSE)
        .when(REFUSED)
        .then(Raw(|answer| answer.replace("\r\n", "\n"))),
    mutant("body-after-preflight", "Writes a body after the 204 of a preflight.")
        .breaks(MALFORMED, CAUSE)
        .when(All(&[PREFLIGHT, SUCCESS]))
        .then(Raw(|answer| format!("{answer}{{}}"))),
    mutant("line-end-after-body", "Writes a line end after the body of its own refusals.")
        .breaks(MALFORMED, CAUSE)
        .when(AnswerIs(405, 405))
        .then(Raw(|answer| format!("{answer}\r\n"))),
    mutant("length-of-preflight", "Announces a body with the 204 of a preflight.")
        .breaks("statement.messages-tidy", CAUSE)
        .should()
        .when(All(&[PREFLIGHT, SUCCESS]))
        .then(Raw(|answer| answer.replacen("\r\n", "\r\ncontent-length: 2\r\n", 1))),
    mutant("malformed-date", "Writes the date of its answers in another form.")
        .breaks("statement.messages-tidy", CAUSE)
        .should()
        .answers(SetHeader("date", "2026-11-26T23:26:08Z")),
    mutant("type-twice", "Writes Content-Type twice.")
        .breaks("statement.messages-tidy", CAUSE)
        .should()
        .when(REFUSED)
        .then(Raw(|answer| answer.replacen("\r\n", "\r\ncontent-type: application/json\r\n", 1))),
    mutant("answers-stack-traces", "Answers refusals with a stack trace in a header.")
        .breaks("statement.internals-not-answered", "internals-answered")
        .should()
        .when(REFUSED)
        .answers(SetHeader("x-error", "NotFound at route (/srv/edge/routes.js:31:9)")),
    mutant("names-source-lines", "Names a line of its source in a header of each answer.")
        .breaks("statement.internals-not-answered", "internals-answered")
        .should()
        .answers(SetHeader("x-error", "File \"/srv/edge.py\", line 31")),
    mutant("relays-length-twice", "Writes Content-Length to the service twice.")
        .breaks(MALFORMED, CAUSE)
        .then(Upstream(|options| raw(options, repeat_length))),
    mutant("relays-host-twice", "Writes its own Host and that of the page to the service.")
        .breaks(MALFORMED, CAUSE)
        .then(Upstream(|options| {
            raw(options, |head| head.replacen("\r\n", "\r\nhost: shop.example\r\n", 1))
        })),
    mutant("relays-line-feeds", "Ends the lines of its requests with a line feed only.")
        .breaks(MALFORMED, CAUSE)
        .then(Upstream(|options| raw(options, |head| head.replace("\r\n", "\n")))),
    mutant("relays-empty-line", "Writes an empty line after each collection.")
        .breaks("statement.messages-tidy", CAUSE)
        .should()
        .then(Upstream(|options| raw(options, |head| format!("\r\n{head}")))),
    mutant("names-gzip", "Names the coding gzip for a body that is not coded.")
        .breaks("edge.200.accepted", "answer-coding")
        .when(Any(&[SUCCESS, REFUSED]))
        .answers(SetHeader("content-encoding", "gzip")),
    mutant("relays-longer-length", "Announces a longer body to the service than it sends.")
        .breaks("statement.body-unchanged", "request-framing")
        .then(Upstream(|options| raw(options, longer_length)))
        .also(&[
            (Always, Start(|options, _| options.service_timeout = Duration::from_millis(500))),
            // The service notices the end of the request before the page has its answer.
            (Always, Delay(Duration::from_millis(200))),
        ]),
    mutant(
        "names-coding-of-refusals",
        "Copies the name of a coding to refusals without coding their bodies.",
    )
    .breaks("statement.status-and-reason-passed", "answer-coding")
    .when(REFUSED)
    .answers(SetHeader("content-encoding", "deflate")),
];

/// Options with HTTP/1.1 heads that are changed so.
fn raw(options: UpstreamOptions, raw_head: fn(&str) -> String) -> UpstreamOptions {
    UpstreamOptions { http2: false, raw_head: Some(raw_head), ..options }
}

/// A head with a length that is one byte too long.
fn longer_length(head: &str) -> String {
    let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with("content-length:"));
    let length = line.and_then(|line| line.split_once(':')?.1.trim().parse::<usize>().ok());
    let longer = |(line, length)| head.replacen(line, &format!("content-length: {}", length + 1), 1);
    line.zip(length).map_or(head.to_owned(), longer)
}
