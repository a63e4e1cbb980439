//! What ends a run from outside.

use std::fmt;
use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// A signal that ends a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM: what `kill`, CI and container runtimes send.
    Terminate,
    /// SIGHUP: the terminal is gone.
    Hangup,
    /// SIGQUIT: Ctrl-\.
    Quit,
}

impl Interruption {
    /// 128 and the number of the signal, as shells have it.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Hangup => 129,
            Self::Interrupt => 130,
            Self::Quit => 131,
            Self::Terminate => 143,
        }
    }
}

impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
            Self::Hangup => "SIGHUP",
            Self::Quit => "SIGQUIT",
        })
    }
}

/// Catches the signals from now on; the future yields the first one.
///
/// Race it against the run, drop the run, and return [`Interruption::exit_code`] from `main`: dropping ends what the run
/// started. Nothing can be done on SIGKILL: edges that were launched then live on.
pub fn interrupted() -> io::Result<impl Future<Output = Interruption> + Send> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut quit = signal(SignalKind::quit())?;
    Ok(async move {
        tokio::select! {
            () = first(&mut interrupt) => Interruption::Interrupt,
            () = first(&mut terminate) => Interruption::Terminate,
            () = first(&mut hangup) => Interruption::Hangup,
            () = first(&mut quit) => Interruption::Quit,
        }
    })
}

async fn first(signal: &mut Signal) {
    if signal.recv().await.is_none() {
        // The runtime is going away, and no signal can come any more.
        std::future::pending::<()>().await;
    }
}
