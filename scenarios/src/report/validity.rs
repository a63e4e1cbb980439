use edgeproof_reports::load::{Distortion, LoadReport, Model, Seal, micros};

use super::findings::limited_by_users;
use crate::engine::RunData;
use crate::measure::{Histogram, LoadMeasurements, RequestFailure, RequestOutcome};

/// The figures that decide whether the generator kept up.
pub(super) struct Validity<'a> {
    pub(super) report: &'a LoadReport,
    pub(super) data: &'a RunData,
}

/// The largest part of the generator's delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DelayCause {
    LateRelease,
    LateRead,
    WaitingForUser,
}

/// Largest share of a request timeout that the generator may use up.
const OF_TIMEOUT: u128 = 20;
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

impl Validity<'_> {
    /// Why a run is invalid: the generator did not keep up, or reached a limit of its own. Empty for a valid run.
    pub(super) fn reasons(&self) -> Vec<String> {
        use RequestOutcome::{Dropped, Failed, Open};
        let Self { report, data } = self;
        let (contention, is_open) = (&data.self_monitor.contention, report.model == Model::Open);
        let mut invalid = Vec::new();
        let named: Vec<&Distortion> = report.distorted.iter().filter(|found| found.invalid).collect();
        if !named.is_empty() && !self.waited_for_target() {
            invalid.push(format!(
                "the generator delayed requests itself: {}; {}",
                percentiles(&named),
                self.explained(self.cause())
            ));
        }
        let unanswered = |outcome| matches!(outcome, Failed(RequestFailure::Timeout) | Open | Dropped);
        let unanswered = self.count(unanswered);
        let longest_usual = self.data.recorded.lateness.value_at(0.99);
        if unanswered > 0 && u128::from(longest_usual) > data.run.timeout.as_micros() / OF_TIMEOUT {
            invalid.push(format!(
                "{unanswered} requests have no answer, but the generator was late: 1 % of all requests were sent more \
                 than {} after they were due, so the target may not be the cause; {}",
                micros(longest_usual),
                self.explained(DelayCause::LateRelease)
            ));
        }
        let (unfinished, requests) =
            (report.ledger.dropped + report.ledger.open, report.response.figures.count);
        if unfinished as f64 > requests as f64 * UNFINISHED && self.was_starved() {
            invalid.push(format!(
                "{unfinished} of {requests} requests were never sent, or were open at the end, but the generator could \
                 not run: {}",
                contention.explained()
            ));
        }
        invalid.extend(contention.starved_target());
        if is_open {
            invalid.extend(contention.crowded_target());
        }
        let sent = report.routes.first().map_or(0, |route| route.sent);
        if let Seal::Real { not_in_time, .. } = report.plan.seal
            && not_in_time as f64 > sent as f64 * UNSEALED
        {
            invalid.push(format!(
                "{not_in_time} of {sent} collections were not sealed in time: their requests waited for the generator"
            ));
        }
        if is_open && (data.released as f64) < data.planned as f64 * RELEASED {
            invalid.push(format!(
                "the pacer released only {} of {} operations; {}",
                data.released,
                data.planned,
                self.explained(DelayCause::LateRelease)
            ));
        }
        let failed = self.count(|outcome| outcome == Failed(RequestFailure::NoSocket));
        if failed > 0 {
            invalid.push(format!(
                "the generator had no free file or port for {failed} requests; raise the limit on open files (ulimit -n) \
                 or the range of local ports, or give fewer --users"
            ));
        }
        if !report.rate.kept_up() {
            invalid.extend(limited_by_users(data.run.users, data.waited, data.released));
        }
        invalid
    }

    /// Number of measured requests with these outcomes.
    fn count(&self, takes: impl Fn(RequestOutcome) -> bool) -> u64 {
        self.data.recorded.times(|series| takes(series.outcome), |series| &series.observed).count()
    }

    /// The largest part of the delay. A starved generator also occupies its users for longer, so waiting is the
    /// cause only if it is most of the delay.
    fn cause(&self) -> DelayCause {
        let LoadMeasurements { delay, waiting, lateness, .. } = &self.data.recorded;
        let (waiting, lateness) = (total(waiting), total(lateness));
        let read = total(delay) - waiting - lateness;
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
        let measurements = &self.data.recorded;
        let own = total(&measurements.delay) - total(&measurements.waiting);
        !self.report.rate.kept_up()
            && self.cause() == DelayCause::WaitingForUser
            && own <= total(&measurements.times(|_| true, |series| &series.response).all()) * TOLERATED
    }

    /// Whether the generator was starved: that can be why requests were never sent, or open at the end. They count at
    /// their age, so percentiles do not show it. A generator whose timer was in time is not the cause.
    fn was_starved(&self) -> bool {
        let monitor = &self.data.self_monitor;
        monitor.lag.value_at(0.9) > LATE
            && (monitor.generator.starved > SATURATED || monitor.contention.held_back() > HELD_BACK)
    }

    /// The cause and what to do about it.
    fn explained(&self, cause: DelayCause) -> String {
        let part = match cause {
            DelayCause::WaitingForUser => {
                return "most of it while operations waited for a free user; give more --users, or omit it and give the \
                        duration of an operation with --expect"
                    .into();
            }
            DelayCause::LateRelease => "most of it before they were sent",
            DelayCause::LateRead => "most of it after the answer had arrived",
        };
        format!("{part}: {}", self.data.self_monitor.contention.explained())
    }
}

