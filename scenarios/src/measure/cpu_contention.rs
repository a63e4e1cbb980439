use std::time::Duration;

/// Who used the processors during a run, and who waited for them. All times are zero where the system does not
/// report them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuContention {
    /// Length of the run.
    pub elapsed: Duration,
    /// CPU time of this process.
    pub own: Duration,
    /// Time in which threads of this process were ready to run and waited for a processor.
    pub wait: Duration,
    /// CPU time of other processes, without the target's.
    pub others: Duration,
    /// Time that the hypervisor gave to other machines.
    pub steal: Duration,
    /// Time in which a CPU limit stopped this process.
    pub throttled: Duration,
    /// The target's processes, if it runs on this machine.
    pub target: Option<TargetContention>,
}

/// A target on this machine.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TargetContention {
    /// Whether the target runs in this process.
    pub embedded: bool,
    /// CPU time.
    pub cpu: Duration,
    /// Time in which its threads were ready to run and waited for a processor.
    pub wait: Duration,
    /// The part of `wait` that is not due to usual wake-ups.
    pub long_wait: Duration,
}

/// What kept a process from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuCause {
    /// A CPU limit.
    Limit,
    /// The hypervisor.
    Hypervisor,
    /// Other processes.
    OtherProcesses,
    /// The load itself: generator and target.
    OwnWork,
}

/// Share of the run that the hypervisor or a limit must have taken to be the cause.
const NOTICEABLE: f64 = 0.02;
/// Share of the run that other processes must have used to be the cause. Every machine has some.
const BUSY: f64 = 0.1;
/// Share of the run in which a target may wait. More would distort its 99th percentile.
const TARGET_WAIT: f64 = 0.01;

impl CpuContention {
    /// Who took the processors.
    pub fn cause(&self) -> CpuCause {
        let taken = [
            (self.throttled, NOTICEABLE, CpuCause::Limit),
            (self.steal, NOTICEABLE, CpuCause::Hypervisor),
            (self.others, BUSY, CpuCause::OtherProcesses),
        ];
        let noticeable = taken.into_iter().filter(|(time, least, _)| self.share(*time) > *least);
        noticeable.max_by_key(|(time, ..)| *time).map_or(CpuCause::OwnWork, |(.., cause)| cause)
    }

    /// What kept the generator from running, and for how long.
    pub fn explained(&self) -> String {
        let waited =
            format!("its threads waited {:.1} s for a processor in {:.1} s", s(self.wait), s(self.elapsed));
        match self.cause() {
            CpuCause::Limit => {
                format!("the CPU limit of its cgroup stopped it for {:.1} s", s(self.throttled))
            }
            CpuCause::Hypervisor => {
                format!("{waited}, and the hypervisor took {:.1} s (steal)", s(self.steal))
            }
            CpuCause::OtherProcesses => {
                format!("{waited}, while other processes used {:.1} CPU-seconds", s(self.others))
            }
            CpuCause::OwnWork => format!("{waited}, and it used {:.1} CPU-seconds itself", s(self.own)),
        }
    }

