//! The limits of the generator are never reported as the target's: servers record the truth, and each figure of the
//! program is right by their record, or the program says that the run is invalid.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use edgeproof_cli::raise_open_files;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_load::service::{
    AnswerManner, Delay, RecordingServer, ServerBehaviour, ServerRecord, TrueTimes,
};
use edgeproof_reports::load::Quantile;
use edgeproof_reports::load::{LoadReport, LoadState};
use tempfile::TempDir;

use crate::support::{Cases, MACHINE, ProgramCall, RunningProgram};

const MS: Duration = Duration::from_millis(1);
const S: Duration = Duration::from_secs(1);

/// A run of the program against a server. Rates are low: runs are played at the same time, and a run that waits for a
/// processor is played again.
pub(crate) struct LimitsRun {
    pub(crate) code: i32,
    pub(crate) text: String,
    pub(crate) report: LoadReport,
    record: ServerRecord,
}

impl LimitsRun {
    /// Runs `edge-relay` with these options.
    fn relay(behaviour: &ServerBehaviour, options: &str) -> Self {
        Self::play(behaviour, &format!("edge-relay --edge-url {{url}} {options}"), |_| ())
    }

    /// Runs the program with this command line. `started` sees the process.
    pub(crate) fn play<T>(
        behaviour: &ServerBehaviour,
        line: &str,
        started: impl FnOnce(&mut RunningProgram) -> T,
    ) -> Self {
        // Those of the server's connections are this process's.
        raise_open_files(u64::MAX);
        let server = RecordingServer::start(&Spec::builtin(Version::Current), behaviour.clone()).unwrap();
        let folder = TempDir::new().unwrap();
        let references = folder.path().join("references");
        let sessions: Vec<String> = (0..5000).map(|number| format!("session-{number}")).collect();
        std::fs::write(&references, sessions.join("\n")).unwrap();
        let line = line.replace("{url}", &server.url());
        let line = line.replace("{references}", &references.display().to_string());
        let mut program = ProgramCall::new(&line).env("READ_TOKEN", "service_read_test").start();
        let guard = started(&mut program);
        let run = program.wait();
        drop(guard);
        let text = run.to_string();
        let report = run.report.unwrap_or_else(|| panic!("no report: {text}"));
        Self { code: run.code.unwrap(), text, report, record: server.record() }
    }

    /// Checks a run. The figures of a run that is invalid, as this machine is busy, exclude what the generator added;
    /// only where the rest is too much for a check, the run is repeated with the machine for itself.
    fn check(run: impl Fn() -> Self, check: impl Fn(&Self)) {
        let first = {
            let _shared = MACHINE.blocking_read();
            run()
        };
        if !first.is_invalid() {
            return check(&first);
        }
        if catch_unwind(AssertUnwindSafe(|| check(&first))).is_err() {
            let _alone = MACHINE.blocking_write();
            check(&run());
        }
    }

    pub(crate) fn is_invalid(&self) -> bool {
        self.report.state == LoadState::Invalid
    }

    /// Checks the exit code and, as an invalid run has another one, the broken thresholds.
    fn ended(&self, code: i32, broken: &[&str]) {
        assert_eq!(self.code, if self.is_invalid() { 3 } else { code }, "{}", self.text);
        let found = self.report.thresholds.iter().filter(|threshold| !threshold.holds);
        let found: Vec<&str> = found.map(|threshold| threshold.rule.as_str()).collect();
        assert_eq!(found.len(), broken.len(), "{found:?}; {}", self.text);
        for (found, broken) in found.iter().zip(broken) {
            assert!(found.starts_with(broken), "{found}, not {broken}; {}", self.text);
        }
    }

    /// Response times of all operations, by the server's record. All runs are without a warm-up.
    pub(crate) fn truth(&self) -> TrueTimes {
        self.record.response(0, self.report.ledger.scheduled)
    }

