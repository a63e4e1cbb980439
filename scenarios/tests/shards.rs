//! Several processes as the shards of one run.
#![expect(clippy::unwrap_used, reason = "test helpers, which clippy does not recognise as tests")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, SystemTime};

use edgeproof_reports::load::{LoadReport, LoadState};
use rstest::rstest;

const SHARDS: u32 = 3;

fn start(index: Option<u32>, at: SystemTime, to: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_edgeproof-load"));
    command.args([
        "edge-relay",
        "--rate",
        "90",
        "--duration",
        "2s",
        "--warm-up",
        "500ms",
        "--seed",
        "7",
        "--unchecked",
        "--quiet",
    ]);
    command.args(["--service-slow", "30ms", "--report", &format!("json={}", to.display())]);
    if let Some(index) = index {
        command.args(["--shards", &SHARDS.to_string()]).env("JOB_COMPLETION_INDEX", index.to_string());
        command.args(["--start-at", &humantime::format_rfc3339(at).to_string()]);
    }
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
}

fn merge(files: &[&PathBuf], to: Option<&Path>) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_edgeproof-load"));
    command.arg("merge").args(files);
    if let Some(to) = to {
        command.args(["--report", &format!("json={}", to.display())]);
    }
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Two valid shards of one run.
fn shards(folder: &Path) -> Vec<LoadReport> {
    let program = env!("CARGO_BIN_EXE_edgeproof-load");
    let shard = |index: u32| {
        let path = folder.join(format!("given-{index}.json"));
        let status = Command::new(program)
            .args(["edge-relay", "--users", "2", "--duration", "200ms", "--warm-up", "0s", "--seed", "7"])
            .args(["--unchecked", "--quiet", "--shard", &format!("{index}/2")])
            .args(["--report", &format!("json={}", path.display())])
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        let mut report = LoadReport::load(&path).unwrap();
        began(&mut report, 0);
        report
    };
    vec![shard(0), shard(1)]
}

fn began(report: &mut LoadReport, ms: u64) {
    let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_000 + ms);
    report.started = humantime::format_rfc3339_millis(at).to_string();
    report.shards[0].started.clone_from(&report.started);
}

/// Merges the reports in both orders, with equal results: exit code, sum and standard error.
fn merged(folder: &Path, shards: &[LoadReport], args: &[&str]) -> (Option<i32>, Option<LoadReport>, String) {
    let write = |report: &LoadReport| {
        let path = folder.join(format!("changed-{}.json", report.shards[0].index));
        std::fs::write(&path, serde_json::to_vec(report).unwrap()).unwrap();
        path
    };
    let mut files: Vec<PathBuf> = shards.iter().map(write).collect();
    let run = |files: &[PathBuf]| {
        let to = folder.join("sum.json");
        let _ = std::fs::remove_file(&to);
        let output = Command::new(env!("CARGO_BIN_EXE_edgeproof-load"))
            .arg("merge")
            .args(files)
            .args(args)
            .args(["--report", &format!("json={}", to.display())])
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), LoadReport::load(&to).ok(), stderr)
    };
    let one = run(&files);
    files.reverse();
    let other = run(&files);
    assert_eq!(one, other, "the order of the reports must not matter");
    one
}

/// The default threshold for errors applies unless merge is given one.
#[rstest]
#[case::as_the_shards(&[], Some(1))]
#[case::another_metric(&["--threshold", "max<1h"], Some(1))]
#[case::of_a_route(&["--threshold", "POST /v1/signals error-rate<99%"], Some(1))]
#[case::given(&["--threshold", "error-rate<99%"], Some(0))]
fn mostly_errors_exits_1(#[case] args: &[&str], #[case] expected: Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    let mut shards = shards(folder.path());
    for route in shards.iter_mut().flat_map(|shard| &mut shard.routes) {
        route.errors = route.response.figures.count * 9 / 10;
    }
    let (code, sum, stderr) = merged(folder.path(), &shards, args);
    assert_eq!(code, expected, "{stderr}");
    let by_default = sum.unwrap().thresholds.iter().filter(|threshold| threshold.by_default).count();
    assert_eq!(by_default, usize::from(expected == Some(1)));
}

