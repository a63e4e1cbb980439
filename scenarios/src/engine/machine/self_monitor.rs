mod listening_processes;
mod machine_times;
mod process_times;

use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use edgeproof_http::ReceiveTimes;
use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};
use tokio::task::JoinHandle;

use self::listening_processes::listening_processes;
use self::machine_times::MachineTimes;
use self::process_times::{ProcessTimes, ThreadTimes};
use crate::measure::{CpuContention, Histogram, TargetContention};

/// Samples the generator itself: CPU, memory, and the delay of the runtime's timer.
#[derive(Debug)]
pub struct SelfMonitor {
    reading: Arc<Mutex<SelfMonitorReading>>,
    timer: JoinHandle<()>,
    sampler: Option<Sampler>,
    receive_times: ReceiveTimes,
}

/// Samples of a [`SelfMonitor`].
#[derive(Debug, Clone, Default)]
pub struct SelfMonitorReading {
    /// Delay of the runtime's timer.
    pub lag: Histogram,
    /// Number of CPU samples.
    pub samples: u32,
    /// CPU samples with all available CPU used.
    pub starved: u32,
    /// Memory at the start (bytes).
    pub memory_first: u64,
    /// Memory at the last sample (bytes).
    pub memory_last: u64,
    /// Who used the processors, and who waited for them.
    pub contention: CpuContention,
    /// Whether the system reports when answers arrive.
    pub late_reads_measured: bool,
}

/// The processes of this machine that serve the addresses which a run loads.
#[derive(Debug, Clone, Default)]
pub struct TargetProcesses {
    pids: Vec<u32>,
}

/// The thread that samples. A task of the runtime would delay the users.
#[derive(Debug)]
struct Sampler {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// The readings that a sample is compared with.
struct Baseline {
    at: Instant,
    machine: MachineTimes,
    own: ProcessTimes,
    target: Option<WatchedTarget>,
}

/// A target on this machine.
struct WatchedTarget {
    /// Whether the target, or a part of it, runs in this process.
    embedded: bool,
    /// Its other processes.
    pids: Vec<u32>,
    times: ProcessTimes,
    last: ThreadTimes,
    long_wait: Duration,
}

/// Interval of the timer.
const TIMER_INTERVAL: Duration = Duration::from_millis(10);
/// Interval of samples of the target's CPU waits. A longer one would hide short stalls among short waits.
const WAIT_INTERVAL: Duration = Duration::from_millis(50);
/// Interval of samples of this process.
const CPU_INTERVAL: Duration = Duration::from_millis(500);
/// Share of the CPU that counts as all of it.
const SATURATED: f64 = 0.97;
/// Longest usual wait for a processor after a wake-up, on a machine with a free processor.
const USUAL_WAIT: Duration = Duration::from_micros(50);

impl SelfMonitor {
    /// Starts sampling. `targets` are the processes that the run loads, as far as they run on this machine.
    pub fn start(targets: TargetProcesses) -> Self {
        let reading = Arc::new(Mutex::new(SelfMonitorReading {
            memory_first: memory(),
            ..SelfMonitorReading::default()
        }));
        let timer = tokio::spawn(measure_lag(Arc::clone(&reading)));
        let sampler = Sampler::start(Arc::clone(&reading), targets);
        Self { reading, timer, sampler, receive_times: ReceiveTimes::request() }
    }

