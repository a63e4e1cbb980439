use std::sync::Arc;

/// What a connection meets behind the listener.
#[derive(Debug, Clone)]
pub enum ListenerProtocol {
    /// TLS, then HTTP in the version that ALPN agrees on; HTTP/1.1 without ALPN.
    Tls(Arc<rustls::ServerConfig>),
    /// HTTP/1.1 without TLS.
    Plain,
    /// Bytes that are neither TLS nor HTTP, then the end of the stream.
    Garbage,
    /// The end of the stream.
    Closes,
}