#[test]
fn thresholds_of_all_shards_count() {
    let folder = tempfile::tempdir().unwrap();
    let mut shards = shards(folder.path());
    let mut broken = shards[0].thresholds[0].clone();
    (broken.rule, broken.by_default) = ("p50 <= 1us".into(), false);
    shards[1].thresholds.push(broken);
    let (code, sum, stderr) = merged(folder.path(), &shards, &[]);
    assert_eq!(code, Some(1), "{stderr}");
    let rules: Vec<String> = sum.unwrap().thresholds.into_iter().map(|threshold| threshold.rule).collect();
    assert_eq!(rules, ["error-rate <= 1%", "p50 <= 1us"]);

    shards[1].thresholds[1].rule = "p50 <= soon".into();
    let (code, sum, stderr) = merged(folder.path(), &shards, &["--threshold", "max<1h"]);
    assert_eq!((code, sum), (Some(2), None), "{stderr}");
    assert!(stderr.contains(r#"shard 1 has the invalid threshold "p50 <= soon""#), "{stderr}");
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
    let folder = tempfile::tempdir().unwrap();
    let mut shards = shards(folder.path());
    for shard in &mut shards {
        shard.plan.measured_ms = planned_s * 1000;
    }
    // With a broken threshold as well: figures of an invalid run break none.
    began(&mut shards[0], apart_ms);
    let (code, sum, stderr) = merged(folder.path(), &shards, &["--threshold", "p50<1us"]);
    let sum = sum.unwrap();
    assert_eq!(code, Some(if together { 1 } else { 3 }), "{stderr}");
    assert_eq!(sum.state, if together { LoadState::Unchecked } else { LoadState::Invalid });
    let named = format!("shard 0 began {:.1} s after shard 1", apart_ms as f64 / 1000.0);
    let found = sum.findings.iter().any(|finding| finding.contains(&named) && finding.contains("--start-at"));
    assert_eq!(found, !together, "{:?}", sum.findings);
}

#[test]
fn users_of_shards_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let mut shards = shards(folder.path());
    shards[1].plan.users = 3;
    let (_, sum, _) = merged(folder.path(), &shards, &[]);
    assert_eq!(sum.unwrap().plan.users, 5);
    shards[1].shards[0].started = "soon".into();
    let (code, _, stderr) = merged(folder.path(), &shards, &[]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains(r#"shard 1 has the invalid start time "soon""#), "{stderr}");
}

#[test]
fn shards_add_up_to_the_whole_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: String| folder.path().join(name);
    let whole = path("whole.json".into());
    assert!(start(None, SystemTime::now(), &whole).wait().unwrap().success());
    let files: Vec<PathBuf> = (0..SHARDS).map(|index| path(format!("{index}.json"))).collect();
    // Late enough for a busy machine to have started all of them.
    let at = SystemTime::now() + Duration::from_secs(4);
    let shards: Vec<Child> =
        (0..SHARDS).map(|index| start(Some(index), at, &files[index as usize])).collect();
    for mut shard in shards {
        assert!(shard.wait().unwrap().success());
    }
    let sum = path("sum.json".into());
    let (code, stderr) = merge(&files.iter().collect::<Vec<_>>(), Some(&sum));
    assert_eq!(code, Some(0), "{stderr}");

    let (whole, sum) = (LoadReport::load(&whole).unwrap(), LoadReport::load(&sum).unwrap());
    assert_eq!(sum.ledger.scheduled, whole.ledger.scheduled);
    assert_eq!(sum.ledger.answered, whole.ledger.answered);
    assert_eq!(sum.response.figures.count, whole.response.figures.count);
    assert_eq!(sum.shards.len(), SHARDS as usize);
    let near = |one: f64, other: f64, part: f64| (one / other - 1.0).abs() <= part;
    assert!(near(sum.rate.asked.unwrap(), whole.rate.asked.unwrap(), 0.001));
    assert!(
        near(sum.rate.delivered, whole.rate.delivered, 0.02),
        "{} {}",
        sum.rate.delivered,
        whole.rate.delivered
    );
    // Both include the service's 30 ms, plus the load of this machine.
    let (one, other) = (sum.service.figures.p50_us as f64, whole.service.figures.p50_us as f64);
    assert!(one >= 30_000.0 && other >= 30_000.0 && near(one, other, 0.5), "{one} {other}");
    assert_eq!(sum.timeline.moments.iter().map(|moment| moment.due).sum::<u64>(), 225);

    // The sum is judged once.
    let all: Vec<&PathBuf> = files.iter().collect();
    let judged = Command::new(env!("CARGO_BIN_EXE_edgeproof-load"))
        .arg("merge")
        .args(&all)
        .args(["--threshold", "p50<1us"])
        .output()
        .unwrap();
    assert_eq!(judged.status.code(), Some(1), "{}", String::from_utf8_lossy(&judged.stdout));

    let (code, stderr) = merge(&[&files[0], &files[2]], None);
    assert_eq!(code, Some(3), "{stderr}");
    assert!(stderr.contains("1 of 3 are missing: 1"), "{stderr}");
    let (code, stderr) = merge(&[&files[0], &files[1], &files[1], &files[2]], None);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("shard 1 is given twice"), "{stderr}");
}
