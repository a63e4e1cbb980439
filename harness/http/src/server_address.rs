use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::either::Either;
use url::Url;

use super::given_certificates::GivenCertificates;
use super::timed_stream::TimedStream;
use super::{NoAnswer, TlsFailure};

/// Timeout for a connection with its TLS handshake.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// Resolved `http` or `https` URL with its TLS trust and client certificate.
#[derive(Debug, Clone)]
pub struct ServerAddress {
    url: Url,
    addresses: Vec<SocketAddr>,
    tls: Option<Arc<ClientConfig>>,
    ca: Option<PathBuf>,
}

/// Client certificate and key, as PEM files.
#[derive(Debug, Clone)]
pub struct ClientIdentity {
    /// Certificate chain, leaf first.
    pub certificate: PathBuf,
    /// Private key.
    pub key: PathBuf,
}

/// Why an address cannot be used.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ServerAddressError {
    /// Not `http` or `https`, or no host.
    #[error("cannot use {0:?} as the URL of a server")]
    #[diagnostic(help("give an http:// or https:// URL with a host"))]
    NotHttp(String),
    /// The name does not resolve.
    #[error("cannot resolve {host:?}: {why}")]
    #[diagnostic(help("check the spelling, and that this machine can resolve the name"))]
    Unresolved {
        /// The host.
        host: String,
        /// The system's error.
        why: io::Error,
    },
    /// The CA file is unreadable or invalid.
    #[error("cannot read the CA file {}: {why}", path.display())]
    #[diagnostic(help("name a PEM file with the certificate of the issuing CA"))]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A file of the client certificate is unreadable, or certificate and key do not match.
    #[error("cannot read the client certificate in {}: {why}", path.display())]
    #[diagnostic(help(
        "name PEM files: the certificate chain (CERTIFICATE) and the private key (PRIVATE KEY)"
    ))]
    Identity {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// TLS cannot be set up.
    #[error("cannot set up TLS: {0}")]
    Tls(String),
}

/// Stream to a server, without or with TLS.
pub type ClientStream = Either<TimedStream, Box<TlsStream<TimedStream>>>;

/// New connection that notes when the kernel received the bytes of each read.
#[derive(Debug)]
pub struct TimedConnection {
    /// The stream.
    pub stream: ClientStream,
    /// Time to connect.
    pub connect: Duration,
    /// Time of the TLS handshake; `None` without TLS.
    pub handshake: Option<Duration>,
}

impl ServerAddress {
    /// Resolves `url`. `ca` is a CA file for the server's certificate (default: system roots).
    pub async fn resolve(url: &Url, ca: Option<&Path>) -> Result<Self, ServerAddressError> {
        let not_http = || ServerAddressError::NotHttp(url.to_string());
        let host = url.host().ok_or_else(not_http)?;
        let port = url.port_or_known_default().ok_or_else(not_http)?;
        let addresses = match &host {
            url::Host::Ipv4(ip) => vec![SocketAddr::new(IpAddr::V4(*ip), port)],
            url::Host::Ipv6(ip) => vec![SocketAddr::new(IpAddr::V6(*ip), port)],
            url::Host::Domain(name) => tokio::net::lookup_host((*name, port))
                .await
                .map_err(|why| ServerAddressError::Unresolved { host: (*name).to_owned(), why })?
                .collect(),
        };
        let tls = match url.scheme() {
            "http" => None,
            "https" => Some(Arc::new(client_config(ca, None)?)),
            _ => return Err(not_http()),
        };
        let ca = ca.filter(|_| tls.is_some()).map(Path::to_owned);
        Ok(Self { url: url.clone(), addresses, tls, ca })
    }

    /// Connects to `address` only, instead of the addresses that the name resolves to.
    #[must_use]
    pub fn at(self, address: SocketAddr) -> Self {
        Self { addresses: vec![address], ..self }
    }

    /// Presents a client certificate when the server requests one. No effect without TLS.
    pub fn identified(self, identity: &ClientIdentity) -> Result<Self, ServerAddressError> {
        let Some(_) = &self.tls else { return Ok(self) };
        let tls = Some(Arc::new(client_config(self.ca.as_deref(), Some(identity))?));
        Ok(Self { tls, ..self })
    }

    /// URL, as given.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Resolved addresses, in connection order. Not empty if a connection ever succeeded.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Whether connections use TLS.
    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// CA file; `None` without TLS and for system roots.
    pub fn ca(&self) -> Option<&Path> {
        self.ca.as_deref()
    }

    /// Whether all addresses are IPv4 loopback: only then can a client connect from other loopback addresses.
    pub fn is_loopback(&self) -> bool {
        self.addresses.iter().all(|address| address.ip().is_loopback() && address.is_ipv4())
    }

    /// Value of the `Host` header.
    pub fn authority(&self) -> &str {
        &self.url[url::Position::BeforeHost..url::Position::AfterPort]
    }

