use edgeproof_reports::load::{ClockFigures, UnknownClock};
use rstest::rstest;

use super::*;

/// A shard that began this many ms after a common time by its own clock.
fn shard(index: u32, began_ms: u64, clock: Option<ClockFigures>) -> ShardFigures {
    let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_000 + began_ms);
    let started = humantime::format_rfc3339_millis(at).to_string();
    ShardFigures { index, count: 2, started, scheduled: 1, digest: String::new(), clock }
}

fn unknown(reason: UnknownClock) -> ClockFigures {
    ClockFigures { offset: ClockOffset::Unknown { reason }, step_us: 0 }
}

/// Times in ms, drift in percent.
fn known(ahead: i64, uncertainty: u64, drift: f64, drift_uncertainty: f64) -> ClockFigures {
    let offset = ClockOffset::Known {
        reference: ReferenceClock::Target,
        ahead_us: ahead * 1000,
        uncertainty_us: uncertainty * 1000,
        drift_ppm: Some(drift * 1e4),
        drift_uncertainty_ppm: Some(drift_uncertainty * 1e4),
    };
    ClockFigures { offset, step_us: 0 }
}

fn near(ahead: i64) -> ClockFigures {
    known(ahead, 30, 0.0, 0.1)
}

fn stepped(ms: i64) -> ClockFigures {
    ClockFigures { step_us: ms * 1000, ..near(0) }
}

/// A run of 10 s. The first shard's clock is right.
#[rstest]
#[case::together(0, Some(near(0)), None)]
#[case::a_little_off_is_shown_only(200, Some(near(200)), None)]
#[case::far_off_and_believed_together(
    0,
    Some(near(30_000)),
    Some("shard 1 began 30.0 s after shard 2 by the target's")
)]
#[case::far_off_and_together(30_000, Some(near(30_000)), None)]
#[case::within_the_uncertainty(0, Some(known(1_059, 30, 0.0, 0.1)), None)]
#[case::beyond_the_uncertainty(0, Some(known(1_061, 30, 0.0, 0.1)), Some("and the limit is 1.1 s"))]
#[case::unknown_is_believed(0, Some(unknown(UnknownClock::NoDate)), None)]
#[case::unknown_and_late(
    1_500,
    Some(unknown(UnknownClock::SeveralClocks)),
    Some("shard 2 began 1.5 s after shard 1 by their own clocks")
)]
#[case::without_figures(1_500, None, Some("by their own clocks"))]
#[case::slow_drift(0, Some(known(0, 30, 1.4, 0.5)), None)]
#[case::drift(0, Some(known(0, 30, -1.6, 0.5)), Some("the clock of shard 2 is 1.60 % ± 0.500 % slow"))]
#[case::step(0, Some(stepped(-700)), Some("that of shard 2 went 700 ms back"))]
fn starts_are_judged(
    #[case] began_ms: u64,
    #[case] clock: Option<ClockFigures>,
    #[case] expected: Option<&str>,
) {
    let shards = [shard(1, 0, Some(near(0))), shard(2, began_ms, clock)];
    let findings = Starts::of(&shards).unwrap().findings(Duration::from_secs(10));
    assert_eq!(findings.len(), usize::from(expected.is_some()), "{findings:?}");
    assert!(expected.is_none_or(|expected| findings[0].contains(expected)), "{findings:?}");
}

#[rstest]
#[case::corrected(Some(near(900)), [400, 0])]
#[case::unknown(Some(unknown(UnknownClock::OwnTarget)), [0, 500])]
fn shards_are_shifted_to_the_first_one(#[case] clock: Option<ClockFigures>, #[case] expected: [u64; 2]) {
    let shards = [shard(0, 0, Some(near(0))), shard(1, 500, clock)];
    let shifts = Starts::of(&shards).unwrap().shifts();
    assert_eq!(shifts, expected.map(Duration::from_millis));
}

#[test]
fn absurd_figures_are_no_panic() {
    let offset = ClockOffset::Known {
        reference: ReferenceClock::Gather,
        ahead_us: i64::MIN,
        uncertainty_us: u64::MAX,
        drift_ppm: Some(f64::MAX),
        drift_uncertainty_ppm: Some(-f64::MAX),
    };
    let absurd = Some(ClockFigures { offset, step_us: i64::MIN });
    let starts = Starts::of(&[shard(0, 0, absurd), shard(1, 0, None)]).unwrap();
    assert_eq!(starts.shifts().len(), 2);
    assert!(!starts.findings(Duration::from_secs(10)).is_empty());
}
