use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use edgeproof_cli::Failure;
use edgeproof_cli::args::EdgeScheme;
use edgeproof_fixtures::credentials::{
    CredentialFiles, Credentials, EdgeSettings, MintOptions, ReadTokenForm, Role, SettingsFolder,
};
use edgeproof_fixtures::seal::SealPublicKey;
use edgeproof_fixtures::spec::{Endpoint, Spec, Stimulus, Table};
use edgeproof_http::{ClientIdentity, ServerAddress};
use edgeproof_launch::{BaseUrl, CommandLine, Launch, PortName, Scheme};
use edgeproof_reports::TargetKind;
use edgeproof_reports::load::LoadTarget;
use edgeproof_targets::{Attached, Embedded, RunningEdge, Target};
use goose::goose::Scenario;
use parking_lot::Mutex;

use super::args::{Load, SealKind};
use super::load_plan::{LoadPlan, no_seal_key};
use super::output::read;
use crate::measure::{Codes, RouteId};
use crate::plan::{ScenarioName, may_load};
use crate::scenario::{
    BadToken, CollectionRequests, CollectionSource, EdgeRelay, Journey, LoadScenario as _, OpaqueCollections,
    References, SealedCollections, VerdictPolling, VerdictRequests,
};
use crate::service::{LoadMock, LoadMockOptions};

/// The system under test: edge, service and how to reach them. Dropping it ends what it started.
pub(super) struct SystemUnderTest {
    /// The tables.
    pub(super) spec: Arc<Spec>,
    /// Codes of the tables.
    pub(super) codes: Codes,
    /// The target, for the report.
    pub(super) target: LoadTarget,
    /// The built-in mock, if the run uses it.
    pub(super) service: Option<Arc<LoadMock>>,
    /// Supply of sealed collections, with `--seal real`.
    pub(super) sealing: Option<Arc<SealedCollections>>,
    /// The edge.
    pub(super) edge: Option<RunningEdge>,
    credentials: Arc<Credentials>,
    files: CredentialFiles,
    collection_requests: Option<CollectionRequests>,
    /// Encoder of verdict requests, if the run polls.
    pub(super) verdict_requests: Option<VerdictRequests>,
    references: References,
}

/// Queue length of sealed collections (2 MB).
const SEAL_QUEUE: usize = 2048;

impl SystemUnderTest {
    /// Starts and resolves the required parts. Nothing is loaded yet.
    pub(super) async fn prepare(plan: &LoadPlan) -> Result<Self, Failure> {
        let args = &plan.args;
        let spec = Arc::new(args.spec.load()?);
        let credentials = Credentials::mint(&MintOptions::default())
            .map_err(|why| Failure::of(&why, "this is a bug of edgeproof: report it"))?;
        let credentials = Arc::new(credentials);
        let files = CredentialFiles::write(&credentials)
            .map_err(|why| Failure::of(&why, "check TMPDIR and its free space"))?;
        let own_edge = plan.uses_edge() && args.edge_url.is_none();
        let own_verdicts = plan.polls() && args.base_url.is_none();
        if own_verdicts && plan.uses_edge() && !own_edge {
            return Err(Failure::usage(
                "cannot poll for verdicts: --edge-url is given without --base-url",
                "give the service behind that edge with --base-url",
            ));
        }
        let service = if own_edge || own_verdicts {
            let service = LoadMock::start(LoadMockOptions {
                spec: Arc::clone(&spec),
                credentials: Arc::clone(&credentials),
                verifies: args.seal == SealKind::Real,
                verdict_after: args.verdict_after,
                behind_edge: own_edge,
            });
            Some(Arc::new(service.await.map_err(|why| {
                let what = format!("cannot start the mock service: {why}");
                Failure::usage(what, "check the limits on open files").incomplete()
            })?))
        } else if args.faults.any() {
            return Err(Failure::usage(
                "cannot inject faults into a foreign service",
                "the --service-… options require the built-in mock service: remove --edge-url and --base-url",
            ));
        } else {
            None
        };
        let register = service.clone().map(|service| -> crate::scenario::RegisterSession {
            Arc::new(move |reference, state| service.register_session(reference, state))
        });
        let mut system = Self {
            codes: Codes::new(&spec),
            target: LoadTarget { kind: TargetKind::Embedded, command: None, edge_url: None, base_url: None },
            service,
            sealing: None,
            edge: None,
            spec,
            credentials,
            files,
            collection_requests: None,
            verdict_requests: None,
            references: References::Generated(register),
        };
        if plan.uses_edge() {
            system.prepare_edge(args).await?;
            system.seal(plan).await?;
        }
        if plan.polls() {
            system.prepare_verdicts(args).await?;
        }
        Ok(system)
    }

