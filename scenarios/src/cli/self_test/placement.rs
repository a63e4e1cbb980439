use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use edgeproof_cli::Failure;
use edgeproof_launch::cpu_cgroups;
use serde::{Deserialize, Serialize};

/// Where and with which limits a process runs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(in crate::cli) struct Placement {
    /// The only CPU that it uses (default: all).
    cpu: Option<usize>,
    /// Its niceness (default: that of the self-test).
    nice: Option<i32>,
    /// Folder of its cgroup (default: that of the self-test).
    cgroup: Option<PathBuf>,
}

/// Arguments of the command `edgeproof-load self-test confined`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Confined {
    /// The placement (JSON)
    #[arg(value_parser = |text: &str| serde_json::from_str::<Placement>(text))]
    placement: Placement,
    /// Arguments of the program
    #[arg(last = true, required = true)]
    arguments: Vec<OsString>,
}

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

/// A cgroup with a CPU limit. Dropping it removes the cgroup, which must be empty.
pub(super) struct CpuLimit(PathBuf);

/// Niceness of a generator that gets about 5 % of a CPU beside two busy processes.
const NICE: i32 = 10;
/// Period of a CPU limit (µs).
const PERIOD: u64 = 100_000;

impl Placement {
    /// The arguments of this program that run it with these arguments at this placement.
    pub(super) fn arguments(&self, arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        let own = serde_json::to_string(self).expect("a path of a cgroup is text");
        let own = ["self-test", "confined", &own, "--"].map(OsString::from);
        own.into_iter().chain(arguments).collect()
    }
}

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
                let cgroup = Some(limit.0.clone());
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

impl CpuLimit {
    /// A new cgroup with this share of one CPU. The error says why this machine allows none.
    pub(super) fn create(share: f64) -> Result<Self, String> {
        let quota = (PERIOD as f64 * share) as u64;
        let mut why = "no cgroup file system".to_owned();
        let cgroups = cpu_cgroups(&fs::read_to_string("/proc/self/cgroup").unwrap_or_default());
        for own in cgroups.iter().filter_map(|levels| levels.last()) {
            let limit = Self(format!("{own}/edgeproof-self-test-{}", std::process::id()).into());
            match limit.set_up(quota) {
                Ok(()) => return Ok(limit),
                Err(error) => why = format!("{own}: {error}"),
            }
        }
        Err(format!("no writable cgroup with a CPU limit ({why})"))
    }

    fn set_up(&self, quota: u64) -> io::Result<()> {
        fs::create_dir(&self.0)?;
        if self.0.join("cpu.max").exists() {
            return set(self.0.join("cpu.max"), &format!("{quota} {PERIOD}"));
        }
        set(self.0.join("cpu.cfs_period_us"), &PERIOD.to_string())?;
        set(self.0.join("cpu.cfs_quota_us"), &quota.to_string())
    }
}

impl Drop for CpuLimit {
    fn drop(&mut self) {
        // Not created, or removed by somebody else.
        let _ = fs::remove_dir(&self.0);
    }
}

/// The CPUs that this process may use.
#[cfg(target_os = "linux")]
pub(super) fn allowed_cpus() -> Vec<usize> {
    let Ok(allowed) = rustix::thread::sched_getaffinity(None) else { return Vec::new() };
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect()
}

/// Without the system's support no process can be pinned.
#[cfg(not(target_os = "linux"))]
pub(super) fn allowed_cpus() -> Vec<usize> {
    Vec::new()
}

/// The command `edgeproof-load self-test confined`: becomes this program with other arguments and limits.
pub(super) fn confined(confined: &Confined) -> Result<u8, Failure> {
    let failed = |what: &str, why: io::Error| {
        Failure::usage(format!("cannot {what}: {why}"), "only the self-test uses this command")
    };
    let Confined { placement: Placement { cpu, nice, cgroup }, arguments } = confined;
    if let Some(nice) = *nice {
        rustix::process::nice(nice).map_err(|why| failed("change the niceness", why.into()))?;
    }
    if let Some(cgroup) = cgroup {
        let joined = fs::write(cgroup.join("cgroup.procs"), std::process::id().to_string());
        joined.map_err(|why| failed("join the cgroup", why))?;
    }
    pin_and_bind(*cpu).map_err(|why| failed("use the CPU", why))?;
    let program = std::env::current_exe().map_err(|why| failed("find this program", why))?;
    Err(failed("run this program", Command::new(program).args(arguments).exec()))
}

/// Restricts this process to a CPU, and kills it when the self-test ends.
#[cfg(target_os = "linux")]
fn pin_and_bind(cpu: Option<usize>) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    if let Some(cpu) = cpu {
        let mut only = rustix::thread::CpuSet::new();
        only.set(cpu);
        rustix::thread::sched_setaffinity(None, &only)?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
fn pin_and_bind(_: Option<usize>) -> io::Result<()> {
    Ok(())
}

/// Writes a file of a cgroup. It never makes one: in a folder that is no cgroup, a limit has no effect.
fn set(file: PathBuf, value: &str) -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(file)?.write_all(value.as_bytes())
}
