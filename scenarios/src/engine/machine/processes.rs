use std::collections::{HashMap, HashSet};
use std::fs;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use edgeproof_launch::process_tree;
use edgeproof_reports::load::EdgeMoment;
use procfs_core::net::{TcpNetEntries, TcpState};
use procfs_core::prelude::*;
use procfs_core::process::{Schedstat, Stat};

use super::system_info;

/// CPU time of processes, and the time in which their threads waited for a processor.
#[derive(Debug)]
pub(super) struct ProcessTimes {
    pub(super) pids: Vec<u32>,
    /// The sum over all threads since the first reading.
    pub(super) sum: ThreadTimes,
    /// By path in `/proc`. A thread that exited keeps its times.
    threads: HashMap<PathBuf, ThreadTimes>,
}

/// Times of threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ThreadTimes {
    /// Time on a processor.
    pub(super) cpu: Duration,
    /// Time ready to run, waiting for a processor.
    pub(super) wait: Duration,
    /// Number of times that it got a processor.
    pub(super) slices: u64,
}

impl ProcessTimes {
    /// The times of these processes from now on.
    pub(super) fn new(pids: Vec<u32>) -> Self {
        let mut times = Self { pids, sum: ThreadTimes::default(), threads: HashMap::new() };
        times.read();
        // What the threads did before counts only for later ones.
        times.sum = ThreadTimes::default();
        times
    }

    /// Reads the times of all threads. Threads that end before the next reading are missed.
    pub(super) fn read(&mut self) {
        for pid in &self.pids {
            for thread in fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
                let path = thread.path().join("schedstat");
                let Ok(stat) = Schedstat::from_file(&path) else { continue };
                let [cpu, wait] = [stat.sum_exec_runtime, stat.run_delay].map(Duration::from_nanos);
                let now = ThreadTimes { cpu, wait, slices: stat.pcount };
                let before = self.threads.insert(path, now).unwrap_or_default();
                self.sum.cpu += cpu.saturating_sub(before.cpu);
                self.sum.wait += wait.saturating_sub(before.wait);
                self.sum.slices += now.slices.saturating_sub(before.slices);
            }
        }
    }
}

/// Ids of all processes that the system shows.
pub(super) fn all_processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Processes of this machine that listen on one of these addresses: the target, if it runs here. Empty where
/// the system or its permissions do not show them. It takes milliseconds, so call it before a run.
pub(in crate::engine) fn listening_processes(addresses: &[SocketAddr]) -> Vec<u32> {
    let sockets: HashSet<PathBuf> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .flat_map(|table| listeners(&fs::read(table).unwrap_or_default()))
        .filter(|(local, _)| addresses.iter().any(|address| serves(*local, *address)))
        .map(|(_, inode)| format!("socket:[{inode}]").into())
        .collect();
    if sockets.is_empty() {
        return Vec::new();
    }
    let holds = |pid: &u32| {
        let mut files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.any(|file| fs::read_link(file.path()).is_ok_and(|file| sockets.contains(&file)))
    };
    all_processes().filter(holds).collect()
}

/// Addresses and inodes of the listening sockets in a table like `/proc/net/tcp`.
fn listeners(table: &[u8]) -> Vec<(SocketAddr, u64)> {
    let Ok(TcpNetEntries(sockets)) = TcpNetEntries::from_read(table, &system_info()) else {
        return Vec::new();
    };
    let listening = sockets.into_iter().filter(|socket| socket.state == TcpState::Listen);
    let address = |local: SocketAddr| SocketAddr::new(local.ip().to_canonical(), local.port());
    listening.map(|socket| (address(socket.local_address), socket.inode)).collect()
}

/// Whether a socket that listens on `local` accepts connections to `address` on this machine.
fn serves(local: SocketAddr, address: SocketAddr) -> bool {
    let everywhere = local.ip().is_unspecified() && is_local(address.ip());
    local.port() == address.port() && (everywhere || local.ip() == address.ip().to_canonical())
}

/// Whether an address is one of this machine: only such an address can be bound.
fn is_local(ip: IpAddr) -> bool {
    ip.is_loopback() || UdpSocket::bind((ip, 0)).is_ok()
}

