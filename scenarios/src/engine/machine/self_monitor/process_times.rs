use std::collections::HashMap;
use std::fs;
use std::time::Duration;

/// CPU time of processes, and the time in which their threads waited for a processor. Linux only: elsewhere
/// all times are zero.
#[derive(Debug, Default)]
pub(super) struct ProcessTimes {
    /// By path in `/proc`. A thread that exited keeps its times.
    threads: HashMap<String, Watched>,
}

/// First and last times of a thread.
#[derive(Debug, Clone, Copy)]
struct Watched {
    first: ThreadTimes,
    last: ThreadTimes,
}

/// Times of one thread since its start, or a sum over threads.
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
    /// Reads the times of all threads of these processes. `started`: what the threads did before their first
    /// reading counts as well.
    pub(super) fn read(&mut self, pids: &[u32], started: bool) {
        for pid in pids {
            let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
            for thread in threads.flatten() {
                let path = thread.path().join("schedstat");
                let Some(last) = fs::read_to_string(&path).ok().and_then(|text| ThreadTimes::parse(&text))
                else {
                    continue;
                };
                let first = if started { ThreadTimes::default() } else { last };
                self.threads
                    .entry(path.to_string_lossy().into_owned())
                    .and_modify(|watched| watched.last = last)
                    .or_insert(Watched { first, last });
            }
        }
    }

    /// The sum since the first reading.
    pub(super) fn sum(&self) -> ThreadTimes {
        self.threads
            .values()
            .map(|Watched { first, last }| last.since(first))
            .fold(ThreadTimes::default(), |sum, since| sum.plus(&since))
    }
}

impl ThreadTimes {
    /// `/proc/PID/task/TID/schedstat`: time on a processor (ns), time waiting for one (ns), number of time
    /// slices.
    fn parse(schedstat: &str) -> Option<Self> {
        let mut fields = schedstat.split_whitespace().map(|field| field.parse::<u64>().ok());
        let (cpu, wait, slices) = (fields.next()??, fields.next()??, fields.next()??);
        Some(Self { cpu: Duration::from_nanos(cpu), wait: Duration::from_nanos(wait), slices })
    }

    /// The sum with other times.
    pub(super) fn plus(&self, other: &Self) -> Self {
        Self { cpu: self.cpu + other.cpu, wait: self.wait + other.wait, slices: self.slices + other.slices }
    }

    /// The difference from an earlier reading.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            wait: self.wait.saturating_sub(earlier.wait),
            slices: self.slices.saturating_sub(earlier.slices),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn schedstat_is_parsed(cpu: u64, wait: u64, slices: u64) {
            let times = ThreadTimes::parse(&format!("{cpu} {wait} {slices}\n")).unwrap();
            prop_assert_eq!(times.cpu.as_nanos(), u128::from(cpu));
            prop_assert_eq!(times.wait.as_nanos(), u128::from(wait));
            prop_assert_eq!(times.slices, slices);
        }

        #[test]
        fn other_text_is_no_schedstat(text in "[^0-9]*") {
            prop_assert_eq!(ThreadTimes::parse(&text), None);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn own_cpu_time_is_read() {
        let own = [std::process::id()];
        let mut times = ProcessTimes::default();
        times.read(&own, false);
        assert_eq!(times.sum(), ThreadTimes::default());
        let end = super::super::cpu_time() + Duration::from_millis(50);
        while super::super::cpu_time() < end {
            std::hint::spin_loop();
        }
        times.read(&own, true);
        assert!(times.sum().cpu >= Duration::from_millis(20), "{times:?}");
    }
}
