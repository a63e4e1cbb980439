use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};

use super::placement::Placement;
use crate::service::{ServerBehaviour, ServerRecord};

/// Starts the processes of the self-test: this program with other arguments.
///
/// Each process is killed when its value is dropped, when [`Self::stop`] is called, and when the self-test itself
/// is killed.
pub(super) struct Processes {
    program: PathBuf,
    /// Running processes; `None` after [`Self::stop`].
    running: Mutex<Option<HashSet<Pid>>>,
}

/// A process that is killed when this value is dropped.
pub(super) struct Process<'a> {
    processes: &'a Processes,
    child: Child,
}

/// A server process.
pub(super) struct ServerProcess<'a> {
    process: Process<'a>,
    output: BufReader<ChildStdout>,
    stdin: ChildStdin,
    url: String,
}

/// What a process printed, and how it ended.
pub(super) struct ProcessEnd {
    /// Exit code; `None` after a signal.
    pub(super) code: Option<i32>,
    /// Standard output.
    pub(super) stdout: String,
    /// Standard error.
    pub(super) stderr: String,
}

impl Processes {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { program: std::env::current_exe()?, running: Mutex::new(Some(HashSet::new())) })
    }

    /// Kills all processes. No further one starts.
    pub(super) fn stop(&self) {
        for pid in self.running.lock().take().into_iter().flatten() {
            // Its value waits for it, so the id is still its own.
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// Whether [`Self::stop`] was called.
    pub(super) fn are_stopped(&self) -> bool {
        self.running.lock().is_none()
    }

    /// Starts a server and waits until it listens.
    pub(super) fn serve(&self, behaviour: &ServerBehaviour, at: &Placement) -> io::Result<ServerProcess<'_>> {
        let behaviour = serde_json::to_string(behaviour).map_err(io::Error::other)?;
        let mut process = self.start(at, ["self-test".into(), "serve".into(), behaviour.into()])?;
        let (stdin, stdout) = (process.child.stdin.take(), process.child.stdout.take());
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else { unreachable!("both are piped") };
        let mut output = BufReader::new(stdout);
        let mut url = String::new();
        output.read_line(&mut url)?;
        if url.is_empty() {
            return Err(io::Error::other("the server ended before it listened"));
        }
        Ok(ServerProcess { process, output, stdin, url: url.trim().to_owned() })
    }

    /// Starts a process that uses a whole CPU, and waits until it runs.
    pub(super) fn busy(&self, at: &Placement) -> io::Result<Process<'_>> {
        let mut process = self.start(at, ["self-test".into(), "busy".into()])?;
        if let Some(stdout) = process.child.stdout.as_mut() {
            stdout.read_exact(&mut [0])?;
        }
        Ok(process)
    }

    /// Runs a process to its end. It is killed after this time.
    pub(super) fn run(
        &self,
        at: &Placement,
        arguments: impl IntoIterator<Item = OsString>,
        limit: Duration,
    ) -> io::Result<ProcessEnd> {
        let mut process = self.start(at, arguments)?;
        drop(process.child.stdin.take());
        let (Some(mut stdout), Some(mut stderr)) = (process.child.stdout.take(), process.child.stderr.take())
        else {
            unreachable!("both are piped");
        };
        let (ended, wait) = mpsc::channel();
        let reader = thread::spawn(move || {
            let (mut out, mut err) = (String::new(), String::new());
            let errors = thread::spawn(move || stderr.read_to_string(&mut err).map(|_| err));
            let read = stdout.read_to_string(&mut out);
            // The receiver waits for the thread.
            let _ = ended.send(());
            read?;
            Ok::<_, io::Error>((out, errors.join().unwrap_or_else(|_| Ok(String::new()))?))
        });
        if wait.recv_timeout(limit).is_err() {
            process.child.kill()?;
        }
        let (stdout, stderr) = reader.join().map_err(|_| io::Error::other("cannot read the output"))??;
        Ok(ProcessEnd { code: process.wait()?, stdout, stderr })
    }

    fn start(
        &self,
        at: &Placement,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> io::Result<Process<'_>> {
        let mut running = self.running.lock();
        let running = running.as_mut().ok_or_else(|| io::Error::from(io::ErrorKind::Interrupted))?;
        let child = Command::new(&self.program)
            .args(at.arguments(arguments))
            .env("READ_TOKEN", "service_read_self_test")
            .env_remove("JOB_COMPLETION_INDEX")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        running.insert(Pid::from_child(&child));
        Ok(Process { processes: self, child })
    }
}

impl Process<'_> {
    /// Waits for its end. Returns the exit code.
    fn wait(&mut self) -> io::Result<Option<i32>> {
        if let Some(running) = self.processes.running.lock().as_mut() {
            running.remove(&Pid::from_child(&self.child));
        }
        Ok(self.child.wait()?.code())
    }
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.wait();
    }
}

impl ServerProcess<'_> {
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Ends the server. Returns its record.
    pub(super) fn finish(self) -> io::Result<ServerRecord> {
        let Self { process, mut output, stdin, .. } = self;
        drop(stdin);
        let mut record = String::new();
        output.read_to_string(&mut record)?;
        drop(process);
        record.parse().map_err(io::Error::other)
    }
}
