//! `edgeproof mock`: the service, and with `--edge` an edge in front of it, for everybody else's tests.

#![expect(clippy::doc_markdown, reason = "doc lines are what `--help` prints, and that is plain text")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use clap::Args;
use edgeproof_fixtures::credentials::{
    Connection, Credentials, EdgeSettings, LicenseForm, MintOptions, Secret, SettingsFolder,
};
use edgeproof_fixtures::spec::{Profile, Spec, Version};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tempfile::TempDir;
use tokio::net::TcpListener;

use super::mock_log::Log;
use super::mock_magic;
use super::mock_ready::Ready;
use edgeproof_cli::Failure;
use edgeproof_cli::Written;
use edgeproof_cli::{runtime, signals};
use edgeproof_edge::{Edge, EdgeOptions};
use edgeproof_launch::listen_address;
use edgeproof_mock::admin::{Admin, AdminOptions, TokenRedactor};
use edgeproof_mock::{Listen, MockService, ReplyShape, ServiceOptions};

/// Serves until Ctrl-C or SIGTERM. Standard output says how it is reached, with credentials that are good for nothing
/// else; standard error holds a line of JSON for each request, without secrets.
#[derive(Debug, Args)]
pub(super) struct Mock {
    /// Where the service listens, with TLS; port 0 for one that is free. With --settings the port of SERVICE_URL
    #[arg(long, value_name = "ADDR", help_heading = "Addresses")]
    listen: Option<SocketAddr>,
    /// Serve the same without TLS as well, for clients that cannot be told an authority
    #[arg(long, value_name = "ADDR", help_heading = "Addresses")]
    plain: Option<SocketAddr>,
    /// Start the reference edge in front of it, over HTTP
    #[arg(long, value_name = "ADDR", help_heading = "Addresses")]
    edge: Option<SocketAddr>,
    /// Listen for commands: journal, scripts, faults, clock, keys, sessions, reset
    #[arg(long, value_name = "ADDR", help_heading = "Addresses")]
    admin: Option<SocketAddr>,
    /// Let --plain and --admin listen on addresses that other machines can reach
    #[arg(long, help_heading = "Addresses")]
    open: bool,
    /// A name that the admin port may be called by, beside addresses and localhost (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Addresses", requires = "admin")]
    admin_host: Vec<String>,
    /// Names and addresses by which the service is reached (repeatable): they are in its certificate, and the first one is in
    /// SERVICE_URL
    #[arg(long, value_name = "NAME", help_heading = "Addresses", conflicts_with = "settings")]
    service_host: Vec<String>,

    /// Use these settings, as `edgeproof mint edge-settings` wrote them; else new ones, which are removed at the end
    #[arg(long, value_name = "DIR", help_heading = "Behaviour")]
    settings: Option<PathBuf>,
    /// ALLOWED_ORIGIN of the edge
    #[arg(long, value_name = "ORIGIN", default_value = crate::target::ALLOWED_ORIGIN, help_heading = "Behaviour", conflicts_with = "settings")]
    origin: String,
    /// What random faults come from; with it, new tokens and ids come from it as well. Else a random one, which is printed
    #[arg(long, value_name = "N", help_heading = "Behaviour")]
    seed: Option<u64>,
    /// Version of the interface: current or pre-seal
    #[arg(long, value_name = "VERSION", default_value = "current", help_heading = "Behaviour")]
    spec: Version,
    /// How it behaves at open points, in place of the reference profile
    #[arg(long, value_name = "FILE", help_heading = "Behaviour")]
    profile: Option<PathBuf>,

    /// Print one line of JSON when everything is ready, and nothing else
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Print the magic values with their rows, and serve nothing
    #[arg(long, help_heading = "Output")]
    magic: bool,
    /// No line for each request
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
}

/// Where new settings listen that say nothing else.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8443);

/// Everything that runs.
struct Running {
    service: Arc<MockService>,
    edge: Option<Edge>,
    admin: Option<Admin>,
    ready: Ready,
    /// New settings, removed when everything has ended.
    folder: Option<TempDir>,
    log: Option<Written>,
}

