//! A server in a separate process.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{ChildStdin, Command, Stdio};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};

/// A server process. Dropping it kills the process.
pub(crate) struct Child {
    process: std::process::Child,
    stdin: ChildStdin,
    pub(crate) addr: SocketAddr,
    /// Folder with the files for the client.
    pub(crate) folder: tempfile::TempDir,
}

impl Child {
    /// Starts this program in a role. It listens when this returns.
    pub(crate) fn start(role: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args([role.as_ref(), folder.path().as_os_str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let stdin = process.stdin.take().unwrap();
        Self { process, stdin, addr: line.trim().parse().unwrap(), folder }
    }

    /// Lets the server answer the polls.
    pub(crate) fn go(&mut self) {
        self.stdin.write_all(b"go\n").unwrap();
        self.stdin.flush().unwrap();
    }

    /// CPU time of the process so far.
    pub(crate) fn cpu(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap();
        // After the name, which may contain spaces, user and system time are fields 12 and 13.
        let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second())
    }

    /// CPU time of the process since an earlier value.
    pub(crate) fn cpu_since(&self, before: Duration) -> Duration {
        self.cpu().saturating_sub(before)
    }

    /// Resident memory of the process (bytes).
    pub(crate) fn memory(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1024.0
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have exited before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Pins this process to a core, if there are several.
pub(crate) fn pin_to(core: usize) {
    let mut cores = CpuSet::new();
    cores.set(core);
    // An error means a single core.
    let _ = sched_setaffinity(None, &cores);
}

/// Raises the limit of open files to the maximum.
pub(crate) fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
}
