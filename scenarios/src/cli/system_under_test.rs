use std::sync::Arc;

use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, EdgeSettings, MintOptions, Role};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_http::{ClientIdentity, ServerAddress};
use edgeproof_launch::{BaseUrl, CommandLine, Launch, PortName, Scheme};
use edgeproof_reports::TargetKind;
use edgeproof_reports::load::LoadTarget;
use edgeproof_targets::{Attached, Embedded, RunningEdge, Target};

use super::args::{Load, SealKind};
use super::input_file::read;
use super::reachable::ForeignEndpoint;
use super::required_parts::RequiredParts;
use super::secrets;
use crate::measure::Codes;
use crate::plan::{Shard, check_host};
use crate::scenario::{
    CollectionRequests, OpaqueCollections, ParseReferencesError, References, RegisterSession,
    SealedCollections, VerdictRequests,
};
use crate::service::{CollectionMode, InjectedFaults, LoadMock, LoadMockOptions};
use edgeproof_cli::Failure;
use edgeproof_cli::args::EdgeScheme;

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
    pub(super) collection_requests: Option<(Arc<ServerAddress>, CollectionRequests)>,
    pub(super) verdict_requests: Option<(Arc<ServerAddress>, VerdictRequests)>,
    pub(super) references: References,
    pub(super) replayed: crate::measure::Code,
    pub(super) files: CredentialFiles,
}

/// Queue length of sealed collections (2 MB).
const SEAL_QUEUE: usize = 2048;

