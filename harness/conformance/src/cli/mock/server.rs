use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use edgeproof_cli::{Failure, LogEnd};
use edgeproof_edge::{Edge, EdgeOptions};
use edgeproof_fixtures::credentials::{EdgeConnection, SettingsFolder};
use edgeproof_fixtures::spec::Spec;
use edgeproof_http::ServerAddress;
use edgeproof_mock::admin::{Admin, AdminOptions, TokenRedactor};
use edgeproof_mock::{Listen, MockService, ReplyShape, ServiceOptions};
use tempfile::TempDir;
use tokio::net::TcpListener;
use url::Url;

use super::args::MockArgs;
use super::log::RequestLog;
use super::page::{self, DemoPage, PageOptions};
use super::plan::MockPlan;
use super::ready::ReadyMessage;
use crate::cli::inputs::{mint, service_url};

/// The running mock service, its admin API and its edge.
pub(super) struct MockServer {
    service: Arc<MockService>,
    edge: Option<Edge>,
    admin: Option<Admin>,
    page: Option<DemoPage>,
    pub(super) ready: ReadyMessage,
    /// Folder of new settings, removed on drop.
    folder: Option<TempDir>,
    log_end: Option<LogEnd>,
}

impl MockServer {
    /// Starts everything, and returns when all of it is ready.
    pub(super) async fn start(args: &MockArgs, plan: MockPlan) -> Result<Self, Failure> {
        let MockPlan { spec, profile, settings, listen, seed } = plan;
        let listener = bind("--listen", listen).await?;
        let port = listener
            .local_addr()
            .map_err(|why| Failure::of(&why, "choose another address with --listen"))?
            .port();
        let (dir, SettingsFolder { credentials, connection }, folder) = match settings {
            Some((dir, settings)) => (dir, settings, None),
            None => new_settings(args, port, &spec)?,
        };
        let credentials = Arc::new(credentials);
        let redactor = Arc::new(TokenRedactor::new(&credentials));
        let (log, log_end) = RequestLog::new(args.quiet, Arc::clone(&spec), Arc::clone(&redactor));
        let plain = match args.plain {
            Some(address) => Some(Listen::On(bind("--plain", address).await?)),
            None => None,
        };
        let options = ServiceOptions {
            profile: profile.clone(),
            listener: Listen::On(listener),
            plain,
            reply_shape: ReplyShape::from_profile(&profile),
            magic: true,
            verify_on_blocking_threads: true,
            observer: log.observer(),
            ..ServiceOptions::new(Arc::clone(&spec), credentials)
        };
        let service = MockService::start_with(options).await.map_err(|why| {
            Failure::of(&why, "mint the settings again with `edgeproof mint edge-settings --out DIR --force`")
        })?;
        let service = Arc::new(service);
        let edge = match args.edge {
            Some(listen) => {
                let origin = connection.allowed_origin.clone();
                Some(start_edge("--edge", &service, &dir, origin, listen, log.clone()).await?)
            }
            None => None,
        };
        let admin = match args.admin {
            Some(address) => {
                let listener = bind("--admin", address).await?;
                let names = args.admin_host.clone();
                let edge = match &edge {
                    Some(edge) => Some(address_of(edge).await?),
                    None => None,
                };
                let options = AdminOptions { listener, edge, names, seed, redactor };
                let admin = Admin::start(Arc::clone(&service), options);
                Some(admin.map_err(|why| Failure::of(&why, "choose another address with --admin"))?)
            }
            None => None,
        };
        let page = match args.page {
            Some(address) => Some(start_page(&service, &dir, address, log).await?),
            None => None,
        };
        let parts = (edge.as_ref(), admin.as_ref(), page.as_ref());
        let ready = ReadyMessage::new(&service, parts, &connection, &dir, seed);
        Ok(Self { service, edge, admin, page, ready, folder, log_end })
    }

    /// Stops page and edge first, because they still call the service.
    pub(super) async fn stop(self) {
        let Self { service, edge, admin, page, folder, log_end, .. } = self;
        if let Some(page) = page {
            page.stop().await;
        }
        if let Some(edge) = edge {
            edge.stop().await;
        }
        if let Some(admin) = admin {
            admin.stop().await;
        }
        // A remaining holder stops the service when it drops it.
        if let Some(service) = Arc::into_inner(service) {
            service.stop().await;
        }
        if let Some(log_end) = log_end {
            log_end.wait();
        }
        drop(folder);
    }
}

/// New settings in a temporary folder. Without a seed they are random.
fn new_settings(
    args: &MockArgs,
    port: u16,
    spec: &Spec,
) -> Result<(PathBuf, SettingsFolder, Option<TempDir>), Failure> {
    let credentials = mint(&args.service_host, args.seed)?;
    let connection = EdgeConnection {
        service_url: service_url(&args.service_host, port),
        allowed_origin: args.origin.clone(),
        mounted_at: None,
    };
    let folder = temporary_folder()?;
    let dir = folder.path().join("settings");
    SettingsFolder::save(&credentials, &dir, &connection, spec)?;
    Ok((dir, SettingsFolder { credentials, connection }, Some(folder)))
}

/// A folder that only its owner can enter.
fn temporary_folder() -> Result<TempDir, Failure> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.prefix("edgeproof-mock-").tempdir().map_err(|why| {
        Failure::usage(
            format!("cannot create a temporary folder: {why}"),
            "set TMPDIR to a writable folder, or use --settings DIR",
        )
    })
}

/// Starts the reference edge with settings that the service accepts.
async fn start_edge(
    option: &str,
    service: &MockService,
    dir: &Path,
    allowed_origin: String,
    listen: SocketAddr,
    log: RequestLog,
) -> Result<Edge, Failure> {
    // By localhost, which every certificate holds: the other names may not resolve here.
    let connection = EdgeConnection { service_url: service.url(), allowed_origin, mounted_at: None };
    let settings = connection.edge_settings(service.credentials(), dir);
    let options = EdgeOptions {
        listen,
        profile: service.profile().clone(),
        service_timeout: service.profile().relay_timeout,
        ..EdgeOptions::new(Arc::clone(service.spec()), settings, log.edge_sink())
    };
    let advice = format!("choose another address with {option}, or mint the settings again");
    Edge::start(options).await.map_err(|why| Failure::of(&why, &advice))
}

/// Address of an edge for requests.
async fn address_of(edge: &Edge) -> Result<ServerAddress, Failure> {
    let url =
        Url::parse(&edge.url()).map_err(|why| Failure::of(&why, "choose another address with --edge"))?;
    Ok(ServerAddress::resolve(&url, None).await?)
}

/// Starts the demo page, behind an edge that admits its origin.
async fn start_page(
    service: &Arc<MockService>,
    dir: &Path,
    address: SocketAddr,
    log: RequestLog,
) -> Result<DemoPage, Failure> {
    let listener = bind("--page", address).await?;
    let addr =
        listener.local_addr().map_err(|why| Failure::of(&why, "choose another address with --page"))?;
    let any_port = SocketAddr::new(addr.ip(), 0);
    let edge = start_edge("--page", service, dir, page::origin(addr), any_port, log).await?;
    let edge_dir = dir.join("edge");
    DemoPage::start(PageOptions { listener, edge, service: Arc::clone(service), edge_dir }).await
}

async fn bind(option: &str, address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|why| {
        Failure::usage(
            format!("cannot listen on {address}: {why}"),
            format!("choose another address with {option} ADDR; port 0 is any free port"),
        )
    })
}
