//! One gather and the shards of its run.

use edgeproof_reports::load::LoadState;
use rustix::process::Signal;

use crate::support::{MACHINE, ProgramCall, RunningProgram};

const TOKEN: &str = "token-of-this-run";

fn gather(options: &str) -> (RunningProgram, String) {
    let call = ProgramCall::new(&format!("gather --shards 2 --listen 127.0.0.1:0 {options}"));
    let mut program = call.env("GATHER_TOKEN", TOKEN).start();
    let line = program.stderr.line_with("--gather http://");
    let url = line.split_once("--gather ").unwrap().1.to_owned();
    (program, url)
}

fn shard(index: u32, url: &str, options: &str) -> ProgramCall {
    let line = "edge-relay --rate 80 --warm-up 0s --seed 7 --unchecked";
    ProgramCall::new(&format!("{line} --shard {index}/2 --gather {url} {options}")).env("GATHER_TOKEN", TOKEN)
}

#[test]
fn gather_judges_the_run_and_refuses_what_is_no_part_of_it() {
    let _shared = MACHINE.blocking_read();
    let (mut program, url) = gather("--threshold p50<1us");
    let one = shard(0, &url, "--duration 1s").start();
    program.stderr.line_with("shard 0 is there");
    for (call, expected) in [
        (shard(0, &url, "--duration 1s"), "it comes twice"),
        (shard(1, &url, "--duration 2s"), "its plan (stages, measured_ms) differs"),
        (shard(1, &url, "--duration 1s").env("GATHER_TOKEN", "other"), "does not know the token"),
    ] {
        let run = call.output();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.replace('\n', " ").contains(expected), "{run}");
    }
    let other = shard(1, &url, "--duration 1s").start();
    // The shards handed over their reports: gather judges.
    for shard in [one, other] {
        shard.wait().ended(0);
    }
    let sum = program.wait().ended(1);
    assert_eq!((sum.shards.len(), sum.ledger.scheduled), (2, 80));
}

#[test]
fn ended_gather_reports_what_it_has() {
    let _shared = MACHINE.blocking_read();
    let (mut program, url) = gather("");
    let mut one = shard(0, &url, "--duration 1h").start();
    let other = shard(1, &url, "--duration 1h").start();
    // Its first line of progress.
    one.stderr.line_with("edge-relay");
    // A shard that a signal ends hands over a part.
    one.signal(Signal::TERM);
    program.stderr.line_with("shard 0 handed over");
    program.signal(Signal::TERM);
    let sum = program.wait().ended(143);
    assert!(matches!(sum.state, LoadState::Partial) && sum.shards.len() == 1, "{:?}", sum.findings);
    assert!(
        sum.findings.iter().any(|finding| finding.starts_with("shard 1 of 2 is missing")),
        "{:?}",
        sum.findings
    );
    one.wait().ended(143);
    other.signal(Signal::TERM);
    let run = other.wait();
    assert_eq!(run.code, Some(3), "{run}");
    assert!(run.stderr.contains("cannot hand over the report"), "{run}");
}

#[test]
fn missing_shard_is_named() {
    let (program, url) = gather("--wait 3s");
    let run = shard(1, &url, "--duration 1s").output();
    for run in [run, program.wait()] {
        assert_eq!(run.code, Some(3), "{run}");
        assert!(run.stderr.contains("1 of 2 shards are missing after 3s: 0"), "{run}");
    }
}
