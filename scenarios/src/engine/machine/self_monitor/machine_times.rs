use std::fs;
use std::time::{Duration, Instant};

/// A reading of the whole machine's CPU times.
#[derive(Debug, Clone, Copy)]
pub(super) struct MachineTimes {
    at: Instant,
    processors: ProcessorTimes,
    throttled: Duration,
}

/// CPU time of the whole machine, and what the hypervisor and the cgroup took from it, between two readings.
/// Linux only: elsewhere all times are zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct MachineUse {
    /// Time in which a processor worked.
    pub(super) busy: Duration,
    /// Time that the hypervisor gave to other machines.
    pub(super) steal: Duration,
    /// Time in which the CPU limit of this process's cgroups stopped it.
    pub(super) throttled: Duration,
}

/// Times of all processors since the system's start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ProcessorTimes {
    /// Number of processors.
    count: u32,
    /// Also time of interrupts, where it counts for no process.
    idle: Duration,
    steal: Duration,
}

impl MachineTimes {
    /// The times now.
    pub(super) fn read() -> Self {
        let at = Instant::now();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let stat = if has_own_stat(&mounts) { None } else { fs::read_to_string("/proc/stat").ok() };
        let cgroups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        // In a container, the limit is that of the root that it sees.
        let throttled = cpu_stat_files(&cgroups)
            .filter_map(|path| fs::read_to_string(path).ok())
            .filter_map(|stat| parse_throttled(&stat))
            .max();
        let processors = stat.and_then(|stat| parse_stat(&stat, tick())).unwrap_or_default();
        Self { at, processors, throttled: throttled.unwrap_or_default() }
    }

    /// What happened since an earlier reading.
    pub(super) fn since(&self, earlier: &Self) -> MachineUse {
        let (idle, steal) = self.processors.since(&earlier.processors);
        // Nothing is known if processors came or went.
        let count = if self.processors.count == earlier.processors.count { self.processors.count } else { 0 };
        let time = self.at.saturating_duration_since(earlier.at).saturating_mul(count);
        MachineUse {
            busy: time.saturating_sub(idle + steal),
            steal,
            throttled: self.throttled.saturating_sub(earlier.throttled),
        }
    }
}

impl ProcessorTimes {
    /// Idle and stolen time since an earlier reading.
    fn since(&self, earlier: &Self) -> (Duration, Duration) {
        (self.idle.saturating_sub(earlier.idle), self.steal.saturating_sub(earlier.steal))
    }
}

/// Unit of `/proc/stat`.
fn tick() -> Duration {
    Duration::from_secs(1) / u32::try_from(rustix::param::clock_ticks_per_second().max(1)).unwrap_or(100)
}

/// Times of all processors from `/proc/stat`; `None` where it has none.
///
/// The kernel measures idle time, but samples busy time: at each tick it looks who is running. A run that is
/// paced in step with the ticks looks as if it never worked, or always.
fn parse_stat(stat: &str, tick: Duration) -> Option<ProcessorTimes> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields: Vec<u64> = line.split_whitespace().map(|field| field.parse().ok()).collect::<Option<_>>()?;
    // user, nice, system, idle, iowait, irq, softirq, steal.
    let ticks = |places: &[usize]| places.iter().filter_map(|place| fields.get(*place)).sum::<u64>();
    let time = |ticks: u64| Duration::from_nanos((tick.as_nanos() as u64).saturating_mul(ticks));
    // A kernel that measures the time of interrupts counts it for no process, and the others report none here.
    let interrupts = if ticks(&[5]) > 0 { ticks(&[5, 6]) } else { 0 };
    let is_processor = |line: &&str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    let count = u32::try_from(stat.lines().filter(is_processor).count()).unwrap_or(u32::MAX);
    let idle = ticks(&[3, 4]);
    // A sandbox may list its processors without times.
    (idle > 0).then(|| ProcessorTimes { count, idle: time(idle + interrupts), steal: time(ticks(&[7])) })
}

/// Whether a container sees a `/proc/stat` of its own, in which idle time is cut to its limit.
fn has_own_stat(mounts: &str) -> bool {
    mounts.lines().any(|mount| mount.split(' ').nth(4) == Some("/proc/stat"))
}

