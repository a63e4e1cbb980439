//! Edges that relay a collection too often, in part, or not at all.

use bytes::Bytes;

use super::prelude::*;

/// Answers after which an HTTP client may send a request again.
const REPEATABLE: Condition = Any(&[ReplyIs(408, 408), ReplyIs(421, 421)]);

/// The framing of bodies that the cases cut off.
const CUT_OFF: Condition = Any(&[
    Header("content-length", "500"),
    Header("content-length", "300000"),
    All(&[Has("transfer-encoding"), Not(&BodyIsJson)]),
]);

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("sends-twice", "Relays each collection twice.")
        .breaks("statement.relayed-once", "relayed-twice")
        .also_late()
        .then(RelayAgain),
    mutant("retries-after-broken-connection", "Retries after a broken connection.")
        .breaks("statement.no-retry", "retried")
        .when(Unreachable)
        .then(RelayAgain),
    mutant(
        "passes-copy-refused",
        "Retries after a broken connection, and passes the refusal of the copy on.",
    )
    .breaks("statement.retry-told-truth", "retried")
    .when(Unreachable)
    .then(RelayAgain),
    mutant(
        "hides-retry",
        "Retries after a broken connection, and answers 502 although the retry was accepted.",
    )
    .breaks("statement.retry-told-truth", "retried")
    .when(Unreachable)
    .then(RelayAgain)
    .also(&[(Relays(2), Answering(UNREACHABLE))]),
    mutant("tells-of-the-copy", "Relays each collection twice, and passes the outcome of the copy on.")
        .breaks("statement.retry-told-truth", "retried")
        .then(RelayAgain),
    mutant("retries-409", "Retries after a 409.")
        .breaks("statement.relayed-once", "retried")
        .when(ReplyIs(409, 409))
        .then(RelayAgain),
    mutant("retries-401", "Retries after a 401.")
        .breaks("statement.relayed-once", "retried")
        .when(ReplyIs(401, 401))
        .then(RelayAgain),
    mutant("retries-503", "Retries after a 503.")
        .breaks("statement.relayed-once", "retried")
        .when(ReplyIs(503, 503))
        .then(RelayAgain),
    mutant("retries-417", "Retries after a 417, although it sends no Expect.")
        .breaks("statement.relayed-once", "retried")
        .when(ReplyIs(417, 417))
        .then(RelayAgain),
    mutant("hides-repeat", "Retries after a 408 or 421, and answers 502 although the retry was accepted.")
        .breaks("statement.retry-told-truth", "retried")
        .when(REPEATABLE)
        .then(RelayAgain)
        .also(&[(Relays(2), Answering(UNREACHABLE))]),
    mutant("relays-again-later", "Relays each collection again before the next one.")
        .breaks("statement.relayed-once", "relayed-twice")
        .then(RelayFirst((Same::Part, &Relayed))),
    mutant("relays-nothing", "Accepts without relaying.")
        .breaks("statement.body-unchanged", "accepted-without-service")
        .also_late()
        .when(Collection)
        .then(Instead(Json(200, OK))),
    mutant("relays-partial-body", "Relays the received part of a broken body.")
        .breaks("statement.nothing-partial-relayed", "partial-relayed")
        .then(Partial(|part| part)),
    mutant("relays-part-and-refuses", "Relays the received part of a broken body, and answers read_failed.")
        .breaks("statement.nothing-partial-relayed", "partial-relayed")
        .then(Partial(|part| part))
        .also(&[(CUT_OFF, Answering(Becomes(Json(400, r#"{"error":"read_failed"}"#))))]),
    mutant("empties-partial-body", "Relays an empty body in place of a broken one.")
        .breaks("statement.nothing-partial-relayed", "partial-relayed")
        .then(Partial(|_| Bytes::new())),
    mutant("halves-chunked-body", "Relays the first half of a chunked body.")
        .breaks("statement.nothing-partial-relayed", "request-framing")
        .when(Has("transfer-encoding"))
        .then(Body(|body| body[..body.len() / 2].to_vec())),
];
