use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use edgeproof_cli::Failure;
use edgeproof_cli::args::EdgeScheme;
use edgeproof_fixtures::credentials::{
    CredentialFiles, Credentials, MintOptions, ReadTokenForm, Redactor, Role, SettingsFolder,
};
use edgeproof_fixtures::seal::SealPublicKey;
use edgeproof_fixtures::spec::Spec;
use edgeproof_http::{ClientIdentity, ServerAddress};
use edgeproof_launch::{BaseUrl, CommandLine, Launch, PortName, Scheme};
use edgeproof_reports::TargetKind;
use edgeproof_reports::load::LoadTarget;
use edgeproof_targets::{Embedded, HookError, RunningEdge, StateHook, StateOptions, StatePort, Target};
use goose::goose::Scenario;
use parking_lot::Mutex;

use super::args::{Load, SealKind};
use super::load_plan::LoadPlan;
use super::output::read;
use crate::measure::{Codes, RouteId};
use crate::plan::{ScenarioName, may_load};
use crate::scenario::{
    CollectionRequests, CollectionSource, EdgeRelay, Journey, LoadScenario as _, OpaqueCollections,
    References, SealedCollections, VerdictPolling, VerdictRequests, bad_tokens,
};
use crate::service::{LoadMock, LoadMockOptions, PreparedSessions};

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
    /// Sessions that a state hook made.
    sessions: Option<PreparedSessions>,
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
            sessions: None,
        };
        if plan.uses_edge() {
            system.prepare_edge(args).await?;
            system.seal(plan).await?;
        }
        if plan.polls() {
            system.prepare_verdicts(args, plan.seed).await?;
        }
        Ok(system)
    }

    /// Names of the routes, by index: collections first, then verdicts.
    pub(super) fn routes(&self) -> Vec<String> {
        let collections = self.collection_requests.as_ref().map(CollectionRequests::route);
        let verdicts = self.verdict_requests.as_ref().map(VerdictRequests::route);
        collections.into_iter().chain(verdicts).collect()
    }

    /// The route whose target this program did not start, so that all shards load the same one. The edge's, if both are.
    pub(super) fn shared_route(&self, plan: &LoadPlan) -> Option<RouteId> {
        let edge = self.collection_requests.as_ref().filter(|_| plan.args.edge_url.is_some());
        let service = self.verdict_requests.as_ref().filter(|_| self.target.base_url.is_some());
        edge.map(|_| RouteId(0)).or(service.map(|requests| requests.route_id))
    }

    /// Why the sessions of a state hook were not renewed, if one was not.
    pub(super) fn renewal_failure(&self) -> Option<&HookError> {
        self.sessions.as_ref()?.failure()
    }

    /// Requests that the mock service counted, by route.
    pub(super) fn arrived(&self) -> Vec<(RouteId, u64)> {
        let Some(service) = &self.service else { return Vec::new() };
        let (collections, verdicts) = service.counts();
        let collections = self.collection_requests.as_ref().map(|_| (RouteId(0), collections));
        let own = self.verdict_requests.as_ref().filter(|_| self.target.base_url.is_none());
        collections.into_iter().chain(own.map(|requests| (requests.route_id, verdicts))).collect()
    }

    /// Part, CA option and address of all endpoints.
    pub(super) fn endpoints(&self) -> impl Iterator<Item = (&'static str, &'static str, &ServerAddress)> {
        let edge = self.collection_requests.iter();
        let edge = edge.map(|requests| ("edge", "--edge-ca", &*requests.endpoint));
        let service = self.verdict_requests.iter();
        edge.chain(service.map(|requests| ("service", "--service-ca", &*requests.endpoint)))
    }

    /// The goose scenario with this name.
    pub(super) fn scenario(&self, name: ScenarioName, plan: &LoadPlan) -> Scenario {
        let prepared = "the parts of each scenario are prepared";
        let relay = || EdgeRelay {
            requests: self.collection_requests.clone().expect(prepared),
            collections: match &self.sealing {
                Some(ahead) => CollectionSource::Sealed(Arc::clone(ahead)),
                None => CollectionSource::Opaque(OpaqueCollections::new(plan.seed)),
            },
            replays: plan.args.replay_share,
            accepted: Mutex::default(),
            replayed: self.codes.replayed,
            service_times: self.service.as_ref().map(|service| Arc::clone(&service.service_times)),
        };
        let polling = || VerdictPolling {
            requests: self.verdict_requests.clone().expect(prepared),
            references: self.references.clone(),
            // Another seed than journeys have: verdict polling must not use the session of a running journey.
            collections: OpaqueCollections::new(plan.seed ^ 0x5eed),
            options: plan.args.polling.clone(),
        };
        match name {
            ScenarioName::EdgeRelay => relay().scenario(),
            ScenarioName::VerdictPolling => polling().scenario(),
            ScenarioName::Journey => Journey { relay: relay(), polling: polling() }.scenario(),
        }
    }

    async fn prepare_edge(&mut self, args: &Load) -> Result<(), Failure> {
        let endpoint = if let Some(url) = &args.edge_url {
            self.target.kind = TargetKind::Attached;
            foreign_endpoint(&BaseUrl::of_edge(url, &self.spec)?, args.edge_ca.as_deref(), args).await?
        } else {
            let target = own_target(args, &self.spec)?;
            let service = self.service.as_ref().expect("an edge of this program has the mock service");
            let settings = self.files.settings(&self.credentials, &service.mock.url(), &args.origin);
            let edge = target.start(&settings).await.map_err(|why| Failure::from(why).incomplete())?;
            self.target.kind = target.kind();
            self.target.command.clone_from(&args.launch);
            let endpoint = edge.endpoint().clone();
            self.edge = Some(edge);
            with_client_certificate(endpoint, args)?
        };
        self.target.edge_url = Some(endpoint.url().to_string());
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
            (None, None, None) => {
                return Err(Failure::usage(
                    "cannot seal collections: the key of this service is unknown",
                    "give its JSON Web Key with --seal-key FILE; the admin API of `edgeproof mock` serves it at /seal-key. For a mock with \
                     settings, give --settings DIR",
                ));
            }
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

    async fn prepare_verdicts(&mut self, args: &Load, seed: u64) -> Result<(), Failure> {
        let is_foreign = args.base_url.is_some();
        let own = self.service.as_ref().filter(|_| !is_foreign);
        let own = own.map(|own| (own.mock.url(), Some(self.files.certificate(Role::ServiceAuthority))));
        let (url, ca) =
            own.unwrap_or_else(|| (args.base_url.clone().unwrap_or_default(), args.service_ca.clone()));
        let url = BaseUrl::of_service(&url, &self.spec)?;
        let endpoint = foreign_endpoint(&url, ca.as_deref(), args).await?;
        // A foreign service may refuse these with any code of the tables.
        let foreign_forms = [
            ReadTokenForm::Missing,
            ReadTokenForm::ForeignPrefix,
            ReadTokenForm::Malformed,
            ReadTokenForm::KeyUnknown,
        ];
        let forms = if is_foreign { &foreign_forms[..] } else { &ReadTokenForm::ALL };
        let bad = bad_tokens(forms, &self.spec, &self.codes, &self.credentials, is_foreign);
        let token =
            if is_foreign { read_token(args)? } else { self.credentials.read_token(ReadTokenForm::Valid) };
        let route = RouteId(u8::from(self.collection_requests.is_some()));
        let token = format!("Bearer {token}");
        let requests = VerdictRequests::new(&self.spec, endpoint, &token, bad, route);
        self.verdict_requests = Some(requests.ok_or_else(|| {
            Failure::usage(
                "cannot send the read token: it is not a valid header value",
                "check READ_TOKEN or the token file",
            )
        })?);
        if is_foreign {
            self.target.base_url = Some(url.as_url().to_string());
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
        } else if let Some(port) = state_port(args).await? {
            let sessions = prepare_sessions(port, seed).await?;
            self.references = References::Listed(sessions.references.clone());
            self.sessions = Some(sessions);
        } else if is_foreign && self.collection_requests.is_none() {
            return Err(Failure::usage(
                "cannot poll a service for verdicts: no references are given",
                "make sessions with --state-url URL, give some with --references FILE, or run a journey",
            ));
        }
        Ok(())
    }
}

