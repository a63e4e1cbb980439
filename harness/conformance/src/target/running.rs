use std::future::pending;
use std::net::SocketAddr;

use edgeproof_edge::Edge;
use edgeproof_http::ServerAddress;
use edgeproof_launch::{ExitInfo, LogTail, RunningProgram};
use url::Url;

/// An edge that answers. A launched one is killed, with everything it started, when this is dropped;
/// [`RunningEdge::stop`] lets it end by itself first.
#[derive(Debug)]
pub struct RunningEdge {
    endpoint: ServerAddress,
    runs: Runs,
}

/// Where an edge runs.
#[derive(Debug)]
pub(super) enum Runs {
    /// In this process: the reference edge and its log.
    Here { edge: Edge, log: LogTail },
    /// In a program that edgeproof started.
    Program(RunningProgram),
    /// Elsewhere; edgeproof does not end it.
    Elsewhere,
}

impl RunningEdge {
    pub(super) fn new(endpoint: ServerAddress, runs: Runs) -> Self {
        Self { endpoint, runs }
    }

    /// Where requests go.
    pub fn endpoint(&self) -> &ServerAddress {
        &self.endpoint
    }

    /// Its base URL.
    pub fn url(&self) -> &Url {
        self.endpoint.url()
    }

    /// The first address that its URL resolved to. There is one, because the edge answered.
    pub fn addr(&self) -> SocketAddr {
        self.endpoint.addresses()[0]
    }

    /// Process id, for a debugger; none unless edgeproof started the edge as a program.
    pub fn pid(&self) -> Option<u32> {
        match &self.runs {
            Runs::Program(program) => Some(program.pid()),
            Runs::Here { .. } | Runs::Elsewhere => None,
        }
    }

    /// Its log; none for an attached edge.
    pub fn log(&self) -> Option<&LogTail> {
        match &self.runs {
            Runs::Here { log, .. } => Some(log),
            Runs::Program(program) => Some(program.log()),
            Runs::Elsewhere => None,
        }
    }

    /// How it ended, if it ended by itself and that was noticed already. A broken connection is often noticed before
    /// the end of the program that broke it: [`RunningEdge::died`] waits.
    pub fn exited(&self) -> Option<ExitInfo> {
        match &self.runs {
            Runs::Program(program) => program.exited(),
            Runs::Here { .. } | Runs::Elsewhere => None,
        }
    }

    /// Waits until it ends by itself, and for its last output. Never returns unless edgeproof started it as a program.
    pub async fn died(&self) -> ExitInfo {
        match &self.runs {
            Runs::Program(program) => program.died().await,
            Runs::Here { .. } | Runs::Elsewhere => pending().await,
        }
    }

    /// Ends it. Afterwards the log is complete and has ended.
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
}

impl From<RunningProgram> for RunningEdge {
    fn from(program: RunningProgram) -> Self {
        Self { endpoint: program.endpoint().clone(), runs: Runs::Program(program) }
    }
}
