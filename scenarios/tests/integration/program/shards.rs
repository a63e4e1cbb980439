//! Several processes as the shards of one run.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use edgeproof_reports::load::{LoadReport, LoadState};
use rstest::rstest;
use tempfile::TempDir;

use crate::support::{MACHINE, ProgramCall, ProgramRun, RunningProgram};

const SHARDS: u32 = 3;

/// Two valid shards of one run that began together. Each test changes and merges a copy.
fn shards() -> Vec<LoadReport> {
    static PLAYED: LazyLock<Vec<LoadReport>> = LazyLock::new(|| {
        let _shared = MACHINE.blocking_read();
        let line = "edge-relay --users 2 --duration 200ms --warm-up 0s --seed 7 --unchecked --shard";
        let running = [0, 1].map(|index| ProgramCall::new(&format!("{line} {index}/2")).start());
        let report = |program: RunningProgram| {
            let mut report = program.wait().ended(0);
            set_start(&mut report, 0);
            report
        };
        running.into_iter().map(report).collect()
    });
    PLAYED.clone()
}

fn set_start(report: &mut LoadReport, ms: u64) {
    let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_000 + ms);
    report.started = humantime::format_rfc3339_millis(at).to_string();
    report.shards[0].started.clone_from(&report.started);
}

/// Merges reports in both orders, with equal results.
pub(super) fn merge(reports: &[LoadReport], threshold: Option<&str>) -> ProgramRun {
    let folder = TempDir::new().unwrap();
    let write = |(index, report): (usize, &LoadReport)| {
        let path = folder.path().join(format!("{index}.json"));
        std::fs::write(&path, report.to_json()).unwrap();
        path
    };
    let mut files: Vec<PathBuf> = reports.iter().enumerate().map(write).collect();
    let run = |files: &[PathBuf]| {
        let call = files.iter().fold(ProgramCall::new("merge"), ProgramCall::file);
        threshold.into_iter().fold(call, |call, rule| call.arg("--threshold", rule)).run()
    };
    let one = run(&files);
    files.reverse();
    let other = run(&files);
    let results = |run: &ProgramRun| (run.code, run.stderr.clone(), run.report.clone());
    assert_eq!(results(&one), results(&other), "the order of the reports must not matter");
    one
}

/// The default threshold for errors applies unless merge is given one.
#[rstest]
#[case::as_the_shards(None, 1)]
#[case::another_metric(Some("max<1h"), 1)]
#[case::of_a_route(Some("POST /v1/signals error-rate<99%"), 1)]
#[case::given(Some("error-rate<99%"), 0)]
fn mostly_errors_exits_1(#[case] threshold: Option<&str>, #[case] expected: i32) {
    let mut shards = shards();
    for route in shards.iter_mut().flat_map(|shard| &mut shard.routes) {
        route.errors = route.response.figures.count * 9 / 10;
    }
    let sum = merge(&shards, threshold).ended(expected);
    let by_default = sum.thresholds.iter().filter(|threshold| threshold.by_default).count();
    assert_eq!(by_default, usize::from(expected == 1));
}