/// CPU and memory of a launched edge and its child processes. Empty without `/proc`.
#[derive(Debug)]
pub(super) struct EdgeSamples {
    pid: u32,
    begun: Instant,
    /// When the next sample is due, since the begin, and the time between two.
    due: Duration,
    every: Duration,
    /// First and last CPU time of each process. One that exited keeps it.
    used: HashMap<i32, (u64, u64)>,
    pub(super) moments: Vec<EdgeMoment>,
}

/// First sampling interval. Long runs double it.
const FIRST_INTERVAL: Duration = Duration::from_millis(500);
/// Largest number of stored samples.
const MAX_SAMPLES: usize = 480;

impl EdgeSamples {
    /// The samples of this process and its children from now on.
    pub(super) fn new(pid: u32) -> Self {
        let (begun, moments) = (Instant::now(), Vec::new());
        let (due, every, used) = (Duration::ZERO, FIRST_INTERVAL, HashMap::new());
        let mut samples = Self { pid, begun, due, every, used, moments };
        samples.take();
        samples
    }

    /// Takes a sample if one is due.
    pub(super) fn take(&mut self) {
        let at = self.begun.elapsed();
        if at < self.due {
            return;
        }
        self.due += self.every;
        let stat = |(pid, _)| Stat::from_file(format!("/proc/{pid}/stat")).ok();
        let tree: Vec<Stat> = process_tree(self.pid).into_iter().filter_map(stat).collect();
        let system = system_info();
        for process in &tree {
            let ticks = process.utime + process.stime;
            self.used.entry(process.pid).or_insert((ticks, ticks)).1 = ticks;
        }
        if !tree.is_empty() {
            let ticks: u64 = self.used.values().map(|(first, last)| last.saturating_sub(*first)).sum();
            self.moments.push(EdgeMoment {
                at_ms: at.as_millis() as u64,
                cpu_s: ticks as f64 / system.ticks_per_second as f64,
                memory: tree.iter().map(|process| process.rss).sum::<u64>() * system.page_size,
            });
        }
        if self.moments.len() >= MAX_SAMPLES {
            self.moments = self.moments.iter().step_by(2).copied().collect();
            self.every *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[cfg(target_endian = "little")]
    #[rstest]
    #[case("0100007F:1F90 00000000:0000 0A", Some("127.0.0.1:8080"))]
    #[case(
        "00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A",
        Some("[::1]:80")
    )]
    #[case(
        "0000000000000000FFFF00000100007F:0050 00000000000000000000000000000000:0000 0A",
        Some("127.0.0.1:80")
    )]
    #[case("0100007F:1F90 0100007F:C001 01", None)]
    #[case("0100007:1F90 00000000:0000 0A", None)]
    #[case("local_address rem_address st", None)]
    fn listeners_are_parsed(#[case] fields: &str, #[case] address: Option<&str>) {
        let table = format!(
            "  sl  local_address\n   0: {fields} 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0 100 0\n"
        );
        let expected: Vec<_> = address.map(|address| (address.parse().unwrap(), 4242)).into_iter().collect();
        assert_eq!(listeners(table.as_bytes()), expected);
    }

    #[rstest]
    #[case("127.0.0.1:80", "127.0.0.1:80", true)]
    #[case("0.0.0.0:80", "127.0.0.1:80", true)]
    #[case("[::]:80", "127.0.0.1:80", true)]
    #[case("127.0.0.2:80", "127.0.0.1:80", false)]
    #[case("127.0.0.1:81", "127.0.0.1:80", false)]
    #[case("0.0.0.0:80", "192.0.2.1:80", false)]
    fn listener_serves_its_address(#[case] local: &str, #[case] address: &str, #[case] serves_it: bool) {
        assert_eq!(serves(local.parse().unwrap(), address.parse().unwrap()), serves_it);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn own_listener_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(listening_processes(&[address]), [std::process::id()]);
        drop(listener);
        assert!(listening_processes(&[address]).is_empty());
        assert!(listening_processes(&[]).is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn own_cpu_time_is_read() {
        let mut times = ProcessTimes::new(vec![std::process::id()]);
        assert_eq!(times.sum, ThreadTimes::default());
        let end = super::super::cpu_time() + Duration::from_millis(50);
        while super::super::cpu_time() < end {
            std::hint::spin_loop();
        }
        times.read();
        assert!(times.sum.cpu >= Duration::from_millis(20), "{times:?}");
    }
}
