use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use edgeproof_http::ListenAddressError;
use miette::Diagnostic;
use thiserror::Error;

/// An edge cannot start. Messages contain no secret.
#[derive(Debug, Error, Diagnostic)]
pub enum EdgeError {
    /// A required setting is unset.
    #[error("{setting} is not set")]
    #[diagnostic(help("set {setting}={example}"))]
    Missing {
        /// Name of the setting.
        setting: &'static str,
        /// Example value.
        example: &'static str,
    },
    /// `SERVICE_URL` is no base URL of a service.
    #[error("SERVICE_URL {value:?} is invalid: {why}")]
    #[diagnostic(help(
        "use a base URL: scheme, host, optional port and path, such as https://service.example"
    ))]
    ServiceUrl {
        /// Value, without user and password.
        value: String,
        /// Reason.
        why: String,
    },
    /// The value of a setting cannot be an HTTP header.
    #[error("{setting} cannot be sent in an HTTP header")]
    #[diagnostic(help("use one line of printable ASCII; a common cause is a line break at the end"))]
    HeaderValue {
        /// Name of the setting.
        setting: &'static str,
    },
    /// The file of a setting cannot be read or has invalid content.
    #[error("{setting}: cannot read {path}: {why}", path = path.display())]
    #[diagnostic(help("set {setting} to a PEM file with {expected}"))]
    File {
        /// Name of the setting.
        setting: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Expected content.
        expected: &'static str,
        /// Reason.
        why: String,
    },
    /// A certificate and a private key do not match.
    #[error("{cert} and {key} cannot be used together: {why}")]
    #[diagnostic(help("use the private key that belongs to the certificate"))]
    Pair {
        /// Name of the certificate's setting.
        cert: &'static str,
        /// Name of the key's setting.
        key: &'static str,
        /// Error of rustls.
        why: String,
    },
    /// `PORT` is no port number.
    #[error("PORT {value:?} is not a port number")]
    #[diagnostic(help("set PORT to a number from 0 to 65535; 0 selects a free port"))]
    Port {
        /// Value of the setting.
        value: String,
    },
    /// `HOST` is no address of this machine.
    #[error("HOST is invalid: {0}")]
    #[diagnostic(help("set HOST to an IP address or host name of this machine"))]
    Host(ListenAddressError),
    /// The operating system refuses the listen address.
    #[error("cannot listen on {addr}")]
    #[diagnostic(help("choose another PORT, or stop the process that listens there"))]
    Bind {
        /// Listen address.
        addr: SocketAddr,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Another operation of the operating system failed.
    #[error("cannot {operation}")]
    Io {
        /// Operation.
        operation: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A row or profile point that the edge needs is missing or unusable.
    #[error("row or profile point {id} is missing or unusable")]
    #[diagnostic(help("compare it with the built-in tables: edgeproof spec show {id}"))]
    Table {
        /// Id of the row, or name of the profile point.
        id: &'static str,
    },
}