/// The sum of all times (µs).
fn total(times: &Histogram) -> f64 {
    times.mean() * times.count() as f64
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
    use std::time::{Duration, SystemTime};

    use edgeproof_fixtures::spec::{Spec, Version};
    use edgeproof_reports::TargetKind;
    use edgeproof_reports::load::{ContentionFigures, LoadTarget, PlannedLoad};
    use rstest::rstest;

    use super::*;
    use crate::engine::{LoadModel, LoadRun, SelfMonitorReading};
    use crate::measure::{Code, Codes, CpuContention, OutcomeSeries, RouteId, TargetContention};
    use crate::plan::{Arrivals, Rate, Shard, Stages, UserCount, UserLimit};
    use crate::report::{ReportInputs, build};

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
        let series = |outcome, response: &Histogram, observed: &Histogram| OutcomeSeries {
            route: RouteId(0),
            outcome,
            expected: outcome.is_answer(),
            response: response.clone(),
            waited: Histogram::default(),
            observed: observed.clone(),
            service: Histogram::default(),
        };
        let answered = RequestOutcome::Answer { status: 200, code: Code::Plain };
        let none = Histogram::default();
        let timed_out = RequestOutcome::Failed(RequestFailure::Timeout);
        let late = times(case.unanswered, 1_000_000);
        let measurements = LoadMeasurements {
            series: vec![series(answered, &response, &response), series(timed_out, &none, &late)],
            delay,
            lateness,
            waiting,
            ..LoadMeasurements::default()
        };
        let stages = Stages::constant(Rate::per_second(100.0).unwrap(), Duration::from_secs(10)).unwrap();
        let run = LoadRun {
            scenarios: Vec::new(),
            model: LoadModel::Open(Arrivals::new(&stages, Duration::ZERO, Shard::WHOLE)),
            users: UserCount { users: 8, limit: UserLimit::Plan },
            seed: 0,
            codes: Codes::new(&Spec::builtin(Version::Current)),
            routes: vec!["POST /v1/signals".into()],
            addresses: Vec::new(),
            edge: None,
            timeout: Duration::from_secs(1),
            drain: Duration::ZERO,
            start_at: None,
            shared_route: None,
            on_start: None,
            live: None,
        };
        let data = RunData {
            run,
            started: SystemTime::now(),
            took: Duration::from_secs(10),
            drained: Duration::ZERO,
            step_us: 0,
            recorded: measurements,
            released: case.released,
            planned: 1_000,
            waited: 0,
            self_monitor: SelfMonitorReading { lag, contention: case.contention, ..Default::default() },
            cpu: Duration::ZERO,
            interrupted: None,
        };
        let inputs = ReportInputs {
            scenario: None,
            spec: None,
            target: LoadTarget { kind: TargetKind::Embedded, command: None, edge_url: None, base_url: None },
            plan: PlannedLoad {
                measured_ms: 10_000,
                seal: Seal::Real { cost_us: 0.0, not_in_time: case.unsealed },
                ..PlannedLoad::default()
            },
            shard: (0, 1),
            verdict_route: None,
            thresholds: &[],
            arrived: Vec::new(),
            probes: Vec::new(),
            faults: Vec::new(),
            unchecked: false,
            partial: Vec::new(),
        };
        let mut report = build(inputs, &data);
        report.distorted.clone_from(&case.distorted);
        report.rate.delivered = if case.overloaded { 50.0 } else { 100.0 };
        report.ledger.dropped = case.unfinished;
        report.response.figures.count = 1_000;
        report.routes[0].sent = 1_000;
        Validity { report: &report, data: &data }.reasons().join("\n")
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
        "900 of 1000 requests were never sent, or were open at the end, but the generator could not run"
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
