//! Services that treat `waitMs` and other parameters wrongly.

use std::time::Duration;

use super::prelude::*;

/// Delay of a slow answer.
const DELAY: ServiceEffect = Delay(Duration::from_millis(3200));
const BAD_REQUEST: ServiceEffect = Instead(Json(400, r#"{"error":"bad_request"}"#));
const INTERNAL: ServiceEffect = Instead(Json(500, r#"{"error":"internal"}"#));
/// One day (ms).
const DAY: u32 = 86_400_000;

pub(super) const MUTANTS: &[Behaviour<ServiceEffect>] = &[
    mutant("mixes-waits", "Returns the reference of the latest wait.")
        .breaks("verdict.404.pending", "reference-mixed")
        .when(All(&[PENDING, WAITS]))
        .answers(RepeatsReference(Which::Arrived, (Same::Part, &All(&[VERDICT, WAITS])))),
    mutant("refuses-wait-as-bad-request", "Answers 400 to requests with waitMs.")
        .breaks("statement.wait-optional", "wait-refused")
        .when(All(&[VERDICT, WAITS]))
        .then(BAD_REQUEST),
    mutant("requires-wait", "Answers 400 to requests without waitMs.")
        .breaks("statement.wait-optional", "wait-refused")
        .when(All(&[VERDICT, Not(&WAITS), Has("authorization")]))
        .then(BAD_REQUEST),
    mutant("answers-late", "Answers requests with waitMs 3.2 s too late.")
        .breaks("statement.wait-optional", "wait-late")
        .when(WAITS)
        .then(DELAY),
    mutant("delays-refusals", "Delays 401 answers to requests with waitMs.")
        .breaks("verdict.401.unauthorized", "wait-late")
        .should()
        .when(All(&[WAITS, AnswerIs(401, 401)]))
        .then(DELAY),
    mutant("waits-after-disconnect", "Keeps waiting after the client disconnects.")
        .breaks("statement.wait-ends-with-client", "wait-late")
        .then(IgnoresDisconnect),
    mutant("waits-unasked", "Waits with waitMs=0 too.")
        .breaks("statement.wait-optional", "wait-late")
        .should()
        .when(All(&[PENDING, WAITS, ParameterIsDigits("waitMs"), Not(&ParameterOver("waitMs", 0))]))
        .then(Delay(Duration::from_millis(5500))),
    mutant("fails-on-text-wait", "Answers 500 to a waitMs that is not a number.")
        .breaks("statement.wait-robust", "wait-refused")
        .when(All(&[VERDICT, Not(&ParameterIsDigits("waitMs"))]))
        .then(INTERNAL),
    mutant("fails-on-other-parameters", "Answers 500 to unknown or repeated parameters.")
        .breaks("statement.wait-robust", "wait-refused")
        .when(All(&[VERDICT, OtherParameters("waitMs")]))
        .then(INTERNAL),
    mutant("fails-on-long-wait", "Answers 500 to a waitMs over one day.")
        .breaks("statement.wait-robust", "wait-refused")
        .when(All(&[VERDICT, ParameterOver("waitMs", DAY)]))
        .then(INTERNAL),
];
