use std::fs;
use std::time::{Duration, Instant};

use super::ticks;

/// A reading of the whole machine's CPU times, and of what the cgroup took from it. Parsed here: procfs-core would take
/// `edgeproof` over its number of crates.
#[derive(Debug, Clone, Copy)]
pub struct MachineTimes {
    at: Instant,
    /// Number of processors.
    count: u32,
    /// Idle time of all processors. Also time of interrupts, where it counts for no process.
    idle: Duration,
    steal: Duration,
    throttled: Duration,
}

impl MachineTimes {
    /// The times now.
    pub fn read() -> Self {
        let at = Instant::now();
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let stat =
            if has_own_stat(&text("/proc/self/mountinfo")) { String::new() } else { text("/proc/stat") };
        // In a container, the limit is that of the root that it sees.
        let throttled = cpu_cgroups(&text("/proc/self/cgroup"));
        let throttled = throttled.iter().flatten().map(|folder| format!("{folder}/cpu.stat"));
        let throttled = throttled.filter_map(|file| parse_throttled(&text(&file))).max();
        let (count, idle, steal) = parse_stat(&stat).unwrap_or_default();
        Self { at, count, idle, steal, throttled: throttled.unwrap_or_default() }
    }

    /// What happened since an earlier reading: time in which a processor worked, time that the hypervisor gave to other
    /// machines, and time in which the CPU limit of this process's cgroups stopped it.
    pub fn since(&self, earlier: &Self) -> [Duration; 3] {
        let (idle, steal) =
            (self.idle.saturating_sub(earlier.idle), self.steal.saturating_sub(earlier.steal));
        let time = self.capacity_since(earlier);
        [time.saturating_sub(idle + steal), steal, self.throttled.saturating_sub(earlier.throttled)]
    }

    /// Time of all processors since an earlier reading. Zero: nothing is known, or processors came or went.
    pub fn capacity_since(&self, earlier: &Self) -> Duration {
        let count = if self.count == earlier.count { self.count } else { 0 };
        self.at.saturating_duration_since(earlier.at).saturating_mul(count)
    }
}

/// Number of processors, their idle time and stolen time, from `/proc/stat`; `None` where it has none.
///
/// The kernel measures idle time, but samples busy time: at each tick it looks who is running. A run that is
/// paced in step with the ticks looks as if it never worked, or always.
fn parse_stat(stat: &str) -> Option<(u32, Duration, Duration)> {
    let mut lines = stat.lines().take_while(|line| line.starts_with("cpu"));
    let numbers = lines.next()?.split_ascii_whitespace().skip(1).map(|number| number.parse().unwrap_or(0));
    let numbers: Vec<u64> = numbers.collect();
    let [idle, iowait, irq, softirq, steal] =
        [3, 4, 5, 6, 7].map(|field| numbers.get(field).copied().unwrap_or(0));
    // A kernel that measures the time of interrupts counts it for no process, and the others report none here.
    let interrupts = if irq > 0 { irq + softirq } else { 0 };
    let count = u32::try_from(lines.count()).unwrap_or(u32::MAX);
    // A sandbox may list its processors without times.
    (idle + iowait > 0).then(|| (count, ticks(idle + iowait + interrupts), ticks(steal)))
}

/// Whether a container sees a `/proc/stat` of its own, in which idle time is cut to its limit.
fn has_own_stat(mounts: &str) -> bool {
    mounts.lines().any(|mount| mount.split(' ').nth(4) == Some("/proc/stat"))
}

/// The folders in which a process's cgroups may have a CPU limit, of version 1 and 2: of each cgroup, those above it and
/// its own. `cgroups` is the text of `/proc/PID/cgroup`.
pub fn cpu_cgroups(cgroups: &str) -> Vec<Vec<String>> {
    let mut folders = Vec::new();
    for line in cgroups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let roots: &[&str] = match controllers {
            "" => &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"],
            controllers if controllers.split(',').any(|name| name == "cpu") => &["/sys/fs/cgroup/cpu"],
            _ => &[],
        };
        folders.extend(roots.iter().map(|root| {
            let mut levels = vec![(*root).to_owned()];
            for part in path.split('/').filter(|part| !part.is_empty()) {
                levels.push(format!("{}/{part}", levels[levels.len() - 1]));
            }
            levels
        }));
    }
    folders
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
    #[case("0::/a/b\n", "ROOT ROOT/a ROOT/a/b, ROOT/unified ROOT/unified/a ROOT/unified/a/b")]
    #[case("4:memory:/m\n1:cpu,cpuacct:/a\n", "ROOT/cpu ROOT/cpu/a")]
    #[case("2:cpuacct:/\n", "")]
    fn every_level_of_a_cgroup_is_read(#[case] cgroups: &str, #[case] folders: &str) {
        let found = cpu_cgroups(cgroups).iter().map(|levels| levels.join(" ")).collect::<Vec<_>>().join(", ");
        assert_eq!(found.replace("/sys/fs/cgroup", "ROOT"), folders);
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
        let earlier =
            MachineTimes { at: Instant::now(), count: 2, idle: ms(70), steal: ms(50), throttled: ms(0) };
        let at = earlier.at + ms(1_000);
        let later =
            MachineTimes { at, count: 2, idle: ms(70 + idle), steal: ms(50 + steal), throttled: ms(3) };
        assert_eq!(later.since(&earlier), [ms(busy), ms(steal), ms(3)]);
    }

    proptest! {
        #[test]
        fn stat_is_parsed(fields in prop::collection::vec(1u64..10_000_000_000, 8..11)) {
            let line: Vec<String> = fields.iter().map(u64::to_string).collect();
            let stat = format!("cpu  {}\ncpu0 1 2 3 4\ncpu1 1 2 3 4\nctxt 4\nbtime 5\nprocesses 6\n", line.join(" "));
            let unused = fields[3] + fields[4] + fields[5] + fields[6];
            prop_assert_eq!(parse_stat(&stat), Some((2, ticks(unused), ticks(fields[7]))));
            let unknown = stat.replace(&line.join(" "), "0 0 0 0 0 0 0 0");
            prop_assert_eq!(parse_stat(&unknown), None);
        }

        #[test]
        fn any_text_is_read_without_a_panic(text: String) {
            let _ = (parse_stat(&text), parse_throttled(&text), cpu_cgroups(&text).len());
        }
    }
}
