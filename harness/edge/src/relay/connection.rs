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

use super::outbound_body::OutboundBody;
use super::raw_head::RawHeadStream;
use super::socket::{Socket, SocketProbe};
use super::upstream::RawHead;

/// Maximum size of an answer's head, and of one read (bytes).
const MAX_HEAD: usize = 64 * 1024;

/// Opens connections to one service.
#[derive(Clone)]
pub(super) struct Connector {
    pub(super) host: String,
    pub(super) port: u16,
    /// Unset for plain HTTP.
    pub(super) tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    pub(super) raw_head: Option<RawHead>,
}

/// Request side of a connection, by negotiated HTTP version.
pub(super) enum RequestSender {
    Http1(http1::SendRequest<OutboundBody>),
    Http2(http2::SendRequest<OutboundBody>),
}

/// A connection attempt failed.
#[derive(Debug, Error)]
pub(super) enum ConnectError {
    /// Name resolution, TCP or TLS. rustls errors are wrapped.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// HTTP handshake.
    #[error(transparent)]
    Http(#[from] hyper::Error),
}

impl Connector {
    /// Opens a connection: TCP, TLS for `https`, HTTP/2 if ALPN selects it, otherwise HTTP/1.1. A spawned task drives the
    /// connection until the sender is dropped and no request is under way.
    pub(super) async fn connect(&self) -> Result<(RequestSender, SocketProbe), ConnectError> {
        let tcp = TcpStream::connect((self.host.as_str(), self.port)).await?;
        // A request must not wait for the acknowledgement of the previous one.
        tcp.set_nodelay(true)?;
        let (socket, probe) = Socket::new(tcp);
        let Some((config, name)) = &self.tls else { return Ok((self.http1(socket).await?, probe)) };
        let stream = TlsConnector::from(Arc::clone(config)).connect(name.clone(), socket).await?;
        let sender = match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => http2(stream).await?,
            _ => self.http1(stream).await?,
        };
        Ok((sender, probe))
    }

    /// Connector for a redirect target, with the same roots and client certificate.
    pub(super) fn redirected(&self, uri: &Uri) -> Option<Self> {
        let host = uri.host()?.to_owned();
        let https = uri.scheme() == Some(&Scheme::HTTPS);
        let port = uri.port_u16().unwrap_or(if https { 443 } else { 80 });
        let tls = match (&self.tls, https) {
            (Some((config, _)), true) => Some((Arc::clone(config), ServerName::try_from(host.clone()).ok()?)),
            _ => None,
        };
        Some(Self { host, port, tls, raw_head: self.raw_head })
    }

    async fn http1<S>(&self, stream: S) -> hyper::Result<RequestSender>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        match self.raw_head {
            None => http1(stream).await,
            Some(change) => http1(RawHeadStream::new(stream, change)).await,
        }
    }
}

async fn http1<S>(stream: S) -> hyper::Result<RequestSender>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, connection) =
        http1::Builder::new().max_buf_size(MAX_HEAD).handshake(TokioIo::new(stream)).await?;
    // The request on the connection reports how it ended.
    tokio::spawn(async { drop(connection.await) });
    Ok(RequestSender::Http1(sender))
}

async fn http2<S>(stream: S) -> hyper::Result<RequestSender>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    tokio::spawn(async { drop(connection.await) });
    Ok(RequestSender::Http2(sender))
}
