use edgeproof_reports::load::{ContentionFigures, micros};

/// Who used the processors during a run, and who waited for them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuContention {
    /// Length of the run (s).
    pub elapsed_s: f64,
    /// CPU time of this process (s).
    pub own_s: f64,
    /// What the report shows. All times are zero where the system does not report them.
    pub figures: ContentionFigures,
    /// The target's processes, if it runs on this machine.
    pub target: Option<TargetContention>,
}

/// A target on this machine.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TargetContention {
    /// Whether the target runs in this process.
    pub embedded: bool,
    /// Time in which its threads were ready to run and waited for a processor (s).
    pub wait_s: f64,
    /// The part of it that is not due to usual wake-ups (s).
    pub long_wait_s: f64,
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
/// Share of the run in which a target may wait for long. At 100 requests per second, 2 ms for each hundredth request
/// take this share, and distort the 99th percentile.
const TARGET_WAIT: f64 = 0.002;

/// Processors that a generator uses which crowds out a target.
const CROWDING: f64 = 0.5;
/// Share of the run in which a target waits that the generator crowds out.
const CROWDED: f64 = 0.15;

impl CpuContention {
    /// Who took the processors.
    pub fn causes(&self) -> Vec<CpuCause> {
        let taken = [
            (self.figures.throttled_s, NOTICEABLE, CpuCause::Limit),
            (self.figures.steal_s, NOTICEABLE, CpuCause::Hypervisor),
            (self.figures.others_s, BUSY, CpuCause::OtherProcesses),
        ];
        let noticeable = taken.into_iter().filter(|(time, least, _)| self.share(*time) > *least);
        let causes: Vec<CpuCause> = noticeable.map(|(.., cause)| cause).collect();
        if causes.is_empty() { vec![CpuCause::OwnWork] } else { causes }
    }

    /// How long the generator waited, and for whom, and what to do against it.
    pub fn explained(&self) -> String {
        let advice = self.each_cause(|cause| match cause {
            CpuCause::Limit => "raise its CPU limit".into(),
            CpuCause::Hypervisor => "use a machine with processors of its own".into(),
            CpuCause::OtherProcesses => "stop other programs or use another machine".into(),
            CpuCause::OwnWork => {
                "lower the rate, give it more processors, or divide the rate with --shard".into()
            }
        });
        format!("{}, while {}; {advice}", self.waited(self.figures.wait_s), self.takers())
    }

    /// Time in which the generator could not run, as a share of the run; above 1 if several threads waited.
    pub fn held_back(&self) -> f64 {
        self.share(self.figures.wait_s + self.figures.throttled_s + self.figures.steal_s)
    }

    /// Why the target's response times are not its own: it waited for a processor that others used. `None` for
    /// a target that runs elsewhere, or that was not held back.
    pub fn starved_target(&self) -> Option<String> {
        let target = self.target?;
        let held_back = match self.causes()[..] {
            [CpuCause::OwnWork] => false,
            // Who used little of a processor cannot have kept another waiting for longer.
            [CpuCause::OtherProcesses] => self.figures.others_s >= target.long_wait_s / 2.0,
            _ => true,
        };
        (held_back && self.share(target.long_wait_s) > TARGET_WAIT).then(|| {
            format!(
                "the target runs on this machine, and {}, while {}: its response times include that; stop other programs, \
                 or give the target processors of its own",
                self.waited(target.wait_s),
                self.takers()
            )
        })
    }

    /// Why the response times of a paced run are not the target's own: it waited for a processor that the generator used.
    /// `None` for a target that runs elsewhere or in this process, or that had its share.
    pub fn crowded_target(&self) -> Option<String> {
        let target = self.target.filter(|target| !target.embedded)?;
        let is_crowded = self.share(self.own_s) > CROWDING && self.share(target.wait_s) > CROWDED;
        is_crowded.then(|| {
            format!(
                "the target runs on this machine, and {}, while the generator used {} of CPU time: its response times \
                 include that; lower the rate, or run the generator on another machine",
                self.waited(target.wait_s),
                duration(self.own_s)
            )
        })
    }

    /// A note about a target that competes with the generator for processors. `None` for one that does not.
    pub fn competing_target(&self) -> Option<String> {
        let target = self.target.filter(|target| !target.embedded)?;
        (self.share(target.long_wait_s) > TARGET_WAIT && self.starved_target().is_none()).then(|| {
            let waited = self.waited(target.wait_s);
            format!(
                "the target runs on this machine, and {waited}: generator and target share the processors"
            )
        })
    }

