use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use edgeproof_reports::load::EdgeMoment;
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use super::self_monitor::memory_of;

/// Samples CPU and memory of a launched edge and its child processes.
#[derive(Debug)]
pub struct EdgeCostProbe {
    samples: Arc<Mutex<Vec<EdgeMoment>>>,
    task: JoinHandle<()>,
}

/// First sampling interval. Long runs double it.
const FIRST_INTERVAL: Duration = Duration::from_millis(500);
/// Largest number of stored samples.
const MAX_SAMPLES: usize = 480;

impl EdgeCostProbe {
    /// Starts sampling a process and its children. Without `/proc` there are no samples.
    pub fn start(pid: u32) -> Self {
        let samples = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&samples);
        let task = tokio::spawn(async move {
            let begun = Instant::now();
            let mut every = FIRST_INTERVAL;
            // A process that exited keeps its CPU time.
            let mut used: HashMap<u32, (Duration, Duration)> = HashMap::new();
            loop {
                let tree = tree(pid);
                let memory = tree.iter().map(|(pid, _)| memory_of(&pid.to_string())).sum();
                for (pid, cpu) in &tree {
                    used.entry(*pid).and_modify(|(_, last)| *last = *cpu).or_insert((*cpu, *cpu));
                }
                let cpu: Duration = used.values().map(|(first, last)| last.saturating_sub(*first)).sum();
                {
                    let mut samples = shared.lock();
                    if !tree.is_empty() {
                        let at_ms = begun.elapsed().as_millis() as u64;
                        samples.push(EdgeMoment { at_ms, cpu_s: cpu.as_secs_f64(), memory });
                    }
                    if samples.len() >= MAX_SAMPLES {
                        let mut place = 0;
                        samples.retain(|_| {
                            place += 1;
                            place % 2 == 1
                        });
                        every *= 2;
                    }
                }
                tokio::time::sleep(every).await;
            }
        });
        Self { samples, task }
    }

    /// The samples so far.
    pub fn read(&self) -> Vec<EdgeMoment> {
        self.samples.lock().clone()
    }
}

impl Drop for EdgeCostProbe {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A process and its descendants, with the CPU time of each.
fn tree(root: u32) -> Vec<(u32, Duration)> {
    let mut processes: Vec<(u32, u32, Duration)> = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if let Some((parent, cpu)) = parse_stat(&stat) {
            processes.push((pid, parent, cpu));
        }
    }
    let mut found: Vec<u32> = vec![root];
    let mut place = 0;
    while place < found.len() {
        let parent = found[place];
        found.extend(processes.iter().filter(|(_, of, _)| *of == parent).map(|(pid, _, _)| *pid));
        place += 1;
    }
    processes.iter().filter(|(pid, _, _)| found.contains(pid)).map(|(pid, _, cpu)| (*pid, *cpu)).collect()
}

/// Parent and CPU time from `/proc/PID/stat`. The process name may contain spaces and brackets, so parsing
/// starts after the last bracket.
fn parse_stat(stat: &str) -> Option<(u32, Duration)> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    let each = rustix::param::clock_ticks_per_second().max(1);
    Some((fields.get(1)?.parse().ok()?, Duration::from_secs_f64(ticks as f64 / each as f64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_stat_is_parsed() {
        let stat = "17 (a ) b) S 4 17 17 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 1 0 100 200 300";
        let (parent, cpu) = parse_stat(stat).unwrap();
        assert_eq!(parent, 4);
        let ticks = cpu.as_secs_f64() * rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(ticks.round() as u64, 200);
        assert_eq!(parse_stat("nothing"), None);
    }

    #[test]
    fn own_process_is_found() {
        let tree = tree(std::process::id());
        assert!(tree.iter().any(|(pid, _)| *pid == std::process::id()), "{tree:?}");
    }
}