    /// Names of the routes, by index: collections first, then verdicts.
    pub(super) fn routes(&self) -> Vec<String> {
        let collections = self.collection_requests.as_ref().map(CollectionRequests::route);
        let verdicts = self.verdict_requests.as_ref().map(VerdictRequests::route);
        collections.into_iter().chain(verdicts).collect()
    }

    /// Requests that the mock service counted, by route.
    pub(super) fn arrived(&self) -> Vec<(RouteId, u64)> {
        let Some(service) = &self.service else { return Vec::new() };
        let (collections, verdicts) = service.counts();
        let collections = self.collection_requests.as_ref().map(|_| (RouteId(0), collections));
        let own = self.verdict_requests.as_ref().filter(|_| self.target.base_url.is_none());
        collections.into_iter().chain(own.map(|requests| (requests.route_id, verdicts))).collect()
    }

    /// Part, CA option and address of the endpoints that this program did not start.
    pub(super) fn foreign_endpoints(&self, args: &Load) -> Vec<(&'static str, &'static str, &ServerAddress)> {
        let edge = self.collection_requests.as_ref().filter(|_| args.edge_url.is_some());
        let service = self.verdict_requests.as_ref().filter(|_| args.base_url.is_some());
        let edge = edge.map(|requests| ("edge", "--edge-ca", &*requests.endpoint));
        let service = service.map(|requests| ("service", "--service-ca", &*requests.endpoint));
        edge.into_iter().chain(service).collect()
    }