    /// Percentiles that the server's record contradicts by more than 5 % and 50 µs.
    pub(crate) fn contradictions(&self, truth: &TrueTimes) -> Vec<String> {
        let figures = &self.report.response.figures;
        let reported = [
            (Quantile::P50, figures.p50_us),
            (Quantile::P90, figures.p90_us),
            (Quantile::P99, figures.p99_us),
        ];
        let contradicts = |(quantile, us): (Quantile, u64)| {
            let (reported, (low, high)) = (Duration::from_micros(us), truth.at(quantile));
            let near = |time: Duration| (time / 20).max(Duration::from_micros(50));
            let agrees = reported + near(low) >= low && reported <= high.saturating_add(near(high));
            (!agrees).then(|| format!("{}: {reported:?}, by the server {low:?} to {high:?}", quantile.name()))
        };
        reported.into_iter().filter_map(contradicts).collect()
    }
}

fn delay(delay: Delay) -> ServerBehaviour {
    ServerBehaviour { delay, ..ServerBehaviour::default() }
}

#[test]
fn limits_of_the_generator_are_not_reported_as_the_targets() {
    Cases::default()
        .case("waiting operations", percentile_of_operations_that_waited_for_a_user_is_a_lower_bound)
        .case("jump of the latency", jump_of_the_latency_is_not_queued_in_the_generator)
        .case("few users", few_users_limit_the_run_and_not_the_target)
        .case("timeout", timeout_counts_from_the_intended_start)
        .case("polls", polls_of_a_pending_verdict_are_not_charged_with_the_timer)
        .case("slow answers", slow_answers_are_delivered)
        .case("slow target", target_that_does_not_keep_up_breaks_a_threshold)
        .case("timed-out requests", percentile_of_timed_out_requests_is_a_lower_bound)
        .case("stalled target", each_operation_of_a_stalled_target_has_a_user)
        .case("reset connection", target_that_answers_all_later_requests_is_not_gone)
        .play();
}

fn jump_of_the_latency_is_not_queued_in_the_generator() {
    let jump = delay(Delay::Drifting { before: 2 * MS, after: 200 * MS, at: S });
    let options = "--rate 50 --duration 3s --warm-up 0s";
    let run = || LimitsRun::relay(&jump, options);
    LimitsRun::check(run, |run| {
        run.ended(0, &[]);
        assert_eq!(run.report.errors(), 0, "{}", run.text);
        assert_eq!(run.contradictions(&run.truth()), Vec::<String>::new(), "{}", run.text);
    });
}

fn few_users_limit_the_run_and_not_the_target() {
    let _shared = MACHINE.blocking_read();
    let jump = delay(Delay::Drifting { before: 2 * MS, after: 200 * MS, at: S });
    let run = LimitsRun::relay(&jump, "--rate 200 --duration 2s --warm-up 0s --users 10");
    assert_eq!(run.code, 3, "{}", run.text);
    assert!(run.text.contains("--users"), "{}", run.text);
}

fn timeout_counts_from_the_intended_start() {
    let stall = delay(Delay::Stalling { at: 500 * MS, time: 2 * S, period: 3600 * S });
    let options = "--rate 50 --duration 3s --warm-up 0s --timeout 1s";
    let run = || LimitsRun::relay(&stall, options);
    LimitsRun::check(run, |run| {
        // Requests that are due in the first second of the stall wait for more than 1 s.
        let errors = run.report.errors();
        assert!((47..=53).contains(&errors), "{errors} errors; {}", run.text);
        let successes = run.report.routes[0].outcomes.iter().find(|outcome| outcome.expected).unwrap();
        let longest = Duration::from_micros(successes.response.figures.max_us);
        assert!(longest <= 1050 * MS, "a success took {longest:?}; {}", run.text);
    });
}

fn polls_of_a_pending_verdict_are_not_charged_with_the_timer() {
    let pending = ServerBehaviour { pending: 200 * MS, ..ServerBehaviour::default() };
    let line = "verdict-polling --base-url {url} --references {references} --rate 20 --duration 2s --warm-up 0s \
                --poll-interval 20ms --wait-share 0% --wrong-share 0% --bad-token-share 0%";
    let run = || LimitsRun::play(&pending, line, |_| ());
    LimitsRun::check(run, |run| {
        let count = run.report.response.figures.count;
        // Probes come first.
        let truth = run.record.response(run.record.0.len() as u64 - count, count);
        assert_eq!(run.contradictions(&truth), Vec::<String>::new(), "{}", run.text);
        run.ended(0, &[]);
    });
}

