use std::time::Duration;

use edgeproof_reports::load::{Distortion, micros};

use super::cpu_contention::CpuContention;
use super::histogram::Histogram;

/// Figures that decide whether a run is valid.
#[derive(Debug, Clone)]
pub struct ValidityInputs<'a> {
    /// Percentiles that the generator's delay changed.
    pub distorted: &'a [Distortion],
    /// Response times without the generator's delay.
    pub response: &'a Histogram,
    /// Delay that the generator added to each request.
    pub delay: &'a Histogram,
    /// The part of it before sending, while a connection was free.
    pub lateness: &'a Histogram,
    /// The part of it that operations waited for a free user.
    pub waiting: &'a Histogram,
    /// Delay of the runtime's timer.
    pub lag: &'a Histogram,
    /// Who used the processors.
    pub contention: &'a CpuContention,
    /// Whether the target did not keep up: then the users ran out because of it.
    pub overloaded: bool,
    /// Whether the run uses the open model.
    pub open: bool,
    /// Operations that the plan scheduled.
    pub planned: u64,
    /// Operations that the pacer released.
    pub released: u64,
    /// Requests that timed out, were open at the end or were never sent.
    pub unanswered: u64,
    /// Those of them that were open at the end or never sent.
    pub unfinished: u64,
    /// Measured requests.
    pub requests: u64,
    /// Share of the time in which the generator used all its processors, 0 to 1.
    pub saturated: f64,
    /// Request timeout.
    pub timeout: Duration,
    /// Collections that were sealed too late, and collections sent.
    pub unsealed: (u64, u64),
}

/// The largest part of the generator's delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DelayCause {
    LateRelease,
    LateRead,
    WaitingForUser,
}

/// Largest share of a request timeout that the generator may use up.
const OF_TIMEOUT: u32 = 20;
/// Largest own delay of a generator that does not occupy its users noticeably, as a share of the response times.
const TOLERATED: f64 = 0.05;
/// Largest share of requests without an end in a run of a starved generator.
const UNFINISHED: f64 = 0.001;
/// A 90th percentile of the timer's delay (µs) that shows a late runtime. The timer's resolution is 1 ms.
const LATE: u64 = 5_000;
/// Share of the time with all CPU used that counts as starved.
const SATURATED: f64 = 0.5;
/// Share of the time without a processor that counts as starved.
const HELD_BACK: f64 = 0.25;
/// Largest share of collections that were sealed too late.
const UNSEALED: f64 = 0.001;
/// Smallest share of planned operations that the pacer must release.
const RELEASED: f64 = 0.995;
/// Largest number of percentiles that a finding names.
const NAMED: usize = 4;

/// Why a run is invalid; empty for a valid run.
pub fn invalid_reasons(inputs: &ValidityInputs<'_>) -> Vec<String> {
    let mut invalid = Vec::new();
    let cause = inputs.cause();
    let named: Vec<&Distortion> = inputs.distorted.iter().filter(|found| found.invalid).collect();
    if !named.is_empty() && !inputs.waited_for_target() {
        invalid.push(format!(
            "the generator delayed requests itself: {}; {}",
            percentiles(&named),
            inputs.explained(cause)
        ));
    }
    if inputs.unanswered > 0 && longest_usual(inputs.lateness) > inputs.timeout / OF_TIMEOUT {
        invalid.push(format!(
            "{} requests have no answer, but the generator was late: 1 % of all requests were sent more than {} after \
             they were due, so the target may not be the cause; {}",
            inputs.unanswered,
            micros(inputs.lateness.value_at(0.99)),
            inputs.explained(DelayCause::LateRelease)
        ));
    }
    if inputs.unfinished_because_of_generator() {
        invalid.push(format!(
            "{} of {} requests were never sent or open at the end, but the generator could not run: {}",
            inputs.unfinished,
            inputs.requests,
            inputs.contention.explained()
        ));
    }
    invalid.extend(inputs.contention.starved_target());
    if inputs.open {
        invalid.extend(inputs.contention.crowded_target());
    }
    let (unsealed, sent) = inputs.unsealed;
    if unsealed as f64 > sent as f64 * UNSEALED {
        invalid.push(format!(
            "{unsealed} of {sent} collections were not sealed in time: their requests waited for the generator"
        ));
    }
    if inputs.open && (inputs.released as f64) < inputs.planned as f64 * RELEASED {
        invalid.push(format!(
            "the pacer released only {} of {} operations; {}",
            inputs.released,
            inputs.planned,
            inputs.explained(DelayCause::LateRelease)
        ));
    }
    invalid
}

