use std::path::PathBuf;
use std::sync::Arc;

use edgeproof_edge::{Edge, EdgeOptions, EdgeTls, LogSink};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, EdgeSettings, Role};
use edgeproof_fixtures::spec::{Endpoint, Profile, Spec};
use edgeproof_http::ServerAddress;
use edgeproof_launch::{LogTail, Stream};
use url::Url;

use super::fault_injection::FaultInjection;
use super::running_edge::{RunningEdge, Runs};
use super::start_error::StartError;

/// The reference edge, in this process and behind real sockets. Each start is a separate edge.
#[derive(Debug, Clone)]
pub struct Embedded {
    spec: Arc<Spec>,
    profile: Profile,
    https: Option<Https>,
    faults: Option<Arc<dyn FaultInjection>>,
}

#[derive(Debug, Clone)]
struct Https {
    tls: EdgeTls,
    authority: PathBuf,
}

impl Embedded {
    /// An edge that serves HTTP, with the answers of these tables and the profile's behaviour at open points.
    pub fn new(spec: Arc<Spec>, profile: Profile) -> Self {
        Self { spec, profile, https: None, faults: None }
    }

    /// The same over HTTPS. Its certificate is valid on this machine; `files` hold the CA file.
    #[must_use]
    pub fn https(self, credentials: &Credentials, files: &CredentialFiles) -> Self {
        let certificate = credentials.certificate(Role::EdgeServer);
        let tls = EdgeTls { chain: certificate.chain_der(), key: certificate.key_der() };
        Self { https: Some(Https { tls, authority: files.certificate(Role::EdgeAuthority) }), ..self }
    }

    /// The faults, if there are any.
    pub fn faults(&self) -> Option<&Arc<dyn FaultInjection>> {
        self.faults.as_ref()
    }

    /// The same edge with faults.
    #[must_use]
    pub fn with_faults(self, faults: Arc<dyn FaultInjection>) -> Self {
        Self { faults: Some(faults), ..self }
    }

    /// Whether it serves TLS.
    pub fn is_https(&self) -> bool {
        self.https.is_some()
    }

    /// Starts an edge on a free port of 127.0.0.1.
    pub async fn start(&self, settings: &EdgeSettings) -> Result<RunningEdge, StartError> {
        let log = LogTail::default();
        let tail = log.clone();
        let sink = LogSink::new(move |line| tail.push(Stream::Out, line));
        let mut options = EdgeOptions {
            profile: self.profile.clone(),
            tls: self.https.as_ref().map(|https| https.tls.clone()),
            ..EdgeOptions::new(Arc::clone(&self.spec), settings.clone(), sink)
        };
        if let Some(faults) = &self.faults {
            faults.edge(&mut options);
        }
        let ready_path = self.spec.path(Endpoint::Health).to_owned();
        let edge = Edge::start(options).await?;
        let url = Url::parse(&edge.url()).expect("scheme and socket address are a valid URL");
        let authority = self.https.as_ref().map(|https| https.authority.as_path());
        let endpoint = ServerAddress::resolve(&url, authority).await?;
        Ok(RunningEdge::new(endpoint, ready_path, Runs::Here { edge, log }))
    }
}
