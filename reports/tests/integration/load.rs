//! Documents of a load run.

use edgeproof_reports::load::{
    ClockFigures, ClockOffset, Comparison, ConnectionFigures, ContentionFigures, Difference, Distortion,
    Drain, Generator, InjectedFault, LOAD_SCHEMA, Ledger, LoadReport, LoadState, LoadTarget, Model,
    OutcomeFigures, Percentiles, PlanStage, PlannedLoad, ProbeFigures, Rates, Reconciled, ReferenceClock,
    RouteFigures, Seal, ShardFigures, ThresholdResult, TimelineFigures, TimelineMoment, Timing, UnknownClock,
    render, terminal,
};
use edgeproof_reports::{Format, TargetKind, Tool};
use rstest::rstest;

fn timing(count: u64, p50_us: u64) -> Timing {
    Timing {
        figures: Percentiles {
            count,
            unanswered: 0,
            min_us: p50_us / 2,
            mean_us: p50_us as f64 * 1.2,
            p50_us,
            p90_us: p50_us * 2,
            p95_us: p50_us * 3,
            p99_us: p50_us * 5,
            p999_us: p50_us * 9,
            max_us: p50_us * 10,
        },
        curve: vec![
            (0.0, p50_us / 2),
            (0.5, p50_us),
            (0.9, p50_us * 2),
            (0.99, p50_us * 5),
            (1.0, p50_us * 10),
        ],
        distribution: vec![
            (p50_us, count / 2),
            (p50_us * 2, count / 2 - count / 10),
            (p50_us * 10, count / 10),
        ],
        histogram: "HISTFAAAAA".into(),
        unanswered_histogram: String::new(),
    }
}

/// Some of the samples have no answer.
fn with_unanswered(timing: Timing, unanswered: u64) -> Timing {
    Timing { figures: Percentiles { unanswered, ..timing.figures }, ..timing }
}

fn outcome(outcome: &str, expected: bool, count: u64) -> OutcomeFigures {
    OutcomeFigures {
        outcome: outcome.into(),
        expected,
        count,
        response: timing(count, 900),
        service: timing(count, 700),
    }
}

fn unanswered(name: &str, count: u64) -> OutcomeFigures {
    let figures = outcome(name, false, count);
    OutcomeFigures { response: with_unanswered(figures.response, count), ..figures }
}

