//! Clocks of shards, compared by the `Date`s of the target that they load.

use edgeproof_http::ListenerProtocol;
use edgeproof_reports::load::{ClockOffset, LoadReport, LoadState, ReferenceClock};

use super::shards::merge;
use super::targets::serve;
use crate::support::{MACHINE, ProgramCall, block_on};

/// Plays shards of two side by side at one target: the first is shard 0, the others are shard 1. `clocks`: how far each clock
/// is ahead.
async fn play(line: &str, clocks: &[Option<&str>]) -> Vec<LoadReport> {
    let (edge, _requests) = serve(ListenerProtocol::Plain).await;
    let start = |(place, clock): (usize, Option<&str>)| {
        let index = place.min(1);
        let url = format!("http://{}", edge.addr());
        let line =
            format!("edge-relay {line} --warm-up 0s --seed 7 --unchecked --shard {index}/2 --edge-url {url}");
        clock.map_or_else(|| ProgramCall::new(&line), |ahead| ProgramCall::with_clock(ahead, &line)).start()
    };
    let running: Vec<_> = clocks.iter().copied().enumerate().map(start).collect();
    let mut reports = Vec::new();
    for program in running {
        reports.push(program.wait_beside().await.ended(0));
    }
    reports
}

/// How far the clock of a shard is ahead of the target's, and the uncertainty (ms).
fn ahead(report: &LoadReport) -> (f64, f64) {
    let clock = report.shards[0].clock.clone().unwrap();
    let ClockOffset::Known { reference: ReferenceClock::Target, ahead_us, uncertainty_us, .. } = clock.offset
    else {
        panic!("{clock:?}")
    };
    assert_eq!(clock.step_us, 0);
    (ahead_us as f64 / 1000.0, uncertainty_us as f64 / 1000.0)
}

#[test]
fn clocks_are_compared_with_the_targets() {
    let _shared = MACHINE.blocking_read();
    let shards = block_on(play("--rate 100 --duration 2500ms", &[None, None]));
    for shard in &shards {
        let (ahead, uncertainty) = ahead(shard);
        assert!(ahead.abs() <= uncertainty && uncertainty < 700.0, "{ahead} ± {uncertainty}");
    }
    let run = merge(&shards, None);
    assert!(run.stdout.contains("shard 1: clock ") && run.stdout.contains(" the target's"), "{run}");
    let sum = run.ended(0);
    assert!(sum.shards.iter().all(|shard| shard.clock.is_some()), "{:?}", sum.shards);
}

/// A clock that is wrong is corrected. Shards that only believe to have begun together did not.
#[test]
#[ignore = "needs faketime: just test-browser"]
fn wrong_clocks_are_corrected() {
    let _shared = MACHINE.blocking_read();
    let clocks = [None, Some("+0.2s"), Some("+30s")];
    let shards = block_on(play("--rate 100 --duration 10s", &clocks));
    for (shard, expected) in shards.iter().zip([0.0, 200.0, 30_000.0]) {
        let (ahead, uncertainty) = ahead(shard);
        assert!((ahead - expected).abs() <= uncertainty && uncertainty < 150.0, "{ahead} ± {uncertainty}");
        // The kernel's receive times are of the right clock, and so seem to be before the requests.
        assert!(shard.service.figures.p50_us > 20, "{:?}", shard.service.figures);
    }
    check_sum(&shards[0], &shards[1], None);
    check_sum(&shards[0], &shards[2], None);
    let mut believed = shards[2].clone();
    believed.shards[0].started.clone_from(&shards[0].started);
    check_sum(&shards[0], &believed, Some("s after shard 1 by the target's"));
}

fn check_sum(one: &LoadReport, other: &LoadReport, finding: Option<&str>) {
    let sum = merge(&[one.clone(), other.clone()], None).ended(if finding.is_some() { 3 } else { 0 });
    let found = |finding| sum.findings.iter().any(|found| found.contains(finding));
    assert!(finding.is_none_or(found), "{:?}", sum.findings);
    assert_eq!(sum.state == LoadState::Invalid, finding.is_some());
}
