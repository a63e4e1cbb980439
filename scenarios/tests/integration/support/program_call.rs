use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use edgeproof_reports::load::LoadReport;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::program_output::ProgramOutput;
use super::until;

/// A call of the program that writes a JSON report.
pub(crate) struct ProgramCall {
    command: Command,
    folder: TempDir,
}

/// A call that runs. It is killed when this value is dropped.
pub(crate) struct RunningProgram {
    child: Child,
    stdout: ProgramOutput,
    pub(crate) stderr: ProgramOutput,
    folder: TempDir,
}

/// Result of a call.
#[derive(Debug, PartialEq)]
pub(crate) struct ProgramRun {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) report: Option<LoadReport>,
}

impl ProgramCall {
    /// A call with these words, split like a shell's, in the project's folder.
    pub(crate) fn new(line: &str) -> Self {
        Self::of(Command::new(env!("CARGO_BIN_EXE_edgeproof-load")), line)
    }

    /// A call with this limit on open files.
    pub(crate) fn with_open_files(limit: u32, line: &str) -> Self {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("ulimit -n {limit} && exec \"$0\" \"$@\""));
        command.arg(env!("CARGO_BIN_EXE_edgeproof-load"));
        Self::of(command, line)
    }

    /// A call whose wall clock is this far ahead, such as `+30s`. Other clocks are not changed.
    pub(crate) fn with_clock(ahead: &str, line: &str) -> Self {
        let mut command = Command::new("faketime");
        command.args(["--exclude-monotonic", "-f", ahead, env!("CARGO_BIN_EXE_edgeproof-load")]);
        Self::of(command, line)
    }

    fn of(mut command: Command, line: &str) -> Self {
        command.args(shell_words::split(line).unwrap());
        command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        command.env_remove("GATHER_TOKEN").env_remove("READ_TOKEN").env_remove("JOB_COMPLETION_INDEX");
        let folder = TempDir::new().unwrap();
        // A killed program leaves its files.
        command.env("TMPDIR", folder.path());
        Self { command, folder }
    }

    pub(crate) fn arg(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.arg(name).arg(value);
        self
    }

    /// In this working directory.
    pub(crate) fn within(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    pub(crate) fn file(mut self, path: impl AsRef<OsStr>) -> Self {
        self.command.arg(path);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs the program without a report.
    pub(crate) fn output(self) -> ProgramRun {
        self.start_without_report().wait()
    }

    /// Runs the program with a report.
    pub(crate) fn run(self) -> ProgramRun {
        self.start().wait()
    }

    /// Runs the program on another thread, so that the servers of the test keep running.
    pub(crate) async fn run_beside(self) -> ProgramRun {
        self.start().wait_beside().await
    }

    /// Starts the program with a report.
    pub(crate) fn start(mut self) -> RunningProgram {
        self.command.arg("--report").arg(format!("json={}", json(self.folder.path())));
        self.start_without_report()
    }

    pub(crate) fn start_without_report(mut self) -> RunningProgram {
        let mut child = self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = ProgramOutput::of(child.stdout.take().unwrap());
        let stderr = ProgramOutput::of(child.stderr.take().unwrap());
        RunningProgram { child, stdout, stderr, folder: self.folder }
    }
}

impl RunningProgram {
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> ProgramRun {
        let (stdout, stderr) = (self.stdout.all().to_owned(), self.stderr.all().to_owned());
        // It has closed its outputs.
        let status = until("end of the program", || self.child.try_wait().unwrap().ok_or(&stderr));
        let report = LoadReport::load(json(self.folder.path()).as_ref()).ok();
        ProgramRun { code: status.code(), stdout, stderr, report }
    }

    /// Waits on another thread.
    pub(crate) async fn wait_beside(self) -> ProgramRun {
        tokio::task::spawn_blocking(|| self.wait()).await.unwrap()
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ProgramRun {
    /// The report, after a check of the exit code.
    pub(crate) fn ended(self, code: i32) -> LoadReport {
        assert_eq!(self.code, Some(code), "{self}");
        self.report.expect("the program writes a report")
    }
}

impl fmt::Display for ProgramRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.stdout, self.stderr)
    }
}

fn json(folder: &Path) -> String {
    folder.join("load.json").display().to_string()
}
