use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::AsyncRead;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::watch;
use tokio::time::timeout;

use super::pump::pump;
use super::{LogTail, Stream, descendants};

/// Longest wait for killed processes to be gone, and for the output they left in the pipes.
const KILL_LIMIT: Duration = Duration::from_secs(1);
/// Stack of the thread that waits for the exit.
const WAITER_STACK: usize = 128 * 1024;

/// A program in a process group of its own. It and what it started end with this value, however that comes about;
/// [`Process::stop`] gives it time to end by itself.
///
/// SIGKILL of *this* process leaves it running: nothing can be done after that.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: Pid,
    mark: String,
    log: LogTail,
    exit: watch::Receiver<Option<ExitStatus>>,
    pipes: watch::Receiver<usize>,
    close: watch::Sender<bool>,
    reaped: bool,
}

/// What a program is started with.
#[derive(Debug)]
pub(super) struct Start {
    /// The program and its arguments: at least one word.
    pub(super) words: Vec<String>,
    /// Variables that are set, or that are not there at all; all others are inherited.
    pub(super) environment: Vec<(String, Option<OsString>)>,
}

impl Process {
    /// Starts it. Call it within a runtime, which reads its output.
    pub(super) fn spawn(start: &Start) -> io::Result<Self> {
        let (program, arguments) = start.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mark = new_mark();
        let mut command = Command::new(program);
        command.args(arguments).env(descendants::MARK, inherited_and(&mark));
        for (name, value) in &start.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let child = command.spawn()?;

        let group = Pid::from_child(&child);
        let (exited, exit) = watch::channel(None);
        let (open, pipes) = watch::channel(0);
        let close = watch::Sender::new(false);
        // From here on it is ended whatever fails.
        let mut process =
            Self { child, group, mark, log: LogTail::default(), exit, pipes, close, reaped: false };
        thread::Builder::new()
            .name("edge-exit".into())
            .stack_size(WAITER_STACK)
            .spawn(move || exited.send_replace(Some(wait_without_reaping(group))))?;
        process.read_output(&Arc::new(open))?;
        Ok(process)
    }

    /// Its number, which is the number of its group as well.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it writes.
    pub(super) fn log(&self) -> &LogTail {
        &self.log
    }

    /// What its descendants can be found by.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// Its exit status, once it ended by itself.
    pub(super) fn exited(&self) -> Option<ExitStatus> {
        *self.exit.borrow()
    }

    /// Waits for it to end by itself.
    pub(super) async fn exit(&self) -> ExitStatus {
        let mut exit = self.exit.clone();
        let ended = exit.wait_for(Option::is_some).await;
        // The sender goes only after it sent.
        ended.ok().and_then(|status| *status).unwrap_or_default()
    }

    /// Waits until nobody can write to its output any more and all of it is in the log; says so within the limit.
    pub(super) async fn output_ended(&self, limit: Duration) -> bool {
        let mut pipes = self.pipes.clone();
        timeout(limit, pipes.wait_for(|open| *open == 0)).await.is_ok()
    }

    /// Asks it and its children to end (SIGTERM), kills them all (SIGKILL) where it or its output has not ended within
    /// `grace`, and reads what they wrote to its end.
    ///
    /// The output is waited for, too: a wrapper such as `npm start` is gone before the edge that it started wrote its
    /// last lines.
    pub(super) async fn stop(mut self, grace: Duration) -> LogTail {
        // An error means that the group is gone.
        let _ = kill_process_group(self.group, Signal::TERM);
        let _ = timeout(grace, async {
            self.exit().await;
            self.output_ended(grace).await
        })
        .await;
        let (group, mark) = (self.group, self.mark.clone());
        let _ = tokio::task::spawn_blocking(move || descendants::end(group, &mark, KILL_LIMIT)).await;
        let _ = timeout(KILL_LIMIT, self.exit()).await;
        self.reap();
        // Whoever still holds the pipes does so in vain from now on.
        self.output_ended(KILL_LIMIT).await;
        self.close.send_replace(true);
        self.output_ended(KILL_LIMIT).await;
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

    /// Takes the exit status, after which the number of the process may pass to another one.
    fn reap(&mut self) {
        self.reaped = true;
        // Not there yet: it hangs in the kernel although it was killed, and nobody can help that.
        let _ = self.child.try_wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.reaped {
            return;
        }
        descendants::end(self.group, &self.mark, KILL_LIMIT);
        if cfg!(target_os = "linux") {
            self.reap();
        } else {
            // It was killed and ends at once; there is no waiting with a limit here.
            self.reaped = true;
            let _ = self.child.wait();
        }
        self.log.end();
    }
}

/// One pipe that is being read, counted as long as it lives.
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

/// Waits for the exit and leaves the zombie, so that the number of the process, which is the number of its group, stays
/// its own until the group was killed.
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
            // It has been reaped: this value is being dropped and nobody asks any more.
            Ok(None) | Err(_) => return ExitStatus::default(),
        }
    }
}

/// A mark that no other launch has.
fn new_mark() -> String {
    static LAUNCHES: AtomicU64 = AtomicU64::new(0);
    let launch = LAUNCHES.fetch_add(1, Ordering::Relaxed);
    format!("{}-{launch}-{:016x}", std::process::id(), rand::random::<u64>())
}

/// Keeps the marks of an edgeproof that started this one, so that it finds this one's edges, too.
fn inherited_and(mark: &str) -> OsString {
    let mut marks = env::var_os(descendants::MARK).unwrap_or_default();
    if !marks.is_empty() {
        marks.push(":");
    }
    marks.push(mark);
    marks
}