    /// Addresses of all endpoints.
    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        let edge = self.collection_requests.iter().map(|requests| &requests.endpoint);
        let endpoints = edge.chain(self.verdict_requests.iter().map(|requests| &requests.endpoint));
        endpoints.flat_map(|endpoint| endpoint.addresses().to_vec()).collect()
    }

    /// The goose scenario with this name; `None` if a part that it needs is missing.
    pub(super) fn scenario(&self, name: ScenarioName, plan: &LoadPlan) -> Option<Scenario> {
        let relay = || {
            let collections = match &self.sealing {
                Some(ahead) => CollectionSource::Sealed(Arc::clone(ahead)),
                None => CollectionSource::Opaque(OpaqueCollections::new(plan.seed)),
            };
            Some(EdgeRelay {
                requests: self.collection_requests.clone()?,
                collections,
                replays: plan.args.replay_share,
                accepted: Mutex::default(),
                replayed: self.codes.refusal(self.spec.by_stimulus(Table::Relay, Stimulus::Replayed)?),
                service_times: self.service.as_ref().map(|service| Arc::clone(&service.service_times)),
            })
        };
        let polling = || {
            Some(VerdictPolling {
                requests: self.verdict_requests.clone()?,
                references: self.references.clone(),
                // Another seed than journeys have: verdict polling must not use the session of a running journey.
                collections: OpaqueCollections::new(plan.seed ^ 0x5eed),
                options: plan.args.polling.clone(),
            })
        };
        Some(match name {
            ScenarioName::EdgeRelay => relay()?.scenario(),
            ScenarioName::VerdictPolling => polling()?.scenario(),
            ScenarioName::Journey => Journey { relay: relay()?, polling: polling()? }.scenario(),
        })
    }

    async fn prepare_edge(&mut self, args: &Load) -> Result<(), Failure> {
        let target = target(args, &self.spec)?;
        let endpoint = if let Target::Attached(attached) = &target {
            let endpoint = ServerAddress::resolve(attached.url.as_url(), args.edge_ca.as_deref()).await?;
            // Before any request, including the health check.
            check_allowed(&endpoint, args)?;
            self.target.kind = TargetKind::Attached;
            endpoint
        } else {
            let settings = match &self.service {
                Some(service) => self.files.settings(&self.credentials, &service.mock.url(), &args.origin),
                None => EdgeSettings::default(),
            };
            let edge = target.start(&settings).await.map_err(|why| Failure::from(why).incomplete())?;
            if let Target::Launched(launch) = &target {
                self.target.kind = TargetKind::Launched;
                self.target.command = Some(launch.command.as_str().to_owned());
            }
            let endpoint = edge.endpoint().clone();
            self.edge = Some(edge);
            endpoint
        };
        self.target.edge_url = Some(endpoint.url().to_string());
        let endpoint = with_client_certificate(endpoint, args)?;
        let requests = CollectionRequests::new(&self.spec, endpoint, &args.origin, RouteId(0));
        self.collection_requests = Some(requests.expect("a parsed origin is a valid header value"));
        Ok(())
    }

    /// Starts sealing, and waits until the queue is full.
    async fn seal(&mut self, plan: &LoadPlan) -> Result<(), Failure> {
        let args = &plan.args;
        if args.seal == SealKind::Opaque {
            return Ok(());
        }
        let key = match (&args.seal_key, &self.service, settings(args)?) {
            (Some(file), _, _) => seal_key(file)?,
            (None, Some(service), _) => service.mock.seal_key(),
            (None, None, Some(credentials)) => credentials.seal_keys().current().clone(),
            (None, None, None) => return Err(no_seal_key()),
        };
        let names = OpaqueCollections::new(plan.seed);
        let ahead = SealedCollections::start(&key, names, plan.shard, SEAL_QUEUE).map_err(|why| {
            let what = format!("cannot start the threads that seal: {why}");
            Failure::usage(what, "check the limits on threads").incomplete()
        })?;
        ahead.filled().await;
        self.sealing = Some(Arc::new(ahead));
        Ok(())
    }

    async fn prepare_verdicts(&mut self, args: &Load) -> Result<(), Failure> {
        let is_foreign = args.base_url.is_some();
        let (url, ca) = match (&args.base_url, &self.service) {
            (Some(url), _) => (url.clone(), args.service_ca.clone()),
            (None, Some(service)) => {
                (service.mock.url(), Some(self.files.certificate(Role::ServiceAuthority)))
            }
            (None, None) => (String::new(), None),
        };
        let parsed = BaseUrl::of_service(&url, &self.spec)?.as_url().clone();
        let endpoint = ServerAddress::resolve(&parsed, ca.as_deref()).await?;
        check_allowed(&endpoint, args)?;
        let endpoint = with_client_certificate(endpoint, args)?;
        // A foreign service may refuse these with any code of the tables.
        let foreign_forms = [
            ReadTokenForm::Missing,
            ReadTokenForm::ForeignPrefix,
            ReadTokenForm::Malformed,
            ReadTokenForm::KeyUnknown,
        ];
        let forms = if is_foreign { &foreign_forms[..] } else { &ReadTokenForm::ALL };
        let bad = BadToken::of(forms, &self.spec, &self.codes, &self.credentials);
        let token =
            if is_foreign { read_token(args)? } else { self.credentials.read_token(ReadTokenForm::Valid) };
        let route = RouteId(u8::from(self.collection_requests.is_some()));
        let token = format!("Bearer {token}");
        let requests = VerdictRequests::new(&self.spec, endpoint, &token, bad, is_foreign, route);
        self.verdict_requests = Some(requests.ok_or_else(|| {
            Failure::usage(
                "cannot send the read token: it is not a valid header value",
                "check READ_TOKEN or the token file",
            )
        })?);
        if is_foreign {
            self.target.base_url = Some(parsed.to_string());
            if self.collection_requests.is_none() {
                self.target.kind = TargetKind::Attached;
            }
        }
        if let Some(path) = &args.references {
            self.references = read(path)?.parse().map_err(|why: String| {
                Failure::usage(
                    format!("cannot read references {}: {why}", path.display()),
                    "write one reference per line; add `none` after a reference without a verdict (wrong, too old or of another \
                     license)",
                )
            })?;
        } else if is_foreign && self.collection_requests.is_none() {
            return Err(Failure::usage(
                "cannot poll a service for verdicts: no references are given",
                "give sessions that it knows with --references FILE, or run a journey",
            ));
        }
        Ok(())
    }
}