/// `edgeproof mock`.
pub(super) fn main(args: &Mock) -> Result<u8, Failure> {
    let spec = Arc::new(Spec::builtin(args.spec));
    if args.magic {
        mock_magic::print(&spec, args.json)?;
        return Ok(0);
    }
    let profile = match &args.profile {
        Some(path) => spec.profile().with_file(path)?,
        None => spec.profile().clone(),
    };
    for (flag, addr) in [("--plain", args.plain), ("--admin", args.admin)] {
        check_loopback(flag, addr, args.open)?;
    }
    raise_file_limit();
    runtime()?.block_on(async {
        // From here on a signal ends it in order.
        let until = signals::interrupted().map_err(|why| {
            Failure::usage(format!("catch signals: {why}"), "check the limits on open files")
        })?;
        let running = start(args, spec, profile).await?;
        running.ready.print(args.json)?;
        until.await;
        running.stop().await;
        Ok(0)
    })
}

async fn start(args: &Mock, spec: Arc<Spec>, profile: Profile) -> Result<Running, Failure> {
    // So short that every language reads it as a number.
    let seed = args.seed.unwrap_or_else(|| rand::random::<u32>().into());
    let given = match &args.settings {
        Some(folder) => Some(SettingsFolder::load(folder, SystemTime::now())?),
        None => None,
    };
    let listener = bind(
        "--listen",
        args.listen.unwrap_or(match &given {
            Some(given) => listen_address(&given.connection.service_url)
                .map_err(|why| Failure::of(&why, "set the listen address with --listen ADDR"))?,
            None => LISTEN,
        }),
    )
    .await?;
    let port = listener.local_addr().map_err(|why| Failure::of(&why, "this should not happen"))?.port();

    let (folder, dir, credentials, connection) =
        if let (Some(SettingsFolder { credentials, connection }), Some(dir)) = (given, &args.settings) {
            (None, absolute(dir)?, credentials, connection)
        } else {
            let credentials = mint(args)?;
            let connection = new_connection(args, port);
            let (folder, dir) = save(&credentials, &connection)?;
            (Some(folder), dir, credentials, connection)
        };
    let credentials = Arc::new(credentials);
    let redactor = Arc::new(TokenRedactor::new(&credentials));
    let (log, written) = Log::new(args.quiet, Arc::clone(&spec), Arc::clone(&redactor));

    let plain = match args.plain {
        Some(addr) => Some(Listen::On(bind("--plain", addr).await?)),
        None => None,
    };
    let options = ServiceOptions {
        profile: profile.clone(),
        listener: Listen::On(listener),
        plain,
        reply_shape: ReplyShape::from_profile(&profile),
        magic: true,
        observer: log.observer(),
        ..ServiceOptions::new(Arc::clone(&spec), Arc::clone(&credentials))
    };
    let service = MockService::start_with(options).await.map_err(|why| {
        Failure::of(&why, "mint the settings again with `edgeproof mint edge-settings --out DIR`")
    })?;
    let service = Arc::new(service);
    let edge = match args.edge {
        Some(listen) => Some(start_edge(&service, &dir, &connection, listen, log.clone()).await?),
        None => None,
    };
    let admin = match args.admin {
        Some(addr) => {
            let listener = bind("--admin", addr).await?;
            let options = AdminOptions { listener, names: args.admin_host.clone(), seed, redactor };
            let admin = Admin::start(Arc::clone(&service), options);
            Some(admin.map_err(|why| Failure::of(&why, "name another address with --admin"))?)
        }
        None => None,
    };
    let ready = Ready::of(&service, edge.as_ref(), admin.as_ref(), &connection, &dir, seed);
    drop(log);
    Ok(Running { service, edge, admin, ready, folder, log: written })
}

