use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_launch::Launch;
use edgeproof_reports::TargetKind;

use super::{Attached, Embedded, RunningEdge, StartError};

/// How the edge under test is come by. The rest of the run does not know the difference.
#[derive(Debug, Clone)]
pub enum Target {
    /// The reference edge, in this process.
    Embedded(Box<Embedded>),
    /// A program that edgeproof starts, once for each settings.
    Launched(Launch),
    /// An edge that runs already, with settings of its own.
    Attached(Attached),
}

impl Target {
    /// What reports call it.
    pub fn kind(&self) -> TargetKind {
        match self {
            Self::Embedded(_) => TargetKind::Embedded,
            Self::Launched(_) => TargetKind::Launched,
            Self::Attached(_) => TargetKind::Attached,
        }
    }

    /// Its command or its URL; nothing for the embedded edge.
    pub fn name(&self) -> &str {
        match self {
            Self::Embedded(_) => "",
            Self::Launched(launch) => launch.command.as_str(),
            Self::Attached(attached) => attached.url.as_url().as_str(),
        }
    }

    /// Starts an edge with these settings, and returns when it answers. One that is attached has its own settings, and
    /// only proves that it answers.
    ///
    /// An edge that is being started ends with the future.
    pub async fn start(&self, settings: &EdgeSettings) -> Result<RunningEdge, StartError> {
        match self {
            Self::Embedded(embedded) => embedded.start(settings).await,
            Self::Launched(launch) => Ok(launch.start(settings).await?.into()),
            Self::Attached(attached) => attached.start().await,
        }
    }
}
