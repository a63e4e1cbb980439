use std::env;
use std::time::{Duration, SystemTime};

use edgeproof_browser::find_chromium;
use edgeproof_cli::{FEWEST_OPEN_FILES, OPEN_FILES, error_text, open_files_limit};
use edgeproof_launch::{HeldPort, MachineTimes};
use miette::Diagnostic as _;
use tokio::time::sleep;

use super::finding::Finding;

/// Time over which the use of the processors is measured.
const MEASURED: Duration = Duration::from_secs(1);
/// Share of the processors that other programs use on a quiet machine, at most.
const QUIET: f64 = 0.3;
/// Tolerance for the time of a file: file systems have clocks of their own.
const FILE_TOLERANCE: Duration = Duration::from_secs(3600);

/// What a run needs of this machine.
pub(super) async fn findings() -> Vec<Finding> {
    let built = env::current_exe().and_then(|program| program.metadata()?.modified()).ok();
    vec![open_files(open_files_limit()), ports(), clock(SystemTime::now(), built), quiet().await, chromium()]
}

/// `limit`: after the program raised it as far as the system allows.
fn open_files(limit: Option<u64>) -> Finding {
    let advice = format!(
        "raise the limit, such as with `ulimit -Hn {OPEN_FILES}` as root, or LimitNOFILE= of systemd"
    );
    let at = |limit: u64| format!("the limit is {limit}");
    match limit {
        None => Finding::ok("open files", "there is no limit"),
        Some(limit) if limit < FEWEST_OPEN_FILES => {
            let what =
                format!("{}, and a run needs {FEWEST_OPEN_FILES}: correct edges would fail", at(limit));
            Finding::problem("open files", what, advice)
        }
        Some(limit) if limit < OPEN_FILES => {
            let what =
                format!("{}; a run with many --jobs, and a load test, need up to {OPEN_FILES}", at(limit));
            Finding::note("open files", what, advice)
        }
        Some(limit) => Finding::ok("open files", at(limit)),
    }
}

fn ports() -> Finding {
    match HeldPort::bind() {
        Ok(_) => Finding::ok("ports", "127.0.0.1 has free ports"),
        Err(why) => Finding::problem(
            "ports",
            format!("127.0.0.1 has no free port ({why})"),
            "close programs that hold many connections, and check that the loopback interface is up",
        ),
    }
}

/// `built`: the time of the program's file, which cannot be in the future.
fn clock(now: SystemTime, built: Option<SystemTime>) -> Finding {
    let shown = humantime::format_rfc3339_seconds(now);
    match built {
        Some(built) if built > now + FILE_TOLERANCE => {
            let built = humantime::format_rfc3339_seconds(built);
            let what = format!("it is {shown}, before edgeproof was built ({built})");
            Finding::problem("clock", what, "set the clock: licenses and certificates depend on it")
        }
        _ => Finding::ok("clock", shown.to_string()),
    }
}

async fn quiet() -> Finding {
    let before = MachineTimes::read();
    sleep(MEASURED).await;
    let now = MachineTimes::read();
    used_by_others(now.since(&before), now.capacity_since(&before))
}

/// Judges the time that others used: busy, stolen, throttled.
fn used_by_others(times: [Duration; 3], capacity: Duration) -> Finding {
    if capacity.is_zero() {
        return Finding::note("machine", "this system does not say how busy it is", "");
    }
    let share = times.iter().sum::<Duration>().as_secs_f64() / capacity.as_secs_f64();
    let what = format!("other programs use {:.0} % of the processors", 100.0 * share.min(1.0));
    if share <= QUIET {
        return Finding::ok("machine", what);
    }
    Finding::note(
        "machine",
        what,
        "end them, or wait: a run takes longer, cases about time may not run, and load figures are not valid",
    )
}

fn chromium() -> Finding {
    match find_chromium(None) {
        Ok(program) => Finding::ok("Chromium", program.display().to_string()),
        Err(why) => {
            let advice = why.help().map(|help| help.to_string()).unwrap_or_default();
            let what = error_text(&why);
            let what = what.lines().next().unwrap_or_default();
            Finding::note(
                "Chromium",
                format!("{what}; only `edgeproof conformance collector` needs it"),
                advice,
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::finding::State;
    use super::*;

    #[rstest]
    #[case::no_limit(None, State::Ok)]
    #[case::enough(Some(8192), State::Ok)]
    #[case::for_most_runs(Some(1024), State::Note)]
    #[case::too_few(Some(256), State::Problem)]
    fn few_open_files_are_found(#[case] limit: Option<u64>, #[case] expected: State) {
        assert_eq!(open_files(limit).state, expected);
    }

    #[rstest]
    #[case::built_before(-60, State::Ok)]
    #[case::other_clock_of_the_file_system(60, State::Ok)]
    #[case::years_behind(100_000_000, State::Problem)]
    fn clock_before_the_build_is_found(#[case] built_after_s: i64, #[case] expected: State) {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let by = Duration::from_secs(built_after_s.unsigned_abs());
        let built = if built_after_s < 0 { now - by } else { now + by };
        assert_eq!(clock(now, Some(built)).state, expected);
        assert_eq!(clock(now, None).state, State::Ok);
    }

    #[rstest]
    #[case::quiet([100, 0, 0], 2_000, State::Ok)]
    #[case::busy([1_500, 0, 0], 2_000, State::Note)]
    #[case::stolen([100, 900, 0], 2_000, State::Note)]
    #[case::throttled([100, 0, 800], 2_000, State::Note)]
    #[case::unknown([0, 0, 0], 0, State::Note)]
    fn busy_machine_is_noted(#[case] ms: [u64; 3], #[case] capacity: u64, #[case] expected: State) {
        let found = used_by_others(ms.map(Duration::from_millis), Duration::from_millis(capacity));
        assert_eq!(found.state, expected, "{found}");
    }
}
