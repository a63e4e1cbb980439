//! A server as a process of its own.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{ChildStdin, Command, Stdio};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};

/// A server, which ends when this is dropped.
pub(crate) struct Child {
    process: std::process::Child,
    orders: ChildStdin,
    pub(crate) addr: SocketAddr,
    /// A file with what a client needs.
    pub(crate) folder: tempfile::TempDir,
}

impl Child {
    /// Starts this program in a role; it listens by then.
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
        let orders = process.stdin.take().unwrap();
        Self { process, orders, addr: line.trim().parse().unwrap(), folder }
    }

    /// Tells the server to go on.
    pub(crate) fn go(&mut self) {
        self.orders.write_all(b"go\n").unwrap();
        self.orders.flush().unwrap();
    }

    /// CPU that it has taken so far.
    pub(crate) fn cpu(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap();
        // Behind the name, which may hold spaces: user and system time are the 12th and 13th from there.
        let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second())
    }

    /// CPU that it has taken since it had taken this much.
    pub(crate) fn cpu_since(&self, before: Duration) -> Duration {
        self.cpu().saturating_sub(before)
    }

    /// Memory that it holds, in bytes.
    pub(crate) fn memory(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1024.0
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs on this core alone from now on, where there are several.
pub(crate) fn pin_to(core: usize) {
    let mut cores = CpuSet::new();
    cores.set(core);
    // With one core, all run on it.
    let _ = sched_setaffinity(None, &cores);
}

/// As many open files as the system grants.
pub(crate) fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
}
