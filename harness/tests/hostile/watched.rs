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
    pub(crate) took: Duration,
    /// Peak of resident memory, in MiB.
    pub(crate) peak: u64,
}

/// The program, in a folder of its own and with nothing of the environment that changes what it shows.
pub(crate) fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_edgeproof"));
    for name in ["NO_COLOR", "FORCE_COLOR", "GITHUB_STEP_SUMMARY", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    command.args(args).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs it with all reports.
pub(crate) fn run(args: &[&str]) -> Ran {
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
    ];
    let began = Instant::now();
    let child = command(folder.path(), &[&["conformance"], args, &reports[..]].concat()).spawn().unwrap();
    let (output, peak) = watch(child);
    Ran { folder, output, took: began.elapsed(), peak }
}

fn watch(child: Child) -> (Output, u64) {
    let status = format!("/proc/{}/status", child.id());
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut peak = 0;
            while !ended.load(Ordering::Relaxed) {
                peak = peak.max(high_water(&status).unwrap_or(0));
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
fn high_water(status: &str) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

#[expect(clippy::disallowed_methods, reason = "between looks at another process, which nothing announces")]
fn pause() {
    thread::sleep(Duration::from_millis(5));
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