/// A run with hostile text.
pub(crate) fn report() -> LoadReport {
    let moments = (0..4)
        .map(|n| TimelineMoment {
            asked: 250.0,
            due: 250,
            ended: 245 + n,
            errors: n,
            p50_us: Some(900 + n * 10),
            p99_us: Some(4_500),
            steps: [vec![0; 78], vec![200, 40, 10]].concat(),
        })
        .collect();
    LoadReport {
        schema: LOAD_SCHEMA.into(),
        tool: Tool { version: "0.1.0".into() },
        spec: None,
        scenario: "edge-relay".into(),
        model: Model::Open,
        target: LoadTarget {
            kind: TargetKind::Launched,
            command: Some("node <edge>.mjs".into()),
            edge_url: Some("http://127.0.0.1:8080/".into()),
            base_url: None,
        },
        started: "2025-01-01T00:00:00.000Z".into(),
        duration_ms: 2_010,
        state: LoadState::Complete,
        findings: vec!["<script>alert(1)</script> \u{1b}[2J".into()],
        exit_code: 1,
        plan: PlannedLoad {
            stages: vec![
                PlanStage { time_ms: 1_000, from: 500.0, to: 500.0 },
                PlanStage { time_ms: 1_000, from: 500.0, to: 1_500.0 },
            ],
            users: 32,
            warm_up_ms: 0,
            measured_ms: 2_000,
            timeout_ms: 30_000,
            drain: Drain { limit_ms: 10_000, took_ms: 10 },
            seal: Seal::Opaque,
            replay_share: 0.1,
            seed: 7,
            settings: vec![("wait".into(), "1s".into())],
        },
        shards: vec![ShardFigures {
            index: 0,
            count: 1,
            started: "2025-01-01T00:00:00.000Z".into(),
            scheduled: 1_000,
            digest: "d1".into(),
            clock: None,
        }],
        rate: Rates { asked: Some(500.0), begun: 500.0, delivered: 499.0 },
        ledger: Ledger {
            scheduled: 1_000,
            answered: 998,
            failed: 1,
            open: 1,
            unexpected: 2,
            ..Ledger::default()
        },
        warm_up: Ledger::default(),
        response: with_unanswered(timing(1_000, 900), 6),
        successes: timing(994, 880),
        observed: timing(1_000, 940),
        delay: timing(1_000, 40),
        distorted: vec![Distortion {
            route: None,
            figure: "response".into(),
            percentile: "p99.9".into(),
            observed_us: 4_000,
            corrected_us: 3_000,
            invalid: false,
        }],
        service: timing(1_000, 700),
        lateness: timing(1_000, 60),
        waiting: timing(1_000, 0),
        time_to_verdict_observed: None,
        time_to_verdict: Some(timing(1_000, 300_000)),
        edge_added: None,
        edge_cost: None,
        routes: vec![RouteFigures {
            route: "POST /v1/signals".into(),
            sent: 1_000,
            unanswered: 2,
            errors: 6,
            answered_per_s: 499.0,
            response: with_unanswered(timing(1_000, 900), 6),
            successes: timing(994, 880),
            observed: Timing {
                figures: Percentiles { max_us: 9_900, ..timing(1_000, 900).figures },
                ..timing(1_000, 900)
            },
            service: timing(1_000, 700),
            outcomes: vec![
                outcome("200", true, 900),
                outcome("409 replayed_bundle", true, 94),
                unanswered("timed out", 6),
            ],
        }],
        reconciled: vec![Reconciled {
            route: "POST /v1/signals".into(),
            sent: 1_000,
            unanswered: 2,
            arrived: 999,
            agrees: true,
        }],
        timeline: TimelineFigures { width_ms: 500, moments },
        connections: ConnectionFigures {
            connect: timing(32, 80),
            tls: Some(timing(32, 900)),
            bytes_sent: 1_300_000,
            bytes_received: 640_000,
        },
        probes: vec![ProbeFigures { route: "POST /v1/signals".into(), purpose: "latency".into(), sent: 8 }],
        thresholds: vec![
            ThresholdResult {
                rule: "p99.9<9ms".into(),
                route: None,
                by_default: false,
                observed: Some("≥ 8.10 ms".into()),
                value: Some(8_100.0),
                at_least: true,
                limit: 9_000.0,
                margin: None,
                holds: false,
            },
            ThresholdResult {
                rule: "p99<4ms".into(),
                route: None,
                by_default: false,
                observed: Some("4.50 ms".into()),
                value: Some(4_500.0),
                at_least: false,
                limit: 4_000.0,
                margin: Some(-0.125),
                holds: false,
            },
            ThresholdResult {
                rule: "error-rate <= 1%".into(),
                route: None,
                by_default: true,
                observed: Some("0.600 %".into()),
                value: Some(0.006),
                at_least: false,
                limit: 0.01,
                margin: Some(0.4),
                holds: true,
            },
        ],
        faults: vec![InjectedFault {
            fault: "service down at 1s for 200ms".into(),
            hit: 31,
            ended_ms: Some(1_200),
            recovery_ms: Some(40),
        }],
        generator: Generator {
            cpu_s: 0.01,
            cpu_s_per_100k: 1.0,
            processors: 2,
            starved: 0.0,
            memory_first: 20 << 20,
            memory_last: 21 << 20,
            lag: timing(200, 900),
            late_reads_measured: true,
            contention: ContentionFigures { wait_s: 0.2, wait_share: 0.05, ..ContentionFigures::default() },
        },
        comparison: Some(Comparison {
            baseline: "before.json".into(),
            started: "2024-12-31T00:00:00.000Z".into(),
            tolerance: 0.1,
            differences: vec![Difference {
                figure: "p99".into(),
                before: 4_000.0,
                now: 4_500.0,
                change: 0.125,
                noise: 0.02,
                verdict: "worse".into(),
            }],
        }),
    }
}

