//! Reports of runs that never took place.

use edgeproof_reports::{
    CaseLevel, CaseReport, Cause, EdgeNotes, Exchange, Hop, Mismatch, Observation, Outcome, Report,
    ReportedSpec, ReportedTarget, Summary, TargetKind,
};

/// A report with these cases. Each failed case belongs to the cause of its number.
pub(crate) fn report(cases: Vec<CaseReport>, causes: Vec<Cause>) -> Report {
    let spec = ReportedSpec { version: "current".to_owned(), digest: "3f2a9c01".to_owned() };
    let target = ReportedTarget::new(TargetKind::Launched, "node edge.mjs");
    Report {
        exit_code: 1,
        summary: Summary::of(cases.iter().map(|case| case.outcome)),
        cases,
        causes,
        observations: vec![Observation {
            point: "preflight.status".to_owned(),
            observed: "204".to_owned(),
            ..Observation::default()
        }],
        ..Report::new(spec, target, 7, "2025-03-01T09:30:00Z".to_owned())
    }
}

/// Two failed cases, a warning, and a pass.
pub(crate) fn small() -> Report {
    let cases = vec![
        failed("relay.body.numbers", "2", "statement.body-unchanged"),
        failed("relay.body.spaces", "2", "statement.body-unchanged"),
        CaseReport {
            level: CaseLevel::Should,
            outcome: Outcome::Warn,
            ..failed("log.refusal", "7.2", "statement.log")
        },
        passed("relay.body.large", "2", "statement.body-unchanged"),
        passed("cors.preflight", "7.2", "statement.body-unchanged-elsewhere"),
    ];
    let causes = vec![
        cause("body-parsed", "The body is changed on its way", &["relay.body.numbers", "relay.body.spaces"]),
        cause("log-wrong", "A refusal is not logged", &["log.refusal"]),
    ];
    report(cases, causes)
}

pub(crate) fn cause(id: &str, title: &str, cases: &[&str]) -> Cause {
    Cause {
        id: id.to_owned(),
        title: title.to_owned(),
        row: "statement.body-unchanged".to_owned(),
        cases: cases.iter().map(|case| (*case).to_owned()).collect(),
        explanation: "What happens, and why it is wrong.".to_owned(),
        fix: "relay the bytes, don't parse them".to_owned(),
        rerun: format!("edgeproof conformance --launch 'node edge.mjs' --filter {}", cases[0]),
        ..Cause::default()
    }
}

pub(crate) fn passed(id: &str, section: &str, row: &str) -> CaseReport {
    CaseReport {
        id: id.to_owned(),
        title: format!("the behaviour of {id}"),
        section: section.to_owned(),
        rows: vec![row.to_owned()],
        outcome: Outcome::Pass,
        exchanges: vec![
            exchange(Hop::ClientEdge, "POST /v1/signals HTTP/1.1", "HTTP/1.1 200"),
            exchange(Hop::EdgeService, "POST /v1/relay HTTP/1.1", "200"),
        ],
        ..CaseReport::default()
    }
}

pub(crate) fn failed(id: &str, section: &str, row: &str) -> CaseReport {
    CaseReport {
        outcome: Outcome::Fail,
        because: "body at the service: expected 1.0, actual 1".to_owned(),
        mismatches: vec![Mismatch {
            what: "body at the service".to_owned(),
            expected: r#"{"sealed":"q000000l","n":9007199254740993}"#.to_owned(),
            actual: r#"{"sealed":"q000000l","n":9007199254740992}"#.to_owned(),
            hint: Some("relay the bytes without parsing them".to_owned()),
            advice: Vec::new(),
            level: CaseLevel::Must,
            place: String::new(),
            difference: None,
        }],
        reproduce: "curl -i -X POST -H 'Origin: https://shop.example' --data-binary '{}' http://127.0.0.1:4180/v1/signals"
            .to_owned(),
        edge: Some(EdgeNotes {
            settings: vec!["LICENSE=<license 8f3a>".to_owned(), "PORT=4180".to_owned()],
            log: vec!["listening on 4180".to_owned(), "refused status=401 reason=expired".to_owned()],
        }),
        ..passed(id, section, row)
    }
}

fn exchange(hop: Hop, request: &str, response: &str) -> Exchange {
    let head = "content-type: application/json\ncontent-length: 42\norigin: https://shop.example";
    let text = |start: &str| format!("{start}\n{head}\n\n{{\"sealed\":\"q000000l\",\"n\":9007199254740993}}");
    Exchange { hop, request: text(request), response: text(response) }
}
