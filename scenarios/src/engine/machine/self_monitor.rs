use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use edgeproof_http::ReceiveTimes;
use edgeproof_launch::MachineTimes;
use edgeproof_reports::load::{ContentionFigures, EdgeMoment, Generator};
use parking_lot::Mutex;
use procfs_core::prelude::*;
use procfs_core::process::StatM;
use rustix::time::{ClockId, clock_gettime};
use tokio::task::JoinSet;

use super::processes::{EdgeSamples, ProcessTimes};
use crate::measure::{CpuContention, Histogram, TargetContention};

/// Samples the generator itself: CPU, memory, and the delay of the runtime's timer.
#[derive(Debug)]
pub struct SelfMonitor {
    lag: Arc<Mutex<Histogram>>,
    receive_times: ReceiveTimes,
    _timer: JoinSet<()>,
    /// The thread that samples; `None` if the system had no thread left. A task of the runtime would delay the users.
    sampler: Option<thread::JoinHandle<SelfMonitorReading>>,
    stop: mpsc::Sender<()>,
}

/// Samples of a [`SelfMonitor`].
#[derive(Debug, Clone, Default)]
pub struct SelfMonitorReading {
    /// What the report shows, without CPU time and delay.
    pub generator: Generator,
    /// Delay of the runtime's timer.
    pub lag: Histogram,
    /// Who used the processors, and who waited for them.
    pub contention: CpuContention,
    /// Samples of a launched edge.
    pub edge: Vec<EdgeMoment>,
}

/// The readings that a sample is compared with.
struct Baseline {
    at: Instant,
    machine: MachineTimes,
    own: ProcessTimes,
    /// The target, if a part of it runs on this machine.
    target: ProcessTimes,
    /// The part of the target's wait that is not due to usual wake-ups.
    long_wait: Duration,
    edge: Option<EdgeSamples>,
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
    /// Starts sampling. `targets` are the processes that the run loads, as far as they run on this machine; `edge` is the
    /// process of a launched edge.
    pub fn start(targets: Vec<u32>, edge: Option<u32>) -> Self {
        let lag: Arc<Mutex<Histogram>> = Arc::default();
        let mut timer = JoinSet::new();
        timer.spawn(measure_lag(Arc::clone(&lag)));
        let (stop, stopped) = mpsc::channel();
        let baseline = Baseline::new(targets, edge);
        let sampler = thread::Builder::new().name("monitor".into()).spawn(move || baseline.sample(&stopped));
        let receive_times = ReceiveTimes::request();
        Self { lag, receive_times, _timer: timer, sampler: sampler.ok(), stop }
    }

    /// Takes a last sample and stops. Returns all samples.
    pub fn finish(self) -> SelfMonitorReading {
        // The thread ends as soon as its channel is closed.
        drop(self.stop);
        let mut reading = self.sampler.and_then(|sampler| sampler.join().ok()).unwrap_or_default();
        reading.lag = self.lag.lock().clone();
        reading.generator.processors = processors();
        reading.generator.late_reads_measured = self.receive_times.are_available();
        reading
    }
}

impl Baseline {
    fn new(targets: Vec<u32>, edge: Option<u32>) -> Self {
        Self {
            edge: edge.map(EdgeSamples::new),
            own: ProcessTimes::new(vec![std::process::id()]),
            target: ProcessTimes::new(targets),
            long_wait: Duration::ZERO,
            at: Instant::now(),
            machine: MachineTimes::read(),
        }
    }

    /// Samples until the channel is closed.
    fn sample(mut self, stopped: &mpsc::Receiver<()>) -> SelfMonitorReading {
        let mut generator = Generator { memory_first: memory(), ..Generator::default() };
        let (mut samples, mut starved) = (0_u32, 0_u32);
        let (mut looked, mut cpu) = (Instant::now(), cpu_time());
        loop {
            let ended = stopped.recv_timeout(WAIT_INTERVAL) != Err(mpsc::RecvTimeoutError::Timeout);
            self.edge.iter_mut().for_each(EdgeSamples::take);
            self.sample_target();
            let elapsed = looked.elapsed();
            if elapsed >= CPU_INTERVAL {
                self.own.read();
                let used = cpu_time();
                let share = used.saturating_sub(cpu).as_secs_f64() / elapsed.as_secs_f64();
                samples += 1;
                starved += u32::from(share / f64::from(processors()) >= SATURATED);
                generator.memory_last = memory();
                (looked, cpu) = (Instant::now(), used);
            }
            if ended {
                let contention = self.contention();
                generator.starved = f64::from(starved) / f64::from(samples.max(1));
                generator.contention = contention.figures;
                let edge = self.edge.map(|edge| edge.moments).unwrap_or_default();
                return SelfMonitorReading { generator, lag: Histogram::default(), contention, edge };
            }
        }
    }

    fn sample_target(&mut self) {
        let before = self.target.sum;
        self.target.read();
        let slices = u32::try_from(self.target.sum.slices - before.slices).unwrap_or(u32::MAX);
        let wait = self.target.sum.wait.saturating_sub(before.wait);
        self.long_wait += wait.saturating_sub(USUAL_WAIT.saturating_mul(slices));
    }

    /// Who used the processors since the start.
    fn contention(&mut self) -> CpuContention {
        self.own.read();
        let [busy, steal, throttled] = MachineTimes::read().since(&self.machine);
        let (own, target) = (self.own.sum, self.target.sum);
        let embedded = self.target.pids.contains(&std::process::id());
        let used = if embedded { target.cpu } else { own.cpu + target.cpu };
        let elapsed_s = self.at.elapsed().as_secs_f64();
        let wait_s = own.wait.as_secs_f64();
        let has_target = !self.target.pids.is_empty();
        let figures = ContentionFigures {
            wait_s,
            wait_share: wait_s / elapsed_s.max(1e-9),
            others_s: busy.saturating_sub(used).as_secs_f64(),
            steal_s: steal.as_secs_f64(),
            throttled_s: throttled.as_secs_f64(),
            target_cpu_s: has_target.then_some(target.cpu.as_secs_f64()),
            target_wait_s: has_target.then_some(target.wait.as_secs_f64()),
        };
        let (wait_s, long_wait_s) = (target.wait.as_secs_f64(), self.long_wait.as_secs_f64());
        let target = has_target.then_some(TargetContention { embedded, wait_s, long_wait_s });
        CpuContention { elapsed_s, own_s: own.cpu.as_secs_f64(), figures, target }
    }
}

async fn measure_lag(lag: Arc<Mutex<Histogram>>) {
    loop {
        let before = Instant::now();
        tokio::time::sleep(TIMER_INTERVAL).await;
        lag.lock().record(before.elapsed().saturating_sub(TIMER_INTERVAL));
    }
}

/// Number of processors that this process may use.
fn processors() -> u32 {
    thread::available_parallelism().map_or(1, |count| count.get() as u32)
}

/// CPU time of this process.
pub(in crate::engine) fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// Memory of this process (bytes); 0 where the system does not report it.
fn memory() -> u64 {
    StatM::from_file("/proc/self/statm")
        .map_or(0, |memory| memory.resident * rustix::param::page_size() as u64)
}