/// The files `cpu.stat` of a process's cgroups, of version 1 and 2. Each level may have a limit.
fn cpu_stat_files(cgroups: &str) -> impl Iterator<Item = String> {
    cgroups.lines().flat_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        let root = match controllers {
            "" => "/sys/fs/cgroup",
            _ if controllers.split(',').any(|controller| controller == "cpu") => "/sys/fs/cgroup/cpu",
            _ => return Vec::new(),
        };
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        (0..=parts.len()).map(|depth| [&[root], &parts[..depth], &["cpu.stat"]].concat().join("/")).collect()
    })
}

/// Throttled time from `cpu.stat`; `None` without a limit.
fn parse_throttled(cpu_stat: &str) -> Option<Duration> {
    cpu_stat.lines().find_map(|line| match line.split_once(' ')? {
        ("throttled_usec", us) => us.trim().parse().ok().map(Duration::from_micros),
        ("throttled_time", ns) => ns.trim().parse().ok().map(Duration::from_nanos),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("nr_periods 5\nthrottled_usec 1500\n", Some(1_500))]
    #[case("nr_periods 5\nnr_throttled 2\nthrottled_time 1500000\n", Some(1_500))]
    #[case("usage_usec 4\n", None)]
    #[case("", None)]
    fn throttled_time_is_parsed(#[case] text: &str, #[case] us: Option<u64>) {
        assert_eq!(parse_throttled(text), us.map(Duration::from_micros));
    }

    #[rstest]
    #[case("0::/a/b\n", &["/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/a/cpu.stat", "/sys/fs/cgroup/a/b/cpu.stat"])]
    #[case("4:memory:/m\n1:cpu,cpuacct:/a\n", &["/sys/fs/cgroup/cpu/cpu.stat", "/sys/fs/cgroup/cpu/a/cpu.stat"])]
    #[case("2:cpuacct:/\n", &[])]
    fn every_level_of_a_cgroup_is_read(#[case] cgroups: &str, #[case] files: &[&str]) {
        assert_eq!(cpu_stat_files(cgroups).collect::<Vec<_>>(), files);
    }

    #[rstest]
    #[case(
        "22 1 0:5 / /proc rw - proc proc rw\n90 22 0:40 /proc/stat /proc/stat rw - fuse.lxcfs lxcfs rw\n",
        true
    )]
    #[case("22 1 0:5 / /proc rw - proc proc rw\n", false)]
    #[case("", false)]
    fn stat_of_a_container_is_noticed(#[case] mounts: &str, #[case] own: bool) {
        assert_eq!(has_own_stat(mounts), own);
    }

    /// Times in ms, of two processors in one second.
    #[rstest]
    #[case(1_500, 100, 400)]
    #[case(2_000, 0, 0)]
    // Each reading is rounded to ticks.
    #[case(2_010, 0, 0)]
    fn busy_is_the_rest(#[case] idle: u64, #[case] steal: u64, #[case] busy: u64) {
        let ms = Duration::from_millis;
        let processors = ProcessorTimes { count: 2, idle: ms(70), steal: ms(50) };
        let earlier = MachineTimes { at: Instant::now(), processors, throttled: Duration::ZERO };
        let processors = ProcessorTimes { count: 2, idle: ms(70 + idle), steal: ms(50 + steal) };
        let later = MachineTimes { at: earlier.at + ms(1_000), processors, throttled: ms(3) };
        let expected = MachineUse { busy: ms(busy), steal: ms(steal), throttled: ms(3) };
        assert_eq!(later.since(&earlier), expected);
    }

    proptest! {
        #[test]
        fn stat_is_parsed(fields in prop::collection::vec(1u64..10_000_000_000, 8..11)) {
            let line: Vec<String> = fields.iter().map(u64::to_string).collect();
            let stat = format!("cpu  {}\ncpu0 1 2 3\ncpu1 1 2 3\nctxt 4\n", line.join(" "));
            let ms = |ticks: u64| Duration::from_millis(ticks * 10);
            let unused = fields[3] + fields[4] + fields[5] + fields[6];
            let times = ProcessorTimes { count: 2, idle: ms(unused), steal: ms(fields[7]) };
            prop_assert_eq!(parse_stat(&stat, ms(1)), Some(times));
            let unknown = stat.replace(&line.join(" "), "0 0 0 0 0 0 0 0");
            prop_assert_eq!(parse_stat(&unknown, ms(1)), None);
        }

        #[test]
        fn any_text_is_read_without_a_panic(text: String) {
            let _ = (parse_stat(&text, tick()), parse_throttled(&text), cpu_stat_files(&text).count());
        }
    }
}
