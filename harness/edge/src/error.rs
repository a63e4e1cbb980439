use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use miette::Diagnostic;
use thiserror::Error;

/// Why an edge does not start. Says what to change, and shows no secret.
#[derive(Debug, Error, Diagnostic)]
pub enum EdgeError {
    /// Without it there is nowhere to relay to.
    #[error("{setting} is not set")]
    #[diagnostic(help("set {setting}={example}"))]
    Missing {
        /// Name of the setting.
        setting: &'static str,
        /// What it could look like.
        example: &'static str,
    },
    /// Not an address that can be posted to.
    #[error("SERVICE_URL is {value:?}, which is no address of a service")]
    #[diagnostic(help(
        "give scheme, host and if need be port and path, such as https://service.example; {why}"
    ))]
    ServiceUrl {
        /// As it was given, without user and password.
        value: String,
        /// What is wrong with it.
        why: String,
    },
    /// A value that no HTTP header can carry.
    #[error("{setting} holds what cannot go into an HTTP header")]
    #[diagnostic(help("it must be one line of printable ASCII; a line end at its end is a common cause"))]
    NotAHeader {
        /// Name of the setting.
        setting: &'static str,
    },
    /// A file of a setting cannot be read or is not what it should be.
    #[error("{setting}: {path} {why}", path = path.display())]
    #[diagnostic(help("{setting} names a PEM file with {expected}"))]
    File {
        /// Name of the setting.
        setting: &'static str,
        /// The file.
        path: PathBuf,
        /// What it should hold.
        expected: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// Certificate and key don't go together.
    #[error("{cert} and {key} cannot be used together: {why}")]
    #[diagnostic(help("check that the key is the one that the certificate was issued for"))]
    Pair {
        /// Name of the certificate's setting.
        cert: &'static str,
        /// Name of the key's setting.
        key: &'static str,
        /// What rustls says.
        why: String,
    },
    /// Where to listen cannot be understood.
    #[error("{setting}={value} is nowhere to listen")]
    #[diagnostic(help(
        "PORT is a number from 0 to 65535, 0 for any that is free; HOST is a name or an address of this machine"
    ))]
    Listen {
        /// Name of the setting.
        setting: &'static str,
        /// As it was given.
        value: String,
    },
    /// The system does not let us listen there.
    #[error("failed to listen on {addr}")]
    #[diagnostic(help("choose another PORT, or end what listens there"))]
    Bind {
        /// Where.
        addr: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// The system refuses something else.
    #[error("failed to {what}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// A row or an open point that an edge needs is missing, or has no use in its place.
    #[error("the tables have no usable {id}")]
    #[diagnostic(help("compare with the built-in tables: edgeproof spec show {id}"))]
    Table {
        /// Id of the row or name of the point.
        id: &'static str,
    },
}