    fn waited(&self, seconds: f64) -> String {
        format!("its threads waited {} for a processor in {}", duration(seconds), duration(self.elapsed_s))
    }

    fn takers(&self) -> String {
        self.each_cause(|cause| match cause {
            CpuCause::Limit => {
                format!("a CPU limit stopped the generator for {}", duration(self.figures.throttled_s))
            }
            CpuCause::Hypervisor => format!("the hypervisor took {} (steal)", duration(self.figures.steal_s)),
            CpuCause::OtherProcesses => {
                format!("other processes used {} of CPU time", duration(self.figures.others_s))
            }
            CpuCause::OwnWork => format!("the generator used {} of CPU time itself", duration(self.own_s)),
        })
    }

    fn each_cause(&self, text: impl Fn(CpuCause) -> String) -> String {
        self.causes().into_iter().map(text).collect::<Vec<_>>().join(", and ")
    }

    /// A time (s) as share of the run.
    fn share(&self, seconds: f64) -> f64 {
        if self.elapsed_s > 0.0 { seconds / self.elapsed_s } else { 0.0 }
    }
}

fn duration(seconds: f64) -> String {
    micros((seconds * 1e6).round() as u64)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn s(ms: u64) -> f64 {
        ms as f64 / 1000.0
    }

    /// Of a run of 10 s. Times in ms.
    fn contention(others: u64, steal: u64, throttled: u64) -> CpuContention {
        let figures = ContentionFigures {
            wait_s: 6.5,
            others_s: s(others),
            steal_s: s(steal),
            throttled_s: s(throttled),
            ..ContentionFigures::default()
        };
        CpuContention { elapsed_s: 10.0, own_s: 3.0, figures, target: None }
    }

    #[rstest]
    #[case(
        9_000,
        0,
        0,
        "waited 6.50 s for a processor in 10.0 s, while other processes used 9.00 s of CPU time"
    )]
    #[case(100, 3_000, 0, "while the hypervisor took 3.00 s (steal)")]
    #[case(100, 0, 4_000, "while a CPU limit stopped the generator for 4.00 s")]
    #[case(9_000, 0, 4_000, "stopped the generator for 4.00 s, and other processes used 9.00 s of CPU time")]
    #[case(900, 100, 100, "while the generator used 3.00 s of CPU time itself")]
    fn who_took_the_processors_is_named(
        #[case] others: u64,
        #[case] steal: u64,
        #[case] throttled: u64,
        #[case] text: &str,
    ) {
        let contention = contention(others, steal, throttled);
        assert!(contention.explained().contains(text), "{}", contention.explained());
    }

    #[rstest]
    #[case::held_back(9_000, 2_000, false, true, false)]
    #[case::on_free_processors(9_000, 15, false, false, false)]
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
        let target = TargetContention { embedded, wait_s: s(long_wait), long_wait_s: s(long_wait) };
        let contention = CpuContention { target: Some(target), ..contention(others, 0, 0) };
        assert_eq!(contention.starved_target().is_some(), starved);
        assert_eq!(contention.competing_target().is_some(), competing);
    }

    /// Of a run of 10 s. Times in ms.
    #[rstest]
    #[case::crowded(8_000, 2_000, false, true)]
    #[case::target_waits_for_itself(1_000, 9_000, false, false)]
    #[case::short_waits(8_000, 1_000, false, false)]
    #[case::in_this_process(8_000, 2_000, true, false)]
    fn target_crowded_out_by_the_generator_is_noticed(
        #[case] own: u64,
        #[case] wait: u64,
        #[case] embedded: bool,
        #[case] crowded: bool,
    ) {
        let target = TargetContention { embedded, wait_s: s(wait), long_wait_s: 0.0 };
        let contention = CpuContention { own_s: s(own), target: Some(target), ..contention(100, 0, 0) };
        assert_eq!(contention.crowded_target().is_some(), crowded);
    }

    #[test]
    fn unknown_times_have_no_cause() {
        let unknown = CpuContention::default();
        assert_eq!((unknown.causes(), unknown.starved_target()), (vec![CpuCause::OwnWork], None));
    }
}