#[test]
fn thresholds_of_all_shards_count() {
    let mut shards = shards();
    let mut broken = shards[0].thresholds[0].clone();
    (broken.rule, broken.by_default) = ("p50 <= 1us".into(), false);
    shards[1].thresholds.push(broken);
    let sum = merge(&shards, None).ended(1);
    let rules: Vec<String> = sum.thresholds.into_iter().map(|threshold| threshold.rule).collect();
    assert_eq!(rules, ["error-rate <= 1%", "p50 <= 1us"]);

    shards[1].thresholds[1].rule = "p50 <= soon".into();
    let run = merge(&shards, Some("max<1h"));
    assert_eq!((run.code, &run.report), (Some(2), &None), "{run}");
    assert!(run.stderr.contains(r#"shard 1 has the invalid threshold "p50 <= soon""#), "{run}");
}

/// The limit is 5 % of the planned time, and at least one second.
#[rstest]
#[case::at_once(10, 0, true)]
#[case::a_second(10, 1000, true)]
#[case::more_than_a_second(10, 1001, false)]
#[case::one_after_the_other(10, 10_000, false)]
#[case::little_of_a_long_run(100, 5000, true)]
#[case::much_of_a_long_run(100, 5001, false)]
fn shards_must_start_together(#[case] planned_s: u64, #[case] apart_ms: u64, #[case] together: bool) {
    let mut shards = shards();
    for shard in &mut shards {
        shard.plan.measured_ms = planned_s * 1000;
    }
    set_start(&mut shards[0], apart_ms);
    // With a broken threshold as well: figures of an invalid run break none.
    let sum = merge(&shards, Some("p50<1us")).ended(if together { 1 } else { 3 });
    assert_eq!(sum.state, if together { LoadState::Unchecked } else { LoadState::Invalid });
    let named = format!("shard 0 began {:.1} s after shard 1", apart_ms as f64 / 1000.0);
    let found = sum.findings.iter().any(|finding| finding.contains(&named) && finding.contains("--start-at"));
    assert_eq!(found, !together, "{:?}", sum.findings);
}

#[test]
fn users_of_shards_add_up() {
    let mut shards = shards();
    shards[1].plan.users = 3;
    assert_eq!(merge(&shards, None).ended(0).plan.users, 5);
    shards[1].shards[0].started = "soon".into();
    let run = merge(&shards, None);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains(r#"shard 1 has the invalid start time "soon""#), "{run}");
}

pub(super) fn shards_add_up_to_the_whole_run() {
    let line = "edge-relay --rate 90 --duration 2s --warm-up 500ms --seed 7 --unchecked --service-slow 30ms";
    let whole = ProgramCall::new(line).start();
    // Late enough for a busy machine to have started all of them.
    let at = humantime::format_rfc3339(SystemTime::now() + Duration::from_secs(4));
    let start = |index: u32| {
        let call = ProgramCall::new(&format!("{line} --shards {SHARDS} --start-at {at}"));
        call.env("JOB_COMPLETION_INDEX", &index.to_string()).start()
    };
    let running: Vec<_> = (0..SHARDS).map(start).collect();
    let shards: Vec<LoadReport> = running.into_iter().map(|program| program.wait().ended(0)).collect();
    let whole = whole.wait().ended(0);
    let sum = merge(&shards, None).ended(0);

    assert_eq!(sum.ledger.scheduled, whole.ledger.scheduled);
    assert_eq!(sum.ledger.answered, whole.ledger.answered);
    assert_eq!(sum.response.figures.count, whole.response.figures.count);
    assert_eq!(sum.shards.len(), SHARDS as usize);
    let near = |one: f64, other: f64, part: f64| (one / other - 1.0).abs() <= part;
    assert!(near(sum.rate.asked.unwrap(), whole.rate.asked.unwrap(), 0.001));
    let delivered = [sum.rate.delivered, whole.rate.delivered];
    assert!(near(delivered[0], delivered[1], 0.02), "{delivered:?}");
    // The service's 30 ms are the least.
    let p50 = |report: &LoadReport| report.service.figures.p50_us;
    let of_shards: Vec<u64> = shards.iter().map(p50).collect();
    let (fastest, slowest) = (of_shards.iter().min().unwrap(), of_shards.iter().max().unwrap());
    assert!((*fastest..=*slowest).contains(&p50(&sum)) && *fastest >= 30_000, "{of_shards:?}");
    assert_eq!(sum.timeline.moments.iter().map(|moment| moment.due).sum::<u64>(), 225);

    // The sum is judged once.
    merge(&shards, Some("p50<1us")).ended(1);
    let refused = |reports: &[usize], code, expected| {
        let reports: Vec<LoadReport> = reports.iter().map(|index| shards[*index].clone()).collect();
        let run = merge(&reports, None);
        assert_eq!(run.code, Some(code), "{run}");
        assert!(run.stderr.contains(expected), "{run}");
    };
    refused(&[0, 2], 3, "1 of 3 are missing: 1");
    refused(&[0, 1, 1, 2], 2, "shard 1 is given twice");
}
