use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, io};

use edgeproof_fixtures::credentials::{
    CredentialFiles, Credentials, LicenseForm, ReadTokenForm, Redactor, Role, Secret,
};
use edgeproof_fixtures::spec::{CertificateRefusal, Profile, Spec};
use edgeproof_reports::{CaseReport, Outcome, TargetKind};
use rand::RngExt;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;
use url::Url;

use super::arena::Arena;
use super::ground::Ground;
use super::outcome;
use super::plan::Surroundings;
use super::play::{Player, next_marker};
use crate::cases::{Backend, Case, Counter, Given, Need, Play};
use crate::judge::Check;
use crate::mock::{Listen, MockService, ServiceOptions, ServiceTwist};
use crate::target::{ALLOWED_ORIGIN, BaseUrl, Embedded, StartError};
use crate::wire::{Endpoint, EndpointError};

/// Longest wait for the address of a name.
const RESOLVE_LIMIT: Duration = Duration::from_secs(10);

/// Where backends ask: a service or a key set that runs somewhere, or our mock, of which a case that changes its clock
/// or its keys gets one for itself.
pub struct Desk {
    props: DeskProps,
    twist: Option<ServiceTwist>,
    run: String,
    shared: OnceCell<Arc<Counter>>,
}

/// What a desk is made from.
pub struct DeskProps {
    /// The interface.
    pub spec: Arc<Spec>,
    /// How the mock service behaves at open points.
    pub profile: Profile,
    /// What is proven.
    pub party: Party,
    /// Where it is.
    pub station: Station,
    /// What was given to ask it with.
    pub given: Given,
    /// Real time may be taken.
    pub waits: bool,
    /// Knows all secrets of the run.
    pub redactor: Arc<Redactor>,
}

/// What is proven at a desk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Party {
    /// A service that gives verdicts.
    Service,
    /// A key set.
    Keys,
}

/// Where a service and a key set are.
#[derive(Debug)]
pub enum Station {
    /// In this process: our mock, with these credentials and their files.
    Mock(Arc<Credentials>, CredentialFiles),
    /// Somewhere.
    At {
        /// The service.
        service: Option<BaseUrl>,
        /// The key set.
        keys: Option<BaseUrl>,
        /// File with the authorities that may have issued their certificates; without one, those of the system.
        ca: Option<PathBuf>,
    },
}

