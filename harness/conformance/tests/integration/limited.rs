//! Waits with a limit: for children, for their output, for connections, and for what no event announces.

use std::fmt::Display;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Longest wait, on a busy machine. No test comes near it.
const LIMIT: Duration = Duration::from_secs(240);

/// Kills a child that is still there after the limit, with the group that it leads, so that every wait for it or its output ends. It is dropped before
/// or with the child.
#[derive(Debug)]
pub(crate) struct Watchdog {
    /// Its end disarms the thread.
    armed: Option<mpsc::Sender<()>>,
    killed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    pub(crate) fn over(child: &Child) -> Self {
        let (armed, ended) = mpsc::channel::<()>();
        let (pid, killed) = (Pid::from_child(child), Arc::new(AtomicBool::new(false)));
        let kills = Arc::clone(&killed);
        let thread = thread::spawn(move || {
            if ended.recv_timeout(LIMIT) == Err(mpsc::RecvTimeoutError::Timeout) {
                kills.store(true, Ordering::Relaxed);
                // One of them fails if it leads no group, or has just ended.
                let _ = kill_process_group(pid, Signal::KILL);
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        Self { armed: Some(armed), killed, thread: Some(thread) }
    }

    /// Fails if it had to kill the child.
    #[track_caller]
    pub(crate) fn assert_quiet(&self, output: impl Display) {
        assert!(!self.killed.load(Ordering::Relaxed), "it did not end within {LIMIT:?}: {output}");
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.armed.take());
        if let Some(thread) = self.thread.take() {
            // It does not panic.
            let _ = thread.join();
        }
    }
}

/// Runs a program to its end. What `command` says about its pipes does not count: the output is read, the input is empty.
#[track_caller]
pub(crate) fn output(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    end(command.spawn().unwrap())
}

/// Reads the piped output of a child up to its end.
#[track_caller]
pub(crate) fn end(child: Child) -> Output {
    let watchdog = Watchdog::over(&child);
    let output = child.wait_with_output().unwrap();
    watchdog.assert_quiet(String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()));
    output
}

/// Waits for the end of a child.
#[track_caller]
pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    let watchdog = Watchdog::over(child);
    let status = child.wait().unwrap();
    watchdog.assert_quiet(status);
    status
}

/// The next connection of `listener`. Reads from it have the same limit.
#[track_caller]
pub(crate) fn accept(listener: &TcpListener) -> TcpStream {
    let limit = Timespec { tv_sec: LIMIT.as_secs().cast_signed(), tv_nsec: 0 };
    let ready = poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&limit)).unwrap();
    assert_eq!(ready, 1, "nothing connects within {LIMIT:?}");
    let stream = listener.accept().unwrap().0;
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream
}

/// Polls until another process has done something. No event announces it.
#[track_caller]
pub(crate) fn until(what: &str, done: impl Fn() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < LIMIT, "not so within {LIMIT:?}: {what}");
        pause();
    }
}

/// Polls until `child` has done something. Fails with the child's output if it ends first.
#[track_caller]
pub(crate) fn until_child(mut child: Child, what: &str, done: impl Fn() -> bool) -> Child {
    let began = Instant::now();
    while !done() {
        let ended = child.try_wait().unwrap().is_some();
        if ended || began.elapsed() >= LIMIT {
            // Fails if it has ended.
            let _ = child.kill();
            panic!("not so after {:?}: {what}: {:?}", began.elapsed(), child.wait_with_output());
        }
        pause();
    }
    child
}

#[expect(clippy::disallowed_methods, reason = "no event announces the change of another process")]
pub(crate) fn pause() {
    thread::sleep(Duration::from_millis(5));
}
