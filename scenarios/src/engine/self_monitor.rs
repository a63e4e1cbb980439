use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};
use tokio::task::JoinHandle;

use crate::measure::Histogram;

/// Samples the generator itself: CPU, memory, and the delay of the runtime's timer.
#[derive(Debug)]
pub struct SelfMonitor {
    reading: Arc<Mutex<SelfMonitorReading>>,
    task: JoinHandle<()>,
}

/// Samples of a [`SelfMonitor`].
#[derive(Debug, Clone, Default)]
pub struct SelfMonitorReading {
    /// Delay of the runtime's timer.
    pub lag: Histogram,
    /// Number of CPU samples.
    pub seconds: u32,
    /// CPU samples with all available CPU used.
    pub starved: u32,
    /// Memory at the start (bytes).
    pub memory_first: u64,
    /// Memory at the last sample (bytes).
    pub memory_last: u64,
}

/// Interval of the timer.
const TIMER_INTERVAL: Duration = Duration::from_millis(10);
/// Interval of CPU samples.
const CPU_INTERVAL: Duration = Duration::from_millis(500);
/// Share of the CPU that counts as all of it.
const SATURATED: f64 = 0.97;

impl SelfMonitor {
    /// Starts sampling.
    pub fn start() -> Self {
        let reading = Arc::new(Mutex::new(SelfMonitorReading {
            memory_first: memory(),
            ..SelfMonitorReading::default()
        }));
        let shared = Arc::clone(&reading);
        let task = tokio::spawn(async move {
            let (mut looked, mut cpu) = (Instant::now(), cpu_time());
            loop {
                let before = Instant::now();
                tokio::time::sleep(TIMER_INTERVAL).await;
                let now = Instant::now();
                let mut reading = shared.lock();
                reading.lag.record((now - before).saturating_sub(TIMER_INTERVAL));
                let elapsed = now - looked;
                if elapsed >= CPU_INTERVAL {
                    let used = cpu_time();
                    let share = used.saturating_sub(cpu).as_secs_f64()
                        / elapsed.as_secs_f64()
                        / f64::from(processors());
                    reading.seconds += 1;
                    reading.starved += u32::from(share >= SATURATED);
                    reading.memory_last = memory();
                    (looked, cpu) = (now, used);
                }
            }
        });
        Self { reading, task }
    }

    /// The samples so far.
    pub fn read(&self) -> SelfMonitorReading {
        self.reading.lock().clone()
    }
}

impl Drop for SelfMonitor {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl SelfMonitorReading {
    /// Share of the samples with all CPU used, 0 to 1.
    pub fn starved_share(&self) -> f64 {
        if self.seconds == 0 { 0.0 } else { f64::from(self.starved) / f64::from(self.seconds) }
    }
}

/// Number of processors that this process may use.
pub fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}

/// CPU time of this process.
pub(super) fn cpu_time() -> Duration {
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