/// Why a case has nothing to ask.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// The mock service does not start.
    #[error("start the mock service: {0}")]
    Mock(#[from] io::Error),
    /// The edge before it does not start.
    #[error(transparent)]
    Edge(#[from] StartError),
    /// An address cannot be used.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// Looking a name up takes too long.
    #[error("resolve {0:?}: no answer within {RESOLVE_LIMIT:?}")]
    Slow(String),
}

impl Desk {
    /// A desk where nothing was asked yet.
    pub fn new(props: DeskProps) -> Self {
        let run = format!("{:08x}", rand::rng().random::<u32>());
        Self { props, twist: None, run, shared: OnceCell::new() }
    }

    /// The same with a deviation in each mock service.
    #[must_use]
    pub fn twisted(self, twist: ServiceTwist) -> Self {
        Self { twist: Some(twist), ..self }
    }

    /// What stands before a case.
    async fn counter(&self, alone: bool) -> Result<Arc<Counter>, DeskError> {
        if alone && matches!(self.props.station, Station::Mock(..)) {
            return Ok(Arc::new(self.open().await?));
        }
        let shared = self.shared.get_or_try_init(|| async { self.open().await.map(Arc::new) }).await?;
        Ok(Arc::clone(shared))
    }

    async fn open(&self) -> Result<Counter, DeskError> {
        let given = self.props.given.clone();
        match &self.props.station {
            Station::Mock(credentials, files) => {
                let mut options = ServiceOptions::new(Arc::clone(&self.props.spec), Arc::clone(credentials));
                options.profile = self.props.profile.clone();
                if let Some(twist) = &self.twist {
                    options.quirk = twist.make();
                }
                // Who shows no certificate gets no TLS session there, and backends have none.
                if options.profile.certificate_refusal == CertificateRefusal::Handshake {
                    options.plain = Some(Listen::At((Ipv4Addr::LOCALHOST, 0).into()));
                }
                let mock = Arc::new(MockService::start(options).await?);
                let settings = files.settings(credentials, &mock.url(), ALLOWED_ORIGIN);
                let edge = Embedded::new(Arc::clone(&self.props.spec), self.props.profile.clone());
                let edge = edge.start(&settings).await?;
                let address = mock.plain_addr().map_or(mock.url(), |plain| format!("http://{plain}"));
                let url = Url::parse(&address).map_err(|_| EndpointError::NotHttp(address))?;
                let ca = files.certificate(Role::ServiceAuthority);
                let endpoint = Endpoint::resolve(&url, Some(&ca)).await?;
                Ok(Counter {
                    service: Some(endpoint.clone()),
                    keys: Some(endpoint),
                    given,
                    mock: Some(mock),
                    credentials: Some(Arc::clone(credentials)),
                    edge: Some(edge),
                    run: self.run.clone(),
                })
            }
            Station::At { service, keys, ca } => Ok(Counter {
                service: resolve(service.as_ref(), ca.as_ref()).await?,
                keys: resolve(keys.as_ref(), ca.as_ref()).await?,
                given,
                mock: None,
                credentials: None,
                edge: None,
                run: self.run.clone(),
            }),
        }
    }

    fn report(&self, case: &Case, found: &crate::cases::Found, began: Instant) -> CaseReport {
        outcome::report(case, found, began.elapsed(), None, &self.props.redactor)
    }
}

async fn resolve(url: Option<&BaseUrl>, ca: Option<&PathBuf>) -> Result<Option<Endpoint>, DeskError> {
    let Some(url) = url.map(BaseUrl::as_url) else { return Ok(None) };
    let resolved = timeout(RESOLVE_LIMIT, Endpoint::resolve(url, ca.map(PathBuf::as_path))).await;
    Ok(Some(resolved.map_err(|_| DeskError::Slow(url.to_string()))??))
}

impl Arena for Desk {
    async fn ground(player: &Player<Self>) -> Ground {
        let desk = &player.arena;
        let counter = match desk.counter(false).await {
            Ok(counter) => counter,
            Err(why) => return Ground::None(format!("failed to {}", crate::error_text(&why))),
        };
        let mut backend =
            Backend::new(counter, next_marker(), edgeproof_reports::CaseLevel::Must, player.limit());
        let ground = match desk.props.party {
            Party::Service => super::sounding::of_service(&mut backend).await,
            Party::Keys => super::sounding::of_keys(&mut backend).await,
        };
        match ground {
            Ground::None(why) => Ground::None(desk.props.redactor.redact(&why).into_owned()),
            ground => ground,
        }
    }

    async fn play_once(player: &Player<Self>, case: &Arc<Case>, jobs: &Semaphore) -> CaseReport {
        let desk = &player.arena;
        let _job = jobs.acquire().await.expect("the semaphore is never closed");
        player.begin(case);
        let began = Instant::now();
        let counter = match desk.counter(case.alone).await {
            Ok(counter) => counter,
            Err(why) => return outcome::unplayed(case, Outcome::NotRun, &crate::error_text(&why)),
        };
        let mut backend = Backend::new(counter, next_marker(), case.level, player.limit());
        if player.options.hold.as_ref() == Some(&case.id) {
            player.hold_for_a_line(held(case, &backend)).await;
        }
        let limit = player.options.case_timeout + case.takes;
        let in_time = match &case.play {
            Play::Asks(asks) => timeout(limit, asks(&mut backend)).await.is_ok(),
            Play::Conversation(_) | Play::Each(_) | Play::Steps(_) => {
                backend.found.not_run = Some("it is for an edge, and this is none".into());
                true
            }
        };
        if !in_time {
            let words = humantime::format_duration(limit).to_string();
            backend.check(Check::new("time", format!("an end within {words}"), "none", false));
        }
        player.options.pins.check(&mut backend.found);
        desk.report(case, &backend.found, began)
    }
}

/// How to call what is proven.
fn held(case: &Case, backend: &Backend) -> String {
    let mut text = format!("held before {}: {}", case.id, case.title);
    for (what, endpoint) in [("service", &backend.counter.service), ("key set", &backend.counter.keys)] {
        if let Some(endpoint) = endpoint {
            text = format!("{text}\n{what}: {}", endpoint.url());
        }
    }
    text
}

impl DeskProps {
    /// What reports call the target.
    pub fn kind(&self) -> TargetKind {
        match self.station {
            Station::Mock(..) => TargetKind::Embedded,
            Station::At { .. } => TargetKind::Attached,
        }
    }

    /// Its address; where it is ours, what it is.
    pub fn name(&self) -> String {
        match (&self.station, self.party) {
            (Station::Mock(..), Party::Service) => "mock service".into(),
            (Station::Mock(..), Party::Keys) => "key set of the mock service".into(),
            (Station::At { service, .. }, Party::Service) => told(service.as_ref()),
            (Station::At { keys, .. }, Party::Keys) => told(keys.as_ref()),
        }
    }

    /// All that opens our mock.
    pub fn mock_given(credentials: &Credentials) -> Given {
        let token = |form| Some(Secret::new(credentials.read_token(form)));
        Given {
            read_token: token(ReadTokenForm::Valid),
            expired_token: token(ReadTokenForm::Expired),
            license: Some(Secret::new(credentials.license(LicenseForm::Valid))),
            session_ref: None,
        }
    }
}

fn told(url: Option<&BaseUrl>) -> String {
    url.map(|url| url.as_url().to_string()).unwrap_or_default()
}

impl Surroundings for DeskProps {
    fn target(&self) -> &'static str {
        match self.party {
            Party::Service => "service",
            Party::Keys => "keys",
        }
    }

    fn lack(&self, case: &Case) -> Option<String> {
        if matches!(self.station, Station::Mock(..)) {
            return None;
        }
        case.needs.iter().find_map(|need| self.lacks(*need)).map(str::to_owned)
    }
}

impl DeskProps {
    fn lacks(&self, need: Need) -> Option<&'static str> {
        let given = &self.given;
        let Station::At { service, .. } = &self.station else { return None };
        match need {
            Need::ReadToken => given
                .read_token
                .is_none()
                .then_some("needs a read token: set READ_TOKEN, or use --read-token"),
            Need::ExpiredToken => given
                .expired_token
                .is_none()
                .then_some("needs a read token whose end has passed: use --expired-token"),
            Need::License => given
                .license
                .is_none()
                .then_some("needs a license, to see that it opens nothing: use --license"),
            Need::Session if service.is_none() => {
                Some("needs the service whose verdicts these keys sign: use --base-url, and --session-ref")
            }
            Need::Session => given.session_ref.is_none().then_some(
                "needs the reference of a session that finished less than two minutes ago: use --session-ref",
            ),
            Need::Waits => (!self.waits).then_some("takes minutes of real time: use --waits"),
            Need::Mock => Some(
                "needs a service that is told when sessions arrive, what time it is and which tokens it knows: only the mock \
                 service can be",
            ),
            Need::Service
            | Need::Origin
            | Need::Log
            | Need::LoopbackClients
            | Need::Https
            | Need::PlainReasons => Some("is for an edge: use `edgeproof conformance edge`"),
        }
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("station", &self.props.station).finish_non_exhaustive()
    }
}
