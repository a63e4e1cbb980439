use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use harness::wire::{Connection, Endpoint};
use rustls::ClientConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::measure::Failure;

/// Longest time for a connection and its handshake.
const LIMIT: Duration = Duration::from_secs(5);

/// Opens connections to one endpoint: with TLS where its address says so, with a client certificate where there is one.
#[derive(Debug, Clone)]
pub struct Connector {
    addresses: Vec<SocketAddr>,
    authority: String,
    base: String,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

/// What TLS needs.
#[derive(Debug, Clone, Default)]
pub struct TlsOptions {
    /// PEM file with the authorities that are trusted; else those of the system.
    pub authorities: Option<PathBuf>,
    /// What to present where a client certificate is asked for.
    pub identity: Option<ClientIdentity>,
}

/// A client certificate and its key, as PEM files.
#[derive(Debug, Clone)]
pub struct ClientIdentity {
    /// The certificate, then its issuers.
    pub certificate: PathBuf,
    /// The key.
    pub key: PathBuf,
}

/// Why connections cannot be set up.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("read {}: {why}", path.display())]
#[diagnostic(help("give a PEM file: authorities and certificates as CERTIFICATE, the key as PRIVATE KEY"))]
pub struct ConnectorError {
    path: PathBuf,
    why: String,
}

impl Connector {
    /// Reads the files. Nothing is connected yet.
    pub fn new(endpoint: &Endpoint, options: &TlsOptions) -> Result<Self, ConnectorError> {
        let host = endpoint.url().host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let tls = if endpoint.is_tls() {
            let name = ServerName::try_from(host).map_err(|why| ConnectorError {
                path: endpoint.url().as_str().into(),
                why: why.to_string(),
            })?;
            Some((Arc::new(client_config(options)?), name))
        } else {
            None
        };
        Ok(Self {
            addresses: endpoint.addresses().to_vec(),
            authority: endpoint.authority().to_owned(),
            base: endpoint.base().to_owned(),
            tls,
        })
    }

    /// What a request names in `Host`.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Path before the interface's own, without a slash at its end.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Connects, to the first address that takes it.
    pub async fn connect(&self) -> Result<Connection, Failure> {
        timeout(LIMIT, self.connect_unbounded()).await.unwrap_or(Err(Failure::Connect))
    }

    async fn connect_unbounded(&self) -> Result<Connection, Failure> {
        for address in &self.addresses {
            let Ok(stream) = TcpStream::connect(address).await else { continue };
            // A request must not wait for the acknowledgement of the one before.
            stream.set_nodelay(true).map_err(|_| Failure::Connect)?;
            let Some((config, name)) = &self.tls else { return Ok(Connection::Plain(stream)) };
            let stream = TlsConnector::from(Arc::clone(config)).connect(name.clone(), stream).await;
            return stream.map(|stream| Connection::Tls(Box::new(stream))).map_err(|_| Failure::Tls);
        }
        Err(Failure::Connect)
    }
}

fn client_config(options: &TlsOptions) -> Result<ClientConfig, ConnectorError> {
    let mut roots = rustls::RootCertStore::empty();
    if let Some(path) = &options.authorities {
        for certificate in certificates(path)? {
            roots.add(certificate).map_err(|why| fault(path, &why))?;
        }
    } else {
        // What the system cannot parse it does not trust either.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has the cipher suites of the default versions")
        .with_root_certificates(roots);
    let mut config = match &options.identity {
        None => builder.with_no_client_auth(),
        Some(ClientIdentity { certificate, key }) => {
            let chain = certificates(certificate)?;
            let key_der = PrivateKeyDer::from_pem_file(key).map_err(|why| fault(key, &why))?;
            builder.with_client_auth_cert(chain, key_der).map_err(|why| fault(certificate, &why))?
        }
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ConnectorError> {
    let found: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).map_err(|why| fault(path, &why))?.collect();
    let found = found.map_err(|why| fault(path, &why))?;
    if found.is_empty() {
        return Err(fault(path, &"no certificate in it"));
    }
    Ok(found)
}

fn fault(path: &Path, why: &dyn std::fmt::Display) -> ConnectorError {
    ConnectorError { path: path.to_owned(), why: why.to_string() }
}
