use std::net::SocketAddr;
use std::process::ExitStatus;
use std::time::Duration;

use edgeproof_http::ServerAddress;

use super::process::Process;
use super::{ExitInfo, LogTail};

/// Lines of output that an [`ExitInfo`] quotes.
pub(super) const LAST: usize = 20;
/// Timeout for the last output of a program that ended.
const OUTPUT_LIMIT: Duration = Duration::from_millis(500);

/// A program that answers.
///
/// Dropping it ends the program and everything that it started: SIGTERM, then SIGKILL after the grace period. The drop blocks
/// until then; [`RunningProgram::stop`] and [`RunningProgram::end`] do not block the runtime.
#[derive(Debug)]
pub struct RunningProgram {
    pub(super) endpoint: ServerAddress,
    pub(super) ready_path: String,
    pub(super) process: Process,
}

impl RunningProgram {
    /// Address for requests.
    pub fn endpoint(&self) -> &ServerAddress {
        &self.endpoint
    }

    /// Path of the health check that it answered.
    pub fn ready_path(&self) -> &str {
        &self.ready_path
    }

    /// First resolved address. It exists, because the program answered.
    pub fn addr(&self) -> SocketAddr {
        self.endpoint.addresses()[0]
    }

    /// Process id, for a debugger.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Output of the program.
    pub fn log(&self) -> &LogTail {
        self.process.log()
    }

    /// How the program exited by itself, if it did. A broken connection often shows before the exit of the program that
    /// broke it: [`RunningProgram::died`] waits for the exit.
    pub fn exited(&self) -> Option<ExitInfo> {
        self.process.exited().map(|status| self.exit_info(status))
    }

    /// Waits until the program exits by itself, and for its last output.
    pub async fn died(&self) -> ExitInfo {
        let status = self.process.exit().await;
        self.process.output_ended(OUTPUT_LIMIT).await;
        self.exit_info(status)
    }

    /// Ends the program and everything that it started. Afterwards the log is complete.
    pub async fn stop(self) {
        self.process.stop().await;
    }

    /// Ends the program and everything that it started, while other tasks still hold this value.
    pub async fn end(&self) {
        self.process.end().await;
    }

    fn exit_info(&self, status: ExitStatus) -> ExitInfo {
        ExitInfo { status, last: self.log().last(LAST).into_iter().map(|line| line.text).collect() }
    }
}