impl ValidityInputs<'_> {
    /// The largest part of the delay. A starved generator also occupies its users for longer, so waiting is the
    /// cause only if it is most of the delay.
    fn cause(&self) -> DelayCause {
        let (waiting, lateness) = (total(self.waiting), total(self.lateness));
        let read = total(self.delay) - waiting - lateness;
        if waiting > 2.0 * (lateness + read) {
            DelayCause::WaitingForUser
        } else if lateness >= read {
            DelayCause::LateRelease
        } else {
            DelayCause::LateRead
        }
    }

    /// Whether operations waited for a free user because the target did not keep up, and not because a late
    /// generator occupied the users.
    fn waited_for_target(&self) -> bool {
        let own = total(self.delay) - total(self.waiting);
        self.overloaded
            && self.cause() == DelayCause::WaitingForUser
            && own <= total(self.response) * TOLERATED
    }

    /// Whether requests were never sent, or open at the end, because the generator was starved. They count at their
    /// age, so percentiles do not show it. A generator whose timer was in time is not the cause.
    fn unfinished_because_of_generator(&self) -> bool {
        self.unfinished as f64 > self.requests as f64 * UNFINISHED
            && self.lag.value_at(0.9) > LATE
            && (self.saturated > SATURATED || self.contention.held_back() > HELD_BACK)
    }

    /// The cause and what to do about it.
    fn explained(&self, cause: DelayCause) -> String {
        let part = match cause {
            DelayCause::WaitingForUser => {
                return "most of it is time that operations waited for a free user; give more --users, or omit it and tell with --expect how long an operation takes".into();
            }
            DelayCause::LateRelease => "most of it before they were sent",
            DelayCause::LateRead => "most of it after the answer had arrived",
        };
        format!("{part}: {}", self.contention.explained())
    }
}

/// The sum of all times (µs).
fn total(times: &Histogram) -> f64 {
    times.mean() * times.count() as f64
}

/// The 99th percentile, as a time.
fn longest_usual(times: &Histogram) -> Duration {
    Duration::from_micros(times.value_at(0.99))
}

/// The changed percentiles, those of the whole run first.
fn percentiles(named: &[&Distortion]) -> String {
    let whole = |found: &&&Distortion| found.route.is_none();
    let routes = named.iter().filter(|found| {
        // A route is worth a word if the whole run does not show the same.
        found.route.is_some() && !named.iter().filter(whole).any(|other| other.percentile == found.percentile)
    });
    let shown: Vec<String> = named.iter().filter(whole).chain(routes).map(|found| shown(found)).collect();
    let more = shown.len().saturating_sub(NAMED);
    let text = shown[..shown.len() - more].join(", ");
    if more == 0 { text } else { format!("{text}, and {more} more") }
}

fn shown(found: &Distortion) -> String {
    let route = found.route.as_ref().map(|route| format!("{route} ")).unwrap_or_default();
    format!(
        "{route}{} {} is {} with its delay and {} without",
        found.figure,
        found.percentile,
        micros(found.observed_us),
        micros(found.corrected_us)
    )
}

#[cfg(test)]
mod tests {
    use edgeproof_reports::load::ContentionFigures;
    use rstest::rstest;

    use super::super::cpu_contention::TargetContention;
    use super::*;

    fn times(count: u64, us: u64) -> Histogram {
        let mut histogram = Histogram::default();
        (0..count).for_each(|_| histogram.record_micros(us));
        histogram
    }

    fn distorted(route: Option<&str>, percentile: &str, invalid: bool) -> Distortion {
        let (figure, percentile) = ("response".to_owned(), percentile.to_owned());
        let (observed_us, corrected_us) = (7_800, 200);
        Distortion { route: route.map(str::to_owned), figure, percentile, observed_us, corrected_us, invalid }
    }

    fn busy() -> CpuContention {
        CpuContention {
            elapsed_s: 10.0,
            figures: ContentionFigures { wait_s: 6.5, others_s: 9.0, ..ContentionFigures::default() },
            ..CpuContention::default()
        }
    }

    struct Case {
        distorted: Vec<Distortion>,
        response: u64,
        delay: u64,
        lateness: u64,
        waiting: u64,
        lag: u64,
        overloaded: bool,
        released: u64,
        unanswered: u64,
        unfinished: u64,
        unsealed: u64,
        contention: CpuContention,
    }

    /// A run of 1,000 requests. Times in µs.
    fn valid() -> Case {
        Case {
            distorted: Vec::new(),
            response: 200,
            delay: 60,
            lateness: 30,
            waiting: 0,
            lag: 1_000,
            overloaded: false,
            released: 1_000,
            unanswered: 3,
            unfinished: 1,
            unsealed: 1,
            contention: busy(),
        }
    }

