use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_launch::{Launch, Scheme};
use edgeproof_reports::TargetKind;

use super::attached::Attached;
use super::embedded::Embedded;
use super::running_edge::RunningEdge;
use super::start_error::StartError;

/// The source of the edges under test.
#[derive(Debug, Clone)]
pub enum Target {
    /// The reference edge, in this process.
    Embedded(Box<Embedded>),
    /// A program that edgeproof starts, once for each configuration.
    Launched(Launch),
    /// An edge that already runs, with its own settings.
    Attached(Attached),
}

impl Target {
    /// Kind of the target in reports.
    pub fn kind(&self) -> TargetKind {
        match self {
            Self::Embedded(_) => TargetKind::Embedded,
            Self::Launched(_) => TargetKind::Launched,
            Self::Attached(_) => TargetKind::Attached,
        }
    }

    /// Command or URL of the target; empty for the embedded edge.
    pub fn name(&self) -> &str {
        match self {
            Self::Embedded(_) => "",
            Self::Launched(launch) => launch.command.as_str(),
            Self::Attached(attached) => attached.url.as_url().as_str(),
        }
    }

    /// Whether the edges serve TLS.
    pub fn is_https(&self) -> bool {
        match self {
            Self::Embedded(embedded) => embedded.is_https(),
            Self::Launched(launch) => launch.scheme == Scheme::Https,
            Self::Attached(attached) => attached.url.as_url().scheme() == "https",
        }
    }

    /// Whether the edges run on this machine.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Embedded(_) | Self::Launched(_) => true,
            Self::Attached(attached) => {
                matches!(attached.url.as_url().host_str(), Some("localhost" | "127.0.0.1"))
            }
        }
    }

    /// Starts an edge with these settings and returns when it answers. Only checks that an attached edge answers, because
    /// its settings are its own. Dropping the future kills an edge that is still starting.
    pub async fn start(&self, settings: &EdgeSettings) -> Result<RunningEdge, StartError> {
        match self {
            Self::Embedded(embedded) => embedded.start(settings).await,
            Self::Launched(launch) => Ok(launch.start(settings).await?.into()),
            Self::Attached(attached) => attached.start().await,
        }
    }
}
