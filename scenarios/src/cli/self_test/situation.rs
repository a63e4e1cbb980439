use std::ffi::OsString;
use std::fs;
use std::io;
use std::time::Duration;

use edgeproof_reports::load::LoadReport;

use super::placement::Placement;
use super::processes::{ProcessEnd, Processes};
use super::starvation::{Placements, Starvation};
use crate::plan::Rate;
use crate::service::{ServerBehaviour, ServerRecord};

/// A run of the generator against a server.
#[derive(Debug, Clone)]
pub(super) struct Situation {
    pub(super) behaviour: ServerBehaviour,
    pub(super) load: GeneratedLoad,
    pub(super) rate: Rate,
    pub(super) warm_up: Duration,
    pub(super) measured: Duration,
    /// Request timeout.
    pub(super) timeout: Duration,
    /// Longest wait for running operations at the end.
    pub(super) drain: Duration,
    /// Further options of the generator.
    pub(super) options: Vec<&'static str>,
    pub(super) starvation: Option<Starvation>,
}

/// What the generator does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GeneratedLoad {
    /// Posts collections.
    Collections,
    /// Polls for verdicts.
    Verdicts,
}

/// What the generator reported, and what the server recorded.
pub(super) struct Observation {
    pub(super) end: ProcessEnd,
    /// `None` if the generator wrote no report.
    pub(super) report: Option<LoadReport>,
    pub(super) record: ServerRecord,
}

/// Why a situation was not played.
#[derive(Debug)]
pub(super) enum NotPlayed {
    /// This machine cannot show it.
    Impossible(String),
    /// A process failed.
    Failed(io::Error),
}

/// Time that the generator may take beyond its plan.
const SPARE: Duration = Duration::from_secs(60);

impl Situation {
    /// Operations before the measured ones.
    pub(super) fn warm_up_operations(&self) -> u64 {
        self.operations(self.warm_up)
    }

    /// Operations that are measured.
    pub(super) fn measured_operations(&self) -> u64 {
        self.operations(self.warm_up + self.measured) - self.warm_up_operations()
    }

    fn operations(&self, time: Duration) -> u64 {
        (self.rate.value() * time.as_secs_f64() - 1e-6).ceil().max(0.0) as u64
    }

    /// Plays the situation.
    pub(super) fn play(&self, processes: &Processes) -> Result<Observation, NotPlayed> {
        let placements = match self.starvation {
            Some(starvation) => starvation.placements().map_err(NotPlayed::Impossible)?,
            None => Placements::default(),
        };
        self.play_at(processes, &placements).map_err(NotPlayed::Failed)
    }

    fn play_at(&self, processes: &Processes, placements: &Placements) -> io::Result<Observation> {
        let folder = tempfile::tempdir()?;
        let report = folder.path().join("load.json");
        let server = processes.serve(&self.behaviour, &placements.server)?;
        let mut arguments = self.arguments(server.url());
        arguments.extend(["--report".into(), concat("json=", report.as_os_str())]);
        if self.load == GeneratedLoad::Verdicts {
            let references = folder.path().join("references");
            // More than operations and probes, so that each reference is polled for once.
            let count = (self.rate.value() * (self.warm_up + self.measured).as_secs_f64()) as u64 + 1000;
            fs::write(
                &references,
                (0..count).map(|number| format!("session-{number}")).collect::<Vec<_>>().join("\n"),
            )?;
            arguments.extend(["--references".into(), references.into()]);
        }
        let busy = placements.busy.iter().map(|at: &Placement| processes.busy(at));
        let busy: Vec<_> = busy.collect::<Result<_, _>>()?;
        let limit = self.warm_up + self.measured + self.drain + SPARE;
        let end = processes.run(&placements.generator, arguments, limit)?;
        drop(busy);
        Ok(Observation { end, report: LoadReport::load(&report).ok(), record: server.finish()? })
    }

    fn arguments(&self, url: &str) -> Vec<OsString> {
        let time = |time: Duration| humantime::format_duration(time).to_string();
        let (scenario, target) = match self.load {
            GeneratedLoad::Collections => ("edge-relay", "--edge-url"),
            GeneratedLoad::Verdicts => ("verdict-polling", "--base-url"),
        };
        let fixed = [scenario, target, url].map(ToOwned::to_owned);
        let planned = [
            ("--rate", self.rate.value().to_string()),
            ("--duration", time(self.measured)),
            ("--warm-up", time(self.warm_up)),
            ("--timeout", time(self.timeout)),
            ("--drain", time(self.drain)),
        ];
        let planned = planned.into_iter().flat_map(|(name, value)| [name.to_owned(), value]);
        let further = self.options.iter().map(|option| (*option).to_owned());
        fixed.into_iter().chain(planned).chain(further).map(Into::into).collect()
    }
}

fn concat(text: &str, path: &std::ffi::OsStr) -> OsString {
    let mut all = OsString::from(text);
    all.push(path);
    all
}
