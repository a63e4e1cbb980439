use std::io;
use std::sync::Arc;
use std::time::Duration;

use edgeproof_edge::{Edge, EdgeError, EdgeOptions, EdgeTls, LogSink};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, ReadTokenForm};
use edgeproof_fixtures::seal::{CollectionFault, Contents, Opened, open, read_unsealed};
use edgeproof_fixtures::spec::{Profile, Spec};
use edgeproof_http::{ServerAddress, ServerAddressError};
use edgeproof_mock::{Arrival, Match, MockService, Script, Scripted, ServiceOptions};
use http::{Method, Version};
use tokio::time::timeout;
use url::Url;

use super::edge_hooks::{CollectorEdgeHooks, SeenRequest};
use super::edge_setup::{EdgeScheme, EdgeSetup, PostReaction};
use super::opener::OpenedCollection;
use crate::cases::VerdictRequest;
use crate::judge::AnswerResult;

/// Host of the edges over HTTPS.
const EDGE_HOST: &str = "edge.test";
/// A service that no edge reaches.
const NO_SERVICE: &str = "https://localhost:1";
/// Timeout of a request for a verdict.
const VERDICT_TIMEOUT: Duration = Duration::from_secs(5);

/// Tables and credentials that all edges of a run share.
#[derive(Debug)]
pub struct EdgeCredentials {
    /// The interface.
    pub spec: Arc<Spec>,
    /// Behaviour of mock service and edge at open points.
    pub profile: Profile,
    /// Credentials. Their service hosts are those of pages and edges.
    pub credentials: Arc<Credentials>,
    /// Their files.
    pub files: CredentialFiles,
}

/// A reference edge for one case, and the mock service behind it.
#[derive(Debug)]
pub struct CollectorEdge {
    shared: Arc<EdgeCredentials>,
    mock: MockService,
    edge: Edge,
    hooks: Arc<CollectorEdgeHooks>,
    scheme: EdgeScheme,
    accepts_all: Option<Scripted>,
}

