use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::{Profile, Spec};
use edgeproof_http::listen_address;

use crate::error::EdgeError;
use crate::relay::{certificates, private_key};
use crate::server::{Edge, EdgeOptions, EdgeTls, LogSink};

const HOST: &str = "127.0.0.1";
const PORT: &str = "8080";

/// Command-line options of the edge as a program. The environment contains the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramOptions {
    /// Listen address (default: `HOST` and `PORT`).
    pub listen: Option<SocketAddr>,
    /// PEM file with the certificate for HTTPS.
    pub cert: Option<PathBuf>,
    /// PEM file with the certificate's private key.
    pub key: Option<PathBuf>,
}

/// Runs the edge as a program until `until` completes, then finishes the requests under way. `env` returns settings,
/// `HOST` and `PORT`. Writes log lines, and a line with the edge's URL, to `out`.
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
        None => listen_from_env(&env)?,
    };
    let tls = tls(options.cert.as_deref(), options.key.as_deref())?;
    let service_timeout = profile.relay_timeout;
    let settings = EdgeSettings::from_env(|name| env(spec.variable(name)));
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

fn listen_from_env(env: &impl Fn(&str) -> Option<String>) -> Result<SocketAddr, EdgeError> {
    let setting = |name, default: &str| {
        env(name).filter(|value| !value.is_empty()).unwrap_or_else(|| default.to_owned())
    };
    let (host, port) = (setting("HOST", HOST), setting("PORT", PORT));
    let Ok(port) = port.parse::<u16>() else { return Err(EdgeError::Port { value: port }) };
    // An IPv6 address needs brackets before a port.
    let host = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host };
    listen_address(&format!("{host}:{port}")).map_err(EdgeError::Host)
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