#[test]
fn written_report_loads_and_invalid_ones_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("load.json");
    std::fs::write(&path, report().to_json()).unwrap();
    assert_eq!(LoadReport::load(&path).unwrap(), report());

    let error = |text: String| {
        std::fs::write(&path, text).unwrap();
        LoadReport::load(&path).unwrap_err().to_string()
    };
    assert!(error("{".into()).ends_with("it is not JSON"));
    assert!(error("{}".into()).contains("it has no `schema`"));
    let other = LoadReport { schema: "edgeproof.report/1".into(), ..report() };
    assert!(error(other.to_json()).contains("its schema is `edgeproof.report/1`"));
    let unbalanced = LoadReport { ledger: Ledger { scheduled: 1_001, ..report().ledger }, ..report() };
    assert!(error(unbalanced.to_json()).contains("it does not match"));
}

#[test]
fn terminal_shows_the_load_run() {
    insta::assert_snapshot!(terminal(&report(), false, false));
}

fn known(ahead_us: i64, uncertainty_us: u64, drift: Option<f64>) -> ClockOffset {
    let (reference, drift_uncertainty_ppm) = (ReferenceClock::Target, drift.map(|_| 3_000.0));
    ClockOffset::Known { reference, ahead_us, uncertainty_us, drift_ppm: drift, drift_uncertainty_ppm }
}

#[rstest]
#[case::ahead(known(200_000, 12_000, None), 0, "clock 200 ms ± 12.0 ms ahead of the target's")]
#[case::behind(known(-30_000_000, 31_000, Some(2_000.0)), 0, "clock 30.0 s ± 31.0 ms behind the target's")]
#[case::drift(known(0, 900, Some(-24_000.0)), 0, "clock 0 µs ± 900 µs ahead of the target's, drift -2.40 % ± 0.300 %")]
#[case::step(known(0, 900, None), -700_000, "clock 0 µs ± 900 µs ahead of the target's; a step of -700 ms")]
#[case::unknown(ClockOffset::Unknown { reason: UnknownClock::NoDate }, 0, "clock unknown: the target's answers have no Date")]
fn clocks_of_shards_are_shown(#[case] offset: ClockOffset, #[case] step_us: i64, #[case] expected: &str) {
    let mut report = report();
    report.shards[0].count = 2;
    report.shards[0].clock = Some(ClockFigures { offset, step_us });
    let text = terminal(&report, false, false);
    assert!(text.contains(&format!("  shard 0: {expected}\n")), "{text}");
    for format in [Format::Markdown, Format::Html] {
        let document = render(format, &report);
        let words = expected.split([':', ';', '\'', '-', '.']).next().unwrap();
        assert!(document.contains(words), "{words}: {document}");
    }
}

#[test]
fn markdown_shows_the_load_run() {
    insta::assert_snapshot!(render(Format::Markdown, &report()));
}

#[test]
fn junit_shows_thresholds_and_findings() {
    insta::assert_snapshot!(render(Format::Junit, &report()));
}

#[test]
fn page_has_every_chart_and_fetches_nothing() {
    let page = render(Format::Html, &report());
    for expected in [
        "Time to verdict",
        "Response time by intended start",
        "Requests per second",
        "Distribution of response times",
        "p99&lt;4ms",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    for unwanted in
        ["<script", "http-equiv=\"refresh", " src=", " href=", "url(", "@import", "\u{1b}", "NaN", "inf"]
    {
        assert!(!page.contains(unwanted), "{unwanted}");
    }
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    assert!(page.matches("<svg").count() >= 6);
}

#[test]
fn run_without_requests_has_every_document() {
    let empty = Timing { histogram: "x".into(), ..Timing::default() };
    let nothing = LoadReport {
        response: empty.clone(),
        service: empty.clone(),
        lateness: empty.clone(),
        waiting: empty,
        time_to_verdict: None,
        routes: Vec::new(),
        timeline: TimelineFigures { width_ms: 250, moments: Vec::new() },
        ..report()
    };
    for format in Format::ALL {
        let document = render(*format, &nothing);
        assert!(!document.contains("NaN"), "{document}");
    }
}
