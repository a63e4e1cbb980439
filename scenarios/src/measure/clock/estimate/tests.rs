use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::measure::clock::{AnswerDates, ClockSample, HttpDate};

/// The other clock's time at our start (µs since the Unix epoch).
const START_US: i64 = 1_700_000_000_300_000;

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap()
}

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

/// The `Date`s of a clock over a run: a request every 10 ms, answered after 1 ms, in the middle of a round trip of 2 ms.
/// `clock`: what it shows (µs since its start) at a time and for the n-th request.
fn dated(time_s: u64, clock: impl Fn(f64, u64) -> f64) -> Vec<ClockWindow> {
    let mut dates = AnswerDates::default();
    for number in 0..time_s * 100 {
        let sent = number * 10_000;
        record(
            &mut dates,
            us(sent),
            us(sent + 2_000),
            START_US + clock((sent + 1_000) as f64, number) as i64,
        );
    }
    dates.windows()
}

fn record(dates: &mut AnswerDates, sent: Duration, received: Duration, theirs_us: i64) {
    let time = SystemTime::UNIX_EPOCH + us(theirs_us.cast_unsigned());
    let date = HttpDate::of(httpdate::fmt_http_date(time).as_bytes()).unwrap();
    dates.record(date, sent, received);
}

/// A number in a range of an estimate.
fn near(value: f64, expected: f64, allowed: f64) {
    assert!((value - expected).abs() <= allowed, "{value} instead of {expected} ± {allowed}");
}

#[test]
fn equal_clocks_have_a_start_and_no_drift() {
    let found = estimate(&dated(10, |at, _| at), true).unwrap();
    near(found.start.middle() as f64, START_US as f64, 30_000.0);
    assert!(found.start.uncertainty() <= 31_000, "{found:?}");
    let (slowest, fastest) = found.drift.unwrap();
    assert!(slowest <= 0.0 && fastest >= 0.0 && fastest - slowest < 0.02, "{found:?}");
}

#[rstest]
#[case::slow(-0.03)]
#[case::fast(0.03)]
#[case::hardly(0.01)]
fn drift_is_found(#[case] rate: f64) {
    let found = estimate(&dated(30, |at, _| at * (1.0 + rate)), true).unwrap();
    let (slowest, fastest) = found.drift.unwrap();
    assert!(slowest <= rate && rate <= fastest && fastest - slowest < 0.01, "{found:?}");
    let start = found.start;
    assert!((start.from_us..=start.to_us).contains(&START_US), "{found:?}");
}

#[rstest]
#[case::forward(3_000_000)]
#[case::back(-3_000_000)]
#[case::small(200_000)]
fn step_is_found(#[case] step: i64) {
    let set = |at: f64, _| if at < 12_345_000.0 { at } else { at + step as f64 };
    let found = estimate(&dated(30, set), true).unwrap();
    near(found.step_us as f64, step as f64, 60_000.0);
    near(found.start.middle() as f64, START_US as f64, 40_000.0);
}

/// The text is renewed a little more rarely than once a second, so that it is late by more and more, and then skips a second.
#[rstest]
#[case::slowly(1_010_000.0)]
#[case::by_a_tick(1_100_000.0)]
#[case::at_one_moment(1_000_000.0)]
fn rarely_renewed_text_is_no_other_clock(#[case] renewed_us: f64) {
    let text = |at: f64, _| (at / renewed_us).floor() * renewed_us;
    let found = estimate_by_dates(&dated(200, text));
    let is_even = |found: &ClockEstimate| {
        found.step_us == 0 && found.drift.is_none_or(|(slowest, fastest)| slowest <= 0.0 && fastest >= 0.0)
    };
    assert!(found.as_ref().map_or_else(|why| *why == UnknownClock::SeveralClocks, is_even), "{found:?}");
}

#[rstest]
#[case::forward(3_000_000)]
#[case::back(-30_000_000)]
fn step_of_seconds_is_found_by_dates(#[case] step: i64) {
    let set = |at: f64, _| if at < 12_345_000.0 { at } else { at + step as f64 };
    near(estimate_by_dates(&dated(30, set)).unwrap().step_us as f64, step as f64, 60_000.0);
}