impl SystemUnderTest {
    /// Starts and resolves the required parts. Nothing is loaded yet.
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
            .map_err(|why| Failure::of(&why, "this is a bug of edgeproof: report it"))?;
        let credentials = Arc::new(credentials);
        let files = CredentialFiles::write(&credentials)
            .map_err(|why| Failure::of(&why, "check TMPDIR and its free space"))?;
        let own_edge = needs.edge && args.edge_url.is_none();
        let own_verdicts = needs.verdicts && args.base_url.is_none();
        if own_verdicts && needs.edge && !own_edge {
            return Err(Failure::usage(
                "cannot poll for verdicts: --edge-url is given without --base-url",
                "give the service behind that edge with --base-url",
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
            Some(Arc::new(service.await.map_err(|why| {
                let what = format!("cannot start the mock service: {why}");
                Failure::usage(what, "check the limits on open files").incomplete()
            })?))
        } else if faults.any() {
            return Err(Failure::usage(
                "cannot inject faults into a foreign service",
                "the --service-… options require the built-in mock service: remove --edge-url and --base-url",
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
            verdict_requests: None,
            replayed: codes.find("replayed_bundle"),
            codes,
            files,
            spec,
        };
        if needs.edge {
            system.prepare_edge(args, &credentials).await?;
            system.seal(args, seed, shard).await?;
        }
        if needs.verdicts {
            system.prepare_verdicts(args, &credentials).await?;
        }
        Ok(system)
    }

    /// Whether an edge was asked for an answer before the run.
    pub(super) fn readiness_probe(&self) -> bool {
        self.edge.is_some() && self.target.kind != TargetKind::Embedded
    }

    /// Endpoints that this program did not start.
    pub(super) fn foreign_endpoints(&self, args: &Load) -> Vec<ForeignEndpoint<'_>> {
        let edge = self.collection_requests.as_ref().filter(|_| args.edge_url.is_some());
        let service = self.verdict_requests.as_ref().filter(|_| args.base_url.is_some());
        let edge = edge.map(|(address, _)| ForeignEndpoint { part: "edge", ca_option: "--edge-ca", address });
        let service = service.map(|(address, _)| ForeignEndpoint {
            part: "service",
            ca_option: "--service-ca",
            address,
        });
        edge.into_iter().chain(service).collect()
    }

    /// Endpoints of all requests.
    pub(super) fn endpoints(&self) -> Vec<Arc<ServerAddress>> {
        let edge = self.collection_requests.as_ref().map(|(endpoint, _)| Arc::clone(endpoint));
        edge.into_iter()
            .chain(self.verdict_requests.as_ref().map(|(endpoint, _)| Arc::clone(endpoint)))
            .collect()
    }

    async fn prepare_edge(&mut self, args: &Load, credentials: &Credentials) -> Result<(), Failure> {
        let target = target(args, &self.spec)?;
        // Before any request, including the health check.
        if let Target::Attached(attached) = &target {
            let endpoint = ServerAddress::resolve(attached.url.as_url(), args.edge_ca.as_deref()).await?;
            check_allowed(&endpoint, &args.allowed_hosts)?;
        }
        let settings = match &self.service {
            Some(service) => self.files.settings(credentials, &service.url(), &args.origin),
            None => EdgeSettings::default(),
        };
        let (edge, endpoint) = match &target {
            // Checked before the run, with a client certificate if one is given.
            Target::Attached(attached) => {
                (None, ServerAddress::resolve(attached.url.as_url(), args.edge_ca.as_deref()).await?)
            }
            target => {
                let edge = target.start(&settings).await.map_err(|why| Failure::from(why).incomplete())?;
                let endpoint = edge.endpoint().clone();
                (Some(edge), endpoint)
            }
        };
        let endpoint = with_client_certificate(endpoint, args)?;
        let collection_requests = CollectionRequests::new(&self.spec, &endpoint, &args.origin)
            .expect("a parsed origin is a valid header value");
        let url = endpoint.url().to_string();
        let (kind, command) = match &target {
            Target::Embedded(_) => (TargetKind::Embedded, None),
            Target::Launched(launch) => (TargetKind::Launched, Some(launch.command.as_str().to_owned())),
            Target::Attached(_) => (TargetKind::Attached, None),
        };
        self.target = LoadTarget { kind, command, edge_url: Some(url), base_url: None };
        self.collection_requests = Some((Arc::new(endpoint), collection_requests));
        self.edge = edge;
        Ok(())
    }

    /// Starts sealing, and waits until the queue is full.
    async fn seal(&mut self, args: &Load, seed: u64, shard: Shard) -> Result<(), Failure> {
        if args.seal == SealKind::Opaque {
            return Ok(());
        }
        let key = match (&args.seal_key, &self.service, secrets::settings(args)?) {
            (Some(file), _, _) => secrets::seal_key(file)?,
            (None, Some(service), _) => service.seal_key(),
            (None, None, Some(credentials)) => credentials.seal_keys().current().clone(),
            (None, None, None) => return Err(secrets::no_seal_key()),
        };
        let ahead = SealedCollections::start(&key, OpaqueCollections::new(seed), shard, SEAL_QUEUE);
        let ahead = ahead.map_err(|why| {
            let what = format!("cannot start the threads that seal: {why}");
            Failure::usage(what, "check the limits on threads").incomplete()
        })?;
        ahead.filled().await;
        self.sealing = Some(Arc::new(ahead));
        Ok(())
    }

    async fn prepare_verdicts(&mut self, args: &Load, credentials: &Credentials) -> Result<(), Failure> {
        let (url, ca) = match (&args.base_url, &self.service) {
            (Some(url), _) => (url.clone(), args.service_ca.clone()),
            (None, Some(service)) => (service.url(), Some(self.files.certificate(Role::ServiceAuthority))),
            (None, None) => (String::new(), None),
        };
        let parsed = BaseUrl::of_service(&url)?.as_url().clone();
        let endpoint = ServerAddress::resolve(&parsed, ca.as_deref()).await?;
        check_allowed(&endpoint, &args.allowed_hosts)?;
        let endpoint = with_client_certificate(endpoint, args)?;
        let (authorization, bad) = match &self.service {
            Some(service) if args.base_url.is_none() => {
                (service.authorization(), service.bad_tokens(&self.codes))
            }
            _ => (format!("Bearer {}", secrets::read_token(args)?), secrets::foreign_bad_tokens(credentials)),
        };
        let verdict_requests =
            VerdictRequests::new(&self.spec, &endpoint, &authorization, bad).ok_or_else(|| {
                Failure::usage(
                    "cannot send the read token: it is not a valid header value",
                    "check READ_TOKEN or the token file",
                )
            })?;
        if args.base_url.is_some() {
            self.target.base_url = Some(parsed.to_string());
            if self.collection_requests.is_none() {
                self.target.kind = TargetKind::Attached;
            }
        }
        if let Some(path) = &args.references {
            self.references = read(path)?.parse().map_err(|why: ParseReferencesError| {
                Failure::usage(
                    format!("cannot read references {}: {why}", path.display()),
                    "write one reference per line; add `none` after a reference without a verdict (wrong, too old or of another \
                     license)",
                )
            })?;
        } else if args.base_url.is_some() && self.collection_requests.is_none() {
            return Err(Failure::usage(
                "cannot poll a service for verdicts: no references are given",
                "give sessions that it knows with --references FILE, or run a journey",
            ));
        }
        self.verdict_requests = Some((Arc::new(endpoint), verdict_requests));
        Ok(())
    }
}

fn register_session(service: &Arc<LoadMock>) -> RegisterSession {
    let service = Arc::clone(service);
    Arc::new(move |reference, state| service.register_session(reference, state))
}

fn target(args: &Load, spec: &Arc<Spec>) -> Result<Target, Failure> {
    if let Some(url) = &args.edge_url {
        return Ok(Target::Attached(Attached { url: BaseUrl::of_edge(url)?, ca: args.edge_ca.clone() }));
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

fn check_allowed(endpoint: &ServerAddress, hosts: &[String]) -> Result<(), Failure> {
    Ok(check_host(endpoint.url().host_str().unwrap_or_default(), endpoint.addresses(), hosts)?)
}
