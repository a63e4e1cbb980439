use std::sync::Arc;

/// Protocol that a listener speaks.
#[derive(Debug, Clone)]
pub enum ListenerProtocol {
    /// HTTP over TLS, in the version that ALPN selects (default: HTTP/1.1).
    Tls(Arc<rustls::ServerConfig>),
    /// HTTP/1.1 without TLS.
    Plain,
    /// Bytes that are neither TLS nor HTTP, then a shutdown.
    Garbage,
    /// An immediate shutdown.
    Closes,
    /// None: the port is closed, and kept for later.
    Refuses,
}