/// Why an edge or its service does not start.
#[derive(Debug, thiserror::Error)]
pub enum CollectorEdgeError {
    /// The mock service.
    #[error("cannot start the mock service: {0}")]
    Mock(#[from] io::Error),
    /// The edge.
    #[error(transparent)]
    Edge(#[from] EdgeError),
}

impl CollectorEdge {
    /// Starts both.
    pub async fn start(shared: &Arc<EdgeCredentials>, setup: EdgeSetup) -> Result<Self, CollectorEdgeError> {
        let EdgeCredentials { spec, profile, credentials, files } = &**shared;
        // A backend has no client certificate, which a service before sealed collections demands of every TLS client.
        let mut service = ServiceOptions::new(Arc::clone(spec), Arc::clone(credentials)).with_plain_address();
        service.profile = profile.clone();
        let mock = MockService::start_with(service).await?;
        let url = if setup.has_service { mock.url() } else { NO_SERVICE.to_owned() };
        let settings = files.settings(credentials, &url, &setup.allowed_origin);
        let scheme = setup.scheme;
        let hooks = CollectorEdgeHooks::new(setup);
        let options = EdgeOptions {
            profile: profile.clone(),
            tls: match scheme {
                EdgeScheme::Https(role) => {
                    let certificate = credentials.certificate(role);
                    Some(EdgeTls { chain: certificate.chain_der(), key: certificate.key_der() })
                }
                EdgeScheme::Localhost => None,
            },
            hooks: Arc::<CollectorEdgeHooks>::clone(&hooks),
            ..EdgeOptions::new(Arc::clone(spec), settings, LogSink::new(drop))
        };
        let edge = Edge::start(options).await?;
        Ok(Self { shared: Arc::clone(shared), mock, edge, hooks, scheme, accepts_all: None })
    }

    /// `apiUrl` of this edge.
    pub fn url(&self) -> String {
        let port = self.edge.addr().port();
        match self.scheme {
            EdgeScheme::Https(_) => format!("https://{EDGE_HOST}:{port}"),
            EdgeScheme::Localhost => format!("http://localhost:{port}"),
        }
    }

    /// Makes the service accept every collection, sealed or not.
    pub fn accept_all(&mut self) {
        let script = Script::accept(&self.shared.profile);
        self.accepts_all = Some(self.mock.script(Match::Everything, script));
    }

    /// Makes the service answer by a script while the returned guard lives.
    pub fn script(&self, script: Script) -> Scripted {
        self.mock.script(Match::Everything, script)
    }

    /// Sets the answer to later collections.
    pub fn set_post(&self, post: PostReaction) {
        self.hooks.set_post(post);
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.hooks.seen()
    }

    /// Requests with a body so far: the posted collections.
    pub fn posts(&self) -> Vec<SeenRequest> {
        self.requests().into_iter().filter(|request| request.body.is_some()).collect()
    }

    /// Number of preflights so far.
    pub fn preflights(&self) -> usize {
        self.requests().iter().filter(|request| request.method == Method::OPTIONS).count()
    }

    /// Waits until this many collections have arrived. False: they did not within `limit`.
    pub async fn posted(&self, count: usize, limit: Duration) -> bool {
        let mut posts = self.hooks.posts();
        timeout(limit, posts.wait_for(|posts| *posts >= count)).await.is_ok_and(|result| result.is_ok())
    }

    /// Waits until a page has given up the request of a held collection. None: it came over HTTP/1.1, where that does not
    /// show.
    pub async fn given_up(&self, limit: Duration) -> Option<bool> {
        if self.posts().iter().any(|post| post.version != Version::HTTP_2) {
            return None;
        }
        let mut given_up = self.hooks.abandoned();
        let seen = timeout(limit, given_up.wait_for(|count| *count > 0)).await;
        Some(seen.is_ok_and(|result| result.is_ok()))
    }

    /// Requests that arrived at the service, once they are finished.
    pub async fn arrivals(&self, limit: Duration) -> Vec<Arrival> {
        self.mock.finished_since(0, limit).await
    }

    /// The service's answer to a backend that asks for the verdict of this session.
    pub async fn verdict(&self, reference: &str) -> Result<AnswerResult, ServerAddressError> {
        let token = self.shared.credentials.read_token(ReadTokenForm::Valid);
        let url = self.mock.plain_url().unwrap_or_default();
        let url = Url::parse(&url).map_err(|_| ServerAddressError::NotHttp(url))?;
        let address = ServerAddress::resolve(&url, None).await?;
        let draft = VerdictRequest::new(self.shared.spec.verdict_path(), reference).bearer(&token).draft();
        Ok(edgeproof_http::send(&address, &draft, VERDICT_TIMEOUT).await.reply)
    }

    /// Contents of a collection, as the service reads them in this version of the interface.
    pub fn open(&self, body: &[u8]) -> Result<Contents, CollectionFault> {
        let contents = if self.shared.spec.seals_collections() {
            self.open_sealed(body)?.contents
        } else {
            read_unsealed(body)?.contents
        };
        contents.of_version(&self.shared.spec)
    }

    /// The same with all bytes of the contents.
    pub fn read(&self, body: &[u8]) -> Result<OpenedCollection, CollectionFault> {
        let (contents, text) = if self.shared.spec.seals_collections() {
            let Opened { contents, plaintext, .. } = self.open_sealed(body)?;
            (contents, plaintext)
        } else {
            (read_unsealed(body)?.contents, body.to_vec())
        };
        Ok(OpenedCollection { session_ref: contents.session_ref, text })
    }

    /// Opens a sealed collection as the service does.
    pub fn open_sealed(&self, body: &[u8]) -> Result<Opened, CollectionFault> {
        open(body, self.shared.credentials.seal_keys())
    }
}