/// The state hook, if one is given.
async fn state_port(args: &Load) -> Result<Option<StatePort>, Failure> {
    let options = StateOptions {
        folder: args.state_folder.as_deref(),
        url: args.state_url.as_deref(),
        command: args.state_command.as_deref(),
        header: args.state_header.as_deref(),
        ca: args.service_ca.as_deref(),
    };
    StatePort::of_options(options)
        .await
        .map_err(|why| if why.is_passing() { Failure::from(why).incomplete() } else { Failure::from(why) })
}

/// Makes sessions with a state hook.
async fn prepare_sessions(port: StatePort, seed: u64) -> Result<PreparedSessions, Failure> {
    let mut redactor = Redactor::empty();
    if let Some(secret) = port.secret() {
        redactor.add("state-header", secret.expose());
    }
    PreparedSessions::make(StateHook::new(port, Arc::new(redactor)), &format!("{seed:x}")).await.map_err(
        |why| {
            let advice = "edgeproof-load requires the state verdict of a state hook; see docs/services.md";
            Failure::of(&why, advice).incomplete()
        },
    )
}

/// The edge that this program starts.
fn own_target(args: &Load, spec: &Arc<Spec>) -> Result<Target, Failure> {
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
        ready_timeout: args.ready_timeout,
        ..Launch::new(CommandLine::parse_in(command, args.launch_folder.as_deref())?).of_version(spec)
    }))
}

/// The address of a URL. Fails before any request if it must not be loaded.
async fn foreign_endpoint(url: &BaseUrl, ca: Option<&Path>, args: &Load) -> Result<ServerAddress, Failure> {
    let endpoint = ServerAddress::resolve(url.as_url(), ca).await?;
    let host = endpoint.url().host_str().unwrap_or_default();
    if !may_load(host, endpoint.addresses(), &args.allowed_hosts) {
        let advice = format!("if you may load it, add --yes-load {host}");
        return Err(Failure::usage(format!("cannot load {host}: it is a remote host"), advice));
    }
    with_client_certificate(endpoint, args)
}

/// Adds the client certificate, if one is given.
fn with_client_certificate(endpoint: ServerAddress, args: &Load) -> Result<ServerAddress, Failure> {
    match args.client_cert.clone().zip(args.client_key.clone()) {
        None => Ok(endpoint),
        Some((certificate, key)) => Ok(endpoint.identified(&ClientIdentity { certificate, key })?),
    }
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
