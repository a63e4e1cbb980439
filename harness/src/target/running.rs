use std::future::pending;
use std::net::SocketAddr;
use std::time::Duration;

use url::Url;

use super::process::Process;
use super::{ExitInfo, LogTail};
use crate::mock::edge::Edge;
use crate::wire::Endpoint;

/// Lines of output that tell of an end.
pub(super) const LAST: usize = 20;
/// Longest wait for the last output of an edge that ended.
const OUTPUT_LIMIT: Duration = Duration::from_millis(500);

/// An edge that answers. A launched one ends, with everything it started, when this is dropped; [`RunningEdge::stop`]
/// lets it end in order.
#[derive(Debug)]
pub struct RunningEdge {
    endpoint: Endpoint,
    runs: Runs,
}

/// Where an edge runs.
#[derive(Debug)]
pub(super) enum Runs {
    /// In this process.
    Here {
        /// The reference edge.
        edge: Edge,
        /// What it logs.
        log: LogTail,
    },
    /// In a program that was started.
    Program {
        /// The program.
        process: Process,
        /// How long it may take to end in order.
        grace: Duration,
    },
    /// Somewhere else; it is not ours to end.
    Elsewhere,
}

impl RunningEdge {
    pub(super) fn new(endpoint: Endpoint, runs: Runs) -> Self {
        Self { endpoint, runs }
    }

    /// Where requests go.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Its address.
    pub fn url(&self) -> &Url {
        self.endpoint.url()
    }

    /// What its address resolved to first. There is one: something answered.
    pub fn addr(&self) -> SocketAddr {
        self.endpoint.addresses()[0]
    }

    /// The number of its process, for a debugger; none where it is not a program of its own that was started here.
    pub fn pid(&self) -> Option<u32> {
        match &self.runs {
            Runs::Program { process, .. } => Some(process.pid()),
            Runs::Here { .. } | Runs::Elsewhere => None,
        }
    }

    /// What it writes; none where that cannot be seen.
    pub fn log(&self) -> Option<&LogTail> {
        match &self.runs {
            Runs::Here { log, .. } => Some(log),
            Runs::Program { process, .. } => Some(process.log()),
            Runs::Elsewhere => None,
        }
    }

    /// How it ended, if it did by itself and that was seen already. A connection that breaks is often seen before the
    /// end of the program that broke it: [`RunningEdge::died`] waits.
    pub fn exited(&self) -> Option<ExitInfo> {
        match &self.runs {
            Runs::Program { process, .. } => process.exited().map(|status| exit_info(process, status)),
            Runs::Here { .. } | Runs::Elsewhere => None,
        }
    }

    /// Waits until it ends by itself, and for its last output. Never, where the end of the edge cannot be seen.
    pub async fn died(&self) -> ExitInfo {
        match &self.runs {
            Runs::Program { process, .. } => {
                let status = process.exit().await;
                process.output_ended(OUTPUT_LIMIT).await;
                exit_info(process, status)
            }
            Runs::Here { .. } | Runs::Elsewhere => pending().await,
        }
    }

    /// Ends it. Afterwards the log has all that it wrote, and has ended.
    pub async fn stop(self) {
        match self.runs {
            Runs::Here { edge, log } => {
                edge.stop().await;
                log.end();
            }
            Runs::Program { process, grace } => {
                process.stop(grace).await;
            }
            Runs::Elsewhere => {}
        }
    }
}

fn exit_info(process: &Process, status: std::process::ExitStatus) -> ExitInfo {
    ExitInfo { status, last: process.log().last(LAST).into_iter().map(|line| line.text).collect() }
}
