//! Signals that end a program in order.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Failure;

/// A signal that ends a run. Its text is the signal's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum Interruption {
    /// SIGINT: Ctrl-C.
    #[strum(to_string = "SIGINT")]
    Interrupt,
    /// SIGTERM, from `kill`, CI and container runtimes.
    #[strum(to_string = "SIGTERM")]
    Terminate,
    /// SIGHUP: the terminal closed.
    #[strum(to_string = "SIGHUP")]
    Hangup,
    /// SIGQUIT: Ctrl-\.
    #[strum(to_string = "SIGQUIT")]
    Quit,
}

impl Interruption {
    /// 128 plus the number of the signal, as in shells.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Hangup => 129,
            Self::Interrupt => 130,
            Self::Quit => 131,
            Self::Terminate => 143,
        }
    }
}

/// Catches the signals from now on. The future yields the first one.
///
/// Race it against the run, drop the run, and return [`Interruption::exit_code`] from `main`: dropping the run kills its
/// edges. SIGKILL cannot be caught: launched edges survive it.
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

/// [`interrupted`] for a command, with an error that says what to do.
pub fn catch() -> Result<impl Future<Output = Interruption> + Send, Failure> {
    interrupted().map_err(|why| {
        Failure::usage(format!("cannot catch signals: {why}"), "raise the limit on open files (ulimit -n)")
    })
}

async fn first(signal: &mut Signal) {
    if signal.recv().await.is_none() {
        // The runtime shuts down and delivers no more signals.
        std::future::pending::<()>().await;
    }
}
