//! The limits of the generator are never reported as the target's: servers record the truth, and each figure of the
//! program is right by their record, or the program says that the run is invalid.
#![expect(clippy::unwrap_used, reason = "test helpers, which clippy does not recognise as tests")]

use std::process::{Command, Stdio};
use std::time::Duration;

use edgeproof_load::plan::Quantile;
use edgeproof_load::service::{
    AnswerManner, Delay, RecordingServer, ServerBehaviour, ServerRecord, TrueTimes,
};
use edgeproof_reports::load::{LoadReport, LoadState};
use parking_lot::RwLock;
use tempfile::TempDir;

const MS: Duration = Duration::from_millis(1);
const S: Duration = Duration::from_secs(1);

/// Attempts at a run that this machine was too busy for.
const ATTEMPTS: usize = 3;

/// A test that starves the generator has the machine for itself.
static MACHINE: RwLock<()> = RwLock::new(());

/// A run of the program against a server.
struct LimitsRun {
    code: i32,
    text: String,
    report: LoadReport,
    record: ServerRecord,
}

impl LimitsRun {
    /// Runs `edge-relay` with these options.
    fn relay(behaviour: &ServerBehaviour, options: &str) -> Self {
        Self::play(behaviour, &format!("edge-relay --edge-url {{url}} {options}"), |_| ())
    }

    /// Runs the program with this command line. `started` sees the process.
    fn play<T>(
        behaviour: &ServerBehaviour,
        line: &str,
        started: impl FnOnce(&std::process::Child) -> T,
    ) -> Self {
        let server = RecordingServer::start(behaviour.clone()).unwrap();
        let folder = TempDir::new().unwrap();
        let (json, references) = (folder.path().join("load.json"), folder.path().join("references"));
        let sessions: Vec<String> = (0..5000).map(|number| format!("session-{number}")).collect();
        std::fs::write(&references, sessions.join("\n")).unwrap();
        let line = line.replace("{url}", &server.url());
        let line = line.replace("{references}", &references.display().to_string());
        let child = Command::new(env!("CARGO_BIN_EXE_edgeproof-load"))
            .args(shell_words::split(&line).unwrap())
            .arg(format!("--report=json={}", json.display()))
            .env("READ_TOKEN", "service_read_test")
            .env_remove("JOB_COMPLETION_INDEX")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let guard = started(&child);
        let output = child.wait_with_output().unwrap();
        drop(guard);
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let report = LoadReport::load(&json).unwrap_or_else(|why| panic!("{why}: {text}"));
        Self { code: output.status.code().unwrap(), text, report, record: server.record() }
    }

    /// A run for which this machine is not too busy, or the last attempt. The figures of a run that is invalid for
    /// this reason have to be right all the same: they exclude what the generator added.
    fn undisturbed(run: impl Fn() -> Self) -> Self {
        let attempt = || {
            let _shared = MACHINE.read();
            run()
        };
        let mut attempts = std::iter::repeat_with(attempt).take(ATTEMPTS).peekable();
        loop {
            let run = attempts.next().expect("there is at least one attempt");
            if !run.is_invalid() || attempts.peek().is_none() {
                return run;
            }
        }
    }

