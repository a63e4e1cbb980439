//! Services and key sets that write malformed HTTP.

use super::prelude::*;
use crate::behaviour::{chunked, repeat_length};

const MALFORMED: &str = "statement.messages-well-formed";

pub(super) const MUTANTS: &[Behaviour<ServiceEffect>] = &[
    mutant("refusals-with-line-feeds", "Ends the lines of refusals with a line feed only.")
        .breaks(MALFORMED, "malformed-verdict-answers")
        .when(REFUSED)
        .then(Raw(|answer| answer.replace("\r\n", "\n"))),
    mutant("pending-length-twice", "Writes the Content-Length of a pending answer twice.")
        .breaks(MALFORMED, "malformed-verdict-answers")
        .when(PENDING)
        .then(Raw(repeat_length)),
    mutant("chunks-for-http10", "Answers pending polls in chunks, also those of HTTP/1.0.")
        .breaks("verdict.404.pending", "malformed-verdict-answers")
        .when(All(&[PENDING, Http10]))
        .then(Raw(|answer| chunked(answer, false))),
    mutant("line-end-after-verdict", "Writes a line end after a verdict.")
        .breaks(MALFORMED, "malformed-verdict-answers")
        .when(AVAILABLE)
        .then(Raw(|answer| format!("{answer}\r\n"))),
    mutant("refusals-with-stack-traces", "Answers refusals with a stack trace in a header.")
        .breaks("statement.internals-not-answered", "verdict-internals-answered")
        .should()
        .when(REFUSED)
        .answers(SetHeader("x-error", "TokenError at verify (/srv/token.js:31:9)")),
    mutant("pending-with-stack-traces", "Answers pending polls with a stack trace in a header.")
        .breaks("statement.internals-not-answered", "verdict-internals-answered")
        .should()
        .when(PENDING)
        .answers(SetHeader("x-error", "at poll (/srv/poll.go:31)")),
    mutant("key-set-names-libraries", "Names a folder of libraries in the answers of the key set.")
        .breaks("statement.internals-not-answered", "keys-internals-answered")
        .should()
        .when(Endpoint(ServiceEndpoint::KeySet))
        .answers(SetHeader("x-error", "/srv/node_modules/jose/keys")),
    mutant("key-set-with-stack-traces", "Answers for the key set with a stack trace in a header.")
        .breaks("statement.internals-not-answered", "keys-internals-answered")
        .should()
        .when(Endpoint(ServiceEndpoint::KeySet))
        .answers(SetHeader("x-error", "KeyError at load (/srv/keys.js:31:9)")),
    mutant("key-set-tag-without-quotes", "Writes the ETag of the key set without quotes.")
        .breaks("statement.messages-tidy", "malformed-key-sets")
        .should()
        .when(All(&[Endpoint(ServiceEndpoint::KeySet), AnswerIs(200, 200)]))
        .answers(SetHeader("etag", "keys-1")),
    mutant("key-set-with-line-feeds", "Ends the lines of the key set's answers with a line feed only.")
        .breaks(MALFORMED, "malformed-key-sets")
        .when(Endpoint(ServiceEndpoint::KeySet))
        .then(Raw(|answer| answer.replace("\r\n", "\n"))),
    mutant("line-end-after-keys", "Writes a line end after the key set.")
        .breaks(MALFORMED, "malformed-key-sets")
        .when(All(&[Endpoint(ServiceEndpoint::KeySet), AnswerIs(200, 200)]))
        .then(Raw(|answer| format!("{answer}\r\n"))),
];
