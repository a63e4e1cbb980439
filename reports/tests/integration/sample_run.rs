//! A sample run with every outcome, several mismatches, and hostile text.

use edgeproof_reports::difference::{BodyChange, DifferenceKind};
use edgeproof_reports::{
    AddedLatency, CaseBasis, CaseLevel, CaseReport, Cause, EdgeNotes, Event, Exchange, FrameworkFix, Hop,
    Mismatch, MissingInput, Observation, Outcome, Reader, Report, ReportedSpec, ReportedTarget, Summary,
    TargetKind, Titles,
};

/// Terminal escapes, closing brackets of every format, and a workflow command.
pub(crate) const HOSTILE: &str =
    "\x1b[2J\u{202e}]]></system-out></pre><script>alert(1)</script>\r\n::error::pwned\n```\n# | @all &lt;";

pub(crate) fn titles() -> Titles {
    [("7.2", "answers of the edge"), ("7.3", "reasons from the service"), ("4", "methods and paths")]
        .map(|(number, title)| (number.to_owned(), title.to_owned()))
        .into()
}

pub(crate) fn case(id: &str, section: &str, outcome: Outcome) -> CaseReport {
    CaseReport {
        id: id.to_owned(),
        title: format!("The title of {id}"),
        section: section.to_owned(),
        level: CaseLevel::Must,
        basis: CaseBasis::Interface,
        standard: None,
        rows: vec![format!("row.{id}")],
        since: Some("0.1.0".parse().unwrap()),
        outcome,
        because: String::new(),
        expected: String::new(),
        actual: String::new(),
        mismatches: Vec::new(),
        observations: Vec::new(),
        duration_us: 1_840,
        varied: 0,
        reproduce: String::new(),
        confirmed: None,
        exchanges: Vec::new(),
        edge: None,
    }
}

pub(crate) fn mismatch(what: &str, expected: &str, actual: &str, level: CaseLevel) -> Mismatch {
    Mismatch {
        what: what.to_owned(),
        expected: expected.to_owned(),
        actual: actual.to_owned(),
        hint: None,
        advice: Vec::new(),
        level,
        place: String::new(),
        difference: None,
    }
}

pub(crate) fn events() -> Vec<Event> {
    let report = report();
    let mut events = vec![Event::Planned {
        cases: report.cases.len(),
        spec: report.spec.clone(),
        target: report.target.clone(),
        seed: report.seed,
        cases_of: report.cases_of,
    }];
    let cases = report.cases.iter();
    events.extend(cases.clone().map(|case| Event::Began { id: case.id.clone(), title: case.title.clone() }));
    events.extend(cases.map(|case| Event::Ended(Box::new(case.clone()))));
    events.push(Event::Finished(Box::new(report)));
    events
}

pub(crate) fn send(events: &[Event], reader: &mut dyn Reader) {
    for event in events {
        reader.read(event);
    }
}

pub(crate) fn report() -> Report {
    let cases = cases();
    let spec =
        ReportedSpec { version: "current".to_owned(), digest: "3f2a9c01b7d4e5f60718293a4b5c6d7e".to_owned() };
    let target = ReportedTarget::new(TargetKind::Launched, "node my-edge.mjs");
    Report {
        duration_ms: 1_840,
        exit_code: 1,
        summary: Summary::of(cases.iter().map(|case| case.outcome)),
        exchange_count: 1_512,
        cases,
        causes: causes(),
        observations: vec![
            observation("health.body", "ok"),
            observation("preflight.status", "204"),
            Observation {
                profile: Some("/v1/relay".to_owned()),
                often_a_mistake: Some("the service answers other paths with 404".to_owned()),
                ..observation("relay.path", "/collect")
            },
        ],
        unchecked_pins: vec!["cors.post-from-other-origin".to_owned(), "paths.root".to_owned()],
        missing_inputs: vec![MissingInput {
            input: "the origin that the edge allows".to_owned(),
            advice: "use --origin".to_owned(),
            cases: vec!["cors.preflight".to_owned()],
        }],
        latency: Some(AddedLatency { samples: 412, p50_us: 210, p99_us: 1_300 }),
        findings: vec![
            "line 3 of known.txt, `accept.*  the old edge`, covers only cases that pass; remove it"
                .to_owned(),
        ],
        ..Report::new(spec, target, 7, "2025-03-01T09:30:00Z".to_owned())
    }
}

fn observation(point: &str, observed: &str) -> Observation {
    Observation { point: point.to_owned(), observed: observed.to_owned(), ..Observation::default() }
}

