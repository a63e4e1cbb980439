use std::future::pending;
use std::net::SocketAddr;
use std::time::Duration;

use edgeproof_edge::Edge;
use edgeproof_http::{NoAnswer, ServerAddress};
use edgeproof_launch::{ExitInfo, LogTail, RunningProgram};
use url::Url;

/// An edge that answers. Dropping it ends a launched edge and everything that it started, and blocks until that is done.
#[derive(Debug)]
pub struct RunningEdge {
    endpoint: ServerAddress,
    /// Path of its health check.
    ready_path: String,
    runs: Runs,
}

/// Where an edge runs.
#[derive(Debug)]
pub(super) enum Runs {
    /// In this process: the reference edge and its log.
    Here { edge: Edge, log: LogTail },
    /// In a program that edgeproof started.
    Program(RunningProgram),
    /// Outside of edgeproof, which never stops it.
    Elsewhere,
}

impl RunningEdge {
    pub(super) fn new(endpoint: ServerAddress, ready_path: String, runs: Runs) -> Self {
        Self { endpoint, ready_path, runs }
    }

    /// Its address for requests.
    pub fn endpoint(&self) -> &ServerAddress {
        &self.endpoint
    }

    /// Its base URL.
    pub fn url(&self) -> &Url {
        self.endpoint.url()
    }

    /// First resolved address. It exists, because the edge answered.
    pub fn addr(&self) -> SocketAddr {
        self.endpoint.addresses()[0]
    }

    /// Sends one health check. Any HTTP answer means that it runs.
    pub async fn probe(&self, limit: Duration) -> Result<(), NoAnswer> {
        edgeproof_launch::probe(&self.endpoint, &self.ready_path, limit).await
    }

    /// Process id of a launched edge.
    pub fn pid(&self) -> Option<u32> {
        match &self.runs {
            Runs::Program(program) => Some(program.pid()),
            Runs::Here { .. } | Runs::Elsewhere => None,
        }
    }

    /// Its log, unless it is attached.
    pub fn log(&self) -> Option<&LogTail> {
        match &self.runs {
            Runs::Here { log, .. } => Some(log),
            Runs::Program(program) => Some(program.log()),
            Runs::Elsewhere => None,
        }
    }

    /// How a launched edge exited, if it did. A broken connection often shows before the exit of its program:
    /// [`RunningEdge::died`] waits for it.
    pub fn exited(&self) -> Option<ExitInfo> {
        match &self.runs {
            Runs::Program(program) => program.exited(),
            Runs::Here { .. } | Runs::Elsewhere => None,
        }
    }

    /// Waits until a launched edge exits, and for its last output. Never returns for other edges.
    pub async fn died(&self) -> ExitInfo {
        match &self.runs {
            Runs::Program(program) => program.died().await,
            Runs::Here { .. } | Runs::Elsewhere => pending().await,
        }
    }

    /// Stops the edge. Afterwards its log is complete.
    pub async fn stop(self) {
        match self.runs {
            Runs::Here { edge, log } => {
                edge.stop().await;
                log.end();
            }
            Runs::Program(program) => program.stop().await,
            Runs::Elsewhere => {}
        }
    }

    /// Ends a launched edge while other tasks still hold it.
    pub async fn end(&self) {
        if let Runs::Program(program) = &self.runs {
            program.end().await;
        }
    }
}

impl From<RunningProgram> for RunningEdge {
    fn from(program: RunningProgram) -> Self {
        let (endpoint, ready_path) = (program.endpoint().clone(), program.ready_path().to_owned());
        Self { endpoint, ready_path, runs: Runs::Program(program) }
    }
}
