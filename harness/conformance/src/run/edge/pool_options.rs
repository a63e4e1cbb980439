use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, EdgeSettings, Redactor};
use edgeproof_fixtures::spec::{Profile, Spec};
use edgeproof_mock::{MockService, Observer, ReplyShape, ServiceOptions};
use edgeproof_targets::Target;

use super::lease_error::LeaseError;

/// How long an edge's idle connection stays open. An edge that loses a POST on a closed one would fail any case.
const IDLE_CONNECTION: Duration = Duration::from_secs(600);

/// Target and upstream of the edges in a pool.
#[derive(Clone)]
pub struct EdgePoolOptions {
    /// The interface.
    pub spec: Arc<Spec>,
    /// Behaviour of the mock service at open points.
    pub profile: Profile,
    /// Shape of the mock service's refusals.
    pub reply_shape: ReplyShape,
    /// Credentials of the run.
    pub credentials: Arc<Credentials>,
    /// The credentials as files.
    pub files: CredentialFiles,
    /// Starts edges, or attaches to one.
    pub target: Target,
    /// The service behind the edges.
    pub upstream: EdgeUpstream,
    /// Redacts all secrets of the run.
    pub redactor: Arc<Redactor>,
    /// Most edges with the same settings that are leased exclusively at the same time.
    pub max_exclusive: usize,
    /// Sees each finished request at the services behind the edges.
    pub observer: Option<Observer>,
}

/// The service behind the edges under test.
#[derive(Debug, Clone)]
pub enum EdgeUpstream {
    /// A mock service for each edge, on a free port.
    MockPerEdge,
    /// One mock service at a fixed address, for an attached edge.
    MockAt {
        /// Address that the mock service listens on.
        listen: SocketAddr,
        /// Settings that the edge was started with. Their files are copies that this machine can read.
        settings: EdgeSettings,
        /// The same settings for reports, with the paths that the edge sees.
        reported: Box<EdgeSettings>,
    },
    /// A service that edgeproof does not control, behind an attached edge.
    Foreign {
        /// Origin that the edge allows, if known.
        origin: Option<String>,
        /// The user asked for it with `--no-service`. Otherwise nothing can be judged.
        intended: bool,
    },
}

impl EdgePoolOptions {
    /// Options for edges that edgeproof starts, with a mock service for each and the reference profile.
    pub fn new(
        spec: Arc<Spec>,
        target: Target,
        credentials: Arc<Credentials>,
        files: CredentialFiles,
    ) -> Self {
        let profile = spec.profile().clone();
        Self {
            reply_shape: ReplyShape::from_profile(&profile),
            redactor: Arc::new(Redactor::new(&credentials)),
            // A program costs more than an embedded edge.
            max_exclusive: if matches!(target, Target::Embedded(_)) { 6 } else { 3 },
            upstream: EdgeUpstream::MockPerEdge,
            observer: None,
            profile,
            spec,
            target,
            credentials,
            files,
        }
    }

    /// Whether edges can be started with other settings.
    pub(super) fn starts_edges(&self) -> bool {
        matches!(self.upstream, EdgeUpstream::MockPerEdge)
    }

    /// Starts a mock service behind an edge, on `address` or on a free port.
    pub(super) async fn start_service(&self, address: Option<SocketAddr>) -> Result<MockService, LeaseError> {
        let mut options = self.service_options();
        options.observer.clone_from(&self.observer);
        if let Some(address) = address {
            options.listener = address.into();
        }
        start(options).await
    }

    /// Starts a mock service that no edge is configured for.
    pub(super) async fn start_unused_service(&self) -> Result<MockService, LeaseError> {
        start(self.service_options()).await
    }

    fn service_options(&self) -> ServiceOptions {
        let mut options = ServiceOptions::new(Arc::clone(&self.spec), Arc::clone(&self.credentials));
        options.profile = self.profile.clone();
        options.reply_shape = self.reply_shape.clone();
        options.limits.head = IDLE_CONNECTION;
        options.limits.checks_requests = true;
        options
    }
}

async fn start(options: ServiceOptions) -> Result<MockService, LeaseError> {
    MockService::start_with(options).await.map_err(|why| LeaseError::Service(why.to_string()))
}
