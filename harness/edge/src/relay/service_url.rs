use std::fmt::Display;
use std::net::IpAddr;

use http::Uri;
use rustls_pki_types::ServerName;
use url::{Host, Url};

use crate::error::EdgeError;

const EXAMPLE: &str = "https://service.example";

/// Parsed `SERVICE_URL`.
#[derive(Debug)]
pub(super) struct ServiceUrl {
    /// Absolute URI of the relay endpoint.
    pub(super) uri: Uri,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) https: bool,
    /// Name that the certificate must carry.
    pub(super) server_name: ServerName<'static>,
}

impl ServiceUrl {
    /// Parses the setting. `path`: path and query of the relay endpoint.
    pub(super) fn parse(setting: Option<&str>, path: &str) -> Result<Self, EdgeError> {
        let given = setting.ok_or(EdgeError::Missing { setting: "SERVICE_URL", example: EXAMPLE })?;
        let url = Url::parse(given).map_err(|why| invalid(given, &why))?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(invalid(given, &"the scheme is neither https nor http"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid(given, &"user and password are unsupported"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(invalid(given, &"query and fragment are unsupported"));
        }
        let uri = format!("{}{path}", url.as_str().trim_end_matches('/'));
        let uri = uri.parse().map_err(|why| invalid(given, &why))?;
        let (host, server_name) = match url.host() {
            Some(Host::Domain(name)) => (name.to_owned(), ServerName::try_from(name.to_owned()).ok()),
            Some(Host::Ipv4(ip)) => (ip.to_string(), Some(ServerName::from(IpAddr::from(ip)))),
            Some(Host::Ipv6(ip)) => (ip.to_string(), Some(ServerName::from(IpAddr::from(ip)))),
            None => return Err(invalid(given, &"the host is missing")),
        };
        let server_name =
            server_name.ok_or_else(|| invalid(given, &"no certificate can carry this host name"))?;
        let port = url.port_or_known_default().unwrap_or(443);
        Ok(Self { uri, host, port, https: url.scheme() == "https", server_name })
    }
}

fn invalid(given: &str, why: &dyn Display) -> EdgeError {
    // Never print a password, even if the rest of the URL is invalid.
    let value = given.rsplit_once('@').map_or_else(|| given.to_owned(), |(_, rest)| format!("…@{rest}"));
    EdgeError::ServiceUrl { value, why: why.to_string() }
}
