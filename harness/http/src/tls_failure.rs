use std::path::{Path, PathBuf};
use std::{fmt, io};

use rustls::{AlertDescription, CertificateError, InvalidMessage};

/// Why there is no TLS session with a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsFailure {
    /// No trusted CA issued the server's certificate.
    UnknownIssuer {
        /// The CA file, if one was given.
        ca: Option<PathBuf>,
    },
    /// The server's certificate is for other names.
    WrongName {
        /// Name in the URL.
        host: String,
        /// Names in the certificate.
        names: Vec<String>,
    },
    /// The server's certificate has expired.
    Expired,
    /// The server's certificate is not valid yet.
    NotYetValid,
    /// The server presents a CA certificate that was not given as trusted itself.
    CaCertificate,
    /// The server requires a client certificate.
    ClientCertificateRequired,
    /// The server does not speak TLS.
    NotTls,
    /// Any other failure, with the library's error.
    Other(String),
}

impl TlsFailure {
    /// What to do. `ca_option`: option that names the CA. `plain`: how to connect without TLS.
    pub fn advice(&self, ca_option: &str, plain: &str) -> String {
        match self {
            Self::UnknownIssuer { ca } => {
                let other = if ca.is_some() { "another file: " } else { "" };
                format!(
                    "name {other}the CA that issued its certificate, or the certificate itself, with {ca_option} FILE"
                )
            }
            Self::CaCertificate => format!("name this certificate itself with {ca_option} FILE"),
            Self::WrongName { host, names } if names.is_empty() => {
                format!("issue its certificate with {host} as subjectAltName")
            }
            Self::WrongName { host, names } => {
                format!("use {} in the URL, or issue a certificate for {host}", names.join(" or "))
            }
            Self::Expired => "renew its certificate, or correct the clock of this machine".into(),
            Self::NotYetValid => {
                "wait until its certificate is valid, or correct the clock of this machine".into()
            }
            Self::ClientCertificateRequired => {
                "let it accept connections without a client certificate: its clients have none".into()
            }
            Self::NotTls => format!("{plain}, or give the port on which it speaks TLS"),
            Self::Other(_) => {
                "check that it speaks TLS 1.2 or 1.3, with a version 3 certificate for this host".into()
            }
        }
    }

    /// The failure that an error on a TLS stream reports. `host`: name in the URL; `ca`: the given CA file.
    pub(super) fn of(error: &io::Error, host: &str, ca: Option<&Path>) -> Self {
        let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) else {
            return Self::Other(error.to_string());
        };
        match error {
            rustls::Error::InvalidCertificate(why) => Self::of_certificate(why, host, ca),
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => Self::NotTls,
            rustls::Error::AlertReceived(
                AlertDescription::CertificateRequired | AlertDescription::BadCertificate,
            ) => Self::ClientCertificateRequired,
            other => Self::Other(other.to_string()),
        }
    }

    fn of_certificate(why: &CertificateError, host: &str, ca: Option<&Path>) -> Self {
        match why {
            // A bad signature: the CA file holds another CA of the same name, such as an older one.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                Self::UnknownIssuer { ca: ca.map(Path::to_owned) }
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Self::NotYetValid,
            CertificateError::NotValidForName => Self::WrongName { host: host.to_owned(), names: Vec::new() },
            CertificateError::NotValidForNameContext { presented, .. } => {
                let names = presented.iter().map(|name| bare(name).to_owned()).collect();
                Self::WrongName { host: host.to_owned(), names }
            }
            // The error type belongs to a crate that rustls hides.
            CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
                Self::CaCertificate
            }
            other => Self::Other(other.to_string()),
        }
    }
}

impl fmt::Display for TlsFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownIssuer { ca: None } => f.write_str("no trusted CA issued its certificate"),
            Self::UnknownIssuer { ca: Some(ca) } => {
                write!(
                    f,
                    "the CA file {} holds neither its certificate nor the CA that issued it",
                    ca.display()
                )
            }
            Self::WrongName { host, names } if names.is_empty() => {
                write!(f, "its certificate holds no name, so it is not for {host}")
            }
            Self::WrongName { host, names } => {
                write!(f, "its certificate is for {}, not for {host}", names.join(" and "))
            }
            Self::Expired => f.write_str("its certificate has expired"),
            Self::NotYetValid => f.write_str("its certificate is not valid yet"),
            Self::CaCertificate => f.write_str("its certificate is that of a CA"),
            Self::ClientCertificateRequired => f.write_str("it requires a client certificate"),
            Self::NotTls => f.write_str("it does not speak TLS"),
            Self::Other(why) => f.write_str(why),
        }
    }
}

/// The name in the library's notation, such as `DnsName("edge.example")`.
fn bare(name: &str) -> &str {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"')
}
