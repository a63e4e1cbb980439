use std::io;
use std::net::SocketAddr;

use edgeproof_fixtures::credentials::{Credentials, Role};
use edgeproof_fixtures::spec::{CertificateRefusal, Profile};
use edgeproof_http::{ClientAuth, ListenerProtocol, server_config};
use tokio::net::TcpListener;

/// Where a mock service listens.
#[derive(Debug)]
pub enum Listen {
    /// At this address. Port 0 selects a free port.
    At(SocketAddr),
    /// On this socket.
    On(TcpListener),
}

/// Protocol of the mock's listener. A change closes the open connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenerMode {
    /// TLS with the certificate of this role.
    Tls(Role),
    /// HTTP without TLS.
    PlainHttp,
    /// Bytes that are neither TLS nor HTTP, then the end of the stream.
    Garbage,
    /// Accepts connections and closes them.
    Closes,
    /// Refuses connections: nothing listens on the port. A later mode listens on it again.
    Refuses,
}

impl From<SocketAddr> for Listen {
    fn from(addr: SocketAddr) -> Self {
        Self::At(addr)
    }
}

impl From<TcpListener> for Listen {
    fn from(listener: TcpListener) -> Self {
        Self::On(listener)
    }
}

/// Opens the socket.
pub(crate) async fn bind(listen: Listen) -> io::Result<TcpListener> {
    match listen {
        Listen::On(listener) => Ok(listener),
        Listen::At(addr) => TcpListener::bind(addr)
            .await
            .map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {addr}: {error}"))),
    }
}

/// Protocol of a listener in this mode. Fails if a loaded certificate does not match its key.
pub(crate) fn protocol(
    mode: ListenerMode,
    credentials: &Credentials,
    profile: &Profile,
) -> io::Result<ListenerProtocol> {
    let role = match mode {
        ListenerMode::Tls(role) => role,
        ListenerMode::PlainHttp => return Ok(ListenerProtocol::Plain),
        ListenerMode::Garbage => return Ok(ListenerProtocol::Garbage),
        ListenerMode::Closes => return Ok(ListenerProtocol::Closes),
        ListenerMode::Refuses => return Ok(ListenerProtocol::Refuses),
    };
    let certificate = credentials.certificate(role);
    let clients = match profile.certificate_refusal {
        CertificateRefusal::Answer => ClientAuth::AnyOrNone,
        CertificateRefusal::Handshake => {
            ClientAuth::From(credentials.certificate(Role::ClientAuthority).der())
        }
    };
    let config = server_config(certificate.chain_der(), certificate.key_der(), clients);
    config.map(ListenerProtocol::Tls).map_err(|error| {
        io::Error::new(io::ErrorKind::InvalidInput, format!("cannot serve TLS as {role}: {error}"))
    })
}
