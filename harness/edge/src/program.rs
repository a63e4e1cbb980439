use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::{Profile, Spec};
use tokio::net::lookup_host;

use super::service::{certificates, private_key};
use super::{Edge, EdgeError, EdgeOptions, EdgeTls, LogSink};

const HOST: &str = "127.0.0.1";
const PORT: &str = "8080";

/// What the program takes on its command line, beside the settings in its environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramOptions {
    /// Where to listen, in place of `HOST` and `PORT`.
    pub listen: Option<SocketAddr>,
    /// PEM file with the certificate to serve HTTPS with.
    pub cert: Option<PathBuf>,
    /// PEM file with its key.
    pub key: Option<PathBuf>,
}

/// Runs the edge as a program: settings, `HOST` and `PORT` from an environment, log lines and the line that tells where
/// it listens to `out`. When `until` is done, such as [`interrupted`](crate::cli::signals::interrupted), it finishes what is under way.
pub async fn run_program(
    spec: Arc<Spec>,
    profile: Profile,
    env: impl Fn(&str) -> Option<String>,
    options: ProgramOptions,
    out: LogSink,
    until: impl Future<Output = ()>,
) -> Result<(), EdgeError> {
    let listen = match options.listen {
        Some(listen) => listen,
        None => listen_address(&env).await?,
    };
    let tls = tls(options.cert.as_deref(), options.key.as_deref())?;
    let service_timeout = profile.relay_timeout;
    let settings = EdgeSettings::from_env(&env);
    let options = EdgeOptions {
        profile,
        listen,
        tls,
        service_timeout,
        ..EdgeOptions::new(spec, settings, out.clone())
    };
    let edge = Edge::start(options).await?;
    out.write(format!("edge listening on {}", edge.url()));
    until.await;
    edge.stop().await;
    Ok(())
}

async fn listen_address(env: &impl Fn(&str) -> Option<String>) -> Result<SocketAddr, EdgeError> {
    let setting = |name, default: &str| {
        env(name).filter(|value| !value.is_empty()).unwrap_or_else(|| default.to_owned())
    };
    let (host, port) = (setting("HOST", HOST), setting("PORT", PORT));
    let Ok(number) = port.parse::<u16>() else {
        return Err(EdgeError::Listen { setting: "PORT", value: port });
    };
    let found = lookup_host((host.as_str(), number)).await.ok().and_then(|mut found| found.next());
    found.ok_or(EdgeError::Listen { setting: "HOST", value: host })
}

fn tls(cert: Option<&Path>, key: Option<&Path>) -> Result<Option<EdgeTls>, EdgeError> {
    match (cert, key) {
        (Some(cert), Some(key)) => {
            Ok(Some(EdgeTls { chain: certificates("--cert", cert)?, key: private_key("--key", key)? }))
        }
        (Some(_), None) => Err(EdgeError::Missing { setting: "--key", example: "edge.key" }),
        (None, Some(_)) => Err(EdgeError::Missing { setting: "--cert", example: "edge.pem" }),
        (None, None) => Ok(None),
    }
}
