//! Several processes as the shards of one run.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which the lints do not know as such")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use reports::load::LoadReport;

const SHARDS: u32 = 3;

fn start(index: Option<u32>, to: &Path) -> Child {
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

#[test]
fn shards_make_the_whole_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: String| folder.path().join(name);
    let whole = path("whole.json".into());
    assert!(start(None, &whole).wait().unwrap().success());
    let files: Vec<PathBuf> = (0..SHARDS).map(|index| path(format!("{index}.json"))).collect();
    let shards: Vec<Child> = (0..SHARDS).map(|index| start(Some(index), &files[index as usize])).collect();
    for mut shard in shards {
        assert!(shard.wait().unwrap().success());
    }
    let sum = path("sum.json".into());
    let (code, said) = merge(&files.iter().collect::<Vec<_>>(), Some(&sum));
    assert_eq!(code, Some(0), "{said}");

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
    // Both wait 30 ms for the service; how busy this machine is comes on top.
    let (one, other) = (sum.service.figures.p50_us as f64, whole.service.figures.p50_us as f64);
    assert!(one >= 30_000.0 && other >= 30_000.0 && near(one, other, 0.5), "{one} {other}");
    assert_eq!(sum.timeline.moments.iter().map(|moment| moment.due).sum::<u64>(), 225);

    let (code, said) = merge(&[&files[0], &files[2]], None);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("1 of 3 are missing: 1"), "{said}");
    let (code, said) = merge(&[&files[0], &files[1], &files[1], &files[2]], None);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("shard 1 is there twice"), "{said}");
}