    /// Takes a last sample and stops. Returns all samples.
    pub fn finish(mut self) -> SelfMonitorReading {
        drop(self.sampler.take());
        let late_reads_measured = self.receive_times.are_available();
        SelfMonitorReading { late_reads_measured, ..self.reading.lock().clone() }
    }
}

impl Drop for SelfMonitor {
    fn drop(&mut self) {
        self.timer.abort();
    }
}

impl TargetProcesses {
    /// Finds them. It takes milliseconds, so do it before a run.
    pub fn find(addresses: &[SocketAddr]) -> Self {
        Self { pids: listening_processes(addresses) }
    }
}

impl SelfMonitorReading {
    /// Share of the samples with all CPU used, 0 to 1.
    pub fn starved_share(&self) -> f64 {
        if self.samples == 0 { 0.0 } else { f64::from(self.starved) / f64::from(self.samples) }
    }
}

impl Sampler {
    /// `None` if the system has no thread left: then there are no samples.
    fn start(reading: Arc<Mutex<SelfMonitorReading>>, targets: TargetProcesses) -> Option<Self> {
        let (stop, stopped) = mpsc::channel();
        let mut baseline = Baseline::new(targets);
        let sample = move || {
            let (mut looked, mut cpu) = (Instant::now(), cpu_time());
            loop {
                let ended = stopped.recv_timeout(WAIT_INTERVAL) != Err(mpsc::RecvTimeoutError::Timeout);
                baseline.sample_target();
                let elapsed = looked.elapsed();
                if elapsed >= CPU_INTERVAL {
                    baseline.sample_own();
                    let mut reading = reading.lock();
                    let used = cpu_time();
                    let share = used.saturating_sub(cpu).as_secs_f64() / elapsed.as_secs_f64();
                    reading.samples += 1;
                    reading.starved += u32::from(share / f64::from(processors()) >= SATURATED);
                    reading.memory_last = memory();
                    (looked, cpu) = (Instant::now(), used);
                }
                if ended {
                    reading.lock().contention = baseline.contention();
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("monitor".into()).spawn(sample).ok()?;
        Some(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The thread ends as soon as its channel is closed.
            let _ = thread.join();
        }
    }
}

impl Baseline {
    fn new(targets: TargetProcesses) -> Self {
        let mut own = ProcessTimes::default();
        own.read(&[std::process::id()], false);
        let target = WatchedTarget::new(targets);
        Self { at: Instant::now(), machine: MachineTimes::read(), own, target }
    }

    /// Reads the times of this process. Threads that end before the next reading are missed.
    fn sample_own(&mut self) {
        self.own.read(&[std::process::id()], true);
    }

    /// Reads the times of the target.
    fn sample_target(&mut self) {
        if self.target.as_ref().is_some_and(|target| target.embedded) {
            self.sample_own();
        }
        if let Some(target) = &mut self.target {
            target.sample(self.own.sum());
        }
    }

    /// Who used the processors since the start.
    fn contention(&mut self) -> CpuContention {
        self.sample_own();
        let own = self.own.sum();
        let machine = MachineTimes::read().since(&self.machine);
        let target_cpu = self.target.as_ref().map_or(Duration::ZERO, |target| target.times.sum().cpu);
        CpuContention {
            elapsed: self.at.elapsed(),
            own: own.cpu,
            wait: own.wait,
            others: machine.busy.saturating_sub(own.cpu + target_cpu),
            steal: machine.steal,
            throttled: machine.throttled,
            target: self.target.as_ref().map(WatchedTarget::contention),
        }
    }
}

impl WatchedTarget {
    /// `None` if the target runs on another machine.
    fn new(processes: TargetProcesses) -> Option<Self> {
        let (own, pids): (Vec<u32>, Vec<u32>) =
            processes.pids.into_iter().partition(|pid| *pid == std::process::id());
        let embedded = !own.is_empty();
        if !embedded && pids.is_empty() {
            return None;
        }
        let mut times = ProcessTimes::default();
        times.read(&pids, false);
        Some(Self { embedded, pids, times, last: ThreadTimes::default(), long_wait: Duration::ZERO })
    }

    fn sample(&mut self, own: ThreadTimes) {
        self.times.read(&self.pids, true);
        let separate = self.times.sum();
        let sum = if self.embedded { separate.plus(&own) } else { separate };
        let since = sum.since(&self.last);
        self.last = sum;
        let usual = USUAL_WAIT.saturating_mul(u32::try_from(since.slices).unwrap_or(u32::MAX));
        self.long_wait += since.wait.saturating_sub(usual);
    }

    fn contention(&self) -> TargetContention {
        let ThreadTimes { cpu, wait, .. } = self.last;
        TargetContention { embedded: self.embedded, cpu, wait, long_wait: self.long_wait }
    }
}

async fn measure_lag(reading: Arc<Mutex<SelfMonitorReading>>) {
    loop {
        let before = Instant::now();
        tokio::time::sleep(TIMER_INTERVAL).await;
        reading.lock().lag.record(before.elapsed().saturating_sub(TIMER_INTERVAL));
    }
}

/// Number of processors that this process may use.
pub fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}

/// CPU time of this process.
pub(in crate::engine) fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Memory of this process (bytes); 0 where the system does not report it.
fn memory() -> u64 {
    memory_of("self")
}

/// Memory of another process (bytes).
pub(super) fn memory_of(process: &str) -> u64 {
    let statm = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    let pages: u64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}
