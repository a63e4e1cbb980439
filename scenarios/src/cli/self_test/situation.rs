use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::process::Stdio;
use std::time::Duration;
use std::{fs, thread};

use edgeproof_cli::{Failure, raise_open_files, write_stdout};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_reports::load::LoadReport;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use super::check::CheckResult;
use super::placement::{Placement, Placements, Starvation};
use crate::plan::Rate;
use crate::service::{RecordingServer, ServerBehaviour, ServerRecord};

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
    pub(super) options: &'static str,
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

/// What the generator printed and reported, and what the server recorded.
pub(super) struct Observation {
    /// Exit code; `None` after a signal.
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// `None` if the generator wrote no report.
    pub(super) report: Option<LoadReport>,
    pub(super) record: ServerRecord,
}

/// Time that the generator may take beyond its plan.
const SPARE: Duration = Duration::from_secs(60);

impl Situation {
    /// The same with this warm-up and this measured period.
    pub(super) fn lasting(self, warm_up: Duration, measured: Duration) -> Self {
        Self { warm_up, measured, ..self }
    }

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

    /// Plays the situation. The error says why it was not played.
    pub(super) async fn play(&self) -> Result<Observation, (CheckResult, String)> {
        let placements = self.starvation.map_or_else(|| Ok(Placements::default()), Starvation::placements);
        let placements = placements.map_err(|why| (CheckResult::NotShown, why))?;
        let failed = |why| (CheckResult::Failed, format!("cannot run the check: {why}"));
        self.play_at(&placements).await.map_err(failed)
    }

    async fn play_at(&self, placements: &Placements) -> io::Result<Observation> {
        let folder = tempfile::tempdir()?;
        let report = folder.path().join("load.json");
        let behaviour = serde_json::to_string(&self.behaviour).map_err(io::Error::other)?;
        let mut server = start(&placements.server, ["self-test".into(), "serve".into(), behaviour.into()])?;
        let mut output = output(&mut server);
        let mut url = String::new();
        output.read_line(&mut url).await?;
        if url.is_empty() {
            return Err(io::Error::other("the server ended before it listened"));
        }
        let mut arguments = self.arguments(url.trim());
        let mut option = OsString::from("json=");
        option.push(&report);
        arguments.extend(["--report".into(), option]);
        if self.load == GeneratedLoad::Verdicts {
            let references = folder.path().join("references");
            // More than operations and probes, so that each reference is polled for once.
            let count = self.operations(self.warm_up + self.measured) + 1000;
            let sessions: Vec<String> = (0..count).map(|number| format!("session-{number}")).collect();
            fs::write(&references, sessions.join("\n"))?;
            arguments.extend(["--references".into(), references.into()]);
        }
        let mut busy = Vec::new();
        for at in &placements.busy {
            let mut process = start(at, ["self-test".into(), "busy".into()])?;
            self::output(&mut process).read_exact(&mut [0]).await?;
            busy.push(process);
        }
        let generator = start(&placements.generator, arguments)?.wait_with_output();
        let limit = self.warm_up + self.measured + self.drain + SPARE;
        let end =
            timeout(limit, generator).await.map_err(|_| io::Error::other("the generator did not end"))??;
        drop(busy);
        let report = LoadReport::load(&report).ok();
        // The server prints its record when its input ends.
        drop(server.stdin.take());
        let mut record = Vec::new();
        output.read_to_end(&mut record).await?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Observation {
            code: end.status.code(),
            stdout: text(&end.stdout),
            stderr: text(&end.stderr),
            report,
            record: serde_json::from_slice(&record)?,
        })
    }

    fn arguments(&self, url: &str) -> Vec<OsString> {
        let (scenario, target) = match self.load {
            GeneratedLoad::Collections => ("edge-relay", "--edge-url"),
            GeneratedLoad::Verdicts => ("verdict-polling", "--base-url"),
        };
        let [measured, warm_up, timeout, drain] =
            [self.measured, self.warm_up, self.timeout, self.drain].map(|time| time.as_nanos());
        let line = format!(
            "{scenario} {target} {url} --rate {} --duration {measured}ns --warm-up {warm_up}ns --timeout {timeout}ns \
             --drain {drain}ns {}",
            self.rate.value(),
            self.options
        );
        line.split_whitespace().map(Into::into).collect()
    }
}

/// Starts this program with other arguments. The process is killed when its value is dropped, and when the self-test
/// itself is killed.
fn start(at: &Placement, arguments: impl IntoIterator<Item = OsString>) -> io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .args(at.arguments(arguments))
        .env("READ_TOKEN", "service_read_self_test")
        .env_remove("JOB_COMPLETION_INDEX")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}

fn output(process: &mut Child) -> BufReader<ChildStdout> {
    BufReader::new(process.stdout.take().expect("it is piped"))
}

/// The command `edgeproof-load self-test serve`: prints its URL, serves until standard input ends, and prints its
/// record.
pub(super) fn serve(behaviour: &str) -> Result<u8, Failure> {
    let behaviour = serde_json::from_str(behaviour)
        .map_err(|why| Failure::usage(format!("cannot read the behaviour: {why}"), "give it as JSON"))?;
    raise_open_files(u64::MAX);
    let server = RecordingServer::start(&Spec::builtin(Version::Current), behaviour).map_err(|why| {
        let what = format!("cannot start the server of the self-test: {why}");
        Failure::usage(what, "raise the limits on open files and threads (ulimit -n, ulimit -u)")
    })?;
    write_stdout(format!("{}\n", server.url()).as_bytes())?;
    wait_for_end_of_input();
    write_stdout(&serde_json::to_vec(&server.record()).expect("a record is numbers"))?;
    Ok(0)
}

/// The command `edgeproof-load self-test busy`: uses a CPU until standard input ends.
pub(super) fn busy() -> Result<u8, Failure> {
    write_stdout(b"\n")?;
    thread::spawn(|| {
        loop {
            std::hint::spin_loop();
        }
    });
    wait_for_end_of_input();
    Ok(0)
}

/// Standard input ends when the self-test ends, for whatever reason.
fn wait_for_end_of_input() {
    let _ = io::stdin().read_to_end(&mut Vec::new());
    let _ = io::stdout().flush();
}
