use std::io;
use std::sync::Arc;

use http::Uri;
use http::uri::Scheme;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::outgoing::Outgoing;
use super::socket::{Socket, Watch};

/// Bytes of an answer's head, and of what is read at once.
const LONGEST_HEAD: usize = 64 * 1024;

/// Opens connections to the one service that the edge relays to.
#[derive(Clone)]
pub(super) struct Connector {
    pub(super) host: String,
    pub(super) port: u16,
    /// None for plain HTTP.
    pub(super) tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

/// Where requests go in, in the HTTP version that was agreed on.
pub(super) enum Sender {
    Http1(http1::SendRequest<Outgoing>),
    Http2(http2::SendRequest<Outgoing>),
}

/// Why there is no connection.
#[derive(Debug, Error)]
pub(super) enum ConnectError {
    /// Name, port or TLS; rustls errors come wrapped.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The HTTP handshake.
    #[error(transparent)]
    Http(#[from] hyper::Error),
}

impl Connector {
    /// Opens a connection: TCP, TLS if need be, HTTP/2 if ALPN agrees on it, else HTTP/1.1. It lives in a task of its
    /// own, which ends when the sender is dropped and nothing is under way.
    pub(super) async fn connect(&self) -> Result<(Sender, Watch), ConnectError> {
        let tcp = TcpStream::connect((self.host.as_str(), self.port)).await?;
        // A request must not wait for the acknowledgement of the one before.
        tcp.set_nodelay(true)?;
        let (socket, watch) = Socket::new(tcp);
        let Some((config, name)) = &self.tls else { return Ok((http1(socket).await?, watch)) };
        let stream = TlsConnector::from(Arc::clone(config)).connect(name.clone(), socket).await?;
        let sender = match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => http2(stream).await?,
            _ => http1(stream).await?,
        };
        Ok((sender, watch))
    }

    /// The same to another address, with the same trust and client certificate.
    pub(super) fn elsewhere(&self, uri: &Uri) -> Option<Self> {
        let host = uri.host()?.to_owned();
        let https = uri.scheme() == Some(&Scheme::HTTPS);
        let port = uri.port_u16().unwrap_or(if https { 443 } else { 80 });
        let tls = match (&self.tls, https) {
            (Some((config, _)), true) => Some((Arc::clone(config), ServerName::try_from(host.clone()).ok()?)),
            _ => None,
        };
        Some(Self { host, port, tls })
    }
}

async fn http1<S>(stream: S) -> hyper::Result<Sender>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, connection) =
        http1::Builder::new().max_buf_size(LONGEST_HEAD).handshake(TokioIo::new(stream)).await?;
    // How a connection ends is seen by the request that is on it.
    tokio::spawn(async { drop(connection.await) });
    Ok(Sender::Http1(sender))
}

async fn http2<S>(stream: S) -> hyper::Result<Sender>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    tokio::spawn(async { drop(connection.await) });
    Ok(Sender::Http2(sender))
}
