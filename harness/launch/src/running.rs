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

/// A program that answers. Dropping it kills the program and everything it started; [`RunningProgram::stop`] lets it
/// end by itself first.
#[derive(Debug)]
pub struct RunningProgram {
    pub(super) endpoint: ServerAddress,
    pub(super) process: Process,
    pub(super) grace: Duration,
}

impl RunningProgram {
    /// Where requests go.
    pub fn endpoint(&self) -> &ServerAddress {
        &self.endpoint
    }

    /// The first address that the endpoint resolved to. There is one, because the program answered.
    pub fn addr(&self) -> SocketAddr {
        self.endpoint.addresses()[0]
    }

    /// Process id, for a debugger.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// What the program writes.
    pub fn log(&self) -> &LogTail {
        self.process.log()
    }

    /// How it ended, if it ended by itself and that was noticed already. A broken connection is often noticed before
    /// the end of the program that broke it: [`RunningProgram::died`] waits.
    pub fn exited(&self) -> Option<ExitInfo> {
        self.process.exited().map(|status| self.exit_info(status))
    }

    /// Waits until it ends by itself, and for its last output.
    pub async fn died(&self) -> ExitInfo {
        let status = self.process.exit().await;
        self.process.output_ended(OUTPUT_LIMIT).await;
        self.exit_info(status)
    }

    /// Ends it. Afterwards the log is complete and has ended.
    pub async fn stop(self) {
        self.process.stop(self.grace).await;
    }

    fn exit_info(&self, status: ExitStatus) -> ExitInfo {
        ExitInfo { status, last: self.log().last(LAST).into_iter().map(|line| line.text).collect() }
    }
}