/// Two servers answer in turn, whose clocks differ.
#[rstest]
#[case::long(30, 2_000_000.0, true)]
#[case::short(2, 2_000_000.0, true)]
#[case::clocks_that_agree(30, 20_000.0, false)]
fn several_clocks_are_unknown(#[case] time_s: u64, #[case] apart_us: f64, #[case] unknown: bool) {
    let found = estimate(&dated(time_s, |at, number| at + apart_us * (number % 2) as f64), true);
    assert_eq!(found.is_err(), unknown, "{found:?}");
    assert!(found.err().is_none_or(|reason| reason == UnknownClock::SeveralClocks));
}

#[test]
fn no_dates_are_unknown() {
    assert_eq!(estimate(&[], true), Err(UnknownClock::NoDate));
}

/// Two bursts of exact samples, an hour apart, of a clock that is 50 ppm fast.
#[test]
fn exact_clock_drifts_by_parts_per_million() {
    let hour = Duration::from_secs(3600);
    let sample = |at: Duration, trip: u64| {
        let theirs = START_US + micros(at) + (at.as_micros() as f64 * 50e-6) as i64;
        ClockSample {
            sent: at.saturating_sub(us(trip / 2)),
            received: at + us(trip / 2),
            theirs_us: theirs,
            resolution: us(0),
        }
    };
    let bursts = [us(10_000), hour].map(|at| {
        let fastest = ClockSample::fastest(&[sample(at, 9_000), sample(at, 400), sample(at, 5_000)]).unwrap();
        assert_eq!(fastest, sample(at, 400).window());
        fastest
    });
    let found = estimate(&bursts, false).unwrap();
    let figures = clock_figures(
        Ok(found),
        ReferenceClock::Gather,
        SystemTime::UNIX_EPOCH + us(START_US.cast_unsigned()) + Duration::from_secs(30),
        0,
    );
    let ClockOffset::Known { ahead_us, uncertainty_us, drift_ppm, drift_uncertainty_ppm, .. } =
        figures.offset
    else {
        panic!("{figures:?}");
    };
    near(ahead_us as f64, 30_000_000.0, uncertainty_us as f64);
    assert!(uncertainty_us <= 201, "{figures:?}");
    near(drift_ppm.unwrap(), -50.0, drift_uncertainty_ppm.unwrap());
    assert!(drift_uncertainty_ppm.unwrap() < 0.3, "{figures:?}");
}

#[rstest]
#[case::none(5_000_000, 0)]
#[case::reading_took_long(5_020_000, 0)]
#[case::forward(35_000_000, 30_000_000)]
#[case::back(4_000_000, -1_000_000)]
fn step_of_the_own_clock(#[case] wall_us: u64, #[case] expected: i64) {
    let (steady, wall) = (Instant::now(), SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000));
    let step = wall_step((steady, wall), (steady + Duration::from_secs(5), wall + us(wall_us)));
    assert_eq!(step, expected);
}

proptest! {
    /// For clocks that run equally fast, whatever the delays, times and offset.
    #[test]
    fn true_start_is_in_the_estimated_range(
        start_us in 1_000_000_000_000_000i64..2_000_000_000_000_000,
        answers in prop::collection::vec((0u64..120_000_000, 0u64..3_000_000, 0u64..3_000_000), 1..200),
        exact in any::<bool>(),
    ) {
        let mut dates = AnswerDates::default();
        let mut windows = Vec::new();
        let mut answers = answers;
        answers.sort_unstable();
        for (sent, there, back) in answers {
            let (theirs, received) = (start_us + (sent + there).cast_signed(), sent + there + back);
            let (sent, received) = (us(sent), us(received));
            if exact {
                windows.push(ClockSample { sent, received, theirs_us: theirs, resolution: us(0) }.window());
            } else {
                record(&mut dates, sent, received, theirs);
            }
        }
        windows.extend(dates.windows());
        let found = estimate(&windows, true).unwrap();
        prop_assert!(found.start.from_us <= start_us && start_us <= found.start.to_us, "{:?}", found);
        prop_assert_eq!(found.step_us, 0);
        prop_assert!(found.drift.is_none_or(|(slowest, fastest)| slowest <= 0.0 && fastest >= 0.0));
    }
}