    fn is_invalid(&self) -> bool {
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
    fn truth(&self) -> TrueTimes {
        self.record.response(0, self.report.ledger.scheduled)
    }

    /// Percentiles that the server's record contradicts by more than 5 % and 50 µs.
    fn contradictions(&self, truth: &TrueTimes) -> Vec<String> {
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
fn jump_of_the_latency_is_not_queued_in_the_generator() {
    let jump = delay(Delay::Drifting { before: 2 * MS, after: 200 * MS, at: 2 * S });
    let options = "--rate 200 --duration 6s --warm-up 0s";
    let run = LimitsRun::undisturbed(|| LimitsRun::relay(&jump, options));
    run.ended(0, &[]);
    assert_eq!(run.report.errors(), 0, "{}", run.text);
    assert_eq!(run.contradictions(&run.truth()), Vec::<String>::new(), "{}", run.text);
}

#[test]
fn few_users_limit_the_run_and_not_the_target() {
    let _shared = MACHINE.read();
    let jump = delay(Delay::Drifting { before: 2 * MS, after: 200 * MS, at: S });
    let run = LimitsRun::relay(&jump, "--rate 200 --duration 4s --warm-up 0s --users 10");
    assert_eq!(run.code, 3, "{}", run.text);
    assert!(run.text.contains("--users"), "{}", run.text);
}

#[test]
fn timeout_counts_from_the_intended_start() {
    let stall = delay(Delay::Stalling { at: 2 * S, time: 2 * S, period: 3600 * S });
    let options = "--rate 100 --duration 7s --warm-up 0s --timeout 1s";
    let run = LimitsRun::undisturbed(|| LimitsRun::relay(&stall, options));
    // Requests that are due in the first second of the stall wait for more than 1 s.
    let errors = run.report.errors();
    assert!((95..=105).contains(&errors), "{errors} errors; {}", run.text);
    let successes = run.report.routes[0].outcomes.iter().find(|outcome| outcome.expected).unwrap();
    let longest = Duration::from_micros(successes.response.figures.max_us);
    assert!(longest <= 1050 * MS, "a success took {longest:?}; {}", run.text);
}

#[test]
fn polls_of_a_pending_verdict_are_not_charged_with_the_timer() {
    let pending = ServerBehaviour { pending: 200 * MS, ..ServerBehaviour::default() };
    let line = "verdict-polling --base-url {url} --references {references} --rate 100 --duration 4s --warm-up 0s \
                --poll-interval 20ms --wait-share 0% --wrong-share 0% --bad-token-share 0%";
    let run = LimitsRun::undisturbed(|| LimitsRun::play(&pending, line, |_| ()));
    let count = run.report.response.figures.count;
    // Probes come first.
    let truth = run.record.response(run.record.0.len() as u64 - count, count);
    assert_eq!(run.contradictions(&truth), Vec::<String>::new(), "{}", run.text);
    run.ended(0, &[]);
}

#[test]
fn slow_answers_are_delivered() {
    let slow = delay(Delay::Constant(550 * MS));
    let options = "--rate 200 --duration 6s --warm-up 0s --threshold 'rate>190'";
    let run = LimitsRun::undisturbed(|| LimitsRun::relay(&slow, options));
    let delivered = run.report.rate.delivered;
    assert!((198.0..=202.0).contains(&delivered), "{delivered}/s; {}", run.text);
    run.ended(0, &[]);
}

#[test]
fn target_that_does_not_keep_up_breaks_a_threshold() {
    let limited = delay(Delay::Limited(400.0));
    let options = "--rate 500 --duration 5s --warm-up 0s";
    let run = LimitsRun::undisturbed(|| LimitsRun::relay(&limited, options));
    run.ended(1, &["delivered"]);
    assert!(run.text.contains("did not keep up"), "{}", run.text);
    let delivered = run.report.rate.delivered;
    assert!((380.0..=420.0).contains(&delivered), "{delivered}/s; {}", run.text);
}

#[test]
fn percentile_of_timed_out_requests_is_a_lower_bound() {
    let slow = delay(Delay::Slow { share: 0.02, slow: 5 * S, usual: 2 * MS });
    let options = "--rate 200 --duration 4s --warm-up 0s --timeout 2s \
                   --threshold 'error-rate<5%' --threshold 'delivered>90%' --threshold 'p99.9<3s'";
    let run = LimitsRun::undisturbed(|| LimitsRun::relay(&slow, options));
    // p99, p99.9 and max of all requests: 98 % are answered.
    let bounded = run.text.lines().find(|line| line.contains('≥')).unwrap_or_default();
    assert_eq!(bounded.matches('≥').count(), 3, "{}", run.text);
    // Nobody knows whether it is below 3 s.
    run.ended(1, &["p99.9<3s"]);
}

/// The backlog of this target exceeds the users after 4 s. Nobody knows how long the operations that waited for a
/// user would have waited for the target.
#[test]
fn percentile_of_operations_that_waited_for_a_user_is_a_lower_bound() {
    let limited = delay(Delay::Limited(30.0));
    let options =
        "--rate 60 --duration 5s --warm-up 0s --drain 20s --threshold 'p50<1h' --threshold 'p99<1h'";
    let run = LimitsRun::undisturbed(|| LimitsRun::relay(&limited, options));
    assert_eq!(run.report.ledger.answered, 300, "{}", run.text);
    run.ended(1, &["p99<1h", "delivered"]);
}

/// The target resets the first of three connections. Nothing is due after its last answer.
#[test]
fn target_that_answers_all_later_requests_is_not_gone() {
    let behaviour =
        ServerBehaviour { manner: AnswerManner::Reset { share: 0.05 }, ..ServerBehaviour::default() };
    let options =
        "--rate 1 --duration 3s --warm-up 0s --threshold 'error-rate<50%' --threshold 'delivered>0%'";
    let run = LimitsRun::undisturbed(|| LimitsRun::relay(&behaviour, options));
    assert_eq!(run.report.errors(), 1, "{}", run.text);
    run.ended(0, &[]);
}

/// Runs whose generator does not get the CPU that it needs.
#[cfg(target_os = "linux")]
mod starved {
    use std::process::Child;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::{self, JoinHandle};

    use rstest::rstest;
    use rustix::process::Pid;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use super::*;

    /// Threads that use their CPUs until this value is dropped.
    struct BusyLoops {
        ends: Arc<AtomicBool>,
        threads: Vec<JoinHandle<()>>,
    }

    impl BusyLoops {
        /// One for each of these sets of CPUs. Returns when all of them run.
        fn start(places: Vec<CpuSet>) -> Self {
            let ends: Arc<AtomicBool> = Arc::default();
            let (runs, running) = std::sync::mpsc::channel();
            let start = |cpus: CpuSet| {
                let (ends, runs) = (Arc::clone(&ends), runs.clone());
                thread::spawn(move || {
                    sched_setaffinity(None, &cpus).unwrap();
                    runs.send(()).unwrap();
                    while !ends.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                })
            };
            let threads: Vec<_> = places.into_iter().map(start).collect();
            running.iter().take(threads.len()).for_each(drop);
            Self { ends, threads }
        }
    }

    impl Drop for BusyLoops {
        fn drop(&mut self) {
            self.ends.store(true, Ordering::Relaxed);
            for thread in self.threads.drain(..) {
                let _ = thread.join();
            }
        }
    }

    fn only(cpu: usize) -> CpuSet {
        let mut set = CpuSet::new();
        set.set(cpu);
        set
    }

    /// The first and the last CPU of this process.
    fn cpus() -> (CpuSet, usize, usize) {
        let all = sched_getaffinity(None).unwrap();
        let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu));
        let first = cpus.next().unwrap();
        (all, first, cpus.next_back().unwrap_or(first))
    }

    /// Runs the generator beside two busy loops on its only CPU; the server has another one.
    fn pinned(line: &str) -> LimitsRun {
        let (all, first, last) = cpus();
        // The threads of the server inherit the CPU.
        sched_setaffinity(None, &only(first)).unwrap();
        let run = LimitsRun::play(&ServerBehaviour::default(), line, |child: &Child| {
            // The program starts its threads later.
            sched_setaffinity(Some(Pid::from_child(child)), &only(last)).unwrap();
            BusyLoops::start(vec![only(last); 2])
        });
        sched_setaffinity(None, &all).unwrap();
        run
    }

    /// Runs the generator beside two busy loops for each CPU.
    fn crowded(line: &str) -> LimitsRun {
        let (all, ..) = cpus();
        LimitsRun::play(&ServerBehaviour::default(), line, |_: &Child| {
            BusyLoops::start(vec![all; 2 * all.count() as usize])
        })
    }

    #[rstest]
    fn starved_run_is_right_or_invalid(
        #[values(1000, 10_000, 30_000)] rate: u32,
        #[values(pinned, crowded)] run: fn(&str) -> LimitsRun,
    ) {
        let _alone = MACHINE.write();
        let line =
            format!("edge-relay --edge-url {{url}} --rate {rate} --duration 2s --warm-up 0s --drain 2s");
        let run = run(&line);
        if run.is_invalid() {
            assert_eq!(run.code, 3, "{}", run.text);
            return;
        }
        // The server answers whatever arrives.
        assert_eq!(run.report.ledger.dropped, 0, "{}", run.text);
        assert_eq!(run.contradictions(&run.truth()), Vec::<String>::new(), "{}", run.text);
    }
}
