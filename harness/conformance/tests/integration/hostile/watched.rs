//! Runs the program and measures time and memory.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::limited;
use crate::tested_program;

/// A finished run.
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

/// The program in a folder, without environment variables that change its output.
pub(crate) fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = tested_program::edgeproof();
    for name in ["NO_COLOR", "FORCE_COLOR", "GITHUB_STEP_SUMMARY", "RUST_BACKTRACE", "READ_TOKEN"] {
        command.env_remove(name);
    }
    command.args(args).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Options for a report in each format.
pub(crate) const REPORTS: [&str; 5] =
    ["--report", "json=r.json", "junit=r.xml", "html=r.html", "markdown=r.md"];

/// Sends a signal to a program.
pub(crate) fn signal(program: &Child, signal: Signal) {
    kill_process(Pid::from_child(program), signal).unwrap();
}

/// Timeout of a run of a few cases, on a busy machine.
const LONGEST: Duration = Duration::from_secs(120);
/// Memory limit (MiB). A full run against a conforming edge needs about half of it.
pub(crate) const MOST: u64 = 200;

/// Runs the program with all reports, prints time and memory, and checks their limits.
#[track_caller]
pub(crate) fn bounded(name: &str, args: &[&str]) -> Ran {
    let ran = run(args);
    print(name, Some(ran.took), ran.peak);
    assert!(ran.took < LONGEST, "{:?}", ran.took);
    assert!(ran.peak < MOST, "{} MiB", ran.peak);
    ran
}

/// Prints time and peak memory (MiB).
#[expect(clippy::print_stdout, reason = "the person who runs the tests reads the figures")]
pub(crate) fn print(name: &str, took: Option<Duration>, peak: u64) {
    let took = took.map_or(String::new(), |took| format!("{:5.1} s", took.as_secs_f32()));
    println!("{name:44} {took:7}  peak {peak:3} MiB");
}

fn run(args: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let mut command = command(folder.path(), &[&["conformance", "--github"], args, &REPORTS].concat());
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
                limited::pause();
            }
            peak
        });
        let output = limited::end(child);
        ended.store(true, Ordering::Relaxed);
        (output, watching.join().unwrap())
    })
}

/// Peak memory of the program from the system (MiB). The last value before the exit covers the whole run.
pub(crate) fn high_water(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    // A new process has the name and the memory of the tests until it has loaded the program.
    field("Name:").filter(|name| *name == "edgeproof")?;
    Some(field("VmHWM:")?.split_whitespace().next()?.parse::<u64>().ok()? / 1024)
}

/// Names of the files in a folder.
pub(crate) fn files(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    // Runs of a target keep their report there.
    names.retain(|name| name != ".edgeproof");
    names.sort();
    names
}

/// Ids of the processes with this word in their environment or command line.
pub(crate) fn alive(word: &str) -> Vec<String> {
    let mut alive = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let read = |name| fs::read(entry.path().join(name)).unwrap_or_default();
        let words = [read("environ"), read("cmdline")].concat();
        if words.split(|byte| *byte == 0).any(|one| one == word.as_bytes()) {
            alive.push(entry.file_name().into_string().unwrap());
        }
    }
    alive
}