    /// Base path, without a trailing slash.
    pub fn base(&self) -> &str {
        self.url.path().trim_end_matches('/')
    }

    /// URL of `path` below the base path.
    pub fn address(&self, path: &str) -> String {
        format!("{}://{}{}{path}", self.url.scheme(), self.authority(), self.base())
    }

    /// Connects, from the local address `from` if given. `protocols` is the ALPN offer.
    pub async fn connect(&self, from: Option<IpAddr>, protocols: &[&[u8]]) -> Result<ClientStream, NoAnswer> {
        let connected = async {
            let tcp = self.open(from).await?;
            self.secure(TimedStream::new(tcp), protocols).await
        };
        // Boxed: callers nest many futures, and the compiler limits their depth.
        timeout(CONNECT_LIMIT, Box::pin(connected)).await.unwrap_or(Err(NoAnswer::TimedOut(CONNECT_LIMIT)))
    }

    /// Connects without a timeout, and notes receive times from the first byte. `protocols` is the ALPN offer.
    pub async fn connect_timed(&self, protocols: &[&[u8]]) -> Result<TimedConnection, NoAnswer> {
        let begun = Instant::now();
        let tcp = self.open(None).await?;
        let connect = begun.elapsed();
        let stream = self.secure(TimedStream::noting(tcp), protocols).await?;
        let handshake = self.is_tls().then(|| begun.elapsed().saturating_sub(connect));
        Ok(TimedConnection { stream, connect, handshake })
    }

    async fn open(&self, from: Option<IpAddr>) -> Result<TcpStream, NoAnswer> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in &self.addresses {
            match open(*address, from).await {
                Ok(tcp) => return Ok(tcp),
                Err(why) => last = why,
            }
        }
        Err(if is_own_limit(&last) {
            NoAnswer::NoSocket(last.to_string())
        } else {
            NoAnswer::NotConnected(last.to_string())
        })
    }

    async fn secure(&self, stream: TimedStream, protocols: &[&[u8]]) -> Result<ClientStream, NoAnswer> {
        let Some(config) = &self.tls else { return Ok(Either::Left(stream)) };
        let mut config = ClientConfig::clone(config);
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let host = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(host.clone())
            .map_err(|why| NoAnswer::NoTls(TlsFailure::Other(why.to_string())))?;
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
        stream
            .map(|stream| Either::Right(Box::new(stream)))
            .map_err(|why| NoAnswer::NoTls(TlsFailure::of(&why, &host, self.ca.as_deref())))
    }
}

/// The stream below TLS.
pub fn transport(connection: &ClientStream) -> &TimedStream {
    match connection {
        Either::Left(stream) => stream,
        Either::Right(stream) => stream.get_ref().0,
    }
}

/// Protocol that ALPN selected; `None` without TLS.
pub(super) fn protocol(connection: &ClientStream) -> Option<&[u8]> {
    match connection {
        Either::Left(_) => None,
        Either::Right(stream) => stream.get_ref().1.alpn_protocol(),
    }
}

/// Whether this program, not the peer, is the cause: it has no more files or ports.
fn is_own_limit(why: &io::Error) -> bool {
    // EMFILE and ENFILE, on all Unix systems.
    why.kind() == io::ErrorKind::AddrNotAvailable || matches!(why.raw_os_error(), Some(23 | 24))
}

async fn open(address: SocketAddr, from: Option<IpAddr>) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    if let Some(from) = from {
        socket.bind(SocketAddr::new(from, 0))?;
    }
    let stream = socket.connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn client_config(
    ca: Option<&Path>,
    identity: Option<&ClientIdentity>,
) -> Result<ClientConfig, ServerAddressError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|why| ServerAddressError::Tls(why.to_string()))?;
    let config = if let Some(path) = ca {
        let given = certificates(path).and_then(|given| GivenCertificates::new(given, provider));
        let given = given.map_err(|why| ServerAddressError::CaFile { path: path.to_owned(), why })?;
        config.dangerous().with_custom_certificate_verifier(Arc::new(given))
    } else {
        let mut roots = rustls::RootCertStore::empty();
        // Roots that do not parse are not trusted.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        config.with_root_certificates(roots)
    };
    let Some(ClientIdentity { certificate, key }) = identity else { return Ok(config.with_no_client_auth()) };
    let unreadable = |path: &Path, why: String| ServerAddressError::Identity { path: path.to_owned(), why };
    let chain = certificates(certificate).map_err(|why| unreadable(certificate, why))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|why| unreadable(key, why.to_string()))?;
    config.with_client_auth_cert(chain, private).map_err(|why| unreadable(certificate, why.to_string()))
}

/// Certificates of a PEM file; an empty file is an error.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let found = found.map_err(|why| why.to_string())?;
    if found.is_empty() { Err("it contains no certificate".into()) } else { Ok(found) }
}
