//! Runs the program and watches what it takes.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A run that has ended.
pub(crate) struct Ran {
    pub(crate) folder: TempDir,
    pub(crate) output: Output,
    took: Duration,
    /// Peak of resident memory, in MiB.
    peak: u64,
}

impl Ran {
    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    pub(crate) fn code(&self) -> Option<i32> {
        self.output.status.code()
    }
}

/// The program, in a folder of its own and with nothing of the environment that changes what it shows.
pub(crate) fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_edgeproof"));
    for name in ["NO_COLOR", "FORCE_COLOR", "GITHUB_STEP_SUMMARY", "RUST_BACKTRACE", "READ_TOKEN"] {
        command.env_remove(name);
    }
    command.args(args).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The longest that a run of a few cases may take, also on a machine that is busy with other tests: against hanging.
const LONGEST: Duration = Duration::from_secs(120);
/// The most memory that it may take, in MiB; a run of all cases against a right edge takes a good half of it.
pub(crate) const MOST: u64 = 200;

/// Runs it with all reports, tells what it took, and sees to it that this is within bounds.
#[track_caller]
pub(crate) fn bounded(name: &str, args: &[&str]) -> Ran {
    let ran = run(args);
    tell(name, Some(ran.took), ran.peak);
    assert!(ran.took < LONGEST, "{:?}", ran.took);
    assert!(ran.peak < MOST, "{} MiB", ran.peak);
    ran
}

/// Says what something took, in MiB of memory.
#[expect(clippy::print_stdout, reason = "what a run took is for who runs the tests to see")]
pub(crate) fn tell(name: &str, took: Option<Duration>, peak: u64) {
    let took = took.map_or(String::new(), |took| format!("{:5.1} s", took.as_secs_f32()));
    println!("{name:44} {took:7}  peak {peak:3} MiB");
}

fn run(args: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let reports = [
        "--report",
        "json=r.json",
        "--report",
        "junit=r.xml",
        "--report",
        "html=r.html",
        "--report",
        "markdown=r.md",
        "--github",
    ];
    let began = Instant::now();
    let mut command = command(folder.path(), &[&["conformance"], args, &reports[..]].concat());
    let child = command.env("GITHUB_STEP_SUMMARY", folder.path().join("summary.md")).spawn().unwrap();
    let (output, peak) = watch(child);
    Ran { folder, output, took: began.elapsed(), peak }
}

fn watch(child: Child) -> (Output, u64) {
    let pid = child.id();
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut peak = 0;
            while !ended.load(Ordering::Relaxed) {
                peak = peak.max(high_water(pid).unwrap_or(0));
                pause();
            }
            peak
        });
        let output = child.wait_with_output().unwrap();
        ended.store(true, Ordering::Relaxed);
        (output, watching.join().unwrap())
    })
}

/// The system keeps the peak itself: the last look before the end has all of it.
pub(crate) fn high_water(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

#[expect(clippy::disallowed_methods, reason = "between looks at another process, which nothing announces")]
fn pause() {
    thread::sleep(Duration::from_millis(5));
}

/// Waits for what another process does, for a minute at most.
#[track_caller]
pub(crate) fn until(what: &str, done: impl Fn() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(60), "not so: {what}");
        pause();
    }
}

/// Names of what is in a folder.
pub(crate) fn files(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Numbers of the processes that bear this word in their environment.
pub(crate) fn alive(word: &str) -> Vec<String> {
    let mut alive = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable == word.as_bytes()) {
            alive.push(entry.file_name().into_string().unwrap());
        }
    }
    alive
}