impl Running {
    /// From the outside to the inside, so that nothing is asked for that is gone already.
    async fn stop(self) {
        let Self { service, edge, admin, folder, log, .. } = self;
        if let Some(edge) = edge {
            edge.stop().await;
        }
        if let Some(admin) = admin {
            admin.stop().await;
        }
        // What still holds it is about to end, and ends it then.
        if let Some(service) = Arc::into_inner(service) {
            service.stop().await;
        }
        if let Some(log) = log {
            log.wait();
        }
        drop(folder);
    }
}

/// The reference edge, with settings that the service accepts.
async fn start_edge(
    service: &MockService,
    dir: &Path,
    connection: &Connection,
    listen: SocketAddr,
    log: Log,
) -> Result<Edge, Failure> {
    let edge_dir = dir.join("edge");
    let settings = EdgeSettings {
        // By the name that is in every certificate of ours, for the others may not resolve here.
        service_url: Some(service.url()),
        service_ca_file: Some(edge_dir.join("service-ca.pem")),
        client_cert_file: Some(edge_dir.join("client.pem")),
        client_key_file: Some(edge_dir.join("client.key")),
        allowed_origin: Some(connection.allowed_origin.clone()),
        license: Some(Secret::new(service.credentials().license(LicenseForm::Valid))),
    };
    let options = EdgeOptions {
        listen,
        profile: service.profile().clone(),
        service_timeout: service.profile().relay_timeout,
        ..EdgeOptions::new(Arc::clone(service.spec()), settings, log.edge_sink())
    };
    Edge::start(options)
        .await
        .map_err(|why| Failure::of(&why, "name another address with --edge, or mint the settings again"))
}

fn mint(args: &Mock) -> Result<Credentials, Failure> {
    let mut options = MintOptions { seed: args.seed, ..MintOptions::default() };
    options.service_hosts.extend(args.service_host.iter().cloned());
    options.service_hosts.dedup();
    Credentials::mint(&options)
        .map_err(|why| Failure::of(&why, "give --service-host a name or an address, without port"))
}

fn new_connection(args: &Mock, port: u16) -> Connection {
    let first = args.service_host.first().map_or("localhost", String::as_str);
    let host = if first.contains(':') { format!("[{first}]") } else { first.to_owned() };
    Connection {
        service_url: format!("https://{host}:{port}"),
        allowed_origin: args.origin.clone(),
        mounted_at: None,
    }
}

/// New settings, in a folder that only its owner can enter.
fn save(credentials: &Credentials, connection: &Connection) -> Result<(TempDir, PathBuf), Failure> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let folder = builder.prefix("edgeproof-mock-").tempdir().map_err(|why| {
        Failure::usage(
            format!("make a temporary folder: {why}"),
            "name a folder that can be written to in TMPDIR, or use --settings DIR",
        )
    })?;
    let dir = folder.path().join("settings");
    SettingsFolder::save(credentials, &dir, connection)?;
    Ok((folder, dir))
}

async fn bind(flag: &str, addr: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(addr).await.map_err(|why| {
        Failure::usage(
            format!("listen on {addr}: {why}"),
            format!("name another address with {flag} ADDR; port 0 takes one that is free"),
        )
    })
}

/// What commands, and what gives credentials away unencrypted, is for this machine.
fn check_loopback(flag: &str, addr: Option<SocketAddr>, open: bool) -> Result<(), Failure> {
    match addr {
        Some(addr) if !open && !addr.ip().is_loopback() => Err(Failure::usage(
            format!("listen on {addr} with {flag}: other machines could reach it"),
            "listen on 127.0.0.1, or add --open where that is wanted, such as in a container",
        )),
        _ => Ok(()),
    }
}

fn absolute(dir: &Path) -> Result<PathBuf, Failure> {
    dir.canonicalize()
        .map_err(|why| Failure::usage(format!("find {}: {why}", dir.display()), "name a folder that exists"))
}

/// As many connections as the system grants: each that waits for a verdict is an open file. Where it grants no more, those that
/// are too many wait for their turn.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