    fn reasons(case: &Case) -> String {
        let [response, delay, lateness, waiting, lag] =
            [case.response, case.delay, case.lateness, case.waiting, case.lag].map(|us| times(1_000, us));
        let inputs = ValidityInputs {
            distorted: &case.distorted,
            response: &response,
            delay: &delay,
            lateness: &lateness,
            waiting: &waiting,
            lag: &lag,
            contention: &case.contention,
            overloaded: case.overloaded,
            open: true,
            planned: 1_000,
            released: case.released,
            unanswered: case.unanswered,
            unfinished: case.unfinished,
            requests: 1_000,
            saturated: 0.0,
            timeout: Duration::from_secs(1),
            unsealed: (case.unsealed, 1_000),
        };
        invalid_reasons(&inputs).join("\n")
    }

    fn p99() -> Vec<Distortion> {
        vec![distorted(None, "p99", true)]
    }

    #[rstest]
    #[case::sound(valid(), "")]
    #[case::marked(Case { distorted: vec![distorted(None, "p99.9", false)], ..valid() }, "")]
    #[case::distorted(
        Case { distorted: p99(), ..valid() },
        "response p99 is 7.80 ms with its delay and 200 µs without"
    )]
    #[case::released_late(
        Case { distorted: p99(), delay: 100, lateness: 90, ..valid() },
        "most of it before they were sent: its threads waited 6.50 s for a processor in 10.0 s"
    )]
    #[case::read_late(
        Case { distorted: p99(), delay: 100, lateness: 10, ..valid() },
        "most of it after the answer had arrived: its threads waited 6.50 s"
    )]
    #[case::waited_for_a_user(
        Case { distorted: p99(), delay: 1_000, waiting: 900, ..valid() },
        "waited for a free user; give more --users"
    )]
    #[case::waited_for_the_target(
        Case { distorted: p99(), response: 9_000, delay: 8_200, waiting: 8_000, overloaded: true, ..valid() },
        ""
    )]
    #[case::waited_because_the_generator_was_late(
        Case { distorted: p99(), response: 200, delay: 8_200, waiting: 8_000, overloaded: true, ..valid() },
        "waited for a free user"
    )]
    #[case::overloaded_and_starved(
        Case { distorted: p99(), delay: 1_000, lateness: 900, overloaded: true, ..valid() },
        "while other processes used 9.00 s of CPU time; stop other programs"
    )]
    #[case::one_route(
        Case { distorted: vec![distorted(Some("GET /x"), "p50", true)], ..valid() },
        "GET /x response p50 is 7.80 ms"
    )]
    #[case::no_answer_in_time(
        Case { lateness: 60_000, ..valid() },
        "3 requests have no answer, but the generator was late"
    )]
    #[case::never_sent(
        Case { unfinished: 900, lag: 40_000, ..valid() },
        "900 of 1000 requests were never sent or open at the end, but the generator could not run"
    )]
    #[case::never_sent_to_a_hanging_target(Case { unfinished: 900, ..valid() }, "")]
    #[case::all_answered(Case { lateness: 60_000, unanswered: 0, ..valid() }, "")]
    #[case::sealed_late(Case { unsealed: 2, ..valid() }, "2 of 1000 collections were not sealed")]
    #[case::held_back(Case { released: 900, ..valid() }, "released only 900 of 1000 operations")]
    fn own_delay_makes_the_run_invalid(#[case] case: Case, #[case] expected: &str) {
        let found = reasons(&case);
        assert_eq!(found.is_empty(), expected.is_empty(), "{found}");
        assert!(found.contains(expected), "{found}");
    }

    #[test]
    fn starved_target_makes_the_run_invalid() {
        let target = TargetContention { embedded: false, wait_s: 2.0, long_wait_s: 2.0 };
        let contention = CpuContention { target: Some(target), ..busy() };
        let found = reasons(&Case { contention, ..valid() });
        assert!(
            found.starts_with("the target runs on this machine, and its threads waited 2.00 s"),
            "{found}"
        );
    }

    #[test]
    fn route_is_named_only_beside_a_sound_run() {
        let routes = ["GET /a", "GET /b", "GET /c", "GET /d", "GET /e"];
        let routes = routes.map(|route| distorted(Some(route), "p99", true));
        let all: Vec<Distortion> = p99().into_iter().chain(routes.clone()).collect();
        assert_eq!(percentiles(&all.iter().collect::<Vec<_>>()).matches("p99").count(), 1);
        let text = percentiles(&routes.iter().collect::<Vec<_>>());
        assert_eq!((text.matches("p99").count(), text.ends_with(", and 1 more")), (4, true), "{text}");
    }
}
