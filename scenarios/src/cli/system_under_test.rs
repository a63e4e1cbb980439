use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use edgeproof::target::{
    Attached, BaseUrl, CommandLine, Embedded, Launch, PortName, RunningEdge, Scheme, Target,
};
use edgeproof::wire::{ClientIdentity, Endpoint};
use edgeproof_fixtures::credentials::{
    CredentialFiles, Credentials, EdgeSettings, MintOptions, ReadTokenForm, Role, SettingsFolder,
};
use edgeproof_fixtures::seal::SealPublicKey;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_reports::load::LoadTarget;
use parking_lot::Mutex;

use super::args::{EdgeScheme, Load, SealKind};
use super::failure::Failure;
use crate::engine::{Client, RunContext, Scenario};
use crate::measure::{Codes, RouteId};
use crate::plan::{ScheduledOperation, Shard, check_host};
use crate::scenario::{
    AnyScenario, BadToken, CollectionRequests, CollectionSource, EdgeRelay, Journey, OpaqueCollections,
    PollOptions, References, RegisterSession, SealedCollections, VerdictPolling, VerdictRequests,
};
use crate::service::{CollectionMode, InjectedFaults, LoadMock, LoadMockOptions};

/// What a run needs to stand on: the edge, the service behind it, and how both are reached. Everything that was started ends
/// with it.
pub(super) struct SystemUnderTest {
    /// The codes that answers may give.
    pub(super) codes: Codes,
    /// What the report says was loaded.
    pub(super) target: LoadTarget,
    /// The service behind the edge, where it is ours.
    pub(super) service: Option<Arc<LoadMock>>,
    /// What seals collections, where they are sealed for real.
    pub(super) sealing: Option<Arc<SealedCollections>>,
    /// The edge.
    pub(super) edge: Option<RunningEdge>,
    collection_requests: Option<(Arc<Endpoint>, CollectionRequests)>,
    asking: Option<(Arc<Endpoint>, VerdictRequests)>,
    references: References,
    replayed: crate::measure::Code,
    files: CredentialFiles,
}

/// Which parts a scenario needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequiredParts {
    pub(super) edge: bool,
    pub(super) verdicts: bool,
}

/// The route of a collection.
pub(super) const POST: &str = "POST /v1/signals";
/// The route of a verdict.
pub(super) const GET: &str = "GET /v1/verdict/{ref}";
/// Operations that are tried out before a run, to learn what each takes: at most so many, and after this time no further one.
const TRIES: u64 = 8;
const TRYING: Duration = Duration::from_secs(1);
/// OpaqueCollections that are sealed ahead: 2 MB.
const AHEAD: usize = 2048;

impl SystemUnderTest {
    /// Starts and resolves what is needed. Nothing is loaded yet.
    pub(super) async fn prepare(
        args: &Load,
        needs: RequiredParts,
        faults: InjectedFaults,
        seed: u64,
        shard: Shard,
    ) -> Result<Self, Failure> {
        let spec = Arc::new(Spec::builtin(Version::Current));
        let codes = Codes::new(&spec);
        let credentials = Credentials::mint(&MintOptions::default())
            .map_err(|why| Failure::of(&why, "this should not happen with its own settings"))?;
        let credentials = Arc::new(credentials);
        let files = CredentialFiles::write(&credentials)
            .map_err(|why| Failure::of(&why, "check TMPDIR and the space left there"))?;
        let own_edge = needs.edge && args.edge_url.is_none();
        let own_verdicts = needs.verdicts && args.base_url.is_none();
        if own_verdicts && needs.edge && !own_edge {
            return Err(Failure::usage(
                "play whole sessions: --edge-url is given and --base-url is not",
                "verdicts come from the service behind that edge: name it with --base-url",
            ));
        }
        let service = if own_edge || own_verdicts {
            let service = LoadMock::start(LoadMockOptions {
                spec: Arc::clone(&spec),
                credentials: Arc::clone(&credentials),
                collection_mode: if args.seal == SealKind::Real {
                    CollectionMode::Verify
                } else {
                    CollectionMode::AcceptAll
                },
                verdict_after: args.verdict_after,
                behind_edge: own_edge,
            });
            Some(Arc::new(
                service
                    .await
                    .map_err(|why| Failure::of(&why, "check the limits on open files").incomplete())?,
            ))
        } else if faults.any() {
            return Err(Failure::usage(
                "do anything to a service that is not ours",
                "--service-… needs the embedded service: leave out --edge-url and --base-url",
            ));
        } else {
            None
        };
        let mut system = Self {
            target: crate::report::embedded(),
            references: References::Generated(service.as_ref().map(register_session)),
            service,
            sealing: None,
            edge: None,
            collection_requests: None,
            asking: None,
            replayed: codes.find("replayed_bundle"),
            codes,
            files,
        };
        if needs.edge {
            system.find_edge(args, &spec, &credentials).await?;
            system.seal(args, seed, shard).await?;
        }
        if needs.verdicts {
            system.find_verdicts(args).await?;
        }
        Ok(system)
    }

