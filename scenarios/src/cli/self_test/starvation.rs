use super::placement::{CpuLimit, Placement, allowed_cpus};

/// Why a generator does not get the CPU time that it needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Starvation {
    /// Two busy processes share its only CPU; the server has another one.
    Pinned,
    /// Two busy processes for each CPU.
    Crowded,
    /// The same as pinned, and the generator is nicer than the busy processes.
    Nice,
    /// A cgroup limits it to this share of a CPU.
    Limited(f64),
}

/// Where the processes of a situation run.
#[derive(Default)]
pub(super) struct Placements {
    pub(super) generator: Placement,
    pub(super) server: Placement,
    /// One for each busy process.
    pub(super) busy: Vec<Placement>,
    /// Removed after the processes have ended.
    pub(super) _limit: Option<CpuLimit>,
}

/// Niceness of a generator that gets about 5 % of a CPU beside two busy processes.
const NICE: i32 = 10;

impl Starvation {
    /// Where the processes run. The error says why this machine cannot show this starvation.
    pub(super) fn placements(self) -> Result<Placements, String> {
        let cpus = allowed_cpus();
        let on = |cpu: usize| Placement { cpu: Some(cpu), ..Placement::default() };
        match (self, &cpus[..]) {
            (Self::Crowded, _) => {
                let cpus = std::thread::available_parallelism().map_or(1, usize::from);
                Ok(Placements { busy: vec![Placement::default(); cpus * 2], ..Placements::default() })
            }
            (Self::Limited(share), _) => {
                let limit = CpuLimit::create(share)?;
                let cgroup = Some(limit.path().to_owned());
                let generator = Placement { cgroup, ..Placement::default() };
                Ok(Placements { generator, _limit: Some(limit), ..Placements::default() })
            }
            (Self::Pinned | Self::Nice, [first, .., last]) => {
                let nice = (self == Self::Nice).then_some(NICE);
                Ok(Placements {
                    generator: Placement { nice, ..on(*last) },
                    server: on(*first),
                    busy: vec![on(*last); 2],
                    _limit: None,
                })
            }
            (Self::Pinned | Self::Nice, _) => {
                Err("the generator and the server cannot be pinned to two CPUs".into())
            }
        }
    }
}
