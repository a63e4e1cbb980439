use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tokio::io::AsyncRead;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::watch;
use tokio::time::timeout;

use super::descendants::Descendants;
use super::mark::{MARK, Mark};
use super::pump::pump;
use super::{LogTail, Stream};

/// Timeout for the last output of ended processes.
const OUTPUT_LIMIT: Duration = Duration::from_secs(1);
/// Stack size of the thread that waits for the exit (bytes).
const WAITER_STACK: usize = 128 * 1024;

/// Program in its own process group. Dropping the value ends it and everything that it started, and blocks until that is
/// done; [`Process::stop`] does the same without blocking a thread of the runtime.
///
/// SIGKILL of *this* process leaves the program running, unless it ends by itself when its standard input ends
/// ([`ProcessStart::stdin_open`]).
#[derive(Debug)]
pub struct Process {
    child: Child,
    descendants: Arc<Descendants>,
    /// Time between SIGTERM and SIGKILL.
    grace: Duration,
    log: LogTail,
    exit: watch::Receiver<Option<ExitStatus>>,
    pipes: watch::Receiver<usize>,
    close: watch::Sender<bool>,
    reaped: bool,
}

/// Command line and environment of a program.
#[derive(Debug)]
pub struct ProcessStart {
    /// Program and arguments: at least one word.
    pub words: Vec<OsString>,
    /// Working directory (default: the current folder).
    pub folder: Option<PathBuf>,
    /// Variables to set (`Some`) or to unset (`None`); all others are inherited.
    pub environment: Vec<(String, Option<OsString>)>,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Whether standard input is a pipe that stays open until this process ends, however it ends; otherwise it is empty.
    pub stdin_open: bool,
}

impl Process {
    /// Starts the program. Needs a tokio runtime, which reads its output.
    pub fn spawn(start: &ProcessStart) -> io::Result<Self> {
        let (program, arguments) = start.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mark = Mark::new();
        let mut command = Command::new(program);
        command.args(arguments).env(MARK, mark.variable());
        if let Some(folder) = &start.folder {
            command.current_dir(folder);
        }
        for (name, value) in &start.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        // Nothing is written to the pipe. It closes when this process ends.
        command.stdin(if start.stdin_open { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let child = mark.while_limited(|| command.spawn())?;

        let group = Pid::from_child(&child);
        let (exited, exit) = watch::channel(None);
        let (open, pipes) = watch::channel(0);
        let close = watch::Sender::new(false);
        // From here on, any failure drops the value and ends the program.
        let mut process = Self {
            child,
            descendants: Arc::new(Descendants::new(group, mark)),
            grace: start.grace,
            log: LogTail::default(),
            exit,
            pipes,
            close,
            reaped: false,
        };
        thread::Builder::new()
            .name("edge-exit".into())
            .stack_size(WAITER_STACK)
            .spawn(move || exited.send_replace(Some(wait_without_reaping(group))))?;
        process.read_output(&Arc::new(open))?;
        Ok(process)
    }

    /// Process id, equal to the process group id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Log of the program.
    pub fn log(&self) -> &LogTail {
        &self.log
    }

    /// The program and everything that it started.
    pub(super) fn descendants(&self) -> &Descendants {
        &self.descendants
    }

    /// Exit status, after the program ended by itself.
    pub(super) fn exited(&self) -> Option<ExitStatus> {
        *self.exit.borrow()
    }

    /// Waits until the program ends by itself.
    pub async fn exit(&self) -> ExitStatus {
        let mut exit = self.exit.clone();
        let ended = exit.wait_for(Option::is_some).await;
        // The sender is dropped only after it sent.
        ended.ok().and_then(|status| *status).unwrap_or_default()
    }

    /// Waits up to `limit` for the end of the output; yields whether the log is complete.
    pub(super) async fn output_ended(&self, limit: Duration) -> bool {
        let mut pipes = self.pipes.clone();
        timeout(limit, pipes.wait_for(|open| *open == 0)).await.is_ok()
    }

    /// Ends the program and everything that it started: SIGTERM, then SIGKILL if a process is left after the grace period.
    pub(super) async fn end(&self) {
        let (descendants, grace) = (Arc::clone(&self.descendants), self.grace);
        // Fails only while the runtime shuts down: the drop ends the program.
        let _ = tokio::task::spawn_blocking(move || descendants.end(grace)).await;
    }

    /// Ends the program and everything that it started, as a drop does, and reads the output to its end.
    pub async fn stop(mut self) -> LogTail {
        self.end().await;
        let _ = timeout(OUTPUT_LIMIT, self.exit()).await;
        self.reap();
        self.output_ended(OUTPUT_LIMIT).await;
        // A process that nothing identifies can still hold the pipes.
        self.close.send_replace(true);
        self.output_ended(OUTPUT_LIMIT).await;
        self.log.end();
        self.log.clone()
    }

    fn read_output(&mut self, open: &Arc<watch::Sender<usize>>) -> io::Result<()> {
        if let Some(pipe) = self.child.stdout.take() {
            self.read(ChildStdout::from_std(pipe)?, Stream::Out, open);
        }
        if let Some(pipe) = self.child.stderr.take() {
            self.read(ChildStderr::from_std(pipe)?, Stream::Err, open);
        }
        Ok(())
    }

    fn read(
        &self,
        pipe: impl AsyncRead + Unpin + Send + 'static,
        stream: Stream,
        open: &Arc<watch::Sender<usize>>,
    ) {
        let reading = pump(pipe, stream, self.log.clone(), self.close.subscribe());
        let one = Open::count(open);
        tokio::spawn(async move {
            reading.await;
            drop(one);
        });
    }

    /// Reaps the process. Afterwards another process may get its id.
    fn reap(&mut self) {
        self.reaped = true;
        // A killed process can hang in the kernel; nothing can be done about that.
        let _ = self.child.try_wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.reaped {
            return;
        }
        self.descendants.end(self.grace);
        self.reap();
        self.log.end();
    }
}

/// Counter of an open pipe; dropping it counts down.
struct Open(Arc<watch::Sender<usize>>);

impl Open {
    fn count(all: &Arc<watch::Sender<usize>>) -> Self {
        all.send_modify(|open| *open += 1);
        Self(Arc::clone(all))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

/// Waits for the exit without reaping. The zombie keeps the process id, which is also the group id, until the group is
/// killed.
fn wait_without_reaping(process: Pid) -> ExitStatus {
    loop {
        match waitid(WaitId::Pid(process), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(Some(status)) => {
                let raw = match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => code << 8,
                    (None, Some(signal)) => signal,
                    (None, None) => 0,
                };
                return ExitStatus::from_raw(raw);
            }
            // The process was reaped because the value is being dropped: nobody reads this status.
            Ok(None) | Err(_) => return ExitStatus::default(),
        }
    }
}
