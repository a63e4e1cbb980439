//! Services that answer with the verdict of another session, without the verdict, or with too much about a session.

use std::time::Duration;

use edgeproof_mock::SessionFact;

use super::prelude::*;

const OTHER_LICENSE: Condition = Stimulus(&[S::ReferenceOtherLicense]);
const REPLAYED: Condition =
    All(&[Endpoint(ServiceEndpoint::Relay), Stimulus(&[S::Replayed, S::ReplayedElsewhere])]);
/// Answers that no verdict is available.
const LOSE_VERDICT: Change = Replaced(Made(|seen| pending(seen.reference)));

pub(super) const MUTANTS: &[Behaviour<ServiceEffect>] = &[
    mutant("reveals-why-pending", "Returns the cause of a pending verdict in a header.")
        .breaks("statement.no-oracle", "session-revealed")
        .when(PENDING)
        .answers(By(|seen, answer| answer.with("x-reason", seen.stimulus.map_or("", S::name)))),
    mutant("forbids-other-license", "Answers 403 to a session of another license.")
        .breaks("statement.no-oracle", "session-revealed")
        .when(All(&[VERDICT, OTHER_LICENSE]))
        .answers(Replaced(Json(403, r#"{"error":"forbidden"}"#))),
    mutant("returns-verdicts-of-other-licenses", "Returns verdicts of other licenses.")
        .breaks("verdict.404.pending", "verdict-of-other-session")
        .when(OTHER_LICENSE)
        .then(Session(invented)),
    mutant("pending-is-200", "Answers 200 to a pending verdict.")
        .breaks("verdict.404.pending", "pending-answer-wrong")
        .also_late()
        .when(PENDING)
        .answers(Status(200)),
    mutant("pending-without-reference", "Omits the reference of a pending verdict.")
        .breaks("verdict.404.pending", "pending-answer-wrong")
        .also_late()
        .when(PENDING)
        .answers(RemoveMember("ref")),
    mutant("pending-page", "Answers a pending verdict with the 404 page of the framework.")
        .breaks("verdict.404.pending", "pending-answer-wrong")
        .when(PENDING)
        .answers(Typed("text/html", "<!doctype html><title>404 Not Found</title>")),
    mutant("pending-detail", "Answers a pending verdict with the 404 of FastAPI.")
        .breaks("verdict.404.pending", "pending-answer-wrong")
        .when(PENDING)
        .answers(Content(r#"{"detail":"Not Found"}"#)),
    mutant("pending-is-204", "Answers a pending verdict with 204.")
        .breaks("verdict.404.pending", "pending-answer-wrong")
        .when(PENDING)
        .answers(Each(&[Status(204), Content("")])),
    mutant("verdict-for-every-reference", "Returns a verdict for every reference.")
        .breaks("statement.verdict-after-acceptance", "verdict-of-other-session")
        .when(Not(&Stimulus(&[S::VerdictReady])))
        .then(Session(invented)),
    mutant("no-verdict-for-any-reference", "Returns no verdict.")
        .breaks("statement.verdict-after-acceptance", "verdict-lost")
        .when(Stimulus(&[S::VerdictReady]))
        .then(Session(|_| SessionFact::Unknown)),
    mutant("verdict-of-another-session", "Returns the verdict of another session.")
        .breaks("statement.verdict-after-acceptance", "verdict-of-other-session")
        .when(AVAILABLE)
        .answers(SetMember("ref", |_| json!("another"))),
    mutant("keeps-old-verdicts", "Returns verdicts of any age.")
        .breaks("limit.verdict-age", "verdict-kept")
        .then(VerdictLasts(|_| Duration::MAX)),
    mutant("keeps-verdicts-for-four-minutes", "Returns verdicts for four minutes.")
        .breaks("limit.verdict-age", "verdict-kept")
        .then(VerdictLasts(|right| right * 2)),
    mutant("tokens-for-a-century", "Signs tokens that end in a hundred years.")
        .breaks("keys.token-times", "verdict-unverifiable")
        .then(VerdictLasts(|_| Duration::from_secs(100 * 365 * 24 * 3600))),
    mutant("deletes-verdicts-early", "Deletes a verdict after half of its lifetime.")
        .breaks("limit.verdict-age", "verdict-lost")
        .then(VerdictLasts(|right| right / 2)),
    mutant("returns-verdict-once", "Returns each verdict once.")
        .breaks("verdict.200.available", "verdict-lost")
        .when(All(&[AVAILABLE, Earlier(Same::Letters, 1, &AVAILABLE)]))
        .answers(LOSE_VERDICT),
    mutant("returns-empty-verdict", "Returns an empty verdict.")
        .breaks("verdict.200.available", "verdict-answer-wrong")
        .when(AVAILABLE)
        .answers(Content("")),
    mutant(
        "empties-verdict-for-proxy",
        "Returns an object without members to a request with X-Forwarded-Port.",
    )
    .breaks("verdict.200.available", "verdict-answer-wrong")
    .when(All(&[AVAILABLE, Has("x-forwarded-port")]))
    .answers(Content("{}")),
    mutant(
        "compares-accept-as-text",
        "Answers 406 to a request for a verdict with `application/*` in Accept.",
    )
    .breaks("verdict.200.available", "verdict-answer-wrong")
    .when(All(&[AVAILABLE, Header("accept", "application/*")]))
    .answers(Status(406)),
    mutant("accepts-replays", "Accepts replayed collections.")
        .breaks("statement.replay-keeps-verdict", "replay-accepted")
        .when(REPLAYED)
        .answers(Replaced(Json(200, OK))),
    mutant("acknowledges-replays", "Answers 202 to replayed collections.")
        .breaks("statement.replay-keeps-verdict", "replay-accepted")
        .when(REPLAYED)
        .answers(Replaced(Json(202, r#"{"ok":true,"duplicate":true}"#))),
    mutant("deletes-verdict-on-replay", "Deletes the verdict after a replayed collection.")
        .breaks("statement.replay-keeps-verdict", "verdict-lost")
        .when(All(&[AVAILABLE, Earlier(Same::Part, 1, &REPLAYED)]))
        .answers(LOSE_VERDICT),
    mutant("deletes-verdict-on-delete", "Deletes a verdict on DELETE.")
        .breaks("verdict.200.available", "verdict-lost")
        .when(All(&[
            ACCEPTED,
            Earlier(Same::Target, 1, &All(&[Endpoint(ServiceEndpoint::Nothing), Method("DELETE")])),
        ]))
        .answers(LOSE_VERDICT),
    mutant("reveals-other-license-in-header", "Names a session of another license in a header.")
        .breaks("statement.no-oracle", "session-revealed")
        .should()
        .when(All(&[VERDICT, OTHER_LICENSE]))
        .answers(SetHeader("x-other-license", "1")),
];

/// Verdict that no collection led to.
fn invented(seen: &Seen<'_>) -> SessionFact {
    let verdict = json!({ "ref": seen.reference, "decision": "allow", "confidence": 1.0 });
    SessionFact::Ready(Bytes::from(verdict.to_string()))
}