    /// What to do against it.
    pub fn advice(&self) -> &'static str {
        match self.cause() {
            CpuCause::Limit => {
                "raise the CPU limit of the generator, lower the rate, or divide it with --shard"
            }
            CpuCause::Hypervisor => "use a machine with processors of its own",
            CpuCause::OtherProcesses => "stop the other programs, or use another machine for the generator",
            CpuCause::OwnWork => {
                "lower the rate, give the generator more processors, or divide the rate with --shard"
            }
        }
    }

    /// Why the target's response times are not its own: it waited for a processor that others used. `None` for
    /// a target that runs elsewhere, or that was not held back.
    pub fn starved_target(&self) -> Option<String> {
        let target = self.target?;
        let by = match self.cause() {
            CpuCause::OwnWork => return None,
            CpuCause::Limit => "a CPU limit held back this process".into(),
            CpuCause::Hypervisor => format!("the hypervisor took {:.1} s", s(self.steal)),
            // Who used little of a processor cannot have kept another waiting for longer.
            CpuCause::OtherProcesses if self.others < target.long_wait / 2 => return None,
            CpuCause::OtherProcesses => format!("other processes used {:.1} CPU-seconds", s(self.others)),
        };
        (self.share(target.long_wait) > TARGET_WAIT).then(|| {
            format!(
                "the target runs on this machine, and its threads waited {:.1} s for a processor in {:.1} s, while {by}: \
                 its response times include that; stop the other programs, or give the target processors of its own",
                s(target.wait),
                s(self.elapsed)
            )
        })
    }

    /// A note about a target that competes with the generator for processors. `None` for one that does not.
    pub fn competing_target(&self) -> Option<String> {
        let target = self.target.filter(|target| !target.embedded)?;
        (self.share(target.long_wait) > TARGET_WAIT && self.starved_target().is_none()).then(|| {
            format!(
                "the target runs on this machine, and its threads waited {:.1} s for a processor in {:.1} s: generator and \
                 target share the processors",
                s(target.wait),
                s(self.elapsed)
            )
        })
    }

    /// A time as share of the run.
    fn share(&self, time: Duration) -> f64 {
        if self.elapsed.is_zero() { 0.0 } else { s(time) / s(self.elapsed) }
    }
}

fn s(time: Duration) -> f64 {
    time.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Of a run of 10 s. Times in ms.
    fn contention(others: u64, steal: u64, throttled: u64) -> CpuContention {
        let ms = Duration::from_millis;
        CpuContention {
            elapsed: ms(10_000),
            own: ms(3_000),
            wait: ms(6_500),
            others: ms(others),
            steal: ms(steal),
            throttled: ms(throttled),
            target: None,
        }
    }

    #[rstest]
    #[case(
        9_000,
        0,
        0,
        CpuCause::OtherProcesses,
        "waited 6.5 s for a processor in 10.0 s, while other processes used 9.0"
    )]
    #[case(100, 3_000, 0, CpuCause::Hypervisor, "the hypervisor took 3.0 s")]
    #[case(100, 0, 4_000, CpuCause::Limit, "cgroup stopped it for 4.0 s")]
    #[case(100, 100, 0, CpuCause::OwnWork, "it used 3.0 CPU-seconds itself")]
    fn largest_taker_is_the_cause(
        #[case] others: u64,
        #[case] steal: u64,
        #[case] throttled: u64,
        #[case] cause: CpuCause,
        #[case] text: &str,
    ) {
        let contention = contention(others, steal, throttled);
        assert_eq!(contention.cause(), cause);
        assert!(contention.explained().contains(text), "{}", contention.explained());
    }

    #[rstest]
    #[case::held_back(9_000, 2_000, false, true, false)]
    #[case::on_free_processors(9_000, 20, false, false, false)]
    #[case::beside_the_generator(0, 2_000, false, false, true)]
    #[case::beside_a_mostly_idle_machine(900, 2_000, false, false, true)]
    #[case::beside_small_programs(1_100, 5_000, false, false, true)]
    #[case::embedded_beside_the_generator(0, 2_000, true, false, false)]
    #[case::embedded_and_held_back(9_000, 2_000, true, true, false)]
    fn starved_target_is_noticed(
        #[case] others: u64,
        #[case] long_wait: u64,
        #[case] embedded: bool,
        #[case] starved: bool,
        #[case] competing: bool,
    ) {
        let long_wait = Duration::from_millis(long_wait);
        let target = TargetContention { embedded, cpu: Duration::ZERO, wait: long_wait, long_wait };
        let contention = CpuContention { target: Some(target), ..contention(others, 0, 0) };
        assert_eq!(contention.starved_target().is_some(), starved);
        assert_eq!(contention.competing_target().is_some(), competing);
    }

    #[test]
    fn unknown_times_have_no_cause() {
        let unknown = CpuContention::default();
        assert_eq!((unknown.cause(), unknown.starved_target()), (CpuCause::OwnWork, None));
    }
}