fn target(args: &Load, spec: &Arc<Spec>) -> Result<Target, Failure> {
    let ready_path = spec.path(Endpoint::Health).to_owned();
    if let Some(url) = &args.edge_url {
        let url = BaseUrl::of_edge(url, spec)?;
        return Ok(Target::Attached(Attached { url, ca: args.edge_ca.clone(), ready_path }));
    }
    let Some(command) = &args.launch else {
        return Ok(Target::Embedded(Box::new(Embedded::new(Arc::clone(spec), spec.profile().clone()))));
    };
    let scheme = match args.edge_scheme {
        EdgeScheme::Http => Scheme::Http,
        EdgeScheme::Https => Scheme::Https,
    };
    Ok(Target::Launched(Launch {
        port_name: args.port_env.parse::<PortName>()?,
        scheme,
        ca: args.edge_ca.clone(),
        ready_path,
        ready_timeout: args.ready_timeout,
        ..Launch::new(CommandLine::parse(command)?)
    }))
}

/// Adds the client certificate, if one is given.
fn with_client_certificate(endpoint: ServerAddress, args: &Load) -> Result<ServerAddress, Failure> {
    match args.client_cert.clone().zip(args.client_key.clone()) {
        None => Ok(endpoint),
        Some((certificate, key)) => Ok(endpoint.identified(&ClientIdentity { certificate, key })?),
    }
}

fn check_allowed(endpoint: &ServerAddress, args: &Load) -> Result<(), Failure> {
    let host = endpoint.url().host_str().unwrap_or_default();
    if may_load(host, endpoint.addresses(), &args.allowed_hosts) {
        return Ok(());
    }
    let advice = format!("if you may load it, add --yes-load {host}");
    Err(Failure::usage(format!("cannot load {host}: it is a remote host"), advice))
}

fn seal_key(file: &Path) -> Result<SealPublicKey, Failure> {
    let key = serde_json::from_str(&read(file)?).ok().and_then(|jwk| SealPublicKey::from_jwk(&jwk));
    key.ok_or_else(|| {
        Failure::usage(
            format!("cannot read {}: not a seal key", file.display()),
            "give a JSON Web Key (OKP, X25519) with a kid, as the admin API of `edgeproof mock` serves it at /seal-key",
        )
    })
}

fn read_token(args: &Load) -> Result<String, Failure> {
    let token = match (&args.read_token_file, settings(args)?) {
        (Some(path), _) => read(path)?,
        (None, Some(credentials)) => credentials.read_token(ReadTokenForm::Valid),
        (None, None) => std::env::var("READ_TOKEN").unwrap_or_default(),
    };
    let token = token.trim();
    if token.is_empty() {
        return Err(Failure::usage(
            "cannot poll for verdicts: no read token is given",
            "set READ_TOKEN, or give --read-token-file FILE; for a mock with settings, give --settings DIR",
        ));
    }
    Ok(token.to_owned())
}

fn settings(args: &Load) -> Result<Option<Credentials>, Failure> {
    let Some(folder) = &args.settings else { return Ok(None) };
    Ok(Some(SettingsFolder::load(folder, SystemTime::now())?.credentials))
}
