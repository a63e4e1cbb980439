//! The program as users call it.
#![expect(clippy::unwrap_used, reason = "test helpers, which clippy does not recognise as tests")]

mod exit_codes;
mod outputs;
mod own_limits;
mod partial;
mod self_test;
mod shards;
mod targets;

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use edgeproof_reports::load::LoadReport;
use tempfile::TempDir;

/// A short run at a rate that a busy machine can serve.
const SHORT: &str = "--rate 40 --duration 1s --warm-up 200ms --unchecked";

/// A call of the program that writes a JSON report.
struct ProgramCall {
    command: Command,
    folder: TempDir,
}

/// Result of a call.
#[derive(Debug, PartialEq)]
struct ProgramRun {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    report: Option<LoadReport>,
}

impl ProgramCall {
    /// A call with these words, split like a shell's, in the project's folder.
    fn new(line: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_edgeproof-load"));
        command.args(shell_words::split(line).unwrap()).current_dir("..");
        command.env_remove("READ_TOKEN").env_remove("JOB_COMPLETION_INDEX");
        Self { command, folder }
    }

    fn arg(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.arg(name).arg(value);
        self
    }

    fn file(mut self, path: impl AsRef<OsStr>) -> Self {
        self.command.arg(path);
        self
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs the program without a report.
    fn output(mut self) -> ProgramRun {
        ProgramRun::of(spawn(&mut self.command), &self.folder)
    }

    /// Runs the program with a report.
    fn run(self) -> ProgramRun {
        let (child, folder) = self.start();
        ProgramRun::of(child, &folder)
    }

    /// Runs the program on another thread, so that the servers of the test keep running.
    async fn run_beside(self) -> ProgramRun {
        tokio::task::spawn_blocking(|| self.run()).await.unwrap()
    }

    /// Starts the program with a report in this folder.
    fn start(mut self) -> (Child, TempDir) {
        self.command.arg("--report").arg(format!("json={}", json(self.folder.path())));
        (spawn(&mut self.command), self.folder)
    }
}

impl ProgramRun {
    /// Waits for the program.
    fn of(child: Child, folder: &TempDir) -> Self {
        let output = child.wait_with_output().unwrap();
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            report: LoadReport::load(json(folder.path()).as_ref()).ok(),
        }
    }

    /// The report, after a check of the exit code.
    fn ended(self, code: i32) -> LoadReport {
        assert_eq!(self.code, Some(code), "{self}");
        self.report.expect("the program writes a report")
    }
}

impl fmt::Display for ProgramRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.stdout, self.stderr)
    }
}

fn spawn(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn json(folder: &Path) -> String {
    folder.join("load.json").display().to_string()
}