    async fn find_edge(
        &mut self,
        args: &Load,
        spec: &Arc<Spec>,
        credentials: &Credentials,
    ) -> Result<(), Failure> {
        let target = target(args, spec)?;
        // Before anything is sent there, a probe included.
        if let Target::Attached(attached) = &target {
            let endpoint = Endpoint::resolve(attached.url.as_url(), args.edge_ca.as_deref()).await?;
            allowed(&endpoint, &args.allowed_hosts)?;
        }
        let settings = match &self.service {
            Some(service) => self.files.settings(credentials, &service.url(), &args.origin),
            None => EdgeSettings::default(),
        };
        let (edge, endpoint) = match &target {
            // The usual probe has no client certificate. What is tried out before the run proves as much.
            Target::Attached(attached) if args.client_cert.is_some() => {
                (None, Endpoint::resolve(attached.url.as_url(), args.edge_ca.as_deref()).await?)
            }
            target => {
                let edge = target.start(&settings).await.map_err(|why| Failure::from(why).incomplete())?;
                let endpoint = edge.endpoint().clone();
                (Some(edge), endpoint)
            }
        };
        let endpoint = identified(endpoint, args)?;
        let collection_requests = CollectionRequests::new(&endpoint, &args.origin).ok_or_else(|| {
            Failure::usage(
                format!("post from the origin {:?}", args.origin),
                "give an origin such as https://shop.example",
            )
        })?;
        let url = endpoint.url().to_string();
        self.target = match &target {
            Target::Embedded(_) => LoadTarget { edge_url: Some(url), ..crate::report::embedded() },
            Target::Launched(launch) => LoadTarget {
                kind: edgeproof_reports::TargetKind::Launched,
                command: Some(launch.command.as_str().to_owned()),
                edge_url: Some(url),
                base_url: None,
            },
            Target::Attached(_) => LoadTarget {
                kind: edgeproof_reports::TargetKind::Attached,
                command: None,
                edge_url: Some(url),
                base_url: None,
            },
        };
        self.collection_requests = Some((Arc::new(endpoint), collection_requests));
        self.edge = edge;
        Ok(())
    }

    /// Begins to seal where that is asked for, and waits until there is a supply.
    async fn seal(&mut self, args: &Load, seed: u64, shard: Shard) -> Result<(), Failure> {
        if args.seal == SealKind::Opaque {
            return Ok(());
        }
        let key = match (&args.seal_key, &self.service, settings(args)?) {
            (Some(file), _, _) => seal_key(file)?,
            (None, Some(service), _) => service.seal_key(),
            (None, None, Some(credentials)) => credentials.seal_keys().current().clone(),
            (None, None, None) => return Err(no_seal_key()),
        };
        let ahead = SealedCollections::start(&key, OpaqueCollections::new(seed), shard, AHEAD);
        let ahead = ahead.map_err(|why| Failure::of(&why, "check the limits on threads").incomplete())?;
        ahead.filled().await;
        self.sealing = Some(Arc::new(ahead));
        Ok(())
    }