fn cases() -> Vec<CaseReport> {
    vec![
        case("accept.exact", "7.2", Outcome::Pass),
        case("accept.readable", "7.2", Outcome::Pass),
        refused(),
        hostile(),
        allow(),
        CaseReport {
            because: "known.txt line 2: fixed in the next release".to_owned(),
            mismatches: vec![mismatch("status", "405", "404", CaseLevel::Must)],
            ..case("methods.trace", "4", Outcome::Known)
        },
        CaseReport {
            level: CaseLevel::Open,
            because: "the edge answered 204".to_owned(),
            observations: vec![observation("preflight.status", "204")],
            ..case("cors.preflight.shape", "4", Outcome::Observed)
        },
        CaseReport {
            because: "the edge speaks HTTP/1.1 only".to_owned(),
            ..case("http2.post", "4", Outcome::NotApplicable)
        },
        CaseReport {
            because: "no answer on 127.0.0.1:4180 within 10 s".to_owned(),
            ..case("isolation.64", "2", Outcome::NotRun)
        },
        CaseReport {
            because: "no answer on 127.0.0.1:4180 within 10 s".to_owned(),
            ..case("isolation.two", "2", Outcome::NotRun)
        },
        changed("relay.body.large-numbers", r#"{"n":9007199254740993}"#, r#"{"n":9007199254740992}"#),
        changed("relay.body.number-forms", r#"{"n":1.0}"#, r#"{"n":1}"#),
    ]
}

/// Two causes and an unexplained group of the failures, and a cause of the warning.
fn causes() -> Vec<Cause> {
    let again = |id: &str| format!("edgeproof conformance --launch \"node my-edge.mjs\" --filter {id}");
    vec![
        Cause {
            id: "body-parsed".to_owned(),
            title: "The body is changed on its way".to_owned(),
            row: "statement.body-unchanged".to_owned(),
            level: CaseLevel::Must,
            confidence: 2.0 / 3.0,
            cases: vec!["relay.body.large-numbers".to_owned(), "relay.body.number-forms".to_owned()],
            passed: vec!["relay.body.white-space".to_owned()],
            mismatch: 0,
            explanation:
                "The edge parses the body and serializes it again. Numbers, white space and the order of \
                          members change, and the service refuses the seal."
                    .to_owned(),
            fix: "relay the bytes, don't parse them".to_owned(),
            frameworks: [("Express", "express.raw({type: () => true})"), ("FastAPI", "await request.body()")]
                .map(|(name, fix)| FrameworkFix { name: name.to_owned(), fix: fix.to_owned() })
                .into(),
            rerun: again("relay.body.large-numbers"),
        },
        Cause {
            id: "reason-replaced".to_owned(),
            title: "The reason of the service is replaced".to_owned(),
            row: "relay.401.bad-signature".to_owned(),
            level: CaseLevel::Must,
            confidence: 1.0,
            cases: vec!["refusal.401.bad-signature".to_owned()],
            passed: Vec::new(),
            mismatch: 0,
            explanation:
                "The edge answers with a reason of its own. The page cannot tell why it was refused."
                    .to_owned(),
            fix: "read `reason`, then `error`, from the reply of the service".to_owned(),
            frameworks: Vec::new(),
            rerun: again("refusal.401.bad-signature"),
        },
        Cause {
            id: "row.log.no-license/log".to_owned(),
            title: HOSTILE.to_owned(),
            row: "row.log.no-license".to_owned(),
            level: CaseLevel::Must,
            confidence: 0.0,
            cases: vec!["log.no-license".to_owned()],
            passed: Vec::new(),
            mismatch: 0,
            explanation: String::new(),
            fix: HOSTILE.to_owned(),
            frameworks: Vec::new(),
            rerun: again("log.no-license"),
        },
        Cause {
            id: "allow-missing".to_owned(),
            title: "A 405 does not list the allowed methods".to_owned(),
            row: "statement.allow-on-405".to_owned(),
            level: CaseLevel::Should,
            confidence: 1.0,
            cases: vec!["methods.get.allow".to_owned()],
            passed: Vec::new(),
            mismatch: 0,
            explanation: "The edge answers 405 without `Allow`.".to_owned(),
            fix: "send `Allow: POST, OPTIONS` with each 405".to_owned(),
            frameworks: Vec::new(),
            rerun: again("methods.get.allow"),
        },
    ]
}

fn changed(id: &str, sent: &str, arrived: &str) -> CaseReport {
    CaseReport {
        rows: vec!["statement.body-unchanged".to_owned()],
        because: format!("body at the service: expected {sent}, actual {arrived}"),
        expected: sent.to_owned(),
        actual: arrived.to_owned(),
        mismatches: vec![Mismatch {
            difference: Some(
                DifferenceKind::RelayedBody {
                    sent: sent.into(),
                    arrived: arrived.into(),
                    change: BodyChange::WrittenAgain,
                }
                .into(),
            ),
            ..mismatch("body at the service", sent, arrived, CaseLevel::Must)
        }],
        edge: Some(EdgeNotes {
            settings: vec!["LICENSE=<license 8f3a>".to_owned(), "PORT=4180".to_owned()],
            log: vec![
                "listening on 4180".to_owned(),
                "error: the service refused 401 bad_signature".to_owned(),
            ],
        }),
        ..case(id, "2", Outcome::Fail)
    }
}

fn refused() -> CaseReport {
    let body = |reason: &str| format!(r#"{{"error":"service_rejected","reason":"{reason}","status":401}}"#);
    CaseReport {
        title: "A refusal with 401 bad_signature reaches the browser with its status and its reason".to_owned(),
        rows: vec!["relay.401.bad-signature".to_owned(), "edge.rejected".to_owned()],
        because: "the reason was replaced".to_owned(),
        expected: body("bad_signature"),
        actual: body("unknown"),
        mismatches: vec![
            Mismatch {
                hint: Some(
                    "the service's reply has the reason in `reason` and in `error`; read either of them before you \
                     fall back to `unknown`"
                        .to_owned(),
                ),
                ..mismatch("body", &body("bad_signature"), &body("unknown"), CaseLevel::Must)
            },
            mismatch("content-type", "application/json", "", CaseLevel::Should),
        ],
        reproduce: "curl -i -X POST http://127.0.0.1:4180/v1/signals -H 'content-type: application/json' -d '{\"m\":\"c-17\"}'"
            .to_owned(),
        exchanges: vec![
            Exchange {
                hop: Hop::ClientEdge,
                request: "POST /v1/signals HTTP/1.1\nhost: 127.0.0.1:4180\n\n{\"m\":\"c-17\"}".to_owned(),
                response: format!("HTTP/1.1 401 Unauthorized\n\n{}", body("unknown")),
            },
            Exchange {
                hop: Hop::EdgeService,
                request: "POST /v1/relay HTTP/1.1\nauthorization: Bearer <license 8f3a>\n\n{\"m\":\"c-17\"}".to_owned(),
                response: "HTTP/1.1 401 Unauthorized\n\n{\"error\":\"bad_signature\",\"reason\":\"bad_signature\"}".to_owned(),
            },
        ],
        edge: Some(EdgeNotes {
            settings: vec!["LICENSE=<license 8f3a>".to_owned(), "PORT=4180".to_owned()],
            log: vec!["listening on 4180".to_owned(), "refused 401 unknown".to_owned()],
        }),
        ..case("refusal.401.bad-signature", "7.3", Outcome::Fail)
    }
}

fn hostile() -> CaseReport {
    CaseReport {
        title: HOSTILE.to_owned(),
        basis: CaseBasis::Security,
        because: HOSTILE.to_owned(),
        mismatches: vec![Mismatch {
            hint: Some(HOSTILE.to_owned()),
            ..mismatch(HOSTILE, "nothing", HOSTILE, CaseLevel::Must)
        }],
        reproduce: HOSTILE.to_owned(),
        exchanges: vec![Exchange {
            hop: Hop::ClientEdge,
            request: HOSTILE.to_owned(),
            response: HOSTILE.to_owned(),
        }],
        edge: Some(EdgeNotes { settings: vec![HOSTILE.to_owned()], log: vec![HOSTILE.to_owned()] }),
        ..case("log.no-license", "7.2", Outcome::Fail)
    }
}

fn allow() -> CaseReport {
    CaseReport {
        level: CaseLevel::Should,
        basis: CaseBasis::Standard,
        standard: Some("RFC 9110 §15.5.6".to_owned()),
        because: "no Allow header".to_owned(),
        mismatches: vec![Mismatch {
            hint: Some("send `Allow: POST, OPTIONS` with a 405".to_owned()),
            ..mismatch("header allow", "POST and OPTIONS", "", CaseLevel::Should)
        }],
        reproduce: "curl -i http://127.0.0.1:4180/v1/signals".to_owned(),
        ..case("methods.get.allow", "4", Outcome::Warn)
    }
}