fn slow_answers_are_delivered() {
    let slow = delay(Delay::Constant(550 * MS));
    let options = "--rate 50 --duration 3s --warm-up 0s --threshold 'rate>47'";
    let run = || LimitsRun::relay(&slow, options);
    LimitsRun::check(run, |run| {
        let delivered = run.report.rate.delivered;
        assert!((49.0..=51.0).contains(&delivered), "{delivered}/s; {}", run.text);
        run.ended(0, &[]);
    });
}

fn target_that_does_not_keep_up_breaks_a_threshold() {
    let limited = delay(Delay::Limited(80.0));
    let options = "--rate 100 --duration 3s --warm-up 0s";
    let run = || LimitsRun::relay(&limited, options);
    LimitsRun::check(run, |run| {
        run.ended(1, &["delivered"]);
        assert!(run.text.contains("did not keep up"), "{}", run.text);
        let delivered = run.report.rate.delivered;
        assert!((76.0..=84.0).contains(&delivered), "{delivered}/s; {}", run.text);
    });
}

fn percentile_of_timed_out_requests_is_a_lower_bound() {
    let slow = delay(Delay::Slow { share: 0.02, slow: 5 * S, usual: 2 * MS });
    let options = "--rate 200 --duration 2s --warm-up 0s --timeout 1s \
                   --threshold 'error-rate<5%' --threshold 'delivered>90%' --threshold 'p99.9<2s'";
    let run = || LimitsRun::relay(&slow, options);
    LimitsRun::check(run, |run| {
        // p99, p99.9 and max of all requests: 98 % are answered.
        let bounded = run.text.lines().find(|line| line.contains('≥')).unwrap_or_default();
        assert_eq!(bounded.matches('≥').count(), 3, "{}", run.text);
        // Nobody knows whether it is below 2 s.
        run.ended(1, &["p99.9<2s"]);
    });
}

/// The backlog of this target exceeds the users after 4 s. Nobody knows how long the operations that waited for a
/// user would have waited for the target.
fn percentile_of_operations_that_waited_for_a_user_is_a_lower_bound() {
    let limited = delay(Delay::Limited(30.0));
    let options =
        "--rate 60 --duration 5s --warm-up 0s --drain 20s --threshold 'p50<1h' --threshold 'p99<1h'";
    let run = || LimitsRun::relay(&limited, options);
    LimitsRun::check(run, |run| {
        assert_eq!(run.report.ledger.answered, 300, "{}", run.text);
        run.ended(1, &["p99<1h", "delivered"]);
    });
}

/// More users than goose starts: the others are made while the target is silent.
fn each_operation_of_a_stalled_target_has_a_user() {
    let silent = delay(Delay::Stalling { at: Duration::ZERO, time: 3600 * S, period: 3600 * S });
    let run = || LimitsRun::relay(&silent, "--rate 800 --duration 1s --warm-up 0s --drain 100ms");
    LimitsRun::check(run, |run| {
        let ledger = run.report.ledger;
        assert_eq!((ledger.open, ledger.dropped), (800, 0), "{}", run.text);
        assert_eq!(run.report.plan.users, 1600, "{}", run.text);
    });
}

/// The target resets the first of three connections. Nothing is due after its last answer.
fn target_that_answers_all_later_requests_is_not_gone() {
    let behaviour =
        ServerBehaviour { manner: AnswerManner::Reset { share: 0.05 }, ..ServerBehaviour::default() };
    let options =
        "--rate 1 --duration 3s --warm-up 0s --threshold 'error-rate<50%' --threshold 'delivered>0%'";
    let run = || LimitsRun::relay(&behaviour, options);
    LimitsRun::check(run, |run| {
        assert_eq!(run.report.errors(), 1, "{}", run.text);
        run.ended(0, &[]);
    });
}