    async fn find_verdicts(&mut self, args: &Load) -> Result<(), Failure> {
        let (url, ca) = match (&args.base_url, &self.service) {
            (Some(url), _) => (url.clone(), args.service_ca.clone()),
            (None, Some(service)) => (service.url(), Some(self.files.certificate(Role::ServiceAuthority))),
            (None, None) => (String::new(), None),
        };
        let parsed = BaseUrl::of_service(&url)?.as_url().clone();
        let endpoint = Endpoint::resolve(&parsed, ca.as_deref()).await?;
        allowed(&endpoint, &args.allowed_hosts)?;
        let endpoint = identified(endpoint, args)?;
        let (authorization, bad) = match &self.service {
            Some(service) if args.base_url.is_none() => {
                (service.authorization(), service.bad_tokens(&self.codes))
            }
            _ => (format!("Bearer {}", read_token(args)?), foreign_bad_tokens()),
        };
        let verdict_requests = VerdictRequests::new(&endpoint, &authorization, bad).ok_or_else(|| {
            Failure::usage(
                "send the read token: it holds what no header can",
                "check the file or variable that it is in",
            )
        })?;
        if args.base_url.is_some() {
            self.target.base_url = Some(parsed.to_string());
            if self.collection_requests.is_none() {
                self.target.kind = edgeproof_reports::TargetKind::Attached;
            }
        }
        if let Some(path) = &args.references {
            self.references = read(path)?.parse()?;
        } else if args.base_url.is_some() && self.collection_requests.is_none() {
            return Err(Failure::usage(
                "ask a service for verdicts without references",
                "name sessions that it knows with --references FILE, or play journeys",
            ));
        }
        self.asking = Some((Arc::new(endpoint), verdict_requests));
        Ok(())
    }

    /// The scenario of this name. Routes are numbered: collections, then verdicts.
    pub(super) fn scenario(&self, name: &str, args: &Load, seed: u64) -> Option<Arc<AnyScenario>> {
        Some(Arc::new(match name {
            "edge-relay" => AnyScenario::EdgeRelay(self.relay(args, seed)?),
            "verdict-polling" => AnyScenario::VerdictPolling(self.polling(args, seed)?),
            _ => AnyScenario::Journey(Box::new(Journey {
                relay: self.relay(args, seed)?,
                polling: self.polling(args, seed)?,
            })),
        }))
    }

    fn relay(&self, args: &Load, seed: u64) -> Option<EdgeRelay> {
        let (endpoint, collection_requests) = self.collection_requests.clone()?;
        let service_times = self.service.as_ref().map(|service| Arc::clone(service.service_times()));
        let collections = match &self.sealing {
            Some(ahead) => CollectionSource::Sealed(Arc::clone(ahead)),
            None => CollectionSource::Opaque(OpaqueCollections::new(seed)),
        };
        Some(EdgeRelay {
            endpoint,
            collection_requests,
            collections,
            replays: args.replay_share,
            accepted: Mutex::default(),
            replayed: self.replayed,
            route: RouteId(0),
            service_times,
        })
    }

    fn polling(&self, args: &Load, seed: u64) -> Option<VerdictPolling> {
        let (endpoint, verdict_requests) = self.asking.clone()?;
        Some(VerdictPolling {
            endpoint,
            verdict_requests,
            references: self.references.clone(),
            // Another beginning than journeys have: those who only ask must not meet a session that is under way.
            collections: OpaqueCollections::new(seed ^ 0x5eed),
            options: PollOptions {
                interval: args.poll_interval,
                wait: args.wait,
                waiting: args.wait_share,
                give_up: args.give_up,
                wrong: args.wrong_share,
                bad_tokens: args.bad_token_share,
            },
            route: RouteId(u8::from(self.collection_requests.is_some())),
        })
    }

    /// The routes, by their number.
    pub(super) fn routes(&self) -> Vec<String> {
        let mut routes = Vec::new();
        routes.extend(self.collection_requests.as_ref().map(|_| POST.to_owned()));
        routes.extend(self.asking.as_ref().map(|_| GET.to_owned()));
        routes
    }

    /// What an operation takes, tried out one after the other; the longest but one counts. Fails where the target does not
    /// answer.
    pub(super) async fn try_out(
        &self,
        scenario: &AnyScenario,
        timeout: Duration,
    ) -> Result<Duration, Failure> {
        let run = Arc::new(RunContext::new(self.codes.clone(), timeout, false));
        run.start();
        let mut client = Client::new(0, scenario, Arc::clone(&run));
        let mut times = Vec::new();
        let trying = Instant::now();
        for number in 0..TRIES {
            if times.len() >= 2 && trying.elapsed() > TRYING {
                break;
            }
            let begun = Instant::now();
            // Numbers that no run reaches.
            let scheduled =
                ScheduledOperation { number: (1 << 39) + number, at: Duration::ZERO, measured: true };
            client.measures(true);
            let operation_end = scenario.play(&mut client, scheduled, begun).await;
            if operation_end == crate::engine::OperationEnd::Failed {
                let measurements = run.recorder.sum().measurements;
                let observed = measurements
                    .series
                    .first()
                    .map_or_else(String::new, |series| self.codes.label(series.outcome));
                return Err(Failure::usage(
                    format!("reach the target before the run: {observed}"),
                    "check its address and that it runs; for TLS, that its certificate is for this host and its authority is \
                     named with --edge-ca or --service-ca",
                )
                .incomplete());
            }
            times.push(begun.elapsed());
        }
        times.sort();
        Ok(times[times.len() - 2])
    }
}

fn register_session(service: &Arc<LoadMock>) -> RegisterSession {
    let service = Arc::clone(service);
    Arc::new(move |reference, state| service.register_session(reference, state))
}

fn settings(args: &Load) -> Result<Option<Credentials>, Failure> {
    let Some(folder) = &args.settings else { return Ok(None) };
    Ok(Some(SettingsFolder::load(folder, SystemTime::now())?.credentials))
}

/// Nobody knows what to seal to.
pub(super) fn no_seal_key() -> Failure {
    Failure::usage(
        "seal collections for a service that is not ours without its key",
        "name it with --seal-key FILE: a JSON Web Key, as the admin port of `edgeproof mock` shows it at /seal-key; or the \
         settings of that mock with --settings DIR",
    )
}

fn seal_key(file: &Path) -> Result<SealPublicKey, Failure> {
    let key = serde_json::from_str(&read(file)?).ok().and_then(|jwk| SealPublicKey::from_jwk(&jwk));
    key.ok_or_else(|| {
        Failure::usage(
            format!("read {}: it is no key that collections are sealed to", file.display()),
            "give a JSON Web Key (OKP, X25519) with its kid, as the admin port of `edgeproof mock` shows it at /seal-key",
        )
    })
}

fn target(args: &Load, spec: &Arc<Spec>) -> Result<Target, Failure> {
    if let Some(url) = &args.edge_url {
        return Ok(Target::Attached(Attached { url: BaseUrl::of_edge(url)?, ca: args.edge_ca.clone() }));
    }
    let Some(command) = &args.launch else {
        return Ok(Target::Embedded(Box::new(Embedded::new(Arc::clone(spec), spec.profile().clone()))));
    };
    let scheme = if args.edge_scheme == EdgeScheme::Https { Scheme::Https } else { Scheme::Http };
    Ok(Target::Launched(Launch {
        port_name: args.port_env.parse::<PortName>()?,
        scheme,
        ca: args.edge_ca.clone(),
        ready_timeout: args.ready_timeout,
        ..Launch::new(CommandLine::parse(command)?)
    }))
}

/// With the client certificate, where there is one.
fn identified(endpoint: Endpoint, args: &Load) -> Result<Endpoint, Failure> {
    match args.client_cert.clone().zip(args.client_key.clone()) {
        None => Ok(endpoint),
        Some((certificate, key)) => Ok(endpoint.identified(&ClientIdentity { certificate, key })?),
    }
}

fn allowed(endpoint: &Endpoint, hosts: &[String]) -> Result<(), Failure> {
    Ok(check_host(endpoint.url().host_str().unwrap_or_default(), endpoint.addresses(), hosts)?)
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
            "ask for verdicts without a read token",
            "put one into the variable READ_TOKEN, or name its file with --read-token-file, or the settings of a mock service with \
             --settings",
        ));
    }
    Ok(token.to_owned())
}

/// For a service that is not ours: it may say with any code of the tables why it refuses these.
fn foreign_bad_tokens() -> Vec<BadToken> {
    [None, Some("Bearer service_read_"), Some("Bearer service_read_v4.public.AAAA"), Some("Bearer nothing")]
        .map(|authorization| BadToken { authorization: authorization.map(str::to_owned), code: None })
        .into()
}

pub(super) fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|why| {
        Failure::usage(format!("read {}: {why}", path.display()), "check the name, and that it may be read")
    })
}
